//! Stage *insert*: adds the keys of a batch to the shards of the set, or looks them up.

use std::mem::take;
use std::sync::atomic::{AtomicBool, Ordering};

use super::limit::GroupCounts;
use crate::batch::{BatchGroups, Insertion, ShardEntries, TextBuffers, WorkBatch};
use crate::trace::{Trace, TraceStage};
use uniqurl::SetFull;
use uniqurl::internal::{Bytes as _, Entry, Part, Shard};

/// What keys are inserted into: the shards, those with keys from before the run, and the groups of the keys with the
/// most keys of each if there is a limit. Where there are shards of the latter two, each belongs to the shard of its
/// number.
pub(crate) struct InsertTarget<'s> {
    pub(crate) shards: &'s mut [Shard],
    pub(crate) seen: &'s mut [Shard],
    pub(crate) groups: &'s mut [GroupCounts],
    pub(crate) most: u64,
}

/// Most groups that the spawning thread divides the shards into. Each group divides its entries in a task of
/// its own: for 32 threads, dividing the entries of all batches by all shards takes as long as a round.
const GROUPS: usize = 32;

/// The entries of a batch for neighbouring shards.
struct BatchEntries<'s> {
    entries: &'s mut [Entry],
    /// Where the position of each key is written, if the job needs it.
    places: &'s mut [u32],
    /// Where the entries of each shard end, counted from `start`.
    ends: &'s [usize],
    start: usize,
    bytes: TextBuffers<'s>,
    /// The groups of the records, for a set that limits groups.
    groups: Option<&'s BatchGroups>,
}

impl<'s> BatchEntries<'s> {
    fn of(batch: &'s mut WorkBatch) -> Self {
        let ShardEntries { all, ends, places, .. } = &mut batch.entries;
        let groups = batch.extras.as_ref().map(|extras| &extras.groups);
        Self { entries: all, places, ends, start: 0, bytes: batch.text.buffers(), groups }
    }

    /// Takes those for the first `shards` shards out.
    fn take_first(&mut self, shards: usize) -> Self {
        let (ends, later_ends) = self.ends.split_at(shards.min(self.ends.len()));
        let end = ends.last().map_or(self.start, |end| *end);
        let (entries, later) = take(&mut self.entries).split_at_mut(end - self.start);
        let places = take(&mut self.places);
        let (places, later_places) = places.split_at_mut(entries.len().min(places.len()));
        let Self { start, bytes, groups, .. } = *self;
        let first = Self { entries, places, ends, start, bytes, groups };
        *self = Self {
            entries: later,
            places: later_places,
            ends: later_ends,
            start: end,
            bytes,
            groups,
        };
        first
    }
}

/// The entries of each batch that go to one shard.
struct ShardShare<'s> {
    parts: Vec<Part<'s, TextBuffers<'s>>>,
    places: Vec<&'s mut [u32]>,
    groups: Vec<&'s BatchGroups>,
}

impl<'s> ShardShare<'s> {
    /// Takes those of the next shard out of each batch.
    fn take_next(batches: &mut [BatchEntries<'s>]) -> Self {
        let mut parts = Vec::with_capacity(batches.len());
        let mut all_places = Vec::with_capacity(batches.len());
        let mut all_groups = Vec::new();
        for batch in batches {
            let BatchEntries { entries, places, bytes, groups, .. } = batch.take_first(1);
            parts.push(Part { entries, bytes });
            all_places.push(places);
            all_groups.extend(groups);
        }
        Self { parts, places: all_places, groups: all_groups }
    }

    /// Adds the entries to the shard, or only looks them up.
    fn insert(
        &mut self,
        seen: Option<&mut Shard>,
        shard: &mut Shard,
        limit: Option<(&mut GroupCounts, u64)>,
        only_looks_up: bool,
    ) -> Result<(), SetFull> {
        if let Some(seen) = seen {
            // First, since keys that were seen before the run are not added.
            seen.mark_all(&mut self.parts);
        }
        match limit {
            Some((counts, most)) => counts.insert(most, shard, &mut self.parts, &self.groups)?,
            None if only_looks_up => shard.find_all(&mut self.parts),
            None => shard.insert_all(&mut self.parts)?,
        }
        for (part, places) in self.parts.iter().zip(&mut self.places) {
            for (place, entry) in places.iter_mut().zip(&*part.entries) {
                let found = shard.place_of(entry.hash, part.bytes.of(entry));
                // Places are non-zero, so 0 stands for a key that the set does not hold.
                *place = found.map_or(0, |place| place.get());
            }
        }
        Ok(())
    }

    /// Bytes of the entries.
    fn size(&self) -> usize {
        self.parts.iter().map(|part| size_of_val(&*part.entries)).sum()
    }
}

/// The entries of batches by shard, and by batch within each.
pub(crate) fn entries_of_shards(
    batches: &mut [WorkBatch],
    shards: usize,
) -> Vec<Vec<Part<'_, TextBuffers<'_>>>> {
    let mut rest: Vec<_> = batches.iter_mut().map(BatchEntries::of).collect();
    (0..shards).map(|_| ShardShare::take_next(&mut rest).parts).collect()
}

/// Spawns a job for each shard, which goes through all batches in order, so that which of two equal URLs
/// is the first does not depend on the number of threads. Keys from before the run are marked and not added, and so
/// are keys beyond the limit of their group. `is_full` is set if a shard cannot take a key.
pub(crate) fn insert<'s>(
    scope: &rayon::Scope<'s>,
    target: InsertTarget<'s>,
    batches: &'s mut [WorkBatch],
    is_full: &'s AtomicBool,
    trace: Option<&'s Trace>,
) {
    let InsertTarget { shards, seen, groups: counts, most } = target;
    if shards.is_empty() || batches.is_empty() {
        return;
    }
    let only_looks_up = batches.iter().any(|batch| batch.insertion == Insertion::LookedUp);
    let each = shards.len().div_ceil(GROUPS);
    let mut groups: Vec<Vec<BatchEntries<'s>>> =
        shards.chunks(each).map(|_| Vec::with_capacity(batches.len())).collect();
    // Splits the entries of each batch, so that each task has exclusive access to its part.
    for batch in batches {
        let mut rest = BatchEntries::of(batch);
        groups.iter_mut().for_each(|group| group.push(rest.take_first(each)));
    }
    let (mut seen, mut counts) = (seen.chunks_mut(each), counts.chunks_mut(each));
    for (group, (mut batches, shards)) in
        groups.into_iter().zip(shards.chunks_mut(each)).enumerate()
    {
        let mut seen = seen.next().unwrap_or_default().iter_mut();
        let mut counts = counts.next().unwrap_or_default().iter_mut();
        scope.spawn(move |scope| {
            let last = shards.len() - 1;
            for (at, shard) in shards.iter_mut().enumerate() {
                let (number, seen) = (group * each + at, seen.next());
                let limit = counts.next().map(|counts| (counts, most));
                let mut share = ShardShare::take_next(&mut batches);
                let work = move || {
                    let timer = Trace::begin(trace);
                    if share.insert(seen, shard, limit, only_looks_up).is_err() {
                        is_full.store(true, Ordering::Relaxed);
                    }
                    timer.end(TraceStage::Insert, number, || share.size());
                };
                if at < last {
                    scope.spawn(move |_| work());
                } else {
                    work();
                }
            }
        });
    }
}
