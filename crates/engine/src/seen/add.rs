//! Adds chunks of a list from before the run to its shards, or spills their keys.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Loader;
use crate::batch::{Insertion, WorkBatch};
use crate::error::RunError;
use crate::set::{self, Partitioner, Spiller, entries_by_shard};
use crate::stages::format::spill_seen;
use crate::stages::insert::{ShardProgress, insert};
use uniqurl::SetFull;
use uniqurl_formats::record::Format;

impl Loader<'_> {
    /// Adds the URLs of some chunks.
    pub(super) fn take(&mut self, batches: &mut [WorkBatch]) -> Result<(), RunError> {
        let rules = &self.rules;
        let spills = self.seen.spiller.is_some();
        let insertion = if spills { Insertion::LookedUp } else { Insertion::Added };
        let out_of_memory = AtomicBool::new(false);
        rayon::scope(|scope| {
            for batch in &mut *batches {
                scope.spawn(|_| {
                    if batch.parse(&Format::Lines, rules).is_err() {
                        out_of_memory.store(true, Ordering::Relaxed);
                    }
                    batch.insertion = insertion;
                });
            }
        });
        // Between parsing and inserting, since only then the number of new entries is known.
        if !spills && self.is_over_budget(batches) {
            self.begin_to_spill()?;
            batches.iter_mut().for_each(|batch| batch.insertion = Insertion::LookedUp);
        }
        let shards = &mut self.seen.shards;
        let mut progress = ShardProgress::of(shards);
        rayon::scope(|scope| insert(scope, None, shards, None, batches, &mut progress, None));
        if progress.iter().any(|shard| shard.full.is_some()) {
            return Err(RunError::Set(SetFull::default()));
        }
        if out_of_memory.load(Ordering::Relaxed) {
            return Err(RunError::Memory);
        }
        let Some(spiller) = &mut self.seen.spiller else { return Ok(()) };
        rayon::scope(|scope| {
            for batch in &mut *batches {
                scope.spawn(|_| {
                    if spill_seen(batch, &Partitioner::Hash).is_err() {
                        out_of_memory.store(true, Ordering::Relaxed);
                    }
                });
            }
        });
        if out_of_memory.into_inner() {
            return Err(RunError::Memory);
        }
        let written = Mutex::new(Ok(()));
        rayon::scope(|scope| spiller.spawn_writes(scope, batches, &written, None));
        Ok(written.into_inner().unwrap_or_else(|e| e.into_inner())?)
    }

    /// Whether the budget is exceeded with these batches.
    fn is_over_budget(&self, batches: &[WorkBatch]) -> bool {
        let Some(memory) = &self.plan.limits.memory else { return false };
        let more = entries_by_shard(batches, self.seen.shards.len());
        let shards = self.seen.shards.iter().zip(&more);
        let set: usize = shards.map(|(shard, more)| shard.memory(*more)).sum();
        let text: usize = batches.iter().map(|batch| batch.text.canonical_bytes()).sum();
        let buffers: usize = batches.iter().chain(&self.spare).map(WorkBatch::memory).sum();
        let partitions = set::buffers(memory.size(), self.plan.limits.workers());
        let rules = self.plan.normalizer.memory();
        memory.is_exceeded_by(set + text + buffers + partitions + rules)
    }

    fn begin_to_spill(&mut self) -> Result<(), RunError> {
        let Some(memory) = &self.plan.limits.memory else { return Ok(()) };
        let threads = self.plan.limits.workers();
        let partitioner = Partitioner::of_keys(self.plan);
        self.seen.spiller = Some(Spiller::begin(memory, threads, None, false, partitioner)?);
        Ok(())
    }
}
