//! Explains how a profile changes a URL, one rule at a time.
//!
//! The exact path normalizes a URL in one pass, in which several rules act together. Here it runs with an
//! observer that records the effect of each rule and sorts the effects into the order of the rules.

mod merges;
mod recorder;
mod rule;
mod step;

pub(in crate::normalize) use merges::tell as tell_merges;
pub use rule::Rule;
pub use step::Step;

use recorder::Recorder;

use crate::bytes::Reject;
use crate::normalize::normalizer::Normalizer;
use crate::simd::UrlKind;

impl Normalizer {
    /// Returns the effect of each rule on `url`, in order. The first step starts with `url`, each later one
    /// with the result of the step before it, and the last ends with exactly the output of
    /// [`Normalizer::normalize`]. Rules that change nothing are left out, so a canonical URL has no steps.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile, Rule};
    ///
    /// let scheme = Normalizer::new(Profile::Scheme);
    /// let steps = scheme.explain(b"HTTP://example.com:80/%7Ea")?;
    /// let rules: Vec<_> = steps.iter().map(|step| step.rule).collect();
    /// assert_eq!(rules, [Rule::DecodeUnreserved, Rule::SchemeCase, Rule::DefaultPort]);
    /// assert_eq!(steps[1].before, b"HTTP://example.com:80/~a");
    /// assert_eq!(steps[1].after, b"http://example.com:80/~a");
    /// assert_eq!(steps[2].after, b"http://example.com/~a");
    /// # Ok::<(), uniqurl::Reject>(())
    /// ```
    ///
    /// This is meant for people: it is many times slower than normalizing.
    ///
    /// # Errors
    ///
    /// The rejection, if the profile has no canonical form for `url`.
    pub fn explain(&self, url: &[u8]) -> Result<Vec<Step>, Reject> {
        self.explain_as(UrlKind::Absolute, url)
    }

    pub(in crate::normalize) fn explain_as(
        &self,
        kind: UrlKind,
        url: &[u8],
    ) -> Result<Vec<Step>, Reject> {
        let mut trace = Recorder::new(url);
        let mut canonical = Vec::new();
        self.rewrite_traced(url, 0..url.len(), kind, &mut canonical, &mut trace)?;
        // Rules may undo each other, as the guard of a path does with dot segments.
        Ok(if canonical == url { Vec::new() } else { trace.finish(&canonical) })
    }
}
