//! The timed work: the stages of a run, and the machine's own limits.

use super::subject::{LoadedCorpus, Team};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use uniqurl::Normalizer;
use uniqurl::bytes::Secrets;
use uniqurl::set::shards_for;
use uniqurl_engine::{self, Stages};

/// A part of the work. Each does all that the one before it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Records, and which of their URLs are proven clean.
    Scan,
    /// Canonical URLs.
    Normalize,
    /// The set of them.
    Dedup,
    /// The pipeline, from a file to a sink.
    Whole,
}

/// An upper bound: the fastest that the machine handles the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Copies them.
    Copy,
    /// Counts their line feeds.
    Newlines,
}

/// The counts that a pass found, by name.
pub type Answer = Vec<(&'static str, u64)>;

impl Stage {
    /// Every stage, in the order of the data flow.
    pub const ALL: [Stage; 4] = [Stage::Scan, Stage::Normalize, Stage::Dedup, Stage::Whole];

    /// The name as `--stage` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Scan => "scan",
            Stage::Normalize => "normalize",
            Stage::Dedup => "dedup",
            Stage::Whole => "whole",
        }
    }

    /// The stage with this name.
    pub fn named(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.name() == name)
    }

    /// Does this stage's work once. The time excludes preparation and the freeing of memory.
    pub fn run(
        self,
        sample: &LoadedCorpus,
        normalizer: &Normalizer,
        team: &Team,
    ) -> Result<(Duration, Answer), String> {
        let shards = match self {
            Stage::Dedup => shards_for(team.threads()),
            _ => 0,
        };
        let start = Instant::now();
        let stages = Stages::new(normalizer, &sample.format, shards);
        match self {
            Stage::Scan => {
                let clean = AtomicU64::new(0);
                team.each(&sample.chunks, |chunk, _, buffers| {
                    clean.fetch_add(stages.scan(chunk, buffers), Relaxed);
                });
                Ok((start.elapsed(), vec![("clean", clean.into_inner())]))
            }
            Stage::Normalize | Stage::Dedup => {
                let sums = [const { AtomicU64::new(0) }; 3];
                let full = AtomicU64::new(0);
                team.each(&sample.chunks, |chunk, turn, buffers| {
                    match stages.parse(chunk, turn, buffers) {
                        Ok(tally) => {
                            let found = [tally.records, tally.rejected, tally.blank];
                            for (sum, found) in sums.iter().zip(found) {
                                sum.fetch_add(found, Relaxed);
                            }
                        }
                        Err(_) => full.store(1, Relaxed),
                    }
                });
                let time = start.elapsed();
                if full.into_inner() != 0 {
                    return Err(uniqurl::SetFull::default().to_string());
                }
                let [records, rejected, blank] = sums.map(AtomicU64::into_inner);
                let mut answer =
                    vec![("records", records), ("rejected", rejected), ("blank", blank)];
                if self == Stage::Dedup {
                    answer.push(("distinct", stages.distinct()));
                }
                Ok((time, answer))
            }
            Stage::Whole => whole(sample, normalizer, team.threads()),
        }
    }
}

/// The pipeline of the command, with its own threads.
fn whole(
    sample: &LoadedCorpus,
    normalizer: &Normalizer,
    threads: usize,
) -> Result<(Duration, Answer), String> {
    let watch = uniqurl_engine::Watch::default();
    let job = uniqurl_engine::Job::Dedup(uniqurl_engine::Dedup {
        order: uniqurl_engine::SetOrder::None,
        count: false,
        min_count: 1,
        limit: None,
    });
    let mut plan = uniqurl_engine::JobPlan::new(normalizer.clone(), job);
    plan.input.format = uniqurl_engine::InputFormat::Fixed(Arc::new(sample.format.clone()));
    plan.output.secrets = Secrets::Masked;
    plan.limits.threads = threads;
    let mut sink = Sink::default();
    let start = Instant::now();
    let (report, result) =
        uniqurl_engine::run(&plan, &sample.inputs, uniqurl_engine::Sinks::to(&mut sink), &watch);
    let time = start.elapsed();
    result.map_err(|error| error.to_string())?;
    let tally = report.tally;
    Ok((
        time,
        vec![
            ("records", tally.records),
            ("rejected", tally.rejected),
            ("blank", tally.blank),
            ("distinct", tally.unique),
            ("bytes of output", sink.bytes),
        ],
    ))
}

/// Takes bytes and only counts them.
#[derive(Default)]
struct Sink {
    bytes: u64,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Limit {
    /// Both.
    pub const ALL: [Limit; 2] = [Limit::Copy, Limit::Newlines];

    /// The name in tables and results.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Copy => "memory copy",
            Limit::Newlines => "newline count",
        }
    }

    /// Does it once, to all bytes of the corpus. `copy` has room for them.
    pub fn run(self, sample: &LoadedCorpus, team: &Team, copy: &mut [u8]) -> (Duration, Answer) {
        let start = Instant::now();
        match self {
            Limit::Copy => {
                team.copy(&sample.bytes, copy);
                (start.elapsed(), vec![("bytes", copy.len() as u64)])
            }
            Limit::Newlines => {
                let feeds = AtomicU64::new(0);
                team.each(&sample.chunks, |chunk, _, _| {
                    let count = memchr::memchr_iter(b'\n', chunk).count();
                    feeds.fetch_add(count as u64, Relaxed);
                });
                (start.elapsed(), vec![("records", feeds.into_inner())])
            }
        }
    }
}
