//! Detects constructs without an honest use in a URL: spellings that hide something from a filter, and
//! parts that make it look like another (RFC 3986 section 7).
//!
//! The checks read the original URL, before anything is decoded. Most of these constructs do not change
//! the meaning of a URL, but nobody who writes URLs in good faith uses them.

use memchr::memchr_iter;

use super::parts::Parts;
use super::servlet::{find_encoded_slash, is_encoded_dot_segment};
use super::whatwg::host::ipv4_number;
use crate::bytes::{RejectReason, Triplet, Troubles, is_unreserved};
use crate::profile::sanitize::FIRST_FREE_PORT;
use crate::simd::{FastPath, MaskedUrl, Vector};

/// Adds the problems of a URL or reference, split into `parts`, to `troubles`. `base_scheme` is the scheme
/// of a reference; `own_port` returns the default port of a scheme in lower case.
pub(super) fn check(
    url: &[u8],
    parts: &Parts<'_>,
    base_scheme: &[u8],
    own_port: impl Fn(&[u8]) -> Option<u16>,
    troubles: &mut Troubles,
) {
    triplets(url, troubles);
    let path_at = parts.path_start();
    let path_end = path_at + parts.path.len();
    // In a query they are normal: forms encode a file name or another URL so.
    if let Some(at) = find_encoded_slash(&url[..path_end]) {
        troubles.add(RejectReason::EncodedSlash, at);
    }
    if let Some(at) = first_triplet(&url[..path_end], |value| value == b'\\') {
        troubles.add(RejectReason::EncodedBackslash, at);
    }
    let mut at = path_at;
    for segment in parts.path.split(|byte| *byte == b'/') {
        if is_encoded_dot_segment(segment) {
            troubles.add(RejectReason::EncodedDotSegment, at);
            break;
        }
        at += segment.len() + 1;
    }
    if let Some(authority) = parts.authority {
        let scheme = parts.scheme.unwrap_or(base_scheme);
        let own_port = || own_port(&scheme.to_ascii_lowercase());
        self::authority(authority, own_port, parts.authority_start(), troubles);
    }
}

/// Checks single triplets, and two in a row, anywhere in the URL.
fn triplets(url: &[u8], troubles: &mut Troubles) {
    for at in memchr_iter(b'%', url) {
        let Some(Triplet { value, .. }) = Triplet::read(&url[at..]) else { continue };
        let rest = &url[at + 3..];
        match value {
            0 => troubles.add(RejectReason::Nul, at),
            0x01..=0x1F | 0x7F => troubles.add(RejectReason::Control, at),
            b'%' if is_hex_pair(rest) => troubles.add(RejectReason::DoubleEncoding, at),
            0xC0.. if is_overlong(value, rest) => troubles.add(RejectReason::OverlongUtf8, at),
            value if is_unreserved(value) => troubles.add(RejectReason::EncodedUnreserved, at),
            _ => {}
        }
    }
}

fn first_triplet(bytes: &[u8], is_it: impl Fn(u8) -> bool) -> Option<usize> {
    memchr_iter(b'%', bytes)
        .find(|&at| Triplet::read(&bytes[at..]).is_some_and(|triplet| is_it(triplet.value)))
}

/// Whether two hexadecimal digits follow, each as itself or as a triplet: `%25%34%31` is `%2541` as
/// soon as unreserved triplets are decoded.
fn is_hex_pair(bytes: &[u8]) -> bool {
    let digit = |bytes: &[u8]| {
        let (byte, length) = match bytes.first() {
            Some(b'%') => (Triplet::read(bytes)?.value, 3),
            byte => (*byte?, 1),
        };
        byte.is_ascii_hexdigit().then_some(length)
    };
    digit(bytes).is_some_and(|length| digit(&bytes[length..]).is_some())
}

/// Whether a first byte of UTF-8 and the triplet after it start a sequence that is longer than its
/// character needs (RFC 3629 section 3). Six-byte forms count: they were UTF-8 once.
fn is_overlong(first: u8, rest: &[u8]) -> bool {
    let second = match rest.first() {
        Some(b'%') => Triplet::read(rest).map(|triplet| triplet.value),
        _ => None,
    };
    matches!(
        (first, second),
        (0xC0 | 0xC1, Some(0x80..=0xBF))
            | (0xE0, Some(0x80..=0x9F))
            | (0xF0, Some(0x80..=0x8F))
            | (0xF8, Some(0x80..=0x87))
            | (0xFC, Some(0x80..=0x83))
    )
}

fn authority(
    authority: &[u8],
    own_port: impl FnOnce() -> Option<u16>,
    start: usize,
    troubles: &mut Troubles,
) {
    let host_at = match authority.iter().rposition(|byte| *byte == b'@') {
        Some(at) => {
            troubles.add(RejectReason::Userinfo, start);
            at + 1
        }
        None => 0,
    };
    let host_port = &authority[host_at..];
    let host_len = match host_port.first() {
        Some(b'[') => host_port.iter().position(|byte| *byte == b']').map(|close| close + 1),
        _ => host_port.iter().position(|byte| *byte == b':'),
    };
    let (host, port) = host_port.split_at(host_len.unwrap_or(host_port.len()));
    if is_rare_ipv4(&with_unreserved_decoded(host)) {
        troubles.add(RejectReason::RareIpv4, start + host_at);
    }
    if let Some((b':', digits)) = port.split_first()
        && own_port().is_some_and(|own| is_well_known_port(digits, own))
    {
        troubles.add(RejectReason::WellKnownPort, start + host_at + host.len() + 1);
    }
}

/// Whether the port belongs to another well-known service than the scheme's `own`.
fn is_well_known_port(digits: &[u8], own: u16) -> bool {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let number =
        |sum: u16, digit: &u8| sum.saturating_mul(10).saturating_add(u16::from(digit - b'0'));
    let port = digits.iter().fold(0, number);
    port < FIRST_FREE_PORT && port != own
}

/// The host as every rung reads it: `%31.1` is `1.1`.
fn with_unreserved_decoded(host: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(host.len());
    let mut i = 0;
    while let Some(&byte) = host.get(i) {
        match if byte == b'%' { Triplet::read(&host[i..]) } else { None } {
            Some(triplet) if is_unreserved(triplet.value) => {
                out.push(triplet.value);
                i += 3;
            }
            _ => {
                out.push(byte);
                i += 1;
            }
        }
    }
    out
}

/// Whether `inet_aton` accepts the host as an address although it is no `IPv4address` by RFC 3986:
/// `127.1`, `0x7F.1`, `0177.0.0.1`, `2130706433`.
fn is_rare_ipv4(host: &[u8]) -> bool {
    if !host.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let parts: Vec<&[u8]> = host.split(|byte| *byte == b'.').collect();
    if parts.len() > 4 {
        return false;
    }
    let Some(numbers) = parts.iter().map(|part| ipv4_number(part)).collect::<Option<Vec<u64>>>()
    else {
        return false;
    };
    // The last part fills all the bytes that the others leave.
    let (last, others) = numbers.split_last().expect("a host with a digit has a part");
    let fits = others.iter().all(|number| *number <= 0xFF) && *last < 1 << (8 * (4 - others.len()));
    let is_decimal = |part: &&[u8]| part.len() == 1 || part[0] != b'0';
    fits && !(parts.len() == 4 && parts.iter().all(is_decimal))
}

/// See [`leaves`].
#[derive(Clone, Copy)]
pub(super) struct NoAddress;

impl FastPath for NoAddress {
    #[inline(always)]
    fn finish<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> bool {
        !masked.byte(masked.host).is_ascii_digit()
    }
}

/// Whether a URL that the scanner proved clean for the sanitizer passes these checks. Its triplets are
/// harmless; its host holds no triplet, no `@`, no port and no capital letter. `host` is the text after
/// the slashes.
#[inline]
pub(super) fn leaves(host: &[u8]) -> bool {
    !host.first().is_some_and(u8::is_ascii_digit)
}
