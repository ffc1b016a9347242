//! One URL: its canonical bytes, or why it has none.
//!
//! [`Normalizer::is_clean`] is the vector code's proof that a URL already is its own canonical form;
//! every other URL takes one exact pass, by masks or by components. This module alone can make a
//! [`Canonical`], so bytes that were not normalized cannot get into a set.

mod batch;
mod canonical;
mod choices;
mod clean;
mod each;
mod escape;
mod explain;
#[cfg(feature = "batch")]
mod fingerprint;
mod glance;
mod heuristic;
mod host;
mod hosts;
mod ia;
mod normalize;
mod normalizer;
mod outcome;
mod parameters;
mod parts;
mod path;
mod ports;
#[cfg(feature = "profile-file")]
mod profile_file;
mod proof;
mod redirect;
mod resolve;
mod rewrite;
mod ring;
mod sanitize;
mod servlet;
#[cfg(all(test, feature = "transcode", feature = "profile-file", not(miri)))]
mod shortcuts;
mod system;
#[cfg(feature = "transcode")]
mod transcode;
mod unclean;
mod uts46;
mod whatwg;

pub use batch::{BadOffsets, Batch};
pub use canonical::Canonical;
pub use choices::NoSuchChoice;
pub use each::Scratch;
pub use explain::{Rule, Step};
#[cfg(feature = "batch")]
pub(crate) use normalizer::GROWTH;
pub use normalizer::Normalizer;
pub use outcome::{Code, Codes, Outcome, Reject};
#[cfg(feature = "profile-file")]
pub use profile_file::ProfileFileError;
pub use redirect::{RedirectError, RedirectErrorKind, Redirects};

pub(crate) use escape::{Triplet, push_triplet};
pub(crate) use host::is_literal;
pub(crate) use parts::{Authority, Parts};
pub(crate) use resolve::{remove_from_any, resolve};
