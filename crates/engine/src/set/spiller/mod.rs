//! Spills the keys that a full set does not hold, by partition, and dedups each partition at the end.

mod ending;

pub(super) use ending::{Ending, SpilledLines};

use std::sync::Arc;

use super::memory_set::MemorySet;
use super::partitioner::Partitioner;
use crate::error::RunError;
use crate::memory::{self, Memory, SpillNotice};
use rayon::prelude::*;
use uniqurl::SetFull;
use uniqurl::internal::Shard;
use uniqurl_store::spill::{
    self, MarksBudget, PARTITIONS, PartitionGroup, Partitions, RangeWriters, Spilled, Store,
};

/// The partitions of a run.
pub(crate) struct Spiller {
    store: Arc<Store>,
    parts: Parts,
    /// Threads that dedup partitions at the same time, if there is not enough memory for all.
    threads_at_once: Option<usize>,
    /// Memory for each of them.
    memory: usize,
    block: usize,
}

/// What keys are spilled to.
enum Parts {
    /// Partitions by hash, and the memory for the marks of their new entries.
    Hash(Partitions, MarksBudget),
    /// Ranges of keys.
    Ranges(Arc<RangeWriters>),
}

/// Least bytes of memory for a thread that dedups partitions beside others.
const LEAST_TO_DEDUP: usize = 1 << 20;

/// The part of the memory that is left to marks of new entries, a bit each.
const MARKS_SHARE: usize = 8;

/// The part of the memory that is left to what divides ranges.
const DIVIDING_SHARE: usize = 4;

/// The part of the memory that can be lent.
const LENT_SHARE: usize = 8;

/// Keys of the set that one task spills at a time.
const SPILLED_AT_ONCE: usize = 1 << 12;

/// Partitions by hash: a few for each thread, so that none waits long for the last one, if the memory has room for
/// good blocks of all. Small blocks are hardly packed, and written one by one.
fn partitions(budget: usize, threads: usize) -> usize {
    let number = (4 * threads).next_power_of_two().max(PARTITIONS);
    if budget / number < LEAST_TO_DEDUP { PARTITIONS } else { number }
}

/// Bytes of memory for the buffers of partitions by hash. All threads share one for each partition.
pub(crate) fn buffers(budget: usize, threads: usize) -> usize {
    partitions(budget, threads) * spill::block_size(budget / threads)
}

impl Spiller {
    /// Partitions of the keys of a run, by hash, or by ranges of keys like those of a set if there is one.
    fn new(
        store: Store,
        budget: usize,
        threads: usize,
        set: Option<&[Shard]>,
    ) -> Result<Self, SetFull> {
        let store = Arc::new(store);
        // With less, nearly all of it would be buffers, and a pass would hardly dedup any URL.
        let threads_at_once = (budget / LEAST_TO_DEDUP).clamp(1, threads);
        let (parts, block, memory) = match set {
            None => {
                let block = spill::block_size(budget / threads);
                let number = partitions(budget, threads);
                let partitions = Partitions::new(&store, number, block, threads);
                let marks = budget / MARKS_SHARE;
                // Each thread may have to divide a partition that is still too large once more.
                let buffers = (number + 4) * block;
                let memory = ((budget - marks) / threads_at_once).saturating_sub(buffers);
                (Parts::Hash(partitions, MarksBudget::new(marks)), block, memory)
            }
            Some(set) => {
                let writers = RangeWriters::of_set(set, &store, budget, threads)?;
                let block = writers.block();
                // The rest is for the blocks of smaller ranges.
                let memory = (budget - budget / DIVIDING_SHARE) / threads_at_once;
                (Parts::Ranges(Arc::new(writers)), block, memory)
            }
        };
        let threads_at_once =
            Some(threads_at_once).filter(|threads_at_once| *threads_at_once < threads);
        Ok(Self { store, parts, threads_at_once, memory, block })
    }

    /// Partitions in a file, within `memory`. Its owner is notified, with an estimate of the bytes to be written if
    /// `rest`, the bytes of URLs to come, is known; `rewrites` says whether the result is written there too.
    pub(crate) fn begin(
        memory: &Memory,
        threads: usize,
        rest: Option<u64>,
        rewrites: bool,
        set: Option<&[Shard]>,
    ) -> Result<Self, RunError> {
        let store = Store::create(&memory.directory)?;
        let spiller = Self::new(store, memory.size(), threads, set)?;
        let free = memory::free_space(&memory.directory);
        // URLs are written once into a partition, once into smaller ones if that is more than a thread may
        // hold, which it does at twice their size, and perhaps once into a run.
        let needed = rest.map(|rest| {
            let is_divided =
                rest / partitions(memory.size(), threads) as u64 > spiller.memory as u64 / 2;
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

    /// The partitions that the entries of batches go to, in groups that tasks write to at the same time.
    pub(crate) fn partitions(&mut self) -> &mut [PartitionGroup] {
        match &mut self.parts {
            Parts::Hash(partitions, _) => partitions.groups(),
            Parts::Ranges(_) => &mut [],
        }
    }

    /// How keys are divided among partitions.
    pub(crate) fn partitioner(&self) -> Partitioner {
        match &self.parts {
            Parts::Hash(partitions, _) => Partitioner::Hash(partitions.number()),
            Parts::Ranges(writers) => Partitioner::Ranges(Arc::clone(writers)),
        }
    }

    /// Spills the keys of the set to their ranges. None of them is equal to a key that was spilled before.
    pub(crate) fn spill_set(&mut self, set: &MemorySet) -> Result<(), RunError> {
        let (Parts::Ranges(writers), Some(listed)) = (&self.parts, &set.listed) else {
            return Ok(());
        };
        let numbers: Vec<usize> = (0..set.listed()).step_by(SPILLED_AT_ONCE).collect();
        Ok(numbers.into_par_iter().try_for_each(|start| {
            let end = set.listed().min(start + SPILLED_AT_ONCE);
            writers.add((start..end).map(|number| set.entry(listed, number)))
        })?)
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
    pub(crate) fn lend_memory(&mut self) -> usize {
        let share = self.memory / LENT_SHARE;
        self.memory -= share;
        share * self.threads_at_once.unwrap_or_else(rayon::current_num_threads)
    }
}

#[cfg(test)]
mod tests;
