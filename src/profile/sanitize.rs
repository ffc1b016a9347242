//! The checks of `sanitize`: forms and parts that RFC 3986 section 7 warns of.

use crate::bytes::{RejectReason, RejectReasons};

/// The checks. Each can be switched on and off.
pub(crate) const CHECKS: RejectReasons = RejectReasons::of(&[
    RejectReason::EncodedUnreserved,
    RejectReason::EncodedDotSegment,
    RejectReason::EncodedSlash,
    RejectReason::EncodedBackslash,
    RejectReason::Nul,
    RejectReason::Control,
    RejectReason::DoubleEncoding,
    RejectReason::OverlongUtf8,
    RejectReason::RareIpv4,
    RejectReason::Userinfo,
    RejectReason::WellKnownPort,
])
.or(OFF);

/// The checks that are off by default, because many honest URLs would fail them.
pub(crate) const OFF: RejectReasons = RejectReasons::of(&[
    RejectReason::DeviceName,
    RejectReason::BidiControl,
    RejectReason::MixedScriptHost,
    RejectReason::DoubleEncodingQuery,
]);

/// The checks that a URL may fail although the scanner found only harmless bytes in it.
pub(crate) const OF_HARMLESS: RejectReasons = RejectReasons::of(&[
    RejectReason::DeviceName,
    RejectReason::BidiControl,
    RejectReason::MixedScriptHost,
]);

/// The registry assigns ports below this one to services, which are often trusted for it.
pub(crate) const FIRST_FREE_PORT: u16 = 1024;

/// True if no check that is on by default concerns a triplet of this value at any position, given that its
/// byte is not unreserved. The first bytes of overlong UTF-8 count as not harmless.
pub(crate) fn is_harmless(value: u8) -> bool {
    !matches!(
        value,
        0..=0x1F | 0x7F | b'%' | b'/' | b'\\' | 0xC0 | 0xC1 | 0xE0 | 0xF0 | 0xF8 | 0xFC
    )
}
