//! Prints a URL in a message, without its secrets.
//!
//! In: any bytes that may be a URL. Out: at most 200 bytes of text, as [`Excerpt`](crate::Excerpt) writes it.

use std::fmt;

use crate::masked::Masked;
use crate::printable::cut;

/// Prints the start of a URL without its userinfo, query and fragment, which `***` replaces. A password
/// may hold a raw `/`, `?` or `#`, so nothing is shown between `//` and the last `@` or `%40` of the text.
/// This hides the host of a URL with an `@` in its path or query.
///
/// ```
/// use uniqurl_text::UrlExcerpt;
///
/// let url = b"http://user:secret@example.com/a?token=1";
/// assert_eq!(UrlExcerpt(url).to_string(), "http://***@example.com/a?***");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct UrlExcerpt<'a>(pub &'a [u8]);

impl fmt::Display for UrlExcerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        cut(&Masked::url(self.0).parts(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::UrlExcerpt;

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
