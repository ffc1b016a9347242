//! Keys on their way to and from a store.

use super::error::SeenStoreError;
use uniqurl::internal::{AllocError, alloc};

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

/// Keys one after the other in memory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct KeyList {
    bytes: Vec<u8>,
    /// Where each key ends; it starts where the one before ends.
    ends: Vec<usize>,
}

impl KeyList {
    /// A list with room for so many keys of so many bytes.
    pub(super) fn with_capacity(keys: usize, bytes: usize) -> Result<Self, AllocError> {
        let mut list = Self::default();
        alloc::try_reserve_exact(&mut list.ends, keys)?;
        alloc::try_reserve_exact(&mut list.bytes, bytes)?;
        Ok(list)
    }

    /// Adds the key that begins with `shared` bytes of the last one.
    pub(super) fn push(&mut self, shared: usize, suffix: &[u8]) -> Result<(), AllocError> {
        // Both are reserved before either grows, so that a failure leaves the list whole.
        alloc::try_reserve(&mut self.bytes, shared + suffix.len())?;
        alloc::try_reserve(&mut self.ends, 1)?;
        let before = self.ends.len().checked_sub(2).map_or(0, |at| self.ends[at]);
        self.bytes.extend_from_within(before..before + shared);
        self.bytes.extend_from_slice(suffix);
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> usize {
        self.bytes.len() + self.ends.len() * size_of::<usize>()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

impl SortedKeys for KeyList {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[index]]
    }
}
