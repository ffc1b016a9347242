//! What `servlet` checks and writes: Jakarta Servlet 6.1 section 3.5.2.

use crate::bytes::set::{self, AsciiSet, PCHAR};
use crate::bytes::{RejectReason, RejectReasons};

/// Why a container refuses a path, step 10. Each check can be switched off, as containers may.
pub(crate) const CHECKS: RejectReasons = RejectReasons::of(&[
    RejectReason::Fragment,
    RejectReason::Decode,
    RejectReason::NoLeadingSlash,
    RejectReason::LeadingDotDot,
    RejectReason::EncodedSlash,
    RejectReason::DotSegmentParameter,
    RejectReason::EncodedDotSegment,
    RejectReason::EmptySegmentBeforeDotDot,
    RejectReason::EmptySegmentParameter,
    RejectReason::Backslash,
    RejectReason::Control,
]);

/// What stands as itself in a segment of the canonical form. A semicolon would start a parameter.
pub(crate) const SEGMENT: AsciiSet = PCHAR.without(AsciiSet::of(b";"));

/// What may stand behind the host of a clean URL whose path is mapped as it stands, but for empty
/// segments; a `%` is looked at by itself.
pub(crate) const CLEAN_TAIL: AsciiSet = set::CLEAN_TAIL.without(AsciiSet::of(b";"));
