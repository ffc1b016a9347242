//! What a set that takes no more sends to a temporary file, and what becomes of it at the end.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::finish::{self, Ordered};
use super::job::{Dedup, Order};
use super::memory::{self, Memory, Spilling};
use super::report::RunError;
use super::sheet::Sheet;
use super::split::{self, Split};
use uniqurl::set::{Counting, HashKey};
use uniqurl_store::keep_policy::KeepPolicy;
use uniqurl_store::spill::{
    self, BlockCompressor, EntryWriter, PARTITIONS, PartitionPlan, RecordStatus, SpillEntry,
    SpillError, Store, Stream,
};

/// Partitions that are being written.
pub(super) struct Overflow {
    store: Arc<Store>,
    /// Each is written by one task at a time.
    groups: Vec<Group>,
    /// Threads that settle partitions at the same time, where memory is not enough for all.
    hands: Option<usize>,
    /// Memory for each of them.
    memory: usize,
    block: usize,
}

/// Bytes of memory that each of several threads has at least to settle partitions.
const LEAST_TO_SETTLE: usize = 1 << 20;

/// Partitions next to each other.
pub(super) struct Group {
    first: usize,
    writers: Vec<EntryWriter>,
    packer: BlockCompressor,
}

impl Group {
    /// Stage *write* of what was spilled.
    pub(super) fn write(&mut self, sheets: &[Sheet]) -> Result<(), SpillError> {
        // A sheet from before the set was full has no partitions.
        for sheet in sheets.iter().filter(|sheet| sheet.spills) {
            for (writer, entries) in self.writers.iter_mut().zip(&sheet.spilled[self.first..]) {
                writer.write(entries, &mut self.packer)?;
            }
        }
        Ok(())
    }
}

/// Bytes of a block, where each thread has a buffer for every partition.
fn block(budget: usize, threads: usize) -> usize {
    spill::block_size(budget / threads)
}

/// Memory that the partitions take.
pub(super) fn buffers(budget: usize, threads: usize) -> usize {
    PARTITIONS * block(budget, threads)
}

impl Overflow {
    fn create(directory: &Path, budget: usize, threads: usize) -> Result<Self, SpillError> {
        let store = Arc::new(Store::create(directory)?);
        let block = block(budget, threads);
        let share = PARTITIONS / threads.next_power_of_two().min(PARTITIONS);
        let groups = (0..PARTITIONS).step_by(share).map(|first| {
            let writers = (0..share).map(|_| EntryWriter::new(block)).collect();
            Ok(Group { first, writers, packer: BlockCompressor::new(&store)? })
        });
        let groups = groups.collect::<Result<_, SpillError>>()?;
        // With less, nearly all of it would be buffers, and hardly a URL settled by a pass.
        let hands = (budget / LEAST_TO_SETTLE).clamp(1, threads);
        // Each of them may have to write all partitions of a partition that is still too large.
        let memory = (budget / hands).saturating_sub((PARTITIONS + 4) * block);
        let hands = Some(hands).filter(|hands| *hands < threads);
        Ok(Self { store, groups, hands, memory, block })
    }

    /// The same within `memory`, which is told, with how many bytes will be written where it is known how
    /// many there are to be spilled.
    pub(super) fn begin(
        memory: &Memory,
        threads: usize,
        rest: Option<u64>,
    ) -> Result<Self, SpillError> {
        let overflow = Self::create(&memory.directory, memory.size(), threads)?;
        // Packed, URLs take about half their bytes each time: in a partition, in its run, and between the two
        // in smaller partitions, where one is more than a thread may hold. What it holds is twice as much.
        let needed = rest.map(|rest| {
            let is_divided = rest / PARTITIONS as u64 > overflow.memory as u64 / 2;
            rest / 2 * if is_divided { 3 } else { 2 }
        });
        let free = memory::free_space(&memory.directory);
        (memory.tell)(&Spilling { directory: &memory.directory, needed, free });
        Ok(overflow)
    }

    pub(super) fn groups(&mut self) -> &mut [Group] {
        &mut self.groups
    }

    /// Spills entries that are not on a sheet, by their hash under `key`.
    fn spill<'e>(
        &mut self,
        entries: impl IntoIterator<Item = SpillEntry<'e>>,
        key: &HashKey,
    ) -> Result<(), SpillError> {
        let share = PARTITIONS / self.groups.len();
        let mut text = Vec::new();
        for entry in entries {
            text.clear();
            entry.append(&mut text).map_err(|error| self.store.error(error.into()))?;
            let partition = key.hash(entry.key).partition(PARTITIONS);
            let Group { writers, packer, .. } = &mut self.groups[partition / share];
            writers[partition % share].write(&text, packer)?;
        }
        Ok(())
    }

    /// The same ahead of what was spilled so far: they are of records that came before.
    pub(super) fn spill_ahead<'e>(
        &mut self,
        entries: impl IntoIterator<Item = SpillEntry<'e>>,
        key: &HashKey,
    ) -> Result<(), SpillError> {
        let mut later = Vec::new();
        for Group { writers, packer, .. } in &mut self.groups {
            for writer in writers {
                later.push(writer.turn(packer)?);
            }
        }
        self.spill(entries, key)?;
        let mut later = later.into_iter();
        for Group { writers, packer, .. } in &mut self.groups {
            for (writer, later) in writers.iter_mut().zip(&mut later) {
                writer.append(later, packer)?;
            }
        }
        Ok(())
    }

    /// Bytes written.
    pub(super) fn size(&self) -> u64 {
        self.store.size()
    }

    /// Writes a set as a run, for the merge with what was spilled.
    pub(super) fn run(&mut self, set: &Ordered<'_>) -> Result<Stream, SpillError> {
        self.run_of(set.entries())
    }

    /// Writes entries, which are in order, as a run.
    pub(super) fn run_of<'e>(
        &mut self,
        entries: impl IntoIterator<Item = SpillEntry<'e>>,
    ) -> Result<Stream, SpillError> {
        spill::written(entries, self.block, &mut self.groups[0].packer)
    }

    /// Settles what was spilled, merges it with `runs`, and writes that as `dedup` asks, where
    /// `written` lines went before and `limit` counts all. `found` is told the ordinal of each URL
    /// that was settled, and of each record whose URL was seen before the run. `saved` takes all keys,
    /// those that were seen before too.
    pub(super) fn settle(
        &mut self,
        mut runs: Vec<Stream>,
        key: &HashKey,
        output: &Output<'_>,
        found: impl Fn(u64, RecordStatus) + Sync,
        out: &mut (dyn Write + Send),
        mut saved: Option<Saving<'_>>,
    ) -> Result<(), RunError> {
        let mut partitions = Vec::new();
        for Group { writers, mut packer, .. } in std::mem::take(&mut self.groups) {
            for writer in writers {
                partitions.push(writer.finish(&mut packer)?);
            }
        }
        let Output { dedup, split, counting, survivor, columns, written } = *output;
        let plan = PartitionPlan {
            store: &self.store,
            order: match dedup.order {
                Order::First | Order::None => spill::MergeOrder::First,
                Order::Sorted => spill::MergeOrder::Sorted,
            },
            counting,
            keep: survivor,
            min_count: dedup.min_count,
            saving: saved.is_some(),
            memory: self.memory,
            block: self.block,
        };
        let mut key = key.clone();
        while !partitions.is_empty() {
            key = key.another();
            let settle = |partition| spill::dedup_partition(partition, &plan, &key, &found);
            let in_turn = self.hands.map_or(1, |hands| partitions.len().div_ceil(hands));
            let settled = partitions.into_par_iter().with_min_len(in_turn).map(settle);
            let settled: Vec<_> = settled.collect::<Result<_, _>>()?;
            partitions = Vec::new();
            for settled in settled {
                runs.push(settled.run);
                if let Some(saved) = &mut saved {
                    saved.runs.push(settled.saved);
                }
                partitions.extend(settled.rest);
            }
        }
        let mut left = dedup.limit.map_or(u64::MAX, |limit| limit - written);
        write(runs, &plan, out, |entry, text| {
            if left == 0 {
                return false;
            }
            left -= 1;
            let line = columns.then_some(entry.line);
            split::mark(split, entry.key, text);
            finish::append(entry.key, entry.count, line, dedup, text);
            true
        })?;
        let Some(Saving { runs, out }) = saved else { return Ok(()) };
        write(
            runs,
            &PartitionPlan { order: spill::MergeOrder::Sorted, ..plan },
            out,
            |entry, text| {
                text.extend_from_slice(entry.key);
                text.push(b'\n');
                true
            },
        )
    }
}

/// Writes what `append` makes of the entries of all runs, in order, until it says `false`.
fn write(
    runs: Vec<Stream>,
    plan: &PartitionPlan<'_>,
    out: &mut (dyn Write + Send),
    mut append: impl FnMut(SpillEntry<'_>, &mut Vec<u8>) -> bool,
) -> Result<(), RunError> {
    let mut text = Vec::new();
    spill::merge(runs, plan, |entry| {
        let goes_on = append(entry, &mut text);
        if text.len() >= plan.block {
            out.write_all(&text).map_err(RunError::Output)?;
            text.clear();
        }
        Ok::<_, RunError>(goes_on)
    })?;
    out.write_all(&text).map_err(RunError::Output)
}

/// A set that is being saved: its keys that are settled already, by their bytes, and where it goes.
pub(super) struct Saving<'a> {
    pub(super) runs: Vec<Stream>,
    pub(super) out: &'a mut (dyn Write + Send),
}

/// How the set is written.
pub(super) struct Output<'a> {
    pub(super) dedup: &'a Dedup,
    pub(super) split: Option<Split>,
    pub(super) counting: Counting,
    pub(super) survivor: KeepPolicy,
    /// Whether lines are written instead of keys.
    pub(super) columns: bool,
    /// Lines that were written already.
    pub(super) written: u64,
}

/// Which input a record is from, by its ordinal; and how many unique URLs each turned out to have, and
/// how many records that were seen before the run.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// Ordinal of the first record, and number of the input; ascending.
    starts: Vec<(u64, usize)>,
    settled: Vec<[AtomicU64; 2]>,
}

impl Origins {
    /// Notes that the records from `ordinal` on are of `input`.
    pub(super) fn begin(&mut self, ordinal: u64, input: usize) {
        if self.starts.last().is_none_or(|(_, last)| *last != input) {
            self.starts.push((ordinal, input));
            self.settled.push(Default::default());
        }
    }

    /// Counts a record.
    pub(super) fn found(&self, ordinal: u64, told: RecordStatus) {
        let after = self.starts.partition_point(|(start, _)| *start <= ordinal);
        if let Some(settled) = after.checked_sub(1).and_then(|at| self.settled.get(at)) {
            settled[told as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The inputs, and what was found in each: unique URLs, and records that were seen before.
    pub(super) fn settled(&self) -> impl Iterator<Item = (usize, [u64; 2])> {
        let counts = |settled: &[AtomicU64; 2]| {
            settled.each_ref().map(|count| count.load(Ordering::Relaxed))
        };
        self.starts.iter().map(|(_, input)| *input).zip(self.settled.iter().map(counts))
    }
}

#[cfg(test)]
mod tests {
    use super::super::job::{Job, Setup};
    use super::super::run::{Sinks, run_with};
    use super::super::{CHUNK_SIZE, Memory, Watch};
    use super::*;
    use crate::output::{Field, Tally};
    use uniqurl::bytes::alloc::failing::{self, Plan};
    use uniqurl::{Normalizer, Profile};
    use uniqurl_formats::input;

    /// What a run wrote, what it counted, and what it spilled.
    type Ran = (Vec<u8>, Tally, u64);

    fn ran(width: u32, order: Order, budget: Option<u64>) -> Ran {
        let dedup = Dedup { order, count: true, min_count: 1, limit: None };
        let (ran, result) = try_ran(2, width, dedup, Vec::new(), budget, 2000);
        result.unwrap();
        ran
    }

    fn try_ran(
        threads: usize,
        width: u32,
        dedup: Dedup,
        fields: Vec<Field>,
        budget: Option<u64>,
        lines: u64,
    ) -> (Ran, Result<(), RunError>) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("list");
        // Every other line has a URL that came before.
        let number =
            |i: u64| if i.is_multiple_of(2) { i } else { (i.wrapping_mul(0x9E37_79B9) % i) & !1 };
        let line = |i| format!("HTTP://h/{}\n", number(i));
        std::fs::write(&path, (0..lines).map(line).collect::<String>()).unwrap();
        let (inputs, _) = input::check(&[path]);
        let memory = budget.map(|budget| Memory {
            budget,
            directory: directory.path().to_owned(),
            tell: |_| {},
        });
        let watch = Watch::default();
        let setup = Setup {
            threads,
            chunk_size: if dedup.count && lines < 1000 { 128 } else { CHUNK_SIZE / 64 },
            memory,
            fields,
            ..Setup::new(Normalizer::new(&Profile::CRAWL), Job::Dedup(dedup), &watch)
        };
        let mut out = Vec::new();
        let sinks = Sinks { out: &mut out, rejects: None, seen: None };
        let (report, result) = run_with(&setup, &inputs, sinks, HashKey::narrow(width));
        ((out, report.tally, report.spilled), result)
    }

    #[test]
    fn a_bad_hash_costs_time_and_changes_nothing() {
        for order in [Order::First, Order::Sorted] {
            let (out, tally, _) = ran(64, order, None);
            assert_eq!((tally.unique, tally.records), (1000, 2000));
            for width in [8, 0] {
                for budget in [None, Some(0), Some(1 << 20)] {
                    let (now, counted, spilled) = ran(width, order, budget);
                    assert!(now == out && counted == tally, "{width} bits, {budget:?}");
                    assert!(spilled > 0 || budget != Some(0));
                }
            }
        }
    }

    #[test]
    fn many_threads_in_little_memory_settle_as_few_would() {
        let spilled = |threads| {
            let ((out, tally, spilled), result) =
                try_ran(threads, 64, Dedup::default(), Vec::new(), Some(1 << 20), 100_000);
            result.unwrap();
            (out, tally, spilled)
        };
        let (out, tally, by_few) = spilled(1);
        let (out_of_many, tally_of_many, by_many) = spilled(64);
        assert!(out == out_of_many && tally == tally_of_many);
        assert!(by_few > 0 && by_many < 2 * by_few, "{by_few} and {by_many} bytes");
    }

    #[test]
    fn memory_that_runs_out_at_any_time_ends_the_run_or_changes_nothing() {
        let (mut survived, mut refused) = (0, 0);
        let order = |order| Dedup { order, ..Dedup::default() };
        let counted = Dedup { count: true, ..Dedup::default() };
        for (dedup, fields, budget, stays) in [
            (order(Order::First), vec![], Some(1 << 30), false),
            (order(Order::Sorted), vec![], None, false),
            (counted, vec![], Some(1 << 30), false),
            (order(Order::First), vec![Field::Count, Field::Original], Some(1 << 30), true),
            (order(Order::Sorted), vec![Field::Canonical], Some(1 << 20), false),
        ] {
            let run = || try_ran(2, 64, dedup, fields.clone(), budget, 500);
            let (whole, result) = run();
            result.unwrap();
            for k in 0.. {
                let plan = Plan::at(k, stays);
                failing::follow(Some(Arc::clone(&plan)));
                let (ran, result) = run();
                failing::follow(None);
                if !plan.has_failed() {
                    break;
                }
                match result {
                    Ok(()) => {
                        assert_eq!(ran.1, whole.1, "{dedup:?} {k}");
                        assert!(ran.0 == whole.0, "{dedup:?} {k}");
                        survived += 1;
                    }
                    Err(RunError::Set(_) | RunError::Memory) => refused += 1,
                    Err(RunError::Output(error)) => {
                        assert_eq!(error.kind(), std::io::ErrorKind::OutOfMemory, "{k}");
                        refused += 1;
                    }
                    Err(error) => panic!("{dedup:?} {k}: {error}"),
                }
            }
        }
        // A set that cannot grow begins to spill.
        assert!(survived > 100 && refused > 100, "{survived} survived, {refused} refused");
    }
}
