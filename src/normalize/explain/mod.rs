//! What a profile does to a URL, one rule after the other.
//!
//! The exact path takes a URL in one pass, where several rules act at once. It runs here with an observer
//! that is told what each rule does, and puts that in the order of the rules.

mod merges;
mod recorder;
mod rule;

pub(super) use merges::tell as tell_merges;
pub use rule::Rule;

use std::fmt;

use recorder::Recorder;

use super::normalizer::Normalizer;
use crate::bytes::DebugBytes;
use crate::bytes::Reject;
use crate::simd::UrlKind;

/// One rule that acted on a URL, and what the URL was before and after.
///
/// Between two steps a URL may hold what the profile's form never does, and need not be one by the
/// grammar: under `ia`, say, a host in the middle of its rules.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Step {
    /// The rule.
    pub rule: Rule,
    /// The URL when it came to the rule.
    pub before: Vec<u8>,
    /// The URL when it left it: never the same.
    pub after: Vec<u8>,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step")
            .field("rule", &self.rule)
            .field("before", &DebugBytes(&self.before))
            .field("after", &DebugBytes(&self.after))
            .finish()
    }
}

impl Normalizer {
    /// What each rule does to `url`, in order: where one step ends the next one begins, the first with
    /// `url` and the last with exactly what [`Normalizer::normalize`] makes of it. Rules that change
    /// nothing are left out, so a URL in canonical form has no steps.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile, Rule};
    ///
    /// let scheme = Normalizer::new(&Profile::SCHEME);
    /// let steps = scheme.explain(b"HTTP://example.com:80/%7Ea")?;
    /// let rules: Vec<_> = steps.iter().map(|step| step.rule).collect();
    /// assert_eq!(rules, [Rule::DecodeUnreserved, Rule::SchemeCase, Rule::DefaultPort]);
    /// assert_eq!(steps[1].before, b"HTTP://example.com:80/~a");
    /// assert_eq!(steps[1].after, b"http://example.com:80/~a");
    /// assert_eq!(steps[2].after, b"http://example.com/~a");
    /// # Ok::<(), uniqurl::Reject>(())
    /// ```
    ///
    /// This is for people and for counts: it takes many times as long as normalizing does.
    ///
    /// # Errors
    ///
    /// The rejection, where the profile has no canonical form for `url`.
    pub fn explain(&self, url: &[u8]) -> Result<Vec<Step>, Reject> {
        self.explain_as(UrlKind::Absolute, url)
    }

    /// As [`Normalizer::explain`], for what [`Normalizer::normalize_target`] takes.
    ///
    /// # Errors
    ///
    /// The rejection, where the profile has no canonical form for `target`.
    pub fn explain_target(&self, target: &[u8]) -> Result<Vec<Step>, Reject> {
        self.explain_as(UrlKind::Target, target)
    }

    /// Counts each rule that acts on a URL or target whose canonical form is another than it, in its place
    /// of [`Rule::ALL`].
    pub fn count_rules(&self, kind: UrlKind, url: &[u8], counts: &mut [u64; Rule::ALL.len()]) {
        let mut acted = [false; Rule::ALL.len()];
        for step in self.explain_as(kind, url).unwrap_or_default() {
            acted[step.rule as usize] = true;
        }
        for (count, acted) in counts.iter_mut().zip(acted) {
            *count += u64::from(acted);
        }
    }

    fn explain_as(&self, kind: UrlKind, url: &[u8]) -> Result<Vec<Step>, Reject> {
        let mut trace = Recorder::new(url);
        let mut canonical = Vec::new();
        self.rewrite_traced(url, 0..url.len(), kind, &mut canonical, &mut trace)?;
        Ok(if canonical == url { Vec::new() } else { trace.finish(&canonical) })
    }
}
