//! A result: the measured numbers, the machine and the corpora. `--save` writes its JSON and `--compare` reads it.

use super::order::{CorpusInfo, RowKey};
use super::session::Session;
use super::statistics::{Interval, half_width, mean, median};
use super::work::Work;
use crate::counters::Cost;
use crate::machine::{Disturbance, Machine};
use serde::{Deserialize, Serialize};

/// Version of the JSON. Files of different versions are not compared.
pub const FORMAT: u32 = 3;

/// A machine is busy if others take more than this share of its CPU time.
const BUSY: f64 = 0.05;

/// A result of `uniqurl bench`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// [`FORMAT`].
    pub format: u32,
    /// The program.
    pub program: Program,
    /// When it was begun, as RFC 3339 writes it.
    pub date: String,
    /// The machine.
    pub machine: Machine,
    /// What others did during each run of the process.
    pub runs: Vec<Disturbance>,
    /// The corpora.
    pub corpora: Vec<CorpusInfo>,
    /// The measurements.
    pub rows: Vec<ResultRow>,
    /// The number to cite, if all that it needs was measured.
    pub score: Option<Score>,
    /// Why there is none.
    pub no_score: Option<String>,
}

/// The program that was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Version of uniqurl.
    pub version: String,
    /// The commit.
    pub commit: Option<String>,
    /// The compiler and its version.
    pub compiler: Option<String>,
    /// The build profile of Cargo.
    pub build: Option<String>,
    /// The scanner, which is the fastest of the processor.
    pub scanner: String,
    /// The profile of its rules.
    pub profile: String,
}

/// One row: a kind of work on a corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultRow {
    /// Corpus, work and threads.
    #[serde(flatten)]
    pub key: RowKey,
    /// 10^9 bytes of the corpus a second.
    pub gb_per_second: Rate,
    /// Nanoseconds a record, the median over runs.
    pub ns_per_url: f64,
    /// The rate as a share of that of the memory read with as many threads, by the medians.
    pub share_of_memory_read: f64,
    /// Seconds of each run.
    pub seconds: Vec<f64>,
    /// CPU time of a pass, the median over runs.
    pub cpu_seconds: f64,
    /// Cycles of a pass, the median over runs.
    pub cycles: Option<f64>,
    /// Instructions of a pass, the median over runs.
    pub instructions: Option<f64>,
}

/// A rate with its 95 % interval. One run has none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// The rate.
    pub median: f64,
    /// The interval.
    pub interval: Option<Interval>,
}

/// The number to cite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The version of its definition.
    pub version: u32,
    /// With one thread.
    pub one_thread: Rate,
    /// The most threads.
    pub threads: usize,
    /// With these.
    pub all_threads: Rate,
    /// The second rate divided by as many times the first.
    pub efficiency: f64,
}

impl Rate {
    /// Of the rates in several runs.
    pub fn new(rates: &[f64]) -> Self {
        // Rates are compared by their ratios, so their spread is that of logarithms.
        let logs: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
        Self::around(median(rates), &logs)
    }

    /// A rate with an interval as wide as that of the median of these logarithms, one of each run.
    pub fn around(rate: f64, logs: &[f64]) -> Self {
        let half = half_width([logs], |[drawn]| median(drawn));
        Self { median: rate, interval: half.map(|half| Interval::around(rate.ln(), half)) }
    }
}

impl ResultRow {
    fn new(key: RowKey, corpus: &CorpusInfo, costs: &[Cost]) -> Self {
        let median_of = |of: fn(&Cost) -> f64| median(&costs.iter().map(of).collect::<Vec<_>>());
        let count = |of: fn(&Cost) -> Option<u64>| {
            // A median over some of the runs would not be comparable, so all of them have to have
            // the count.
            let counts: Option<Vec<f64>> =
                costs.iter().map(|cost| of(cost).map(|n| n as f64)).collect();
            counts.map(|counts| median(&counts))
        };
        let seconds: Vec<f64> = costs.iter().map(|cost| cost.seconds).collect();
        let rates: Vec<f64> = seconds.iter().map(|seconds| corpus.rate(*seconds)).collect();
        Self {
            key,
            gb_per_second: Rate::new(&rates),
            ns_per_url: median(&seconds) * 1e9 / corpus.records as f64,
            // The document knows the row of the memory read, and fills this in.
            share_of_memory_read: 1.0,
            seconds,
            cpu_seconds: median_of(|cost| cost.cpu_seconds),
            cycles: count(|cost| cost.cycles),
            instructions: count(|cost| cost.instructions),
        }
    }
}

impl Document {
    /// The result of a session, without the score.
    pub fn new(session: &Session, program: Program, machine: Machine, date: String) -> Self {
        let corpora: Vec<_> =
            session.order.corpora.iter().map(|corpus| corpus.info.clone()).collect();
        let keys = session.order.rows().into_iter().zip(&session.costs);
        let mut rows: Vec<ResultRow> = Vec::new();
        for (key, costs) in keys {
            let Some(corpus) = session.order.corpus(&key.corpus) else { continue };
            let mut row = ResultRow::new(key, &corpus.info, costs);
            // It is the first row of each corpus and number of threads, so the last one is beside this row.
            let read = rows.iter().rfind(|row| row.key.work == Work::MemoryRead);
            if let Some(read) = read.filter(|_| row.key.work != Work::MemoryRead) {
                row.share_of_memory_read = row.gb_per_second.median / read.gb_per_second.median;
            }
            rows.push(row);
        }
        Self {
            format: FORMAT,
            program,
            date,
            machine,
            runs: session.runs.clone(),
            corpora,
            rows,
            score: None,
            no_score: None,
        }
    }

    /// The corpus of that name.
    pub fn corpus(&self, name: &str) -> Option<&CorpusInfo> {
        self.corpora.iter().find(|corpus| corpus.name == name)
    }

    /// The share of the CPUs' time that others took, the mean of the runs.
    pub fn busy(&self) -> f64 {
        let share = |run: &Disturbance| run.others.unwrap_or(0.0) + run.stolen.unwrap_or(0.0);
        mean(&self.runs.iter().map(share).collect::<Vec<_>>())
    }

    /// Whether that is much.
    pub fn is_busy(&self) -> bool {
        self.busy() > BUSY
    }

    /// A sentence about how busy others kept the machine, if the system tells.
    pub fn about_others(&self) -> Option<String> {
        let mean_of = |of: fn(&Disturbance) -> Option<f64>| {
            self.runs.iter().map(of).collect::<Option<Vec<_>>>().map(|shares| mean(&shares))
        };
        let (others, stolen) = (mean_of(|run| run.others)?, mean_of(|run| run.stolen)?);
        let (others, stolen) = (100.0 * others, 100.0 * stolen);
        Some(match self.is_busy() {
            true => format!(
                "This machine is busy: other programs took {others:.0} % of its CPU time, and the hypervisor \
                 {stolen:.0} %.\nThe rates are lower and the intervals wider than on a quiet one."
            ),
            false => format!(
                "The machine was quiet: other programs took {others:.1} % of its CPU time, and the hypervisor \
                 {stolen:.1} %."
            ),
        })
    }

    /// The text of a file.
    pub fn json(&self) -> Vec<u8> {
        let text = serde_json::to_string_pretty(self).expect("names are strings");
        // Names of processors and corpora come from files, and this text may go to a terminal.
        let mut text = uniqurl_engine::output::escape_controls(&text).into_owned().into_bytes();
        text.push(b'\n');
        text
    }
}

/// A result in which each row of all corpora has this rate in each run, with one thread and with two.
#[cfg(test)]
pub fn document(size: u64, runs: usize, rate: impl Fn(&RowKey) -> f64) -> Document {
    use super::order::{PreparedCorpus, RunOrder};
    use super::work::Expected;
    let corpus = |name: &str| {
        let (name, sha256) = (name.to_owned(), String::new());
        let info = CorpusInfo { name, bytes: size, records: size, distinct: size, sha256 };
        PreparedCorpus { info, file: "/".into(), expected: Expected::default() }
    };
    let corpora = ["clean", "mixed", "dirty", "dup", "access"].map(corpus).to_vec();
    let order = RunOrder { run: 1, threads: vec![1, 2], corpora };
    let cost = |key: &RowKey| {
        let seconds = size as f64 / rate(key) / 1e9;
        vec![Cost { seconds, cpu_seconds: seconds, cycles: None, instructions: Some(7) }; runs]
    };
    let costs = order.rows().iter().map(cost).collect();
    let quiet = Disturbance { others: Some(0.0), stolen: Some(0.0), load: None, seconds: 1.0 };
    let machine = Machine { cpus: 2, ..Machine::here() };
    let program = Program {
        version: "0.0.0".into(),
        commit: None,
        compiler: None,
        build: None,
        scanner: "scalar".into(),
        profile: "crawl@1".into(),
    };
    let session = Session { order, costs, runs: vec![quiet; runs] };
    Document::new(&session, program, machine, "2026-01-01T00:00:00Z".into())
}
