//! A line that an envelope was taken off, or that has none.

use std::ops::Range;

/// A line without its envelope.
#[derive(Debug)]
pub(super) struct Stripped {
    pub text: StrippedText,
    /// True if the line goes on in a later envelope.
    pub is_cut: bool,
    /// True if nothing else is likely to write such lines.
    pub is_typical: bool,
}

/// The bytes between an envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StrippedText {
    /// They stand in the line.
    InLine(Range<usize>),
    /// They were escaped, and are appended to the buffer.
    Unescaped,
}

impl Stripped {
    /// The rest of a line, from `start` on.
    pub fn rest_of(line: &[u8], start: usize) -> Self {
        Self { text: StrippedText::InLine(start..line.len()), is_cut: false, is_typical: true }
    }
}

/// What happens to lines without the envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::record) enum BareLines {
    /// They are read as they stand, since the envelope was found in most lines only.
    AreRead,
    /// They are rejected.
    AreRejected,
}
