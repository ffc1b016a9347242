//! The set of a run: which keys are new, in memory and beyond.
//!
//! A set in memory takes keys until the run exceeds its memory budget. After that it takes no more: later
//! keys are only looked up in it, and those that it does not hold are written by partition to a temporary
//! file ([`uniqurl_store::spill`]), to be deduplicated at the end. If only the sorted keys are wanted, a
//! large set is scattered to buckets instead ([`scatterer`]).

mod memory_set;
mod lines;
mod ordered;
mod spiller;
pub(crate) mod scatterer;
mod change;
mod finish;
mod written_keys;

pub(crate) use scatterer::FirstCounts;
pub(crate) use spiller::{Partitioner, Spiller, buffers};

use crate::batch::{Insertion, WorkBatch};
use crate::output::{Tally, TallyColumns};
use crate::plan::JobPlan;
use crate::error::RunError;
use crate::report::Report;
use crate::seen;
use memory_set::MemorySet;
use scatterer::{Progress, Scatterer};
use uniqurl::internal::{Hash, HashKey, Shard, shards_for};
use uniqurl_formats::input::{Input, Source};
use uniqurl_formats::record::Context;
use uniqurl_store::spill::Spilled;

/// Where keys go.
pub(crate) enum SetBackend {
    /// Nowhere: the job writes each record.
    None,
    /// Into memory.
    Memory(MemorySet),
    /// Keys that the set does not hold go to partitions on disk.
    Spilling(MemorySet, Spiller),
    /// To buckets.
    Scattering(Scatterer),
}

/// The set of a run.
pub(crate) struct RunSet<'a> {
    plan: &'a JobPlan,
    hasher: HashKey,
    pub(crate) backend: SetBackend,
    /// Whether the backend has to change once no batch is on its way: a set in memory is scattered, one
    /// that spills is moved out, and scattered URLs are gathered.
    change_is_due: bool,
    /// Whether the keys that are written are wanted at the end, in the order of their bytes.
    wants_keys: bool,
    /// Keys that were moved out of memory. Their ordinals are the numbers below.
    moved: u64,
    /// Number of inputs.
    inputs: usize,
    /// Bytes of all of them, if none is a stream.
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
        // Scattered URLs are not told apart from their duplicates before they are written. They store the
        // number of their input as a `u32`, in which 0 is reserved.
        let can_scatter = plan.only_sorts()
            && !wants_keys
            && u32::try_from(inputs.len()).is_ok_and(|inputs| inputs < u32::MAX - 1);
        let backend = match plan.dedup() {
            Some(_) => SetBackend::Memory(MemorySet::new(plan, can_scatter)),
            None => SetBackend::None,
        };
        Self {
            plan,
            hasher,
            backend,
            change_is_due: false,
            wants_keys,
            moved: 0,
            inputs: inputs.len(),
            size_of_inputs: sizes.sum(),
            inserted: 0,
            measured: TallyColumns::default(),
        }
    }

    /// Reads the lists from before the run.
    pub(crate) fn load_seen(
        &mut self,
        context: &Context,
        report: &mut Report,
    ) -> Result<(), RunError> {
        if self.plan.input.seen.is_empty() || matches!(self.backend, SetBackend::None) {
            return Ok(());
        }
        let plan = self.plan;
        let shards = shards_for(plan.limits.workers());
        let seen = seen::load(plan, context, &self.hasher, shards)?;
        report.rejected_seen = seen.rejected;
        // A scattered set looks up nothing, so it could not leave out keys that were seen before.
        let mut set = MemorySet::new(plan, false);
        set.seen = Some(seen.shards);
        self.backend = match seen.spiller {
            Some(spiller) => SetBackend::Spilling(set, spiller),
            None => SetBackend::Memory(set),
        };
        Ok(())
    }

    /// Shards that keys are grouped by: none without a set, and while URLs are scattered.
    pub(crate) fn shards(&self) -> usize {
        match &self.backend {
            SetBackend::None | SetBackend::Scattering(_) => 0,
            SetBackend::Memory(set) | SetBackend::Spilling(set, _) => set.shards.len(),
        }
    }

    /// Whether the shard of this number holds a key, or that of the lists from before the run.
    pub(crate) fn holds(&self, shard: usize, hash: Hash, key: &[u8]) -> bool {
        let (SetBackend::Memory(set) | SetBackend::Spilling(set, _)) = &self.backend else {
            return false;
        };
        let seen = set.seen.iter().map(|shards| &shards[shard]);
        std::iter::once(&set.shards[shard]).chain(seen).any(|keys| keys.contains(hash, key))
    }

    /// The treatment of keys in the first batches of the next round.
    pub(crate) fn insertion(&self) -> Insertion {
        match &self.backend {
            SetBackend::None => Insertion::None,
            SetBackend::Memory(_) => Insertion::Added,
            SetBackend::Spilling(..) => Insertion::LookedUp,
            SetBackend::Scattering(_) => Insertion::Scattered,
        }
    }

    /// Whether the backend has to change before more is read.
    pub(crate) fn is_change_due(&self) -> bool {
        self.change_is_due
    }

    /// Notes how many bytes of the inputs are inserted.
    pub(crate) fn note_inserted(&mut self, bytes: u64) {
        self.inserted = bytes;
    }

    /// How keys that are spilled are divided among partitions.
    pub(crate) fn partitioner(&self) -> Partitioner {
        match &self.backend {
            SetBackend::Spilling(_, spiller) => spiller.partitioner().clone(),
            SetBackend::None | SetBackend::Memory(_) | SetBackend::Scattering(_) => {
                Partitioner::of_keys(self.plan)
            }
        }
    }

    /// The bytes of the temporary file, and how they were packed.
    pub(crate) fn spilled(&self) -> Option<Spilled> {
        match &self.backend {
            SetBackend::Spilling(_, spiller) => Some(spiller.spilled()),
            SetBackend::None | SetBackend::Memory(_) | SetBackend::Scattering(_) => None,
        }
    }

    /// Takes the parts of a formatted batch that must be kept until the end.
    pub(crate) fn keep(&mut self, batch: &WorkBatch) -> Result<(), RunError> {
        if let Some(extras) = &batch.extras {
            self.measured = self.measured.or(extras.measured);
        }
        match &mut self.backend {
            SetBackend::None | SetBackend::Scattering(_) => Ok(()),
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

    fn progress(&self, set: &MemorySet, read: u64) -> Progress {
        Progress {
            distinct: set.listed(),
            memory: set.shards.iter().map(|shard| shard.memory(0)).sum(),
            read,
            size: self.size_of_inputs,
        }
    }

    /// Decides whether the backend has to change. The batches on their way take `buffers` bytes, the run
    /// holds `held` and has read `read` bytes; `tally` sums up all inputs.
    pub(crate) fn plan_change(
        &mut self,
        buffers: u64,
        read: u64,
        held: impl FnOnce(&Self) -> usize,
        tally: impl FnOnce() -> Tally,
    ) -> Result<(), RunError> {
        // `held` and `tally` are closures: they go through all batches or inputs, and are rarely needed.
        let budget = self.plan.limits.memory.as_ref().map(|memory| memory.budget);
        let free = budget.unwrap_or(u64::MAX).saturating_sub(buffers);
        self.change_is_due = match &mut self.backend {
            SetBackend::None => false,
            // Nothing changes back before the change was made.
            SetBackend::Memory(_) if self.change_is_due => true,
            SetBackend::Memory(_) => self.decide_to_scatter(read, free, tally),
            // Lines of keys in the set were replaced by longer ones.
            SetBackend::Spilling(set, _) => {
                set.has_replaceable_lines() && budget.is_some_and(|most| held(self) as u64 > most)
            }
            SetBackend::Scattering(scatterer) => self.change_is_due || !scatterer.goes_on(free)?,
        };
        Ok(())
    }

    /// Whether it is time to scatter the set, which is decided once.
    fn decide_to_scatter(&mut self, read: u64, free: u64, tally: impl FnOnce() -> Tally) -> bool {
        let SetBackend::Memory(set) = &self.backend else { return false };
        let progress = self.progress(set, read);
        if !set.may_scatter || !progress.decides() {
            return false;
        }
        let scatters = progress.is_worth_scattering(&tally(), free);
        if let SetBackend::Memory(set) = &mut self.backend {
            set.may_scatter = false;
        }
        scatters
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
    use crate::{Dedup, Job, SetOrder};
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

    #[test]
    fn only_a_sorted_set_without_counts_is_scattered() {
        let sorted = Dedup { order: SetOrder::Sorted, ..Dedup::default() };
        let counted = Dedup { count: true, ..sorted };
        for (dedup, may_scatter) in [(sorted, true), (counted, false), (Dedup::default(), false)] {
            let plan = plan(Job::Dedup(dedup));
            let SetBackend::Memory(set) = set(&plan).backend else { panic!("a set in memory") };
            assert_eq!(set.may_scatter, may_scatter, "{dedup:?}");
        }
    }
}
