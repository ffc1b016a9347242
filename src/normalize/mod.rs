//! Normalizes one URL: returns its canonical bytes, or the reason why it has none.
//!
//! The vector code proves that most URLs already are their own canonical form (`judge`); every other URL
//! takes one pass by masks (`masks`) or by components (`exact`). This module alone can make a
//! [`Canonical`], so bytes that were not normalized cannot get into a set.

// Parts of a URL, its canonical form, and an observer of rules.
mod parts;
mod target;
mod canonical;
mod trace;

// From the rules of a profile to its writers.
mod ruleset;
mod front;
mod exact;
mod masks;
mod judge;
mod options;
mod rewrite_dirty;

// One URL, and the explanation of one.
mod normalizer;
mod by_host;
mod redirect_graph;
mod redirect;
mod explain;
mod for_targets;

// Many URLs at once.
mod lines;
mod batch;
#[cfg(all(test, feature = "transcode", feature = "profile-file", not(miri)))]
mod tests;

pub use batch::{BadOffsets, Batch};
pub use canonical::Canonical;
pub(crate) use exact::host::is_literal;
pub use exact::resolve::{decode_dots, remove_from_any, resolve};
pub use explain::{Rule, Step};
pub use for_targets::ForTargets;
#[cfg(feature = "transcode")]
pub use front::charset::Charset;
#[cfg(feature = "transcode")]
pub(crate) use front::charset::{CharsetError, transcode_each};
pub use lines::{Change, Form, Lines, Scratch};
pub use normalizer::{GROWTH, Normalizer};
#[cfg(feature = "profile-file")]
pub use options::profile_file::ProfileFileError;
pub use options::{builder::Builder, unsupported::UnsupportedOption};
pub use parts::{AuthorityParts, Parts};
pub(crate) use parts::{find_outside_scheme, is_scheme, split_host};
pub use redirect::{RedirectError, RedirectErrorKind, Redirects};
pub use target::{Origin, Targets, is_authority_form};
