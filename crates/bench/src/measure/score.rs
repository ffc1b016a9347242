//! The one number to cite, `uniqurl-bench 1`. Its definition is frozen: results of years and machines are compared
//! by it. A change of anything here is a new version. The seed of the corpora and the profile, which never vary, are a
//! part of it.

use super::result::{Document, Rate, ResultRow, Score};
use super::work::Work;
use std::fmt::{self, Display, Formatter};

/// The version of this definition.
pub const VERSION: u32 = 1;

/// Bytes of each corpus, at least.
pub const SIZE: u64 = 256 << 20;

/// The corpora. All count the same.
pub const CORPORA: [&str; 5] = ["clean", "mixed", "dirty", "dup", "access"];

/// The stages, each with its weight. Half of the number is the whole pipeline.
pub const STAGES: [(Work, f64); 4] = [
    (Work::Scan, 1.0 / 6.0),
    (Work::Normalize, 1.0 / 6.0),
    (Work::Dedup, 1.0 / 6.0),
    (Work::EndToEnd, 0.5),
];

impl Document {
    /// Adds the score, or the reason why there is none.
    pub fn add_score(&mut self) {
        match score(self) {
            Ok(score) => self.score = Some(score),
            Err(reason) => self.no_score = Some(reason),
        }
    }

    /// The line to cite.
    pub fn line_to_cite(&self) -> String {
        match &self.score {
            Some(score) if self.runs.len() == 1 => {
                format!("{score}, 1 run, which has no interval")
            }
            Some(score) => format!("{score}, 95 % intervals of {} runs", self.runs.len()),
            None => {
                let reason = self.no_score.as_deref().unwrap_or("it was not measured");
                format!("uniqurl-bench {VERSION}: none, since {reason}")
            }
        }
    }
}

fn score(document: &Document) -> Result<Score, String> {
    let threads = document.machine.cpus;
    let (one_thread, all_threads) = (rate(document, 1)?, rate(document, threads)?);
    let efficiency = all_threads.median / (threads as f64 * one_thread.median);
    Ok(Score { version: VERSION, one_thread, threads, all_threads, efficiency })
}

/// The weighted geometric mean of the rates.
fn rate(document: &Document, threads: usize) -> Result<Rate, String> {
    let mut sum = 0.0;
    let mut of_runs = vec![0.0; document.runs.len()];
    for name in CORPORA {
        let corpus = document.corpus(name).ok_or_else(|| format!("`{name}` was not measured"))?;
        // A small corpus stays in the caches, where rates are others.
        if corpus.bytes < SIZE {
            return Err(format!("the corpora have {} bytes and not {SIZE}", corpus.bytes));
        }
        for (work, weight) in STAGES {
            let is_wanted = |row: &&ResultRow| {
                (row.key.corpus.as_str(), row.key.work, row.key.threads) == (name, work, threads)
            };
            let row = document.rows.iter().find(is_wanted);
            let row = row.ok_or_else(|| format!("{threads} threads were not measured"))?;
            let weight = weight / CORPORA.len() as f64;
            // The definition takes the median of each row. The interval needs one value for each run, since the rows
            // of a run share its noise.
            sum += weight * row.gb_per_second.median.ln();
            for (sum, seconds) in of_runs.iter_mut().zip(&row.seconds) {
                *sum += weight * corpus.rate(*seconds).ln();
            }
        }
    }
    Ok(Rate::around(sum.exp(), &of_runs))
}

impl Display for Score {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { version, one_thread, threads, all_threads, efficiency } = self;
        write!(f, "uniqurl-bench {version}: {one_thread} one thread")?;
        if *threads > 1 {
            write!(f, ", {all_threads} on {threads}, efficiency {efficiency:.2}")?;
        }
        Ok(())
    }
}

impl Display for Rate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} GB/s", self.median)?;
        self.interval.map_or(Ok(()), |interval| write!(f, " ({interval})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::order::RowKey;
    use crate::measure::result::document;

    #[test]
    fn definition_of_version_1_is_frozen() {
        assert_eq!((VERSION, SIZE), (1, 268_435_456));
        assert_eq!(CORPORA.join(" "), "clean mixed dirty dup access");
        let weights = STAGES.map(|(stage, weight)| format!("{stage} {weight:.6}"));
        let frozen =
            ["scan 0.166667", "normalize 0.166667", "dedup 0.166667", "end-to-end 0.500000"];
        assert_eq!(weights, frozen);
    }

    #[test]
    fn score_is_the_weighted_geometric_mean_and_tells_its_runs() {
        let rate = |key: &RowKey| match (key.work, key.threads) {
            (Work::EndToEnd, 1) => 1.0,
            (_, 1) => 4.0,
            (_, _) => 3.0,
        };
        let mut measured = document(SIZE, 5, rate);
        measured.add_score();
        let line = "uniqurl-bench 1: 2.00 GB/s (2.00 to 2.00) one thread, 3.00 GB/s (3.00 to 3.00) on 2, efficiency \
                    0.75, 95 % intervals of 5 runs";
        assert_eq!(measured.line_to_cite(), line);
        let mut once = document(SIZE, 1, rate);
        once.add_score();
        let line = "uniqurl-bench 1: 2.00 GB/s one thread, 3.00 GB/s on 2, efficiency 0.75, 1 run, which has no \
                    interval";
        assert_eq!(once.line_to_cite(), line);
    }

    #[test]
    fn missing_score_has_its_reason() {
        let reason = |change: fn(&mut Document)| {
            let mut measured = document(SIZE, 2, |_| 1.0);
            change(&mut measured);
            measured.add_score();
            measured.line_to_cite()
        };
        for (line, reason) in [
            ("the corpora have 5 bytes and not 268435456", reason(|m| m.corpora[3].bytes = 5)),
            ("`dup` was not measured", reason(|m| m.corpora.retain(|c| c.name != "dup"))),
            ("8 threads were not measured", reason(|m| m.machine.cpus = 8)),
        ] {
            assert_eq!(reason, format!("uniqurl-bench 1: none, since {line}"));
        }
    }
}
