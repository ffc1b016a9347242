//! The set of a run: which keys are new, in memory and beyond.
//!
//! A set in memory takes keys until the run exceeds its memory budget. After that it takes no more: later
//! keys are only looked up in it, and those that it does not hold are written by partition to a temporary
//! file ([`uniqurl_store::spill`]), to be deduplicated at the end.
//!
//! ```text
//! Memory ── over budget ──▶ Spilling ── lines replaced by longer ones ──▶ Spilling, the keys moved out
//! keys are added            keys are looked up                            the set is empty
//! ```
//!
//! It changes only between two flows, when nothing is on its way, so no batch sees two states.

mod memory_set;
mod lanes;
mod lines;
mod ordered;
mod partitioner;
mod spiller;
mod change;
mod finish;
mod slugs;
mod written_keys;

pub(crate) use lanes::{FlowSet, Keeper, Lane};
pub(crate) use partitioner::Partitioner;
pub(crate) use spiller::buffers;

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use crate::batch::{Insertion, WorkBatch};
use crate::error::RunError;
use crate::output::TallyColumns;
use crate::plan::JobPlan;
use lanes::{Kept, KeptPart};
use lines::KeptLines;
use memory_set::{ListedKeys, MemorySet};
use spiller::Spiller;
use uniqurl::internal::{Hash, HashKey, Shard};
use uniqurl_formats::input::{Input, Source};
use uniqurl_store::spill::Spilled;

/// Lanes for each thread.
const LANES: usize = 2;

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
    /// Whether the keys that are written are wanted at the end, in the order of their bytes.
    wants_keys: bool,
    /// Keys that were moved out of memory. Their ordinals are the numbers below.
    moved: u64,
    /// Bytes of all inputs, if none is a stream.
    size_of_inputs: Option<u64>,
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
            wants_keys,
            moved: 0,
            // One stream makes the sum unknown.
            size_of_inputs: sizes.sum(),
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

    /// The set while batches are on their way.
    pub(crate) fn share(&mut self) -> FlowSet<'_> {
        let partitioner = self.partitioner();
        // More lanes than threads, so that few threads find all of them taken.
        let lanes = (LANES * self.plan.limits.workers()).next_power_of_two();
        let Self { backend, measured, wants_keys, plan, .. } = self;
        let (insertion, set, partitions) = match backend {
            SetBackend::None => (Insertion::None, None, &mut [][..]),
            SetBackend::Memory(set) => (Insertion::Added, Some(set), &mut [][..]),
            SetBackend::Spilling(set, spiller) => {
                (Insertion::LookedUp, Some(set), spiller.partitions())
            }
        };
        let seen = set.as_ref().map_or(0, |set| set.seen_memory());
        let (shards, listed) = set.map_or((Vec::new(), None), |set| set.share(lanes));
        let mut keepers: Vec<_> = partitions.iter_mut().map(KeptPart::Partitions).collect();
        let (mut list, mut added) = (None, None);
        if let Some(ListedKeys { list: keys, lines }) = listed {
            list = Some(keys);
            match lines {
                KeptLines::Added(lines) => added = Some(lines),
                KeptLines::Replaceable(lines) => {
                    let groups = lines.groups();
                    keepers.extend(groups.map(|(shards, lines)| KeptPart::Lines(shards, lines)));
                }
            }
        }
        FlowSet {
            insertion,
            partitioner,
            lanes: shards.into_iter().map(Lane::new).collect(),
            keepers: keepers.into_iter().map(Keeper::new).collect(),
            kept: Mutex::new(Kept { listed: list, lines: added, measured }),
            coming_text: AtomicUsize::new(0),
            seen,
            wants_keys: *wants_keys,
            has_slugs: plan.policy.slugs.is_some(),
        }
    }

    /// How keys that are spilled are divided among partitions.
    pub(crate) fn partitioner(&self) -> Partitioner {
        match &self.backend {
            SetBackend::Spilling(_, spiller) => spiller.partitioner(),
            // Nothing is spilled.
            SetBackend::None | SetBackend::Memory(_) => Partitioner::Hash(0),
        }
    }

    /// The bytes of the temporary file, and how they were packed.
    pub(crate) fn spilled(&self) -> Option<Spilled> {
        match &self.backend {
            SetBackend::Spilling(_, spiller) => Some(spiller.spilled()),
            SetBackend::None | SetBackend::Memory(_) => None,
        }
    }

    /// Bytes of memory of the set, including those that it needs to take these batches.
    pub(crate) fn memory(&self, inserting: &[WorkBatch]) -> usize {
        let (SetBackend::Memory(set) | SetBackend::Spilling(set, _)) = &self.backend else {
            return 0;
        };
        let more = entries_by_shard(inserting, set.shards.len());
        let keys = set.shards.iter().map(Shard::len).sum::<usize>();
        let keys = keys + more.iter().sum::<usize>();
        let sorting = written_keys::memory(self.wants_keys, keys);
        // An upper bound, as if every key were new.
        let text: usize = inserting.iter().map(WorkBatch::new_bytes).sum();
        let set = set.memory(&more) + text;
        set + sorting + slugs::memory(self.plan.policy.slugs.is_some(), set, keys)
    }

    /// Changes the set, which with the rest of the run exceeds the memory or is nearly full: it begins to spill, or
    /// lines of its keys were replaced by longer ones, and it moves out. No batch may be on its way. The keys of so many
    /// bytes of the inputs were inserted.
    pub(crate) fn change(&mut self, inserted: u64) -> Result<(), RunError> {
        match &self.backend {
            SetBackend::None => Ok(()),
            SetBackend::Memory(_) => self.begin_to_spill(inserted),
            SetBackend::Spilling(..) => self.move_out(),
        }
    }

    /// Whether it takes less memory once it [changes](Self::change).
    pub(crate) fn can_change(&self) -> bool {
        match &self.backend {
            SetBackend::None => false,
            SetBackend::Memory(_) => true,
            // Lines of keys in the set are replaced by longer ones.
            SetBackend::Spilling(set, _) => set.has_replaceable_lines(),
        }
    }

    /// Whether a shard can hardly take more keys, whatever memory there is.
    pub(crate) fn is_nearly_full(&self) -> bool {
        matches!(&self.backend, SetBackend::Memory(set) if set.is_nearly_full())
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
        let mut set = set(&plan);
        assert_eq!((set.shards(), set.share().insertion), (0, Insertion::None));
    }

    #[test]
    fn set_without_a_budget_cannot_spill() {
        let mut plan = plan(Job::Dedup(Dedup::default()));
        assert!(matches!(set(&plan).begin_to_spill(0), Err(RunError::Set(_))));
        let directory = tempfile::tempdir().unwrap();
        let memory = Memory { directory: directory.path().into(), ..Memory::new(1 << 20) };
        plan.limits.memory = Some(memory);
        let mut set = set(&plan);
        assert_eq!(set.share().insertion, Insertion::Added);
        let shards = set.shards();
        set.begin_to_spill(0).unwrap();
        assert_eq!((set.shards(), set.share().insertion), (shards, Insertion::LookedUp));
    }
}
