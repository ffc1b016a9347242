//! The part of a pass that is about groups of keys, if only the first keys of each are kept.

use std::io;

use super::{GroupsBeyondMemory, MIN_URLS, PartitionPlan, Set};
use crate::spill::{SpillEntry, SpillError};
use uniqurl::internal::{Hash, HashKey};

impl<'a> Set<'a> {
    /// Takes the group of an entry as the one at hand; returns whether the entry is the group's own.
    pub(super) fn turn_to_group(&mut self, entry: &SpillEntry<'_>, key: &HashKey) -> bool {
        let Some(groups) = &mut self.groups else { return false };
        groups.turn_to(entry, key);
        entry.is_of_group()
    }

    /// Takes the entry of the group at hand.
    pub(super) fn load_group(
        &mut self,
        entry: &SpillEntry<'_>,
        plan: &PartitionPlan<'_>,
    ) -> Result<(), SpillError> {
        let memory = self.memory(plan);
        let Some(groups) = &mut self.groups else { return Ok(()) };
        let has_room = groups.len() < MIN_URLS || memory <= plan.memory;
        if !has_room || groups.load(entry.ordinal).is_err() {
            return Err(beyond_memory(plan));
        }
        Ok(())
    }

    /// Whether the group at hand takes no more keys, and this one is not of those that it took.
    pub(super) fn is_beyond_limit(&self, hash: Hash, key: &[u8]) -> bool {
        self.groups.as_ref().is_some_and(|groups| groups.is_full())
            && !self.shard.contains(hash, key)
    }
}

/// The keys kept of the groups do not fit.
pub(super) fn beyond_memory(plan: &PartitionPlan<'_>) -> SpillError {
    plan.store.error(io::Error::new(io::ErrorKind::OutOfMemory, GroupsBeyondMemory))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap, HashSet};
    use std::sync::Arc;

    use crate::group_counts::{GroupLimit, GroupOf};
    use crate::keep_policy::{KeepPolicy, KeptRecord};
    use crate::spill::packing::BlockCompressor;
    use crate::spill::{
        GroupsBeyondMemory, MarksBudget, MergeOrder, PartitionPlan, RecordStatus, SpillEntry,
        SpillError, Store, dedup_partition, merge, written,
    };
    use uniqurl::internal::{Counting, HashKey};

    /// The text before the first slash.
    #[derive(Debug)]
    struct Start;

    impl GroupOf for Start {
        fn append(&self, key: &[u8], out: &mut Vec<u8>) {
            out.extend_from_slice(key.split(|byte| *byte == b'/').next().unwrap_or_default());
        }
    }

    /// A group and a key in it, for each record.
    fn records(many: u64) -> Vec<String> {
        let number = |i: u64, salt: u64| (i + salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        let record = |i| match number(i, 7) % 4 {
            // One group with half of the records, and one without a name.
            0 | 1 => format!("giant/{}", number(i, 9) % 900),
            2 => format!("/{}", number(i, 3) % 50),
            _ => format!("g{}/{}", number(i, 1) % 300, number(i, 2) % 5),
        };
        (0..many).map(record).collect()
    }

    type Outcome = (BTreeMap<u64, RecordStatus>, Vec<(String, u64)>);

    /// The plain loop: groups with `kept` keys before, the records, and the status of each that
    /// has one; then the keys with their counts, in order.
    fn expected(records: &[String], seen: &HashSet<&str>, kept: u64, most: u64) -> Outcome {
        let (mut groups, mut keys) = (HashMap::from([("giant", kept)]), BTreeMap::new());
        let mut found = BTreeMap::new();
        for (ordinal, key) in (0..).zip(records) {
            let group = groups.entry(key.split('/').next().unwrap()).or_default();
            if seen.contains(&**key) {
                found.insert(ordinal, RecordStatus::Seen);
            } else if let Some(count) = keys.get_mut(key) {
                *count += 1;
            } else if *group == most {
                found.insert(ordinal, RecordStatus::Filtered);
            } else {
                *group += 1;
                keys.insert(key.clone(), 1);
                found.insert(ordinal, RecordStatus::New);
            }
        }
        (found, keys.into_iter().collect())
    }

    /// What one pass gives for a partition of groups with these limits, or the reason why it gave up.
    fn passed(
        entries: &[SpillEntry<'_>],
        (most, keep): (u64, KeepPolicy),
        (width, memory): (u32, usize),
    ) -> Result<Outcome, String> {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::create(directory.path()).unwrap());
        let plan = PartitionPlan {
            store: &store,
            order: MergeOrder::Sorted,
            counting: Counting::On,
            keep,
            min_count: 1,
            memory,
            block: 4096,
            marks: &MarksBudget::new(0),
            limit: Some(GroupLimit { group_of: &Start, most }),
        };
        let mut compressor = BlockCompressor::new(&store);
        let entries = entries.iter().copied();
        let partition = written(entries, plan.block, &mut compressor).unwrap();
        let before = store.spilled();
        let mut found = BTreeMap::new();
        let mut tell = |ordinal, status| {
            assert_eq!(found.insert(ordinal, status), None, "{ordinal}");
        };
        let key = HashKey::narrow(width);
        let done = dedup_partition(partition, &plan, &key, &mut tell);
        let done = done.map_err(|error| {
            assert!(error.error.get_ref().is_some_and(|why| why.is::<GroupsBeyondMemory>()));
            assert_eq!(store.spilled(), before, "nothing is written anew");
            error.error.to_string()
        })?;
        assert!(done.rest.is_empty());
        let mut rows = Vec::new();
        merge(vec![done.run.into_stream()], &plan, |entry| {
            rows.push((String::from_utf8_lossy(entry.key).into_owned(), entry.count));
            Ok::<_, SpillError>(true)
        })
        .unwrap();
        Ok((found, rows))
    }

    fn entry(ordinal: u64, count: u64, key: &str) -> SpillEntry<'_> {
        SpillEntry { ordinal, count, key: key.as_bytes(), line: &[] }
    }

    #[test]
    fn one_pass_keeps_the_first_keys_of_each_group_under_any_hash() {
        let records = records(4000);
        // Lines that grow.
        let line = |i: usize| {
            let mut line = Vec::new();
            KeptRecord::append_value(b"", &mut line);
            line.extend(vec![b'x'; i / 20]);
            line.push(b'\n');
            line
        };
        let lines: Vec<_> = (0..records.len()).map(line).collect();
        for (most, kept, keep) in [
            (1, 0, KeepPolicy::First),
            (3, 2, KeepPolicy::First),
            (3, 0, KeepPolicy::Last),
            (400, 100, KeepPolicy::First),
            (400, 1, KeepPolicy::Last),
            (u64::MAX, 0, KeepPolicy::First),
        ] {
            for seen in [0, 300] {
                let seen: HashSet<_> = records[..seen].iter().map(String::as_str).collect();
                let expected = expected(&records, &seen, kept, most);
                let of_group = (kept > 0).then_some(SpillEntry::of_group(b"giant", kept));
                let before = seen.iter().map(|key| entry(0, 0, key));
                let all = (0..).zip(&records).map(|(ordinal, key)| SpillEntry {
                    line: match keep {
                        KeepPolicy::First => &[],
                        _ => &lines[ordinal as usize],
                    },
                    ..entry(ordinal, 1, key)
                });
                let all: Vec<_> = of_group.into_iter().chain(before).chain(all).collect();
                for width in [64, 8, 0] {
                    let passed = passed(&all, (most, keep), (width, 1 << 30)).unwrap();
                    assert!(passed == expected, "{most} {kept} {keep:?} {} {width}", seen.len());
                }
            }
        }
    }

    #[test]
    fn memory_has_to_hold_what_is_kept_and_not_what_comes() {
        let key = |i: u64| format!("g{}/{i}", i % 40);
        // Each group has 250 keys, and all of them come three times.
        let records: Vec<_> = (0..30_000).map(|i| key(i % 10_000)).collect();
        let entries: Vec<_> = (0..).zip(&records).map(|(at, key)| entry(at, 1, key)).collect();
        let memory = 60_000;
        let bytes: usize = records.iter().map(String::len).sum();
        assert!(bytes > 3 * memory);
        let passed = |most| passed(&entries, (most, KeepPolicy::First), (64, memory));
        assert!(passed(3).unwrap() == expected(&records, &HashSet::new(), 0, 3));
        assert!(passed(200).unwrap_err().contains("take more memory than allowed"));
    }

    #[test]
    fn groups_and_seen_keys_that_do_not_fit_are_an_error_too() {
        let keys: Vec<_> = (0..20_000).map(|i| format!("g{i}/{i}")).collect();
        let seen: Vec<_> = keys.iter().map(|key| entry(0, 0, key)).collect();
        let groups: Vec<_> =
            keys.iter().map(|key| SpillEntry::of_group(key.as_bytes(), 1)).collect();
        for entries in [seen, groups] {
            let passed = |memory| passed(&entries, (2, KeepPolicy::First), (64, memory));
            assert!(passed(60_000).is_err());
            assert_eq!(passed(1 << 30), Ok(Outcome::default()));
        }
    }
}
