//! The keys that a run writes, in the order of their bytes.

use std::mem::take;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::error::RunError;
use uniqurl::SetFull;
use uniqurl::internal::{AllocError, Shard, alloc};
use uniqurl_store::seen::{KeySink, KeySorter, SeenStoreError};
use uniqurl_store::sort::{ShardUrls, Threads, Urls as _, in_turn, sort, sort_memory};

/// Least bytes of memory to sort keys in.
const LEAST_TO_SORT: usize = 64 << 10;

/// Keys that come in any order, on their way to a sink.
#[derive(Debug)]
pub(super) struct Unsorted(KeySorter);

impl Unsorted {
    /// Sorts within `memory` bytes, and beyond in a file in `directory`.
    pub(super) fn new(memory: usize, directory: &Path) -> Self {
        Self(KeySorter::new(memory.max(LEAST_TO_SORT), directory))
    }

    /// Pushes the keys to the sink.
    pub(super) fn finish(self, sink: &mut dyn KeySink) -> Result<(), RunError> {
        Ok(self.0.finish(sink)?)
    }
}

impl KeySink for Unsorted {
    fn push(&mut self, key: &[u8]) -> Result<(), SeenStoreError> {
        self.0.push(key)
    }
}

/// Keys that tasks write at the same time, by thread. A line feed ends each.
#[derive(Debug)]
pub(super) struct KeyBatches(Vec<Mutex<Vec<u8>>>);

impl KeyBatches {
    /// One for each thread of the pool.
    pub(super) fn new() -> Self {
        Self((0..rayon::current_num_threads()).map(|_| Mutex::default()).collect())
    }

    /// Adds a key to the batch of this thread.
    pub(super) fn add(&self, key: &[u8]) -> Result<(), AllocError> {
        // Outside of a pool there is one thread, which takes the first batch.
        let thread = rayon::current_thread_index().unwrap_or_default();
        let mut batch = self.0[thread].lock().unwrap_or_else(PoisonError::into_inner);
        add_to(&mut batch, key)
    }

    /// Pushes the keys that were added so far.
    pub(super) fn push_to(&self, sink: &mut dyn KeySink) -> Result<(), SeenStoreError> {
        for batch in &self.0 {
            // The sink may sort with all threads, which may be given tasks that add keys meanwhile.
            let batch = take(&mut *batch.lock().unwrap_or_else(PoisonError::into_inner));
            push_batch(&batch, sink)?;
        }
        Ok(())
    }
}

/// Adds a key to a batch.
pub(super) fn add_to(batch: &mut Vec<u8>, key: &[u8]) -> Result<(), AllocError> {
    alloc::try_reserve(batch, key.len() + 1)?;
    batch.extend_from_slice(key);
    batch.push(b'\n');
    Ok(())
}

/// Pushes the keys of a batch.
pub(super) fn push_batch(batch: &[u8], sink: &mut dyn KeySink) -> Result<(), SeenStoreError> {
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', batch) {
        sink.push(&batch[start..end])?;
        start = end + 1;
    }
    Ok(())
}

/// Bytes of memory to list and sort the places of so many keys at the end, if they are wanted then.
pub(super) fn memory(is_wanted: bool, keys: usize) -> usize {
    if is_wanted { keys * size_of::<u64>() + sort_memory(keys) } else { 0 }
}

/// The places of all keys of a set: the number of the shard in the upper half, and the position in it.
pub(super) fn all_places(shards: &[Shard]) -> Result<Vec<u64>, SetFull> {
    let mut places = Vec::new();
    alloc::try_reserve_exact(&mut places, shards.iter().map(Shard::len).sum())?;
    for (number, shard) in (0u64..).zip(shards) {
        places.extend(shard.places().map(|place| number << 32 | u64::from(place)));
    }
    Ok(places)
}

/// Sorts places of a set by the keys.
pub(super) fn sort_places(places: &mut [u64], shards: &[Shard]) -> Result<(), SetFull> {
    sort(places, &ShardUrls(shards.iter().collect()), Threads::All)
}

/// Pushes the keys at these places.
pub(super) fn push_places(
    places: &[u64],
    shards: &[Shard],
    sink: &mut dyn KeySink,
) -> Result<(), SeenStoreError> {
    let urls = ShardUrls(shards.iter().collect());
    in_turn(places, &urls).try_for_each(|place| sink.push(urls.get(place)))
}
