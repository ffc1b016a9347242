//! Spilled keys by range: the end of a run that sorts.
//!
//! Keys go to ranges that follow each other in order. At the end the keys of the set join them, and then
//! ranges are sorted and written one after the other: no runs, and no merge. While some are written, all
//! threads load the next ones.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;

use rayon::prelude::*;

use super::{Ending, Group, SpilledLines, Spiller};
use crate::limit_by::KeyGroup;
use crate::output::vectored;
use crate::plan::JobPlan;
use crate::reader::RecordOrigins;
use crate::error::RunError;
use crate::set::memory_set::MemorySet;
use crate::set::ordered::{LINES, TASKS};
use crate::set::written_keys::{add_to, push_batch};
use uniqurl::internal::{AllocError, Hash, HashKey};
use uniqurl_store::group_counts::{GroupLimit, GroupOf as _};
use uniqurl_store::seen::KeySink;
use uniqurl_store::sort::Threads;
use uniqurl_store::spill::{
    KeyRanges, LoadedRange, PARTITIONS, RangeEntries, RangePlan, RecordStatus, SpillEntry,
    SpillError, Stream, load_range, range_memory,
};

/// How keys are divided among partitions.
#[derive(Debug, Clone)]
pub(crate) enum Partitioner {
    /// By their hash.
    Hash,
    /// By ranges of keys.
    Ranges(Arc<KeyRanges>),
    /// By the hash of their group. So many keys of each group are kept.
    Groups(KeyGroup, u64),
}

impl Partitioner {
    /// By hash: that of the key, or of its group if groups are limited.
    pub(crate) fn of_keys(plan: &JobPlan) -> Self {
        plan.group_limit().map_or(Self::Hash, |(group, most)| Self::Groups(group, most))
    }

    /// The partition of a key. The hash is that of the key, or of its group.
    #[inline]
    pub(crate) fn find(&self, hash: Hash, key: &[u8]) -> usize {
        match self {
            Self::Hash | Self::Groups(..) => hash.partition(PARTITIONS),
            Self::Ranges(ranges) => ranges.find(key),
        }
    }
}

impl Partitioner {
    /// The hash that divides an entry; its group is made in `text`.
    pub(super) fn hash(&self, entry: &SpillEntry<'_>, key: &HashKey, text: &mut Vec<u8>) -> Hash {
        match self {
            Self::Groups(group, _) if !entry.is_of_group() => {
                text.clear();
                group.append(entry.key, text);
                key.hash(text)
            }
            _ => key.hash(entry.key),
        }
    }

    /// How many keys of a group are kept, if not all.
    pub(super) fn limit(&self) -> Option<GroupLimit<'_>> {
        match self {
            Self::Groups(group, most) => Some(GroupLimit { group_of: group, most: *most }),
            Self::Hash | Self::Ranges(_) => None,
        }
    }
}

/// Keys of the set that one task spills at a time.
const SPILLED_AT_ONCE: usize = 1 << 12;

/// Ranges that are loaded at once, for each thread.
const LOADED_AT_ONCE: usize = 2;

/// A range that waits, and the estimated memory that it takes.
type WaitingRange = (Stream, usize);

impl Spiller {
    /// Whether keys are spilled by range.
    pub(in crate::set) fn has_ranges(&self) -> bool {
        matches!(self.partitioner, Partitioner::Ranges(_))
    }

    /// Spills the keys of the set to their ranges. None of them is equal to a spilled key.
    pub(in crate::set) fn spill_set(&mut self, set: &MemorySet) -> Result<(), RunError> {
        let Self { store, groups, partitioner, .. } = self;
        let Partitioner::Ranges(ranges) = partitioner else { return Ok(()) };
        let threads = rayon::current_num_threads();
        let Some(listed) = &set.listed else { return Ok(()) };
        let all = set.listed();
        for start in (0..all).step_by(SPILLED_AT_ONCE * threads) {
            let end = all.min(start + SPILLED_AT_ONCE * threads);
            let tasks = (start..end).into_par_iter().step_by(SPILLED_AT_ONCE).with_max_len(1);
            let texts = tasks.map(|start| {
                let mut texts = vec![Vec::new(); PARTITIONS];
                for number in start..end.min(start + SPILLED_AT_ONCE) {
                    let entry = set.entry(listed, number);
                    entry.append(&mut texts[ranges.find(entry.key)])?;
                }
                Ok(texts)
            });
            let texts: Result<Vec<Vec<Vec<u8>>>, AllocError> = texts.collect();
            let texts = texts.map_err(|error| store.error(error.into()))?;
            groups.par_iter_mut().with_max_len(1).try_for_each(|group| {
                let Group { first, writers, compressor } = group;
                for texts in &texts {
                    for (writer, text) in writers.iter_mut().zip(&texts[*first..]) {
                        writer.write(text, compressor)?;
                    }
                }
                Ok::<_, SpillError>(())
            })?;
        }
        Ok(())
    }

    /// Sorts the ranges one after the other, and writes the result.
    pub(in crate::set) fn finish_ranges(self, ending: Ending<'_>) -> Result<(), RunError> {
        let Self { store, groups, threads_at_once, memory, block, .. } = self;
        let Ending { lines, origins, moved, out, mut keys, .. } = ending;
        let plan = RangePlan { store: &store, keep: lines.policy, block };
        let mut waiting = VecDeque::new();
        for Group { writers, mut compressor, .. } in groups {
            for writer in writers {
                waiting.push_back(estimated(writer.finish(&mut compressor)?, &plan)?);
            }
        }
        let threads = rayon::current_num_threads();
        // Ranges that are written are in memory together with the next ones.
        let memory = memory * threads_at_once.unwrap_or(threads) / 2;
        let left = lines.left().unwrap_or(u64::MAX);
        let wants_keys = keys.is_some();
        let mut writer = RangeWriter { lines, origins, moved, left, wants_keys };
        let mut loaded: Vec<RangeEntries> = Vec::new();
        while !waiting.is_empty() || !loaded.is_empty() {
            let group = next_group(&mut waiting, memory, LOADED_AT_ONCE * threads);
            let (written, next) = rayon::join(
                || writer.write(&loaded, out, &mut keys),
                || load(&group, &plan, memory),
            );
            written?;
            loaded = Vec::new();
            let mut again = Vec::new();
            for ((range, needed), next) in group.into_iter().zip(next?) {
                match next {
                    LoadedRange::Sorted(entries) if again.is_empty() => loaded.push(entries),
                    // A range before it is not loaded yet.
                    LoadedRange::Sorted(_) => again.push((range, needed)),
                    LoadedRange::Larger => again.push((range, 2 * needed)),
                    LoadedRange::Divided(smaller) => {
                        for range in smaller {
                            again.push(estimated(range, &plan)?);
                        }
                    }
                }
            }
            again.into_iter().rev().for_each(|range| waiting.push_front(range));
        }
        Ok(())
    }
}

fn estimated(range: Stream, plan: &RangePlan<'_>) -> Result<WaitingRange, SpillError> {
    let memory = range_memory(&range, plan)?;
    Ok((range, memory))
}

/// Takes the next ranges that fit into memory together, at least one.
fn next_group(
    waiting: &mut VecDeque<WaitingRange>,
    memory: usize,
    most: usize,
) -> Vec<WaitingRange> {
    let (mut group, mut needed) = (Vec::new(), 0);
    while waiting
        .front()
        .is_some_and(|(_, more)| group.is_empty() || group.len() < most && needed + *more <= memory)
        && let Some(next) = waiting.pop_front()
    {
        needed += next.1;
        group.push(next);
    }
    group
}

/// Loads ranges within `memory` all together.
fn load(
    group: &[WaitingRange],
    plan: &RangePlan<'_>,
    memory: usize,
) -> Result<Vec<LoadedRange>, RunError> {
    if let [(range, _)] = group {
        return Ok(vec![load_range(range, plan, memory, Threads::All)?]);
    }
    let all: usize = group.iter().map(|(_, needed)| needed).sum();
    let spare = memory.saturating_sub(all) / group.len().max(1);
    let ranges = group
        .par_iter()
        .with_max_len(1)
        .map(|(range, needed)| Ok(load_range(range, plan, needed + spare, Threads::One)?));
    ranges.collect()
}

/// Writes the lines of sorted ranges.
struct RangeWriter<'a> {
    lines: SpilledLines<'a>,
    /// Counts each unique URL.
    origins: &'a RecordOrigins,
    /// Records below this ordinal are counted already.
    moved: u64,
    /// Lines that may still be written.
    left: u64,
    wants_keys: bool,
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
    fn write(
        &mut self,
        ranges: &[RangeEntries],
        out: &mut (dyn Write + Send),
        keys: &mut Option<&mut dyn KeySink>,
    ) -> Result<(), RunError> {
        let mut put = |texts: &[Vec<u8>]| {
            vectored::write_all(texts.iter().map(Vec::as_slice), |parts| out.write_vectored(parts))
        };
        let parts = ranges
            .iter()
            .flat_map(|range| range.parts(LINES).into_iter().map(move |part| (range, part)));
        let parts: Vec<(&RangeEntries, &[u64])> = parts.collect();
        let mut texts: Vec<Vec<u8>> = Vec::new();
        for group in parts.chunks(TASKS) {
            let (written, next) = rayon::join(
                || put(&texts),
                || {
                    let texts = group.par_iter().map(|(range, part)| {
                        let mut counter = self.origins.counter(self.moved);
                        let count = |ordinal| counter.count(ordinal, RecordStatus::New);
                        self.text(range, part, self.left, count)
                    });
                    texts.collect::<Result<Vec<_>, AllocError>>()
                },
            );
            written.map_err(RunError::Output)?;
            texts.clear();
            for ((range, part), mut next) in group.iter().zip(next?) {
                if next.lines > self.left {
                    // All URLs of the part are counted, and fewer are written.
                    next = self.text(range, part, self.left, |_| {})?;
                }
                self.left -= next.lines;
                texts.push(next.text);
                if let Some(keys) = keys {
                    push_batch(&next.keys, *keys)?;
                }
            }
        }
        put(&texts).map_err(RunError::Output)
    }

    /// The lines of a part, at most so many. All its keys are counted.
    fn text(
        &self,
        range: &RangeEntries,
        part: &[u64],
        most: u64,
        mut count: impl FnMut(u64),
    ) -> Result<PartLines, AllocError> {
        let SpilledLines { dedup, policy, .. } = self.lines;
        let mut part_lines = PartLines::default();
        let PartLines { text, lines, keys } = &mut part_lines;
        range.for_each(part, policy, |entry| {
            count(entry.ordinal);
            if *lines == most || (dedup.min_count > 1 && entry.count < dedup.min_count) {
                return Ok(());
            }
            *lines += 1;
            if self.wants_keys {
                add_to(keys, entry.key)?;
            }
            self.lines.append(entry, text)
        })?;
        Ok(part_lines)
    }
}
