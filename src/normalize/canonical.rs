//! The type of bytes that are proven to be canonical.

use std::fmt;
use std::ops::Deref;
use std::str::{self, Utf8Error};

use super::parts::{AuthorityParts, Parts, split_host};

/// The canonical bytes of a URL, or of a request target.
///
/// Only a [`Normalizer`](crate::Normalizer) makes one, so a function that takes a `Canonical` cannot get
/// bytes that were not normalized. It borrows from the URL itself if that was clean, and otherwise
/// from the buffer it was written to. It never holds a line feed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Canonical<'a>(&'a [u8]);

impl<'a> Canonical<'a> {
    #[inline]
    pub(in crate::normalize) fn new(bytes: &'a [u8]) -> Self {
        // A set ends each URL with a line feed, and one inside of a URL would make two of it.
        debug_assert!(!bytes.contains(&b'\n'));
        Self(bytes)
    }

    /// The bytes. They are within 0x21-0x7E; under `whatwg` an opaque path may hold 0x20 as well, and
    /// under `string`, also as the base of one host, they are any but a line feed and a carriage return.
    #[inline]
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// The bytes as text, for callers that need a `&str` or keep a `String`.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let crawl = Normalizer::new(Profile::Crawl);
    /// let mut scratch = Vec::new();
    /// let url = crawl.canonical(b"HTTP://Example.com/\xFF", &mut scratch)?;
    /// assert_eq!(url.to_str()?, "http://example.com/%FF");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// They are not UTF-8. This happens only if [any byte](Self::as_bytes) is allowed.
    pub fn to_str(self) -> Result<&'a str, Utf8Error> {
        str::from_utf8(self.0)
    }

    /// The host, in brackets if it is an IP literal; `None` of a URL that names none, such as `mailto:a@b`.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let crawl = Normalizer::new(Profile::Crawl);
    /// let mut scratch = Vec::new();
    /// let url = crawl.canonical(b"http://Example.com:8080/a", &mut scratch)?;
    /// assert_eq!(url.host(), Some(&b"example.com"[..]));
    /// # Ok::<(), uniqurl::Reject>(())
    /// ```
    pub fn host(self) -> Option<&'a [u8]> {
        let parts = Parts::split(self.0);
        // Without a scheme `//a/b` is a request target, which names no host.
        parts.scheme?;
        let (host, _) = split_host(AuthorityParts::split(parts.authority?).host_port);
        (!host.is_empty()).then_some(host)
    }
}

impl AsRef<[u8]> for Canonical<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0
    }
}

/// The canonical bytes.
impl Deref for Canonical<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0
    }
}

/// Prints the bytes; those that are not UTF-8, which only `string` lets pass, as U+FFFD.
impl fmt::Display for Canonical<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&String::from_utf8_lossy(self.0))
    }
}

impl From<Canonical<'_>> for Vec<u8> {
    fn from(url: Canonical<'_>) -> Self {
        url.0.to_vec()
    }
}

impl fmt::Debug for Canonical<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Canonical({})", self.0.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_url_keeps_its_bytes() {
        let url = Canonical::new(b"http://h/");
        assert_eq!(url.as_ref(), b"http://h/");
        assert_eq!(url.to_str(), Ok("http://h/"));
        assert_eq!(format!("{url:?}"), "Canonical(http://h/)");
        // A profile that accepts any bytes keeps them, UTF-8 or not. The `Debug` output is printable.
        assert!(Canonical::new(b"a\xFF").to_str().is_err());
        assert_eq!(format!("{:?}", Canonical::new(b"a\xFF")), r"Canonical(a\xff)");
    }
}
