//! Finds secrets in text that may be a URL: userinfo, query and fragment.
//!
//! In: any bytes. Out: the parts to show, with `***` in place of the others.

use std::ops::Range;

/// Replaces hidden text.
pub const HIDDEN: &str = "***";

/// Cuts the userinfo out of a text, and the query with all that follows. `query` is where that starts,
/// after its mark. The last part is empty if there is no query, or if the third part does not reach it.
pub(super) fn parts(
    text: &[u8],
    userinfo: Option<Range<usize>>,
    query: Option<usize>,
) -> [&[u8]; 4] {
    let hidden = HIDDEN.as_bytes();
    let end = query.unwrap_or(text.len());
    let tail = if end < text.len() { hidden } else { b"" };
    match userinfo {
        None => [&text[..end], b"", b"", tail],
        // The last `@` may end a userinfo with a `?` in it, or be part of a query. Text after it is
        // a host in one case and a value in the other.
        Some(range) if range.end >= end => [&text[..range.start.min(end)], hidden, b"", b""],
        Some(range) => [&text[..range.start], hidden, &text[range.end..end], tail],
    }
}

/// Where the query or the fragment of a URL starts. The mark itself is shown: it tells that the URL has one.
pub(super) fn query(url: &[u8]) -> Option<usize> {
    Some(url.iter().position(|byte| b"?#".contains(byte))? + 1)
}

/// The range of a URL that is userinfo in some reading of it. A password may hold any byte, so no delimiter
/// ends the range, only the last `@`.
pub(super) fn userinfo(url: &[u8]) -> Option<Range<usize>> {
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
pub(super) fn after_slashes(text: &[u8]) -> Option<Range<usize>> {
    let slashes = text.windows(2).position(|two| two.iter().all(is_slash))? + 2;
    last_at(&text[slashes..]).map(|at| slashes..slashes + at)
}

/// The offset of the last `@` or `%40`.
pub(super) fn last_at(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).rev().find(|&i| bytes[i] == b'@' || bytes[i..].starts_with(b"%40"))
}

/// True for either kind of slash.
pub(super) fn is_slash(byte: &u8) -> bool {
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

#[cfg(test)]
mod tests {
    use crate::bytes::UrlExcerpt;

    #[test]
    fn urls_without_userinfo_are_shown_unchanged() {
        for url in [
            "http://example.com/a/b",
            "http://example.com:8080/a",
            "http://[::1]:80/a",
            "/a/@b",
            "//example.com/a",
            "urn:isbn:1",
            "",
        ] {
            assert_eq!(UrlExcerpt(url.as_bytes()).to_string(), url);
        }
        assert_eq!(UrlExcerpt(b"/a?q").to_string(), "/a?***");
        assert_eq!(UrlExcerpt(b"/a?").to_string(), "/a?");
        assert_eq!(UrlExcerpt(b"/a#b?q").to_string(), "/a#***");
        assert_eq!(UrlExcerpt(b"/a?t=1:2&mail=a@b").to_string(), "/a?***");
    }

    #[test]
    fn userinfo_is_masked_in_urls_and_damaged_urls() {
        for (url, shown) in [
            ("http://u:SECRET@h/", "http://***@h/"),
            ("http://SECRET@h", "http://***@h"),
            ("//u:SECRET@h/", "//***@h/"),
            ("http:\\\\u:SECRET@h\\", "http:\\x5C\\x5C***@h\\x5C"),
            ("http://u\\:SECRET@h/", "http://***@h/"),
            ("http://u:SEC/RET@h/", "http://***@h/"),
            ("https://u:2024/SECRET@h:bad/", "https://***@h:bad/"),
            ("http://u:SEC@RET@h/", "http://***@h/"),
            ("http://u:SECRET%40h/", "http://***%40h/"),
            ("http://u:SECRET", "http://***"),
            ("http://u:SEC?RET", "http://***"),
            ("http:/u:SECRET@h/", "***@h/"),
            ("u:SECRET@h", "***@h"),
            ("mailto:SECRET@h", "***@h"),
            (":SECRET@h", "***@h"),
            ("1http://u:SECRET@h/", "1http://***@h/"),
            ("http://h/http://u:SECRET@h/", "http://***@h/"),
            ("/http://u:SECRET@h/", "***@h/"),
            ("/a//SECRET@h/", "/a//***@h/"),
            (" http://u:SECRET@h/", "***@h/"),
            ("http://[u:SECRET]@h/", "http://***@h/"),
            ("http://h/?SECRET", "http://h/?***"),
            ("http://h/#SECRET", "http://h/#***"),
            // A `?` or `#` may be part of the password, and an `@` part of the query.
            ("ftp://bob:2024#SECRET@h/", "ftp://***"),
            ("https://SEC?RET@h/", "https://***"),
            ("http://u@h/?SECRET@x", "http://***"),
            ("u:SEC?RET@h/", "***"),
            ("/?u=http://SECRET@h", "/?***"),
        ] {
            assert_eq!(UrlExcerpt(url.as_bytes()).to_string(), shown, "{url}");
        }
    }
}
