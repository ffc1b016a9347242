//! Sorts keys that come in any order, in bounded memory.

use std::path::Path;
use std::sync::Arc;

use super::error::SeenStoreError;
use super::keys::KeySink;
use crate::keep_policy::KeepPolicy;
use crate::spill::{
    BlockCompressor, EntryWriter, RangeEntries, RangePlan, SpillEntry, Store, Stream, block_size,
    each_range,
};

/// Sorts keys that come in any order and may repeat, in bounded memory: they go to a temporary file as one range,
/// which is divided until its parts fit.
#[derive(Debug)]
pub struct KeySorter {
    memory: usize,
    store: Arc<Store>,
    writer: EntryWriter,
    compressor: BlockCompressor,
}

impl KeySorter {
    /// Sorts within `memory` bytes; beyond it, a temporary file is made in `directory`.
    pub fn new(memory: usize, directory: &Path) -> Self {
        let store = Arc::new(Store::in_memory(directory, memory / 4));
        let compressor = BlockCompressor::new(&store);
        let writer = EntryWriter::new(block_size(memory));
        Self { memory, store, writer, compressor }
    }

    /// Takes a key.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be written, or memory runs out.
    pub fn push(&mut self, key: &[u8]) -> Result<(), SeenStoreError> {
        // Only keys matter here. Numbers of one byte make the shortest entries.
        let entry = SpillEntry { ordinal: 0, count: 1, key, line: &[] };
        Ok(self.writer.push(&entry, &mut self.compressor)?)
    }

    /// Gives the distinct keys in order.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be written or read, memory runs out, or the sink's error.
    pub fn finish(self, sink: &mut dyn KeySink) -> Result<(), SeenStoreError> {
        let Self { memory, store, writer, mut compressor, .. } = self;
        let all: Stream = writer.finish(&mut compressor)?;
        let plan = RangePlan { store: &store, keep: KeepPolicy::First, block: block_size(memory) };
        // The blocks in memory take a fourth.
        each_range(vec![all], &plan, memory - memory / 4, |ranges| {
            let mut keys = ranges.iter().flat_map(RangeEntries::keys);
            keys.try_for_each(|key| sink.push(key))
        })
    }
}
