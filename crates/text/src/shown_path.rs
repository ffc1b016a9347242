//! Prints a path in a message. An argument that was taken for a file name may be a URL, with secrets in it.
//!
//! In: a path. Out: bytes 0x20-0x7E only, as [`Printable`] writes them, with `***` in place of userinfo,
//! query and fragment.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use crate::masked::{Masked, after_slashes, is_slash, last_at};
use crate::printable::Printable;

/// Prints a path, all of it but for secrets. If it reads like a URL, `***` replaces its userinfo, query and
/// fragment; in any other path, text that reads like `user:password@`, and like `?name=value`.
///
/// ```
/// use std::path::Path;
/// use uniqurl_text::Printable;
///
/// let path = |name| Printable::path(Path::new(name)).to_string();
/// assert_eq!(path("https://u:secret@h/?token=x"), "https://***@h/?***");
/// assert_eq!(path("logs/access.log.?"), "logs/access.log.?");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ShownPath<'a>(&'a [u8]);

impl<'a> Printable<'a> {
    /// A path as messages show it.
    pub fn path(path: &'a Path) -> ShownPath<'a> {
        ShownPath(path.as_os_str().as_encoded_bytes())
    }
}

impl fmt::Display for ShownPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.0;
        let masked = match reads_like_url(name) {
            true => Masked::url(name),
            false => Masked::new(name, userinfo(name), query(name)),
        };
        masked.parts().iter().try_for_each(|part| Printable(part).fmt(f))
    }
}

/// Where the query of a name starts. A mark may stand for any letter, in a pattern that matched no file.
fn query(name: &[u8]) -> Option<usize> {
    let mark = name.iter().position(|byte| *byte == b'?')?;
    name[mark..].contains(&b'=').then_some(mark + 1)
}

/// The range of the userinfo in a name.
fn userinfo(name: &[u8]) -> Option<Range<usize>> {
    let at = last_at(name)?;
    let hidden = after_slashes(name);
    let Some(colon) = name[..at].iter().position(|byte| *byte == b':') else { return hidden };
    let slash = name[..colon].iter().rposition(|byte| *byte == b'/');
    let start = slash.map_or(0, |slash| slash + 1);
    Some(hidden.map_or(start, |hidden| hidden.start.min(start))..at)
}

/// True if a name holds `scheme:/`, or begins with two slashes, of either kind.
fn reads_like_url(name: &[u8]) -> bool {
    let is_scheme = |pair: &[u8]| pair[0].is_ascii_alphanumeric() && pair[1] == b':';
    name.windows(3).any(|three| is_scheme(three) && is_slash(&three[2]))
        || name.len() >= 2 && name[..2].iter().all(is_slash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_in_place_of_a_path_keeps_its_secrets() {
        for (name, shown) in [
            ("https://u:SECRET@h/?t=SECRET", "https://***@h/?***"),
            ("https://SECRET@h/a#SECRET", "https://***@h/a#***"),
            ("https:/u:SECRET@h/?SECRET", "***@h/?***"),
            ("HTTP:\\\\u:SECRET@h\\?SECRET", "HTTP:\\x5C\\x5C***@h\\x5C?***"),
            ("//u:SECRET@h/x", "//***@h/x"),
            ("./https://u:SECRET@h/x", "***@h/x"),
            ("https://u:SEC/RET@h/", "https://***@h/"),
            ("https://u:SECRET", "https://***"),
            ("u:SECRET@h/x?t=SECRET", "***@h/x?***"),
            ("logs/u:SECRET@h.gz", "logs/***@h.gz"),
            ("u:SEC/RET@h", "***@h"),
            ("h/a?token=SECRET", "h/a?***"),
            ("u:SEC?RE=T@h", "***"),
            ("logs//SECRET@h", "logs//***@h"),
            ("mailto:SECRET@h", "***@h"),
        ] {
            assert_eq!(ShownPath(name.as_bytes()).to_string(), shown, "{name}");
        }
    }

    #[test]
    fn other_names_are_shown_whole() {
        for name in [
            "/var/log/a b.log",
            "access.log.?",
            "part-0?.gz",
            "me@host.log",
            "@1:2",
            "2026-01-31T12:00:00.log",
            "#notes#",
            "https://h:8080/a/b",
            "",
        ] {
            assert_eq!(ShownPath(name.as_bytes()).to_string(), name);
        }
        assert_eq!(ShownPath(b"a\x1b\n").to_string(), "a\\x1B\\x0A");
    }
}
