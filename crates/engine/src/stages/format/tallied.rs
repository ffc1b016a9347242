//! The keys of a batch if their responses are tallied: a tally for each key in the set, which is added to
//! that of earlier batches, and an entry for each record whose key the set does not hold.

use super::outcomes::{NEW, NOT_IN_SET, NOT_WANTED, list_places};
use crate::batch::WorkBatch;
use crate::error::RunError;
use crate::output::TallyColumns;
use crate::set::Partitioner;
use uniqurl::internal::{AllocError, alloc};
use uniqurl_formats::record::{Extracted, FieldReader, Measured};
use uniqurl_store::spill::SpillEntry;
use uniqurl_store::tally::ResponseTally;

/// Lists where the new keys are in the set, in order, and the tallies of `columns` by key.
pub(super) fn list(
    batch: &mut WorkBatch,
    columns: TallyColumns,
    partitioner: &Partitioner,
) -> Result<(), RunError> {
    list_places(batch)?;
    let mut observed = Vec::new();
    alloc::try_reserve_exact(&mut observed, batch.keys.len())?;
    let mut spilled = Vec::new();
    let mut found = TallyColumns::default();
    let mut bytes = Vec::new();
    let places = &batch.out.by_sequence;
    let is_wanted = |sequence: usize| places[sequence] != NOT_WANTED;
    for_each_record(batch, columns, is_wanted, |sequence, measured| {
        let place = places[sequence];
        found = found.or(columns.found_in(measured));
        if place != NOT_IN_SET {
            // Room for all records is reserved above.
            observed.push((place & !NEW, measured));
            return Ok(());
        }
        let mut tally = ResponseTally::default();
        add(&mut tally, columns, measured)?;
        bytes.clear();
        tally.append(&mut bytes)?;
        let entry = SpillEntry {
            ordinal: batch.sequence.before.in_run + sequence as u64,
            count: 1,
            key: batch.text.get(batch.keys[sequence]),
            line: &bytes,
        };
        entry.append(&mut spilled)
    })?;
    partitioner.spill_each(&spilled)?;
    let extras = batch.extras.get_or_insert_default();
    extras.measured = found;
    if !found.any() {
        return Ok(());
    }
    // The records of a key are added up here, on all cores, so that a keeper, which takes one batch after the other,
    // has one tally for each key. Sums do not depend on the order, so the sort need not be stable.
    observed.sort_unstable_by_key(|(place, _)| *place);
    for group in observed.chunk_by(|a, b| a.0 == b.0) {
        let mut tally = ResponseTally::default();
        for (_, measured) in group {
            add(&mut tally, columns, *measured)?;
        }
        extras.ranked.add(group[0].0, 0, |bytes| tally.append(bytes))?;
    }
    Ok(())
}

/// Visits the wanted records of a batch: the number of each, and its numbers.
fn for_each_record(
    batch: &WorkBatch,
    columns: TallyColumns,
    is_wanted: impl Fn(usize) -> bool,
    mut visit: impl FnMut(usize, Measured) -> Result<(), AllocError>,
) -> Result<(), AllocError> {
    let (Some(chunk), Some(extras)) = (&batch.text.chunk, &batch.extras) else { return Ok(()) };
    let Some(format) = &extras.format else { return Ok(()) };
    let mut reader = FieldReader::new(format, columns.parts());
    let mut sequence = 0;
    for (line, found) in batch.text.all_records() {
        if found == Extracted::Skipped {
            // A header can change where the numbers are.
            reader.pass(line.of(chunk.bytes()));
            continue;
        }
        if sequence == batch.keys.len() {
            break;
        }
        if is_wanted(sequence) {
            let measured = reader.read(line.of(chunk.bytes()))?.numbers;
            visit(sequence, measured)?;
        }
        sequence += 1;
    }
    Ok(())
}

/// Adds the numbers of a record that are asked for.
fn add(
    tally: &mut ResponseTally,
    columns: TallyColumns,
    measured: Measured,
) -> Result<(), AllocError> {
    if let (true, Some(status)) = (columns.needs_statuses(), measured.status) {
        tally.add_status(status);
    }
    if let (true, Some(bytes)) = (columns.bytes, measured.bytes) {
        tally.add_bytes(bytes);
    }
    match (columns.time, measured.duration) {
        (true, Some(duration)) => tally.add_duration(duration),
        _ => Ok(()),
    }
}
