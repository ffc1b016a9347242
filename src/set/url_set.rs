//! The set of the library: one thread, any number of URLs.

use std::fmt;
use std::iter::FusedIterator;

use super::hash::HashKey;
use super::set_full::SetFull;
use super::shard::{Counting, Shard, Urls};
use crate::key::Keyed;
use crate::simd::Kernel;

/// Shards of a [`UrlSet`]; each holds up to 4 GiB of URLs.
const SHARDS: usize = 64;

/// An exact set of canonical URLs.
///
/// It takes about `length + 17` bytes for each URL. Bytes are compared, so different URLs are never
/// confused. The hash has a random key, so no list of URLs makes it slow.
///
/// ```
/// use uniqurl::{Normalizer, Profile, UrlSet};
///
/// let scheme = Normalizer::new(Profile::Scheme);
/// let mut set = UrlSet::new();
/// let mut scratch = Vec::new();
/// assert!(set.insert(scheme.canonical(b"http://a.com", &mut scratch)?)?);
/// assert!(!set.insert(scheme.canonical(b"HTTP://a.com:80/", &mut scratch)?)?);
/// assert!(set.contains(scheme.canonical(b"http://a.com/", &mut scratch)?));
/// assert_eq!(set.iter().collect::<Vec<_>>(), [b"http://a.com/"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A set does not know profiles or keys: fill one with URLs of one profile only, or with their keys
/// of one kind ([`Key`](crate::Key)).
///
/// Inserting can fail, so there is no `collect` or `extend`. Insert URLs one by one:
///
/// ```
/// use uniqurl::{Normalizer, Profile, UrlSet};
///
/// let crawl = Normalizer::new(Profile::Crawl);
/// let (mut set, mut rejected) = (UrlSet::new(), 0);
/// let mut lines = crawl.lines(b"http://a.com\nno\nhttp://b.com\n");
/// while let Some(url) = lines.next() {
///     match url {
///         Ok(url) => drop(set.insert(url)?),
///         Err(_) => rejected += 1,
///     }
/// }
/// assert_eq!((set.len(), rejected), (2, 1));
/// for url in &set {
///     assert!(url.starts_with(b"http://"));
/// }
/// # Ok::<(), uniqurl::SetFull>(())
/// ```
#[derive(Clone)]
pub struct UrlSet {
    key: HashKey,
    shards: Vec<Shard>,
}

impl UrlSet {
    /// An empty set with a random key.
    pub fn new() -> Self {
        Self::with_key(HashKey::random(Kernel::best()))
    }

    /// Adds a URL or a key, and returns whether it is new.
    ///
    /// # Errors
    ///
    /// Returns [`SetFull`] if the URL does not fit; it was not added.
    pub fn insert<'k>(&mut self, url: impl Into<Keyed<'k>>) -> Result<bool, SetFull> {
        let url = url.into().as_bytes();
        let hash = self.key.hash(url);
        Ok(self.shards[hash.shard(SHARDS)].add(hash, url)?.is_some())
    }

    /// True if the set holds a URL or a key.
    pub fn contains<'k>(&self, url: impl Into<Keyed<'k>>) -> bool {
        let url = url.into().as_bytes();
        let hash = self.key.hash(url);
        self.shards[hash.shard(SHARDS)].contains(hash, url)
    }

    /// Number of URLs.
    pub fn len(&self) -> usize {
        self.shards.iter().map(Shard::len).sum()
    }

    /// True if the set holds no URL.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The URLs, in no particular order.
    pub fn iter(&self) -> Iter<'_> {
        Iter { shards: self.shards.iter(), urls: None, left: self.len() }
    }

    /// An empty set whose key comes from a seed. For WebAssembly, where the standard library has no
    /// randomness for [`UrlSet::new`].
    #[doc(hidden)]
    pub fn seeded(seed: u64) -> Self {
        Self::with_key(HashKey::seeded(Kernel::best(), seed))
    }

    fn with_key(key: HashKey) -> Self {
        Self { key, shards: (0..SHARDS).map(|_| Shard::new(Counting::Off)).collect() }
    }
}

impl<'a> IntoIterator for &'a UrlSet {
    type Item = &'a [u8];
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// The iterator of [`UrlSet::iter`].
#[must_use = "an iterator does nothing until it is asked"]
#[derive(Clone)]
pub struct Iter<'a> {
    shards: std::slice::Iter<'a, Shard>,
    /// The URLs of the current shard.
    urls: Option<Urls<'a>>,
    left: usize,
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            if let Some((_, url)) = self.urls.as_mut().and_then(Urls::next) {
                self.left -= 1;
                return Some(url);
            }
            self.urls = Some(self.shards.next()?.urls());
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl FusedIterator for Iter<'_> {}

impl fmt::Debug for Iter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").field("left", &self.left).finish_non_exhaustive()
    }
}

impl Default for UrlSet {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for UrlSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UrlSet").field("len", &self.len()).finish_non_exhaustive()
    }
}
