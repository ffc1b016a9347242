//! One run while runs are merged by windows: the blocks that reach into the window.

use std::collections::VecDeque;

use super::entry::SpillEntry;
use super::marks::{Marks, Run};
use super::packing::{BlockDecompressor, HEADER};
use super::store::{Extent, SpillError};
use uniqurl::internal::{AllocError, alloc};

/// A block, and where its new entries are.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) bytes: Vec<u8>,
    /// The ordinals of its new entries, and where they start.
    ordinals: Vec<u64>,
    starts: Vec<u32>,
    /// The entries of windows that are written.
    done: usize,
}

/// A run, read from front to back.
pub(super) struct Source {
    extents: std::vec::IntoIter<Extent>,
    marks: Option<Marks>,
    /// Entries read so far.
    read: usize,
    pub(super) loaded: VecDeque<Loaded>,
    /// Emptied blocks, whose memory is used again.
    spare: Vec<Loaded>,
    /// No entry that is still to be read has a smaller ordinal.
    covered: u64,
}

impl Source {
    pub(super) fn new(run: Run) -> Self {
        Self {
            extents: run.stream.extents.into_iter(),
            marks: run.marks,
            read: 0,
            loaded: VecDeque::new(),
            spare: Vec::new(),
            covered: 0,
        }
    }

    /// Reads blocks up to the ordinal `until`, and of more than one block at most `most` bytes.
    pub(super) fn load(
        &mut self,
        until: u64,
        most: usize,
        decompressor: &mut BlockDecompressor<'_>,
    ) -> Result<(), SpillError> {
        let mut held: usize = self.loaded.iter().map(|block| block.bytes.len()).sum();
        // One block is loaded however long it is, or the window would never move on.
        while self.covered < until && (self.loaded.is_empty() || held < most) {
            let Some(extent) = self.extents.next() else {
                self.covered = u64::MAX;
                break;
            };
            let mut block = self.spare.pop().unwrap_or_default();
            decompressor.read(&extent, &mut block.bytes)?;
            self.list(&mut block, decompressor)?;
            if block.ordinals.is_empty() {
                self.spare.push(block);
            } else {
                held += block.bytes.len();
                self.loaded.push_back(block);
            }
        }
        Ok(())
    }

    /// Lists the new entries of a block.
    fn list(
        &mut self,
        block: &mut Loaded,
        decompressor: &BlockDecompressor<'_>,
    ) -> Result<(), SpillError> {
        let no_room = |error: AllocError| decompressor.store().error(error.into());
        let Loaded { bytes, ordinals, starts, done } = block;
        ordinals.clear();
        starts.clear();
        *done = 0;
        let mut at = HEADER;
        while at < bytes.len() {
            let cut_off = || decompressor.damaged("an entry is cut off");
            let (entry, length) = SpillEntry::decode(&bytes[at..]).ok_or_else(cut_off)?;
            if self.marks.as_ref().is_none_or(|marks| marks.get(self.read)) {
                alloc::try_reserve(ordinals, 1).map_err(no_room)?;
                alloc::try_reserve(starts, 1).map_err(no_room)?;
                ordinals.push(entry.ordinal);
                starts.push(at as u32);
            }
            // Marks are numbered by all entries of the stream, whether they are new or not.
            self.read += 1;
            self.covered = entry.ordinal.saturating_add(1);
            at += length;
        }
        Ok(())
    }

    /// The ordinal of the next entry.
    pub(super) fn next(&self) -> Option<u64> {
        let block = self.loaded.front()?;
        block.ordinals.get(block.done).copied()
    }

    /// Entries up to this ordinal are loaded.
    pub(super) fn covered(&self) -> u64 {
        self.covered
    }

    /// Frees the blocks whose entries are all written.
    pub(super) fn free(&mut self) {
        while self.loaded.front().is_some_and(|block| block.done == block.ordinals.len()) {
            self.spare.extend(self.loaded.pop_front());
        }
    }
}

impl Loaded {
    /// Passes over the entries with ordinals below `end`: their ordinals, and where they start.
    pub(super) fn pass(&mut self, end: u64) -> impl Iterator<Item = (u64, u32)> + '_ {
        let from = self.done;
        self.done += self.ordinals[from..].partition_point(|ordinal| *ordinal < end);
        let passed = from..self.done;
        self.ordinals[passed.clone()].iter().copied().zip(self.starts[passed].iter().copied())
    }
}
