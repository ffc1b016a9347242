//! The keys of a batch if a record other than the first may be kept: a line for each record, which
//! competes with the lines of other records with the same key.

use std::path::Path;

use super::columns::{LineColumns, each_row};
use super::outcomes::{NEW, NOT_IN_SET, NOT_WANTED, list_places};
use crate::batch::{Extras, WorkBatch};
use crate::error::RunError;
use crate::set::Partitioner;
use uniqurl::internal::alloc;
use uniqurl_store::keep_policy::KeptRecord;
use uniqurl_store::spill::SpillEntry;

/// Lists where the new keys are in the set, in order; and a line of each record, either for its key in the
/// set or, if the set does not hold it, as an entry by partition.
pub(super) fn list(
    batch: &mut WorkBatch,
    columns: LineColumns<'_>,
    path: &Path,
    partitioner: &Partitioner,
) -> Result<(), RunError> {
    list_places(batch)?;
    // They are filled while the rest of the batch is read.
    let mut ranked = std::mem::take(&mut batch.extras.get_or_insert_default().ranked);
    let (mut spilled, mut one) = (Vec::new(), Vec::new());
    let places = &batch.out.by_sequence;
    let is_wanted = |sequence: usize| places[sequence] != NOT_WANTED;
    let listed = each_row(batch, columns, path, is_wanted, |sequence, row, value, room| {
        let room = room + size_of::<u32>() + value.len() + size_of::<u64>();
        let ordinal = batch.sequence.before.in_run + sequence as u64;
        let place = places[sequence];
        if place != NOT_IN_SET {
            return ranked.add(place & !NEW, room, |line| {
                KeptRecord::append_value(value, line);
                if columns.layout.has_slugs {
                    // Which of two keys that become one has the later record is asked at the end.
                    line.extend_from_slice(&ordinal.to_le_bytes());
                }
                row.append(&columns.layout, line);
                Ok(())
            });
        }
        alloc::try_reserve(&mut one, room)?;
        KeptRecord::append_value(value, &mut one);
        row.append(&columns.layout, &mut one);
        let entry =
            SpillEntry { ordinal, count: 1, key: batch.text.get(batch.keys[sequence]), line: &one };
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
