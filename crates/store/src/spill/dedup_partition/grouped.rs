//! The part of a pass that is about groups of keys, if only the first keys of each are kept.

use super::{MIN_URLS, PartitionPlan, Set};
use crate::spill::division::Division;
use crate::spill::{SpillEntry, SpillError};
use uniqurl::bytes::AllocError;
use uniqurl::set::{Hash, HashKey};

impl<'a> Set<'a> {
    /// Takes the group of an entry as the one at hand; returns whether the entry is the group's own.
    pub(super) fn turn_to_group(&mut self, entry: &SpillEntry<'_>, key: &HashKey) -> bool {
        let Some(groups) = &mut self.groups else { return false };
        groups.turn_to(entry, key);
        entry.is_of_group()
    }

    /// Takes the entry of the group at hand, or leaves it to smaller partitions of these `bytes`.
    pub(super) fn take_group<'d>(
        &mut self,
        entry: &SpillEntry<'_>,
        plan: &'d PartitionPlan<'d>,
        rest: &mut Option<Division<'d>>,
        bytes: u64,
    ) -> Result<(), SpillError> {
        let memory = self.memory(plan);
        let is_empty = self.len() == 0;
        let Some(groups) = &mut self.groups else { return Ok(()) };
        // Keys that were moved out of a set come before an entry of their group that is older than the move.
        if groups.is_known() {
            return Ok(());
        }
        let has_room = groups.len() < MIN_URLS || memory <= plan.memory;
        let no_room = |error: AllocError| plan.store.error(error.into());
        if rest.is_none() && has_room {
            match groups.load(entry.ordinal) {
                Ok(()) => return Ok(()),
                // A set that can hold nothing will never hold more.
                Err(_) if is_empty && groups.len() == 0 => return Err(no_room(AllocError)),
                Err(_) => {}
            }
        }
        let mut text = Vec::new();
        entry.append(&mut text).map_err(no_room)?;
        groups.write(rest.get_or_insert_with(|| Division::new(plan, bytes)), &text)
    }

    /// Whether the group at hand takes no more keys, and this one is not of those that it took.
    pub(super) fn is_beyond_limit(&self, hash: Hash, key: &[u8]) -> bool {
        self.groups.as_ref().is_some_and(|groups| groups.is_full())
            && !self.shard.contains(hash, key)
    }

    /// Writes an entry of the group at hand to smaller partitions.
    pub(super) fn spill(
        &mut self,
        rest: &mut Division<'_>,
        hash: Hash,
        entry: &SpillEntry<'_>,
        text: &mut Vec<u8>,
    ) -> Result<(), SpillError> {
        text.clear();
        entry.append(text).map_err(|error| rest.no_room(error))?;
        match &mut self.groups {
            None => rest.write(hash, text),
            Some(groups) => groups.write(rest, text),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap, HashSet};
    use std::sync::Arc;

    use crate::group_counts::{GroupLimit, GroupOf};
    use crate::keep_policy::{KeepPolicy, KeptRecord};
    use crate::spill::packing::BlockCompressor;
    use crate::spill::{
        MarksBudget, MergeOrder, PartitionPlan, RecordStatus, SpillEntry, SpillError, Store,
        dedup_partition, merge, written,
    };
    use uniqurl::set::{Counting, HashKey};

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

    #[test]
    fn first_keys_of_each_group_are_kept_under_any_memory_and_hash() {
        let records = records(4000);
        let directory = tempfile::tempdir().unwrap();
        let mut most_passes = 0;
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
                let (statuses, keys) = expected(&records, &seen, kept, most);
                for (width, memory) in
                    [(64, 1 << 30), (64, 60_000), (64, 20_000), (64, 0), (8, 60_000), (0, 20_000)]
                {
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
                    let entry = |ordinal, count, key| SpillEntry { ordinal, count, key, line: &[] };
                    // Lines that grow, so that a full set has to give keys up.
                    let line = |i: usize| {
                        let mut line = Vec::new();
                        KeptRecord::append_value(b"", &mut line);
                        line.extend(vec![b'x'; i / 20]);
                        line.push(b'\n');
                        line
                    };
                    let lines: Vec<_> = (0..records.len()).map(line).collect();
                    let of_group = (kept > 0).then_some(SpillEntry::of_group(b"giant", kept));
                    let before = seen.iter().map(|key| entry(0, 0, key.as_bytes()));
                    let all = (0..).zip(&records).map(|(ordinal, key)| SpillEntry {
                        line: match keep {
                            KeepPolicy::First => &[],
                            _ => &lines[ordinal as usize],
                        },
                        ..entry(ordinal, 1, key.as_bytes())
                    });
                    let all = of_group.into_iter().chain(before).chain(all);
                    let mut compressor = BlockCompressor::new(&store);
                    let mut left = vec![written(all, plan.block, &mut compressor).unwrap()];
                    let (mut runs, mut passes, mut found) = (Vec::new(), 0, BTreeMap::new());
                    while let Some(partition) = left.pop() {
                        let mut tell = |ordinal, status| {
                            assert_eq!(found.insert(ordinal, status), None, "{ordinal}");
                        };
                        let key = HashKey::narrow(width);
                        let done = dedup_partition(partition, &plan, &key, &mut tell);
                        let done = done.unwrap();
                        runs.push(done.run.into_stream());
                        left.extend(done.rest);
                        passes += 1;
                    }
                    let mut rows = Vec::new();
                    merge(runs, &plan, |entry| {
                        rows.push((String::from_utf8_lossy(entry.key).into_owned(), entry.count));
                        Ok::<_, SpillError>(true)
                    })
                    .unwrap();
                    let case = format!("{most} {kept} {keep:?} {} {width} {memory}", seen.len());
                    assert!(found == statuses, "{case}");
                    assert!(rows == keys, "{case}");
                    most_passes = passes.max(most_passes);
                }
            }
        }
        assert!(most_passes > 100, "{most_passes}");
    }
}
