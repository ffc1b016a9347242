//! The plan of a benchmark, and the order that each run of the process gets.

use super::check::Expected;
use super::result::CorpusInfo;
use super::stage::{Limit, Stage};
use crate::corpus::Kind;
use crate::placement::Pin;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use uniqurl::Profile;
use uniqurl::internal::Backend;

/// The plan of a benchmark.
#[derive(Debug, Clone)]
pub struct BenchPlan {
    /// Seed of the corpora.
    pub seed: u64,
    /// Bytes of each, at least.
    pub size: u64,
    /// How often the process restarts.
    pub runs: u32,
    /// Timed rounds of each run.
    pub repeats: u32,
    /// The corpora.
    pub kinds: Vec<Kind>,
    /// The profiles.
    pub profiles: Vec<Profile>,
    /// The stages.
    pub stages: Vec<Stage>,
    /// The scanners, slowest first.
    pub backends: Vec<Backend>,
    /// The numbers of threads, ascending.
    pub threads: Vec<usize>,
    /// Where threads run.
    pub pin: Pin,
}

/// What one row measures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowKey {
    /// Name of the corpus.
    pub corpus: String,
    /// Profile with its version.
    pub profile: String,
    /// The stage.
    pub stage: String,
    /// The scanner.
    pub backend: String,
    /// Threads that work.
    pub threads: usize,
}

/// One of the machine's limits, on the bytes of a corpus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitKey {
    /// Name of the corpus.
    pub corpus: String,
    /// `memory read`, `memory copy` or `newline count`.
    pub limit: String,
    /// Threads that work.
    pub threads: usize,
}

/// All that one run of the process has to know. It is sent to it as JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunOrder {
    /// Seed of the order of corpora and rows.
    pub order_seed: u64,
    /// Timed rounds.
    pub repeats: u32,
    /// Name of the [`Pin`].
    pub pin: String,
    /// Directory of spilled keys.
    pub directory: PathBuf,
    /// The corpora.
    pub corpora: Vec<PreparedCorpus>,
    /// The limits to measure.
    pub limits: Vec<LimitKey>,
    /// The rows to measure.
    pub rows: Vec<RowKey>,
}

/// A corpus in files, and the right answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PreparedCorpus {
    /// Its name, size and hash.
    pub info: CorpusInfo,
    /// The file.
    pub file: PathBuf,
    /// The same records in several gzip files. None if no row reads them.
    pub packed: Vec<PathBuf>,
    /// The sum of its bytes as numbers of 64 bits.
    pub sum: u64,
    /// The answers under each profile.
    pub profiles: Vec<PreparedProfile>,
}

/// The right answers for a corpus under a profile.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PreparedProfile {
    /// The profile with its version.
    pub name: String,
    /// The answers.
    pub expected: Expected,
    /// A seen store with half of the keys, if a row asks for it.
    pub store: Option<PathBuf>,
}

impl BenchPlan {
    /// The rows. Stages of the whole pipeline run with the fastest scanner alone, and those about inputs and
    /// stores with the most threads alone: otherwise they would take longer than all others together.
    pub fn rows(&self) -> Vec<RowKey> {
        let mut rows = Vec::new();
        let fastest = &self.backends[self.backends.len() - 1..];
        let most = &self.threads[self.threads.len() - 1..];
        for kind in &self.kinds {
            for threads in &self.threads {
                for profile in &self.profiles {
                    for stage in &self.stages {
                        if stage.is_special() && !most.contains(threads) {
                            continue;
                        }
                        let backends = if stage.is_pipeline() { fastest } else { &self.backends };
                        rows.extend(backends.iter().map(|backend| RowKey {
                            corpus: kind.name().to_owned(),
                            profile: profile.to_string(),
                            stage: stage.name().to_owned(),
                            backend: backend.name().to_owned(),
                            threads: *threads,
                        }));
                    }
                }
            }
        }
        rows
    }

    /// The limits: all of them, on each corpus and with each number of threads.
    pub fn limits(&self) -> Vec<LimitKey> {
        let mut limits = Vec::new();
        for kind in &self.kinds {
            for threads in &self.threads {
                limits.extend(Limit::ALL.iter().map(|limit| LimitKey {
                    corpus: kind.name().to_owned(),
                    limit: limit.name().to_owned(),
                    threads: *threads,
                }));
            }
        }
        limits
    }

    /// Passes over a corpus.
    pub fn passes(&self) -> u64 {
        let passes = self.rows().len() + self.limits().len();
        passes as u64 * u64::from(self.repeats) * u64::from(self.runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_stages_run_with_the_most_threads_and_the_fastest_scanner_alone() {
        let plan = BenchPlan {
            seed: 1,
            size: 1,
            runs: 2,
            repeats: 3,
            kinds: vec![Kind::Clean],
            profiles: vec![Profile::Crawl],
            stages: Stage::ALL.to_vec(),
            backends: vec![Backend::Scalar, Backend::Avx2],
            threads: vec![1, 2],
            pin: Pin::None,
        };
        let rows = plan.rows();
        let count = |stage: &str| rows.iter().filter(|row| row.stage == stage).count();
        assert_eq!(["scan", "normalize", "dedup"].map(count), [4, 4, 4]);
        assert_eq!(["end-to-end", "gz", "beyond-memory", "seen"].map(count), [2, 1, 1, 1]);
        let pipelines = rows.iter().filter(|row| row.stage == "seen");
        assert!(pipelines.into_iter().all(|row| row.backend == "avx2" && row.threads == 2));
        assert_eq!(plan.limits().len(), 6);
        assert_eq!(plan.passes(), (17 + 6) * 2 * 3);
    }
}
