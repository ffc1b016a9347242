//! The input of each record, and the counts of spilled records.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Inputs by the number of their first record. Counts, for each, the unique URLs that show only at the end.
#[derive(Debug, Default)]
pub(crate) struct RecordOrigins {
    /// Number of the first record in the run, and number of the input; ascending.
    starts: Vec<(u64, usize)>,
    unique: Vec<AtomicU64>,
    /// Records of all inputs.
    records: u64,
}

impl RecordOrigins {
    /// Notes that `count` further records from `ordinal` on are of `input`.
    pub(crate) fn add(&mut self, ordinal: u64, count: u64, input: usize) {
        self.records = ordinal + count;
        if self.starts.last().is_none_or(|(_, last)| *last != input) {
            self.starts.push((ordinal, input));
            self.unique.push(AtomicU64::new(0));
        }
    }

    /// Number of all records.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Counts records with an ordinal of at least `from`, for one task.
    pub(crate) fn counter(&self, from: u64) -> OriginCounter<'_> {
        OriginCounter { origins: self, from, records: 0..0, input: 0, unique: 0 }
    }

    /// The inputs with the numbers of their unique URLs.
    pub(crate) fn unique(&self) -> impl Iterator<Item = (usize, u64)> {
        let unique = self.unique.iter().map(|unique| unique.load(Ordering::Relaxed));
        self.starts.iter().map(|(_, input)| *input).zip(unique)
    }
}

/// Counts the unique URLs of one task. Most have the input of the one before, so its count, which all tasks
/// share, is changed once for many.
pub(crate) struct OriginCounter<'a> {
    origins: &'a RecordOrigins,
    from: u64,
    /// The records of the input that is being counted, and where its count is.
    records: Range<u64>,
    input: usize,
    unique: u64,
}

impl OriginCounter<'_> {
    /// Counts the URL whose first record this is.
    #[inline]
    pub(crate) fn count(&mut self, ordinal: u64) {
        if ordinal < self.from {
            return;
        }
        if !self.records.contains(&ordinal) {
            self.turn_to(ordinal);
        }
        self.unique += 1;
    }

    /// Counts the input of this record from now on.
    fn turn_to(&mut self, ordinal: u64) {
        self.flush();
        // Records have only their number when they come back from the disk, so the input is searched by it.
        let starts = &self.origins.starts;
        // Inputs without records start where the next one does, and the last of them has the record.
        let after = starts.partition_point(|(start, _)| *start <= ordinal);
        let end = starts.get(after).map_or(u64::MAX, |(start, _)| *start);
        self.input = after.saturating_sub(1);
        self.records = starts.get(self.input).map_or(0, |(start, _)| *start)..end;
    }

    fn flush(&mut self) {
        let unique = std::mem::take(&mut self.unique);
        if let Some(all) = self.origins.unique.get(self.input) {
            all.fetch_add(unique, Ordering::Relaxed);
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
        for (ordinal, count, input) in [(0, 3, 0), (3, 2, 0), (5, 0, 2), (5, 4, 3), (9, 92, 4)] {
            origins.add(ordinal, count, input);
        }
        assert_eq!(origins.records(), 101);
        let mut counter = origins.counter(0);
        [0, 4, 5, 8, 9, 100].into_iter().for_each(|ordinal| counter.count(ordinal));
        let mut other = origins.counter(4);
        [8, 3, 7].into_iter().for_each(|ordinal| other.count(ordinal));
        drop((counter, other));
        let unique: Vec<_> = origins.unique().collect();
        assert_eq!(unique, [(0, 2), (2, 0), (3, 4), (4, 2)]);
    }
}
