//! Stage *insert*: adds the keys of a batch to the shards of the set, or looks them up.

use crate::batch::{Insertion, TextBuffers, WorkBatch};
use crate::trace::{Trace, TraceStage};
use uniqurl::set::{Bytes, Mark, Part, Shard};

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

/// The entries of each batch that go to one shard.
struct ShardShare<'s> {
    parts: Vec<Part<'s, TextBuffers<'s>>>,
    /// Where the position of each key is written, if the job needs it.
    places: Vec<&'s mut [u32]>,
}

impl ShardShare<'_> {
    fn with_capacity(batches: usize) -> Self {
        Self { parts: Vec::with_capacity(batches), places: Vec::with_capacity(batches) }
    }

    /// Adds the entries to the shard, or only looks them up.
    fn insert(
        &mut self,
        seen: Option<&mut Shard>,
        shard: &mut Shard,
        progress: &mut ShardProgress,
        only_looks_up: bool,
    ) {
        if let Some(seen) = seen {
            // First, since keys that were seen before the run are not added.
            seen.mark_all(&mut self.parts);
        }
        if only_looks_up {
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
}

/// Spawns a job for each shard, which goes through all batches in order, so that which of two equal URLs
/// is the first does not depend on the number of threads. Keys in `seen` are marked and not added.
pub(crate) fn insert<'s>(
    scope: &rayon::Scope<'s>,
    seen: Option<&'s mut [Shard]>,
    shards: &'s mut [Shard],
    batches: &'s mut [WorkBatch],
    progress: &'s mut [ShardProgress],
    trace: Option<&'s Trace>,
) {
    if shards.is_empty() || batches.is_empty() {
        return;
    }
    let only_looks_up = batches.iter().any(|batch| batch.insertion == Insertion::LookedUp);
    let mut shares: Vec<ShardShare<'s>> =
        shards.iter().map(|_| ShardShare::with_capacity(batches.len())).collect();
    // Splits the entries of each batch, so that each task has exclusive access to its shard's part.
    for batch in batches {
        let text = batch.text.buffers();
        let mut rest = batch.entries.all.as_mut_slice();
        let mut rest_of_places = batch.entries.places.as_mut_slice();
        let mut start = 0;
        for (share, end) in shares.iter_mut().zip(&batch.entries.ends) {
            let (entries, later) = rest.split_at_mut(end - start);
            let places = entries.len().min(rest_of_places.len());
            let (places, later_places) = rest_of_places.split_at_mut(places);
            share.parts.push(Part { entries, bytes: text });
            share.places.push(places);
            (rest, rest_of_places, start) = (later, later_places, *end);
        }
    }
    let mut seen = seen.into_iter().flatten();
    let shares = shards.iter_mut().zip(progress).zip(shares).enumerate();
    for (number, ((shard, progress), mut share)) in shares {
        let seen = seen.next();
        scope.spawn(move |_| {
            let timer = Trace::begin(trace);
            share.insert(seen, shard, progress, only_looks_up);
            timer.end(TraceStage::Insert, number, || {
                share.parts.iter().map(|part| size_of_val(&*part.entries)).sum()
            });
        });
    }
}
