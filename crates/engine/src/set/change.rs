//! How a set changes during a run: it begins to spill, is moved out of memory, is scattered, or is gathered
//! from buckets.

use std::sync::Arc;

use super::memory_set::MemorySet;
use super::scatterer::{FirstCounts, Scatterer};
use super::spiller::{Partitioner, Spiller};
use super::{RunSet, SetBackend};
use crate::batch::{Insertion, WorkBatch};
use crate::job::SetOrder;
use crate::error::RunError;
use crate::stages::insert::ShardProgress;
use crate::stages::limit::take_back;
use uniqurl::SetFull;
use uniqurl::internal::Bytes as _;
use uniqurl_store::spill::{KeyRanges, PARTITIONS};

impl RunSet<'_> {
    /// Makes the set take no more keys, and starts to spill.
    pub(crate) fn begin_to_spill(&mut self) -> Result<(), RunError> {
        let Some(memory) = &self.plan.limits.memory else {
            return Err(RunError::Set(SetFull::default()));
        };
        let SetBackend::Memory(set) = &self.backend else { return Ok(()) };
        let done = self.inserted;
        // Assumes that each remaining byte takes as much memory as one so far, at most one byte.
        let held: usize = set.shards.iter().map(|shard| shard.memory(0)).sum();
        let rest = self.size_of_inputs.map(|total| {
            let rate = if done > 0 && held > 0 { held as f64 / done as f64 } else { 1.0 };
            (total.saturating_sub(done) as f64 * rate.min(1.0)) as u64
        });
        let is_sorted = self.plan.dedup().is_some_and(|dedup| dedup.order == SetOrder::Sorted);
        let has_ranges = is_sorted && self.plan.policy.limit_by.is_none();
        let partitioner = match has_ranges {
            true => Partitioner::Ranges(Arc::new(KeyRanges::of_set(&set.shards, PARTITIONS)?)),
            false => Partitioner::of_keys(self.plan),
        };
        // Ranges are written twice if the input is sorted.
        let rewrites = self.plan.writes_at_end() || self.wants_keys;
        let threads = self.plan.limits.workers();
        let spiller = Spiller::begin(memory, threads, rest, rewrites, partitioner)?;
        if let SetBackend::Memory(set) = std::mem::replace(&mut self.backend, SetBackend::None) {
            self.backend = SetBackend::Spilling(set, spiller);
        }
        // A set that spills is not scattered.
        self.change_is_due = false;
        Ok(())
    }

    /// Changes the backend, which is due. No batch may be on its way. Returns the counts of scattered URLs
    /// if they were gathered.
    pub(crate) fn change(&mut self, read: u64) -> Result<Option<FirstCounts>, RunError> {
        self.change_is_due = false;
        match &mut self.backend {
            SetBackend::None => Ok(None),
            SetBackend::Memory(_) => self.scatter(read).map(|()| None),
            SetBackend::Spilling(set, spiller) => {
                // Keys that were spilled before are of later records.
                spiller.spill_ahead(set.entries(), &self.hasher)?;
                self.moved = set.listed() as u64;
                set.clear();
                Ok(None)
            }
            SetBackend::Scattering(_) => self.gather().map(Some),
        }
    }

    fn scatter(&mut self, read: u64) -> Result<(), RunError> {
        let SetBackend::Memory(set) = &self.backend else { return Ok(()) };
        let (progress, threads) = (self.progress(set, read), self.plan.limits.workers());
        let scatterer = Scatterer::begin(&set.shards, &progress, threads, self.inputs)?;
        self.backend = SetBackend::Scattering(scatterer);
        Ok(())
    }

    fn gather(&mut self) -> Result<FirstCounts, RunError> {
        let set = MemorySet::new(self.plan, false);
        let backend = std::mem::replace(&mut self.backend, SetBackend::Memory(set));
        match (backend, &mut self.backend) {
            (SetBackend::Scattering(scatterer), SetBackend::Memory(set)) => {
                // The places are not in the order of the input, but only sets that are sorted at the end
                // are scattered.
                let mut places = Vec::new();
                let firsts = scatterer.gather(&self.hasher, &mut set.shards, &mut places)?;
                if let Some(listed) = &mut set.listed {
                    listed.places = places;
                }
                Ok(firsts)
            }
            _ => unreachable!("only scattered URLs are gathered"),
        }
    }

    /// Undoes the insertion of batches that the set could not take completely, and looks their keys up
    /// instead, so that they are spilled.
    pub(crate) fn spill_instead(
        &mut self,
        batches: &mut [WorkBatch],
        progress: &mut [ShardProgress],
    ) -> Result<(), RunError> {
        if self.plan.limits.memory.is_none() {
            return Err(RunError::Set(SetFull::default()));
        }
        if let SetBackend::Memory(set) = &mut self.backend {
            take_back(&mut set.groups, batches);
            for (number, (shard, at)) in set.shards.iter_mut().zip(&*progress).enumerate() {
                // Every shard goes back to its state before the round. Otherwise the look-up below would
                // find the keys of these very batches, and take them for duplicates.
                shard.take_back(at.before, |url| self.hasher.hash(url));
                let (whole, part) = at.full.unwrap_or((batches.len(), 0));
                for (i, batch) in batches.iter().enumerate().take(whole + 1) {
                    let entries = batch.entries.of(number);
                    let added = if i < whole { entries } else { &entries[..part] };
                    let buffers = batch.text.buffers();
                    // The look-up counts these entries again.
                    added.iter().for_each(|e| shard.count_back(e.hash, buffers.of(e)));
                }
            }
        }
        self.begin_to_spill()?;
        if let SetBackend::Spilling(set, _) = &mut self.backend {
            batches.iter_mut().for_each(|batch| batch.insertion = Insertion::LookedUp);
            rayon::scope(|scope| set.spawn_inserts(scope, batches, progress, None));
        }
        Ok(())
    }
}
