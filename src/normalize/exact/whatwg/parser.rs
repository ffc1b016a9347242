//! The state of the parser, and the delimiters that its states look for.

use crate::profile::whatwg::Kind;

/// Appends components. A state that ends with the path returns where it ends in the input.
pub(super) struct Parser<'i, 'o> {
    pub(super) input: &'i [u8],
    /// The kind of the scheme.
    pub(super) kind: Kind,
    pub(super) has_authority: bool,
    pub(super) out: &'o mut Vec<u8>,
}

impl Parser<'_, '_> {
    /// A backslash is a slash if the scheme is special.
    pub(super) fn is_slash(&self, byte: u8) -> bool {
        byte == b'/' || byte == b'\\' && self.kind.is_special()
    }

    pub(super) fn has_slash(&self, at: usize) -> bool {
        self.input.get(at).is_some_and(|byte| self.is_slash(*byte))
    }

    /// The end of the authority or segment at `start`.
    pub(super) fn find_end(&self, start: usize) -> usize {
        let ends = |byte: &u8| matches!(byte, b'?' | b'#') || self.is_slash(*byte);
        self.input[start..].iter().position(ends).map_or(self.input.len(), |n| start + n)
    }
}
