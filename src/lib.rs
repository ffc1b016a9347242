//! Normalizes and deduplicates URLs at close to memory speed, by the text of the standards.
//!
//! # The path of a URL
//!
//! One vector pass proves that most URLs are already canonical. A second one rewrites most of the others, and
//! the rest takes an exact scalar pass.
//! Only canonical bytes go into a set. The modules below follow that order.
//!
//! ```
//! use uniqurl::{Normalizer, Profile, UrlSet};
//!
//! let crawl = Normalizer::new(Profile::Crawl);
//! let mut set = UrlSet::new();
//! let mut scratch = Vec::new();
//! for url in ["http://example.com/~a", "HTTP://Example.COM:80/%7Ea", "http://example.com/%7ea#x"] {
//!     set.insert(crawl.canonical(url.as_bytes(), &mut scratch)?)?;
//! }
//! assert_eq!(set.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! - `transcode`: charsets other than UTF-8.
//! - `profile-file`: profiles of one's own, as TOML files.
//! - `domain`: the key `domain`, by the Public Suffix List.

#![warn(missing_debug_implementations)]
// docs.rs says of each item which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod bytes;
pub mod profile;
pub mod simd;
pub mod normalize;
pub mod uri;
pub mod key;
pub mod set;
#[cfg(test)]
mod test_util;

pub use bytes::{Reject, RejectReason, RejectReasons, UnknownName};
pub use key::{Key, Keyed, PartType, Template, TemplateRule, TypedPart};
#[cfg(feature = "profile-file")]
pub use normalize::ProfileFileError;
pub use normalize::{
    BadOffsets, Batch, Builder, Canonical, ForTargets, Lines, Normalizer, RedirectError,
    RedirectErrorKind, Redirects, Rule, Scratch, Step, UnsupportedOption,
};
pub use profile::{Profile, Ring, RingError, Switch, Switches};
pub use set::{SetFull, UrlSet};
pub use simd::Backend;
