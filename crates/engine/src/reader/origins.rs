//! The input of each record, and the counts of spilled records.

use std::sync::atomic::{AtomicU64, Ordering};

use uniqurl_store::spill::RecordStatus;

/// Inputs by the number of their first record. Counts, for each, the unique URLs and the records seen
/// before the run that show only at the end.
#[derive(Debug, Default)]
pub(crate) struct RecordOrigins {
    /// Number of the first record in the run, and number of the input; ascending.
    starts: Vec<(u64, usize)>,
    counts: Vec<[AtomicU64; 2]>,
}

impl RecordOrigins {
    /// Notes that the records from `ordinal` on are of `input`.
    pub(crate) fn begin(&mut self, ordinal: u64, input: usize) {
        if self.starts.last().is_none_or(|(_, last)| *last != input) {
            self.starts.push((ordinal, input));
            self.counts.push(Default::default());
        }
    }

    /// Counts a record.
    pub(crate) fn count(&self, ordinal: u64, status: RecordStatus) {
        // Records have only their number when they come back from the disk, so the input is searched by it.
        let after = self.starts.partition_point(|(start, _)| *start <= ordinal);
        if let Some(counts) = after.checked_sub(1).and_then(|at| self.counts.get(at)) {
            counts[status as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The inputs with their counts: unique URLs, and records seen before the run.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (usize, [u64; 2])> {
        let loaded =
            |counts: &[AtomicU64; 2]| counts.each_ref().map(|count| count.load(Ordering::Relaxed));
        self.starts.iter().map(|(_, input)| *input).zip(self.counts.iter().map(loaded))
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
        for ordinal in [0, 4, 5, 8, 9, 100] {
            origins.count(ordinal, RecordStatus::New);
        }
        origins.count(8, RecordStatus::Seen);
        let counts: Vec<_> = origins.counts().collect();
        assert_eq!(counts, [(0, [2, 0]), (2, [0, 0]), (3, [2, 1]), (4, [2, 0])]);
    }
}
