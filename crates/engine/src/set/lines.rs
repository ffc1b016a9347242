//! Lines of a set that is written at the end, if lines hold more than the key.

use std::ops::Range;

use uniqurl::internal::{AllocError, alloc, prefetch};
use uniqurl_store::keep_policy::{KeepPolicy, KeptRecords};

/// The bits of a position in a block of lines.
const IN_BLOCK: u32 = 36;

/// Groups of shards whose lines are replaced at the same time.
const GROUPS: usize = 16;

/// A line for each key, about the record that is kept.
#[derive(Debug)]
pub(crate) enum KeptLines {
    /// The lines of first records, in the order of adding.
    Added(AddedLines),
    /// Lines that those of later records may replace, by the place of the key.
    Replaceable(ReplaceableLines),
}

/// Lines in the order of adding.
#[derive(Debug, Default)]
pub(crate) struct AddedLines {
    /// The lines of each batch, so that none is copied or moved when there are more.
    blocks: Vec<Vec<u8>>,
    /// Bytes of the blocks.
    held: usize,
    /// Where each line starts: the block, and the position in it.
    starts: Vec<u64>,
}

/// Lines by the shard and place of their key.
#[derive(Debug)]
pub(crate) struct ReplaceableLines {
    groups: Vec<KeptRecords>,
    /// The number of a shard without so many bits is that of its group.
    bits: u32,
}

impl KeptLines {
    /// For a set of so many shards.
    pub(crate) fn new(policy: KeepPolicy, shards: usize) -> Self {
        if policy == KeepPolicy::First {
            return KeptLines::Added(AddedLines::default());
        }
        // A power of two, so that a shift tells the group of a shard.
        let each = shards.div_ceil(GROUPS).next_power_of_two();
        let groups = (0..shards.div_ceil(each)).map(|_| KeptRecords::new(policy));
        let (groups, bits) = (groups.collect(), each.trailing_zeros());
        KeptLines::Replaceable(ReplaceableLines { groups, bits })
    }

    /// Fetches the line that was added as the n-th into the cache.
    pub(crate) fn fetch(&self, n: usize) {
        if let KeptLines::Added(lines) = self {
            lines.fetch(n);
        }
    }

    /// Whether lines may be replaced, perhaps by longer ones.
    pub(crate) fn are_replaceable(&self) -> bool {
        matches!(self, KeptLines::Replaceable(_))
    }

    /// The line of a key as it is spilled, by the order of adding and the place of the key.
    pub(crate) fn spilled(&self, number: u64, place: u64) -> &[u8] {
        match self {
            KeptLines::Added(lines) => lines.nth(number as usize),
            KeptLines::Replaceable(lines) => lines.group(place).candidate(place),
        }
    }

    /// The line written for the key of this number. `number` is a place if lines are replaceable, else the
    /// order of adding.
    pub(crate) fn line(&self, number: u64) -> &[u8] {
        match self {
            KeptLines::Added(lines) => lines.nth(number as usize),
            KeptLines::Replaceable(lines) => lines.group(number).line(number),
        }
    }

    /// Bytes of memory, including those needed to add the lines of `more` keys.
    pub(crate) fn memory(&self, more: usize) -> usize {
        match self {
            KeptLines::Added(lines) => lines.memory(more),
            KeptLines::Replaceable(lines) => {
                let held = lines.groups.iter().map(|group| group.memory(0));
                held.sum::<usize>() + KeptRecords::room(more)
            }
        }
    }
}

impl ReplaceableLines {
    /// The groups, each with the numbers of its shards.
    pub(crate) fn groups(&mut self) -> impl Iterator<Item = (Range<usize>, &mut KeptRecords)> {
        let bits = self.bits;
        let groups = self.groups.iter_mut().enumerate();
        groups.map(move |(at, group)| (at << bits..(at + 1) << bits, group))
    }

    /// Offers the line of a record that follows all earlier ones.
    pub(crate) fn offer(&mut self, place: u64, candidate: &[u8]) -> Result<(), AllocError> {
        self.groups[(place >> 32 >> self.bits) as usize].offer(place, candidate)
    }

    fn group(&self, place: u64) -> &KeptRecords {
        &self.groups[(place >> 32 >> self.bits) as usize]
    }
}

impl AddedLines {
    /// Adds `count` lines.
    pub(crate) fn add(&mut self, count: usize, lines: Vec<u8>) -> Result<(), AllocError> {
        alloc::try_reserve(&mut self.starts, count)?;
        alloc::try_reserve(&mut self.blocks, 1)?;
        // Block and position share one number, which halves the memory of `starts`.
        let start = (self.blocks.len() as u64) << IN_BLOCK;
        // A line starts after each line feed except the last, which `take` drops.
        let starts = memchr::memchr_iter(b'\n', &lines).map(|end| start + end as u64 + 1);
        self.starts.extend(std::iter::once(start).chain(starts).take(count));
        self.held += lines.capacity();
        self.blocks.push(lines);
        Ok(())
    }

    /// The line that was added as the n-th, counted from 0, with its line feed.
    fn nth(&self, n: usize) -> &[u8] {
        let Some((block, start)) = self.place(n) else { return &[] };
        let next = self.place(n + 1).filter(|(other, _)| *other == block);
        let block = &self.blocks[block];
        &block[start..next.map_or(block.len(), |(_, start)| start)]
    }

    fn place(&self, n: usize) -> Option<(usize, usize)> {
        let start = self.starts.get(n)?;
        Some(((start >> IN_BLOCK) as usize, (start & ((1 << IN_BLOCK) - 1)) as usize))
    }

    /// Fetches the n-th into the cache.
    fn fetch(&self, n: usize) {
        if let Some((block, start)) = self.place(n) {
            prefetch(&self.blocks[block], start);
            prefetch(&self.blocks[block], start + 64);
        }
    }

    /// Bytes of memory, including those needed to add `more` lines.
    pub(crate) fn memory(&self, more: usize) -> usize {
        // A vector that grows is there twice for a moment, once at double size. Numbers come at the end.
        let each = 4 * size_of::<u64>();
        // Batches on their way, as text and as spilled and packed entries, grow with the lines.
        3 * self.held + each * (self.starts.len() + more)
    }
}
