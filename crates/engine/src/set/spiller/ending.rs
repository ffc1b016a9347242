//! The end of a run that spilled: dedups the partitions, and writes the result in its order.

use std::io::Write;

use rayon::prelude::*;

use crate::job::Dedup;
use crate::output::{TallyLayout, vectored};
use crate::reader::RecordOrigins;
use crate::error::RunError;
use crate::set::ordered;
use crate::set::written_keys::KeyBatches;
use crate::split::{self, Split};
use uniqurl::internal::{AllocError, Counting, HashKey, alloc};
use uniqurl_store::keep_policy::KeepPolicy;
use uniqurl_store::seen::KeySink;
use uniqurl_store::spill::{self, MergeOrder, PartitionPlan, PartitionResult, SpillEntry, Stream};

/// How a run that spilled ends: it settles the partitions and writes their lines.
pub(crate) struct Ending<'a> {
    pub(crate) hasher: &'a HashKey,
    pub(crate) lines: SpilledLines<'a>,
    /// Counts each unique URL, and each record whose URL was seen before the run.
    pub(crate) origins: &'a RecordOrigins,
    /// Records below this ordinal are counted already.
    pub(crate) moved: u64,
    /// The keys of the set in memory, in the order of the run, unless that is the order of the input.
    pub(crate) sorted: Vec<Stream>,
    pub(crate) out: &'a mut (dyn Write + Send),
    /// Takes the keys of the lines, in the order of the lines.
    pub(crate) keys: Option<&'a mut dyn KeySink>,
}

/// How the lines of spilled keys are written.
#[derive(Clone, Copy)]
pub(crate) struct SpilledLines<'a> {
    pub(crate) dedup: &'a Dedup,
    pub(crate) split: Option<Split>,
    pub(crate) counting: Counting,
    pub(crate) policy: KeepPolicy,
    /// Whether lines are written instead of keys.
    pub(crate) columns: bool,
    /// How they are written, if they are tallies.
    pub(crate) tally: Option<TallyLayout>,
    /// Lines that are written already, which count for a limit.
    pub(crate) written: u64,
}

impl SpilledLines<'_> {
    /// Appends the line of an entry.
    pub(super) fn append(
        &self,
        entry: SpillEntry<'_>,
        text: &mut Vec<u8>,
    ) -> Result<(), AllocError> {
        /// Most bytes around a key: a count, a tab, a line feed.
        const COUNT: usize = 22;
        alloc::try_reserve(text, split::MARK + COUNT + entry.key.len() + entry.line.len())?;
        split::mark(self.split, entry.key, text);
        let line = self.columns.then_some(entry.line);
        ordered::append(entry.key, entry.count, line, self.dedup, self.tally, text)
    }

    /// How many lines may still be written.
    pub(super) fn left(&self) -> Option<u64> {
        self.dedup.limit.map(|limit| limit - self.written)
    }
}

impl Ending<'_> {
    /// Dedups the partitions, at most `at_once` at the same time, and writes the result.
    pub(crate) fn run(
        self,
        mut partitions: Vec<Stream>,
        plan: &PartitionPlan<'_>,
        at_once: Option<usize>,
    ) -> Result<(), RunError> {
        let Self { hasher, lines, origins, moved, sorted, out, mut keys } = self;
        let mut runs = Vec::new();
        let mut hasher = hasher.clone();
        while !partitions.is_empty() {
            hasher = hasher.another();
            let dedup = |partition| {
                let mut counter = origins.counter(moved);
                let mut found = |ordinal, status| counter.count(ordinal, status);
                spill::dedup_partition(partition, plan, &hasher, &mut found)
            };
            let in_turn = at_once.map_or(1, |threads| partitions.len().div_ceil(threads));
            let done = partitions.into_par_iter().with_min_len(in_turn).map(dedup);
            let done: Vec<PartitionResult> = done.collect::<Result<_, _>>()?;
            partitions = Vec::new();
            for done in done {
                runs.push(done.run);
                partitions.extend(done.rest);
            }
        }
        if plan.order != MergeOrder::First {
            let runs = runs.into_iter().map(spill::Run::into_stream).chain(sorted).collect();
            let mut left = lines.left().unwrap_or(u64::MAX);
            write_sorted(runs, plan, out, |entry, text| {
                if left == 0 {
                    return Ok(false);
                }
                left -= 1;
                lines.append(entry, text)?;
                if let Some(keys) = &mut keys {
                    keys.push(entry.key)?;
                }
                Ok(true)
            })?;
        } else {
            let batches = keys.is_some().then(KeyBatches::new);
            let append = |entry: SpillEntry<'_>, text: &mut Vec<u8>| {
                lines.append(entry, text)?;
                batches.as_ref().map_or(Ok(()), |batches| batches.add(entry.key))
            };
            // All threads merge together, so theirs is the memory of all.
            let tasks = at_once.unwrap_or_else(rayon::current_num_threads);
            let memory = plan.memory.saturating_mul(tasks);
            let plan = PartitionPlan { memory, ..*plan };
            spill::merge_windows(runs, &plan, lines.left(), append, |texts| {
                let texts = texts.iter().map(Vec::as_slice);
                vectored::write_all(texts, |parts| out.write_vectored(parts))
                    .map_err(RunError::Output)?;
                match (&batches, &mut keys) {
                    (Some(batches), Some(keys)) => Ok::<_, RunError>(batches.push_to(*keys)?),
                    _ => Ok(()),
                }
            })?;
        }
        Ok(())
    }
}

/// Writes the entries of all runs in the order of the plan, as `append` formats them, until it returns `false`.
fn write_sorted(
    runs: Vec<Stream>,
    plan: &PartitionPlan<'_>,
    out: &mut (dyn Write + Send),
    mut append: impl FnMut(SpillEntry<'_>, &mut Vec<u8>) -> Result<bool, RunError>,
) -> Result<(), RunError> {
    let mut text = Vec::new();
    spill::merge(runs, plan, |entry| {
        let goes_on = append(entry, &mut text)?;
        if text.len() >= plan.block {
            out.write_all(&text).map_err(RunError::Output)?;
            text.clear();
        }
        Ok::<_, RunError>(goes_on)
    })?;
    out.write_all(&text).map_err(RunError::Output)
}
