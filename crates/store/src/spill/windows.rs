//! Merges runs in the order of first occurrence, without comparing entries.
//!
//! The plain way takes the run with the smallest ordinal from a heap, writes its entry, and puts it back:
//! a dozen comparisons an entry, on one core. Since ordinals are numbers of records, an entry knows its
//! place: of a window of ordinals, the entries of all runs are put into slots, and the slots are written
//! in turn. Runs are read and unpacked on all cores, and lines are made on all cores, while the lines of
//! the window before are written.

use rayon::prelude::*;

use super::entry::SpillEntry;
use super::marks::Run;
use super::packing::{BlockCompressor, BlockDecompressor};
use super::partition::PartitionPlan;
use super::source::Source;
use super::store::SpillError;
use super::stream::EntryWriter;
use uniqurl::internal::{AllocError, alloc};

/// Slots whose lines one task makes.
const SLOTS: usize = 4096;

/// Bytes of lines of a window for four threads: it is worth its overhead, and still fits into a cache.
const TEXT: usize = 4 << 20;

/// Bytes of lines that are worth a task. Waking threads for less took four fifths of the time of a run
/// with 8 MiB of memory and 16 threads.
const TASK: usize = 64 << 10;

/// Fewest slots of a window, and most.
const LEAST: usize = 1 << 10;
const MOST: usize = 1 << 20;

/// Runs that are merged at once, however little memory there is.
const MIN_RUNS: usize = 8;

/// Passes the lines of the first `limit` entries of all runs to `put`, in the order of their ordinals.
/// `append` appends the line of an entry.
///
/// A run takes one block of memory or more while it is read. Where that would be too much for all of
/// them, some are merged into longer runs first.
pub fn merge_windows<E: From<SpillError> + Send>(
    mut runs: Vec<Run>,
    plan: &PartitionPlan<'_>,
    limit: Option<u64>,
    append: impl Fn(SpillEntry<'_>, &mut Vec<u8>) -> Result<(), AllocError> + Sync,
    put: impl FnMut(&[Vec<u8>]) -> Result<(), E> + Send,
) -> Result<(), E> {
    let at_once = (plan.memory / (2 * plan.block)).max(MIN_RUNS);
    while runs.len() > at_once {
        let mut compressor = BlockCompressor::new(plan.store);
        let mut writer = EntryWriter::new(plan.block);
        // No more than needed, and the first ones: those that were merged come last.
        let some = (runs.len() - at_once + 1).min(at_once);
        let some = runs.drain(..some).collect();
        let same = |entry: SpillEntry<'_>, out: &mut Vec<u8>| entry.append(out);
        Merge::new(some, plan).write(None, same, |texts: &[Vec<u8>]| {
            texts.iter().try_for_each(|text| writer.write(text, &mut compressor))
        })?;
        runs.push(writer.finish(&mut compressor)?.into());
    }
    Merge::new(runs, plan).write(limit, append, put)
}

/// Runs that are being merged.
struct Merge<'p> {
    plan: &'p PartitionPlan<'p>,
    sources: Vec<Source>,
    /// The entry of each ordinal of the window: the number of its block, from 1, and where it starts.
    slots: Vec<u64>,
    /// Ordinals of a window, as it would be best.
    span: usize,
    /// The most bytes that each source may hold in more than one block.
    share: usize,
    /// Bytes of lines of a window, as it would be best.
    text: usize,
    most_slots: usize,
}

impl<'p> Merge<'p> {
    fn new(runs: Vec<Run>, plan: &'p PartitionPlan<'p>) -> Self {
        let sources: Vec<_> = runs.into_iter().map(Source::new).collect();
        // Lines are there twice: while they are made, and while those before them are written.
        let most = TEXT * rayon::current_num_threads().div_ceil(4);
        let text = (plan.memory / 8).clamp(plan.block, most.max(plan.block));
        Self {
            plan,
            slots: Vec::new(),
            span: LEAST,
            share: 2 * text / sources.len().max(1),
            text,
            most_slots: (plan.memory / u64::BITS as usize).clamp(LEAST, MOST),
            sources,
        }
    }

    fn write<E: From<SpillError> + Send>(
        &mut self,
        limit: Option<u64>,
        append: impl Fn(SpillEntry<'_>, &mut Vec<u8>) -> Result<(), AllocError> + Sync,
        mut put: impl FnMut(&[Vec<u8>]) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let mut left = limit.unwrap_or(u64::MAX);
        let is_small = self.text < 4 * TASK;
        let mut texts: Vec<Vec<u8>> = Vec::new();
        let mut is_over = false;
        while !is_over {
            let mut next = || match self.place()? {
                true => self.texts(&mut left, &append).map(Some),
                false => Ok(None),
            };
            // Waking a thread for a small window costs more than writing it beside the next one.
            let next = if is_small {
                put(&texts)?;
                next()
            } else {
                let (written, next) = rayon::join(|| put(&texts), next);
                written?;
                next
            };
            let next: Option<Vec<Vec<u8>>> = next?;
            is_over = next.is_none();
            texts = next.unwrap_or_default();
        }
        Ok(())
    }

    /// Puts the entries of the next window into slots; returns whether there are any.
    fn place(&mut self) -> Result<bool, SpillError> {
        let mut until = 0;
        loop {
            if until > 0 {
                self.load(until)?;
            }
            let Some(base) = self.sources.iter().filter_map(Source::next).min() else {
                // No entry is at hand, but a source may have more: its last blocks had no new
                // entries.
                if self.sources.iter().all(|source| source.covered() == u64::MAX) {
                    return Ok(false);
                }
                until = u64::MAX;
                continue;
            };
            let whole = base.saturating_add(self.span as u64);
            let covered = self.sources.iter().map(Source::covered).min().unwrap_or(u64::MAX);
            // A window ends where it is large enough, or where a source holds as much as it may.
            if covered < whole && until < whole {
                until = whole;
                continue;
            }
            let end = whole.min(covered);
            if end > base {
                return self.fill(base, end).map(|()| true);
            }
            until = whole;
        }
    }

    fn load(&mut self, until: u64) -> Result<(), SpillError> {
        let (store, share) = (self.plan.store, self.share);
        let tasks = (self.text / TASK).max(1);
        let of_task = self.sources.len().div_ceil(tasks).max(1);
        self.sources.par_iter_mut().with_min_len(of_task).try_for_each_init(
            || BlockDecompressor::new(store),
            |decompressor, source| source.load(until, share, decompressor),
        )
    }

    fn fill(&mut self, base: u64, end: u64) -> Result<(), SpillError> {
        let store = self.plan.store;
        let length = (end - base) as usize;
        self.slots.clear();
        alloc::try_reserve(&mut self.slots, length).map_err(|error| store.error(error.into()))?;
        self.slots.resize(length, 0);
        let blocks = self.sources.iter_mut().flat_map(|source| &mut source.loaded);
        for (number, block) in (1u64..).zip(blocks) {
            for (ordinal, start) in block.pass(end) {
                let slot = &mut self.slots[(ordinal - base) as usize];
                // A record has one key. Two entries of it are damage that no checksum shows.
                if *slot != 0 {
                    let text = format!("two entries of record {ordinal}");
                    return Err(store.error(std::io::Error::other(text)));
                }
                *slot = number << 32 | u64::from(start);
            }
        }
        Ok(())
    }

    /// Makes the lines of the window, of no more than `left` entries.
    fn texts(
        &mut self,
        left: &mut u64,
        append: impl Fn(SpillEntry<'_>, &mut Vec<u8>) -> Result<(), AllocError> + Sync,
    ) -> Result<Vec<Vec<u8>>, SpillError> {
        if let Some(last) = usize::try_from(*left).ok().filter(|left| *left < self.slots.len()) {
            let taken = self.slots.iter().enumerate().filter(|(_, slot)| **slot != 0);
            let cut = taken.map(|(at, _)| at).nth(last);
            self.slots.truncate(cut.unwrap_or(self.slots.len()));
        }
        let blocks: Vec<_> = self.sources.iter().flat_map(|source| &source.loaded).collect();
        let text = |slots: &[u64]| {
            let (mut text, mut count) = (Vec::new(), 0);
            for slot in slots.iter().filter(|slot| **slot != 0) {
                let block = &blocks[(slot >> 32) as usize - 1].bytes;
                let entry = SpillEntry::decode(&block[*slot as u32 as usize..]);
                append(entry.expect("it was decoded before").0, &mut text)?;
                count += 1;
            }
            Ok((text, count))
        };
        let made = self.slots.par_chunks(SLOTS).map(text).collect::<Result<Vec<_>, AllocError>>();
        let made = made.map_err(|error| self.plan.store.error(error.into()))?;
        let bytes = made.iter().map(|(text, _)| text.len()).sum::<usize>();
        // Windows grow slowly, and shrink at once.
        let fitting = self.slots.len().saturating_mul(self.text) / bytes.max(1);
        self.span = fitting.min(2 * self.span).clamp(LEAST, self.most_slots);
        *left -= made.iter().map(|(_, count)| *count).sum::<u64>();
        if *left == 0 {
            // The next window is empty.
            self.sources.clear();
        }
        self.sources.iter_mut().for_each(Source::free);
        Ok(made.into_iter().map(|(text, _)| text).collect())
    }
}

#[cfg(test)]
mod tests;
