//! The result of normalizing: canonical bytes, or a rejection.

use crate::bytes::Reject;

/// The result of [`Normalizer::normalize`](crate::Normalizer::normalize).
///
/// A bad URL is an outcome, not an error: it is counted and reported, and the run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use]
pub enum Outcome {
    /// The canonical bytes were appended to the output.
    Canonical,
    /// The URL has no canonical form under this profile; nothing was appended.
    Reject(Reject),
}

impl Outcome {
    /// The same, with the offset of a rejection mapped by `place`.
    pub(super) fn moved(self, place: impl FnOnce(usize) -> usize) -> Self {
        match self {
            Outcome::Canonical => Outcome::Canonical,
            Outcome::Reject(reject) => Outcome::Reject(reject.moved(place)),
        }
    }
}
