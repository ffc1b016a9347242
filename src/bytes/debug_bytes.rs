//! Bytes as a programmer reads them: what [`Debug`](std::fmt::Debug) prints of a URL is text, not numbers.

use std::fmt;

/// Shows bytes as a literal: `b"http://h/\xff"`.
pub struct DebugBytes<'a>(pub(crate) &'a [u8]);

impl fmt::Debug for DebugBytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}
