//! Looks sorted keys up in a run, zone by zone.

use std::ops::Range;

use rayon::prelude::*;

use super::super::error::SeenStoreError;
use super::super::keys::SortedKeys;
use super::Mark;
use super::block::{Block, BlockSearch};
use super::footer::ZonePlace;
use super::part::{PartKind, PartReader};
use super::reader::{Run, UNREADABLE};
use uniqurl::internal::AllocError;

/// Keys to look up: which of them are still to be found, in order, and the hash of each of all.
pub(in super::super) struct WantedKeys<'k, K: ?Sized> {
    pub(in super::super) keys: &'k K,
    /// The key that has the number 0.
    pub(in super::super) first: usize,
    pub(in super::super) hashes: &'k [u64],
    pub(in super::super) wanted: &'k [u32],
}

impl<K: SortedKeys + ?Sized> WantedKeys<'_, K> {
    fn key(&self, number: u32) -> &[u8] {
        self.keys.get(self.first + number as usize)
    }
}

/// A key that was found: its number, and its mark.
pub(in super::super) type FoundKey = (u32, Mark);

/// Blocks that are read together although others lie between them: bytes of those.
const GAP: u64 = 16 << 10;

/// Most bytes that are read at once.
const EXTENT: u64 = 512 << 10;

/// The buffers of a thread.
#[derive(Default)]
struct Scratch {
    parts: PartReader,
    filter: Vec<u8>,
    index: Vec<u8>,
    raw: Vec<u8>,
}

/// A block that may hold wanted keys.
struct NeededBlock {
    offset: u64,
    length: u32,
    /// The candidates, by their place in the list of them.
    candidates: Range<usize>,
}

impl Run {
    /// Finds the wanted keys that the run holds, in order. The zones are searched on all threads of the pool.
    pub(in super::super) fn look_up<K: SortedKeys + ?Sized>(
        &self,
        wanted: &WantedKeys<'_, K>,
    ) -> Result<Vec<FoundKey>, SeenStoreError> {
        let parts = self.by_zone(wanted);
        let search = |scratch: &mut Scratch, (zone, range): (usize, Range<usize>)| {
            self.search_zone(&self.footer.zones[zone], wanted, range, scratch)
        };
        // Each share has buffers of its own.
        let share = parts.len().div_ceil(4 * rayon::current_num_threads()).max(1);
        let parts = parts.into_par_iter().with_min_len(share);
        let found: Result<Vec<Vec<FoundKey>>, SeenStoreError> =
            parts.map_init(Scratch::default, search).collect();
        Ok(found?.concat())
    }

    /// The zones that may hold wanted keys, and which of those each may hold.
    fn by_zone<K: SortedKeys + ?Sized>(
        &self,
        wanted: &WantedKeys<'_, K>,
    ) -> Vec<(usize, Range<usize>)> {
        let (zones, all) = (self.footer.zones.len(), wanted.wanted.len());
        let key = |at: usize| wanted.key(wanted.wanted[at]);
        let separator = |zone| self.footer.separators.get(zone);
        // The first key that does not belong to the zones before this one.
        let first_of = |zone: usize, from: usize| match zone < zones {
            true => partition_point(from..all, |at| key(at) < separator(zone)),
            false => all,
        };
        let (mut parts, mut zone, mut start) = (Vec::new(), 0, first_of(0, 0));
        while start < all {
            // Where keys are few, most zones hold none of them.
            let next = partition_point(zone + 1..zones, |zone| separator(zone) <= key(start));
            let end = first_of(next, start);
            parts.push((next - 1, start..end));
            (zone, start) = (next, end);
        }
        parts
    }

    fn search_zone<K: SortedKeys + ?Sized>(
        &self,
        zone: &ZonePlace,
        wanted: &WantedKeys<'_, K>,
        range: Range<usize>,
        scratch: &mut Scratch,
    ) -> Result<Vec<FoundKey>, SeenStoreError> {
        let Scratch { parts, filter, index, raw } = scratch;
        let filter = self.filter(zone, parts, filter)?;
        let passes = |number: &u32| filter.may_contain(wanted.hashes[*number as usize]);
        let candidates: Vec<u32> = wanted.wanted[range].iter().copied().filter(passes).collect();
        let mut found = Vec::new();
        if candidates.is_empty() {
            return Ok(found);
        }
        // A key that passed the filter has a block.
        let index = self.index(zone, parts, index)?;
        let needed = needed_blocks(index, zone.offset, wanted, &candidates);
        let needed = needed.map_err(|error| SeenStoreError::io(&self.file.path, error.into()))?;
        let PartReader { bytes, unpacker } = parts;
        let mut needed = &needed[..];
        while let Some(first) = needed.first() {
            let together = read_together(needed);
            let (extent, rest) = needed.split_at(together);
            let last = &extent[together - 1];
            let length = last.offset + u64::from(last.length) - first.offset;
            self.file.read(first.offset, length as usize, bytes)?;
            for block in extent {
                let part =
                    &bytes[(block.offset - first.offset) as usize..][..block.length as usize];
                unpacker.unpack(&self.file, (PartKind::Block, block.offset), part, raw)?;
                let unreadable = || self.file.damaged(block.offset, UNREADABLE);
                let parsed = Block::parse(raw).ok_or_else(unreadable)?;
                let candidates = &candidates[block.candidates.clone()];
                let searched = search_block(parsed, wanted, candidates, &mut found);
                searched.map_err(|error| SeenStoreError::io(&self.file.path, error.into()))?;
            }
            needed = rest;
        }
        Ok(found)
    }
}

/// The first number of a range for which this does not hold, if it holds for all before.
fn partition_point(mut range: Range<usize>, holds: impl Fn(usize) -> bool) -> usize {
    while !range.is_empty() {
        let middle = range.start + range.len() / 2;
        match holds(middle) {
            true => range.start = middle + 1,
            false => range.end = middle,
        }
    }
    range.start
}

/// How many of the blocks are read at once, with those that lie between them.
fn read_together(blocks: &[NeededBlock]) -> usize {
    let end = |block: &NeededBlock| block.offset + u64::from(block.length);
    let start = blocks.first().map_or(0, |first| first.offset);
    let near = blocks.windows(2).take_while(|pair| {
        pair[1].offset - end(&pair[0]) <= GAP && end(&pair[1]) - start <= EXTENT
    });
    1 + near.count()
}

/// The blocks that may hold the candidates, by the index of their zone.
fn needed_blocks<K: SortedKeys + ?Sized>(
    index: Block<'_>,
    start: u64,
    wanted: &WantedKeys<'_, K>,
    candidates: &[u32],
) -> Result<Vec<NeededBlock>, AllocError> {
    let mut search = BlockSearch::new(index)?;
    let mut needed: Vec<NeededBlock> = Vec::new();
    // The blocks before `passed` take the bytes up to `offset`.
    let (mut passed, mut offset) = (0, start);
    for (at, candidate) in candidates.iter().enumerate() {
        let (greater, is_equal) = search.find(wanted.key(*candidate))?;
        // The last block whose separator is not greater than the key.
        // No key is below the first separator, which `by_zone` has compared. Only a forged index
        // leads to a block before it.
        let block = if is_equal { greater } else { greater.saturating_sub(1) };
        if let Some(last) = needed.last_mut()
            && passed == block + 1
        {
            last.candidates.end = at + 1;
            continue;
        }
        while passed <= block {
            offset += u64::from(index.mark(passed));
            passed += 1;
        }
        let length = index.mark(block);
        let candidates = at..at + 1;
        needed.push(NeededBlock { offset: offset - u64::from(length), length, candidates });
    }
    Ok(needed)
}

fn search_block<K: SortedKeys + ?Sized>(
    block: Block<'_>,
    wanted: &WantedKeys<'_, K>,
    candidates: &[u32],
    found: &mut Vec<FoundKey>,
) -> Result<(), AllocError> {
    let mut search = BlockSearch::new(block)?;
    for candidate in candidates {
        let (at, is_equal) = search.find(wanted.key(*candidate))?;
        if is_equal {
            found.push((*candidate, Mark::of_number(block.mark(at))));
        }
    }
    Ok(())
}
