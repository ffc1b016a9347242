//! Normalizes one URL: returns its canonical bytes, or the reason why it has none.
//!
//! [`Normalizer::is_clean`] is the vector code's proof that a URL already is its own canonical form;
//! every other URL takes one exact pass, by masks or by components. This module alone can make a
//! [`Canonical`], so bytes that were not normalized cannot get into a set.

// Parts of a URL, and outcomes.
mod parts;
mod target;
mod canonical;

// Rulesets, and the options that change a profile.
mod normalizer;
mod ruleset;
mod unsupported;
mod choices;
mod builder;
mod fingerprint;
#[cfg(feature = "profile-file")]
mod profile_file;
mod hosts;
mod by_host;

// The proof that a URL is already canonical.
mod rules;
mod proof;
mod fast_path;

// Normalization by the profiles of the ladder.
mod trace;
mod front;
mod rewrite_dirty;
#[cfg(feature = "transcode")]
mod charset;
#[cfg(feature = "transcode")]
mod transcode;
mod rewrite;
mod exact;
mod escape;
mod host;
mod uts46;
mod ports;
mod path;
pub mod resolve;

// Normalization by the other profiles.
mod heuristic;
mod parameters;
mod cuts;
mod ia;
mod whatwg;
mod system;
mod servlet;
mod ring;
mod sanitize;
mod redirect;
mod redirect_graph;

// Many URLs at once, and the explanation of one.
mod lines;
mod batch;
mod explain;
mod for_targets;
#[cfg(all(test, feature = "transcode", feature = "profile-file", not(miri)))]
mod tests;

pub use batch::{BadOffsets, Batch};
pub use builder::Builder;
pub use canonical::Canonical;
#[cfg(feature = "transcode")]
pub use charset::Charset;
#[cfg(feature = "transcode")]
pub(crate) use charset::{CharsetError, transcode_each};
pub use explain::{Rule, Step};
pub use for_targets::ForTargets;
pub use lines::{Change, Form, Lines, Scratch};
pub use normalizer::GROWTH;
pub use normalizer::Normalizer;
#[cfg(feature = "profile-file")]
pub use profile_file::ProfileFileError;
pub use redirect::{RedirectError, RedirectErrorKind, Redirects};
pub use target::{Origin, Targets, is_authority_form};
pub use unsupported::UnsupportedOption;

pub(crate) use host::is_literal;
pub use parts::{AuthorityParts, Parts};
pub(crate) use parts::{find_outside_scheme, is_scheme, split_host};
pub use resolve::{decode_dots, remove_from_any, resolve};
