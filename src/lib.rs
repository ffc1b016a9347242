//! Normalizes and deduplicates URLs at close to memory speed, by the text of the standards.
//!
//! ```
//! use uniqurl::{Normalizer, Profile, UrlSet};
//!
//! let crawl = Normalizer::new(Profile::Crawl);
//! assert_eq!(crawl.normalize_str("HTTP://Example.COM:80/%7Ea#top")?, "http://example.com/~a");
//!
//! let (mut set, mut scratch) = (UrlSet::new(), Vec::new());
//! for url in ["http://example.com/~a", "HTTP://Example.COM:80/%7Ea", "http://example.com/%7ea#x"] {
//!     set.insert(crawl.canonical(url.as_bytes(), &mut scratch)?)?;
//! }
//! assert_eq!(set.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Begin with [`Normalizer`], which brings URLs into the canonical form of a [`Profile`], and [`UrlSet`], which
//! holds each once. A [`Canonical`] URL is one that a normalizer made. [`key`] has other forms of it, such as
//! SURT and templates, and [`uri`] the operations of RFC 3986.
//!
//! # What to use
//!
//! | to get | use |
//! |---|---|
//! | a `String` of a `&str` | [`Normalizer::normalize_str`]`(url)?.into_owned()` |
//! | canonical bytes, borrowed where the URL is canonical already | [`Normalizer::normalize`] |
//! | many of them, without an allocation for each | [`Normalizer::canonical`], with one buffer |
//! | those of a list in memory, at the highest speed | [`Normalizer::lines`] |
//! | those of a column, as Arrow stores it | [`Normalizer::normalize_batch`] |
//! | those of the request targets of a log | [`Normalizer::for_targets`] |
//! | those of the links of a page | [`Normalizer::with_base`] |
//! | another rule for equal URLs | another [`Profile`], or options: [`Normalizer::builder`] |
//! | the reason for a change, or for a rejection | [`Normalizer::explain`], [`Reject`] |
//! | each URL once | [`UrlSet`] |
//! | the host of a canonical URL | [`Canonical::host`] |
//! | sort keys, hashes, domains, templates | [`Key`], [`Template`] |
//! | the parts of any URI, resolving, percent-decoding | [`uri`] |
//!
//! [`comparison`] sets it beside other crates.
//!
//! # The path of a URL
//!
//! One vector pass proves that most URLs are already canonical. A second one rewrites most of the others, and
//! the rest takes an exact scalar pass. Only canonical bytes go into a set.
//!
//! # Features
//!
//! - `transcode`: charsets other than UTF-8.
//! - `profile-file`: profiles of one's own, as TOML files.
//! - `domain`: the key `domain`, by the Public Suffix List.
//! - `serde`: profiles, reasons, switches and keys as their names, canonical URLs as text.
//!
//! It needs the standard library: `alloc` alone would do but for the detection of the CPU, the random key of a
//! set, and hash tables.

#![warn(missing_debug_implementations)]
// docs.rs says of each item which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod bytes;
mod profile;
mod simd;
mod normalize;
pub mod uri;
pub mod key;
mod set;
#[doc(hidden)]
pub mod internal;
#[cfg(feature = "serde")]
mod serialize;
#[cfg(any(doc, doctest))]
pub mod comparison;
#[cfg(test)]
mod test_util;

pub use bytes::{Reject, RejectReason, RejectReasons, UnknownName};
pub use key::{Key, Keyed, PartType, Template};
#[cfg(feature = "profile-file")]
pub use normalize::ProfileFileError;
pub use normalize::{
    BadOffsets, Batch, Builder, Canonical, ForTargets, Lines, Normalizer, RedirectError,
    RedirectErrorKind, Redirects, Rule, Step, UnsupportedOption,
};
pub use profile::{Profile, Ring, RingError, Switch, Switches};
pub use set::{SetFull, UrlSet};
