//! Hashes the keys of a batch, and groups them by the shard of the set that each belongs to.

use std::sync::atomic::AtomicU32;

use super::parse::reserve;
use super::text::UrlRef;
use super::{BatchGroups, ParseRules, WorkBatch};
use uniqurl::internal::{AllocError, Entry, Hash, alloc};

impl WorkBatch {
    /// Hashes the keys and groups them by shard, in the order of the records within each.
    pub(crate) fn group_by_shard(&mut self, rules: &ParseRules<'_>) -> Result<(), AllocError> {
        if let Some(group) = rules.group {
            self.find_groups(group, &rules.hasher)?;
        }
        let groups = self.extras.as_ref().map(|extras| &extras.groups);
        let by_group = groups.filter(|_| rules.group.is_some()).map(BatchGroups::hashes);
        let hashes = &mut self.hashes;
        hashes.clear();
        reserve(hashes, self.keys.len())?;
        let buffers = self.text.buffers();
        let texts = self.keys.iter().map(|key| buffers.get(*key));
        // Records without a URL are hashed too, so that a hash has the number of its record.
        rules.hasher.hash_all(texts, |hash| hashes.push(hash));
        let keys = self.keys.iter().zip(&*hashes).enumerate();
        let keys = keys.filter(|(_, (key, _))| key.is_canonical());
        let grouped = &mut self.entries;
        let (all, ends) = (&mut grouped.all, &mut grouped.ends);
        // The choice is the same for all keys, so it stands outside of the loops.
        match by_group {
            Some(by_group) => {
                let entries = keys.map(|(i, (key, hash))| {
                    (by_group[i].shard(rules.shards), entry(i, *key, *hash))
                });
                sort_by_shard(entries, rules.shards, all, ends)?;
            }
            None => {
                let entries =
                    keys.map(|(i, (key, hash))| (hash.shard(rules.shards), entry(i, *key, *hash)));
                sort_by_shard(entries, rules.shards, all, ends)?;
            }
        }
        if rules.needs.places {
            alloc::try_reserve(&mut grouped.places, grouped.all.len())?;
            grouped.places.resize_with(grouped.all.len(), AtomicU32::default);
        }
        Ok(())
    }
}

fn entry(sequence: usize, key: UrlRef, hash: Hash) -> Entry {
    Entry::new(hash, key.at, key.len, sequence as u32)
}

/// Sorts entries by the shard that comes with each, in stable order, and notes where those of each shard
/// end.
fn sort_by_shard(
    unsorted: impl Iterator<Item = (usize, Entry)> + Clone,
    shards: usize,
    entries: &mut Vec<Entry>,
    ends: &mut Vec<usize>,
) -> Result<(), AllocError> {
    ends.clear();
    alloc::try_reserve(ends, shards)?;
    ends.resize(shards, 0);
    // A counting sort: it is stable, linear, and needs no second buffer.
    unsorted.clone().for_each(|(shard, _)| ends[shard] += 1);
    let mut start = 0;
    for end in &mut *ends {
        // At first `ends` holds the starts. Each moves to its end while the entries are placed.
        (*end, start) = (start, start + *end);
    }
    // Entries of the chunk before are all overwritten.
    reserve(entries, start.saturating_sub(entries.len()))?;
    entries.resize_with(start, || entry(0, UrlRef::BLANK, Hash::default()));
    for (shard, entry) in unsorted {
        entries[ends[shard]] = entry;
        ends[shard] += 1;
    }
    Ok(())
}
