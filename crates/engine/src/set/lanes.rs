//! A set while batches are on their way: its shards in lanes, each of which takes the batches in the order of the
//! input, so that which of two equal URLs is the first does not depend on the number of threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::lines::AddedLines;
use super::memory_set::KeyList;
use super::partitioner::Partitioner;
use super::{slugs, written_keys};
use crate::batch::{Insertion, WorkBatch};
use crate::error::RunError;
use crate::output::TallyColumns;
use crate::sequencer::Sequencer;
use crate::stages::insert::ShardGroup;
use uniqurl::SetFull;
use uniqurl::internal::{AllocError, ShardSize};
use uniqurl_store::keep_policy::KeptRecords;
use uniqurl_store::spill::PartitionGroup;

/// The parts of a set that tasks share.
pub(crate) struct FlowSet<'s> {
    pub(crate) insertion: Insertion,
    pub(crate) partitioner: Partitioner,
    pub(crate) lanes: Vec<Lane<'s>>,
    /// Who takes the parts of written batches that are for the end, each in the order of the input.
    pub(crate) keepers: Vec<Keeper<'s>>,
    pub(super) kept: Mutex<Kept<'s>>,
    /// An upper bound for the bytes of the keys that are on their way into the shards.
    pub(super) coming_text: AtomicUsize,
    /// Memory of the keys from before the run.
    pub(super) seen: usize,
    /// Whether the keys that are written are wanted at the end, in the order of their bytes.
    pub(super) wants_keys: bool,
    /// Whether segments with many values are named at the end.
    pub(super) has_slugs: bool,
}

/// What is kept of batches until the end of the run, in the order of the input.
pub(super) struct Kept<'s> {
    pub(super) listed: Option<&'s mut KeyList>,
    pub(super) lines: Option<&'s mut AddedLines>,
    pub(super) measured: &'s mut TallyColumns,
}

/// Some shards, and the batches that wait for them.
pub(crate) struct Lane<'s> {
    pub(crate) queue: Sequencer<Arc<WorkBatch>>,
    shards: Mutex<ShardGroup<'s>>,
    /// The numbers of the shards.
    numbers: Range<usize>,
    // Not behind the lock of the shards, so that nobody who adds up the memory waits for a lane that inserts.
    sizes: Mutex<Vec<LaneShard>>,
}

/// What the memory of a shard will be once the entries on their way are in it.
#[derive(Clone, Copy)]
struct LaneShard {
    shard: ShardSize,
    groups: ShardSize,
    coming: usize,
}

/// A part of what is kept until the end, and the batches that wait for it.
pub(crate) struct Keeper<'s> {
    pub(crate) queue: Sequencer<Arc<WorkBatch>>,
    part: Mutex<KeptPart<'s>>,
    /// Bytes of memory of kept lines.
    // An atomic number, since it is asked for while the keeper works.
    memory: AtomicUsize,
}

pub(super) enum KeptPart<'s> {
    /// Partitions of a set that spills.
    Partitions(&'s mut PartitionGroup),
    /// The lines of the keys in these shards, which later ones may replace.
    Lines(Range<usize>, &'s mut KeptRecords),
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
        let listed = {
            let Kept { listed, lines, .. } = &*lock(&self.kept);
            let lines = lines.as_ref().map_or(0, |lines| lines.memory(coming));
            listed.as_ref().map_or(0, |listed| listed.memory(coming)) + lines
        };
        let replaceable: usize =
            self.keepers.iter().map(|it| it.memory.load(Ordering::Relaxed)).sum();
        let room = if replaceable > 0 { KeptRecords::room(coming) } else { 0 };
        let sorting = written_keys::memory(self.wants_keys, keys + coming);
        let set = bytes + text + listed + replaceable + room;
        set + self.seen + sorting + slugs::memory(self.has_slugs, set, keys + coming)
    }

    /// Whether lines of keys in the set may be replaced by longer ones.
    pub(crate) fn has_replaceable_lines(&self) -> bool {
        self.keepers.iter().any(|keeper| keeper.memory.load(Ordering::Relaxed) > 0)
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

    /// Takes the parts of a formatted batch that are kept in the order of the input.
    pub(crate) fn keep(&self, batch: &mut WorkBatch) -> Result<(), AllocError> {
        // Only the task that writes comes here, so batches come in order.
        let Kept { listed, lines, measured } = &mut *lock(&self.kept);
        if let Some(extras) = &batch.extras {
            **measured = measured.or(extras.measured);
        }
        listed.as_mut().map_or(Ok(()), |listed| listed.keep(batch))?;
        match lines {
            Some(lines) if !batch.out.lines_of_new.is_empty() => {
                // The set keeps the buffer itself. A copy into a larger block would be made by
                // the one thread that writes.
                lines.add(batch.out.new.len(), std::mem::take(&mut batch.out.lines_of_new))
            }
            _ => Ok(()),
        }
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

impl<'s> Keeper<'s> {
    pub(super) fn new(part: KeptPart<'s>) -> Self {
        let memory = AtomicUsize::new(part.memory());
        Self { queue: Sequencer::default(), part: Mutex::new(part), memory }
    }

    /// Takes its part of a batch.
    pub(crate) fn keep(&self, batch: &WorkBatch) -> Result<(), RunError> {
        let part = &mut *lock(&self.part);
        match part {
            KeptPart::Partitions(group) => group.write(&batch.out.spilled)?,
            KeptPart::Lines(shards, lines) => {
                let ranked = batch.extras.iter().flat_map(|extras| extras.ranked.iter());
                let is_here =
                    |(place, _): &(u64, &[u8])| shards.contains(&((place >> 32) as usize));
                for (place, line) in ranked.filter(is_here) {
                    lines.offer(place, line)?;
                }
            }
        }
        self.memory.store(part.memory(), Ordering::Relaxed);
        Ok(())
    }
}

impl KeptPart<'_> {
    fn memory(&self) -> usize {
        match self {
            KeptPart::Partitions(_) => 0,
            KeptPart::Lines(_, lines) => lines.memory(0),
        }
    }
}

/// A panic of another task ends the run, so what it left is not used.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
