//! Normalizes and deduplicates URLs at close to memory speed, by the text of the standards.
//!
//! # The path of a URL
//!
//! Bytes arrive in chunks that hold whole records only. A record format says where the URL is in
//! each. One vector pass over it proves that most URLs already are canonical; every other one takes
//! an exact scalar pass. Canonical bytes, and nothing else, go into a set, and from the set to an
//! output. The modules below stand in that order.
//!
//! ```
//! use uniqurl::{Normalizer, Profile, UrlSet};
//!
//! let crawl = Normalizer::new(&Profile::CRAWL);
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
//! Without any (`default-features = false`) there is what the example needs: profiles, normalizing, keys, the
//! set, and the formats whose records are lines. Each of these adds to it:
//!
//! - `transcode`: charsets other than UTF-8.
//! - `profile-file`: profiles of one's own.
//! - `batch`: whole jobs over files, on all threads, compressed or not. Linux and macOS.
//! - `tables`: Parquet and Arrow IPC. It brings `batch`.
//! - `cli` (default): the command itself. It brings all others; `cli` and `corpus` are its parts
//!   and may change with any version.

#![warn(missing_debug_implementations)]
// docs.rs says of each item which feature it needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod bytes;
pub mod profile;
#[cfg(feature = "batch")]
mod pipe;
#[cfg(feature = "batch")]
pub mod input;
pub mod record;
pub mod simd;
pub mod normalize;
pub mod uri;
pub mod key;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod untried;
pub mod set;
#[cfg(feature = "batch")]
pub mod spill;
#[cfg(feature = "batch")]
pub mod output;
#[cfg(feature = "batch")]
pub mod pipeline;
#[cfg(feature = "cli")]
#[allow(missing_debug_implementations, reason = "a part of the command")]
pub mod corpus;
#[cfg(feature = "cli")]
#[allow(missing_debug_implementations, reason = "a part of the command")]
pub mod cli;

pub use bytes::{Code, Codes, NoSuchName, Reject};
pub use key::{Key, Keyed};
#[cfg(feature = "profile-file")]
pub use normalize::ProfileFileError;
pub use normalize::{
    BadOffsets, Batch, Canonical, NoSuchChoice, Normalizer, Outcome, RedirectError,
    RedirectErrorKind, Redirects, Rule, Scratch, Step,
};
pub use profile::{Profile, Ring, RingError, Switch, Switches};
pub use set::{SetFull, UrlSet};
pub use simd::Backend;

/// Has the examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
