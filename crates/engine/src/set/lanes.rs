//! A set while batches are on their way: its shards in lanes, each of which takes the batches in the order of the
//! input, so that which of two equal URLs is the first does not depend on the number of threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::memory_set::ListedKeys;
use super::partitioner::Partitioner;
use super::written_keys;
use crate::batch::{Insertion, WorkBatch};
use crate::output::TallyColumns;
use crate::sequencer::Sequencer;
use crate::stages::insert::ShardGroup;
use uniqurl::SetFull;
use uniqurl::internal::{AllocError, ShardSize};
use uniqurl_store::spill::{PartitionGroup, SpillError};

/// The parts of a set that tasks share.
pub(crate) struct FlowSet<'s> {
    pub(crate) insertion: Insertion,
    pub(crate) partitioner: Partitioner,
    pub(crate) lanes: Vec<Lane<'s>>,
    /// The partitions that the entries of a set that spills are written to, if they go there by batch.
    pub(crate) partitions: Vec<PartitionLane<'s>>,
    pub(super) kept: Mutex<Kept<'s>>,
    /// An upper bound for the bytes of the keys that are on their way into the shards.
    pub(super) coming_text: AtomicUsize,
    /// Memory of the keys from before the run.
    pub(super) seen: usize,
    /// Whether the keys that are written are wanted at the end, in the order of their bytes.
    pub(super) wants_keys: bool,
}

/// What is kept of batches until the end of the run.
pub(super) struct Kept<'s> {
    pub(super) listed: Option<&'s mut ListedKeys>,
    pub(super) measured: &'s mut TallyColumns,
}

/// Some shards, and the batches that wait for them.
pub(crate) struct Lane<'s> {
    pub(crate) queue: Sequencer<Arc<WorkBatch>>,
    shards: Mutex<ShardGroup<'s>>,
    /// The numbers of the shards.
    numbers: std::ops::Range<usize>,
    sizes: Mutex<Vec<LaneShard>>,
}

/// What the memory of a shard will be once the entries on their way are in it.
#[derive(Clone, Copy)]
struct LaneShard {
    shard: ShardSize,
    groups: ShardSize,
    coming: usize,
}

/// Some partitions, and the batches that wait for them.
pub(crate) struct PartitionLane<'s> {
    pub(crate) queue: Sequencer<Arc<WorkBatch>>,
    group: Mutex<&'s mut PartitionGroup>,
}

impl FlowSet<'_> {
    /// Bytes that the set takes once everything on its way and this batch are in it, as if all their keys were new.
    pub(crate) fn memory(&self, batch: &WorkBatch) -> usize {
        let (mut bytes, mut keys, mut coming) = (0, 0, 0);
        for lane in &self.lanes {
            for (number, size) in lane.numbers.clone().zip(&*lock(&lane.sizes)) {
                let more = size.coming + batch.entries.of(number).len();
                bytes += size.shard.memory(more) + size.groups.memory(more);
                keys += size.shard.len;
                coming += more;
            }
        }
        let text = self.coming_text.load(Ordering::Relaxed) + batch.new_bytes();
        let listed = lock(&self.kept).listed.as_ref().map_or(0, |listed| listed.memory(coming));
        let sorting = written_keys::memory(self.wants_keys, keys + coming);
        bytes + text + self.seen + listed + sorting
    }

    /// Whether lines of keys in the set may be replaced by longer ones.
    pub(crate) fn has_replaceable_lines(&self) -> bool {
        lock(&self.kept).listed.as_ref().is_some_and(|listed| listed.has_replaceable_lines())
    }

    /// Notes that the keys of a batch are on their way into the shards.
    pub(crate) fn expect(&self, batch: &WorkBatch) {
        self.coming_text.fetch_add(batch.new_bytes(), Ordering::Relaxed);
        for lane in &self.lanes {
            for (number, size) in lane.numbers.clone().zip(&mut *lock(&lane.sizes)) {
                size.coming += batch.entries.of(number).len();
            }
        }
    }

    /// Notes that they are there.
    pub(crate) fn note_inserted(&self, batch: &WorkBatch) {
        self.coming_text.fetch_sub(batch.new_bytes(), Ordering::Relaxed);
    }

    /// Takes the parts of a formatted batch that are kept until the end.
    pub(crate) fn keep(&self, batch: &WorkBatch) -> Result<(), AllocError> {
        let Kept { listed, measured } = &mut *lock(&self.kept);
        if let Some(extras) = &batch.extras {
            **measured = measured.or(extras.measured);
        }
        listed.as_mut().map_or(Ok(()), |listed| listed.keep(batch))
    }
}

impl<'s> Lane<'s> {
    pub(super) fn new(shards: ShardGroup<'s>) -> Self {
        let sizes = shards.sizes().map(|(shard, groups)| LaneShard { shard, groups, coming: 0 });
        Self {
            queue: Sequencer::default(),
            numbers: shards.numbers(),
            sizes: Mutex::new(sizes.collect()),
            shards: Mutex::new(shards),
        }
    }

    /// The number of its first shard.
    pub(crate) fn first(&self) -> usize {
        self.numbers.start
    }

    /// Whether a batch has keys for it.
    pub(crate) fn is_wanted_by(&self, batch: &WorkBatch) -> bool {
        self.numbers.clone().any(|number| !batch.entries.of(number).is_empty())
    }

    /// Adds the keys of batches in the order of the input. Returns whether it can take more batches.
    pub(crate) fn insert(&self, batches: &[&WorkBatch]) -> Result<bool, SetFull> {
        let mut shards = lock(&self.shards);
        shards.insert(batches)?;
        let sizes = &mut *lock(&self.sizes);
        for ((number, size), (shard, groups)) in self.numbers.clone().zip(sizes).zip(shards.sizes())
        {
            let inserted: usize = batches.iter().map(|batch| batch.entries.of(number).len()).sum();
            *size = LaneShard { shard, groups, coming: size.coming - inserted };
        }
        Ok(!shards.is_nearly_full())
    }
}

impl<'s> PartitionLane<'s> {
    pub(super) fn new(group: &'s mut PartitionGroup) -> Self {
        Self { queue: Sequencer::default(), group: Mutex::new(group) }
    }

    /// Writes the entries of a batch.
    pub(crate) fn write(&self, batch: &WorkBatch) -> Result<(), SpillError> {
        lock(&self.group).write(&batch.out.spilled)
    }
}

/// A panic of another task ends the run, so what it left is not used.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
