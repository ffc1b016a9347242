//! Reads a request line as a log quotes it: `METHOD SP target [SP HTTP/x[.y]]`.
//!
//! The input is the range of the quoted field; the output is its target, classified. RFC 9112,
//! section 3: `request-line = method SP request-target SP HTTP-version`. In real logs, lines lack
//! the version (HTTP/0.9, or cut by HAProxy), hold spaces inside the target, or are not requests at
//! all: `-` for a connection that sent none, the first bytes of a TLS handshake. The line is split
//! before its escaping is undone, since an escaped byte is never a separator.

use std::ops::Range;

use super::escape::Escape;
use super::line::Line;
use super::origin::RecordOrigin;
use super::target::{self, Method, TargetText};
use super::{Context, Extracted};
use uniqurl::RejectReason;

/// Reads the request in `field` of the line.
#[inline(always)]
pub(super) fn found(
    ctx: &Context,
    line: Line<'_>,
    field: Range<usize>,
    escape: Escape,
    origin: Option<RecordOrigin<'_>>,
    scratch: &mut Vec<u8>,
) -> Extracted {
    let request = &line.bytes[field.clone()];
    let Some((method, target)) = split(request) else {
        return Extracted::Reject(RejectReason::LogSyntax, 0);
    };
    if escape == Escape::Hash && is_no_method(request) {
        return Extracted::Reject(RejectReason::LogSyntax, 0);
    }
    let range = field.start + target.start..field.start + target.end;
    let text = TargetText::unescaped(line, range, escape, scratch);
    target::found(ctx, line, text, method, origin, scratch)
}

/// The method of a request line, and the range of its target without surrounding spaces. None if
/// the line does not begin with a method and a space.
#[inline(always)]
pub(super) fn split(request: &[u8]) -> Option<(Method, Range<usize>)> {
    // Not `or_else`: its closure compiles to a separate function that returns its result through memory.
    match usual(request) {
        Some(parts) => Some(parts),
        None => split_any(request),
    }
}

/// The method of a request line as it is written. None if the line has no target.
pub(super) fn method_text(request: &[u8]) -> Option<&[u8]> {
    let (_, target) = split(request)?;
    Some(request[..target.start].trim_ascii())
}

/// True if a request ends with a version.
pub(super) fn has_version(request: &[u8]) -> bool {
    version(&request[..without_trailing_spaces(request)]).is_some()
}

/// True if HAProxy's escaping hides bytes that no method may hold. A token may itself hold `#`, the mark.
fn is_no_method(request: &[u8]) -> bool {
    let method = request.split(|byte| *byte == b' ').next().unwrap_or_default();
    if !Escape::Hash.is_in(method) {
        return false;
    }
    let mut undone = Vec::new();
    Escape::Hash.undo(method, &mut undone);
    !undone.iter().all(|byte| IS_TOKEN[usize::from(*byte)])
}

/// Fast path for nearly all requests: one of three methods, one space, a slash, no space before the
/// version's.
#[inline(always)]
fn usual(request: &[u8]) -> Option<(Method, Range<usize>)> {
    let start = match request {
        [b'G', b'E', b'T', b' ', b'/', ..] => 4,
        [b'P', b'O', b'S', b'T', b' ', b'/', ..] | [b'H', b'E', b'A', b'D', b' ', b'/', ..] => 5,
        _ => return None,
    };
    let (target, version) = request[start..].split_last_chunk::<VERSION>()?;
    let is_whole = target.last().is_some_and(|last| *last != b' ') && is_version(version);
    is_whole.then(|| (Method::Other, start..start + target.len()))
}

#[inline(never)]
fn split_any(request: &[u8]) -> Option<(Method, Range<usize>)> {
    let space = request.iter().position(|&byte| !IS_TOKEN[usize::from(byte)])?;
    if space == 0 || request[space] != b' ' {
        return None;
    }
    let method = method(&request[..space]);
    let start = space + 1;
    // `GET ` ends in the blank after its method, which must not count as trailing.
    let mut end = without_trailing_spaces(request).max(start);
    if let Some(length) = version(&request[start..end]) {
        end -= length;
    } else if end == start || has_version_inside(&request[start..end]) {
        return None;
    }
    end = start + without_trailing_spaces(&request[start..end]);
    let leading = request[start..end].iter().take_while(|&&byte| byte == b' ').count();
    Some((method, start + leading..end))
}

/// The kind of a method. Methods are case-sensitive (RFC 9110, section 9.1).
#[inline]
pub(super) fn method(name: &[u8]) -> Method {
    if name == b"CONNECT" { Method::Connect } else { Method::Other }
}

/// Length of ` HTTP/x.y`.
const VERSION: usize = 9;

/// True for ` HTTP/x.y` with one digit each.
#[inline]
fn is_version(text: &[u8; VERSION]) -> bool {
    let [name @ .., dot, minor] = text;
    let [name @ .., major] = name;
    name == b" HTTP/" && major.is_ascii_digit() && *dot == b'.' && minor.is_ascii_digit()
}

/// Length of the ` HTTP/x` or ` HTTP/x.y` at the end of a request without its method.
#[inline]
fn version(rest: &[u8]) -> Option<usize> {
    if rest.last_chunk().is_some_and(is_version) {
        return Some(VERSION);
    }
    let without_digits = |text: &[u8]| {
        let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        (digits > 0).then(|| text.len() - digits)
    };
    let mut end = without_digits(rest)?;
    if rest[..end].ends_with(b".") {
        end = without_digits(&rest[..end - 1])?;
    }
    // Some CDNs write the name in small letters.
    let name = rest[..end].last_chunk::<6>()?;
    name.eq_ignore_ascii_case(b" HTTP/").then(|| rest.len() - end + 6)
}

/// True if words follow a version. The line is no request, or its fields were put together wrong: with
/// them in the target, `GET /a HTTP/1.1 200 5` would be a URL for each status.
fn has_version_inside(rest: &[u8]) -> bool {
    // Linear: each look goes back to the last space at most.
    let mut spaces = (0..rest.len()).filter(|at| rest[*at] == b' ');
    spaces.any(|at| version(&rest[..at]).is_some())
}

/// Length of `text` less the spaces at its end.
#[inline]
fn without_trailing_spaces(text: &[u8]) -> usize {
    text.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1)
}

/// RFC 9110, section 5.6.2: `tchar`. A method is a token.
const IS_TOKEN: [bool; 256] = {
    let mut set = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        set[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let others = b"!#$%&'*+-.^_`|~";
    let mut at = 0;
    while at < others.len() {
        set[others[at] as usize] = true;
        at += 1;
    }
    set
};

#[cfg(test)]
mod tests {
    use super::{Method, split, split_any};

    /// The method and the target, if there are any.
    fn parts(request: &str) -> Option<(Method, &str)> {
        split(request.as_bytes()).map(|(method, range)| (method, &request[range]))
    }

    fn target(request: &str) -> Option<&str> {
        parts(request).map(|(_, target)| target)
    }

    #[test]
    fn target_is_between_method_and_version() {
        for version in ["HTTP/1.1", "HTTP/1.0", "HTTP/2", "HTTP/2.0", "HTTP/10.12", "http/1.1"] {
            assert_eq!(target(&format!("GET /a {version}")), Some("/a"));
        }
    }

    #[test]
    fn fast_path_for_usual_requests_agrees_with_the_general_parser() {
        let mut usual = 0;
        for whole in ["GET /a HTTP/1.1", "POST / HTTP/2.0", "HEAD //  HTTP/1.0", "PUT /a HTTP/1.1"]
        {
            for at in 0..whole.len() {
                for byte in *b" /H.19:\x00\xFF" {
                    let mut request = whole.as_bytes().to_vec();
                    request[at] = byte;
                    for request in [&request[..], &request[..at], &request[at..]] {
                        assert_eq!(
                            split(request),
                            split_any(request),
                            "{}",
                            request.escape_ascii()
                        );
                        usual += usize::from(super::usual(request).is_some());
                    }
                }
            }
        }
        assert!(usual > 20, "{usual}");
    }

    #[test]
    fn malformed_version_belongs_to_the_target() {
        for rest in
            ["/a HTTP/", "/a HTTP/1.", "/a HTTP/.1", "/a XHTTP/1.1", "/aHTTP/1.1", "/a/HTTP/1.1 b"]
        {
            assert_eq!(target(&format!("GET {rest}")), Some(rest));
        }
    }

    #[test]
    fn version_is_optional() {
        assert_eq!(target("GET /a"), Some("/a"));
        assert_eq!(target("GET /1.1"), Some("/1.1"));
    }

    #[test]
    fn spaces_inside_the_target_are_kept_and_those_around_it_dropped() {
        assert_eq!(target("GET   /a  b   HTTP/1.1  "), Some("/a  b"));
        assert_eq!(target("GET /a HTTP/1.1 HTTP/1.1"), Some("/a HTTP/1.1"));
    }

    #[test]
    fn a_request_without_a_target_has_an_empty_one_only_before_a_version() {
        assert_eq!(target("GET  HTTP/1.1"), Some(""));
        assert_eq!(target("GET HTTP/1.1"), Some("HTTP/1.1"));
        assert_eq!(target("GET "), None);
        assert_eq!(target("GET"), None);
    }

    #[test]
    fn words_after_a_version_make_no_target() {
        for odd in ["GET /a HTTP/1.1 200 5", "GET /a http/2 x", "GET /a HTTP/1.1 HTTP/"] {
            assert_eq!(target(odd), None, "{odd}");
        }
    }

    #[test]
    fn junk_is_not_a_request() {
        for junk in ["", "-", " ", r"\x16\x03\x01 /", "<BADREQ>", "(GET) /a", "GET\t/a", " GET /a"]
        {
            assert_eq!(target(junk), None, "{junk}");
        }
    }

    #[test]
    fn method_connect_is_case_sensitive() {
        assert_eq!(parts("CONNECT h:443 HTTP/1.1"), Some((Method::Connect, "h:443")));
        assert_eq!(parts("connect h:443 HTTP/1.1"), Some((Method::Other, "h:443")));
        assert_eq!(parts("M-SEARCH * HTTP/1.1"), Some((Method::Other, "*")));
    }
}
