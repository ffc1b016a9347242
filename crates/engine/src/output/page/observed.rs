//! The observations that the page shows besides the accounting.

use std::collections::BTreeMap;

use super::statuses::Statuses;
use super::times::RequestTimes;
use super::top_names::TopNames;
use uniqurl::RejectReason;

/// Samples of rejected records that are kept for each code.
const SAMPLES: usize = 3;

/// Longest sample in bytes.
const SAMPLE: usize = 160;

/// Points of the pace; where there are more, every other one goes.
const POINTS: usize = 256;

/// Gathered chunk by chunk, in the order of the input.
#[derive(Debug)]
pub struct Observed {
    /// Canonical URLs by host.
    pub records: TopNames,
    /// Those of them that were in the set already.
    pub duplicates: TopNames,
    /// Canonical URLs, with their secrets masked.
    pub urls: TopNames,
    /// Canonical URLs by template.
    pub templates: TopNames,
    /// The statuses of records with a canonical URL.
    pub statuses: Statuses,
    /// The times of records with a canonical URL.
    pub times: RequestTimes,
    /// The first rejected records of each code.
    pub samples: Samples,
    /// How far the run was when.
    pub pace: Pace,
    /// Bytes of the inputs, decompressed.
    pub unpacked_bytes: u64,
    /// Bytes of the canonical URLs of all records.
    pub canonical_bytes: u64,
    /// Bytes of the canonical URLs or keys, each once.
    pub unique_bytes: u64,
}

/// The first rejected records of each code.
#[derive(Debug, Default)]
pub struct Samples(BTreeMap<RejectReason, Vec<Sample>>);

/// A rejected record. Its secrets are masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The name of its input, printable.
    pub file: String,
    /// Its number there, from 1.
    pub record: u64,
    /// The start of it, as it came.
    pub raw: Box<[u8]>,
}

impl Samples {
    /// Whether another one of this code would be kept.
    pub fn wants(&self, code: RejectReason) -> bool {
        self.0.get(&code).is_none_or(|samples| samples.len() < SAMPLES)
    }

    /// Keeps a sample. Only the start of `raw` is.
    pub fn add(&mut self, code: RejectReason, file: &str, record: u64, raw: &[u8]) {
        if self.wants(code) {
            let raw = raw[..raw.len().min(SAMPLE)].into();
            let sample = Sample { file: file.to_owned(), record, raw };
            self.0.entry(code).or_default().push(sample);
        }
    }

    /// The samples of a code.
    pub fn of(&self, code: RejectReason) -> &[Sample] {
        self.0.get(&code).map_or(&[], Vec::as_slice)
    }

    fn merge(&mut self, other: &mut Samples) {
        for (code, samples) in std::mem::take(&mut other.0) {
            let all = self.0.entry(code).or_default();
            all.extend(samples);
            all.truncate(SAMPLES);
        }
    }
}

/// How far a run was when.
#[derive(Debug, Default)]
pub struct Pace {
    points: Vec<(f64, u64)>,
    /// Rounds between two points.
    every: usize,
    rounds: usize,
}

impl Pace {
    /// Notes that `bytes` were read after `seconds`.
    pub fn note(&mut self, seconds: f64, bytes: u64) {
        if self.points.is_empty() {
            self.points.push((0.0, 0));
        }
        // At the end nothing is read any more.
        if self.points.last().is_some_and(|last| last.1 == bytes) {
            return;
        }
        self.every = self.every.max(1);
        if self.rounds.is_multiple_of(self.every) {
            self.points.push((seconds, bytes));
        }
        self.rounds += 1;
        // Dropping every other point bounds the memory, and keeps the points evenly spaced.
        if self.points.len() == POINTS {
            let mut i = 0;
            self.points.retain(|_| {
                i += 1;
                i % 2 == 1
            });
            self.every *= 2;
        }
    }

    /// Bytes a second in each stretch between two points, and when it ended.
    pub fn rates(&self) -> Vec<(f64, f64)> {
        let stretch = |pair: &[(f64, u64)]| {
            let (start, end) = (pair[0], pair[1]);
            let seconds = end.0 - start.0;
            (seconds > 0.0).then(|| (end.0, end.1.saturating_sub(start.1) as f64 / seconds))
        };
        self.points.windows(2).filter_map(stretch).collect()
    }
}

impl Default for Observed {
    fn default() -> Self {
        Self {
            records: TopNames::hosts(),
            duplicates: TopNames::hosts(),
            urls: TopNames::urls(),
            templates: TopNames::urls(),
            statuses: Statuses::default(),
            times: RequestTimes::default(),
            samples: Samples::default(),
            pace: Pace::default(),
            unpacked_bytes: 0,
            canonical_bytes: 0,
            unique_bytes: 0,
        }
    }
}

impl Observed {
    /// Adds the observations of the next chunk, except for its names.
    pub fn merge(&mut self, other: &mut Observed) {
        self.statuses.merge(&other.statuses);
        self.times.merge(&other.times);
        self.samples.merge(&mut other.samples);
        self.unpacked_bytes += other.unpacked_bytes;
        self.canonical_bytes += other.canonical_bytes;
        self.unique_bytes += other.unique_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_the_first_samples_of_a_code() {
        let mut all = Observed::default();
        for chunk in 0..3 {
            let mut next = Observed::default();
            for record in 0..2 {
                next.samples.add(RejectReason::Port, "in", 2 * chunk + record + 1, b"http://h:x/");
            }
            all.merge(&mut next);
        }
        let records: Vec<_> =
            all.samples.of(RejectReason::Port).iter().map(|sample| sample.record).collect();
        assert_eq!(records, [1, 2, 3]);
        assert!(!all.samples.wants(RejectReason::Port) && all.samples.wants(RejectReason::Host));
        assert!(all.samples.of(RejectReason::Host).is_empty());
    }

    #[test]
    fn a_long_run_has_no_more_points_than_a_short_one() {
        let mut pace = Pace::default();
        for i in 0..100_000u32 {
            pace.note(f64::from(i) / 10.0, u64::from(i) * 50);
        }
        let rates = pace.rates();
        assert!((POINTS / 2 - 2..POINTS).contains(&rates.len()), "{}", rates.len());
        assert!(rates.iter().all(|(_, rate)| (rate - 500.0).abs() < 1.0));
    }
}
