//! One partition through a set of its own.

use std::sync::Arc;

use super::PARTITIONS;
use super::entry::{OwnedEntry, SpillEntry};
use super::merge::MergeOrder;
use super::store::{SpillError, Store};
use super::stream::{
    BlockCompressor, BlockDecompressor, EntryReader, EntryWriter, Stream, written,
};
use crate::keep_policy::{KeepPolicy, KeptRecords};
use crate::sort::{ShardUrls, Threads, Urls, in_turn, sort, sort_memory};
use uniqurl::bytes::AllocError;
use uniqurl::bytes::alloc;
use uniqurl::set::{Counting, Hash, HashKey, Shard};

/// How partitions are settled and runs are merged.
#[derive(Debug, Clone, Copy)]
pub struct PartitionPlan<'a> {
    /// Where partitions and runs are.
    pub store: &'a Arc<Store>,
    /// The order of the run.
    pub order: MergeOrder,
    /// Whether records are counted by key.
    pub counting: Counting,
    /// Whose line a key is written with. Where that is not the first's, each line is a candidate.
    pub keep: KeepPolicy,
    /// Only URLs with as many records.
    pub min_count: u64,
    /// Whether all keys are wanted by their bytes too, with those that were seen before the run.
    pub saving: bool,
    /// Bytes that the set of one partition may take, with what the sorting of it takes. A few URLs
    /// fit whatever it is.
    pub memory: usize,
    /// Bytes of a block before it is packed, as the streams were written.
    pub block: usize,
}

/// What became of a partition.
#[derive(Debug, Default)]
pub struct PartitionResult {
    /// The URLs that were settled, in order, each with its first ordinal and all its records.
    pub run: Stream,
    /// All keys of the set, and those that were seen before the run, by their bytes, where they are
    /// wanted.
    pub saved: Stream,
    /// What did not fit, in partitions that have no key in common with each other or the run.
    pub rest: Vec<Stream>,
}

/// What is told of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordStatus {
    /// It is the first with its key.
    New,
    /// Its key was seen before the run.
    Seen,
}

/// So many URLs are settled by every pass, so that there is an end.
const MIN_URLS: usize = 16;

/// A URL of the set.
#[derive(Debug, Clone, Copy)]
struct Kept {
    ordinal: u64,
    /// In the shard.
    place: u32,
    /// Where its line ends; it starts where the one before ends.
    line_end: usize,
}

/// Finds the distinct URLs of a partition, whose entries are in ascending order, behind the keys that
/// were seen before the run. `found` is told the ordinal of each that is settled and of each record whose
/// key was seen. `key` is another than the one that made the partition.
pub fn dedup_partition(
    partition: Stream,
    plan: &PartitionPlan<'_>,
    key: &HashKey,
    found: impl Fn(u64, RecordStatus),
) -> Result<PartitionResult, SpillError> {
    let mut decompressor = BlockDecompressor::new(plan.store, plan.block)?;
    let mut compressor = BlockCompressor::new(plan.store)?;
    let mut reader = EntryReader::new(partition);
    let mut entry = OwnedEntry::default();
    let mut set = Set::new(plan);
    let mut rest: Option<Vec<EntryWriter>> = None;
    let mut text = Vec::new();
    while reader.next(&mut decompressor, &mut entry)? {
        let entry = entry.entry();
        let hash = key.hash(entry.key);
        let seen_before = entry.count == 0;
        if set.seen.contains(hash, entry.key) {
            if !seen_before {
                found(entry.ordinal, RecordStatus::Seen);
            }
            continue;
        }
        if rest.is_none() {
            let added = match set.has_room(plan) {
                true if seen_before => set.add_seen(hash, entry.key),
                true => set.add(hash, &entry),
                false => Err(Full),
            };
            match added {
                Ok(()) => {}
                // A set that can hold nothing will never hold more.
                Err(Full) if set.len() == 0 => {
                    return Err(plan.store.error(std::io::ErrorKind::OutOfMemory.into()));
                }
                Err(Full) => rest = Some(writers(plan)),
            }
        }
        let no_room = |error: AllocError| plan.store.error(error.into());
        match &mut rest {
            None if seen_before => {}
            None => set.offer(hash, &entry).map_err(no_room)?,
            Some(writers) if set.shard.count_again(hash, entry.key) => {
                set.count_rest(hash, &entry);
                set.offer(hash, &entry).map_err(no_room)?;
                if set.has_outgrown(plan) {
                    let all = set.cut(plan, key).map_err(no_room)?;
                    let moved = (MIN_URLS..all.kept.len()).map(|at| all.entry(at));
                    write_ahead(moved, writers, plan, key, &mut compressor)?;
                }
            }
            Some(writers) => {
                text.clear();
                entry.append(&mut text).map_err(no_room)?;
                writers[hash.partition(PARTITIONS)].write(&text, &mut compressor)?;
            }
        }
    }
    set.kept.iter().for_each(|kept| found(kept.ordinal, RecordStatus::New));
    let rest = rest.into_iter().flatten().map(|writer| writer.finish(&mut compressor));
    let rest = rest.filter(|stream| !stream.as_ref().is_ok_and(Stream::is_empty));
    let rest = rest.collect::<Result<_, _>>()?;
    let saved = if plan.saving { set.saved(plan, &mut compressor)? } else { Stream::default() };
    Ok(PartitionResult { run: set.run(plan, &mut compressor)?, saved, rest })
}

fn writers(plan: &PartitionPlan<'_>) -> Vec<EntryWriter> {
    (0..PARTITIONS).map(|_| EntryWriter::new(plan.block)).collect()
}

/// Writes entries to the partitions ahead of what is there: they are of records that came before.
fn write_ahead<'e>(
    entries: impl Iterator<Item = SpillEntry<'e>>,
    writers: &mut [EntryWriter],
    plan: &PartitionPlan<'_>,
    key: &HashKey,
    compressor: &mut BlockCompressor,
) -> Result<(), SpillError> {
    let later = writers.iter_mut().map(|writer| writer.turn(compressor));
    let later: Vec<_> = later.collect::<Result<_, _>>()?;
    let mut text = Vec::new();
    for entry in entries {
        text.clear();
        entry.append(&mut text).map_err(|error| plan.store.error(error.into()))?;
        writers[key.hash(entry.key).partition(PARTITIONS)].write(&text, compressor)?;
    }
    writers.iter_mut().zip(later).try_for_each(|(writer, later)| writer.append(later, compressor))
}

/// The URLs of a partition.
struct Set {
    /// The keys that were seen before the run.
    seen: Shard,
    shard: Shard,
    kept: Vec<Kept>,
    lines: Vec<u8>,
    /// Instead of the lines, where they may be another record's than the first.
    kept_records: Option<KeptRecords>,
}

/// Memory ran out, or a shard cannot hold more.
struct Full;

impl Set {
    fn new(plan: &PartitionPlan<'_>) -> Self {
        Self {
            seen: Shard::new(Counting::Off),
            shard: Shard::new(plan.counting),
            kept: Vec::new(),
            lines: Vec::new(),
            kept_records: (plan.keep != KeepPolicy::First).then(|| KeptRecords::new(plan.keep)),
        }
    }

    /// Number of its keys, of both kinds.
    fn len(&self) -> usize {
        self.seen.len() + self.kept.len()
    }

    fn has_room(&self, plan: &PartitionPlan<'_>) -> bool {
        self.len() < MIN_URLS || self.memory(plan) <= plan.memory
    }

    /// Whether the lines of its URLs have become more than it may hold, and there are URLs that it can do
    /// without.
    fn has_outgrown(&self, plan: &PartitionPlan<'_>) -> bool {
        self.kept_records.is_some() && self.kept.len() > MIN_URLS && self.memory(plan) > plan.memory
    }

    /// Keeps of its URLs the first [`MIN_URLS`]; the set as it was.
    fn cut(&mut self, plan: &PartitionPlan<'_>, key: &HashKey) -> Result<Self, AllocError> {
        let mut all = std::mem::replace(self, Self::new(plan));
        self.seen = std::mem::replace(&mut all.seen, Shard::new(Counting::Off));
        for at in 0..MIN_URLS {
            let entry = all.entry(at);
            let hash = key.hash(entry.key);
            self.add(hash, &entry).map_err(|Full| AllocError)?;
            self.offer(hash, &entry)?;
        }
        Ok(all)
    }

    /// Adds a key that was seen before the run.
    fn add_seen(&mut self, hash: Hash, key: &[u8]) -> Result<(), Full> {
        self.seen.add(hash, key).map(drop).map_err(|_| Full)
    }

    /// Adds a URL, or counts it once more.
    fn add(&mut self, hash: Hash, entry: &SpillEntry<'_>) -> Result<(), Full> {
        alloc::try_reserve(&mut self.kept, 1).map_err(|_| Full)?;
        alloc::try_reserve(&mut self.lines, entry.line.len()).map_err(|_| Full)?;
        let added = self.shard.add(hash, entry.key).map_err(|_| Full)?;
        let Some(place) = added else {
            self.count_rest(hash, entry);
            return Ok(());
        };
        // More than one where it was moved out of a set, or stands for several rows of a table.
        self.shard.set_count(place, entry.count);
        if self.kept_records.is_none() {
            self.lines.extend_from_slice(entry.line);
        }
        self.kept.push(Kept { ordinal: entry.ordinal, place, line_end: self.lines.len() });
        Ok(())
    }

    /// Counts the records of an entry behind its first, which is counted.
    fn count_rest(&mut self, hash: Hash, entry: &SpillEntry<'_>) {
        if entry.count > 1 {
            self.shard.count_more(hash, entry.key, entry.count - 1);
        }
    }

    /// A URL that it holds, as it would be spilled.
    fn entry(&self, at: usize) -> SpillEntry<'_> {
        let Kept { ordinal, place, line_end } = self.kept[at];
        let line_start = at.checked_sub(1).map_or(0, |before| self.kept[before].line_end);
        let line = match &self.kept_records {
            Some(kept_records) => kept_records.candidate(place.into()),
            None => &self.lines[line_start..line_end],
        };
        let count = self.shard.count(place);
        SpillEntry { ordinal, count, key: self.shard.get(place), line }
    }

    /// Takes the line of a record whose URL the set holds, if it survives the one before.
    fn offer(&mut self, hash: Hash, entry: &SpillEntry<'_>) -> Result<(), AllocError> {
        let Some(kept_records) = &mut self.kept_records else { return Ok(()) };
        let Some(place) = self.shard.place_of(hash, entry.key) else { return Ok(()) };
        kept_records.offer(place.get().into(), entry.line)
    }

    /// Bytes it takes, once it has taken one more URL and was sorted.
    fn memory(&self, plan: &PartitionPlan<'_>) -> usize {
        let sorting = match plan.order {
            _ if plan.saving => self.len(),
            MergeOrder::First => 0,
            MergeOrder::Sorted => self.kept.len(),
        };
        let sorting = sorting * size_of::<u64>() + sort_memory(sorting);
        // A vector that grows is there twice for a moment, once at double size.
        let kept = 3 * self.kept.len() * size_of::<Kept>();
        let kept_records =
            self.kept_records.as_ref().map_or(0, |kept_records| kept_records.memory(1));
        let lines = 3 * self.lines.len() + kept_records;
        self.seen.memory(1) + self.shard.memory(1) + kept + lines + sorting
    }

    /// Writes all keys by their bytes.
    fn saved(
        &self,
        plan: &PartitionPlan<'_>,
        compressor: &mut BlockCompressor,
    ) -> Result<Stream, SpillError> {
        const IN_SET: u64 = 1 << 32;
        let seen = self.seen.places().map(u64::from);
        let new = self.kept.iter().map(|kept| IN_SET | u64::from(kept.place));
        let mut places: Vec<u64> = seen.chain(new).collect();
        let shards = ShardUrls(vec![&self.seen, &self.shard]);
        if sort(&mut places, &shards, Threads::One).is_err() {
            return Err(plan.store.error(std::io::ErrorKind::OutOfMemory.into()));
        }
        let entry = |place| SpillEntry { ordinal: 0, count: 0, key: shards.get(place), line: &[] };
        written(in_turn(&places, &shards).map(entry), plan.block, compressor)
    }

    /// Writes the set in order.
    fn run(
        self,
        plan: &PartitionPlan<'_>,
        compressor: &mut BlockCompressor,
    ) -> Result<Stream, SpillError> {
        let mut order: Vec<u64> = match plan.order {
            MergeOrder::First => Vec::new(),
            MergeOrder::Sorted => (0..self.kept.len() as u64).collect(),
        };
        if sort(&mut order, &self, Threads::One).is_err() {
            return Err(plan.store.error(std::io::ErrorKind::OutOfMemory.into()));
        }
        let sorted = in_turn(&order, &self).map(|at| at as usize);
        let first = 0..if order.is_empty() { self.kept.len() } else { 0 };
        let entries = first.chain(sorted).map(|at| {
            let entry = self.entry(at);
            match &self.kept_records {
                Some(kept_records) => {
                    SpillEntry { line: kept_records.line(self.kept[at].place.into()), ..entry }
                }
                None => entry,
            }
        });
        let often = entries.filter(|entry| entry.count >= plan.min_count);
        written(often, plan.block, compressor)
    }
}

/// By their place in [`Set::kept`].
impl Urls for Set {
    fn text(&self, at: u64) -> &[u8] {
        self.shard.text(self.kept[at as usize].place)
    }

    fn fetch(&self, at: u64) {
        self.shard.fetch(self.kept[at as usize].place);
    }

    fn fetch_from(&self, at: u64, depth: usize) {
        self.shard.fetch_from(self.kept[at as usize].place, depth);
    }
}

#[cfg(test)]
mod tests {
    /// Ordinal, count, key and line.
    type Row = (u64, u64, Vec<u8>, Vec<u8>);

    use super::*;
    use crate::spill::merge;
    use std::collections::HashMap;
    use std::sync::Mutex;

    const KEYS: u64 = 700;

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
        let counting = Counting::On;
        let saving = false;
        let plan = PartitionPlan {
            store: &store,
            order,
            counting,
            keep,
            min_count: 1,
            saving,
            memory,
            block,
        };
        let mut compressor = BlockCompressor::new(&store).unwrap();
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
            let found = |ordinal, told| {
                assert_eq!(told, RecordStatus::New);
                found.lock().unwrap().push(ordinal);
            };
            let settled =
                dedup_partition(partition, &plan, &HashKey::narrow(width), found).unwrap();
            runs.push(settled.run);
            left.extend(settled.rest);
            passes += 1;
        }
        let mut all = Vec::new();
        merge(runs, &plan, |entry| {
            all.push((entry.ordinal, entry.count, entry.key.to_vec(), entry.line.to_vec()));
            Ok::<_, SpillError>(true)
        })
        .unwrap();
        let mut found = found.into_inner().unwrap();
        found.sort();
        let mut ordinals: Vec<_> = all.iter().map(|entry| entry.0).collect();
        ordinals.sort();
        assert_eq!(found, ordinals);
        (all, passes)
    }

    #[test]
    fn partitions_and_recursion_give_what_one_map_gives_whatever_the_hash() {
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
    fn lines_that_grow_behind_a_set_that_is_full_move_out_of_it() {
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
                crate::keep_policy::KeptRecord::append_value(
                    length.to_string().as_bytes(),
                    &mut line,
                );
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
    fn a_set_that_lines_grow_out_of_keeps_those_of_its_first_urls_and_what_was_seen() {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::create(directory.path()).unwrap());
        let (order, counting, block) = (MergeOrder::First, Counting::Off, 4096);
        let (keep, min_count, saving, memory) = (KeepPolicy::Last, 1, false, 40_000);
        let plan = PartitionPlan {
            store: &store,
            order,
            counting,
            keep,
            min_count,
            saving,
            memory,
            block,
        };
        let key = |number: u64| format!("http://h/{number}").into_bytes();
        let line = |number: u64, length: usize| {
            let mut line = Vec::new();
            crate::keep_policy::KeptRecord::append_value(b"", &mut line);
            line.extend_from_slice(format!("{}{number}\n", "x".repeat(length)).as_bytes());
            line
        };
        // The lines of the last of sixty grow, then comes what was seen.
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
        let mut compressor = BlockCompressor::new(&store).unwrap();
        let partition = written(entries, block, &mut compressor).unwrap();
        let told = Mutex::new(Vec::new());
        let found = |ordinal, what| told.lock().unwrap().push((ordinal, what));
        let settled = dedup_partition(partition, &plan, &HashKey::narrow(64), found).unwrap();
        assert!(!settled.rest.is_empty());
        let mut kept = Vec::new();
        merge(vec![settled.run], &plan, |entry| {
            kept.push((entry.key.to_vec(), entry.line.to_vec()));
            Ok::<_, SpillError>(true)
        })
        .unwrap();
        let expected =
            (0..MIN_URLS as u64).map(|number| (key(number), format!("{number}\n").into()));
        assert_eq!(kept, expected.collect::<Vec<_>>());
        let mut told = told.into_inner().unwrap();
        told.retain(|(_, what)| *what == RecordStatus::Seen);
        assert_eq!(told, [(90, RecordStatus::Seen), (91, RecordStatus::Seen)]);
    }

    #[test]
    fn keys_that_were_seen_are_not_settled_again_however_small_the_memory() {
        let is_seen = |key: &[u8]| key.ends_with(b"3") || key.ends_with(b"/20");
        for (memory, width) in [(1 << 30, 64), (20_000, 64), (0, 64), (0, 0)] {
            let directory = tempfile::tempdir().unwrap();
            let store = Arc::new(Store::create(directory.path()).unwrap());
            let (order, counting, block) = (MergeOrder::First, Counting::Off, 4096);
            let (keep, min_count, saving) = (KeepPolicy::First, 1, true);
            let plan = PartitionPlan {
                store: &store,
                order,
                counting,
                keep,
                min_count,
                saving,
                memory,
                block,
            };
            let mut compressor = BlockCompressor::new(&store).unwrap();
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
            let mut left = vec![written(before.chain(all), block, &mut compressor).unwrap()];
            let (mut runs, mut saved) = (Vec::new(), Vec::new());
            let told = Mutex::new((Vec::new(), Vec::new()));
            while let Some(partition) = left.pop() {
                let found = |ordinal, what| {
                    let mut told = told.lock().unwrap();
                    match what {
                        RecordStatus::New => told.0.push(ordinal),
                        RecordStatus::Seen => told.1.push(ordinal),
                    }
                };
                let settled =
                    dedup_partition(partition, &plan, &HashKey::narrow(width), found).unwrap();
                runs.push(settled.run);
                saved.push(settled.saved);
                left.extend(settled.rest);
            }
            let keys = |runs, plan: &PartitionPlan<'_>| {
                let mut keys: Vec<Vec<u8>> = Vec::new();
                merge(runs, plan, |entry| {
                    keys.push(entry.key.to_vec());
                    Ok::<_, SpillError>(true)
                })
                .unwrap();
                keys
            };
            let new = keys(runs, &plan);
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
            expected.extend(seen);
            expected.sort();
            expected.dedup();
            let plan = PartitionPlan { order: MergeOrder::Sorted, ..plan };
            assert!(keys(saved, &plan) == expected, "{memory} {width}");
        }
    }
}
