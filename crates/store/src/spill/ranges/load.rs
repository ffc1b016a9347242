//! Reads a range into memory and sorts it, or divides it if it does not fit.

use std::io;
use std::sync::Arc;

use rayon::prelude::*;

use super::super::PARTITIONS;
use super::super::packing::{BlockCompressor, BlockDecompressor, HEADER};
use super::super::store::{SpillError, Store};
use super::super::stream::{EntryReader, EntryWriter, Stream};
use super::bounds::KeyRanges;
use super::entries::RangeEntries;
use crate::keep_policy::KeepPolicy;
use crate::sort::{Threads, sort_memory};
use uniqurl::internal::{AllocError, alloc};

/// How ranges are read.
#[derive(Debug, Clone, Copy)]
pub struct RangePlan<'a> {
    /// Where ranges are.
    pub store: &'a Arc<Store>,
    /// The record that each key is kept with. Unless it is the first, each line is a candidate.
    pub keep: KeepPolicy,
    /// Bytes of a block of a smaller range before packing.
    pub block: usize,
}

/// A range that was read.
#[derive(Debug)]
pub(super) enum LoadedRange {
    /// All of it in memory.
    Sorted(RangeEntries),
    /// Smaller ranges, in order.
    Divided(Vec<Stream>),
    /// Nothing: it is larger than estimated. It is not divided, since it may well fit without others beside it.
    Larger,
}

/// So many keys fit into any memory. Each smaller range has fewer keys than the range that it is a part of,
/// so dividing ends.
const LEAST: usize = 16;

/// Entries in memory are combined only if there are as many.
const COMBINED_FROM: usize = 4 * LEAST;

/// Blocks of a range that are sampled to divide it, and one of how many keys in each is sampled.
const SAMPLED_BLOCKS: usize = 128;
const SAMPLED_KEYS: usize = 16;

/// Keys that are sampled of those in memory.
const SAMPLED_IN_MEMORY: usize = 64;

/// Blocks of a range that its size is estimated from. The first records of an input are often unlike the others,
/// so one block would not do.
const SIZED_BLOCKS: usize = 4;

/// Blocks of a range that is worth it. The entries of others are taken for as short as few are.
const SIZED_FROM: usize = 16;
const SHORT: usize = 32;

/// Size of a range, estimated from blocks at even distances.
struct RangeSize {
    bytes: usize,
    entries: usize,
}

impl RangeSize {
    fn of(range: &Stream, plan: &RangePlan<'_>) -> Result<Self, SpillError> {
        let bytes = range.bytes() as usize;
        if range.extents.len() < SIZED_FROM {
            return Ok(Self { bytes, entries: bytes / SHORT });
        }
        let step = range.extents.len().div_ceil(SIZED_BLOCKS);
        let sample: Vec<_> = range.extents.iter().step_by(step).cloned().collect();
        let sample = Stream::from(sample);
        let (sampled, mut entries) = (sample.bytes() as usize, 0);
        let mut decompressor = BlockDecompressor::new(plan.store);
        let mut reader = EntryReader::new(sample);
        while reader.next(&mut decompressor)?.is_some() {
            entries += 1;
        }
        // Some entries are longer than others.
        Ok(Self { bytes, entries: entries * bytes / sampled.max(1) * 9 / 8 })
    }

    /// Bytes of memory for the entries, while they are sorted.
    fn in_memory(&self) -> usize {
        self.bytes + self.entries * size_of::<u64>() + sort_memory(self.entries)
    }
}

/// The part of `memory` that entries take before those of each key are combined, which needs the rest.
fn full(memory: usize) -> usize {
    memory - memory / 3
}

/// Estimates how much memory it takes to load a range.
pub(super) fn range_memory(range: &Stream, plan: &RangePlan<'_>) -> Result<usize, SpillError> {
    let entries = RangeSize::of(range, plan)?.in_memory();
    // The inverse of `full`.
    Ok(entries + entries / 2)
}

/// Loads a range within `memory`. If its keys do not fit, a range that has all threads is divided, and one that is
/// loaded beside others is not.
pub(super) fn load_range(
    range: &Stream,
    plan: &RangePlan<'_>,
    memory: usize,
    threads: Threads,
) -> Result<LoadedRange, SpillError> {
    let full_of_memory = |_| plan.store.error(io::ErrorKind::OutOfMemory.into());
    let no_room = |error: AllocError| plan.store.error(error.into());
    let size = RangeSize::of(range, plan)?;
    // Reserved at once, since a vector that grows is there twice meanwhile.
    let share = (full(memory) as f64 / size.in_memory().max(1) as f64).min(1.0);
    let mut entries =
        RangeEntries::with_capacity((size.entries as f64 * share) as usize).map_err(no_room)?;
    let mut decompressor = BlockDecompressor::new(plan.store);
    for extent in &range.extents {
        if entries.count() >= COMBINED_FROM && entries.memory(extent.raw() as usize) > full(memory)
        {
            // Repetitions are combined before a range is divided: few keys with many records need
            // no division.
            entries.sort(range.depth, plan.keep, threads).map_err(full_of_memory)?;
            match entries.combined(plan.keep, LEAST, memory / 3) {
                Some(combined) => entries = combined,
                None if threads == Threads::One => return Ok(LoadedRange::Larger),
                None => {
                    let parts = (4 * size.in_memory() / memory.max(1)).clamp(2, PARTITIONS);
                    let ranges = bounds(range, &entries, parts, plan)?;
                    // The smaller ranges need its memory for their blocks.
                    drop(entries);
                    return Ok(LoadedRange::Divided(divide(range, &ranges, plan, memory)?));
                }
            }
        }
        let block = decompressor.block(extent)?;
        let taken = entries.take(block, HEADER).map_err(no_room)?;
        taken.ok_or_else(|| decompressor.damaged("an entry is cut off"))?;
    }
    entries.sort(range.depth, plan.keep, threads).map_err(full_of_memory)?;
    Ok(LoadedRange::Sorted(entries))
}

/// Bounds from a sample of a range, which holds different keys of those in memory.
fn bounds(
    range: &Stream,
    entries: &RangeEntries,
    parts: usize,
    plan: &RangePlan<'_>,
) -> Result<KeyRanges, SpillError> {
    let no_room = |error: AllocError| plan.store.error(error.into());
    let mut sample: Vec<Vec<u8>> = Vec::new();
    let mut add = |key: &[u8]| {
        let mut copy = Vec::new();
        alloc::try_reserve_exact(&mut copy, key.len())?;
        alloc::try_reserve(&mut sample, 1)?;
        copy.extend_from_slice(key);
        sample.push(copy);
        Ok(())
    };
    let mut decompressor = BlockDecompressor::new(plan.store);
    for extent in range.extents.iter().step_by(range.extents.len().div_ceil(SAMPLED_BLOCKS)) {
        let mut reader = EntryReader::new(vec![extent.clone()].into());
        let mut number = 0;
        while let Some(entry) = reader.next(&mut decompressor)? {
            if number % SAMPLED_KEYS == 0 {
                add(entry.key).map_err(no_room)?;
            }
            number += 1;
        }
    }
    // More than `LEAST` different keys are in memory. So there are bounds even if all sampled
    // blocks hold one key.
    entries.sample(SAMPLED_IN_MEMORY).try_for_each(&mut add).map_err(no_room)?;
    sample.sort_unstable();
    let sample: Vec<&[u8]> = sample.iter().map(Vec::as_slice).collect();
    KeyRanges::of_sorted(&sample, parts).map_err(no_room)
}

/// Writes the entries of a range to smaller ranges, in the same order.
fn divide(
    range: &Stream,
    ranges: &KeyRanges,
    plan: &RangePlan<'_>,
    memory: usize,
) -> Result<Vec<Stream>, SpillError> {
    // Each task has a block for every smaller range.
    let tasks = rayon::current_num_threads().min(memory / (2 * ranges.len() * plan.block));
    let share = range.extents.len().div_ceil(tasks.max(1)).max(1);
    let parts = range.extents.par_chunks(share).with_min_len(1).map(|extents| {
        let mut writers: Vec<_> = (0..ranges.len()).map(|_| EntryWriter::new(plan.block)).collect();
        let mut compressor = BlockCompressor::new(plan.store);
        let mut decompressor = BlockDecompressor::new(plan.store);
        let mut reader = EntryReader::new(extents.to_vec().into());
        while let Some(entry) = reader.next(&mut decompressor)? {
            writers[ranges.find(entry.key)].push(&entry, &mut compressor)?;
        }
        writers.into_iter().map(|writer| writer.finish(&mut compressor)).collect()
    });
    let parts: Vec<Vec<Stream>> = parts.collect::<Result<_, SpillError>>()?;
    let mut smaller: Vec<Stream> = (0..ranges.len()).map(|_| Stream::default()).collect();
    for part in parts {
        for (range, mut part) in smaller.iter_mut().zip(part) {
            alloc::try_reserve(&mut range.extents, part.extents.len())
                .map_err(|error| plan.store.error(error.into()))?;
            range.extents.append(&mut part.extents);
        }
    }
    smaller.retain(|range| !range.is_empty());
    Ok(smaller)
}
