//! Spills the keys that a full set does not hold to a temporary file, by partition, and dedups each
//! partition at the end.

mod ending;
mod ranges;

pub(super) use ending::{Ending, SpilledLines};
pub(crate) use ranges::Partitioner;

use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::batch::{Insertion, WorkBatch};
use crate::job::SetOrder;
use crate::memory::{self, Memory, SpillNotice};
use crate::error::RunError;
use crate::trace::{Trace, TraceStage};
use uniqurl::internal::HashKey;
use uniqurl_store::spill::{
    self, BlockCompressor, EntryWriter, MarksBudget, PARTITIONS, PartitionPlan, SpillEntry,
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
    marks: MarksBudget,
    partitioner: Partitioner,
}

/// Least bytes of memory for a thread that dedups partitions beside others.
const LEAST_TO_DEDUP: usize = 1 << 20;

/// The part of the memory that is left to marks of new entries, a bit each.
const MARKS_SHARE: usize = 8;

/// The part of the memory that can be lent.
const LENT_SHARE: usize = 8;

/// The memory of a set for each byte of the entries in it, about.
const SET_SIZE: u64 = 4;

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
    fn create(
        directory: &Path,
        budget: usize,
        threads: usize,
        partitioner: Partitioner,
    ) -> Result<Self, SpillError> {
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
        let marks = budget / MARKS_SHARE;
        let share = (budget - marks) / threads_at_once;
        let memory = share.saturating_sub((PARTITIONS + 4) * block);
        let threads_at_once =
            Some(threads_at_once).filter(|threads_at_once| *threads_at_once < threads);
        let marks = MarksBudget::new(marks);
        Ok(Self { store, groups, threads_at_once, memory, block, marks, partitioner })
    }

    /// Partitions within `memory`. Its owner is notified, with an estimate of the bytes to be written if
    /// `rest`, the bytes of URLs to come, is known; `rewrites` says whether the result is written there too.
    pub(crate) fn begin(
        memory: &Memory,
        threads: usize,
        rest: Option<u64>,
        rewrites: bool,
        partitioner: Partitioner,
    ) -> Result<Self, SpillError> {
        let size = memory.size();
        let spiller = Self::create(&memory.directory, size, threads, partitioner)?;
        let free = memory::free_space(&memory.directory);
        // URLs are written once into a partition, once into smaller ones if that is more than a thread may
        // hold, which it does at twice their size, and perhaps once into a run.
        let needed = rest.map(|rest| {
            let is_divided = rest / PARTITIONS as u64 > spiller.memory as u64 / 2;
            let needed = rest * (1 + u64::from(is_divided) + u64::from(rewrites));
            if free.is_some_and(|free| needed < free) {
                return needed;
            }
            // Where the disk is nearly full, all blocks are packed. That halves URLs.
            spiller.store.pack_all();
            needed / 2
        });
        (memory.tell)(&SpillNotice { directory: &memory.directory, needed, free });
        Ok(spiller)
    }

    /// Stage *write*: a task for each group of partitions writes the entries of these batches.
    pub(crate) fn spawn_writes<'s>(
        &'s mut self,
        scope: &rayon::Scope<'s>,
        batches: &'s [WorkBatch],
        result: &'s Mutex<Result<(), SpillError>>,
        trace: Option<&'s Trace>,
    ) {
        for group in &mut self.groups {
            scope.spawn(move |_| {
                let timer = Trace::begin(trace);
                if let Err(error) = group.write(batches) {
                    *result.lock().unwrap_or_else(|e| e.into_inner()) = Err(error);
                }
                timer.end(TraceStage::Spill, group.first, || 0);
            });
        }
    }

    /// How keys are divided among partitions.
    pub(crate) fn partitioner(&self) -> &Partitioner {
        &self.partitioner
    }

    /// Spills entries that are in no batch; `key` makes their hashes.
    fn spill<'e>(
        &mut self,
        entries: impl IntoIterator<Item = SpillEntry<'e>>,
        key: &HashKey,
    ) -> Result<(), SpillError> {
        let share = PARTITIONS / self.groups.len();
        let (mut text, mut group) = (Vec::new(), Vec::new());
        for entry in entries {
            text.clear();
            entry.append(&mut text).map_err(|error| self.store.error(error.into()))?;
            let partition =
                self.partitioner.find(self.partitioner.hash(&entry, key, &mut group), entry.key);
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

    /// The temporary file.
    pub(crate) fn store(&self) -> Arc<Store> {
        Arc::clone(&self.store)
    }

    /// Bytes of the temporary file, and how they were packed.
    pub(crate) fn spilled(&self) -> Spilled {
        self.store.spilled()
    }

    /// Lends a part of the memory to another job that goes on while partitions are deduplicated.
    pub(in crate::set) fn lend_memory(&mut self) -> usize {
        let share = self.memory / LENT_SHARE;
        self.memory -= share;
        share * self.threads_at_once.unwrap_or_else(rayon::current_num_threads)
    }

    /// Writes entries, which are in order, as a run for the merge with what was spilled.
    pub(crate) fn write_run<'e>(
        &mut self,
        entries: impl IntoIterator<Item = SpillEntry<'e>>,
    ) -> Result<Stream, SpillError> {
        spill::written(entries, self.block, &mut self.groups[0].compressor)
    }

    /// Dedups the partitions, and writes the result.
    pub(crate) fn finish(self, ending: Ending<'_>) -> Result<(), RunError> {
        let Self { store, groups, mut threads_at_once, mut memory, block, marks, partitioner } =
            self;
        let mut partitions = Vec::new();
        for Group { writers, mut compressor, .. } in groups {
            for writer in writers {
                partitions.push(writer.finish(&mut compressor)?);
            }
        }
        let lines = ending.lines;
        let limit = partitioner.limit();
        if limit.is_some() {
            // No partition is divided, so there are no buffers of smaller ones, but what a partition keeps has to fit.
            // The larger partitions are, the fewer are in memory at the same time.
            let largest = partitions.iter().map(Stream::bytes).max().unwrap_or(0);
            let threads = threads_at_once.unwrap_or_else(rayon::current_num_threads);
            let all = (memory + PARTITIONS * block).saturating_mul(threads);
            let fitting = all as u64 / (largest * SET_SIZE).max(1);
            let at_once = fitting.clamp(1, threads as u64) as usize;
            (threads_at_once, memory) = (Some(at_once), all / at_once);
        }
        let plan = PartitionPlan {
            store: &store,
            order: match lines.dedup.order {
                SetOrder::First => spill::MergeOrder::First,
                SetOrder::Sorted => spill::MergeOrder::Sorted,
                SetOrder::Count => spill::MergeOrder::Count { limit: lines.dedup.limit },
            },
            counting: lines.counting,
            keep: lines.policy,
            min_count: lines.dedup.min_count,
            memory,
            block,
            marks: &marks,
            limit,
        };
        ending.run(partitions, &plan, threads_at_once)
    }
}

#[cfg(test)]
mod tests;
