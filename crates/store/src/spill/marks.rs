//! Which entries of a stream are new: a bit for each, in the order of the stream.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::stream::Stream;
use uniqurl::internal::{AllocError, alloc};

/// Settled URLs, by ordinal: entries of a stream.
#[derive(Debug, Default)]
pub struct Run {
    pub(super) stream: Stream,
    /// Which entries; all of them without.
    pub(super) marks: Option<Marks>,
}

impl From<Stream> for Run {
    fn from(stream: Stream) -> Self {
        Self { stream, marks: None }
    }
}

/// Bits that are appended.
#[derive(Debug, Default)]
pub(super) struct Marks {
    words: Vec<u64>,
    length: usize,
}

impl Marks {
    /// Makes room for `more` bits.
    pub(super) fn reserve(&mut self, more: usize) -> Result<(), AllocError> {
        let words = (self.length + more).div_ceil(64).saturating_sub(self.words.len());
        alloc::try_reserve(&mut self.words, words)
    }

    /// Appends a bit for which there is room.
    #[inline]
    pub(super) fn push(&mut self, bit: bool) {
        let at = self.length % 64;
        if at == 0 {
            self.words.push(0);
        }
        if let Some(last) = self.words.last_mut() {
            *last |= u64::from(bit) << at;
        }
        self.length += 1;
    }

    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Removes the bits from `length` on. All of them are 0.
    pub(super) fn truncate(&mut self, length: usize) {
        self.words.truncate(length.div_ceil(64));
        self.length = length;
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> bool {
        self.words.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    fn memory(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }
}

/// The memory for the marks of all partitions.
#[derive(Debug)]
pub struct MarksBudget {
    bytes: usize,
    used: AtomicUsize,
}

impl MarksBudget {
    /// So many bytes. New entries of partitions that are deduplicated once they are used are written anew.
    pub fn new(bytes: usize) -> Self {
        Self { bytes, used: AtomicUsize::new(0) }
    }

    pub(super) fn is_used_up(&self) -> bool {
        // Each thread may exceed the budget by one partition. An exact bound would need a lock.
        self.used.load(Ordering::Relaxed) >= self.bytes
    }

    pub(super) fn take(&self, marks: &Marks) {
        self.used.fetch_add(marks.memory(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_returned_as_they_were_pushed() {
        let bit = |i: usize| i.is_multiple_of(3) || i % 64 == 63;
        let mut marks = Marks::default();
        for i in 0..200 {
            marks.reserve(1).unwrap();
            marks.push(bit(i));
        }
        marks.push(false);
        marks.truncate(200);
        assert!((0..200).all(|i| marks.get(i) == bit(i)) && !marks.get(200) && marks.len() == 200);
        let budget = MarksBudget::new(20);
        assert!(!budget.is_used_up());
        budget.take(&marks);
        assert!(budget.is_used_up());
    }
}
