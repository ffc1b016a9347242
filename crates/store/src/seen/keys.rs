//! Keys on their way to and from a store.

use std::path::Path;

use super::error::SeenStoreError;

/// Distinct keys in the order of their bytes, in memory.
pub trait SortedKeys: Sync {
    /// Number of keys.
    fn len(&self) -> usize;

    /// The key of this number, from 0.
    fn get(&self, index: usize) -> &[u8];

    /// Whether there is no key.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: AsRef<[u8]> + Sync> SortedKeys for [K] {
    fn len(&self) -> usize {
        <[K]>::len(self)
    }

    fn get(&self, index: usize) -> &[u8] {
        self[index].as_ref()
    }
}

/// Takes distinct keys in the order of their bytes.
pub trait KeySink: Send {
    /// Takes the next key, which is greater than the one before.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    fn push(&mut self, key: &[u8]) -> Result<(), SeenStoreError>;
}

/// Sorts keys that come in any order and may repeat, in bounded memory: beyond it they go to a temporary
/// file.
#[derive(Debug)]
pub struct KeySorter {}

impl KeySorter {
    /// Sorts within `memory` bytes; a temporary file is made in `directory`.
    pub fn new(memory: usize, directory: &Path) -> Self {
        let _ = (memory, directory);
        todo!()
    }

    /// Takes a key.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be written, or memory runs out.
    pub fn push(&mut self, key: &[u8]) -> Result<(), SeenStoreError> {
        let _ = key;
        todo!()
    }

    /// Gives the distinct keys in order.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be written or read, memory runs out, or the sink's error.
    pub fn finish(self, sink: &mut dyn KeySink) -> Result<(), SeenStoreError> {
        let _ = sink;
        todo!()
    }
}
