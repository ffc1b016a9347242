//! The extension of the file that a URL names.

use uniqurl::internal::Parts;

/// Extensions of the last segment of a path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extensions(Vec<Vec<u8>>);

impl Extensions {
    /// Adds extensions between commas. An error is the message about a text that is none.
    pub(crate) fn add(&mut self, list: &str) -> Result<(), String> {
        for item in list.split(',') {
            // People write the dot as often as they leave it out.
            let extension = item.strip_prefix('.').unwrap_or(item);
            let is_extension = !extension.is_empty()
                && !extension.starts_with('.')
                // Each of these bytes ends a file name in a URL, but for `*`: an extension is no glob, and with
                // one it would match nothing.
                && extension
                    .bytes()
                    .all(|byte| byte.is_ascii_graphic() && !b"/?#;*".contains(&byte));
            if !is_extension {
                let item = item.escape_debug();
                return Err(format!("`{item}` is not an extension, like jpg or tar.gz"));
            }
            self.0.push(extension.as_bytes().to_vec());
        }
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the file that a URL names has one of them. A name has one only after another byte, so
    /// `.htaccess` has none.
    pub(crate) fn are_of(&self, url: &[u8]) -> bool {
        let name = file_name(url);
        self.0.iter().any(|extension| {
            let dot = name.len().checked_sub(extension.len() + 1).filter(|dot| *dot > 0);
            dot.is_some_and(|dot| {
                name[dot] == b'.' && name[dot + 1..].eq_ignore_ascii_case(extension)
            })
        })
    }
}

/// The last segment of the path of a URL or target, without its parameters; empty if there is none, as
/// in a path that ends in a slash.
fn file_name(url: &[u8]) -> &[u8] {
    let path = match url.first() {
        // A request target. In `//h/a`, `h` is a part of the path, and `Parts::split` would take it for a host.
        Some(b'/') => url.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or_default(),
        _ => Parts::split(url).path,
    };
    let Some(slash) = memchr::memrchr(b'/', path) else { return &[] };
    path[slash + 1..].split(|byte| *byte == b';').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::url_filter::UrlFilter;

    #[test]
    fn extension_is_that_of_the_last_segment() {
        let mut wanted = UrlFilter::default();
        wanted.extension("jpg,.CSS,tar.gz").unwrap();
        let mut unwanted = UrlFilter::default();
        unwanted.unwanted_extension("jpg,.CSS,tar.gz").unwrap();
        assert!(!wanted.is_empty() && !unwanted.is_empty());
        for (url, is_one) in [
            ("http://h/a.jpg", true),
            ("http://h/a.JPG?x.png#y", true),
            ("http://h/a.b/c.css;jsessionid=1.2", true),
            ("/a.jpg", true),
            ("//h/a.jpg?b", true),
            ("http://h/a.tar.gz", true),
            ("http://h/a.gz", false),
            ("http://h/a.jpg.txt", false),
            ("http://h/a.jpg/", false),
            ("http://h/a.jpg/b", false),
            ("http://h/.jpg", false),
            ("http://h/jpg", false),
            ("http://h/ajpg", false),
            ("http://h/a.", false),
            ("http://h/?a.jpg", false),
            ("http://h.jpg", false),
            ("http://h.jpg/", false),
            ("mailto:a@b.jpg", false),
            ("/", false),
            ("", false),
        ] {
            assert_eq!(wanted.keeps(url.as_bytes()), is_one, "{url}");
            assert_eq!(unwanted.keeps(url.as_bytes()), !is_one, "{url}");
        }
        for bad in ["", ".", "a,", "..a", "a/b", "a b", "*.jpg", "a?b", "\u{e9}"] {
            assert!(UrlFilter::default().extension(bad).is_err(), "{bad}");
            assert!(UrlFilter::default().unwanted_extension(bad).is_err(), "{bad}");
        }
    }
}
