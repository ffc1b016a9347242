//! Merges runs in the order of bytes.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::dedup_partition::PartitionPlan;
use super::entry::SpillEntry;
use super::packing::{BlockCompressor, BlockDecompressor};
use super::store::SpillError;
use super::stream::{EntryReader, EntryWriter, Stream};

/// The order of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeOrder {
    /// By first occurrence.
    First,
    /// By bytes.
    Sorted,
    /// By count, the greatest first, and then by bytes.
    Count {
        /// The entries that are wanted of all runs, at most so many.
        limit: Option<u64>,
    },
}

/// Hands out the entries of all runs, which have no key in common, in the order of their bytes, or of
/// their counts, until there are no more or `take` says `false`.
///
/// A run takes one block of memory while it is read. Where that would be too much for all of them,
/// some are merged into longer runs first.
pub fn merge<E: From<SpillError>>(
    runs: Vec<Stream>,
    plan: &PartitionPlan<'_>,
    take: impl FnMut(SpillEntry<'_>) -> Result<bool, E>,
) -> Result<(), E> {
    let at_once = (plan.memory / plan.block).max(MIN_RUNS);
    let mut runs: std::collections::VecDeque<_> = runs.into();
    while runs.len() > at_once {
        let mut compressor = BlockCompressor::new(plan.store);
        let mut writer = EntryWriter::new(plan.block);
        let mut text = Vec::new();
        merge_now(runs.drain(..at_once), plan, |entry| {
            text.clear();
            entry.append(&mut text).map_err(|error| plan.store.error(error.into()))?;
            writer.write(&text, &mut compressor).map(|()| true)
        })?;
        runs.push_back(writer.finish(&mut compressor)?);
    }
    merge_now(runs, plan, take)
}

/// As many runs are merged at once, however little memory there is.
const MIN_RUNS: usize = 8;

fn merge_now<E: From<SpillError>>(
    runs: impl IntoIterator<Item = Stream>,
    plan: &PartitionPlan<'_>,
    mut take: impl FnMut(SpillEntry<'_>) -> Result<bool, E>,
) -> Result<(), E> {
    let mut decompressor = BlockDecompressor::new(plan.store);
    let by_count = matches!(plan.order, MergeOrder::Count { .. });
    let mut heads = BinaryHeap::new();
    for run in runs {
        let mut reader = EntryReader::new(run);
        if reader.next(&mut decompressor)?.is_some() {
            heads.push(Head { reader, by_count });
        }
    }
    while let Some(mut head) = heads.peek_mut() {
        if !take(head.reader.entry())? {
            break;
        }
        if head.reader.next(&mut decompressor)?.is_none() {
            PeekMut::pop(head);
        }
    }
    Ok(())
}

/// The next entry of a run.
struct Head {
    reader: EntryReader,
    by_count: bool,
}

impl Ord for Head {
    /// The entry that comes first is the greatest, since that is what a heap gives out.
    fn cmp(&self, other: &Self) -> Ordering {
        let (one, other) = (self.reader.entry(), other.reader.entry());
        let counts = match self.by_count {
            true => one.count.cmp(&other.count),
            false => Ordering::Equal,
        };
        counts.then_with(|| other.key.cmp(one.key))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head {}
