//! Prints untrusted bytes on a terminal. URLs, log lines and file names come from strangers and may
//! hold escape sequences, line feeds and secrets.
//!
//! In: any bytes. Out: bytes 0x20-0x7E only. A backslash is escaped too, so the output shows the input
//! without ambiguity.

use std::fmt::{self, Write};
use std::path::Path;

use super::ShownPath;

/// Longest text of an excerpt in bytes, including the ellipsis.
const LIMIT: usize = 200;
const ELLIPSIS: &str = "...";
/// Replaces hidden text.
pub const HIDDEN: &str = "***";

/// Prints all of the bytes. For names, which are useless when cut.
#[derive(Debug, Clone, Copy)]
pub struct Printable<'a>(pub &'a [u8]);

impl<'a> Printable<'a> {
    /// A path as messages show it.
    pub fn path(path: &'a Path) -> ShownPath<'a> {
        ShownPath(path.as_os_str().as_encoded_bytes())
    }
}

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|&byte| write_byte(byte, f))
    }
}

/// Prints the start of the bytes, at most 200 bytes of text. For input.
#[derive(Debug, Clone, Copy)]
pub struct Excerpt<'a>(pub &'a [u8]);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        cut(&[self.0], f)
    }
}

/// Prints the start of a URL without its userinfo, query and fragment, which `***` replaces. Text
/// before them is shown only if it cannot be userinfo under any reading of a broken URL. Malformed text
/// with an `@` may therefore hide more than necessary.
///
/// ```
/// use uniqurl::bytes::UrlExcerpt;
///
/// let url = b"http://user:secret@example.com/a?token=1";
/// assert_eq!(UrlExcerpt(url).to_string(), "http://***@example.com/a?***");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct UrlExcerpt<'a>(pub &'a [u8]);

impl fmt::Display for UrlExcerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.0;
        // The delimiter itself stays: it shows that the URL had a query.
        let shown_end = url.iter().position(|b| b"?#".contains(b)).map_or(url.len(), |at| at + 1);
        let (shown, after) = url.split_at(shown_end);
        let after = if after.is_empty() { "" } else { HIDDEN };
        match secret(shown) {
            Some(hidden) => {
                let (before, behind) = (&shown[..hidden.start], &shown[hidden.end..]);
                cut(&[before, HIDDEN.as_bytes(), behind, after.as_bytes()], f)
            }
            None => cut(&[shown, after.as_bytes()], f),
        }
    }
}

/// The range that may be userinfo in `shown`, which has neither query nor fragment.
pub(super) fn secret(shown: &[u8]) -> Option<std::ops::Range<usize>> {
    let head = authority_start(shown);
    let last_at = last_at(shown);
    let path = match head {
        // Only a slash ends the authority: to RFC 3986 a backslash is an ordinary byte of it.
        Some(head) => {
            let length =
                shown[head..].iter().position(|&b| b == b'/').unwrap_or(shown.len() - head);
            if !is_plain_host(&shown[head..head + length]) {
                return Some(head..last_at.filter(|&at| at >= head).unwrap_or(shown.len()));
            }
            head + length
        }
        None if shown.first() == Some(&b'/') => 0,
        // `user:secret@host`, `mailto:`, malformed text.
        None => return last_at.map(|at| 0..at),
    };
    // `/@name` is an ordinary path; `/http://user:secret@host/` is a path that holds a URL.
    let at = last_at.filter(|&at| at >= path)?;
    shown[path..at].contains(&b':').then_some(path..at)
}

/// Where the authority starts, if the bytes start like `scheme://` or `//`, with either kind of slash.
fn authority_start(shown: &[u8]) -> Option<usize> {
    let is_slash = |b: &u8| matches!(b, b'/' | b'\\');
    let scheme = shown
        .iter()
        .position(|b| !b.is_ascii_alphanumeric() && !b"+-.".contains(b))
        .filter(|&end| end > 0 && shown[end] == b':')
        .map_or(0, |end| end + 1);
    let slashes = shown[scheme..].iter().take_while(|b| is_slash(b)).count();
    (slashes >= 2).then_some(scheme + slashes)
}

/// The offset of the last `@` or `%40`.
pub(super) fn last_at(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).rev().find(|&i| bytes[i] == b'@' || bytes[i..].starts_with(b"%40"))
}

/// True if an authority is a host with at most a port: no `@`, and only digits after a colon.
fn is_plain_host(authority: &[u8]) -> bool {
    let after_address = match authority.iter().position(|&b| b == b']') {
        Some(end) if authority[0] == b'[' => &authority[end..],
        _ => authority,
    };
    let port = match after_address.iter().position(|&b| b == b':') {
        Some(colon) => &after_address[colon + 1..],
        None => &[],
    };
    last_at(authority).is_none() && port.iter().all(u8::is_ascii_digit)
}

/// Writes the parts one after the other, at most [`LIMIT`] bytes of text.
fn cut(parts: &[&[u8]], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = String::with_capacity(LIMIT + 4);
    // Longest length of the text after which an ellipsis still fits.
    let mut room = 0;
    for &byte in parts.iter().copied().flatten() {
        write_byte(byte, &mut text)?;
        if text.len() > LIMIT {
            text.truncate(room);
            text.push_str(ELLIPSIS);
            break;
        }
        if text.len() <= LIMIT - ELLIPSIS.len() {
            room = text.len();
        }
    }
    f.write_str(&text)
}

fn write_byte(byte: u8, to: &mut impl Write) -> fmt::Result {
    match stands_for_itself(byte) {
        true => to.write_char(char::from(byte)),
        false => write!(to, "\\x{byte:02X}"),
    }
}

/// True for a character that a terminal acts on, that turns the direction of text, or that ends a line:
/// control characters, those of Unicode's `Bidi_Control`, U+2028 and U+2029.
pub fn is_control(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{61C}'
                | '\u{200E}'
                | '\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2066}'..='\u{2069}'
        )
}

/// True if a byte is printed literally.
pub fn stands_for_itself(byte: u8) -> bool {
    matches!(byte, 0x20..=0x7E) && byte != b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_holds_printable_bytes_only() {
        let all: Vec<u8> = (0..=255).collect();
        for text in [Printable(&all).to_string(), Excerpt(&all).to_string()] {
            assert!(text.bytes().all(|b| (0x20..=0x7E).contains(&b)), "{text:?}");
        }
        assert_eq!(Printable(b"a\x1b[31m\n\\x\xff").to_string(), r"a\x1B[31m\x0A\x5Cx\xFF");
    }

    #[test]
    fn long_excerpts_are_cut_and_names_are_not() {
        let long = vec![b'a'; 1000];
        assert_eq!(Printable(&long).to_string().len(), 1000);
        assert_eq!(Excerpt(&long).to_string(), "a".repeat(197) + "...");
        assert_eq!(Excerpt(&long[..200]).to_string(), "a".repeat(200));
        assert_eq!(Excerpt(&long[..201]).to_string(), "a".repeat(197) + "...");
    }

    #[test]
    fn an_escape_is_never_cut_in_two() {
        for lead in 0..8 {
            let mut bytes = vec![b'a'; lead];
            bytes.extend([0u8; 100]);
            let text = Excerpt(&bytes).to_string();
            assert!(text.len() <= LIMIT && text.ends_with("..."), "{text}");
            assert_eq!((text.len() - 3 - lead) % 4, 0, "{text}");
        }
    }

    #[test]
    fn urls_without_userinfo_are_shown_unchanged() {
        for url in [
            "http://example.com/a/b",
            "http://example.com:8080/a",
            "http://[::1]:80/a",
            "https://example.com/@name/post",
            "https://example.com/@name:8",
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
            ("http://u:SEC@RET@h/", "http://***@h/"),
            ("http://u:SECRET%40h/", "http://***%40h/"),
            ("http://u:SECRET", "http://***"),
            ("http:/u:SECRET@h/", "***@h/"),
            ("u:SECRET@h", "***@h"),
            ("mailto:SECRET@h", "***@h"),
            (":SECRET@h", "***@h"),
            ("1http://u:SECRET@h/", "1http://***@h/"),
            ("http://h/http://u:SECRET@h/", "http://h***@h/"),
            ("/http://u:SECRET@h/", "***@h/"),
            (" http://u:SECRET@h/", "***@h/"),
            ("http://[u:SECRET]@h/", "http://***@h/"),
            ("http://h/?SECRET", "http://h/?***"),
            ("http://u@h/?SECRET@x", "http://***@h/?***"),
            ("http://h/#SECRET", "http://h/#***"),
        ] {
            assert_eq!(UrlExcerpt(url.as_bytes()).to_string(), shown, "{url}");
        }
    }

    #[test]
    fn userinfo_is_masked_under_any_mix_of_delimiters() {
        // Every string of up to five of these pieces before `SECRET@host`, after the start of an
        // authority.
        let pieces = ["u", ":", "/", "\\", "@", "%40", "[", "]", "\n"];
        for length in 0..5u32 {
            for mut n in 0..pieces.len().pow(length) {
                let mut middle = String::new();
                for _ in 0..length {
                    middle.push_str(pieces[n % pieces.len()]);
                    n /= pieces.len();
                }
                // The slash ends the authority: the rest is a path, whatever it looks like.
                if !middle.contains('/') {
                    let url = format!("http://{middle}SECRET@h/");
                    let shown = UrlExcerpt(url.as_bytes()).to_string();
                    assert!(!shown.contains("SECRET"), "{url:?} shown as {shown:?}");
                }
            }
        }
    }
}
