//! A URL in its five components, by RFC 3986 Appendix B.
//!
//! ```text
//! ^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?
//!  12            3  4          5       6  7        8 9
//! ```

use memchr::{memchr, memchr2, memchr3};

use crate::bytes::set;
use crate::simd::UrlKind;

/// The raw components of a URL; absent and empty are different states.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// Without its colon.
    pub scheme: Option<&'a [u8]>,
    /// Without its slashes.
    pub authority: Option<&'a [u8]>,
    /// Never absent, but it may be empty.
    pub path: &'a [u8],
    /// Without its question mark.
    pub query: Option<&'a [u8]>,
    /// Without its number sign.
    pub fragment: Option<&'a [u8]>,
}

impl<'a> Parts<'a> {
    /// Splits at the first delimiters; nothing is checked.
    #[inline]
    pub fn split(url: &'a [u8]) -> Self {
        // A loop, since schemes are too short for a search.
        let (scheme, rest) =
            match url.iter().position(|byte| matches!(byte, b':' | b'/' | b'?' | b'#')) {
                Some(end) if end > 0 && url[end] == b':' => (Some(&url[..end]), &url[end + 1..]),
                _ => (None, url),
            };
        let (authority, rest) = match rest.strip_prefix(b"//") {
            Some(rest) => {
                let end = memchr3(b'/', b'?', b'#', rest).unwrap_or(rest.len());
                (Some(&rest[..end]), &rest[end..])
            }
            None => (None, rest),
        };
        Self { scheme, authority, ..Self::split_target(rest) }
    }

    /// Whether the first segment holds a `:` that ends no scheme (section 3.1), as in `12:30.html` and `:a`.
    pub fn ends_no_scheme(&self) -> bool {
        match self.scheme {
            Some(name) => !is_scheme(name),
            None => self.authority.is_none() && self.path.starts_with(b":"),
        }
    }

    /// Splits a URL or a request target.
    #[inline]
    pub(crate) fn of(kind: UrlKind, bytes: &'a [u8]) -> Self {
        match kind {
            UrlKind::Absolute => Self::split(bytes),
            UrlKind::Target => Self::split_target(bytes),
        }
    }

    /// Splits a request target: a path, a query, a fragment, and never an authority.
    #[inline]
    pub fn split_target(target: &'a [u8]) -> Self {
        let end = memchr2(b'?', b'#', target).unwrap_or(target.len());
        let (path, rest) = target.split_at(end);
        let (query, fragment) = match rest.first() {
            None => (None, None),
            Some(b'#') => (None, Some(&rest[1..])),
            Some(_) => match memchr(b'#', rest) {
                Some(hash) => (Some(&rest[1..hash]), Some(&rest[hash + 1..])),
                None => (Some(&rest[1..]), None),
            },
        };
        Self { scheme: None, authority: None, path, query, fragment }
    }

    /// Offset of the authority's first byte, or of the path's if there is no authority.
    pub(crate) fn authority_start(&self) -> usize {
        self.scheme.map_or(0, |scheme| scheme.len() + 1)
            + if self.authority.is_some() { 2 } else { 0 }
    }

    /// Offset of the path's first byte.
    pub(crate) fn path_start(&self) -> usize {
        self.authority_start() + self.authority.map_or(0, <[u8]>::len)
    }

    /// Offset of the query's first byte, after its `?`.
    pub(crate) fn query_start(&self) -> usize {
        self.path_start() + self.path.len() + 1
    }

    /// Offset of the fragment's first byte, after its `#`.
    pub(crate) fn fragment_start(&self) -> usize {
        self.path_start() + self.path.len() + self.query.map_or(0, |query| query.len() + 1) + 1
    }
}

/// `scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )` (section 3.1)
pub(crate) fn is_scheme(name: &[u8]) -> bool {
    !name.is_empty() && find_outside_scheme(name).is_none()
}

/// The offset of the first byte that a scheme may not hold there.
pub(crate) fn find_outside_scheme(name: &[u8]) -> Option<usize> {
    let allowed = |i| if i == 0 { set::ALPHA } else { set::SCHEME };
    name.iter().enumerate().position(|(i, byte)| !allowed(i).contains(*byte))
}

/// An authority in its three parts (section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthorityParts<'a> {
    pub(crate) userinfo: Option<&'a [u8]>,
    /// Host and port, not yet split: a literal in brackets may hold colons.
    pub(crate) host_port: &'a [u8],
}

impl<'a> AuthorityParts<'a> {
    /// The last `@` ends the userinfo.
    #[inline]
    pub(crate) fn split(authority: &'a [u8]) -> Self {
        // So no part of the userinfo is ever read as the host.
        match authority.iter().rposition(|byte| *byte == b'@') {
            Some(at) => Self { userinfo: Some(&authority[..at]), host_port: &authority[at + 1..] },
            None => Self { userinfo: None, host_port: authority },
        }
    }
}

/// Splits off the text after a host: a literal ends at its bracket, any other host at the first colon, which
/// a reg-name cannot contain. In a valid authority that text is empty or a colon and a port.
#[inline]
pub(crate) fn split_host(host_port: &[u8]) -> (&[u8], &[u8]) {
    let end = match host_port.first() {
        Some(b'[') => memchr(b']', host_port).map(|close| close + 1),
        // A loop, since hosts are too short for a search.
        _ => host_port.iter().position(|byte| *byte == b':'),
    };
    host_port.split_at(end.unwrap_or(host_port.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_and_empty_components_are_distinct() {
        let parts = Parts::split(b"http://h?#");
        assert_eq!(
            (parts.path, parts.query, parts.fragment),
            (&b""[..], Some(&b""[..]), Some(&b""[..]))
        );
        assert_eq!(Parts::split(b"x:").authority, None);
        assert_eq!(Parts::split(b"x://").authority, Some(&b""[..]));
        assert_eq!(Parts::split(b":x").scheme, None);
    }

    #[test]
    fn component_offsets_are_exact() {
        let url = b"ab://u@h:1/p/q?r=s#t";
        let parts = Parts::split(url);
        assert_eq!(&url[parts.authority_start()..][..5], b"u@h:1");
        assert_eq!(&url[parts.path_start()..][..4], b"/p/q");
        assert_eq!(&url[parts.query_start()..][..3], b"r=s");
        assert_eq!(&url[parts.fragment_start()..], b"t");
    }

    #[test]
    fn a_colon_of_the_first_segment_that_ends_no_scheme_is_found() {
        for url in ["12:30.html", ":a", "::", "1://h", "a_b:c", "%66oo:a", "[::1]", "\u{e9}:a"] {
            assert!(Parts::split(url.as_bytes()).ends_no_scheme(), "{url}");
        }
        for url in ["a:b", "a+-.1:", "a/b:c", "./a:b", "?:", "#:", "//1:2", "", "a"] {
            assert!(!Parts::split(url.as_bytes()).ends_no_scheme(), "{url}");
        }
    }

    #[test]
    fn target_with_two_leading_slashes_has_no_authority() {
        let parts = Parts::split_target(b"//a/b?c");
        assert_eq!(
            (parts.authority, parts.path, parts.query),
            (None, &b"//a/b"[..], Some(&b"c"[..]))
        );
    }
}
