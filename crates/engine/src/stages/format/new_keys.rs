//! The new keys of a batch if the first record of each key is kept: as lines, as a list for the end of
//! the run, or as entries for the partitions on disk.

use std::mem::take;
use std::path::Path;

use super::columns::{LineColumns, format_columns};
use crate::batch::WorkBatch;
use crate::error::RunError;
use crate::set::Partitioner;
use crate::split::{self, Split};
use uniqurl::internal::{AllocError, alloc};
use uniqurl_formats::input::Chunk;
use uniqurl_store::spill::SpillEntry;

/// Writes the new keys in order, or a line about each.
pub(super) fn format(
    batch: &mut WorkBatch,
    columns: Option<LineColumns<'_>>,
    split: Option<Split>,
    path: &Path,
) -> Result<(), AllocError> {
    let bits = &mut batch.out.by_sequence;
    let tally = &mut batch.tally.records;
    bits.clear();
    alloc::try_reserve(bits, batch.keys.len().div_ceil(64))?;
    let mut length = 0;
    bits.resize(batch.keys.len().div_ceil(64), 0);
    // Entries are grouped by shard. One bit per record restores the order of the input without sorting.
    for entry in &batch.entries.all {
        if entry.new_place().is_some() {
            bits[entry.sequence as usize / 64] |= 1 << (entry.sequence % 64);
            tally.unique += 1;
            length += entry.len as usize + 1;
        }
        tally.seen += u64::from(entry.is_seen());
    }
    tally.duplicates = tally.canonical - tally.unique - tally.seen;
    if let Some(columns) = columns {
        let mut lines = take(&mut batch.out.lines);
        let is_new = |i: usize| batch.out.by_sequence[i / 64] >> (i % 64) & 1 == 1;
        let formatted = format_columns(batch, columns, split, path, is_new, &mut lines);
        batch.out.lines = lines;
        return formatted;
    }
    let lines = &mut batch.out.lines;
    alloc::try_reserve(lines, length)?;
    let buffers = batch.text.buffers();
    for (i, word) in bits.iter().enumerate() {
        let mut word = *word;
        while word != 0 {
            let key = buffers.get(batch.keys[i * 64 + word.trailing_zeros() as usize]);
            split::mark(split, key, lines);
            lines.extend_from_slice(key);
            lines.push(b'\n');
            word &= word - 1;
        }
    }
    Ok(())
}

/// Lists where the new keys are in the set, in order, and a line about each if there are columns.
pub(super) fn list(
    batch: &mut WorkBatch,
    columns: Option<LineColumns<'_>>,
    path: &Path,
) -> Result<(), AllocError> {
    let places = &mut batch.out.by_sequence;
    let tally = &mut batch.tally.records;
    places.clear();
    alloc::try_reserve(places, batch.keys.len())?;
    // Entries are grouped by shard. A place per record restores the order of the input without sorting.
    places.resize(batch.keys.len(), u64::MAX);
    let mut start = 0;
    for (shard, end) in batch.entries.ends.iter().enumerate() {
        for entry in &batch.entries.all[start..*end] {
            tally.seen += u64::from(entry.is_seen());
            if let Some(place) = entry.new_place() {
                places[entry.sequence as usize] = (shard as u64) << 32 | u64::from(place.get());
                tally.unique += 1;
            }
        }
        start = *end;
    }
    tally.duplicates = tally.canonical - tally.unique - tally.seen;
    alloc::try_reserve(&mut batch.out.new, tally.unique as usize)?;
    batch.out.new.extend(places.iter().filter(|place| **place != u64::MAX));
    let Some(columns) = columns else { return Ok(()) };
    let mut lines = take(&mut batch.out.lines_of_new);
    let is_new = |i: usize| batch.out.by_sequence[i] != u64::MAX;
    let formatted = format_columns(batch, columns, None, path, is_new, &mut lines);
    batch.out.lines_of_new = lines;
    formatted
}

/// Makes entries of the keys that a full set does not hold, in order. Which of them are unique is not known yet.
pub(super) fn spill(
    batch: &mut WorkBatch,
    columns: Option<LineColumns<'_>>,
    path: &Path,
    partitioner: &Partitioner,
) -> Result<(), RunError> {
    let tally = &mut batch.tally.records;
    let bits = &mut batch.out.by_sequence;
    bits.clear();
    alloc::try_reserve(bits, batch.keys.len().div_ceil(64))?;
    bits.resize(batch.keys.len().div_ceil(64), 0);
    for entry in &batch.entries.all {
        if entry.new_place().is_some() {
            bits[entry.sequence as usize / 64] |= 1 << (entry.sequence % 64);
        }
        tally.seen += u64::from(entry.is_seen());
    }
    let mut lines = take(&mut batch.out.lines_of_new);
    if let Some(columns) = columns {
        let is_new = |i: usize| batch.out.by_sequence[i / 64] >> (i % 64) & 1 == 1;
        format_columns(batch, columns, None, path, is_new, &mut lines)?;
    }
    // One line for each new record, in the same order.
    let mut each_line = lines.split_inclusive(|byte| *byte == b'\n');
    let bits = &batch.out.by_sequence;
    let times = batch.text.chunk.as_ref().map_or(&[][..], Chunk::times);
    let mut undecided = 0;
    let new = (0..batch.keys.len()).filter(|i| bits[i / 64] >> (i % 64) & 1 == 1);
    let entries = new.map(|i| {
        let entry = SpillEntry {
            ordinal: batch.sequence.before.in_run + i as u64,
            count: times.get(i).map_or(1, |times| u64::from(*times)),
            key: batch.text.get(batch.keys[i]),
            line: each_line.next().unwrap_or_default(),
        };
        undecided += entry.count;
        (batch.hashes[i], entry)
    });
    partitioner.spill(entries, &mut batch.out.spilled)?;
    lines.clear();
    batch.out.lines_of_new = lines;
    let tally = &mut batch.tally.records;
    tally.undecided = undecided;
    // Keys that the set holds are duplicates; all others stay undecided until the end.
    tally.duplicates = tally.canonical - tally.seen - tally.undecided;
    Ok(())
}
