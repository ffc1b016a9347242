//! Keys: the canonical bytes of a URL, or a form made from them.
//!
//! In: canonical bytes. Out: key bytes, appended to a buffer. A key groups and orders URLs as some
//! index does, or shortens them. `docs/keys.md` describes how each key treats ports, IP addresses,
//! credentials and URLs without a host. Equal URLs have equal keys of each kind.

pub(crate) mod host;
mod surt;
mod ssurt;
mod hash;
#[cfg(feature = "domain")]
mod domain;
pub(crate) mod template;

use std::fmt;
use std::str::{self, Utf8Error};

use crate::bytes::names::by_name;
use crate::normalize::Canonical;

#[cfg(feature = "domain")]
pub use domain::{icann_domain, registrable_domain, suffix_list_date};
pub use template::{BadRoute, PartType, Routes, Template};

/// The form of a URL by which records are deduplicated, counted, sorted and written.
///
/// ```
/// use uniqurl::{Key, Normalizer, Profile};
///
/// let crawl = Normalizer::new(Profile::Crawl);
/// let mut scratch = Vec::new();
/// let url = crawl.canonical(b"http://www.Example.com:80/a?b", &mut scratch)?;
/// for (key, expected) in [
///     (Key::Url, "http://www.example.com/a?b"),
///     (Key::Template, "http://www.example.com/a?b"),
///     (Key::Host, "www.example.com"),
///     (Key::Surt, "com,example,www)/a?b"),
///     (Key::Ssurt, "com,example,www,//80:http@/a?b"),
///     (Key::Hash, "a1e4d05dce63e96464c499b20d8bed88"),
/// ] {
///     let mut bytes = Vec::new();
///     key.append(url, &mut bytes);
///     assert_eq!(bytes, expected.as_bytes(), "{key}");
/// }
/// # Ok::<(), uniqurl::Reject>(())
/// ```
///
/// Do not use it for later retrieval: only [`Key::Url`] and [`Key::Ssurt`] can be turned back into URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Key {
    /// The canonical URL itself.
    #[default]
    Url,
    /// Its [`Template`]: `https://h/user/{int}?page`.
    Template,
    /// Its host, without credentials and port. A URL without a host has no such key.
    Host,
    /// The [registrable domain](registrable_domain) of its host: `example.co.uk` of
    /// `http://www.example.co.uk/a`. A URL without a host has no such key.
    #[cfg(feature = "domain")]
    Domain,
    /// As [`Key::Domain`], by the [suffixes of registries alone](icann_domain): `github.io` of `http://a.github.io/`.
    #[cfg(feature = "domain")]
    DomainIcann,
    /// `com,example)/path?query`: the sort key of web-archive indexes. It omits scheme and credentials,
    /// so it merges more URLs than the profile alone.
    Surt,
    /// `com,example,//80:http@/path?query`: sorted by domain, then port, then scheme. Nothing is lost:
    /// different URLs have different keys.
    Ssurt,
    /// The first 16 bytes of the SHA-256 of the canonical URL, as 32 hexadecimal digits.
    Hash,
}

impl Key {
    /// Every key, in the order of the documentation.
    pub const ALL: &'static [Key] = &[
        Key::Url,
        Key::Template,
        Key::Host,
        #[cfg(feature = "domain")]
        Key::Domain,
        #[cfg(feature = "domain")]
        Key::DomainIcann,
        Key::Surt,
        Key::Ssurt,
        Key::Hash,
    ];

    /// The name, as `--key` of the command takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Key::Url => "url",
            Key::Template => "template",
            Key::Host => "host",
            #[cfg(feature = "domain")]
            Key::Domain => "domain",
            #[cfg(feature = "domain")]
            Key::DomainIcann => "domain-icann",
            Key::Surt => "surt",
            Key::Ssurt => "ssurt",
            Key::Hash => "hash",
        }
    }

    /// Appends the key of `url` to `out`; nothing if [it has none](Self::of).
    pub fn append(self, url: Canonical<'_>, out: &mut Vec<u8>) {
        self.append_bytes(url.as_bytes(), out);
    }

    /// The key of `url`, or `None` if it has none: [those of hosts](Self::Host) need a host. An empty key would be one key for
    /// all such URLs, and a set would join them. For [`Key::Url`] it is the URL's own bytes; otherwise it is
    /// written to `scratch`, which is cleared first.
    ///
    /// ```
    /// use uniqurl::{Key, Normalizer, Profile, UrlSet};
    ///
    /// let crawl = Normalizer::new(Profile::Crawl);
    /// let (mut set, mut url, mut key) = (UrlSet::new(), Vec::new(), Vec::new());
    /// for line in ["http://example.com/a", "https://example.com/a"] {
    ///     let url = crawl.canonical(line.as_bytes(), &mut url)?;
    ///     if let Some(key) = Key::Surt.of(url, &mut key) {
    ///         set.insert(key)?;
    ///     }
    /// }
    /// assert_eq!(set.iter().collect::<Vec<_>>(), [b"com,example)/a"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of<'a>(self, url: Canonical<'a>, scratch: &'a mut Vec<u8>) -> Option<Keyed<'a>> {
        // The URL is its own key, and needs no copy.
        if self == Key::Url {
            return Some(Keyed::from(url));
        }
        if !self.takes(url.as_bytes()) {
            return None;
        }
        scratch.clear();
        self.append(url, scratch);
        Some(Keyed(scratch))
    }
}

// What the other crates of this repository ask, and nobody else.
#[doc(hidden)]
impl Key {
    /// A description of its form in half a line.
    pub const fn summary(self) -> &'static str {
        match self {
            Key::Url => "the canonical URL",
            Key::Template => "https://h/user/{int}?page, its variable parts named",
            Key::Host => "www.example.co.uk, without credentials and port",
            #[cfg(feature = "domain")]
            Key::Domain => "example.co.uk of www.example.co.uk, by the Public Suffix List",
            #[cfg(feature = "domain")]
            Key::DomainIcann => "the same by ICANN's suffixes alone: github.io of a.github.io",
            Key::Surt => "com,example)/path?query, as web-archive indexes sort",
            Key::Ssurt => "com,example,//80:http@/path?query, nothing lost",
            Key::Hash => "the first 16 bytes of its SHA-256, in hexadecimal digits",
        }
    }

    /// Whether a URL without a host has no key of this kind.
    pub const fn needs_host(self) -> bool {
        match self {
            Key::Host => true,
            #[cfg(feature = "domain")]
            Key::Domain | Key::DomainIcann => true,
            _ => false,
        }
    }

    /// Whether a canonical URL has a key of this kind.
    pub fn takes(self, url: &[u8]) -> bool {
        // Only keys that are made from the host pay for a split.
        !self.needs_host() || host::Located::split(url).is_some()
    }

    /// The date of the list that decides about keys of this kind, if one does.
    pub fn list_date(self) -> Option<&'static str> {
        match self {
            #[cfg(feature = "domain")]
            Key::Domain | Key::DomainIcann => Some(suffix_list_date()),
            _ => None,
        }
    }

    /// As [`append_bytes`](Self::append_bytes), with templates by these routes, if there are any.
    pub fn append_by(self, routes: Option<&Routes>, url: &[u8], out: &mut Vec<u8>) {
        match routes {
            Some(routes) if self == Key::Template => routes.append(url, out),
            _ => self.append_bytes(url, out),
        }
    }

    /// As [`Key::append`], for canonical bytes that the pipeline holds. No key adds a line feed.
    pub fn append_bytes(self, url: &[u8], out: &mut Vec<u8>) {
        match self {
            Key::Url => out.extend_from_slice(url),
            Key::Template => Template::of(url, out),
            Key::Host => {
                let located = host::Located::split(url);
                out.extend_from_slice(located.map_or(&[], |url| url.host));
            }
            #[cfg(feature = "domain")]
            Key::Domain => {
                let located = host::Located::split(url);
                out.extend_from_slice(located.map_or(&[], |url| registrable_domain(url.host)));
            }
            #[cfg(feature = "domain")]
            Key::DomainIcann => {
                let located = host::Located::split(url);
                out.extend_from_slice(located.map_or(&[], |url| icann_domain(url.host)));
            }
            Key::Surt => surt::append(url, out),
            Key::Ssurt => ssurt::append(url, out),
            Key::Hash => hash::append(url, out),
        }
    }
}

by_name!(Key "key");

/// The bytes of a key.
///
/// It is made only from a [`Canonical`] and never holds a line feed, so a set can store it as one line.
/// Sets do not know keys: fill a set with keys of one kind and one profile only.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Keyed<'a>(&'a [u8]);

impl<'a> Keyed<'a> {
    /// The bytes.
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// The bytes as text.
    ///
    /// ```
    /// use uniqurl::{Key, Normalizer, Profile};
    ///
    /// let crawl = Normalizer::new(Profile::Crawl);
    /// let (mut url, mut key) = (Vec::new(), Vec::new());
    /// let url = crawl.canonical(b"http://example.com", &mut url)?;
    /// assert_eq!(Key::Surt.of(url, &mut key).unwrap().to_str()?, "com,example)/");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If they are not UTF-8, which requires that the URL is not: see [`Canonical::to_str`].
    pub fn to_str(self) -> Result<&'a str, Utf8Error> {
        str::from_utf8(self.0)
    }
}

impl AsRef<[u8]> for Keyed<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0
    }
}

/// A canonical URL is its own key.
impl<'a> From<Canonical<'a>> for Keyed<'a> {
    #[inline]
    fn from(url: Canonical<'a>) -> Self {
        Self(url.as_bytes())
    }
}

impl fmt::Debug for Keyed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keyed({})", self.0.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_found_by_its_exact_name() {
        for key in Key::ALL {
            assert_eq!(key.name().parse::<Key>(), Ok(*key));
        }
        for unknown in ["", "SURT", "url ", "sha256"] {
            assert!(unknown.parse::<Key>().is_err());
        }
        assert_eq!(Key::default(), Key::ALL[0]);
    }
}
