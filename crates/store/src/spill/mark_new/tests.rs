//! New entries against the first ones of a map, for any memory and any hash.

use std::collections::HashSet;
use std::sync::Arc;

use super::*;
use crate::spill::{MarksBudget, Partitions, Store, merge_windows};

/// Ordinal, key and line.
type Row = (u64, Vec<u8>, Vec<u8>);

fn rows() -> impl Iterator<Item = Row> {
    (0..3000u64).map(|i| {
        let key = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40 & 1023;
        let line = format!("{key}\tline of {i}\n").into_bytes();
        (i * 3, format!("http://h/{}", key % 700).into_bytes(), line)
    })
}

/// The rows of all runs, in order.
fn merged(runs: Vec<Run>, plan: &PartitionPlan<'_>) -> Vec<Row> {
    let mut all = Vec::new();
    let same = |entry: SpillEntry<'_>, out: &mut Vec<u8>| entry.append(out);
    merge_windows(runs, plan, None, same, |texts| {
        for text in texts {
            let mut text = text.as_slice();
            while let Some((entry, length)) = SpillEntry::decode(text) {
                assert_eq!(entry.count, 1);
                all.push((entry.ordinal, entry.key.to_vec(), entry.line.to_vec()));
                text = &text[length..];
            }
        }
        Ok::<_, SpillError>(())
    })
    .unwrap();
    all
}

/// The new rows, and how many partitions were passed through a set.
fn new_rows(store: Store, width: u32, memory: usize, marks: usize) -> (Vec<Row>, u32) {
    let store = Arc::new(store);
    let marks = MarksBudget::new(marks);
    let plan = PartitionPlan { store: &store, memory, block: 4096, marks: &marks };
    let mut partitions = Partitions::new(&store, 4, plan.block, 2);
    let parting = HashKey::narrow(64);
    let mut texts = vec![Vec::new(); 4];
    for (ordinal, key, line) in rows() {
        let text = &mut texts[parting.hash(&key).partition(4)];
        SpillEntry { ordinal, count: 1, key: &key, line: &line }.append(text).unwrap();
    }
    partitions.write(&[texts]).unwrap();
    let mut left = partitions.finish().unwrap();
    let (mut runs, mut found, mut passes) = (Vec::new(), Vec::new(), 0);
    while let Some(partition) = left.pop() {
        let key = HashKey::narrow(width);
        let done = mark_new(partition, &plan, &key, |ordinal| found.push(ordinal)).unwrap();
        runs.push(done.run);
        left.extend(done.rest);
        passes += 1;
    }
    let rows = merged(runs, &plan);
    found.sort_unstable();
    assert!(rows.iter().map(|row| row.0).eq(found), "each is told of");
    (rows, passes)
}

#[test]
fn new_entries_are_the_first_with_their_keys_in_every_way() {
    let mut known = HashSet::new();
    let expected: Vec<Row> = rows().filter(|(_, key, _)| known.insert(key.clone())).collect();
    let directory = tempfile::tempdir().unwrap();
    for width in [64, 8, 0] {
        for (memory, marks, fewest) in [
            (1 << 30, usize::MAX, 4),
            (1 << 30, 0, 4),
            (8_000, usize::MAX, 5),
            (8_000, 40, 5),
            (0, 1 << 10, 20),
        ] {
            for room in [0, 50_000, 1 << 30] {
                let store = Store::in_memory(directory.path(), room);
                let (rows, passes) = new_rows(store, width, memory, marks);
                assert!(rows == expected, "{width} {memory} {marks} {room}");
                assert!(passes >= fewest, "{passes} passes with {memory}");
            }
        }
    }
}
