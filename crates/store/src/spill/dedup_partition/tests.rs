/// Ordinal, count, key and line.
type Row = (u64, u64, Vec<u8>, Vec<u8>);

use super::*;
use crate::spill::{EntryWriter, merge, merge_windows};
use std::collections::HashMap;
use std::sync::Mutex;

const KEYS: u64 = 700;

/// A plan for blocks of 4 KiB, by first occurrence.
fn plan<'a>(store: &'a Arc<Store>, marks: &'a MarksBudget, memory: usize) -> PartitionPlan<'a> {
    PartitionPlan {
        store,
        order: MergeOrder::First,
        counting: Counting::Off,
        keep: KeepPolicy::First,
        min_count: 1,
        memory,
        block: 4096,
        marks,
        limit: None,
    }
}

/// All entries of runs, in order.
fn merged(runs: Vec<Run>, plan: &PartitionPlan<'_>) -> Vec<Row> {
    let row = |entry: SpillEntry<'_>| {
        (entry.ordinal, entry.count, entry.key.to_vec(), entry.line.to_vec())
    };
    let mut all = Vec::new();
    if plan.order == MergeOrder::Sorted {
        let runs = runs.into_iter().map(Run::into_stream).collect();
        merge(runs, plan, |entry| {
            all.push(row(entry));
            Ok::<_, SpillError>(true)
        })
        .unwrap();
        return all;
    }
    let same = |entry: SpillEntry<'_>, out: &mut Vec<u8>| entry.append(out);
    merge_windows(runs, plan, None, same, |texts| {
        for text in texts {
            let mut text = text.as_slice();
            while let Some((entry, length)) = SpillEntry::decode(text) {
                all.push(row(entry));
                text = &text[length..];
            }
        }
        Ok::<_, SpillError>(())
    })
    .unwrap();
    all
}

fn entries() -> impl Iterator<Item = (u64, Vec<u8>, Vec<u8>)> {
    (0..3000u64).map(|i| {
        let key = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40 & 1023;
        let line = format!("{key}\tline of {i}\n").into_bytes();
        (i * 3, format!("http://h/{}", key % KEYS).into_bytes(), line)
    })
}

/// How many records an entry stands for.
fn times(ordinal: u64) -> u64 {
    1 + ordinal % 4 / 2
}

/// The whole of it, until nothing is left.
fn settled(memory: usize, order: MergeOrder, width: u32) -> (Vec<Row>, u32) {
    settled_by(KeepPolicy::First, &entries().collect::<Vec<_>>(), memory, order, width)
}

fn settled_by(
    keep: KeepPolicy,
    entries: &[(u64, Vec<u8>, Vec<u8>)],
    memory: usize,
    order: MergeOrder,
    width: u32,
) -> (Vec<Row>, u32) {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::create(directory.path()).unwrap());
    let block = 4096;
    let marks = MarksBudget::new(usize::MAX);
    let counting = Counting::On;
    let plan = PartitionPlan { order, counting, keep, ..plan(&store, &marks, memory) };
    let mut compressor = BlockCompressor::new(&store);
    let all = entries.iter().map(|(ordinal, key, line)| SpillEntry {
        ordinal: *ordinal,
        count: times(*ordinal),
        key,
        line,
    });
    let mut left = vec![written(all, block, &mut compressor).unwrap()];
    let (mut runs, mut passes) = (Vec::new(), 0);
    let found = Mutex::new(Vec::new());
    while let Some(partition) = left.pop() {
        let mut found = |ordinal, told| {
            assert_eq!(told, RecordStatus::New);
            found.lock().unwrap().push(ordinal);
        };
        let key = HashKey::narrow(width);
        let settled = dedup_partition(partition, &plan, &key, &mut found).unwrap();
        runs.push(settled.run);
        left.extend(settled.rest);
        passes += 1;
    }
    let all = merged(runs, &plan);
    let mut found = found.into_inner().unwrap();
    found.sort();
    let mut ordinals: Vec<_> = all.iter().map(|entry| entry.0).collect();
    ordinals.sort();
    assert_eq!(found, ordinals);
    (all, passes)
}

#[test]
fn partitions_agree_with_one_map_under_any_hash() {
    let mut expected: Vec<Row> = Vec::new();
    let mut places = HashMap::new();
    for (ordinal, key, line) in entries() {
        let place = *places.entry(key.clone()).or_insert_with(|| {
            expected.push((ordinal, 0, key, line));
            expected.len() - 1
        });
        expected[place].1 += times(ordinal);
    }
    for width in [64, 8, 0] {
        for memory in [1 << 30, 20_000, 0] {
            let (first, passes) = settled(memory, MergeOrder::First, width);
            assert!(first == expected, "{width} {memory}");
            let many = match memory {
                0 => 20..,
                20_000 => 2..,
                _ => 1..,
            };
            assert!(many.contains(&passes), "{passes} passes with {memory}");
        }
    }
    expected.sort_by(|a, b| a.2.cmp(&b.2));
    for (width, memory) in [(64, 1 << 30), (64, 0), (8, 20_000), (0, 0)] {
        assert!(settled(memory, MergeOrder::Sorted, width).0 == expected, "{width} {memory}");
    }
}

#[test]
fn lines_that_outgrow_a_full_set_are_spilled() {
    // Each key comes six times, with a line that is longer each time but for the last. Where the first
    // lines are long too, some keys are spilled before others move out.
    let (keys, rounds) = (60, 6);
    let lines_from = |start: u64| -> Vec<_> {
        let line = |i: u64| {
            let (key, round) = (i % keys, i / keys);
            let mut line = Vec::new();
            let length = match round {
                0 => start,
                _ if round == rounds - 1 => 20,
                _ => 700 * round,
            };
            crate::keep_policy::KeptRecord::append_value(length.to_string().as_bytes(), &mut line);
            line.extend(std::iter::repeat_n(b'x', length as usize));
            line.extend_from_slice(format!("{key}\n").as_bytes());
            (i * 2, format!("http://h/{key}").into_bytes(), line)
        };
        (0..keys * rounds).map(line).collect()
    };
    let entries = [0, 1000].map(lines_from);
    for (keep, length) in [(KeepPolicy::Last, 20), (KeepPolicy::Greatest, 700 * (rounds - 2))] {
        let mut expected: Vec<Row> = (0..keys)
            .map(|key| {
                let line = format!("{}{key}\n", "x".repeat(length as usize)).into_bytes();
                let count = rounds * times(key * 2);
                (key * 2, count, format!("http://h/{key}").into_bytes(), line)
            })
            .collect();
        for order in [MergeOrder::First, MergeOrder::Sorted] {
            if order == MergeOrder::Sorted {
                expected.sort_by(|a, b| a.2.cmp(&b.2));
            }
            for entries in &entries {
                for (memory, width) in [(40_000, 64), (40_000, 8), (40_000, 0), (0, 0)] {
                    let (all, passes) = settled_by(keep, entries, memory, order, width);
                    assert!(all == expected, "{keep:?} {order:?} {memory} {width}");
                    assert!(passes > 1, "{keep:?} {memory} {width}");
                }
                assert_eq!(settled_by(keep, entries, 1 << 30, order, 64).1, 1);
            }
        }
    }
}

#[test]
fn overfull_set_keeps_its_first_urls_and_seen_keys() {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::create(directory.path()).unwrap());
    let marks = MarksBudget::new(usize::MAX);
    let plan = PartitionPlan { keep: KeepPolicy::Last, ..plan(&store, &marks, 40_000) };
    let key = |number: u64| format!("http://h/{number}").into_bytes();
    let line = |number: u64, length: usize| {
        let mut line = Vec::new();
        crate::keep_policy::KeptRecord::append_value(b"", &mut line);
        line.extend_from_slice(format!("{}{number}\n", "x".repeat(length)).as_bytes());
        line
    };
    // The lines of the last 30 of 60 keys grow, then a seen key follows.
    let grown = (30..60).map(|number| (number, 3000));
    let records = (0..60).map(|number| (number, 0)).chain(grown).chain([(99, 0), (99, 0)]);
    let seen = (0, 0, key(99), Vec::new());
    let records = (0..).zip(records).map(|(i, (n, length))| (i, 1, key(n), line(n, length)));
    let rows: Vec<Row> = std::iter::once(seen).chain(records).collect();
    let entries = rows.iter().map(|(ordinal, count, key, line)| SpillEntry {
        ordinal: *ordinal,
        count: *count,
        key,
        line,
    });
    let mut compressor = BlockCompressor::new(&store);
    let partition = written(entries, plan.block, &mut compressor).unwrap();
    let told = Mutex::new(Vec::new());
    let mut found = |ordinal, what| told.lock().unwrap().push((ordinal, what));
    let settled = dedup_partition(partition, &plan, &HashKey::narrow(64), &mut found);
    let settled = settled.unwrap();
    assert!(!settled.rest.is_empty());
    let kept = merged(vec![settled.run], &plan).into_iter().map(|row| (row.2, row.3));
    let kept: Vec<_> = kept.collect();
    let expected = (0..MIN_URLS as u64).map(|number| (key(number), format!("{number}\n").into()));
    assert_eq!(kept, expected.collect::<Vec<_>>());
    let mut told = told.into_inner().unwrap();
    told.retain(|(_, what)| *what == RecordStatus::Seen);
    assert_eq!(told, [(90, RecordStatus::Seen), (91, RecordStatus::Seen)]);
}

#[test]
fn seen_keys_are_never_new_under_any_budget() {
    let is_seen = |key: &[u8]| key.ends_with(b"3") || key.ends_with(b"/20");
    let cases = [(1 << 30, 64), (20_000, 64), (0, 64), (0, 0)];
    for (memory, width) in cases {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::create(directory.path()).unwrap());
        let marks = MarksBudget::new(usize::MAX);
        let plan = plan(&store, &marks, memory);
        let mut compressor = BlockCompressor::new(&store);
        let records: Vec<_> = entries().collect();
        let mut seen: Vec<_> = records.iter().map(|(_, key, _)| key.clone()).collect();
        seen.retain(|key| is_seen(key));
        seen.push(b"http://h/never again 3".to_vec());
        let before = seen.iter().map(|key| SpillEntry { ordinal: 0, count: 0, key, line: b"" });
        let all = records.iter().map(|(ordinal, key, line)| SpillEntry {
            ordinal: *ordinal,
            count: 1,
            key,
            line,
        });
        let mut left = vec![written(before.chain(all), plan.block, &mut compressor).unwrap()];
        let mut runs = Vec::new();
        let told = Mutex::new((Vec::new(), Vec::new()));
        while let Some(partition) = left.pop() {
            let mut found = |ordinal, what| {
                let mut told = told.lock().unwrap();
                match what {
                    RecordStatus::New => told.0.push(ordinal),
                    RecordStatus::Seen => told.1.push(ordinal),
                    RecordStatus::Filtered => unreachable!("there is no limit"),
                }
            };
            let key = HashKey::narrow(width);
            let settled = dedup_partition(partition, &plan, &key, &mut found).unwrap();
            runs.push(settled.run);
            left.extend(settled.rest);
        }
        let new: Vec<_> = merged(runs, &plan).into_iter().map(|row| row.2).collect();
        let mut expected: Vec<Vec<u8>> = Vec::new();
        for (_, key, _) in records.iter().filter(|(_, key, _)| !is_seen(key)) {
            if !expected.contains(key) {
                expected.push(key.clone());
            }
        }
        assert!(new == expected, "{memory} {width}");
        let (mut found, mut again) = told.into_inner().unwrap();
        found.sort();
        again.sort();
        let ordinals = |of: &dyn Fn(&[u8]) -> bool| -> Vec<u64> {
            let of = records.iter().filter(|(_, key, _)| of(key));
            of.map(|(ordinal, ..)| *ordinal).collect()
        };
        assert_eq!(again, ordinals(&is_seen), "each record is told of");
        assert_eq!(found.len(), expected.len());
    }
}

/// First records by marks and by runs.
#[test]
fn first_records_are_the_same_in_every_way() {
    let mut expected: Vec<Row> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for (ordinal, key, line) in entries() {
        if known.insert(key.clone()) {
            expected.push((ordinal, 1, key, line));
        }
    }
    for width in [64, 8, 0] {
        for (memory, marks_budget) in
            [(1 << 30, usize::MAX), (1 << 30, 0), (20_000, usize::MAX), (20_000, 40), (0, 1 << 10)]
        {
            let directory = tempfile::tempdir().unwrap();
            let store = Arc::new(Store::create(directory.path()).unwrap());
            let marks = MarksBudget::new(marks_budget);
            let plan = plan(&store, &marks, memory);
            let mut compressor = BlockCompressor::new(&store);
            let parting = HashKey::narrow(64);
            let mut writers: Vec<_> = (0..4).map(|_| EntryWriter::new(plan.block)).collect();
            for (ordinal, key, line) in entries() {
                let mut text = Vec::new();
                let hash = parting.hash(&key);
                let entry = SpillEntry { ordinal, count: 1, key: &key, line: &line };
                entry.append(&mut text).unwrap();
                writers[hash.partition(4)].write(&text, &mut compressor).unwrap();
            }
            let left = writers.into_iter().map(|writer| writer.finish(&mut compressor));
            let mut left: Vec<_> = left.collect::<Result<_, _>>().unwrap();
            let (mut runs, mut found) = (Vec::new(), Vec::new());
            while let Some(partition) = left.pop() {
                let mut found = |ordinal, status| found.push((ordinal, status));
                let key = HashKey::narrow(width);
                let done = dedup_partition(partition, &plan, &key, &mut found).unwrap();
                runs.push(done.run);
                left.extend(done.rest);
            }
            let mut rows = merged(runs, &plan);
            rows.sort();
            assert!(rows == expected, "{width} {memory} {marks_budget}");
            found.sort_by_key(|(ordinal, _)| *ordinal);
            let new = expected.iter().map(|row| (row.0, RecordStatus::New));
            assert_eq!(found, new.collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_limit_of_no_urls_leaves_no_entry() {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::create(directory.path()).unwrap());
    let marks = MarksBudget::new(usize::MAX);
    for (limit, is_empty) in [(Some(0), true), (Some(1), false)] {
        let order = MergeOrder::Count { limit };
        let plan = PartitionPlan { order, ..plan(&store, &marks, 1 << 30) };
        let entry = SpillEntry { ordinal: 0, count: 1, key: b"http://h/", line: b"" };
        let mut compressor = BlockCompressor::new(&store);
        let partition = written([entry, entry], plan.block, &mut compressor).unwrap();
        let key = HashKey::narrow(64);
        let done = dedup_partition(partition, &plan, &key, &mut |_, _| {}).unwrap();
        assert_eq!(done.run.into_stream().0.is_empty(), is_empty, "{limit:?}");
    }
}
