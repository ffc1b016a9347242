//! Inserts keys into a shard that takes only the first keys of each group. All keys of a group are in one
//! shard, in the order of the input.

use std::slice::IterMut;

use crate::batch::{BatchGroups, GroupRef, TextBuffers, WorkBatch};
use uniqurl::SetFull;
use uniqurl::internal::{Bytes as _, Entry, Part, Shard};
use uniqurl_store::group_counts::GroupCounts;

/// The groups of all shards, and how many keys of each are taken.
pub(crate) struct SetLimit<'s> {
    pub(crate) counts: &'s mut [GroupCounts],
    pub(crate) most: u64,
}

/// The groups of one shard.
pub(super) struct ShardLimit<'s> {
    counts: &'s mut GroupCounts,
    most: u64,
}

impl<'s> SetLimit<'s> {
    /// The limits of neighbouring shards, so many at a time.
    pub(super) fn chunks(self, each: usize) -> impl Iterator<Item = ShardLimits<'s>> {
        let most = self.most;
        self.counts
            .chunks_mut(each)
            .map(move |counts| ShardLimits { counts: counts.iter_mut(), most })
    }
}

/// The limits of neighbouring shards.
pub(super) struct ShardLimits<'s> {
    counts: IterMut<'s, GroupCounts>,
    most: u64,
}

impl<'s> Iterator for ShardLimits<'s> {
    type Item = ShardLimit<'s>;

    fn next(&mut self) -> Option<ShardLimit<'s>> {
        Some(ShardLimit { counts: self.counts.next()?, most: self.most })
    }
}

impl ShardLimit<'_> {
    /// Adds the entries to the shard, or only looks them up, and marks those that are beyond the limit of
    /// their group. If the shard is full, some entries are not added.
    pub(super) fn insert(
        self,
        shard: &mut Shard,
        parts: &mut [Part<'_, TextBuffers<'_>>],
        groups: &[&BatchGroups],
        only_looks_up: bool,
    ) -> Result<(), SetFull> {
        // Most entries are settled here, where their cache misses overlap.
        shard.find_all(parts);
        let mut added = Ok(());
        for (part, groups) in parts.iter_mut().zip(groups) {
            for entry in part.entries.iter_mut().filter(|entry| entry.new_place().is_some()) {
                let group = groups.of(entry.sequence);
                let key = part.bytes.of(entry);
                if only_looks_up {
                    if self.is_full(group) {
                        entry.mark_filtered();
                    }
                } else if added.is_err() {
                    // The entry is looked up again. Till then it counts for no group.
                    entry.new = None;
                } else if shard.count_again(entry.hash, key) {
                    // An entry of this round has added the key.
                    entry.new = None;
                } else if self.is_full(group) {
                    entry.mark_filtered();
                } else {
                    entry.new = None;
                    added = add(self.counts, group, shard, entry, key);
                }
            }
        }
        added
    }

    fn is_full(&self, group: GroupRef<'_>) -> bool {
        self.counts.get(group.hash, group.bytes).is_some_and(|count| count >= self.most)
    }
}

/// Adds a key that the shard does not hold, and counts it for its group.
fn add(
    counts: &mut GroupCounts,
    group: GroupRef<'_>,
    shard: &mut Shard,
    entry: &mut Entry,
    key: &[u8],
) -> Result<(), SetFull> {
    // The group first, since a key cannot be taken back alone.
    counts.add(group.hash, group.bytes)?;
    match shard.add(entry.hash, key) {
        Ok(place) => {
            entry.new = place.and_then(std::num::NonZeroU32::new);
            Ok(())
        }
        Err(full) => {
            counts.take_back(group.hash, group.bytes);
            Err(full)
        }
    }
}

/// Takes the keys that these batches have added out of the counts of their groups.
pub(crate) fn take_back(counts: &mut [GroupCounts], batches: &[WorkBatch]) {
    for batch in batches {
        let Some(extras) = &batch.extras else { continue };
        for (number, counts) in counts.iter_mut().enumerate() {
            let added = batch.entries.of(number).iter().filter(|entry| entry.new_place().is_some());
            for entry in added {
                let group = extras.groups.of(entry.sequence);
                counts.take_back(group.hash, group.bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::{Dedup, Group, Job, JobPlan, LimitBy, Memory, RunError, Sinks, Watch, run};
    use uniqurl::internal::alloc::failing::{self, Plan};
    use uniqurl::{Normalizer, Profile};
    use uniqurl_formats::input;

    /// A round whose keys a shard cannot take is taken back, with the counts of its groups, and spilled.
    #[test]
    fn failed_allocation_ends_a_limited_run_or_changes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("list");
        let line = |i: u64| format!("http://h{}/{}\n", i * 7 % 40, i * 31 % 90);
        std::fs::write(&path, (0..600).map(line).collect::<String>()).unwrap();
        let (inputs, _) = input::check(&[path]);
        let (mut survived, mut refused) = (0, 0);
        for (count, stays) in [(false, false), (true, false), (false, true)] {
            let dedup = Dedup { count, ..Dedup::default() };
            let mut plan = JobPlan::new(Normalizer::new(Profile::Syntax), Job::Dedup(dedup));
            plan.policy.limit_by = Some(LimitBy { group: Group::Host, most: 3 });
            plan.limits.threads = 2;
            plan.limits.chunk_size = 500;
            let memory = Memory::new(1 << 30);
            plan.limits.memory = Some(Memory { directory: directory.path().to_owned(), ..memory });
            let ran = || {
                let mut out = Vec::new();
                let (report, result) = run(&plan, &inputs, Sinks::to(&mut out), &Watch::default());
                (out, report.tally, report.spilled.written > 0, result)
            };
            let whole = ran();
            whole.3.unwrap();
            assert!(whole.1.filtered > 0 && whole.1.duplicates > 0);
            for k in 0.. {
                let fails = Plan::at(k, stays);
                failing::follow(Some(Arc::clone(&fails)));
                let (out, tally, has_spilled, result) = ran();
                failing::follow(None);
                if !fails.has_failed() {
                    break;
                }
                match result {
                    Ok(()) => {
                        assert!(out == whole.0 && tally == whole.1, "{k}");
                        survived += u64::from(has_spilled);
                    }
                    Err(RunError::Set(_) | RunError::Memory) => refused += 1,
                    Err(RunError::Output(error)) => {
                        assert_eq!(error.kind(), std::io::ErrorKind::OutOfMemory, "{k}");
                        refused += 1;
                    }
                    Err(error) => panic!("{k}: {error}"),
                }
            }
        }
        assert!(survived > 50 && refused > 50, "{survived} survived, {refused} refused");
    }
}
