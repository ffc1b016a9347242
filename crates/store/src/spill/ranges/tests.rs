//! Ranges against a sorted map, for any memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::bounds::KeyRanges;
use super::*;
use crate::keep_policy::{KeepPolicy, KeptRecord};
use crate::spill::{Partitions, SpillEntry, SpillError, Store, Stream};
use crate::tally::ResponseTally;
use crate::test_util::cases;
use uniqurl::internal::AllocError;

/// Ordinal, count, key and line.
type Entry = (u64, u64, Vec<u8>, Vec<u8>);

const BLOCK: usize = 4096;

/// Entries whose keys come from `key`.
fn entries(many: u64, key: impl Fn(u64) -> String) -> Vec<Entry> {
    let entry = |n: u64| {
        let mut line = Vec::new();
        let value = (n.wrapping_mul(0x9E37_79B9) >> 7) % 1000;
        KeptRecord::append_value(value.to_string().as_bytes(), &mut line);
        line.extend_from_slice(format!("{n}\n").as_bytes());
        (n, 1 + n % 3, key(n).into_bytes(), line)
    };
    (0..many).map(entry).collect()
}

/// The same entries with tallies as lines. Some of them are empty.
fn tallied(entries: &[Entry]) -> Vec<Entry> {
    let tally = |n: u64| {
        let mut tally = ResponseTally::default();
        if !n.is_multiple_of(5) {
            tally.add_status(100 * (n % 6) as u16);
            tally.add_bytes(n);
            tally.add_duration(n.wrapping_mul(0x9E37_79B9) >> (n % 40)).unwrap();
        }
        let mut line = Vec::new();
        tally.append(&mut line).unwrap();
        line
    };
    entries.iter().map(|(n, count, key, _)| (*n, *count, key.clone(), tally(*n))).collect()
}

/// One entry for each key, in order.
fn expected(entries: &[Entry], keep: KeepPolicy) -> Vec<Entry> {
    let mut keys: BTreeMap<&[u8], Entry> = BTreeMap::new();
    for (ordinal, count, key, line) in entries {
        let new = (*ordinal, 0, key.clone(), line.clone());
        let kept = keys.entry(key).or_insert(new);
        kept.1 += count;
        if kept.0 != *ordinal {
            keep.combine(&mut kept.3, line).unwrap();
        }
    }
    let written = |(ordinal, count, key, line): Entry| {
        let line = keep.line(&line).to_vec();
        (ordinal, count, key, line)
    };
    keys.into_values().map(written).collect()
}

/// The streams of entries by ranges, whose bounds are those of the first keys.
fn ranges_of(entries: &[Entry], store: &Arc<Store>) -> Vec<Stream> {
    let mut sample: Vec<&[u8]> = entries.iter().take(100).map(|entry| &*entry.2).collect();
    sample.sort_unstable();
    let ranges = KeyRanges::of_sorted(&sample, 8).unwrap();
    let mut partitions = Partitions::new(store, ranges.len(), BLOCK, 3);
    // Threads write in any order: here the entries of odd records come before the others.
    let (even, odd): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry.0 % 2 == 0);
    let mut texts = vec![Vec::new(); ranges.len()];
    for (ordinal, count, key, line) in odd.into_iter().chain(even) {
        let (ordinal, count) = (*ordinal, *count);
        let entry = SpillEntry { ordinal, count, key, line };
        entry.append(&mut texts[ranges.find(key)]).unwrap();
    }
    partitions.write(&[texts]).unwrap();
    partitions.finish().unwrap()
}

/// The entries of loaded ranges, without the first `rank` bytes of each key.
fn taken(ranges: &[RangeEntries], keep: KeepPolicy, rank: usize) -> Vec<Entry> {
    let mut found = Vec::new();
    for range in ranges {
        for part in range.parts(7) {
            let take = |entry: SpillEntry<'_>| {
                let (key, line) = (entry.key[rank..].to_vec(), entry.line.to_vec());
                found.push((entry.ordinal, entry.count, key, line));
                Ok::<_, AllocError>(())
            };
            range.for_each(part, keep, take).unwrap();
        }
    }
    found
}

/// One entry for each key by ranges, and whether some were divided.
fn by_ranges(entries: &[Entry], keep: KeepPolicy, memory: usize) -> (Vec<Entry>, bool) {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::create(directory.path()).unwrap());
    let plan = RangePlan { store: &store, keep, block: BLOCK };
    let ranges = ranges_of(entries, &store);
    let written = store.spilled().written;
    let mut found = Vec::new();
    each_range(ranges, &plan, memory, |ranges| {
        found.extend(taken(ranges, keep, 0));
        Ok::<_, SpillError>(())
    })
    .unwrap();
    (found, store.spilled().written > written)
}

#[test]
fn ranges_give_each_key_once_in_order_for_any_memory() {
    let many = cases(6_000) as u64;
    let number = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let prefix = "a".repeat(600);
    let inputs = [
        entries(many, |n| format!("http://h{}/{}", number(n) % 7, number(n) % 3000)),
        // Sorted and in reverse: all keys after the sample are in one range.
        entries(many, |n| format!("http://h/{n:09}")),
        entries(many, |n| format!("http://h/{:09}", many - n)),
        entries(many, |n| format!("http://{prefix}/{}", number(n) % 900)),
        // One key in nearly all entries, and in all.
        entries(many, |n| format!("http://h/{}", if n % 9 == 0 { number(n) } else { 5 })),
        entries(many, |_| "http://h/".to_owned()),
        entries(0, |_| String::new()),
    ];
    let mut times_divided = 0;
    for (number, entries) in inputs.iter().enumerate() {
        for keep in [KeepPolicy::First, KeepPolicy::Last, KeepPolicy::Greatest, KeepPolicy::Tally] {
            let entries =
                &if keep == KeepPolicy::Tally { tallied(entries) } else { entries.clone() };
            let expected = expected(entries, keep);
            for memory in [0, 20_000, 300_000, 1 << 30] {
                let (found, is_divided) = by_ranges(entries, keep, memory);
                assert!(found == expected, "{number} {keep:?} {memory}");
                assert!(memory < 1 << 30 || !is_divided, "{number} {keep:?}");
                times_divided += u32::from(is_divided);
            }
        }
    }
    assert!(times_divided > 20, "{times_divided}");
}

/// Results in the order of first occurrence and in that of counts, with all of their options.
#[test]
fn ranked_results_are_in_the_order_of_their_ranks() {
    let many = cases(6_000) as u64;
    let number = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let entries = entries(many, |n| format!("http://h/{}", (number(n) % 60).pow(2) / 3));
    let directory = tempfile::tempdir().unwrap();
    for (keep, room, memory) in [
        (KeepPolicy::First, 0, 0),
        (KeepPolicy::Last, 30_000, 20_000),
        (KeepPolicy::Greatest, 1 << 30, 1 << 30),
    ] {
        for (by_count, limit, min_count) in
            [(false, None, 1), (false, None, 40), (true, None, 1), (true, Some(5), 1)]
        {
            let mut expected = expected(&entries, keep);
            let ordinals: Vec<u64> = expected.iter().map(|entry| entry.0).collect();
            expected.retain(|entry| entry.1 >= min_count);
            match by_count {
                true => expected.sort_by_key(|entry| std::cmp::Reverse(entry.1)),
                false => expected.sort_by_key(|entry| entry.0),
            }
            let store = Arc::new(Store::in_memory(directory.path(), room));
            let plan = RangePlan { store: &store, keep, block: BLOCK };
            let mut ranking = match by_count {
                true => Ranking::count(&plan, limit, min_count),
                false => Ranking::first(&plan, many, min_count),
            };
            let told = Mutex::new(Vec::new());
            let found = || |ordinal| told.lock().unwrap().push(ordinal);
            each_range(ranges_of(&entries, &store), &plan, memory, |ranges| {
                ranking.add(ranges, found)
            })
            .unwrap();
            let mut told = told.into_inner().unwrap();
            told.sort_unstable();
            let mut all = ordinals;
            all.sort_unstable();
            assert_eq!(told, all);
            let plan = RangePlan { keep: KeepPolicy::First, ..plan };
            let mut found = Vec::new();
            each_range(ranking.finish().unwrap(), &plan, memory, |ranges| {
                found.extend(taken(ranges, KeepPolicy::First, RANK));
                Ok::<_, SpillError>(())
            })
            .unwrap();
            let most = limit.map_or(expected.len(), |limit| limit as usize);
            assert!(found.len() >= most.min(expected.len()));
            assert_eq!(found[..most], expected[..most], "{keep:?} {by_count} {limit:?}");
        }
    }
}

#[test]
fn bounds_divide_a_sample_evenly_and_separate_different_keys() {
    let key = |n: u64| format!("{n:05}").into_bytes();
    let keys: Vec<Vec<u8>> = (0..1000).map(key).collect();
    let sample: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let ranges = KeyRanges::of_sorted(&sample, 10).unwrap();
    assert_eq!(ranges.len(), 10);
    let mut sizes = [0; 10];
    sample.iter().for_each(|key| sizes[ranges.find(key)] += 1);
    assert_eq!(sizes, [100; 10]);
    for frequent in [0, 5, 999] {
        let mut keys = keys.clone();
        keys.extend(vec![keys[frequent].clone(); 5000]);
        keys.sort();
        let sample: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        let ranges = KeyRanges::of_sorted(&sample, 10).unwrap();
        assert!(ranges.find(sample[0]) < ranges.find(sample[sample.len() - 1]), "{frequent}");
    }
    assert_eq!(KeyRanges::of_sorted(&[b"a", b"a"], 10).unwrap().len(), 1);
    assert_eq!(KeyRanges::of_sorted(&[], 10).unwrap().find(b"x"), 0);
}
