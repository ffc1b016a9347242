//! A result: the measured numbers, the machine and the corpora. `--json` writes its JSON and `--compare`
//! reads it. `docs/bench-result.schema.json` describes it.

use super::plan::{LimitKey, RowKey};
use super::statistics::{interval, median_of_medians};
use crate::counters::Usage;
use crate::machine::{Conditions, Disturbance, Machine, WhyNull};
use serde::{Deserialize, Serialize};

/// Version of the JSON. Files of different versions are not compared.
pub const FORMAT: u32 = 2;

/// A result of `uniqurl bench`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`FORMAT`].
    pub format: u32,
    /// Version of uniqurl.
    pub uniqurl: String,
    /// When it was begun, as RFC 3339 writes it.
    pub date: String,
    /// How the program was built.
    pub build: Build,
    /// The machine.
    pub machine: Machine,
    /// The options.
    pub flags: Flags,
    /// The runs of the process.
    pub runs: Vec<RunInfo>,
    /// The corpora.
    pub corpora: Vec<CorpusInfo>,
    /// The machine's own limits.
    pub limits: Vec<LimitRow>,
    /// The stages.
    pub results: Vec<StageRow>,
    /// The one number, if all that it needs was measured.
    pub score: Option<Score>,
    /// Why values in this object and in rows are null.
    pub why_null: WhyNull,
}

/// How the program was built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The commit.
    pub commit: Option<String>,
    /// The compiler and its version.
    pub compiler: Option<String>,
    /// The profile of Cargo.
    pub profile: Option<String>,
    /// The allocator.
    pub allocator: String,
    /// Why values are null.
    pub why_null: WhyNull,
}

/// The options, defaults filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags {
    /// Bytes of each corpus, at least.
    pub size: u64,
    /// Seed of the corpora.
    pub seed: u64,
    /// How often the process restarted.
    pub runs: u32,
    /// How often each run timed a row.
    pub repeats: u32,
    /// Where threads ran.
    pub pin: String,
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

/// A run of the process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// Seed of the order of its rows.
    pub order_seed: u64,
    /// The state of the machine when it began.
    pub before: Conditions,
    /// The state when it ended.
    pub after: Conditions,
    /// The difference.
    pub disturbance: Disturbance,
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

/// How fast the machine reads or copies a corpus, or counts its line feeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitRow {
    /// Corpus, threads and work.
    #[serde(flatten)]
    pub key: LimitKey,
    /// How long it took.
    pub seconds: Times,
    /// 10^9 bytes of the corpus a second, by the median.
    pub gb_per_second: f64,
    /// Nanoseconds a record, by the median.
    pub ns_per_url: f64,
    /// Resources of a pass, by the median of all.
    pub usage: Usage,
}

/// How fast a stage is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageRow {
    /// Corpus, threads and work.
    #[serde(flatten)]
    pub key: RowKey,
    /// How long it took.
    pub seconds: Times,
    /// 10^9 bytes of the corpus a second, by the median.
    pub gb_per_second: f64,
    /// Nanoseconds a record, by the median.
    pub ns_per_url: f64,
    /// The time of the memory read with as many threads, divided by the time of this row.
    pub roofline: f64,
    /// Resources of a pass, by the median of all.
    pub usage: Usage,
}

/// Seconds of each repeat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// The median over runs of the medians in each.
    pub median: f64,
    /// The lower end of its 95 % interval, null for a single run.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// All, in the order of time: a list for each run.
    pub runs: Vec<Vec<f64>>,
}

/// The number to cite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The version of its definition.
    pub version: u32,
    /// 10^9 bytes a second with one thread.
    pub one_thread: f64,
    /// The most threads.
    pub threads: usize,
    /// 10^9 bytes a second with these.
    pub all_threads: f64,
    /// The second rate divided by as many times the first.
    pub efficiency: f64,
}

impl Times {
    /// Of at least one run.
    pub fn new(runs: Vec<Vec<f64>>) -> Self {
        let interval = interval(&runs);
        Self {
            median: median_of_medians(&runs),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            runs,
        }
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
        let mut text = uniqurl_engine::output::escape_controls(&text).into_owned().into_bytes();
        text.push(b'\n');
        text
    }
}
