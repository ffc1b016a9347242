//! Counts the keys of each group in a set, so that only the first few of a group are kept.

use uniqurl::SetFull;
use uniqurl::internal::{Counting, Hash, Shard};

/// Tells the group of a key.
pub trait GroupOf: std::fmt::Debug + Sync {
    /// Appends the group of a key to `out`. It holds no line feed.
    fn append(&self, key: &[u8], out: &mut Vec<u8>);
}

/// How many keys of a group are kept.
#[derive(Debug, Clone, Copy)]
pub struct GroupLimit<'a> {
    /// Tells the group of a key.
    pub group_of: &'a dyn GroupOf,
    /// The first so many keys of each group.
    pub most: u64,
}

/// Groups, each with the number of its keys. Their bytes are compared.
#[derive(Debug)]
pub struct GroupCounts(Shard);

impl Default for GroupCounts {
    fn default() -> Self {
        Self(Shard::new(Counting::On))
    }
}

impl GroupCounts {
    /// Number of groups.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there is no group.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of keys of a group, if it is known.
    pub fn get(&self, hash: Hash, group: &[u8]) -> Option<u64> {
        self.0.place_of(hash, group).map(|place| self.0.count(place.get()))
    }

    /// Counts one more key.
    pub fn add(&mut self, hash: Hash, group: &[u8]) -> Result<(), SetFull> {
        self.0.add(hash, group).map(drop)
    }

    /// Counts one key less, of a group that is known.
    pub fn take_back(&mut self, hash: Hash, group: &[u8]) {
        if let Some(place) = self.0.place_of(hash, group) {
            let count = self.0.count(place.get());
            self.0.set_count(place.get(), count.saturating_sub(1));
        }
    }

    /// Adds a group that is not known, with the number of its keys.
    pub(crate) fn load(&mut self, hash: Hash, group: &[u8], count: u64) -> Result<(), SetFull> {
        if let Some(place) = self.0.add(hash, group)? {
            self.0.set_count(place, count);
        }
        Ok(())
    }

    /// Bytes of memory, with those of a bigger table if `more` groups need one.
    pub fn memory(&self, more: usize) -> usize {
        self.0.memory(more)
    }

    /// Each group with the number of its keys.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.0.places().map(|place| (self.0.get(place), self.0.count(place)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uniqurl::internal::{HashKey, Kernel};

    #[test]
    fn keys_of_each_group_are_counted_and_the_empty_group_is_one() {
        let key = HashKey::random(Kernel::best());
        let mut counts = GroupCounts::default();
        for group in ["", "a", "", "b", "a", ""] {
            counts.add(key.hash(group.as_bytes()), group.as_bytes()).unwrap();
        }
        counts.take_back(key.hash(b"b"), b"b");
        counts.load(key.hash(b"c"), b"c", 7).unwrap();
        let get = |counts: &GroupCounts, group: &[u8]| counts.get(key.hash(group), group);
        let found = [&b""[..], b"a", b"b", b"c", b"d"].map(|group| get(&counts, group));
        assert_eq!(found, [Some(3), Some(2), Some(0), Some(7), None]);
        assert_eq!(counts.iter().collect::<Vec<_>>().len(), counts.len());
    }
}
