//! The input of each record, and the counts of spilled records.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use uniqurl_store::spill::RecordStatus;

/// Inputs by the number of their first record. Counts, for each, the unique URLs and the records seen
/// before the run or filtered that show only at the end.
#[derive(Debug, Default)]
pub(crate) struct RecordOrigins {
    /// Number of the first record in the run, and number of the input; ascending.
    starts: Vec<(u64, usize)>,
    counts: Vec<[AtomicU64; 3]>,
}

impl RecordOrigins {
    /// Notes that the records from `ordinal` on are of `input`.
    pub(crate) fn begin(&mut self, ordinal: u64, input: usize) {
        if self.starts.last().is_none_or(|(_, last)| *last != input) {
            self.starts.push((ordinal, input));
            self.counts.push(Default::default());
        }
    }

    /// Counts records with an ordinal of at least `from`, for one task.
    pub(crate) fn counter(&self, from: u64) -> OriginCounter<'_> {
        OriginCounter { origins: self, from, records: 0..0, input: 0, counts: [0; 3] }
    }

    /// The inputs with their counts: unique URLs, records seen before the run, and filtered ones.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (usize, [u64; 3])> {
        let loaded =
            |counts: &[AtomicU64; 3]| counts.each_ref().map(|count| count.load(Ordering::Relaxed));
        self.starts.iter().map(|(_, input)| *input).zip(self.counts.iter().map(loaded))
    }
}

/// Counts the records of one task. Most have the input of the one before, so its counts, which all tasks
/// share, are changed once for many.
pub(crate) struct OriginCounter<'a> {
    origins: &'a RecordOrigins,
    from: u64,
    /// The records of the input that is being counted, and where its counts are.
    records: Range<u64>,
    input: usize,
    counts: [u64; 3],
}

impl OriginCounter<'_> {
    /// Counts a record.
    #[inline]
    pub(crate) fn count(&mut self, ordinal: u64, status: RecordStatus) {
        if ordinal < self.from {
            return;
        }
        if !self.records.contains(&ordinal) {
            self.turn_to(ordinal);
        }
        self.counts[status as usize] += 1;
    }

    /// Counts the input of this record from now on.
    fn turn_to(&mut self, ordinal: u64) {
        self.flush();
        // Records have only their number when they come back from the disk, so the input is searched by it.
        let starts = &self.origins.starts;
        let after = starts.partition_point(|(start, _)| *start <= ordinal);
        let end = starts.get(after).map_or(u64::MAX, |(start, _)| *start);
        self.input = after.saturating_sub(1);
        self.records = starts.get(self.input).map_or(0, |(start, _)| *start)..end;
    }

    fn flush(&mut self) {
        let counts = std::mem::take(&mut self.counts);
        if let Some(all) = self.origins.counts.get(self.input) {
            for (all, count) in all.iter().zip(counts) {
                all.fetch_add(count, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for OriginCounter<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_counts_for_its_own_input() {
        let mut origins = RecordOrigins::default();
        for (ordinal, input) in [(0, 0), (3, 0), (5, 2), (5, 3), (9, 4)] {
            origins.begin(ordinal, input);
        }
        let mut counter = origins.counter(0);
        for ordinal in [0, 4, 5, 8, 9, 100] {
            counter.count(ordinal, RecordStatus::New);
        }
        let mut other = origins.counter(4);
        other.count(8, RecordStatus::Seen);
        other.count(3, RecordStatus::Seen);
        other.count(7, RecordStatus::Filtered);
        drop((counter, other));
        let counts: Vec<_> = origins.counts().collect();
        assert_eq!(counts, [(0, [2, 0, 0]), (2, [0, 0, 0]), (3, [2, 1, 1]), (4, [2, 0, 0])]);
    }
}
