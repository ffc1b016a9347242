//! What each run of the process has to measure. It gets its order as JSON.

use super::work::{Expected, Work};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The order of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunOrder {
    /// The number of the run, which is the seed of the order of its corpora and rows.
    pub run: u64,
    /// The numbers of threads.
    pub threads: Vec<usize>,
    /// The corpora.
    pub corpora: Vec<PreparedCorpus>,
}

/// A corpus in a file, and the right answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PreparedCorpus {
    /// Its name, size and hash.
    pub info: CorpusInfo,
    /// The file.
    pub file: PathBuf,
    /// The answers.
    pub expected: Expected,
}

/// A corpus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorpusInfo {
    /// The kind of its URLs.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its records.
    pub records: u64,
    /// Its distinct canonical URLs.
    pub distinct: u64,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

/// What one row of a result measures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowKey {
    /// Name of the corpus.
    pub corpus: String,
    /// The work.
    pub work: Work,
    /// Threads that work.
    pub threads: usize,
}

impl CorpusInfo {
    /// 10^9 bytes a second.
    pub fn rate(&self, seconds: f64) -> f64 {
        self.bytes as f64 / seconds / 1e9
    }
}

impl RunOrder {
    /// The rows: every work on each corpus with each number of threads.
    pub fn rows(&self) -> Vec<RowKey> {
        let mut rows = Vec::new();
        for corpus in &self.corpora {
            for &threads in &self.threads {
                // The limits of a corpus and number of threads stand before its stages.
                let row = |work| RowKey { corpus: corpus.info.name.clone(), work, threads };
                rows.extend(Work::ALL.map(row));
            }
        }
        rows
    }
    /// The corpus of this name.
    pub fn corpus(&self, name: &str) -> Option<&PreparedCorpus> {
        self.corpora.iter().find(|corpus| corpus.info.name == name)
    }
}
