//! The keys of a batch if a record other than the first may be kept: a line for each record, which
//! competes with the lines of other records with the same key.

use std::path::Path;

use super::columns::{LineColumns, each_row};
use crate::batch::{Extras, WorkBatch};
use crate::error::RunError;
use crate::set::Partitioner;
use uniqurl::internal::{AllocError, alloc};
use uniqurl_store::keep_policy::KeptRecord;
use uniqurl_store::spill::SpillEntry;

/// Marks of records: not in the output, and not in the set.
pub(super) const NOT_WANTED: u64 = u64::MAX;
pub(super) const NOT_IN_SET: u64 = u64::MAX - 1;
/// Is added to the place of a new key. There are few shards.
pub(super) const NEW: u64 = 1 << 63;

/// Lists where the new keys are in the set, in order; and a line of each record, either for its key in the
/// set or, if the set does not hold it, as an entry by partition.
pub(super) fn list(
    batch: &mut WorkBatch,
    columns: LineColumns<'_>,
    path: &Path,
    partitioner: &Partitioner,
) -> Result<(), RunError> {
    mark(batch)?;
    // They are filled while the rest of the batch is read.
    let mut ranked = std::mem::take(&mut batch.extras.get_or_insert_default().ranked);
    let (mut spilled, mut one) = (Vec::new(), Vec::new());
    let places = &batch.out.by_sequence;
    let is_wanted = |sequence: usize| places[sequence] != NOT_WANTED;
    let listed = each_row(batch, columns, path, is_wanted, |sequence, row, value, room| {
        let room = room + size_of::<u32>() + value.len();
        let place = places[sequence];
        if place != NOT_IN_SET {
            return ranked.add(place & !NEW, room, |line| {
                KeptRecord::append_value(value, line);
                row.append(&columns.layout, line);
                Ok(())
            });
        }
        alloc::try_reserve(&mut one, room)?;
        KeptRecord::append_value(value, &mut one);
        row.append(&columns.layout, &mut one);
        let entry = SpillEntry {
            ordinal: batch.sequence.before.in_run + sequence as u64,
            count: 1,
            key: batch.text.get(batch.keys[sequence]),
            line: &one,
        };
        entry.append(&mut spilled)?;
        one.clear();
        Ok(())
    });
    if let Some(extras) = &mut batch.extras {
        let Extras { ranked: of_batch, .. } = &mut **extras;
        *of_batch = ranked;
    }
    listed?;
    partitioner.spill_each(&spilled)
}

/// Marks each record with the place of its key in the set, and lists the new keys.
pub(super) fn mark(batch: &mut WorkBatch) -> Result<(), AllocError> {
    let only_looked_up = batch.insertion == crate::batch::Insertion::LookedUp;
    let places = &mut batch.out.by_sequence;
    let (entries, tally) = (&batch.entries, &mut batch.tally.records);
    places.clear();
    alloc::try_reserve(places, batch.keys.len())?;
    places.resize(batch.keys.len(), NOT_WANTED);
    let mut start = 0;
    for (shard, end) in entries.ends.iter().enumerate() {
        let here = entries.all[start..*end].iter().zip(&entries.places[start..*end]);
        for (entry, place) in here.filter(|(entry, _)| !entry.is_seen() && !entry.is_filtered()) {
            let is_new = !only_looked_up && entry.new_place().is_some();
            let found = (shard as u64) << 32 | u64::from(*place);
            places[entry.sequence as usize] = match place {
                // Places are non-zero.
                0 => NOT_IN_SET,
                _ => found | if is_new { NEW } else { 0 },
            };
            tally.unique += u64::from(is_new);
            tally.undecided += u64::from(*place == 0);
        }
        start = *end;
    }
    tally.seen = entries.all.iter().filter(|entry| entry.is_seen()).count() as u64;
    tally.duplicates = tally.canonical - tally.unique - tally.seen - tally.undecided;
    alloc::try_reserve(&mut batch.out.new, tally.unique as usize)?;
    let is_new = |place: &u64| *place < NOT_IN_SET && place & NEW != 0;
    batch.out.new.extend(places.iter().filter(|place| is_new(place)).map(|place| place & !NEW));
    Ok(())
}
