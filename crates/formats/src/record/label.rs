//! Lines that begin with a word and a colon and are no URLs: `INFO:     1.2.3.4 - "GET /x"`, `Host: h`,
//! `time:28/Feb/2013:12:00:00`.
//!
//! By its grammar any such word is a scheme. No scheme has a blank after its colon, and a scheme without
//! `//` that nobody registered is most often no scheme.

/// The schemes that are registered.
const SCHEMES: &str = include_str!("../../data/schemes.txt");

/// Schemes that people do write a blank after, as in `javascript: void(0)`.
const WITH_BLANK: [&str; 5] = ["javascript", "data", "mailto", "tel", "sms"];

/// Which lines of a list are labels and no URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// Those with a blank after the first colon.
    Spaced,
    /// Those without a registered scheme, too.
    Unregistered,
    /// All: they are records of a format that reads more parts of a URL than any that `auto` knows.
    All,
}

impl Labels {
    /// True if a line is no URL for this reason.
    #[inline]
    pub fn has(self, line: &[u8]) -> bool {
        match line {
            _ if self == Labels::All => true,
            // Nearly all URLs.
            [b'h', b't', b't', b'p', b':', b'/', ..]
            | [b'h', b't', b't', b'p', b's', b':', b'/', ..] => false,
            _ => self.has_any(line),
        }
    }

    fn has_any(self, line: &[u8]) -> bool {
        let Some((name, rest)) = scheme(line) else { return false };
        let is_one_of =
            |names: &[&str]| names.iter().any(|n| name.eq_ignore_ascii_case(n.as_bytes()));
        match rest.first() {
            Some(b' ' | b'\t') => !is_one_of(&WITH_BLANK),
            // `//` names an authority, as URLs of apps do under schemes that nobody registered.
            _ => self == Labels::Unregistered && !rest.starts_with(b"//") && !is_registered(name),
        }
    }
}

/// True for a line that begins with a path and says something of it (`/index.php: login failed`), which is
/// no request target.
pub(super) fn is_of_path(line: &[u8]) -> bool {
    let path = line.split(|byte| matches!(byte, b' ' | b'\t')).next().unwrap_or_default();
    path.len() < line.len() && path.starts_with(b"/") && path.ends_with(b":")
}

/// The text before the first colon of a line, if it can be a scheme, and the text after it.
fn scheme(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.trim_ascii_start();
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let length = line.iter().position(|byte| !is_of_name(byte))?;
    let (name, rest) = line.split_at(length);
    let is_scheme = name.first().is_some_and(u8::is_ascii_alphabetic);
    is_scheme.then(|| rest.strip_prefix(b":")).flatten().map(|rest| (name, rest))
}

fn is_registered(name: &[u8]) -> bool {
    // Nearly all lines are settled before this, so the list is not worth a table.
    let mut names = SCHEMES.lines().filter(|line| !line.starts_with('#'));
    names.any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// True if most lines with a scheme are labels, and some of them of the kind that is no URL only in such
/// company.
pub(super) fn are_most<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let (mut all, mut labels, mut spaced) = (0, 0, 0);
    for line in lines.filter(|line| scheme(line).is_some()) {
        all += 1;
        labels += usize::from(Labels::Unregistered.has(line));
        spaced += usize::from(Labels::Spaced.has(line));
    }
    labels > spaced && labels * 2 > all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_after_the_first_colon_is_of_no_url() {
        for line in ["INFO:     1.2.3.4", "Host: h", "a:\tb", " x: y", "urn: x", "http: //h/"] {
            assert!(Labels::Spaced.has(line.as_bytes()), "{line}");
        }
        for line in [
            "http://h/a: b",
            "/a: b",
            "a b: c",
            "a:b c",
            "javascript: void(0)",
            "mailto: a@h",
            "x:",
            "12: a",
            "",
            "data:,a b",
            "h.example:80",
        ] {
            assert!(!Labels::Spaced.has(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_path_and_a_text_are_no_target() {
        assert!(is_of_path(b"/index.php: login failed") && is_of_path(b"/dev/sda:\tok"));
        for line in ["/a b: c", "/a:", "/a:b c", "/", "a: b", ""] {
            assert!(!is_of_path(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn unregistered_scheme_without_slashes_is_a_label_among_such() {
        for line in ["time:28/Feb/2013:12:00:00\thost:h", "status:200", "C:\\x", "h.example:80/x"] {
            assert!(Labels::Unregistered.has(line.as_bytes()), "{line}");
            assert!(!Labels::Spaced.has(line.as_bytes()), "{line}");
        }
        for line in
            ["urn:a:b", "MAILTO:a@h", "app://x", "http:x", "tel:1", "ms-word:a", "/a:b", "1:2", "x"]
        {
            assert!(!Labels::Unregistered.has(line.as_bytes()), "{line}");
        }
        let most = |text: &str| are_most(text.lines().map(str::as_bytes));
        assert!(most("status:1\nstatus:2\nhttp://h/\n"));
        assert!(!most("status:1\nhttp://h/\n") && !most("") && !most("INFO: a\nINFO: b\n"));
    }

    #[test]
    fn list_of_schemes_is_sorted() {
        let names = || SCHEMES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert!(names().is_sorted() && names().count() > 200);
    }
}
