//! Which record of a batch is what, once its keys are inserted.
//!
//! Entries are grouped by shard. A bit or a place for each record restores the order of the input without sorting.

use std::mem::take;
use std::sync::atomic::Ordering;

use crate::batch::WorkBatch;
use uniqurl::internal::{AllocError, Outcome, alloc};

/// A bit for each record of a batch whose key is new.
pub(super) struct NewRecords {
    bits: Vec<u64>,
    /// Number of them, and bytes of their keys with line feeds.
    pub(super) count: u64,
    pub(super) bytes: usize,
}

impl NewRecords {
    /// Those of a batch, whose buffer it takes; it also counts records that were seen before the run.
    pub(super) fn of(batch: &mut WorkBatch) -> Result<Self, AllocError> {
        let mut bits = take(&mut batch.out.by_sequence);
        bits.clear();
        alloc::try_reserve(&mut bits, batch.keys.len().div_ceil(64))?;
        bits.resize(batch.keys.len().div_ceil(64), 0);
        let (mut count, mut bytes, mut seen) = (0, 0, 0);
        for entry in &batch.entries.all {
            if entry.is_new() {
                bits[entry.sequence as usize / 64] |= 1 << (entry.sequence % 64);
                count += 1;
                bytes += entry.len as usize + 1;
            }
            seen += u64::from(entry.is_seen());
        }
        batch.tally.records.seen = seen;
        Ok(Self { bits, count, bytes })
    }

    pub(super) fn has(&self, record: usize) -> bool {
        self.bits[record / 64] >> (record % 64) & 1 == 1
    }

    /// Their numbers, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.bits.iter().enumerate().flat_map(|(i, word)| {
            let mut word = *word;
            std::iter::from_fn(move || {
                let bit = (word != 0).then_some(word.trailing_zeros() as usize)?;
                word &= word - 1;
                Some(i * 64 + bit)
            })
        })
    }

    /// Gives the buffer back.
    pub(super) fn free(self, batch: &mut WorkBatch) {
        batch.out.by_sequence = self.bits;
    }
}

/// Marks of records: not in the output, and not in the set.
pub(super) const NOT_WANTED: u64 = u64::MAX;
pub(super) const NOT_IN_SET: u64 = u64::MAX - 1;
/// Is added to the place of a new key. There are few shards.
pub(super) const NEW: u64 = 1 << 63;

/// Marks each record with the place of its key in the set, and lists the places of the new keys. Records whose keys
/// are not new are only marked if the job needs their places.
pub(super) fn list_places(batch: &mut WorkBatch) -> Result<(), AllocError> {
    let places = &mut batch.out.by_sequence;
    let (entries, tally) = (&batch.entries, &mut batch.tally.records);
    places.clear();
    alloc::try_reserve(places, batch.keys.len())?;
    places.resize(batch.keys.len(), NOT_WANTED);
    let mut start = 0;
    for (shard, end) in entries.ends.iter().enumerate() {
        for (i, entry) in (start..).zip(&entries.all[start..*end]) {
            let in_set = |place: u32| (shard as u64) << 32 | u64::from(place);
            places[entry.sequence as usize] = match entry.outcome() {
                Outcome::New(place) => {
                    tally.unique += 1;
                    in_set(place.get()) | NEW
                }
                Outcome::Absent => {
                    tally.undecided += 1;
                    NOT_IN_SET
                }
                Outcome::Known => {
                    let place = entries.places.get(i);
                    place.map_or(NOT_WANTED, |place| in_set(place.load(Ordering::Relaxed)))
                }
                Outcome::Seen => {
                    tally.seen += 1;
                    continue;
                }
                Outcome::Filtered => continue,
            };
        }
        start = *end;
    }
    tally.duplicates = tally.canonical - tally.unique - tally.seen - tally.undecided;
    alloc::try_reserve(&mut batch.out.new, tally.unique as usize)?;
    // NOT_WANTED and NOT_IN_SET have the bit NEW too, so they are left out first.
    let is_new = |place: &&u64| **place < NOT_IN_SET && **place & NEW != 0;
    batch.out.new.extend(places.iter().filter(is_new).map(|place| place & !NEW));
    Ok(())
}
