//! An observer of the exact path: it receives each rule that acts, and the bytes that the rule writes.
//!
//! The exact path takes its observer as a type parameter. [`NoTrace`] ignores all events and compiles to
//! nothing; [`Recorder`](crate::normalize::explain) keeps the steps of an explanation. The events carry the bytes that
//! the path has written, so an explanation cannot differ from the result.

use std::ops::Range;

use crate::normalize::explain::Rule;
use crate::normalize::parts::Parts;

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

/// Receives the effects of rules in any order; the observer sorts them by rule. A rule that changes nothing
/// may be reported.
pub(crate) trait Trace {
    /// Whether anything is recorded. If not, no intermediate form is built, and shortcuts are taken.
    const RECORDS: bool;

    /// A rule changes the whole URL to `_after`.
    fn whole(&mut self, _rule: Rule, _after: &[u8]) {}

    /// From here on, rules act on the components of the URL as it is now.
    fn split(&mut self, _parts: &Parts<'_>) {}

    /// A rule changes a component to `_after`, or removes it.
    fn component(&mut self, _rule: Rule, _place: Place, _after: Option<&[u8]>) {}

    /// A rule prepends a scheme and an authority to a request target.
    fn origin(&mut self, _rule: Rule, _origin: &Parts<'_>) {}

    /// A rule rewrites the byte or triplet at `_range` of a component.
    fn respelled(&mut self, _rule: Rule, _place: Place, _range: Range<usize>, _written: &[u8]) {}
}

/// Records nothing.
pub(crate) struct NoTrace;

impl Trace for NoTrace {
    const RECORDS: bool = false;
}
