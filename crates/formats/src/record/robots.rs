//! Tells a robots.txt (RFC 9309, and sitemaps.org for its `Sitemap:` lines), which `text` reads.
//!
//! Names of fields ignore case, and `#` begins a comment.

use memchr::memchr;

use super::line::{is_blank, without_mark};

/// The name of the field in a line.
fn field(line: &[u8]) -> Option<&[u8]> {
    let line = without_mark(line);
    let line = &line[..memchr(b'#', line).unwrap_or(line.len())];
    Some(line[..memchr(b':', line)?].trim_ascii())
}

/// Fields of such files, the ones of single search engines too. A file begins with one of the first two.
const FIELDS: [&str; 9] = [
    "user-agent",
    "sitemap",
    "disallow",
    "allow",
    "crawl-delay",
    "host",
    "clean-param",
    "request-rate",
    "noindex",
];

/// True if a file with these lines at its start is a robots.txt: all but a few begin with a field or are
/// comments, and the first one is about an agent or a sitemap.
pub(super) fn is_one<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let is_comment = |line: &[u8]| without_mark(line).trim_ascii_start().starts_with(b"#");
    let lines: Vec<&[u8]> = lines.filter(|line| !is_blank(line) && !is_comment(line)).collect();
    let has = |line: &[u8], names: &[&str]| {
        let is_it = |name: &[u8]| names.iter().any(|n| name.eq_ignore_ascii_case(n.as_bytes()));
        field(line).is_some_and(is_it)
    };
    let known = lines.iter().filter(|line| has(line, &FIELDS)).count();
    lines.first().is_some_and(|first| has(first, &FIELDS[..2])) && known * 4 > lines.len() * 3
}

#[cfg(test)]
mod tests {
    use super::is_one;

    #[test]
    fn file_is_recognized_by_its_fields() {
        let is_one = |text: &str| is_one(text.lines().map(str::as_bytes));
        assert!(is_one("User-agent: *\nDisallow:\n"));
        assert!(is_one("# all\n\nSITEMAP: http://h/s\n"));
        assert!(is_one("sitemap: http://h/a\nUser-Agent: x\nAllow: /\nCrawl-delay: 1\n"));
        for other in
            ["", "# x\n", "Host: h\nUser-agent: x\n", "sitemap: a\nhttp://h/\n", "http://h/\n"]
        {
            assert!(!is_one(other), "{other}");
        }
    }
}
