//! The end of a run that spilled: dedups the partitions, and writes the result in its order.

use std::io::Write;

use rayon::prelude::*;

use super::{Parts, Spiller};
use crate::error::RunError;
use crate::job::{Dedup, SetOrder};
use crate::output::{TallyLayout, vectored};
use crate::reader::RecordOrigins;
use crate::set::ordered::{self, LINES, TASKS};
use crate::set::written_keys::{KeyBatches, add_to, push_batch};
use crate::split::{self, Split};
use uniqurl::internal::{AllocError, HashKey, alloc};
use uniqurl_store::keep_policy::KeepPolicy;
use uniqurl_store::seen::KeySink;
use uniqurl_store::spill::{
    self, PartitionPlan, PartitionResult, RANK, RangeEntries, RangePlan, Ranking, SpillEntry,
    Stream, each_range,
};

/// How a run that spilled ends: it settles the partitions and writes their lines.
pub(crate) struct Ending<'a> {
    pub(crate) hasher: &'a HashKey,
    pub(crate) lines: SpilledLines<'a>,
    /// Counts each unique URL.
    pub(crate) origins: &'a RecordOrigins,
    /// Records below this ordinal are counted already.
    pub(crate) moved: u64,
    pub(crate) out: &'a mut (dyn Write + Send),
    /// Takes the keys of the lines, in the order of the lines.
    pub(crate) keys: Option<&'a mut dyn KeySink>,
}

/// How the lines of spilled keys are written.
#[derive(Clone, Copy)]
pub(crate) struct SpilledLines<'a> {
    pub(crate) dedup: &'a Dedup,
    pub(crate) split: Option<Split>,
    pub(crate) policy: KeepPolicy,
    /// Whether lines are written instead of keys.
    pub(crate) columns: bool,
    /// How they are written, if they are tallies.
    pub(crate) tally: Option<TallyLayout>,
    /// Lines that are written already, which count for a limit.
    pub(crate) written: u64,
}

impl SpilledLines<'_> {
    /// Appends the line of an entry.
    fn append(&self, entry: SpillEntry<'_>, text: &mut Vec<u8>) -> Result<(), AllocError> {
        /// Most bytes around a key: a count, a tab, a line feed.
        const COUNT: usize = 22;
        alloc::try_reserve(text, split::MARK + COUNT + entry.key.len() + entry.line.len())?;
        split::mark(self.split, entry.key, text);
        let line = self.columns.then_some(entry.line);
        ordered::append(entry.key, entry.count, line, self.dedup, self.tally, text)
    }

    /// How many lines may still be written.
    fn left(&self) -> Option<u64> {
        // No more lines are written before than the limit allows, so this is not below 0.
        self.dedup.limit.map(|limit| limit - self.written)
    }
}

impl Spiller {
    /// Dedups the partitions, and writes the result.
    pub(crate) fn finish(self, ending: Ending<'_>) -> Result<(), RunError> {
        let Self { store, parts, threads_at_once, memory, block, .. } = self;
        match parts {
            Parts::Ranges(writers) => {
                let memory = memory * threads_at_once.unwrap_or_else(rayon::current_num_threads);
                let plan = RangePlan { store: &store, keep: ending.lines.policy, block };
                sort(writers.finish()?, &plan, memory, ending)
            }
            Parts::Hash(partitions, marks) => {
                let plan = PartitionPlan { store: &store, memory, block, marks: &marks };
                merge(partitions.finish()?, &plan, threads_at_once, ending)
            }
        }
    }
}

/// Sorts ranges one after the other. Unless their order is that of the output, the results are sorted once more by
/// their rank.
fn sort(
    ranges: Vec<Stream>,
    plan: &RangePlan<'_>,
    memory: usize,
    ending: Ending<'_>,
) -> Result<(), RunError> {
    let Ending { lines, origins, moved, out, keys, .. } = ending;
    let Dedup { order, min_count, limit, .. } = *lines.dedup;
    let ranking = match order {
        SetOrder::Sorted => None,
        SetOrder::First => Some(Ranking::first(plan, origins.records(), min_count)),
        SetOrder::Count => Some(Ranking::count(plan, limit, min_count)),
    };
    let left = lines.left().unwrap_or(u64::MAX);
    let mut writer = RangeWriter { lines, rank: 0, origins, moved, left, out, keys };
    let Some(mut ranking) = ranking else {
        return each_range(ranges, plan, memory, |ranges| writer.write(ranges));
    };
    let counter = || {
        let mut counter = origins.counter(moved);
        move |ordinal| counter.count(ordinal)
    };
    each_range(ranges, plan, memory, |ranges| ranking.add(ranges, counter))?;
    // Each result has a rank of its own, and is counted.
    (writer.rank, writer.moved) = (RANK, u64::MAX);
    // The record of each key is chosen by now, and comes alone.
    writer.lines.policy = KeepPolicy::First;
    let plan = RangePlan { keep: KeepPolicy::First, ..*plan };
    each_range(ranking.finish()?, &plan, memory, |ranges| writer.write(ranges))
}

/// Finds the new entries of each partition, at most `at_once` at the same time, and merges them in the order of the
/// records.
fn merge(
    mut partitions: Vec<Stream>,
    plan: &PartitionPlan<'_>,
    at_once: Option<usize>,
    ending: Ending<'_>,
) -> Result<(), RunError> {
    let Ending { hasher, lines, origins, moved, out, mut keys } = ending;
    let mut runs = Vec::new();
    let mut hasher = hasher.clone();
    while !partitions.is_empty() {
        // All entries of a partition agree in the bits of the hash that chose it, so
        // another hash has to divide it.
        hasher = hasher.another();
        let dedup = |partition| {
            let mut counter = origins.counter(moved);
            spill::mark_new(partition, plan, &hasher, |ordinal| counter.count(ordinal))
        };
        // A task takes so many partitions one after the other. So no more of them are
        // in memory than threads fit.
        let in_turn = at_once.map_or(1, |threads| partitions.len().div_ceil(threads));
        let done = partitions.into_par_iter().with_min_len(in_turn).map(dedup);
        let done: Vec<PartitionResult> = done.collect::<Result<_, _>>()?;
        partitions = Vec::new();
        for done in done {
            runs.push(done.run);
            partitions.extend(done.rest);
        }
    }
    let batches = keys.is_some().then(KeyBatches::new);
    let append = |entry: SpillEntry<'_>, text: &mut Vec<u8>| {
        lines.append(entry, text)?;
        batches.as_ref().map_or(Ok(()), |batches| batches.add(entry.key))
    };
    // All threads merge together, so theirs is the memory of all.
    let tasks = at_once.unwrap_or_else(rayon::current_num_threads);
    let plan = PartitionPlan { memory: plan.memory.saturating_mul(tasks), ..*plan };
    spill::merge_windows(runs, &plan, lines.left(), append, |texts| {
        let texts = texts.iter().map(Vec::as_slice);
        vectored::write_all(texts, |parts| out.write_vectored(parts)).map_err(RunError::Output)?;
        match (&batches, &mut keys) {
            (Some(batches), Some(keys)) => Ok::<_, RunError>(batches.push_to(*keys)?),
            _ => Ok(()),
        }
    })
}

/// Writes the lines of sorted ranges.
struct RangeWriter<'a> {
    lines: SpilledLines<'a>,
    /// Bytes of a rank before each key.
    rank: usize,
    /// Counts each unique URL.
    origins: &'a RecordOrigins,
    /// Records below this ordinal are counted already.
    moved: u64,
    /// Lines that may still be written.
    left: u64,
    out: &'a mut (dyn Write + Send),
    keys: Option<&'a mut dyn KeySink>,
}

/// The lines of a part, their number, and their keys if those are wanted.
#[derive(Default)]
struct PartLines {
    text: Vec<u8>,
    lines: u64,
    keys: Vec<u8>,
}

impl RangeWriter<'_> {
    /// Writes ranges. While one thread writes, all others format the next lines.
    fn write(&mut self, ranges: &[RangeEntries]) -> Result<(), RunError> {
        let Self { lines, rank, origins, moved, left, out, keys } = self;
        let (rank, wants_keys) = (*rank, keys.is_some());
        let text = |range: &RangeEntries, part: &[u64], most: u64, moved: u64| {
            let mut counter = origins.counter(moved);
            let mut part_lines = PartLines::default();
            let PartLines { text, lines: number, keys } = &mut part_lines;
            range.for_each(part, lines.policy, |entry| {
                counter.count(entry.ordinal);
                if *number == most || entry.count < lines.dedup.min_count {
                    return Ok(());
                }
                *number += 1;
                let entry = SpillEntry { key: &entry.key[rank..], ..entry };
                if wants_keys {
                    add_to(keys, entry.key)?;
                }
                lines.append(entry, text)
            })?;
            Ok::<_, AllocError>(part_lines)
        };
        let mut put = |texts: &[Vec<u8>]| {
            vectored::write_all(texts.iter().map(Vec::as_slice), |parts| out.write_vectored(parts))
        };
        let parts = ranges
            .iter()
            .flat_map(|range| range.parts(LINES).into_iter().map(move |part| (range, part)));
        let parts: Vec<(&RangeEntries, &[u64])> = parts.collect();
        let mut texts: Vec<Vec<u8>> = Vec::new();
        for group in parts.chunks(TASKS) {
            // How many lines the parts before it write is not known yet, so each part
            // makes as many as are left.
            let most = *left;
            let (written, next) = rayon::join(
                || put(&texts),
                || {
                    let texts =
                        group.par_iter().map(|(range, part)| text(range, part, most, *moved));
                    texts.collect::<Result<Vec<_>, _>>()
                },
            );
            written.map_err(RunError::Output)?;
            texts.clear();
            for ((range, part), mut next) in group.iter().zip(next?) {
                if next.lines > *left {
                    // All URLs of the part are counted, and fewer are written.
                    next = text(range, part, *left, u64::MAX)?;
                }
                *left -= next.lines;
                texts.push(next.text);
                if let Some(keys) = keys {
                    push_batch(&next.keys, *keys)?;
                }
            }
        }
        put(&texts).map_err(RunError::Output)
    }
}
