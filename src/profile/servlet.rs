//! The checks and the output of `servlet`: Jakarta Servlet 6.1 section 3.5.2.

use crate::bytes::set::{self, AsciiSet, PCHAR};
use crate::bytes::{RejectReason, RejectReasons};

/// Reasons for a container to reject a path, step 10. Each check can be disabled, as containers may do.
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

/// Bytes that stay literal in a segment of the canonical form. A semicolon would start a parameter.
pub(crate) const SEGMENT: AsciiSet = PCHAR.without(AsciiSet::of(b";"));

/// Bytes that may follow the host of a clean URL whose path is mapped unchanged, except for empty
/// segments. Each `%` is checked separately.
pub(crate) const CLEAN_TAIL: AsciiSet = set::CLEAN_TAIL.without(AsciiSet::of(b";"));
