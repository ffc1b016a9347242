//! Strips the prefix of the Container Runtime Interface: `TIME stdout F LINE`.
//!
//! The tag `P` marks a part of a line that goes on in a later envelope of the same stream. More tags
//! may follow after colons. The line is not escaped.

use memchr::memchr;

use super::stripped::Stripped;
use super::time::rfc3339;

pub(super) fn strip(line: &[u8]) -> Option<Stripped> {
    let rest = line[rfc3339(line)?..].strip_prefix(b" ")?;
    let rest = rest.strip_prefix(b"stdout ").or_else(|| rest.strip_prefix(b"stderr "))?;
    let end = memchr(b' ', rest).unwrap_or(rest.len());
    let is_cut = match &rest[..end] {
        b"F" | [b'F', b':', ..] => false,
        b"P" | [b'P', b':', ..] => true,
        _ => return None,
    };
    // An empty line may lack the space after the tags.
    let start = (line.len() - rest.len() + end + 1).min(line.len());
    Some(Stripped { is_cut, ..Stripped::rest_of(line, start) })
}

#[cfg(test)]
mod tests {
    use super::super::Envelope;
    use super::super::tests::{check, stripped};

    #[test]
    fn the_text_after_the_tags_is_the_line() {
        check(
            Envelope::Cri,
            &[
                (b"2016-10-06T00:17:09.669794202Z stdout F GET /a", Some(b"GET /a")),
                (b"2016-10-06T00:17:09+02:00 stderr P  a ", Some(b" a ")),
                (b"2016-10-06T00:17:09Z stdout F:x \xFF\"\\", Some(b"\xFF\"\\")),
                (b"2016-10-06T00:17:09Z stdout F ", Some(b"")),
                (b"2016-10-06T00:17:09Z stdout F", Some(b"")),
                (b"2016-10-06T00:17:09Z stdout FULL x", None),
                (b"2016-10-06T00:17:09Z stdout", None),
                (b"2016-10-06T00:17:09Zstdout F x", None),
                (b"2016-10-06T00:17:09Z stdin F x", None),
                (b"2016-10-06 00:17:09Z stdout F x", None),
                (b"", None),
            ],
        );
        let is_cut = |line: &[u8]| stripped(Envelope::Cri, line).unwrap().1;
        assert!(is_cut(b"2016-10-06T00:17:09Z stdout P x"));
        assert!(!is_cut(b"2016-10-06T00:17:09Z stdout F x"));
    }
}
