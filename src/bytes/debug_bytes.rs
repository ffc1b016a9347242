//! Prints URLs as text, not as numbers, in [`Debug`](std::fmt::Debug) output.

use std::fmt;

/// Prints bytes as a literal: `b"http://h/\xff"`.
pub(crate) struct DebugBytes<'a>(pub(crate) &'a [u8]);

impl fmt::Debug for DebugBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}
