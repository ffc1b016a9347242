//! Stage *insert*: adds the keys of batches to the shards of the set, or looks them up.

use std::sync::atomic::Ordering;

use super::limit::GroupCounts;
use crate::batch::{BatchGroups, Insertion, TextBuffers, WorkBatch};
use uniqurl::SetFull;
use uniqurl::internal::{Bytes as _, Part, Shard, ShardSize};
#[cfg(feature = "tables")]
use uniqurl::internal::{Counting, Outcome};

/// Neighbouring shards of a set, with what belongs to each: the keys from before the run, if there are any, and the
/// groups of the keys with the most keys of each, if there is a limit.
pub(crate) struct ShardGroup<'s> {
    pub(crate) first: usize,
    pub(crate) shards: &'s mut [Shard],
    pub(crate) seen: &'s mut [Shard],
    pub(crate) groups: &'s mut [GroupCounts],
    pub(crate) most: u64,
    /// Whether the set counts how often a key occurs.
    #[cfg(feature = "tables")]
    pub(crate) counting: Counting,
}

impl ShardGroup<'_> {
    /// Numbers of the shards.
    pub(crate) fn numbers(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.shards.len()
    }

    /// What the memory of each shard, and of its groups, depends on.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = (ShardSize, ShardSize)> {
        let groups = self.groups.iter().map(GroupCounts::size);
        self.shards
            .iter()
            .map(Shard::size)
            .zip(groups.chain(std::iter::repeat(ShardSize::default())))
    }

    /// Whether a shard can hardly take more keys, whatever memory there is.
    pub(crate) fn is_nearly_full(&self) -> bool {
        self.shards.iter().any(Shard::is_nearly_full)
    }

    /// Adds the keys of batches that come in the order of the input, or only looks them up. Keys from before the run
    /// are marked and not added, and so are keys beyond the limit of their group.
    pub(crate) fn insert(&mut self, batches: &[&WorkBatch]) -> Result<(), SetFull> {
        // All batches of a flow are inserted as its set is, so one tells it of all.
        let only_looks_up = batches.iter().any(|batch| batch.insertion == Insertion::LookedUp);
        for at in 0..self.shards.len() {
            let (number, shard) = (self.first + at, &mut self.shards[at]);
            let parts = parts_of(batches, number);
            if let Some(seen) = self.seen.get_mut(at) {
                // First, since keys that were seen before the run are not added.
                seen.mark_all(&parts);
            }
            match self.groups.get_mut(at) {
                Some(counts) => counts.insert(self.most, shard, &parts, groups_of(batches))?,
                None if only_looks_up => shard.find_all(&parts),
                None => shard.insert_all(&parts)?,
            }
            for (part, batch) in parts.iter().zip(batches) {
                note_places(shard, part, batch, number);
                #[cfg(feature = "tables")]
                if self.counting == Counting::On {
                    count_repeats(shard, part, batch);
                }
            }
        }
        Ok(())
    }
}

/// The entries of each batch that belong to a shard.
pub(crate) fn parts_of<'b>(
    batches: &[&'b WorkBatch],
    shard: usize,
) -> Vec<Part<'b, TextBuffers<'b>>> {
    let entries = batches.iter().map(|batch| batch.entries.of(shard));
    let bytes = batches.iter().map(|batch| batch.text.buffers());
    entries.zip(bytes).map(|(entries, bytes)| Part { entries, bytes }).collect()
}

fn groups_of<'b>(batches: &[&'b WorkBatch]) -> impl Iterator<Item = &'b BatchGroups> {
    let extras = batches.iter().filter_map(|batch| batch.extras.as_ref());
    extras.map(|extras| &extras.groups)
}

/// Notes the place of each key of a batch, if the job needs it.
fn note_places(shard: &Shard, part: &Part<'_, TextBuffers<'_>>, batch: &WorkBatch, number: usize) {
    for (place, entry) in batch.entries.places_of(number).iter().zip(part.entries) {
        let found = shard.place_of(entry.hash, part.bytes.of(entry));
        // Places are non-zero, so 0 stands for a key that the set does not hold.
        place.store(found.map_or(0, |place| place.get()), Ordering::Relaxed);
    }
}

/// Adds the further records that a row of a table stands for to the counts of keys in the set.
#[cfg(feature = "tables")]
fn count_repeats(shard: &mut Shard, part: &Part<'_, TextBuffers<'_>>, batch: &WorkBatch) {
    let Some(chunk) = batch.text.chunk.as_ref().filter(|chunk| !chunk.times().is_empty()) else {
        return;
    };
    for entry in part.entries {
        // The set has counted the row once already.
        let more = u64::from(chunk.times()[entry.sequence as usize]) - 1;
        // An entry that is spilled carries the count of all its rows.
        if more > 0 && entry.outcome() != Outcome::Absent {
            shard.count_more(entry.hash, part.bytes.of(entry), more);
        }
    }
}
