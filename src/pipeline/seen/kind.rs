//! How a file of what was seen is read: what its lines are, and where in them the URLs.

use crate::record::{self, HEAD, Separator};
use crate::url::{Normalizer, Outcome};

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Saved,
    List,
    /// A list with counts before its URLs.
    Counted,
    /// Lines of columns between tabs: which of them holds the URLs, and how many tabs there are.
    Columns {
        url: usize,
        tabs: usize,
    },
}

impl Kind {
    /// What the lines of a list are that begins with `bytes`; `normalizer` is the run's.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words: read as a list of URLs, it would say of everything that it is new.
    pub(super) fn of_list(
        bytes: &[u8],
        separator: Separator,
        normalizer: &Normalizer,
    ) -> Result<Self, String> {
        let head = &bytes[..bytes.len().min(HEAD)];
        if let Some(why) = record::refusal(head) {
            return Err(why.into());
        }
        if head.starts_with(b"{\"") {
            let why = "its lines are JSON objects; --seen reads what is written without --json, \
                       and what --save-seen keeps";
            return Err(why.into());
        }
        let separator = separator.byte();
        let ends = |byte| memchr::memchr(byte, head).is_some();
        if !ends(separator) && (ends(b'\n') || ends(b'\0')) {
            return Err(match separator {
                b'\n' => "its records end with NUL; -0 reads such lists".into(),
                _ => "its records do not end with NUL, as -0 says".into(),
            });
        }
        // But for a last line that is cut.
        let end = match bytes.len() > HEAD {
            true => memchr::memrchr(separator, head).map_or(head.len(), |last| last + 1),
            false => head.len(),
        };
        let lines = || {
            let lines = head[..end].split_inclusive(|byte| *byte == separator);
            lines.map(|line| without_end(line, separator)).filter(|line| !line.is_empty())
        };
        let tabs = lines().next().map_or(0, count_tabs);
        if after_count(head).is_some() && tabs == 1 {
            return Ok(Kind::Counted);
        }
        if tabs == 0 || lines().any(|line| count_tabs(line) != tabs) {
            return Ok(Kind::List);
        }
        let mut out = Vec::new();
        let mut is_canonical = |url: &[u8]| {
            out.clear();
            normalizer.normalize(url, &mut out) == Outcome::Canonical && out == url
        };
        let mut holds_urls = |column| {
            let mut urls = lines().map(|line| column_of(line, column));
            // Some other columns look like URLs, but not like those of hosts.
            urls.clone().any(|url| url.windows(3).any(|part| part == b"://"))
                && urls.all(&mut is_canonical)
        };
        match (0..=tabs).find(|column| holds_urls(*column)) {
            Some(url) => Ok(Kind::Columns { url, tabs }),
            None => Err(format!(
                "its lines are columns between tabs, and none of these holds canonical URLs of {}; \
                 cut -f takes one column of a table",
                normalizer.description()
            )),
        }
    }

    /// The URLs of these lines, each ended as its line is, and how many lines have other columns.
    pub(super) fn urls(self, lines: &[u8], separator: Separator) -> (Vec<u8>, u64) {
        let separator = separator.byte();
        let mut uneven = 0;
        let mut urls = Vec::with_capacity(lines.len());
        for line in lines.split_inclusive(|byte| *byte == separator) {
            let text = without_end(line, separator);
            urls.extend_from_slice(match self {
                Kind::Columns { url, tabs } => {
                    uneven += u64::from(!text.is_empty() && count_tabs(text) != tabs);
                    column_of(text, url)
                }
                Kind::Counted => after_count(text).unwrap_or(text),
                Kind::Saved | Kind::List => text,
            });
            urls.extend_from_slice(&line[text.len()..]);
        }
        (urls, uneven)
    }
}

/// A line without what ends it, which takes a carriage return before a line feed along.
fn without_end(line: &[u8], separator: u8) -> &[u8] {
    match line.strip_suffix(&[separator]) {
        Some(text) if separator == b'\n' => text.strip_suffix(b"\r").unwrap_or(text),
        Some(text) => text,
        None => line,
    }
}

/// What stands behind a count and a tab at the start of a line.
fn after_count(line: &[u8]) -> Option<&[u8]> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    line[digits..].strip_prefix(b"\t").filter(|_| digits > 0)
}

fn count_tabs(line: &[u8]) -> usize {
    memchr::memchr_iter(b'\t', line).count()
}

/// The n-th column of a line, counted from 0.
fn column_of(line: &[u8], n: usize) -> &[u8] {
    line.split(|byte| *byte == b'\t').nth(n).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::after_count;

    #[test]
    fn a_count_is_digits_and_a_tab() {
        for (line, rest) in [
            (&b"12\thttp://h/"[..], Some(&b"http://h/"[..])),
            (b"0\t", Some(b"")),
            (b"\thttp://h/", None),
            (b"12 http://h/", None),
            (b"http://h/\t1", None),
            (b"", None),
        ] {
            assert_eq!(after_count(line), rest, "{}", line.escape_ascii());
        }
    }
}
