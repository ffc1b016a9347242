use std::sync::Arc;

use super::*;
use crate::spill::stream::written;
use crate::spill::{MarksBudget, Store};
use proptest::collection::vec;
use proptest::prelude::*;

/// Merges runs of these ordinals, each in a key of some length, and returns the ordinals in order.
fn merged(runs: &[Vec<(u64, usize)>], memory: usize, limit: Option<u64>) -> Vec<u64> {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::create(directory.path()).unwrap());
    let marks = MarksBudget::new(0);
    let plan = PartitionPlan { store: &store, memory, block: 256, marks: &marks };
    let mut compressor = BlockCompressor::new(&store);
    let runs = runs.iter().map(|run| {
        let keys: Vec<_> = run.iter().map(|(ordinal, length)| key(*ordinal, *length)).collect();
        let entries = run.iter().zip(&keys).map(|((ordinal, _), key)| SpillEntry {
            ordinal: *ordinal,
            count: 1,
            key,
            line: b"",
        });
        written(entries, plan.block, &mut compressor).unwrap().into()
    });
    let runs = runs.collect();
    let line = |entry: SpillEntry<'_>, out: &mut Vec<u8>| {
        out.extend_from_slice(entry.key);
        out.push(b'\n');
        Ok(())
    };
    let mut text = Vec::new();
    merge_windows(runs, &plan, limit, line, |texts| {
        text.extend(texts.concat());
        Ok::<_, SpillError>(())
    })
    .unwrap();
    let lines = std::str::from_utf8(&text).unwrap().lines();
    lines.map(|line| line.trim_end_matches('x').parse().unwrap()).collect()
}

fn key(ordinal: u64, length: usize) -> Vec<u8> {
    format!("{ordinal}{}", "x".repeat(length)).into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn windows_hold_every_entry_in_order(
        entries in vec((1u64..5000, 0usize..12, 0usize..40), 0..600),
        runs in 1usize..12,
        memory in prop::sample::select(vec![0, 1000, 10_000, 1 << 20]),
        limit in prop::option::of(0u64..700),
    ) {
        let mut lists = vec![Vec::new(); runs];
        let mut ordinal = 0;
        for (gap, run, length) in entries {
            // Most neighbours are close, some are far away, and some entries are longer than a block.
            ordinal += if gap < 100 { gap * 1_000_000_000 } else { gap % 7 + 1 };
            let length = if length == 39 { 700 } else { length };
            lists[run % runs].push((ordinal, length));
        }
        let mut expected: Vec<u64> = lists.iter().flatten().map(|(ordinal, _)| *ordinal).collect();
        expected.sort();
        expected.truncate(limit.map_or(usize::MAX, |limit| limit as usize));
        prop_assert_eq!(merged(&lists, memory, limit), expected);
    }
}

#[test]
fn two_entries_of_one_record_are_an_error() {
    let twice = || merged(&[vec![(7, 1)], vec![(7, 2)]], 1 << 20, None);
    assert!(std::panic::catch_unwind(twice).is_err());
}
