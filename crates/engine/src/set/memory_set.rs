//! A set in memory: its shards, and the data of its keys that is kept until the end of the run.

use super::lines::KeptLines;
use super::ordered::Ordered;
use crate::batch::WorkBatch;
use crate::job::{Dedup, SetOrder};
use crate::plan::JobPlan;
use crate::stages::insert::ShardGroup;
use crate::stages::limit::GroupCounts;
use uniqurl::SetFull;
use uniqurl::internal::{AllocError, alloc};
use uniqurl::internal::{Counting, Shard, shards_for};
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
    pub(super) counting: Counting,
    pub(super) policy: KeepPolicy,
    pub(super) has_lines: bool,
}

/// Keys in the order of the input.
pub(super) struct ListedKeys {
    pub(super) list: KeyList,
    /// The line of each, if lines hold more than the key.
    pub(super) lines: KeptLines,
}

/// Where the keys are that are written at the end.
pub(super) struct KeyList {
    /// Shard and position of each.
    pub(super) places: Vec<u64>,
    /// The inputs with new keys, and how many keys are before those of each.
    pub(super) inputs: Vec<(usize, usize)>,
    /// Whether they are sorted before they are written.
    pub(super) sorts: bool,
}

impl ListedKeys {
    pub(super) fn new(policy: KeepPolicy, shards: usize, sorts: bool) -> Self {
        let list = KeyList { places: Vec::new(), inputs: Vec::new(), sorts };
        Self { list, lines: KeptLines::new(policy, shards) }
    }

    /// Whether lines may be replaced by longer ones.
    fn has_replaceable_lines(&self) -> bool {
        self.lines.are_replaceable() && !self.list.places.is_empty()
    }
}

impl KeyList {
    /// Takes the new keys of a formatted batch.
    pub(super) fn keep(&mut self, batch: &WorkBatch) -> Result<(), AllocError> {
        // This list grows with the input, so running out of memory has to be an error and not an abort.
        alloc::try_reserve(&mut self.places, batch.out.new.len())?;
        if self.inputs.last().is_none_or(|(input, _)| *input != batch.input) {
            self.inputs.push((batch.input, self.places.len()));
        }
        self.places.extend_from_slice(&batch.out.new);
        Ok(())
    }

    /// Bytes of memory, including those needed to list `more` keys.
    pub(super) fn memory(&self, more: usize) -> usize {
        let keys = self.places.len() + more;
        let sorting = if self.sorts { sort_memory(keys) } else { 0 };
        // A vector that grows is there twice for a moment, once at double size.
        keys * 3 * size_of::<u64>() + sorting
    }
}

impl MemorySet {
    pub(super) fn new(plan: &JobPlan) -> Self {
        let counting = if plan.counts_records() { Counting::On } else { Counting::Off };
        let policy = plan.kept_record();
        let sorts = plan.dedup().is_some_and(|dedup| dedup.order != SetOrder::First);
        let shards = shards_for(plan.limits.workers());
        let limit = plan.group_limit();
        let groups = if limit.is_some() { shards } else { 0 };
        Self {
            shards: (0..shards).map(|_| Shard::new(counting)).collect(),
            seen: Vec::new(),
            groups: (0..groups).map(|_| GroupCounts::default()).collect(),
            most: limit.map_or(u64::MAX, |(_, most)| most),
            listed: plan.writes_at_end().then(|| ListedKeys::new(policy, shards, sorts)),
            counting,
            policy,
            has_lines: plan.has_lines(),
        }
    }

    /// The parts that tasks share while batches are on their way: `lanes` groups of shards, and the list of keys.
    pub(super) fn share(&mut self, lanes: usize) -> (Vec<ShardGroup<'_>>, Option<&mut ListedKeys>) {
        let Self { shards, seen, groups, listed, .. } = self;
        let each = shards.len().div_ceil(lanes);
        let (mut seen, mut groups) = (seen.chunks_mut(each), groups.chunks_mut(each));
        let shards = shards.chunks_mut(each).enumerate().map(|(lane, shards)| ShardGroup {
            first: lane * each,
            shards,
            seen: seen.next().unwrap_or_default(),
            groups: groups.next().unwrap_or_default(),
            most: self.most,
            #[cfg(feature = "tables")]
            counting: self.counting,
        });
        (shards.collect(), listed.as_mut())
    }

    /// Whether a shard can hardly take more keys, whatever memory there is.
    pub(super) fn is_nearly_full(&self) -> bool {
        self.shards.iter().any(Shard::is_nearly_full)
    }

    /// Number of keys that are listed for the end.
    pub(super) fn listed(&self) -> usize {
        self.listed.as_ref().map_or(0, |listed| listed.list.places.len())
    }

    /// Whether lines may be replaced by longer ones.
    pub(super) fn has_replaceable_lines(&self) -> bool {
        self.listed.as_ref().is_some_and(ListedKeys::has_replaceable_lines)
    }

    /// Bytes of memory, including those that the set needs to take `more` entries in each shard.
    pub(super) fn memory(&self, more: &[usize]) -> usize {
        let set: usize =
            self.shards.iter().zip(more).map(|(shard, more)| shard.memory(*more)).sum();
        let groups = self.groups.iter().zip(more).map(|(groups, more)| groups.memory(*more));
        let all_more = more.iter().sum::<usize>();
        let listed = self
            .listed
            .as_ref()
            .map_or(0, |listed| listed.list.memory(all_more) + listed.lines.memory(all_more));
        set + self.seen_memory() + groups.sum::<usize>() + listed
    }

    /// Bytes of memory of the keys from before the run. They are only looked up, so their shards need no room to grow.
    pub(super) fn seen_memory(&self) -> usize {
        self.seen.iter().map(|shard| shard.memory(0)).sum()
    }

    /// The key of a number in the order of the input, as an entry. The number is the ordinal.
    pub(super) fn entry<'s>(&'s self, listed: &'s ListedKeys, number: usize) -> SpillEntry<'s> {
        let (ordinal, place) = (number as u64, listed.list.places[number]);
        // A place is the number of the shard in the upper half, and the position in it in the lower half.
        let (shard, at) = (&self.shards[(place >> 32) as usize], place as u32);
        let line = listed.lines.spilled(ordinal, place);
        SpillEntry { ordinal, count: shard.count(at), key: shard.get(at), line }
    }

    /// Removes all keys of the run.
    pub(super) fn clear(&mut self) {
        if let Some(listed) = &mut self.listed {
            *listed = ListedKeys::new(self.policy, self.shards.len(), listed.list.sorts);
        }
        // New shards, since emptied ones would keep their memory.
        self.shards.iter_mut().for_each(|shard| *shard = Shard::new(self.counting));
    }

    /// The set in the order in which it is written, if that is at the end.
    pub(super) fn ordered(&mut self, dedup: &Dedup) -> Result<Option<Ordered<'_>>, SetFull> {
        let Some(ListedKeys { list, lines }) = self.listed.take() else { return Ok(None) };
        let lines = self.has_lines.then_some(lines);
        Ordered::new(&self.shards, list.places, lines, dedup).map(Some)
    }
}
