//! One partition through a set of its own.

use std::sync::Arc;

use super::division::Division;
use super::entry::SpillEntry;
use super::groups::{Groups, GroupsBeyondMemory};
use super::mark_new::mark_new;
use super::marks::{MarksBudget, Run};
use super::merge::MergeOrder;
use super::packing::{BlockCompressor, BlockDecompressor};
use super::store::{SpillError, Store};
use super::stream::{EntryReader, Stream, written};
use crate::group_counts::GroupLimit;
use crate::keep_policy::{KeepPolicy, KeptRecords};
use crate::sort::{Threads, Urls, in_turn, sort, sort_by_count, sort_memory};
use uniqurl::internal::{AllocError, Counting, Hash, HashKey, Shard, alloc};

/// How partitions are settled and runs are merged.
#[derive(Debug, Clone, Copy)]
pub struct PartitionPlan<'a> {
    /// Where partitions and runs are.
    pub store: &'a Arc<Store>,
    /// The order of the run.
    pub order: MergeOrder,
    /// Whether records are counted by key.
    pub counting: Counting,
    /// Whose line a key is written with. Where that is not the first's, each line is a candidate.
    pub keep: KeepPolicy,
    /// Only URLs with as many records.
    pub min_count: u64,
    /// Bytes that the set of one partition may take, with what the sorting of it takes. A few URLs
    /// fit whatever it is.
    pub memory: usize,
    /// Bytes of a block before it is packed, as the streams were written.
    pub block: usize,
    /// The memory for marks.
    pub marks: &'a MarksBudget,
    /// How many keys of a group are kept. Then the group of a key, and not the key, has picked the partition, and it
    /// is an error if the kept keys of a partition do not fit into memory: [`GroupsBeyondMemory`].
    pub limit: Option<GroupLimit<'a>>,
}

impl PartitionPlan<'_> {
    /// Whether the first record of each key is all that is wanted, in the order of the records.
    fn keeps_first_records(&self) -> bool {
        self.order == MergeOrder::First
            && self.counting == Counting::Off
            && self.keep == KeepPolicy::First
            && self.limit.is_none()
    }
}

/// What became of a partition.
#[derive(Debug, Default)]
pub struct PartitionResult {
    /// The URLs that were settled, in order, each with its first ordinal and all its records.
    pub run: Run,
    /// What did not fit, in partitions that have no key in common with each other or the run.
    pub rest: Vec<Stream>,
}

/// What is told of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordStatus {
    /// It is the first with its key.
    New,
    /// Its key was seen before the run.
    Seen,
    /// Its key is none of the first of its group.
    Filtered,
}

/// So many URLs are settled by every pass, so that there is an end.
pub(super) const MIN_URLS: usize = 16;

/// A URL of the set.
#[derive(Debug, Clone, Copy)]
struct Kept {
    ordinal: u64,
    /// In the shard.
    place: u32,
    /// Where its line ends; it starts where the one before ends.
    line_end: usize,
}

/// Finds the distinct URLs of a partition, whose entries are in ascending order, after the keys that
/// were seen before the run. `found` is told the ordinal of each that is settled and of each record whose
/// key was seen or is filtered. `key` is another than the one that made the partition.
pub fn dedup_partition(
    partition: Stream,
    plan: &PartitionPlan<'_>,
    key: &HashKey,
    found: &mut dyn FnMut(u64, RecordStatus),
) -> Result<PartitionResult, SpillError> {
    if plan.keeps_first_records() && !plan.marks.is_used_up() {
        mark_new(partition, plan, key, found)
    } else {
        rewrite(partition, plan, key, found)
    }
}

/// The way of [`dedup_partition`] where an entry that is written is not one that was read.
fn rewrite(
    partition: Stream,
    plan: &PartitionPlan<'_>,
    key: &HashKey,
    found: &mut dyn FnMut(u64, RecordStatus),
) -> Result<PartitionResult, SpillError> {
    let mut decompressor = BlockDecompressor::new(plan.store);
    let mut compressor = BlockCompressor::new(plan.store);
    let bytes = partition.bytes();
    let mut reader = EntryReader::new(partition);
    let mut set = Set::new(plan);
    let mut rest: Option<Division<'_>> = None;
    let mut text = Vec::new();
    while let Some(entry) = reader.next(&mut decompressor)? {
        let hash = key.hash(entry.key);
        let seen_before = entry.count == 0;
        if set.turn_to_group(&entry, key) {
            set.load_group(&entry, plan)?;
            continue;
        }
        if set.seen.contains(hash, entry.key) {
            if !seen_before {
                found(entry.ordinal, RecordStatus::Seen);
            }
            continue;
        }
        if !seen_before && set.is_beyond_limit(hash, entry.key) {
            found(entry.ordinal, RecordStatus::Filtered);
            continue;
        }
        if rest.is_none() {
            let added = match set.has_room(plan) {
                true if seen_before => set.add_seen(hash, entry.key),
                true => set.add(hash, &entry),
                false => Err(Full),
            };
            match added {
                Ok(()) => {}
                Err(Full) if set.groups.is_some() => return Err(beyond_memory(plan)),
                // A set that can hold nothing will never hold more.
                Err(Full) if set.len() == 0 => {
                    return Err(plan.store.error(std::io::ErrorKind::OutOfMemory.into()));
                }
                Err(Full) => rest = Some(Division::new(plan, bytes)),
            }
        }
        let no_room = |error: AllocError| plan.store.error(error.into());
        match &mut rest {
            None if seen_before => {}
            None => set.offer(hash, &entry).map_err(no_room)?,
            Some(rest) if set.shard.count_again(hash, entry.key) => {
                set.count_rest(hash, &entry);
                set.offer(hash, &entry).map_err(no_room)?;
                if set.has_outgrown(plan) {
                    let all = set.cut(plan, key).map_err(no_room)?;
                    let mut moved = (MIN_URLS..all.kept.len()).map(|at| all.entry(at));
                    rest.write_ahead(|rest| {
                        moved.try_for_each(|entry| {
                            spill(&entry, rest, key.hash(entry.key), &mut text)
                        })
                    })?;
                }
            }
            Some(rest) => spill(&entry, rest, hash, &mut text)?,
        }
    }
    set.kept.iter().for_each(|kept| found(kept.ordinal, RecordStatus::New));
    let rest = rest.map_or(Ok(Vec::new()), Division::finish)?;
    let order = set.order(plan)?;
    let entries = set.entries(order.as_deref(), plan.min_count);
    let run = Run::from(written(entries, plan.block, &mut compressor)?);
    Ok(PartitionResult { run, rest })
}

/// Writes an entry to smaller partitions.
fn spill(
    entry: &SpillEntry<'_>,
    rest: &mut Division<'_>,
    hash: Hash,
    text: &mut Vec<u8>,
) -> Result<(), SpillError> {
    text.clear();
    entry.append(text).map_err(|error| rest.no_room(error))?;
    rest.write(hash, text)
}

/// The URLs of a partition.
struct Set<'a> {
    /// The keys that were seen before the run.
    seen: Shard,
    shard: Shard,
    kept: Vec<Kept>,
    lines: Vec<u8>,
    /// Instead of the lines, where they may be another record's than the first.
    kept_records: Option<KeptRecords>,
    /// The groups of the keys, if there is a limit for each.
    groups: Option<Groups<'a>>,
}

/// Memory ran out, or a shard cannot hold more.
struct Full;

impl<'a> Set<'a> {
    fn new(plan: &PartitionPlan<'a>) -> Self {
        Self {
            seen: Shard::new(Counting::Off),
            shard: Shard::new(plan.counting),
            kept: Vec::new(),
            lines: Vec::new(),
            kept_records: (plan.keep != KeepPolicy::First).then(|| KeptRecords::new(plan.keep)),
            groups: plan.limit.map(Groups::new),
        }
    }

    /// Number of its keys, of both kinds.
    fn len(&self) -> usize {
        self.seen.len() + self.kept.len()
    }

    fn has_room(&self, plan: &PartitionPlan<'_>) -> bool {
        self.len() < MIN_URLS || self.memory(plan) <= plan.memory
    }

    /// Whether the lines of its URLs have become more than it may hold, and there are URLs that it can do
    /// without.
    fn has_outgrown(&self, plan: &PartitionPlan<'_>) -> bool {
        self.kept_records.is_some() && self.kept.len() > MIN_URLS && self.memory(plan) > plan.memory
    }

    /// Keeps of its URLs the first [`MIN_URLS`]; the set as it was.
    fn cut(&mut self, plan: &PartitionPlan<'a>, key: &HashKey) -> Result<Self, AllocError> {
        let mut all = std::mem::replace(self, Self::new(plan));
        self.seen = std::mem::replace(&mut all.seen, Shard::new(Counting::Off));
        for at in 0..MIN_URLS {
            let entry = all.entry(at);
            let hash = key.hash(entry.key);
            self.add(hash, &entry).map_err(|Full| AllocError)?;
            self.offer(hash, &entry)?;
        }
        Ok(all)
    }

    /// Adds a key that was seen before the run.
    fn add_seen(&mut self, hash: Hash, key: &[u8]) -> Result<(), Full> {
        self.seen.add(hash, key).map(drop).map_err(|_| Full)
    }

    /// Adds a URL, or counts it once more.
    fn add(&mut self, hash: Hash, entry: &SpillEntry<'_>) -> Result<(), Full> {
        alloc::try_reserve(&mut self.kept, 1).map_err(|_| Full)?;
        alloc::try_reserve(&mut self.lines, entry.line.len()).map_err(|_| Full)?;
        let Some(place) = self.shard.add(hash, entry.key).map_err(|_| Full)? else {
            self.count_rest(hash, entry);
            return Ok(());
        };
        if let Some(groups) = &mut self.groups {
            groups.add().map_err(|_| Full)?;
        }
        // More than one where it was moved out of a set, or stands for several rows of a table.
        self.shard.set_count(place, entry.count);
        if self.kept_records.is_none() {
            self.lines.extend_from_slice(entry.line);
        }
        self.kept.push(Kept { ordinal: entry.ordinal, place, line_end: self.lines.len() });
        Ok(())
    }

    /// Counts the records of an entry behind its first, which is counted.
    fn count_rest(&mut self, hash: Hash, entry: &SpillEntry<'_>) {
        if entry.count > 1 {
            self.shard.count_more(hash, entry.key, entry.count - 1);
        }
    }

    /// A URL that it holds, as it would be spilled.
    fn entry(&self, at: usize) -> SpillEntry<'_> {
        let Kept { ordinal, place, line_end } = self.kept[at];
        let line_start = at.checked_sub(1).map_or(0, |before| self.kept[before].line_end);
        let line = match &self.kept_records {
            Some(kept_records) => kept_records.candidate(place.into()),
            None => &self.lines[line_start..line_end],
        };
        let count = self.shard.count(place);
        SpillEntry { ordinal, count, key: self.shard.get(place), line }
    }

    /// Takes the line of a record whose URL the set holds, if it survives the one before.
    fn offer(&mut self, hash: Hash, entry: &SpillEntry<'_>) -> Result<(), AllocError> {
        let Some(kept_records) = &mut self.kept_records else { return Ok(()) };
        let Some(place) = self.shard.place_of(hash, entry.key) else { return Ok(()) };
        kept_records.offer(place.get().into(), entry.line)
    }

    /// Bytes it takes, once it has taken one more URL and was sorted.
    fn memory(&self, plan: &PartitionPlan<'_>) -> usize {
        let sorting = match plan.order {
            MergeOrder::First => 0,
            MergeOrder::Sorted | MergeOrder::Count { .. } => self.kept.len(),
        };
        let sorting = sorting * size_of::<u64>() + sort_memory(sorting);
        // A vector that grows is there twice for a moment, once at double size.
        let kept = 3 * self.kept.len() * size_of::<Kept>();
        let kept_records =
            self.kept_records.as_ref().map_or(0, |kept_records| kept_records.memory(1));
        let lines = 3 * self.lines.len() + kept_records;
        let groups = self.groups.as_ref().map_or(0, Groups::memory);
        self.seen.memory(1) + self.shard.memory(1) + kept + lines + sorting + groups
    }

    /// The order in which the set is written; None for that of its entries. It is empty where a limit
    /// leaves no entry.
    fn order(&self, plan: &PartitionPlan<'_>) -> Result<Option<Vec<u64>>, SpillError> {
        if plan.order == MergeOrder::First {
            return Ok(None);
        }
        let mut order: Vec<u64> = (0..self.kept.len() as u64).collect();
        let ordered = match plan.order {
            MergeOrder::First => Ok(()),
            MergeOrder::Sorted => sort(&mut order, self, Threads::One),
            MergeOrder::Count { limit } => {
                let count = |at| self.shard.count(self.kept[at as usize].place);
                sort_by_count(&mut order, self, count, limit, Threads::One)
            }
        };
        if ordered.is_err() {
            return Err(plan.store.error(std::io::ErrorKind::OutOfMemory.into()));
        }
        Ok(Some(order))
    }

    /// The entries of the set in that order.
    fn entries<'s>(
        &'s self,
        order: Option<&'s [u64]>,
        min_count: u64,
    ) -> impl Iterator<Item = SpillEntry<'s>> {
        let sorted = in_turn(order.unwrap_or_default(), self).map(|at| at as usize);
        let first = 0..if order.is_none() { self.kept.len() } else { 0 };
        let entries = first.chain(sorted).map(|at| {
            let entry = self.entry(at);
            match &self.kept_records {
                Some(kept_records) => {
                    SpillEntry { line: kept_records.line(self.kept[at].place.into()), ..entry }
                }
                None => entry,
            }
        });
        entries.filter(move |entry| entry.count >= min_count)
    }
}

/// By their place in [`Set::kept`].
impl Urls for Set<'_> {
    fn text(&self, at: u64) -> &[u8] {
        self.shard.text(self.kept[at as usize].place)
    }

    fn fetch(&self, at: u64) {
        self.shard.fetch(self.kept[at as usize].place);
    }

    fn fetch_from(&self, at: u64, depth: usize) {
        self.shard.fetch_from(self.kept[at as usize].place, depth);
    }
}

mod grouped;

use grouped::beyond_memory;

#[cfg(test)]
mod tests;
