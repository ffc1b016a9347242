//! The new keys of a batch if the first record of each key is kept: as lines, as a list for the end of
//! the run, or as entries for the partitions on disk.

use std::mem::take;
use std::path::Path;

use super::columns::{LineColumns, format_columns};
use super::outcomes::{NOT_WANTED, NewRecords, list_places};
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
    let new = NewRecords::of(batch)?;
    let tally = &mut batch.tally.records;
    tally.unique = new.count;
    tally.duplicates = tally.canonical - tally.unique - tally.seen;
    let mut lines = take(&mut batch.out.lines);
    let formatted = match columns {
        Some(columns) => format_columns(batch, columns, split, path, |i| new.has(i), &mut lines),
        None => alloc::try_reserve(&mut lines, new.bytes).map(|()| {
            let buffers = batch.text.buffers();
            for i in new.iter() {
                let key = buffers.get(batch.keys[i]);
                split::mark(split, key, &mut lines);
                lines.extend_from_slice(key);
                lines.push(b'\n');
            }
        }),
    };
    batch.out.lines = lines;
    new.free(batch);
    formatted
}

/// Lists where the new keys are in the set, in order, and a line about each if there are columns.
pub(super) fn list(
    batch: &mut WorkBatch,
    columns: Option<LineColumns<'_>>,
    path: &Path,
) -> Result<(), AllocError> {
    list_places(batch)?;
    let Some(columns) = columns else { return Ok(()) };
    let mut lines = take(&mut batch.out.lines);
    let is_new = |i: usize| batch.out.by_sequence[i] != NOT_WANTED;
    format_columns(batch, columns, None, path, is_new, &mut lines)?;
    // The set takes this buffer over, so it is no larger than they are.
    alloc::try_reserve_exact(&mut batch.out.lines_of_new, lines.len())?;
    batch.out.lines_of_new.extend_from_slice(&lines);
    lines.clear();
    batch.out.lines = lines;
    Ok(())
}

/// Makes entries of the keys that a full set does not hold, in order. Which of them are unique is not known yet.
pub(super) fn spill(
    batch: &mut WorkBatch,
    columns: Option<LineColumns<'_>>,
    path: &Path,
    partitioner: &Partitioner,
) -> Result<(), RunError> {
    let new = NewRecords::of(batch)?;
    let mut lines = take(&mut batch.out.lines_of_new);
    if let Some(columns) = columns {
        format_columns(batch, columns, None, path, |i| new.has(i), &mut lines)?;
    }
    // One line for each new record, in the same order.
    let mut each_line = lines.split_inclusive(|byte| *byte == b'\n');
    let times = batch.text.chunk.as_ref().map_or(&[][..], Chunk::times);
    let mut undecided = 0;
    let entries = new.iter().map(|i| {
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
    new.free(batch);
    let tally = &mut batch.tally.records;
    tally.undecided = undecided;
    // Keys that the set holds are duplicates; all others stay undecided until the end.
    tally.duplicates = tally.canonical - tally.seen - tally.undecided;
    Ok(())
}
