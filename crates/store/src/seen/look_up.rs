//! Looks keys up, many at a time and in order.

use super::error::SeenStoreError;
use super::keys::SortedKeys;
use super::store::SeenStore;
use super::time::UnixTime;

impl SeenStore {
    /// Whether each of the keys is in the store, in their order. With `since`, only keys count that were added
    /// at this time or later.
    ///
    /// Works on the threads of the current rayon pool. The time is linear in the number of keys and in the
    /// blocks that hold keys of the store near them; memory is a few blocks for each thread.
    ///
    /// # Errors
    ///
    /// A run cannot be read or is damaged.
    pub fn look_up<K: SortedKeys + ?Sized>(
        &self,
        keys: &K,
        since: Option<UnixTime>,
    ) -> Result<Vec<bool>, SeenStoreError> {
        let _ = (keys, since);
        todo!()
    }
}
