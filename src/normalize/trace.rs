//! An observer of the exact path: it is told each rule that acts, and what the rule writes.
//!
//! The exact path takes its observer as a type parameter. [`NoTrace`] hears nothing and compiles to nothing;
//! [`Recorder`](super::explain) keeps the steps of an explanation. What is told is what the path has
//! written, so an explanation cannot differ from the result.

use std::ops::Range;

use super::explain::Rule;
use super::parts::Parts;

/// A component of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Scheme,
    Userinfo,
    Host,
    Port,
    Path,
    Query,
    Fragment,
}

/// Is told what rules do, in any order: an observer sorts it by rule. A rule that changes nothing may be told.
pub(crate) trait Trace {
    /// Whether anything is recorded. If not, no intermediate form is built, and short cuts are taken.
    const RECORDS: bool;

    /// A rule makes this of the whole URL.
    fn whole(&mut self, _rule: Rule, _after: &[u8]) {}

    /// From here on, rules act on the components of the URL as it is now.
    fn split(&mut self, _parts: &Parts<'_>) {}

    /// A rule makes this of a component, or removes it.
    fn component(&mut self, _rule: Rule, _place: Place, _after: Option<&[u8]>) {}

    /// A rule puts a request target behind a scheme and an authority.
    fn origin(&mut self, _rule: Rule, _origin: &Parts<'_>) {}

    /// A rule writes the byte or triplet at `range` of a component another way.
    fn respelled(&mut self, _rule: Rule, _place: Place, _range: Range<usize>, _written: &[u8]) {}
}

/// Records nothing.
pub(crate) struct NoTrace;

impl Trace for NoTrace {
    const RECORDS: bool = false;
}
