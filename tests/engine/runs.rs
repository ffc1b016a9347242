//! Runs over files: the plans that the tests change, the inputs, and everything that a run gives.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use uniqurl::{Normalizer, Profile};
use uniqurl_engine::{
    Dedup, InputFormat, Job, JobPlan, Memory, Report, RunError, SetOrder, Sinks, Watch, run,
};
use uniqurl_formats::input::{self, Input, Source};
use uniqurl_formats::record::Format;
use uniqurl_store::seen::{KeySink, SeenStoreError};

pub const FIRST: Dedup = Dedup { order: SetOrder::First, count: false, min_count: 1, limit: None };

pub const ORDERS: [SetOrder; 3] = [SetOrder::First, SetOrder::Sorted, SetOrder::Count];

/// A plan under `crawl`, for inputs whose format is found.
pub fn plan(dedup: Dedup) -> JobPlan {
    JobPlan::new(Normalizer::new(Profile::Crawl), Job::Dedup(dedup))
}

/// The same for inputs of one format.
pub fn plan_of(name: &str, dedup: Dedup) -> JobPlan {
    let mut plan = plan(dedup);
    plan.input.format = format(name);
    plan
}

pub fn format(name: &str) -> InputFormat {
    match name {
        "auto" => InputFormat::Auto,
        name => InputFormat::Fixed(Arc::new(Format::parse(name).unwrap())),
    }
}

/// Sets what may not change a result: threads, bytes of a chunk, and bytes of memory.
pub fn limit(plan: &mut JobPlan, threads: usize, chunk_size: usize, budget: Option<u64>) {
    (plan.limits.threads, plan.limits.chunk_size) = (threads, chunk_size);
    plan.limits.memory = budget.map(|budget| memory(budget, &std::env::temp_dir()));
}

/// A budget whose temporary files are in this directory.
pub fn memory(budget: u64, directory: &Path) -> Memory {
    Memory { budget, directory: directory.to_owned(), tell: |_| {} }
}

pub fn checked(paths: &[PathBuf]) -> Vec<Input> {
    let (inputs, errors) = input::check(paths);
    assert!(errors.is_empty());
    inputs
}

pub fn stream(path: &Path) -> Vec<Input> {
    vec![Input { path: path.to_owned(), source: Source::Stream, copy: None }]
}

pub fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// A member of gzip.
pub fn pack(bytes: &[u8], level: flate2::Compression) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), level);
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    pack(bytes, flate2::Compression::fast())
}

/// Keys as they were pushed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Pushed(pub Vec<Vec<u8>>);

impl KeySink for Pushed {
    fn push(&mut self, key: &[u8]) -> Result<(), SeenStoreError> {
        assert!(self.0.last().is_none_or(|last| last.as_slice() < key), "distinct and in order");
        self.0.push(key.to_vec());
        Ok(())
    }
}

/// An output whose bytes go to a function.
struct Output<F>(F);

impl<F: FnMut(&[u8]) -> io::Result<()>> Write for Output<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0(bytes)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A run that writes to a function.
pub fn ran_into(
    plan: &JobPlan,
    inputs: &[Input],
    write: impl FnMut(&[u8]) -> io::Result<()> + Send,
) -> Result<(), RunError> {
    run(plan, inputs, Sinks::to(&mut Output(write)), &Watch::default()).1
}

/// What a run takes besides its output: a run that has fewer sinks may take shorter ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    Output,
    Rejects,
    Keys,
}

pub struct Outcome {
    pub out: Vec<u8>,
    pub rejects: Vec<u8>,
    pub keys: Pushed,
    pub report: Report,
    pub result: Result<(), RunError>,
}

impl Outcome {
    /// The outcome of a run without an error.
    #[track_caller]
    pub fn unwrap(self) -> Self {
        if let Err(error) = &self.result {
            panic!("{error:?}");
        }
        self
    }

    pub fn text(&self) -> &str {
        str::from_utf8(&self.out).unwrap()
    }

    /// Checks that both runs wrote and counted the same.
    #[track_caller]
    pub fn assert_same(&self, other: &Self, case: &impl std::fmt::Debug) {
        assert!(self.out == other.out, "{case:?}");
        assert!(self.rejects == other.rejects, "{case:?}");
        assert!(self.keys == other.keys, "{case:?}");
        let accounts = [self, other].map(|run| (&run.report.tally, &run.report.files));
        assert_eq!(accounts[0], accounts[1], "{case:?}");
    }

    #[track_caller]
    pub fn error(self, case: &str) -> String {
        self.result.expect_err(case).to_string()
    }
}

pub fn ran_for(plan: &JobPlan, inputs: &[Input], takes: Takes) -> Outcome {
    let (mut out, mut rejects, mut keys) = (Vec::new(), Vec::new(), Pushed::default());
    let mut sinks = Sinks::to(&mut out);
    match takes {
        Takes::Output => {}
        Takes::Rejects => sinks.rejects = Some(&mut rejects),
        Takes::Keys => sinks.keys = Some(&mut keys),
    }
    let (report, result) = run(plan, inputs, sinks, &Watch::default());
    Outcome { out, rejects, keys, report, result }
}

pub fn ran(plan: &JobPlan, inputs: &[Input]) -> Outcome {
    ran_for(plan, inputs, Takes::Output)
}

/// A run over one file of these bytes.
pub fn ran_on(plan: &JobPlan, bytes: &[u8]) -> Outcome {
    ran(plan, &checked(&[file(bytes).path().to_owned()]))
}

/// Numbers from a seed, each below a bound.
pub fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

/// The number of changed files that a test tries. Emulated processors get fewer.
pub fn cases() -> usize {
    let default = if cfg!(target_arch = "aarch64") { 500 } else { 2_000 };
    std::env::var("UNIQURL_CASES").map_or(default, |n| n.parse().expect("a number"))
}
