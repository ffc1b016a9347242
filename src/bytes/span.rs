//! A range of a buffer of at most 4 GiB, in eight bytes.

use std::ops::Range;

/// A range of bytes of a chunk or of its scratch buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)] // a scanner writes several at once
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte; never below `start`.
    pub end: u32,
}

impl Span {
    /// `None` past 4 GiB.
    #[inline]
    pub fn checked(range: Range<usize>) -> Option<Self> {
        Some(Self { start: u32::try_from(range.start).ok()?, end: u32::try_from(range.end).ok()? })
    }

    /// The bytes of the span in `bytes`, the buffer it was made for.
    #[inline]
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.range()]
    }

    /// The range of the span in its buffer.
    #[inline]
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Length in bytes.
    #[inline]
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// True if the span holds no byte.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}
