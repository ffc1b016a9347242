//! Spills the keys that a full set does not hold to a temporary file, by partition, and dedups each
//! partition at the end.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use super::ordered;
use crate::batch::{Insertion, WorkBatch};
use crate::job::{Dedup, SetOrder};
use crate::memory::{self, Memory, SpillNotice};
use crate::report::RunError;
use crate::split::{self, Split};
use uniqurl::set::{Counting, HashKey};
use uniqurl_store::keep_policy::KeepPolicy;
use uniqurl_store::spill::{
    self, BlockCompressor, EntryWriter, PARTITIONS, PartitionPlan, RecordStatus, SpillEntry,
    SpillError, Spilled, Store, Stream,
};

/// The partitions of a run.
pub(crate) struct Spiller {
    store: Arc<Store>,
    /// Each is written by one task at a time.
    groups: Vec<Group>,
    /// Threads that dedup partitions at the same time, if there is not enough memory for all.
    threads_at_once: Option<usize>,
    /// Memory for each of them.
    memory: usize,
    block: usize,
}

/// Least bytes of memory for a thread that dedups partitions beside others.
const LEAST_TO_DEDUP: usize = 1 << 20;

/// Neighbouring partitions.
struct Group {
    first: usize,
    writers: Vec<EntryWriter>,
    compressor: BlockCompressor,
}

impl Group {
    /// Writes the entries of these batches.
    fn write(&mut self, batches: &[WorkBatch]) -> Result<(), SpillError> {
        // A batch from before the set was full has no partitions.
        let spilled = batches.iter().filter(|batch| batch.insertion == Insertion::LookedUp);
        for batch in spilled {
            let partitions = &batch.out.spilled[self.first..];
            for (writer, entries) in self.writers.iter_mut().zip(partitions) {
                writer.write(entries, &mut self.compressor)?;
            }
        }
        Ok(())
    }
}

/// Bytes of a block, if each thread has a buffer for every partition.
fn block(budget: usize, threads: usize) -> usize {
    spill::block_size(budget / threads)
}

/// Bytes of memory for the buffers of the partitions.
pub(crate) fn buffers(budget: usize, threads: usize) -> usize {
    PARTITIONS * block(budget, threads)
}

impl Spiller {
    fn create(directory: &Path, budget: usize, threads: usize) -> Result<Self, SpillError> {
        let store = Arc::new(Store::create(directory)?);
        let block = block(budget, threads);
        let share = PARTITIONS / threads.next_power_of_two().min(PARTITIONS);
        let groups = (0..PARTITIONS).step_by(share).map(|first| {
            let writers = (0..share).map(|_| EntryWriter::new(block)).collect();
            Group { first, writers, compressor: BlockCompressor::new(&store) }
        });
        let groups = groups.collect();
        // With less, nearly all of it would be buffers, and a pass would hardly dedup any URL.
        let threads_at_once = (budget / LEAST_TO_DEDUP).clamp(1, threads);
        // Each thread may have to divide a partition that is still too large once more.
        let memory = (budget / threads_at_once).saturating_sub((PARTITIONS + 4) * block);
        let threads_at_once =
            Some(threads_at_once).filter(|threads_at_once| *threads_at_once < threads);
        Ok(Self { store, groups, threads_at_once, memory, block })
    }

    /// Partitions within `memory`. Its owner is notified, with an estimate of the bytes to be written if
    /// `rest`, the bytes of URLs to come, is known.
    pub(crate) fn begin(
        memory: &Memory,
        threads: usize,
        rest: Option<u64>,
    ) -> Result<Self, SpillError> {
        let spiller = Self::create(&memory.directory, memory.size(), threads)?;
        // Packed URLs take about half their bytes, and are written once into a partition, once into its run,
        // and once into smaller partitions in between if one is more than a thread may hold. A thread holds
        // them at twice their size.
        let needed = rest.map(|rest| {
            let is_divided = rest / PARTITIONS as u64 > spiller.memory as u64 / 2;
            rest / 2 * if is_divided { 3 } else { 2 }
        });
        let free = memory::free_space(&memory.directory);
        (memory.tell)(&SpillNotice { directory: &memory.directory, needed, free });
        Ok(spiller)
    }

    /// Stage *write*: a task for each group of partitions writes the entries of these batches.
    pub(crate) fn spawn_writes<'s>(
        &'s mut self,
        scope: &rayon::Scope<'s>,
        batches: &'s [WorkBatch],
        result: &'s Mutex<Result<(), SpillError>>,
    ) {
        for group in &mut self.groups {
            scope.spawn(move |_| {
                if let Err(error) = group.write(batches) {
                    *result.lock().unwrap_or_else(|e| e.into_inner()) = Err(error);
                }
            });
        }
    }

    /// Spills entries that are in no batch, by their hash under `key`.
    fn spill<'e>(
        &mut self,
        entries: impl IntoIterator<Item = SpillEntry<'e>>,
        key: &HashKey,
    ) -> Result<(), SpillError> {
        let share = PARTITIONS / self.groups.len();
        let mut text = Vec::new();
        for entry in entries {
            text.clear();
            entry.append(&mut text).map_err(|error| self.store.error(error.into()))?;
            let partition = key.hash(entry.key).partition(PARTITIONS);
            let Group { writers, compressor, .. } = &mut self.groups[partition / share];
            writers[partition % share].write(&text, compressor)?;
        }
        Ok(())
    }

    /// Spills entries before those that were spilled so far, since they are of earlier records.
    pub(crate) fn spill_ahead<'e>(
        &mut self,
        entries: impl IntoIterator<Item = SpillEntry<'e>>,
        key: &HashKey,
    ) -> Result<(), SpillError> {
        let mut later = Vec::new();
        for Group { writers, compressor, .. } in &mut self.groups {
            for writer in writers {
                later.push(writer.turn(compressor)?);
            }
        }
        self.spill(entries, key)?;
        let mut later = later.into_iter();
        for Group { writers, compressor, .. } in &mut self.groups {
            for (writer, later) in writers.iter_mut().zip(&mut later) {
                writer.append(later, compressor)?;
            }
        }
        Ok(())
    }

    /// What was written.
    pub(crate) fn spilled(&self) -> Spilled {
        self.store.spilled()
    }

    /// Writes entries, which are in order, as a run for the merge with what was spilled.
    pub(crate) fn write_run<'e>(
        &mut self,
        entries: impl IntoIterator<Item = SpillEntry<'e>>,
    ) -> Result<Stream, SpillError> {
        spill::written(entries, self.block, &mut self.groups[0].compressor)
    }

    /// Dedups the partitions, merges them with `runs`, and writes the result as `lines` says. `count` gets
    /// the ordinal of each unique URL, and of each record whose URL was seen before the run. `saved` takes
    /// all keys, those seen before included.
    pub(crate) fn finish(
        &mut self,
        mut runs: Vec<Stream>,
        hasher: &HashKey,
        lines: &SpilledLines<'_>,
        count: impl Fn(u64, RecordStatus) + Sync,
        out: &mut (dyn Write + Send),
        mut saved: Option<SavedSet<'_>>,
    ) -> Result<(), RunError> {
        let mut partitions = Vec::new();
        for Group { writers, mut compressor, .. } in std::mem::take(&mut self.groups) {
            for writer in writers {
                partitions.push(writer.finish(&mut compressor)?);
            }
        }
        let SpilledLines { dedup, split, counting, policy, columns, written } = *lines;
        let plan = PartitionPlan {
            store: &self.store,
            order: match dedup.order {
                SetOrder::First | SetOrder::None => spill::MergeOrder::First,
                SetOrder::Sorted => spill::MergeOrder::Sorted,
            },
            counting,
            keep: policy,
            min_count: dedup.min_count,
            saving: saved.is_some(),
            memory: self.memory,
            block: self.block,
        };
        let mut hasher = hasher.clone();
        while !partitions.is_empty() {
            hasher = hasher.another();
            let dedup = |partition| spill::dedup_partition(partition, &plan, &hasher, &count);
            let in_turn =
                self.threads_at_once.map_or(1, |threads| partitions.len().div_ceil(threads));
            let done = partitions.into_par_iter().with_min_len(in_turn).map(dedup);
            let done: Vec<_> = done.collect::<Result<_, _>>()?;
            partitions = Vec::new();
            for done in done {
                runs.push(done.run);
                if let Some(saved) = &mut saved {
                    saved.runs.push(done.saved);
                }
                partitions.extend(done.rest);
            }
        }
        let mut left = dedup.limit.map_or(u64::MAX, |limit| limit - written);
        write(runs, &plan, out, |entry, text| {
            if left == 0 {
                return false;
            }
            left -= 1;
            let line = columns.then_some(entry.line);
            split::mark(split, entry.key, text);
            ordered::append(entry.key, entry.count, line, dedup, text);
            true
        })?;
        let Some(SavedSet { runs, out }) = saved else { return Ok(()) };
        write(
            runs,
            &PartitionPlan { order: spill::MergeOrder::Sorted, ..plan },
            out,
            |entry, text| {
                text.extend_from_slice(entry.key);
                text.push(b'\n');
                true
            },
        )
    }
}

/// Writes what `append` makes of the entries of all runs, in order, until it returns `false`.
fn write(
    runs: Vec<Stream>,
    plan: &PartitionPlan<'_>,
    out: &mut (dyn Write + Send),
    mut append: impl FnMut(SpillEntry<'_>, &mut Vec<u8>) -> bool,
) -> Result<(), RunError> {
    let mut text = Vec::new();
    spill::merge(runs, plan, |entry| {
        let goes_on = append(entry, &mut text);
        if text.len() >= plan.block {
            out.write_all(&text).map_err(RunError::Output)?;
            text.clear();
        }
        Ok::<_, RunError>(goes_on)
    })?;
    out.write_all(&text).map_err(RunError::Output)
}

/// A set that is being saved: runs of its sorted keys, and where it goes.
pub(crate) struct SavedSet<'a> {
    pub(crate) runs: Vec<Stream>,
    pub(crate) out: &'a mut (dyn Write + Send),
}

/// How the lines of spilled keys are written.
pub(crate) struct SpilledLines<'a> {
    pub(crate) dedup: &'a Dedup,
    pub(crate) split: Option<Split>,
    pub(crate) counting: Counting,
    pub(crate) policy: KeepPolicy,
    /// Whether lines are written instead of keys.
    pub(crate) columns: bool,
    /// Lines that are written already, which count for a limit.
    pub(crate) written: u64,
}

#[cfg(test)]
mod tests;
