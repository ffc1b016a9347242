//! Keys on their way to and from a store.

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
