//! Splits a URL with a host into the parts that keys arrange.

use std::net::Ipv4Addr;

use crate::normalize::{AuthorityParts, Parts, is_scheme, split_host};

/// The parts of a URL that names a host. Nothing is left out: the parts and their delimiters make the
/// URL.
#[derive(Debug, PartialEq, Eq)]
pub struct Located<'a> {
    pub(super) scheme: &'a [u8],
    pub(super) userinfo: Option<&'a [u8]>,
    /// Not empty. It holds none of `/?#@`, and a colon only between brackets.
    pub host: &'a [u8],
    pub(super) port: Option<&'a [u8]>,
    /// Path, query and fragment, with their delimiters.
    pub(super) rest: &'a [u8],
}

impl<'a> Located<'a> {
    /// `None` if the URL names no host: `mailto:`, `file:///`, a request target, or no URL at all.
    pub fn split(url: &'a [u8]) -> Option<Self> {
        let parts = Parts::split(url);
        // Under `string` and the rings anything may stand before the first colon.
        let scheme = parts.scheme.filter(|name| is_scheme(name))?;
        let AuthorityParts { userinfo, host_port } = AuthorityParts::split(parts.authority?);
        let (host, port) = split_port(host_port);
        let rest = &url[parts.path_start()..];
        (!host.is_empty()).then_some(Self { scheme, userinfo, host, port, rest })
    }

    /// True if the host is a name, whose labels run from the particular to the general.
    pub(super) fn is_name(&self) -> bool {
        !is_literal(self.host)
    }

    /// True if the host is an IPv4 address of four decimal numbers.
    pub(super) fn is_ipv4(&self) -> bool {
        std::str::from_utf8(self.host).is_ok_and(|host| host.parse::<Ipv4Addr>().is_ok())
    }
}

fn is_literal(host: &[u8]) -> bool {
    host.first() == Some(&b'[') && host.last() == Some(&b']')
}

/// Splits host and port; the port is `None` without a colon. `string` accepts anything, so brackets may
/// be unbalanced here. Then they are ordinary bytes.
pub fn split_port(host_port: &[u8]) -> (&[u8], Option<&[u8]>) {
    match split_host(host_port) {
        (host, [b':', port @ ..]) => (host, Some(port)),
        (host, []) if is_literal(host) => (host, None),
        _ => match host_port.iter().position(|byte| *byte == b':') {
            Some(colon) => (&host_port[..colon], Some(&host_port[colon + 1..])),
            None => (host_port, None),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_and_port_are_split_even_at_broken_brackets() {
        for (text, host, port) in [
            ("h", "h", None),
            ("h:", "h", Some("")),
            ("h:1:2", "h", Some("1:2")),
            ("[::1]", "[::1]", None),
            ("[::1]:8", "[::1]", Some("8")),
            ("[a:b", "[a", Some("b")),
            ("[a]b:1", "[a]b", Some("1")),
            ("[a]:1]", "[a]", Some("1]")),
        ] {
            let expected = (host.as_bytes(), port.map(str::as_bytes));
            assert_eq!(split_port(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn url_without_a_host_is_not_split() {
        for url in ["mailto:a@h", "file:///a", "/a", "//h/a", "x://:80/", "x://u@/", "1://h/", ""] {
            assert_eq!(Located::split(url.as_bytes()), None, "{url}");
        }
    }
}
