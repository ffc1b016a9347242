//! The set of a run: which keys are new, in memory and beyond.
//!
//! A set in memory takes keys until the run exceeds its memory budget. After that it takes no more: later
//! keys are only looked up in it, and those that it does not hold are written by partition to a temporary
//! file ([`uniqurl_store::spill`]), to be deduplicated at the end.

mod memory_set;
mod lines;
mod ordered;
mod partitioner;
mod spiller;
mod change;
mod finish;
mod written_keys;

pub(crate) use partitioner::Partitioner;
pub(crate) use spiller::buffers;

use crate::batch::{Insertion, WorkBatch};
use crate::error::RunError;
use crate::output::TallyColumns;
use crate::plan::JobPlan;
use memory_set::MemorySet;
use spiller::Spiller;
use uniqurl::internal::{Hash, HashKey, Shard};
use uniqurl_formats::input::{Input, Source};
use uniqurl_store::spill::Spilled;

/// Where keys go.
pub(crate) enum SetBackend {
    /// Nowhere: the job writes each record.
    None,
    /// Into memory.
    Memory(MemorySet),
    /// Keys that the set does not hold go to partitions.
    Spilling(MemorySet, Spiller),
}

/// The set of a run.
pub(crate) struct RunSet<'a> {
    plan: &'a JobPlan,
    hasher: HashKey,
    pub(crate) backend: SetBackend,
    /// Whether a set that spills has to be moved out of memory once no batch is on its way.
    is_move_due: bool,
    /// Whether the keys that are written are wanted at the end, in the order of their bytes.
    wants_keys: bool,
    /// Keys that were moved out of memory. Their ordinals are the numbers below.
    moved: u64,
    /// Bytes of all inputs, if none is a stream.
    size_of_inputs: Option<u64>,
    /// Bytes of the inputs whose keys were inserted.
    inserted: u64,
    /// The columns of tallies that records had numbers for so far.
    measured: TallyColumns,
}

impl<'a> RunSet<'a> {
    /// An empty set. `wants_keys` says whether the written keys are wanted at the end.
    pub(crate) fn new(
        plan: &'a JobPlan,
        inputs: &[Input],
        hasher: HashKey,
        wants_keys: bool,
    ) -> Self {
        let sizes = inputs.iter().map(|input| match input.source {
            Source::File { size, .. } => Some(size),
            Source::Stream | Source::Redirected { .. } => None,
        });
        let backend = match plan.dedup() {
            Some(_) => SetBackend::Memory(MemorySet::new(plan)),
            None => SetBackend::None,
        };
        Self {
            plan,
            hasher,
            backend,
            is_move_due: false,
            wants_keys,
            moved: 0,
            size_of_inputs: sizes.sum(),
            inserted: 0,
            measured: TallyColumns::default(),
        }
    }

    /// Takes the keys of the lists from before the run, by shard.
    pub(crate) fn set_seen(&mut self, seen: Vec<Shard>) {
        if let SetBackend::Memory(set) = &mut self.backend {
            set.seen = seen;
        }
    }

    /// Shards that keys are grouped by: none without a set.
    pub(crate) fn shards(&self) -> usize {
        match &self.backend {
            SetBackend::None => 0,
            SetBackend::Memory(set) | SetBackend::Spilling(set, _) => set.shards.len(),
        }
    }

    /// Whether the shard of this number holds a key, or that of the lists from before the run.
    pub(crate) fn holds(&self, shard: usize, hash: Hash, key: &[u8]) -> bool {
        let (SetBackend::Memory(set) | SetBackend::Spilling(set, _)) = &self.backend else {
            return false;
        };
        set.shards[shard].contains(hash, key)
            || set.seen.get(shard).is_some_and(|keys| keys.contains(hash, key))
    }

    /// The treatment of keys in the first batches of the next round.
    pub(crate) fn insertion(&self) -> Insertion {
        match &self.backend {
            SetBackend::None => Insertion::None,
            SetBackend::Memory(_) => Insertion::Added,
            SetBackend::Spilling(..) => Insertion::LookedUp,
        }
    }

    /// Whether the set has to be moved out before more is read.
    pub(crate) fn is_move_due(&self) -> bool {
        self.is_move_due
    }

    /// Notes how many bytes of the inputs are inserted.
    pub(crate) fn note_inserted(&mut self, bytes: u64) {
        self.inserted = bytes;
    }

    /// How keys that are spilled are divided among partitions.
    pub(crate) fn partitioner(&self) -> Partitioner {
        match &self.backend {
            SetBackend::Spilling(_, spiller) => spiller.partitioner(),
            SetBackend::None | SetBackend::Memory(_) => Partitioner::Hash,
        }
    }

    /// The bytes of the temporary file, and how they were packed.
    pub(crate) fn spilled(&self) -> Option<Spilled> {
        match &self.backend {
            SetBackend::Spilling(_, spiller) => Some(spiller.spilled()),
            SetBackend::None | SetBackend::Memory(_) => None,
        }
    }

    /// Takes the parts of a formatted batch that must be kept until the end.
    pub(crate) fn keep(&mut self, batch: &WorkBatch) -> Result<(), RunError> {
        if let Some(extras) = &batch.extras {
            self.measured = self.measured.or(extras.measured);
        }
        match &mut self.backend {
            SetBackend::None => Ok(()),
            SetBackend::Memory(set) | SetBackend::Spilling(set, _) => Ok(set.keep(batch)?),
        }
    }

    /// Bytes of memory of the set, including those that it needs to take these batches.
    pub(crate) fn memory(&self, inserting: &[WorkBatch]) -> usize {
        let (SetBackend::Memory(set) | SetBackend::Spilling(set, _)) = &self.backend else {
            return 0;
        };
        let more = entries_by_shard(inserting, set.shards.len());
        let all_more = more.iter().sum::<usize>();
        let sorting = match self.wants_keys {
            false => 0,
            true => {
                let keys = set.shards.iter().map(Shard::len).sum::<usize>() + all_more;
                written_keys::memory(keys)
            }
        };
        // An upper bound, as if every key were new.
        let text: usize = inserting.iter().map(WorkBatch::new_bytes).sum();
        set.memory(&more, self.plan) + text + sorting
    }

    /// Has the set change where that is due; `held` says how many bytes the run holds.
    pub(crate) fn plan_change(
        &mut self,
        held: impl FnOnce(&Self) -> usize,
    ) -> Result<(), RunError> {
        let budget = self.plan.limits.memory.as_ref().map(|memory| memory.budget);
        match &mut self.backend {
            SetBackend::Memory(set) if set.is_nearly_full() => self.begin_to_spill(),
            // Lines of keys in the set were replaced by longer ones.
            SetBackend::Spilling(set, _) if set.has_replaceable_lines() => {
                self.is_move_due |= budget.is_some_and(|most| held(self) as u64 > most);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// How many entries these batches have for each shard.
pub(crate) fn entries_by_shard(batches: &[WorkBatch], shards: usize) -> Vec<usize> {
    let mut entries = vec![0; shards];
    for batch in batches {
        let mut start = 0;
        for (entries, end) in entries.iter_mut().zip(&batch.entries.ends) {
            *entries += end - start;
            start = *end;
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use crate::{Dedup, Job};
    use uniqurl::{Normalizer, Profile};

    fn plan(job: Job) -> JobPlan {
        JobPlan::new(Normalizer::new(Profile::Crawl), job)
    }

    fn set(plan: &JobPlan) -> RunSet<'_> {
        RunSet::new(plan, &[], HashKey::random(plan.normalizer.kernel()), false)
    }

    #[test]
    fn a_job_without_a_set_groups_no_keys() {
        let plan = plan(Job::Normalize { json: false });
        let set = set(&plan);
        assert_eq!((set.shards(), set.insertion()), (0, Insertion::None));
    }

    #[test]
    fn set_without_a_budget_cannot_spill() {
        let mut plan = plan(Job::Dedup(Dedup::default()));
        assert!(matches!(set(&plan).begin_to_spill(), Err(RunError::Set(_))));
        let directory = tempfile::tempdir().unwrap();
        let memory = Memory { directory: directory.path().into(), ..Memory::new(1 << 20) };
        plan.limits.memory = Some(memory);
        let mut set = set(&plan);
        assert_eq!(set.insertion(), Insertion::Added);
        let shards = set.shards();
        set.begin_to_spill().unwrap();
        assert_eq!((set.insertion(), set.shards()), (Insertion::LookedUp, shards));
    }
}
