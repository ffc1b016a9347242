//! Finds secrets in text that may be a URL: userinfo, query and fragment.
//!
//! In: any bytes, and how they are read. Out: the parts to show, with `***` in place of the others.

use std::ops::Range;

/// Replaces hidden text.
pub const HIDDEN: &str = "***";

/// A text without its userinfo, and without its query or fragment.
#[derive(Clone, Copy)]
pub(crate) struct Masked<'a> {
    /// The text before the userinfo, [`HIDDEN`] in its place, and the text after it. The third part ends
    /// with the mark of a hidden query or fragment.
    pub shown: [&'a [u8]; 3],
    /// The hidden query or fragment, with all that follows it.
    pub query: &'a [u8],
}

impl<'a> Masked<'a> {
    /// Reads the text as a URL.
    pub fn url(text: &'a [u8]) -> Self {
        Self::new(text, userinfo(text), query(text))
    }

    /// `query` is where the query starts, after its mark.
    pub fn new(text: &'a [u8], userinfo: Option<Range<usize>>, query: Option<usize>) -> Self {
        let (text, query) = text.split_at(query.unwrap_or(text.len()));
        let hidden = HIDDEN.as_bytes();
        match userinfo {
            None => Self { shown: [b"", b"", text], query },
            // The last `@` may end a userinfo with a `?` in it, or be part of a query. Text after it is
            // a host in one case and a value in the other.
            Some(range) if range.end >= text.len() => {
                Self { shown: [&text[..range.start.min(text.len())], hidden, b""], query: b"" }
            }
            Some(range) => {
                Self { shown: [&text[..range.start], hidden, &text[range.end..]], query }
            }
        }
    }

    /// The parts of a text that names the query by `***` alone.
    pub fn parts(self) -> [&'a [u8]; 4] {
        let [before, hidden, after] = self.shown;
        [before, hidden, after, if self.query.is_empty() { b"" } else { HIDDEN.as_bytes() }]
    }
}

/// Where the query or the fragment of a URL starts. The mark itself is shown: it tells that the URL has one.
fn query(url: &[u8]) -> Option<usize> {
    Some(url.iter().position(|byte| b"?#".contains(byte))? + 1)
}

/// The range of a URL that is userinfo in some reading of it. A password may hold any byte, so no delimiter
/// ends the range, only the last `@`.
fn userinfo(url: &[u8]) -> Option<Range<usize>> {
    let at = last_at(url);
    if let Some(start) = authority_start(url) {
        let is_cut = || !is_plain_host(&url[start..]);
        return match at {
            Some(at) => Some(start..at),
            // `http://user:secret`
            None => is_cut().then_some(start..url.len()),
        };
    }
    let at = at?;
    let before = &url[..query(url).unwrap_or(url.len()).min(at)];
    // `user:secret@host`, `mailto:`, malformed text; `/http:user:secret@host`.
    if !matches!(url.first(), Some(b'/' | b'?' | b'#')) || before.contains(&b':') {
        return Some(0..at);
    }
    // `/@name` is an ordinary path.
    after_slashes(url)
}

/// The range from the first two slashes to the last `@` after them.
pub(crate) fn after_slashes(text: &[u8]) -> Option<Range<usize>> {
    let slashes = text.windows(2).position(|two| two.iter().all(is_slash))? + 2;
    last_at(&text[slashes..]).map(|at| slashes..slashes + at)
}

/// The offset of the last `@` or `%40`.
pub(crate) fn last_at(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).rev().find(|&i| bytes[i] == b'@' || bytes[i..].starts_with(b"%40"))
}

/// True for either kind of slash.
pub(crate) fn is_slash(byte: &u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

/// Where the authority starts, if the bytes start like `scheme://` or `//`, with either kind of slash.
fn authority_start(url: &[u8]) -> Option<usize> {
    let scheme = url
        .iter()
        .position(|b| !b.is_ascii_alphanumeric() && !b"+-.".contains(b))
        .filter(|&end| end > 0 && url[end] == b':')
        .map_or(0, |end| end + 1);
    let slashes = url[scheme..].iter().take_while(|byte| is_slash(byte)).count();
    (slashes >= 2).then_some(scheme + slashes)
}

/// True if a text without `@` begins with a host and at most a port: only digits after a colon.
fn is_plain_host(text: &[u8]) -> bool {
    // Only a slash ends the authority: to RFC 3986 a backslash is an ordinary byte of it.
    let end = text.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(text.len());
    let authority = &text[..end];
    let after_address = match authority.iter().position(|&b| b == b']') {
        Some(end) if authority[0] == b'[' => &authority[end..],
        _ => authority,
    };
    match after_address.iter().position(|&b| b == b':') {
        Some(colon) => after_address[colon + 1..].iter().all(u8::is_ascii_digit),
        None => true,
    }
}
