//! Ranges against a sorted map, for any memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::keep_policy::{KeepPolicy, KeptRecord};
use crate::sort::Threads;
use crate::spill::{BlockCompressor, EntryWriter, SpillEntry, Store, Stream};
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

/// The same by ranges, how often one was divided, and how often one was not, since it was not alone.
fn by_ranges(entries: &[Entry], keep: KeepPolicy, memory: usize) -> (Vec<Entry>, usize, usize) {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(Store::create(directory.path()).unwrap());
    // The bounds are those of the first keys.
    let mut sample: Vec<&[u8]> = entries.iter().take(100).map(|entry| &*entry.2).collect();
    sample.sort_unstable();
    let ranges = KeyRanges::of_sorted(&sample, 8).unwrap();
    let mut writers: Vec<_> = (0..ranges.len()).map(|_| EntryWriter::new(BLOCK)).collect();
    let mut compressor = BlockCompressor::new(&store);
    for (ordinal, count, key, line) in entries {
        let mut text = Vec::new();
        let (ordinal, count) = (*ordinal, *count);
        SpillEntry { ordinal, count, key, line }.append(&mut text).unwrap();
        writers[ranges.find(key)].write(&text, &mut compressor).unwrap();
    }
    let plan = RangePlan { store: &store, keep, block: BLOCK };
    let finished = writers.into_iter().map(|writer| writer.finish(&mut compressor).unwrap());
    let mut waiting: Vec<Stream> = finished.collect();
    waiting.reverse();
    let (mut found, mut divided, mut larger) = (Vec::new(), 0, 0);
    let mut threads = Threads::One;
    while let Some(range) = waiting.pop() {
        let written = store.spilled().written;
        let loaded = load_range(&range, &plan, memory, threads).unwrap();
        threads = Threads::One;
        match loaded {
            LoadedRange::Larger => {
                assert_eq!(store.spilled().written, written);
                larger += 1;
                threads = Threads::All;
                waiting.push(range);
            }
            LoadedRange::Divided(smaller) => {
                divided += 1;
                waiting.extend(smaller.into_iter().rev());
            }
            LoadedRange::Sorted(entries) => {
                for part in entries.parts(7) {
                    let take = |entry: SpillEntry<'_>| {
                        let (key, line) = (entry.key.to_vec(), entry.line.to_vec());
                        found.push((entry.ordinal, entry.count, key, line));
                        Ok::<_, AllocError>(())
                    };
                    entries.for_each(part, keep, take).unwrap();
                }
            }
        }
    }
    (found, divided, larger)
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
    let mut divided = 0;
    for (number, entries) in inputs.iter().enumerate() {
        for keep in [KeepPolicy::First, KeepPolicy::Last, KeepPolicy::Greatest, KeepPolicy::Tally] {
            let entries =
                &if keep == KeepPolicy::Tally { tallied(entries) } else { entries.clone() };
            let expected = expected(entries, keep);
            for memory in [0, 20_000, 300_000, 1 << 30] {
                let (found, times, larger) = by_ranges(entries, keep, memory);
                assert!(found == expected, "{number} {keep:?} {memory}");
                assert!(memory < 1 << 30 || times == 0, "{number} {keep:?}");
                assert_eq!(times, larger, "{number} {keep:?} {memory}");
                divided += times;
            }
        }
    }
    assert!(divided > 100, "{divided}");
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
