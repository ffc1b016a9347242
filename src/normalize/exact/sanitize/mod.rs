//! Detects constructs without an honest use in a URL: spellings that hide something from a filter, and
//! parts that make it look like another (RFC 3986 section 7).
//!
//! The checks read the original URL, before anything is decoded. Most of these constructs do not change
//! the meaning of a URL, but nobody who writes URLs in good faith uses them.

mod device;
mod host;
mod octets;

use memchr::memchr_iter;

use self::device::is_device_name;
use self::host::{is_rare_ipv4, mixes_scripts};
use self::octets::{find_bidi_control, find_overlong};
use crate::bytes::{Reject, RejectReason, Triplet, Troubles, decoded, is_unreserved, octets};
use crate::normalize::exact::ports::number;
use crate::normalize::exact::servlet::{find_encoded_slash, is_encoded_dot_segment};
use crate::normalize::parts::{AuthorityParts, Parts, is_scheme, split_host};
use crate::normalize::ruleset::Ruleset;
use crate::normalize::trace::Trace;
use crate::profile::ports::registered;
use crate::profile::sanitize::FIRST_FREE_PORT;
use crate::simd::{FastPath, MaskedUrl, UrlKind, Vector};

impl Ruleset {
    /// Appends the form of the ladder of a URL without such constructs.
    pub(in crate::normalize) fn sanitize<T: Trace>(
        &self,
        url: &[u8],
        kind: UrlKind,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        let front = self.assume_for(kind, url);
        let parts = Parts::of(kind, &front.text);
        let found = self.check(&front.text, &parts);
        let mut troubles = Troubles::new(self.allowed);
        troubles.join_result(found.result().map_err(|reject| front.reject(reject)));
        let start = out.len();
        // The ladder acts even if a check has failed, so that all reasons are reported at once.
        troubles.join_result(self.rewrite_by_ladder(url, 0..url.len(), kind, out, trace));
        troubles.result()?;
        // Dot segments, or a base, may have changed the charset of the path. The result must be accepted when
        // it is read again.
        if has_overlong_path(Parts::of(kind, &out[start..]).path) {
            troubles.add(RejectReason::OverlongUtf8, front.place(parts.path_start()));
        }
        troubles.result()
    }

    /// The problems of a URL or reference, split into `parts`.
    fn check(&self, url: &[u8], parts: &Parts<'_>) -> Troubles {
        let mut troubles = Troubles::new(self.allowed);
        let path_end = parts.path_start() + parts.path.len();
        triplets(url, path_end, &mut troubles);
        // `segments` looks at the path. An encoded slash before it is in userinfo or host.
        if let Some(at) = find_encoded_slash(&url[..parts.path_start()]) {
            troubles.add(RejectReason::EncodedSlash, at);
        }
        if let Some(at) = first_triplet(&url[..path_end], |value| value == b'\\') {
            troubles.add(RejectReason::EncodedBackslash, at);
        }
        segments(parts, &mut troubles);
        characters(url, parts, &mut troubles);
        self.check_authority(parts, &mut troubles);
        troubles
    }

    fn check_authority(&self, parts: &Parts<'_>, troubles: &mut Troubles) {
        let Some(authority) = parts.authority else { return };
        let AuthorityParts { userinfo, host_port } = AuthorityParts::split(authority);
        if userinfo.is_some() {
            troubles.add(RejectReason::Userinfo, parts.authority_start());
        }
        let host_at = parts.path_start() - host_port.len();
        let (host, port) = split_host(host_port);
        let name = decoded(host);
        if is_rare_ipv4(&name) {
            troubles.add(RejectReason::RareIpv4, host_at);
        }
        // The check is off by default, and scripts are dear to look up.
        if !troubles.allow(RejectReason::MixedScriptHost) && mixes_scripts(&name) {
            troubles.add(RejectReason::MixedScriptHost, host_at);
        }
        // Without a scheme the URL is rejected anyway, and no port is known to be another service's.
        let Some(scheme) = parts.scheme.or(self.base_scheme()) else { return };
        if let [b':', digits @ ..] = port
            && self.is_of_other_service(digits, scheme)
        {
            troubles.add(RejectReason::WellKnownPort, host_at + host.len() + 1);
        }
    }

    /// Whether the port belongs to another well-known service than that of the scheme.
    fn is_of_other_service(&self, digits: &[u8], scheme: &[u8]) -> bool {
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return false;
        }
        let (port, scheme) = (number(digits), scheme.to_ascii_lowercase());
        let own = || self.ports.as_ref().and_then(|ports| ports.of(&scheme));
        port < u32::from(FIRST_FREE_PORT)
            && own().or_else(|| registered(&scheme)).map(u32::from) != Some(port)
    }
}

/// Checks single triplets, and two in a row, anywhere in the URL.
fn triplets(url: &[u8], path_end: usize, troubles: &mut Troubles) {
    use RejectReason::{DoubleEncoding, DoubleEncodingQuery};
    for at in memchr_iter(b'%', url) {
        let Some(Triplet { value, .. }) = Triplet::read(&url[at..]) else { continue };
        match value {
            0 => troubles.add(RejectReason::Nul, at),
            0x01..=0x1F | 0x7F => troubles.add(RejectReason::Control, at),
            b'%' if is_hex_pair(&url[at + 3..]) => {
                // A URL in the query of another one is encoded twice wherever it holds a triplet itself.
                troubles.add(if at < path_end { DoubleEncoding } else { DoubleEncodingQuery }, at);
            }
            // RFC 1738 section 2.2 calls the tilde unsafe, so programs wrote it as a triplet for years.
            b'~' => {}
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
    octets(bytes).take(2).filter(|octet| octet.value.is_ascii_hexdigit()).count() == 2
}

/// Checks the segments of the path.
fn segments(parts: &Parts<'_>, troubles: &mut Troubles) {
    // An opaque path, like that of `urn:`, names no file.
    let is_opaque = parts.scheme.is_some() && !parts.path.starts_with(b"/");
    let devices = !is_opaque && !troubles.allow(RejectReason::DeviceName);
    let mut at = parts.path_start();
    for segment in parts.path.split(|byte| *byte == b'/') {
        if is_encoded_dot_segment(segment) {
            troubles.add(RejectReason::EncodedDotSegment, at);
        }
        if let Some(i) = find_hidden_slash(segment) {
            troubles.add(RejectReason::EncodedSlash, at + i);
        }
        // Encoded slashes of both kinds delimit names as soon as they are decoded.
        if devices
            && decoded(segment).split(|byte| matches!(byte, b'/' | b'\\')).any(is_device_name)
        {
            troubles.add(RejectReason::DeviceName, at);
        }
        at += segment.len() + 1;
    }
}

/// The offset of the first encoded slash in a segment that is not part of an encoded URL. A query may hold
/// any: forms encode a file name or another URL so.
fn find_hidden_slash(segment: &[u8]) -> Option<usize> {
    let mut at = 0;
    segment.split(|byte| matches!(byte, b';' | b'=')).find_map(|value| {
        let start = at;
        at += value.len() + 1;
        let slash = find_encoded_slash(value)?;
        (!is_encoded_url(value)).then_some(start + slash)
    })
}

/// Whether the text is a whole URL with its delimiters encoded, as proxies of images have it in their
/// paths: `http%3A%2F%2Fexample.com%2Fa.png`. One with dot segments hides something.
fn is_encoded_url(text: &[u8]) -> bool {
    let lower = text.to_ascii_lowercase();
    let Some(scheme) = memchr::memmem::find(&lower, b"%3a%2f%2f") else { return false };
    let path = [&lower[scheme..], b"%2f"].concat();
    let holds = |dots: &[u8]| memchr::memmem::find(&path, dots).is_some();
    is_scheme(&lower[..scheme]) && !holds(b"%2f..%2f") && !holds(b"%2f.%2f")
}

/// Whether the path has an overlong sequence, and is otherwise UTF-8.
fn has_overlong_path(path: &[u8]) -> bool {
    first_triplet(path, |value| value >= 0xC0).is_some() && find_overlong(path).is_some()
}

/// Checks octets that make characters together.
fn characters(url: &[u8], parts: &Parts<'_>, troubles: &mut Troubles) {
    // Most URLs hold no octet above ASCII.
    if url.is_ascii() && first_triplet(url, |value| value >= 0x80).is_none() {
        return;
    }
    for (text, start) in [
        (parts.authority, parts.authority_start()),
        (Some(parts.path), parts.path_start()),
        (parts.query, parts.query_start()),
        (parts.fragment, parts.fragment_start()),
    ] {
        let Some(text) = text else { continue };
        if let Some(at) = find_overlong(text) {
            troubles.add(RejectReason::OverlongUtf8, start + at);
        }
        if let Some(at) = find_bidi_control(text) {
            troubles.add(RejectReason::BidiControl, start + at);
        }
    }
}

/// See [`is_no_address`].
#[derive(Clone, Copy)]
pub(in crate::normalize) struct NoAddress;

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
pub(in crate::normalize) fn is_no_address(host: &[u8]) -> bool {
    !host.first().is_some_and(u8::is_ascii_digit)
}
