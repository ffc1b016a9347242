//! The keys of lists from before the run: in shards, or on their way into a store once they exceed the memory.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use crate::batch::WorkBatch;
use crate::error::RunError;
use crate::memory::{self, SpillNotice};
use crate::plan::{JobPlan, SeenBefore};
use crate::set::{self, entries_by_shard};
use crate::stages::insert::parts_of;
use uniqurl::SetFull;
use uniqurl::internal::{Counting, Shard};
use uniqurl_store::seen::{
    KeySorter, Novelty, SeenStore, SeenStoreError, SeenWriter, StoreRules, UnixTime, WhenBusy,
};
use uniqurl_store::spill::SpillError;

/// The part of the memory that keys on their way into a store may take.
const SORT_SHARE: usize = 4;

/// The keys so far.
pub(super) struct Added<'a> {
    plan: &'a JobPlan,
    shards: Vec<Shard>,
    /// The keys, if they do not fit into memory.
    sorter: Option<KeySorter>,
}

impl<'a> Added<'a> {
    pub(super) fn new(plan: &'a JobPlan, shards: usize) -> Self {
        let shards = (0..shards).map(|_| Shard::new(Counting::Off)).collect();
        Self { plan, shards, sorter: None }
    }

    /// Adds the keys of batches, beside which the reader holds `held` bytes.
    pub(super) fn take(&mut self, batches: &[WorkBatch], held: usize) -> Result<(), RunError> {
        if self.sorter.is_none() && self.is_over_budget(batches, held) {
            self.begin_store()?;
        }
        if let Some(sorter) = &mut self.sorter {
            for batch in batches {
                let keys = batch.keys.iter().filter(|key| key.is_canonical());
                keys.map(|key| batch.text.get(*key)).try_for_each(|key| sorter.push(key))?;
            }
            return Ok(());
        }
        let batches: Vec<&WorkBatch> = batches.iter().collect();
        let shards = self.shards.par_iter_mut().with_max_len(1).enumerate();
        let added =
            shards.try_for_each(|(number, shard)| shard.insert_all(&parts_of(&batches, number)));
        Ok(added.map_err(SetFull::from)?)
    }

    /// Whether the budget is exceeded with these batches.
    fn is_over_budget(&self, batches: &[WorkBatch], held: usize) -> bool {
        let Some(memory) = &self.plan.limits.memory else { return false };
        let more = entries_by_shard(batches, self.shards.len());
        let shards = self.shards.iter().zip(&more);
        let set: usize = shards.map(|(shard, more)| shard.memory(*more)).sum();
        let text: usize = batches.iter().map(|batch| batch.text.canonical_bytes()).sum();
        let buffers: usize = batches.iter().map(WorkBatch::memory).sum();
        let partitions = set::buffers(memory.size(), self.plan.limits.workers());
        let rules = self.plan.memory_of_rules();
        memory.is_exceeded_by(set + text + buffers + held + partitions + rules)
    }

    /// Moves the keys of the shards on their way into a store.
    fn begin_store(&mut self) -> Result<(), RunError> {
        let Some(memory) = &self.plan.limits.memory else { return Ok(()) };
        let free = memory::free_space(&memory.directory);
        (memory.tell)(&SpillNotice { directory: &memory.directory, needed: None, free });
        let mut sorter = KeySorter::new(memory.size() / SORT_SHARE, &memory.directory);
        // Each shard is freed when its keys are pushed, so that not all keys are in memory twice.
        for shard in &mut self.shards {
            let shard = std::mem::replace(shard, Shard::new(Counting::Off));
            shard.places().try_for_each(|place| sorter.push(shard.get(place)))?;
        }
        self.sorter = Some(sorter);
        Ok(())
    }

    /// The shards, and a store of the keys if they did not fit into memory. Nothing of it has a name once it is open.
    pub(super) fn finish(self) -> Result<(Vec<Shard>, Option<SeenBefore>), RunError> {
        let Self { plan, shards, sorter } = self;
        let (Some(sorter), Some(memory)) = (sorter, &plan.limits.memory) else {
            return Ok((shards, None));
        };
        let directory = tempfile::tempdir_in(&memory.directory).map_err(|error| {
            RunError::Spill(SpillError { directory: memory.directory.clone(), error })
        })?;
        let rules =
            StoreRules::of(&plan.normalizer, plan.policy.key, plan.policy.routes.as_deref());
        let store = write_store(sorter, directory.path(), &rules, memory.size())?;
        Ok((shards, Some(SeenBefore { store: Arc::new(store), since: None })))
    }
}

fn write_store(
    sorter: KeySorter,
    directory: &Path,
    rules: &StoreRules,
    memory: usize,
) -> Result<SeenStore, SeenStoreError> {
    let path = directory.join("seen");
    let mut writer = SeenWriter::create_or_open(&path, rules, WhenBusy::Fail)?;
    let mut run = writer.begin_add(UnixTime::now(), Novelty::AllNew)?;
    sorter.finish(&mut run)?;
    let run = run.finish()?;
    // It may tell of a merge that failed. A store with one run has nothing to merge.
    let _ = writer.commit(run, memory)?;
    SeenStore::open(&path)
}
