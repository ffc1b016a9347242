//! Stage *insert*: adds the keys of a batch to the shards of the set, or looks them up.

use std::mem::take;

use super::limit::{SetLimit, ShardLimit};
use crate::batch::{BatchGroups, Insertion, ShardEntries, TextBuffers, WorkBatch};
use crate::trace::{Trace, TraceStage};
use uniqurl::internal::{Bytes, Entry, Mark, Part, Shard};

/// The state of a shard before a batch, and the point where it could take no more.
pub(crate) struct ShardProgress {
    pub(crate) before: Mark,
    /// The number of batches whose entries the shard took completely, and of entries of the next batch.
    pub(crate) full: Option<(usize, usize)>,
}

impl ShardProgress {
    /// Before anything is inserted.
    pub(crate) fn of(shards: &[Shard]) -> Vec<Self> {
        shards.iter().map(|shard| Self { before: shard.mark(), full: None }).collect()
    }
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
        limit: Option<ShardLimit<'_>>,
        progress: &mut ShardProgress,
        only_looks_up: bool,
    ) {
        if let Some(seen) = seen {
            // First, since keys that were seen before the run are not added.
            seen.mark_all(&mut self.parts);
        }
        if let Some(limit) = limit {
            let Self { parts, groups, .. } = self;
            if limit.insert(shard, parts, groups, only_looks_up).is_err() {
                // All entries of the round were looked up, so all are counted back.
                progress.full = Some((self.parts.len(), 0));
                return;
            }
        } else if only_looks_up {
            shard.find_all(&mut self.parts);
        } else if let Err(stopped) = shard.insert_all(&mut self.parts) {
            progress.full = Some((stopped.part, stopped.after));
            return;
        }
        for (part, places) in self.parts.iter().zip(&mut self.places) {
            for (place, entry) in places.iter_mut().zip(&*part.entries) {
                let found = shard.place_of(entry.hash, part.bytes.of(entry));
                // Places are non-zero, so 0 stands for a key that the set does not hold.
                *place = found.map_or(0, |place| place.get());
            }
        }
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
/// is the first does not depend on the number of threads. Keys in `seen` are marked and not added, and so are keys beyond the
/// limit of their group.
pub(crate) fn insert<'s>(
    scope: &rayon::Scope<'s>,
    seen: Option<&'s mut [Shard]>,
    shards: &'s mut [Shard],
    limit: Option<SetLimit<'s>>,
    batches: &'s mut [WorkBatch],
    progress: &'s mut [ShardProgress],
    trace: Option<&'s Trace>,
) {
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
    let mut seen = seen.map(|seen| seen.chunks_mut(each));
    let mut limit = limit.map(|limit| limit.chunks(each));
    let shards = shards.chunks_mut(each).zip(progress.chunks_mut(each));
    for (group, (mut batches, (shards, progress))) in groups.into_iter().zip(shards).enumerate() {
        let mut seen = seen.as_mut().and_then(Iterator::next).unwrap_or_default().iter_mut();
        let mut limits = limit.as_mut().and_then(Iterator::next).into_iter().flatten();
        scope.spawn(move |scope| {
            let last = shards.len() - 1;
            let shards = shards.iter_mut().zip(progress).enumerate();
            for (at, (shard, progress)) in shards {
                let (number, seen) = (group * each + at, seen.next());
                let limit = limits.next();
                let mut share = ShardShare::take_next(&mut batches);
                let work = move || {
                    let timer = Trace::begin(trace);
                    share.insert(seen, shard, limit, progress, only_looks_up);
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
