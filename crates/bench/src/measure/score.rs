//! The one number to cite, `uniqurl-bench 1`. Its definition is frozen: results of years and machines are compared
//! by it. A change of anything here is a new version.

use super::result::{Document, Score, StageRow};
use std::fmt::{self, Display, Formatter};

/// The version of this definition.
pub const VERSION: u32 = 1;

/// Bytes of each corpus, at least.
pub const SIZE: u64 = 256 << 20;

/// The seed of the corpora.
pub const SEED: u64 = 1;

/// The profile.
pub const PROFILE: &str = "crawl@1";

/// The corpora. All count the same.
pub const CORPORA: [&str; 5] = ["clean", "mixed", "dirty", "dup", "access"];

/// The stages, each with its weight. Half of the number is the whole pipeline.
pub const STAGES: [(&str, f64); 4] =
    [("scan", 1.0 / 6.0), ("normalize", 1.0 / 6.0), ("dedup", 1.0 / 6.0), ("end-to-end", 0.5)];

impl Score {
    /// The weighted geometric mean of the rates of the fastest scanner. The error says why there is none.
    pub fn of(document: &Document, cores: usize) -> Result<Self, String> {
        let flags = &document.flags;
        if flags.seed != SEED {
            return Err(format!("the seed is {}, not {SEED}", flags.seed));
        }
        if flags.size < SIZE {
            return Err(format!("the corpora have {} bytes, not {SIZE}", flags.size));
        }
        let one_thread = rate(document, 1)?;
        let all_threads = rate(document, cores)?;
        let efficiency = all_threads / (cores as f64 * one_thread);
        Ok(Self { version: VERSION, one_thread, threads: cores, all_threads, efficiency })
    }
}

fn rate(document: &Document, threads: usize) -> Result<f64, String> {
    let mut sum = 0.0;
    for corpus in CORPORA {
        for (stage, weight) in STAGES {
            let rows = document.results.iter().filter(|row| is(row, corpus, stage, threads));
            let fastest = rows.map(|row| row.gb_per_second).max_by(f64::total_cmp);
            let rate =
                fastest.ok_or_else(|| format!("no row of {corpus}, {stage}, {threads} threads"))?;
            sum += weight / CORPORA.len() as f64 * rate.ln();
        }
    }
    Ok(sum.exp())
}

fn is(row: &StageRow, corpus: &str, stage: &str, threads: usize) -> bool {
    let key = &row.key;
    (key.corpus.as_str(), key.stage.as_str(), key.threads) == (corpus, stage, threads)
        && key.profile == PROFILE
}

impl Display for Score {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { version, one_thread, threads, all_threads, efficiency } = self;
        write!(f, "uniqurl-bench {version}: {} GB/s one thread", Digits(*one_thread))?;
        if *threads > 1 {
            let all = Digits(*all_threads);
            write!(f, ", {all} GB/s on {threads}, efficiency {efficiency:.2}")?;
        }
        Ok(())
    }
}

/// A rate with at least two digits that count.
struct Digits(f64);

impl Display for Digits {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let decimals = if self.0 < 1.0 { 2 } else { 1 };
        write!(f, "{:.decimals$}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::synthetic::document;

    #[test]
    fn definition_of_version_1_is_frozen() {
        assert_eq!((VERSION, SIZE, SEED), (1, 268_435_456, 1));
        assert_eq!(
            (PROFILE, CORPORA.join(" ")),
            ("crawl@1", "clean mixed dirty dup access".into())
        );
        let weights = STAGES.map(|(stage, weight)| format!("{stage} {weight:.6}"));
        let frozen =
            ["scan 0.166667", "normalize 0.166667", "dedup 0.166667", "end-to-end 0.500000"];
        assert_eq!(weights, frozen);
    }

    #[test]
    fn score_is_the_weighted_geometric_mean() {
        let rate = |key: &crate::measure::plan::RowKey| match (key.stage.as_str(), key.threads) {
            ("end-to-end", 1) => 1.0,
            (_, 1) => 4.0,
            (_, _) => 3.0,
        };
        let document = document(&["avx2"], &[1, 2], SIZE, rate);
        let score = Score::of(&document, 2).expect("all rows");
        assert!((score.one_thread - 2.0).abs() < 1e-9 && (score.all_threads - 3.0).abs() < 1e-9);
        let line = "uniqurl-bench 1: 2.0 GB/s one thread, 3.0 GB/s on 2, efficiency 0.75";
        assert_eq!(score.to_string(), line);
    }

    #[test]
    fn score_needs_all_its_rows() {
        let mut document = document(&["avx2"], &[1, 2], SIZE, |_| 1.0);
        assert!(Score::of(&document, 4).is_err());
        document.results.retain(|row| row.key.corpus != "dup" || row.key.stage != "scan");
        let error = Score::of(&document, 2).expect_err("a row is missing");
        assert_eq!(error, "no row of dup, scan, 1 threads");
        document.flags.size = SIZE - 1;
        let error = Score::of(&document, 2).expect_err("too small");
        assert_eq!(error, "the corpora have 268435455 bytes, not 268435456");
    }
}
