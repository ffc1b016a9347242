//! Sorts keys that come in any order, in bounded memory.
//!
//! Keys are gathered in memory. If there are too many, they are sorted and written to a temporary file
//! as one stream; the streams are merged at the end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use uniqurl::SetFull;
use uniqurl::internal::{AllocError, Counting, alloc, prefetch};

use super::error::SeenStoreError;
use super::keys::KeySink;
use crate::keep_policy::KeepPolicy;
use crate::sort::{Threads, Urls, in_turn, sort, sort_memory};
use crate::spill::{
    BlockCompressor, EntryWriter, MarksBudget, MergeOrder, PartitionPlan, SpillEntry, Store,
    Stream, block_size, merge,
};

/// As many keys are sorted at once, however little memory there is.
const MIN_KEYS: usize = 1 << 10;

/// Sorts keys that come in any order and may repeat, in bounded memory: beyond it they go to a temporary
/// file.
#[derive(Debug)]
pub struct KeySorter {
    memory: usize,
    directory: PathBuf,
    keys: UnsortedKeys,
    /// None: all keys so far are in memory.
    spilled: Option<SpilledKeys>,
}

/// Streams of distinct keys in order, which may have keys in common.
#[derive(Debug)]
struct SpilledKeys {
    store: Arc<Store>,
    streams: Vec<Stream>,
}

impl KeySorter {
    /// Sorts within `memory` bytes; a temporary file is made in `directory`.
    pub fn new(memory: usize, directory: &Path) -> Self {
        let (directory, keys) = (directory.to_owned(), UnsortedKeys::default());
        Self { memory, directory, keys, spilled: None }
    }

    /// Takes a key.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be written, or memory runs out.
    pub fn push(&mut self, key: &[u8]) -> Result<(), SeenStoreError> {
        if self.keys.places.len() >= MIN_KEYS && self.keys.memory(key) > self.memory {
            self.spill()?;
        }
        self.keys.push(key).map_err(|_| SeenStoreError::memory(&self.directory))
    }

    /// Gives the distinct keys in order.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be written or read, memory runs out, or the sink's error.
    pub fn finish(mut self, sink: &mut dyn KeySink) -> Result<(), SeenStoreError> {
        if self.spilled.is_none() {
            self.keys.sort().map_err(|_| SeenStoreError::memory(&self.directory))?;
            return self.keys.for_each(|key| sink.push(key));
        }
        self.spill()?;
        self.keys = UnsortedKeys::default();
        let Self { memory, directory, spilled, .. } = self;
        let Some(SpilledKeys { store, streams }) = spilled else { return Ok(()) };
        let plan = PartitionPlan {
            store: &store,
            order: MergeOrder::Sorted,
            counting: Counting::Off,
            keep: KeepPolicy::First,
            min_count: 1,
            memory,
            block: block_size(memory),
            marks: &MarksBudget::new(0),
            limit: None,
        };
        let mut last: Option<Vec<u8>> = None;
        merge(streams, &plan, |SpillEntry { key, .. }| {
            if last.as_deref() == Some(key) {
                return Ok(true);
            }
            let last = last.get_or_insert_default();
            last.clear();
            alloc::try_reserve(last, key.len()).map_err(|_| SeenStoreError::memory(&directory))?;
            last.extend_from_slice(key);
            sink.push(key).map(|()| true)
        })
    }

    /// Writes the keys in memory to the temporary file.
    fn spill(&mut self) -> Result<(), SeenStoreError> {
        self.keys.sort().map_err(|_| SeenStoreError::memory(&self.directory))?;
        let mut spilled = match self.spilled.take() {
            Some(spilled) => spilled,
            None => {
                let store = Arc::new(Store::create(&self.directory)?);
                SpilledKeys { store, streams: Vec::new() }
            }
        };
        let mut compressor = BlockCompressor::new(&spilled.store);
        let mut writer = EntryWriter::new(block_size(self.memory));
        let mut text = Vec::new();
        self.keys.for_each(|key| {
            text.clear();
            let entry = SpillEntry { ordinal: 0, count: 1, key, line: &[] };
            entry.append(&mut text).map_err(|error| spilled.store.error(error.into()))?;
            writer.write(&text, &mut compressor)
        })?;
        spilled.streams.push(writer.finish(&mut compressor)?);
        self.keys.clear();
        self.spilled = Some(spilled);
        Ok(())
    }
}

/// Keys in memory, each with a line feed after it, as the sort needs them.
#[derive(Debug, Default)]
struct UnsortedKeys {
    bytes: Vec<u8>,
    /// Where each key starts.
    places: Vec<u64>,
}

impl UnsortedKeys {
    /// Bytes of memory, including those that take this key and sort all of them.
    fn memory(&self, key: &[u8]) -> usize {
        let Self { bytes, places } = self;
        // A vector that grows doubles, and is there twice meanwhile.
        let grown = |len: usize, more: usize, capacity: usize| match len + more > capacity {
            true => capacity + (len + more).max(2 * capacity),
            false => capacity,
        };
        grown(bytes.len(), key.len() + 1, bytes.capacity())
            + grown(places.len(), 1, places.capacity()) * size_of::<u64>()
            + sort_memory(places.len() + 1)
    }

    fn push(&mut self, key: &[u8]) -> Result<(), AllocError> {
        let Self { bytes, places } = self;
        alloc::try_reserve(bytes, key.len() + 1)?;
        alloc::try_reserve(places, 1)?;
        places.push(bytes.len() as u64);
        bytes.extend_from_slice(key);
        bytes.push(b'\n');
        Ok(())
    }

    fn sort(&mut self) -> Result<(), SetFull> {
        let mut places = std::mem::take(&mut self.places);
        let sorted = sort(&mut places, self, Threads::All);
        self.places = places;
        sorted
    }

    /// Calls `take` with each of the sorted keys once.
    fn for_each<E>(&self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut last = None;
        for place in in_turn(&self.places, self) {
            let key = self.get(place);
            if last != Some(key) {
                take(key)?;
            }
            last = Some(key);
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }
}

impl Urls for UnsortedKeys {
    #[inline]
    fn text(&self, place: u64) -> &[u8] {
        &self.bytes[place as usize..]
    }

    fn fetch(&self, place: u64) {
        prefetch(&self.bytes, place as usize);
        prefetch(&self.bytes, place as usize + 64);
    }

    #[inline]
    fn fetch_from(&self, place: u64, depth: usize) {
        prefetch(&self.bytes, place as usize + depth);
    }
}
