//! Inserts keys into a shard that takes only the first keys of each group. All keys of a group are in one
//! shard, in the order of the input.

use std::num::NonZeroU32;

use crate::batch::{BatchGroups, GroupRef, TextBuffers};
use uniqurl::SetFull;
use uniqurl::internal::{Bytes as _, Counting, Outcome, Part, Shard, ShardSize};

/// The groups of the keys of a shard, each with the number of its keys. Their bytes are compared.
#[derive(Debug)]
pub(crate) struct GroupCounts(Shard);

impl Default for GroupCounts {
    fn default() -> Self {
        Self(Shard::new(Counting::On))
    }
}

impl GroupCounts {
    /// Bytes of memory, with those of a bigger table if `more` groups need one.
    pub(crate) fn memory(&self, more: usize) -> usize {
        self.0.memory(more)
    }

    /// What its memory depends on.
    pub(super) fn size(&self) -> ShardSize {
        self.0.size()
    }

    /// Whether a group has so many keys.
    fn has(&self, group: GroupRef<'_>, most: u64) -> bool {
        let place = self.0.place_of(group.hash, group.bytes);
        place.is_some_and(|place| self.0.count(place.get()) >= most)
    }

    /// Adds the entries to the shard, at most so many keys of each group, and marks those that are beyond.
    pub(super) fn insert<'g>(
        &mut self,
        most: u64,
        shard: &mut Shard,
        parts: &[Part<'_, TextBuffers<'_>>],
        groups: impl Iterator<Item = &'g BatchGroups>,
    ) -> Result<(), SetFull> {
        // Most entries are settled here, where their cache misses overlap.
        shard.find_all(parts);
        for (part, groups) in parts.iter().zip(groups) {
            for entry in part.entries.iter().filter(|entry| entry.is_new()) {
                let group = groups.of(entry.sequence);
                let key = part.bytes.of(entry);
                // The look-up comes first: a key that was taken stays a duplicate, and is not
                // filtered, once its group is full.
                if shard.count_again(entry.hash, key) {
                    // An entry before it has added the key.
                    entry.settle(Outcome::Known);
                } else if self.has(group, most) {
                    entry.settle(Outcome::Filtered);
                } else {
                    self.0.add(group.hash, group.bytes)?;
                    let place = shard.add(entry.hash, key)?;
                    let place = place.and_then(NonZeroU32::new);
                    entry.settle(place.map_or(Outcome::Known, Outcome::New));
                }
            }
        }
        Ok(())
    }
}
