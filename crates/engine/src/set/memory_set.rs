//! A set in memory: its shards, and the data of its keys that is kept until the end of the run.

use super::lines::KeptLines;
use super::ordered::Ordered;
use crate::batch::WorkBatch;
use crate::job::{Dedup, SetOrder};
use crate::plan::JobPlan;
use crate::stages::insert::InsertTarget;
use crate::stages::limit::GroupCounts;
use uniqurl::SetFull;
use uniqurl::internal::{AllocError, alloc};
#[cfg(feature = "tables")]
use uniqurl::internal::{Bytes as _, Outcome};
use uniqurl::internal::{Counting, Shard, shards_for};
#[cfg(feature = "tables")]
use uniqurl_formats::input::Chunk;
use uniqurl_store::keep_policy::KeepPolicy;
use uniqurl_store::sort::sort_memory;
use uniqurl_store::spill::SpillEntry;

/// A set in memory.
pub(crate) struct MemorySet {
    pub(crate) shards: Vec<Shard>,
    /// Keys from before the run, by the same hash, if there are any. Else empty.
    pub(crate) seen: Vec<Shard>,
    /// The groups of the keys of each shard, if there is a limit for each group. Else empty.
    pub(super) groups: Vec<GroupCounts>,
    /// Keys of a group that are taken.
    most: u64,
    /// The new keys in the order of the input, if the set is written at the end.
    pub(super) listed: Option<ListedKeys>,
    counting: Counting,
    policy: KeepPolicy,
    has_lines: bool,
}

/// Keys in the order of the input.
pub(super) struct ListedKeys {
    /// Shard and position of each.
    pub(super) places: Vec<u64>,
    /// The line of each, if lines hold more than the key.
    lines: KeptLines,
}

impl ListedKeys {
    fn new(policy: KeepPolicy) -> Self {
        Self { places: Vec::new(), lines: KeptLines::new(policy) }
    }
}

impl MemorySet {
    pub(super) fn new(plan: &JobPlan) -> Self {
        let counting = if plan.counts_records() { Counting::On } else { Counting::Off };
        let policy = plan.kept_record();
        let shards = shards_for(plan.limits.workers());
        let limit = plan.group_limit();
        let groups = if limit.is_some() { shards } else { 0 };
        Self {
            shards: (0..shards).map(|_| Shard::new(counting)).collect(),
            seen: Vec::new(),
            groups: (0..groups).map(|_| GroupCounts::default()).collect(),
            most: limit.map_or(u64::MAX, |(_, most)| most),
            listed: plan.writes_at_end().then(|| ListedKeys::new(policy)),
            counting,
            policy,
            has_lines: plan.has_lines(),
        }
    }

    /// What stage *insert* adds keys to.
    pub(crate) fn target(&mut self) -> InsertTarget<'_> {
        let Self { shards, seen, groups, most, .. } = self;
        InsertTarget { shards, seen, groups, most: *most }
    }

    /// Whether a shard can hardly take more keys, whatever memory there is.
    pub(super) fn is_nearly_full(&self) -> bool {
        self.shards.iter().any(Shard::is_nearly_full)
    }

    /// Number of keys that are listed for the end.
    pub(super) fn listed(&self) -> usize {
        self.listed.as_ref().map_or(0, |listed| listed.places.len())
    }

    /// Whether lines may be replaced by longer ones.
    pub(super) fn has_replaceable_lines(&self) -> bool {
        self.listed
            .as_ref()
            .is_some_and(|listed| listed.lines.are_replaceable() && !listed.places.is_empty())
    }

    /// Takes the parts of a formatted batch that must be kept until the end.
    pub(super) fn keep(&mut self, batch: &WorkBatch) -> Result<(), AllocError> {
        #[cfg(feature = "tables")]
        if self.counting == Counting::On {
            self.count_repeats(batch);
        }
        let Some(ListedKeys { places, lines }) = &mut self.listed else { return Ok(()) };
        let out = &batch.out;
        // This list grows with the input, so running out of memory has to be an error and not an abort.
        alloc::try_reserve(places, out.new.len())?;
        places.extend_from_slice(&out.new);
        if !out.lines_of_new.is_empty() {
            lines.add(out.new.len(), &out.lines_of_new)?;
        }
        if let Some(extras) = &batch.extras {
            for (place, line) in extras.ranked.iter() {
                lines.offer(place, line)?;
            }
        }
        Ok(())
    }

    /// Adds the further records that a row of a table stands for to the counts of keys in the set.
    #[cfg(feature = "tables")]
    fn count_repeats(&mut self, batch: &WorkBatch) {
        let chunk = batch.text.chunk.as_ref().filter(|chunk| !chunk.times().is_empty());
        let Some(times) = chunk.map(Chunk::times) else { return };
        for (number, shard) in self.shards.iter_mut().enumerate() {
            for entry in batch.entries.of(number) {
                // The set has counted the row once already.
                let more = u64::from(times[entry.sequence as usize]) - 1;
                // A spilled entry carries the count of all its rows.
                if more > 0 && entry.outcome() != Outcome::Absent {
                    shard.count_more(entry.hash, batch.text.buffers().of(entry), more);
                }
            }
        }
    }

    /// Bytes of memory, including those that the set needs to take `more` entries in each shard.
    pub(super) fn memory(&self, more: &[usize], plan: &JobPlan) -> usize {
        let set: usize =
            self.shards.iter().zip(more).map(|(shard, more)| shard.memory(*more)).sum();
        // Keys from before the run are only looked up, so their shards need no room to grow.
        let seen: usize = self.seen.iter().map(|shard| shard.memory(0)).sum();
        let groups = self.groups.iter().zip(more).map(|(groups, more)| groups.memory(*more));
        let all_more = more.iter().sum::<usize>();
        let listed = match (&self.listed, plan.dedup()) {
            (Some(ListedKeys { places, lines }), Some(dedup)) => {
                let keys = places.len() + all_more;
                let sorting = match dedup.order {
                    SetOrder::First => 0,
                    SetOrder::Sorted | SetOrder::Count => sort_memory(keys),
                };
                // A vector that grows is there twice for a moment, once at double size.
                keys * 3 * size_of::<u64>() + sorting + lines.memory(all_more)
            }
            _ => 0,
        };
        set + seen + groups.sum::<usize>() + listed
    }

    /// The key of a number in the order of the input, as an entry. The number is the ordinal.
    pub(super) fn entry<'s>(&'s self, listed: &'s ListedKeys, number: usize) -> SpillEntry<'s> {
        let (ordinal, place) = (number as u64, listed.places[number]);
        // A place is the number of the shard in the upper half, and the position in it in the lower half.
        let (shard, at) = (&self.shards[(place >> 32) as usize], place as u32);
        let line = listed.lines.spilled(ordinal, place);
        SpillEntry { ordinal, count: shard.count(at), key: shard.get(at), line }
    }

    /// Removes all keys of the run.
    pub(super) fn clear(&mut self) {
        if let Some(listed) = &mut self.listed {
            *listed = ListedKeys::new(self.policy);
        }
        // New shards, since emptied ones would keep their memory.
        self.shards.iter_mut().for_each(|shard| *shard = Shard::new(self.counting));
    }

    /// The set in the order in which it is written, if that is at the end.
    pub(super) fn ordered(&mut self, dedup: &Dedup) -> Result<Option<Ordered<'_>>, SetFull> {
        let Some(ListedKeys { places, lines }) = self.listed.take() else { return Ok(None) };
        let lines = self.has_lines.then_some(lines);
        Ordered::new(&self.shards, places, lines, dedup).map(Some)
    }
}
