//! The normalization of request targets.

use std::borrow::Cow;

use crate::bytes::Reject;
use crate::normalize::canonical::Canonical;
use crate::normalize::explain::Step;
use crate::normalize::normalizer::Normalizer;
use crate::simd::UrlKind;

/// Brings request targets whose host is not known into canonical form: [`Normalizer::for_targets`].
///
/// A target in origin-form (RFC 9112 section 3.2.1) is a path and a query, also when it starts with `//`,
/// so no host can come out of it. `*` is rejected ([`AsteriskForm`]), and so is a target without a leading
/// `/` ([`Relative`], or under `servlet` [`NoLeadingSlash`], which can be allowed).
///
/// [`AsteriskForm`]: crate::RejectReason::AsteriskForm
/// [`Relative`]: crate::RejectReason::Relative
/// [`NoLeadingSlash`]: crate::RejectReason::NoLeadingSlash
///
/// ```
/// use uniqurl::{Normalizer, Profile, UrlSet};
///
/// let crawl = Normalizer::new(Profile::Crawl);
/// assert_eq!(*crawl.for_targets().normalize(b"//a/./b?q#f")?, *b"//a/b?q");
///
/// let (mut set, mut scratch) = (UrlSet::new(), Vec::new());
/// for target in [&b"/a/./b?q"[..], b"/%61/b?q"] {
///     set.insert(crawl.for_targets().canonical(target, &mut scratch)?)?;
/// }
/// assert_eq!(set.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Its methods are those of [`Normalizer`] with the same names.
#[derive(Debug, Clone, Copy)]
pub struct ForTargets<'n>(&'n Normalizer);

impl Normalizer {
    /// The same rules for request targets, such as logs hold them.
    pub fn for_targets(&self) -> ForTargets<'_> {
        ForTargets(self)
    }
}

impl ForTargets<'_> {
    /// The canonical form of a target; see [`Normalizer::normalize`].
    ///
    /// # Errors
    ///
    /// The rejection, if the profile has no canonical form for `target`.
    pub fn normalize<'a>(&self, target: &'a [u8]) -> Result<Cow<'a, [u8]>, Reject> {
        self.0.normalize_as(UrlKind::Target, target)
    }

    /// The canonical form of a target; see [`Normalizer::canonical`].
    ///
    /// # Errors
    ///
    /// The rejection, if the profile has no canonical form for `target`.
    pub fn canonical<'a>(
        &self,
        target: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<Canonical<'a>, Reject> {
        self.0.canonical_as(UrlKind::Target, target, scratch)
    }

    /// Appends the canonical form of a target; see [`Normalizer::append`].
    ///
    /// # Errors
    ///
    /// The rejection, if the profile has no canonical form for `target`.
    pub fn append(&self, target: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
        self.0.append_as(UrlKind::Target, target, out)
    }

    /// Whether a target is its own canonical form.
    pub fn is_canonical(&self, target: &[u8]) -> bool {
        self.0.is_canonical_as(UrlKind::Target, target)
    }

    /// The effect of each rule on a target; see [`Normalizer::explain`].
    ///
    /// # Errors
    ///
    /// The rejection, if the profile has no canonical form for `target`.
    pub fn explain(&self, target: &[u8]) -> Result<Vec<Step>, Reject> {
        self.0.explain_as(UrlKind::Target, target)
    }

    /// Appends the decoded path of a target; see [`Normalizer::decoded`].
    ///
    /// # Errors
    ///
    /// The rejection, if the path cannot be decoded.
    pub fn decoded(&self, target: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
        self.0.decoded_as(UrlKind::Target, target, out)
    }
}
