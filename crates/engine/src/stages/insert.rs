//! Stage *insert*: adds the keys of batches to the shards of the set, or looks them up.

use std::sync::atomic::{AtomicBool, Ordering};

use super::limit::GroupCounts;
use crate::batch::{Insertion, TextBuffers, WorkBatch};
use crate::trace::{Trace, TraceStage};
use uniqurl::SetFull;
use uniqurl::internal::{Bytes as _, Part, Shard};

/// What keys are inserted into: the shards, those with keys from before the run, and the groups of the keys with the
/// most keys of each if there is a limit. Where there are shards of the latter two, each belongs to the shard of its
/// number.
pub(crate) struct InsertTarget<'s> {
    pub(crate) shards: &'s mut [Shard],
    pub(crate) seen: &'s mut [Shard],
    pub(crate) groups: &'s mut [GroupCounts],
    pub(crate) most: u64,
}

/// A shard with what belongs to it.
struct ShardTarget<'s> {
    number: usize,
    shard: &'s mut Shard,
    seen: Option<&'s mut Shard>,
    limit: Option<(&'s mut GroupCounts, u64)>,
}

impl ShardTarget<'_> {
    /// Adds the entries of these batches that belong to the shard, or only looks them up.
    fn insert(self, batches: &[WorkBatch]) -> Result<usize, SetFull> {
        let Self { number, shard, seen, limit } = self;
        let only_looks_up = batches.iter().any(|batch| batch.insertion == Insertion::LookedUp);
        let parts = parts_of(batches, number);
        if let Some(seen) = seen {
            // First, since keys that were seen before the run are not added.
            seen.mark_all(&parts);
        }
        match limit {
            Some((counts, most)) => {
                let groups = batches.iter().filter_map(|batch| batch.extras.as_ref());
                counts.insert(most, shard, &parts, groups.map(|extras| &extras.groups))?;
            }
            None if only_looks_up => shard.find_all(&parts),
            None => shard.insert_all(&parts)?,
        }
        for (part, batch) in parts.iter().zip(batches) {
            for (place, entry) in batch.entries.places_of(number).iter().zip(part.entries) {
                let found = shard.place_of(entry.hash, part.bytes.of(entry));
                // Places are non-zero, so 0 stands for a key that the set does not hold.
                place.store(found.map_or(0, |place| place.get()), Ordering::Relaxed);
            }
        }
        Ok(parts.iter().map(|part| size_of_val(part.entries)).sum())
    }
}

/// The entries of each batch that belong to a shard.
pub(crate) fn parts_of(batches: &[WorkBatch], shard: usize) -> Vec<Part<'_, TextBuffers<'_>>> {
    let entries = batches.iter().map(|batch| batch.entries.of(shard));
    let bytes = batches.iter().map(|batch| batch.text.buffers());
    entries.zip(bytes).map(|(entries, bytes)| Part { entries, bytes }).collect()
}

/// Spawns a job for each shard, which goes through all batches in order, so that which of two equal URLs
/// is the first does not depend on the number of threads. Keys from before the run are marked and not added, and so
/// are keys beyond the limit of their group. `is_full` is set if a shard cannot take a key.
pub(crate) fn insert<'s>(
    scope: &rayon::Scope<'s>,
    target: InsertTarget<'s>,
    batches: &'s [WorkBatch],
    is_full: &'s AtomicBool,
    trace: Option<&'s Trace>,
) {
    let InsertTarget { shards, seen, groups, most } = target;
    if batches.is_empty() {
        return;
    }
    let (mut seen, mut groups) = (seen.iter_mut(), groups.iter_mut());
    for (number, shard) in shards.iter_mut().enumerate() {
        let (seen, limit) = (seen.next(), groups.next().map(|counts| (counts, most)));
        let target = ShardTarget { number, shard, seen, limit };
        scope.spawn(move |_| {
            let timer = Trace::begin(trace);
            let inserted = target.insert(batches);
            is_full.fetch_or(inserted.is_err(), Ordering::Relaxed);
            timer.end(TraceStage::Insert, number, || inserted.unwrap_or_default());
        });
    }
}
