//! Reads `vhost`, Apache's `vhost_combined`: `%v:%p %h %l %u %t "%r" ...`.
//!
//! A combined log whose first field names the host: `host` or `host:port`, IPv6 in brackets. The
//! scheme follows from the port. If the field is `-` or empty, the base supplies the host. So it does
//! for a line of the Common Log Format among them: its first field is an address and its second `-`, where
//! a line with a host has the client.

use std::borrow::Cow;

use memchr::memchr;

use super::fields::Fields;
use super::hosts::{is_ipv4, is_ipv6};
use super::layout::Layout;
use super::line::Line;
use super::origin::RecordOrigin;
use super::part::PartSet;
use super::{Context, Extracted, clf};

/// The layout.
#[derive(Debug)]
pub(super) struct Vhost;

impl Layout for Vhost {
    fn name(&self) -> Cow<'_, str> {
        "vhost".into()
    }

    #[inline(always)]
    fn found(&self, ctx: &Context, line: Line<'_>, scratch: &mut Vec<u8>) -> Option<Extracted> {
        let origin = RecordOrigin::logged(None, first_field(line.bytes));
        Some(clf::found(ctx, line, origin, scratch))
    }

    fn parts(&self) -> PartSet {
        clf::OF_COMBINED
    }

    fn fields<'a>(&self, line: &'a [u8], out: &mut Fields<'a>) {
        clf::fields(line, 1, out);
    }

    fn fits(&self, _line: &[u8]) -> Option<bool> {
        Some(false)
    }
}

/// The first field, without the quotation mark of a line that is quoted as a whole. Empty if it is a client.
#[inline]
fn first_field(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\"").unwrap_or(line);
    let (field, rest) = line.split_at(memchr(b' ', line).unwrap_or(line.len()));
    if rest.starts_with(b" - ") && (is_ipv4(field) || is_ipv6(field)) {
        return b"";
    }
    field
}

#[cfg(test)]
mod tests {
    use super::super::format::tests::show;
    use super::super::{Context, Format};
    use uniqurl::internal::Origin;

    fn vhost(ctx: &Context, host: &str, target: &str) -> String {
        let rest = r#"1.2.3.4 - - [17/May/2015:10:05:03 +0000]"#;
        let line = format!(r#"{host} {rest} "GET {target} HTTP/1.1" 200 5 "-" "-""#);
        show(&Format::Vhost, ctx, line.as_bytes())
    }

    #[test]
    fn port_decides_the_scheme() {
        let ctx = Context::default();
        assert_eq!(vhost(&ctx, "h:443", "/a"), "joined 13 https://h:443/a");
        assert_eq!(vhost(&ctx, "h:80", "/a"), "joined 11 http://h:80/a");
        assert_eq!(vhost(&ctx, "h:8080", "/a"), "joined 13 http://h:8080/a");
        assert_eq!(vhost(&ctx, "h", "/a"), "joined 8 http://h/a");
        assert_eq!(vhost(&ctx, "[::1]:443", "/a"), "joined 17 https://[::1]:443/a");
        assert_eq!(vhost(&ctx, "[::1]", "/a"), "joined 12 http://[::1]/a");
        assert_eq!(vhost(&ctx, "h:-", "/a"), "joined 8 http://h/a");
        assert_eq!(vhost(&ctx, "h:", "/a"), "joined 9 http://h:/a");
        assert_eq!(vhost(&ctx, "[::1]:", "/a"), "joined 13 http://[::1]:/a");
    }

    #[test]
    fn base_supplies_missing_scheme_and_host() {
        let base = Origin { scheme: b"wss".to_vec(), authority: b"b".to_vec() };
        let ctx = Context { base: Some(base), ..Context::default() };
        assert_eq!(vhost(&ctx, "h:443", "/a"), "joined 13 https://h:443/a");
        assert_eq!(vhost(&ctx, "h:81", "/a"), "joined 10 wss://h:81/a");
        for unknown in ["-", "", ":80", "-:80"] {
            assert_eq!(vhost(&ctx, unknown, "/a"), "joined 7 wss://b/a");
            assert_eq!(vhost(&Context::default(), unknown, "/a"), "target /a");
        }
    }

    #[test]
    fn absolute_target_overrides_the_host() {
        assert_eq!(vhost(&Context::default(), "h:80", "http://o/a"), "url http://o/a");
    }

    #[test]
    fn host_with_a_delimiter_is_rejected() {
        for host in ["a/b", "a?b:80", "u@h:80", "a#b", r"a\\b:80", r"a\x2fb", "h:8/0"] {
            assert_eq!(vhost(&Context::default(), host, "/a"), "log-syntax 0", "{host}");
        }
    }

    #[test]
    fn client_of_a_common_line_is_no_host() {
        let line = |first: &str| {
            let rest = r#"u [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 5"#;
            show(&Format::Vhost, &Context::default(), format!("{first} {rest}").as_bytes())
        };
        assert_eq!(line("1.2.3.4 -"), "target /a");
        assert_eq!(line("2001:db8::1 -"), "target /a");
        assert_eq!(line("1.2.3.4 5.6.7.8 -"), "joined 14 http://1.2.3.4/a");
        assert_eq!(line("h.example -"), "joined 16 http://h.example/a");
    }

    #[test]
    fn line_in_extra_quotes_is_read() {
        assert_eq!(vhost(&Context::default(), "\"h:80", "/a"), "joined 11 http://h:80/a");
    }
}
