//! A step of an explanation.

use std::fmt;

use super::rule::Rule;
use crate::bytes::DebugBytes;

/// One rule that acted on a URL, with the URL before and after it.
///
/// Between two steps the text may break rules of the profile, and even the URL grammar: under `ia`, for
/// example, a host is normalized by several rules in turn.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Step {
    /// The rule.
    pub rule: Rule,
    /// The URL before the rule.
    pub before: Vec<u8>,
    /// The URL after the rule; it always differs from `before`.
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
