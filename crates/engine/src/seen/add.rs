//! Adds chunks of a list from before the run to its shards, or to a store once they exceed the memory.

use std::mem::take;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Loader;
use crate::batch::{Insertion, WorkBatch};
use crate::error::RunError;
use crate::memory::{self, SpillNotice};
use crate::plan::SeenBefore;
use crate::set::{self, entries_by_shard};
use crate::stages::insert::{InsertTarget, insert};
use uniqurl::SetFull;
use uniqurl::internal::{Counting, Shard};
use uniqurl_formats::record::Format;
use uniqurl_store::seen::{
    KeySorter, Novelty, SeenStore, SeenStoreError, SeenWriter, StoreRules, UnixTime, WhenBusy,
};
use uniqurl_store::spill::SpillError;

/// The part of the memory that keys on their way into a store may take.
const SORT_SHARE: usize = 4;

impl Loader<'_> {
    /// Adds the URLs of some chunks.
    pub(super) fn take(&mut self, batches: &mut [WorkBatch]) -> Result<(), RunError> {
        let rules = &self.rules;
        let (is_full, out_of_memory) = (AtomicBool::new(false), AtomicBool::new(false));
        rayon::scope(|scope| {
            for batch in &mut *batches {
                scope.spawn(|_| {
                    if batch.parse(&Format::Lines, rules).is_err() {
                        out_of_memory.store(true, Ordering::Relaxed);
                    }
                    batch.insertion = Insertion::Added;
                });
            }
        });
        if out_of_memory.into_inner() {
            return Err(RunError::Memory);
        }
        // Between parsing and inserting, since only then the number of new entries is known.
        if self.sorter.is_none() && self.is_over_budget(batches) {
            self.begin_store()?;
        }
        if let Some(sorter) = &mut self.sorter {
            for batch in batches {
                let keys = batch.keys.iter().filter(|key| key.is_canonical());
                keys.map(|key| batch.text.get(*key)).try_for_each(|key| sorter.push(key))?;
            }
            return Ok(());
        }
        let shards = &mut self.seen.shards[..];
        let target = InsertTarget { shards, seen: &mut [], groups: &mut [], most: 0 };
        rayon::scope(|scope| insert(scope, target, batches, &is_full, None));
        if is_full.into_inner() {
            return Err(RunError::Set(SetFull::default()));
        }
        Ok(())
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

    /// Moves the keys of the shards on their way into a store.
    fn begin_store(&mut self) -> Result<(), RunError> {
        let Some(memory) = &self.plan.limits.memory else { return Ok(()) };
        let free = memory::free_space(&memory.directory);
        (memory.tell)(&SpillNotice { directory: &memory.directory, needed: None, free });
        let mut sorter = KeySorter::new(memory.size() / SORT_SHARE, &memory.directory);
        for shard in &mut self.seen.shards {
            let shard = std::mem::replace(shard, Shard::new(Counting::Off));
            shard.places().try_for_each(|place| sorter.push(shard.get(place)))?;
        }
        self.sorter = Some(sorter);
        Ok(())
    }

    /// Makes a store of the keys that did not fit into memory. Nothing of it has a name once it is open.
    pub(super) fn finish_store(&mut self) -> Result<(), RunError> {
        let (Some(sorter), Some(memory)) = (take(&mut self.sorter), &self.plan.limits.memory)
        else {
            return Ok(());
        };
        let directory = tempfile::tempdir_in(&memory.directory).map_err(|error| {
            RunError::Spill(SpillError { directory: memory.directory.clone(), error })
        })?;
        let store = write_store(sorter, directory.path(), &self.store_rules(), memory.size())?;
        self.seen.store = Some(SeenBefore { store: Arc::new(store), since: None });
        Ok(())
    }

    fn store_rules(&self) -> StoreRules {
        StoreRules::of(&self.plan.normalizer, self.plan.policy.key)
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
