//! A result: the measured numbers, the machine and the corpora. `--json` writes its JSON and `--compare`
//! reads it.

use crate::machine::Machine;
use serde::{Deserialize, Serialize};

/// Version of the JSON. Files of different versions are not compared.
pub const FORMAT: u32 = 1;

/// A run of `uniqurl bench`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`FORMAT`].
    pub format: u32,
    /// Version of uniqurl.
    pub uniqurl: String,
    /// When it was begun, as RFC 3339 writes it.
    pub date: String,
    /// Where.
    pub machine: Machine,
    /// The options of the run.
    pub flags: Flags,
    /// The corpora.
    pub corpora: Vec<CorpusInfo>,
    /// The machine's own limits.
    pub limits: Vec<LimitRow>,
    /// The stages.
    pub results: Vec<StageRow>,
}

/// The options of a run, defaults filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags {
    /// Bytes of each corpus, at least.
    pub size: u64,
    /// Seed of the corpora.
    pub seed: u64,
    /// How often each was timed.
    pub repeats: u32,
    /// Names.
    pub corpus: Vec<String>,
    /// Names with versions.
    pub profile: Vec<String>,
    /// Names.
    pub stage: Vec<String>,
    /// Names.
    pub backend: Vec<String>,
    /// Numbers.
    pub threads: Vec<usize>,
}

/// A corpus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorpusInfo {
    /// The kind of its URLs.
    pub name: String,
    /// Its seed.
    pub seed: u64,
    /// Its size.
    pub bytes: u64,
    /// Its records.
    pub records: u64,
    /// Its distinct canonical URLs under `crawl`.
    pub distinct: u64,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

/// How fast the machine copies a corpus or counts its line feeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitRow {
    /// Name of the corpus.
    pub corpus: String,
    /// `memory copy` or `newline count`.
    pub limit: String,
    /// Threads that did it.
    pub threads: usize,
    /// How long it took.
    pub seconds: Times,
    /// 10^9 bytes of the corpus a second, by the median.
    pub gb_per_second: f64,
    /// Nanoseconds a record, by the median.
    pub ns_per_url: f64,
}

/// How fast a stage is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageRow {
    /// Name of the corpus.
    pub corpus: String,
    /// Profile with its version.
    pub profile: String,
    /// The stage.
    pub stage: String,
    /// The scanner.
    pub backend: String,
    /// Threads that worked.
    pub threads: usize,
    /// How long it took.
    pub seconds: Times,
    /// 10^9 bytes of the corpus a second, by the median.
    pub gb_per_second: f64,
    /// Nanoseconds a record, by the median.
    pub ns_per_url: f64,
    /// Its median divided by that of the newline count with the same number of threads.
    pub x_newlines: f64,
}

/// Seconds of each repeat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// The middle one, or the mean of the two in the middle.
    pub median: f64,
    /// The shortest.
    pub min: f64,
    /// The longest.
    pub max: f64,
    /// All, in the order of the run.
    pub runs: Vec<f64>,
}

impl Times {
    /// Of at least one run.
    pub fn new(runs: Vec<f64>) -> Self {
        let mut sorted = runs.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = match sorted.len() % 2 {
            0 => (sorted[middle - 1] + sorted[middle]) / 2.0,
            _ => sorted[middle],
        };
        Self { median, min: sorted[0], max: sorted[sorted.len() - 1], runs }
    }
}

impl CorpusInfo {
    /// 10^9 bytes a second.
    pub fn rate(&self, seconds: f64) -> f64 {
        self.bytes as f64 / seconds / 1e9
    }

    /// Nanoseconds a record.
    pub fn nanoseconds(&self, seconds: f64) -> f64 {
        seconds * 1e9 / self.records as f64
    }
}

impl Document {
    /// The corpus of that name.
    pub fn corpus(&self, name: &str) -> Option<&CorpusInfo> {
        self.corpora.iter().find(|corpus| corpus.name == name)
    }

    /// The text of a file.
    pub fn json(&self) -> Vec<u8> {
        let text = serde_json::to_string_pretty(self).expect("names are strings");
        let mut text = uniqurl_formats::escape_controls(&text).into_owned().into_bytes();
        text.push(b'\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle_value() {
        let times = Times::new(vec![3.0, 1.0, 2.0]);
        assert_eq!((times.median, times.min, times.max), (2.0, 1.0, 3.0));
        assert_eq!(times.runs, [3.0, 1.0, 2.0]);
        assert_eq!(Times::new(vec![1.0, 4.0, 2.0, 8.0]).median, 3.0);
        assert_eq!(Times::new(vec![5.0]).median, 5.0);
    }
}
