//! The timed work: the stages of a run, and the machine's own limits.

use super::check::Expected;
use super::pipeline;
use super::plan::PreparedProfile;
use super::stopwatch::{Stopwatch, TimedPass};
use super::subject::{Team, TestBytes};
use crate::counters::Counters;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use uniqurl::Normalizer;
use uniqurl::internal::shards_for;
use uniqurl_engine::Stages;
use uniqurl_formats::input::Input;

/// A part of the work. Each of the first four does all that the one before it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Records, and which of their URLs are proven clean.
    Scan,
    /// Canonical URLs.
    Normalize,
    /// The set of them.
    Dedup,
    /// The pipeline, from a file to a sink.
    EndToEnd,
    /// The same, from several gzip files.
    Gz,
    /// The same as end to end, within a quarter of the memory that the set needs.
    BeyondMemory,
    /// The same as end to end, beside a seen store that holds half of the keys.
    Seen,
}

/// An upper bound: the fastest that the machine handles the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Adds them up as numbers of 64 bits.
    Read,
    /// Copies them.
    Copy,
    /// Counts their line feeds.
    Newlines,
}

/// The counts that a pass found, by name.
pub type Answer = Vec<(&'static str, u64)>;

/// All that a stage works on.
#[derive(Debug)]
pub struct StageInputs<'a> {
    /// The bytes in memory.
    pub bytes: &'a TestBytes,
    /// The same in a file.
    pub file: &'a [Input],
    /// The same in gzip files.
    pub packed: &'a [Input],
    /// The right answers, and the seen store.
    pub profile: &'a PreparedProfile,
    /// Directory of spilled keys.
    pub directory: &'a Path,
}

impl Stage {
    /// Every stage, in the order of the data flow.
    pub const ALL: [Stage; 7] = [
        Stage::Scan,
        Stage::Normalize,
        Stage::Dedup,
        Stage::EndToEnd,
        Stage::Gz,
        Stage::BeyondMemory,
        Stage::Seen,
    ];

    /// The name as `--stage` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Scan => "scan",
            Stage::Normalize => "normalize",
            Stage::Dedup => "dedup",
            Stage::EndToEnd => "end-to-end",
            Stage::Gz => "gz",
            Stage::BeyondMemory => "beyond-memory",
            Stage::Seen => "seen",
        }
    }

    /// The stage with this name.
    pub fn named(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.name() == name)
    }

    /// Whether it is the whole pipeline, with threads of its own.
    pub fn is_pipeline(self) -> bool {
        self >= Stage::EndToEnd
    }

    /// Whether it is the pipeline under special conditions.
    pub fn is_special(self) -> bool {
        self > Stage::EndToEnd
    }

    /// Does this stage's work once. The time excludes preparation and the freeing of memory.
    pub fn run(
        self,
        inputs: &StageInputs<'_>,
        normalizer: &Normalizer,
        team: &Team,
        counters: &mut Counters,
    ) -> Result<(TimedPass, Answer), String> {
        match self {
            Stage::Scan => Ok(scan(inputs.bytes, normalizer, team, counters)),
            Stage::Normalize => parse(inputs.bytes, normalizer, team, counters, 0),
            Stage::Dedup => {
                parse(inputs.bytes, normalizer, team, counters, shards_for(team.threads()))
            }
            _ => pipeline::run(self, inputs, normalizer, team, counters),
        }
    }

    /// The counts that are right.
    pub fn expected(self, expected: &Expected) -> Answer {
        let Expected { clean, records, rejected, blank, distinct, bytes, unseen, unseen_bytes } =
            *expected;
        let parsed = [("records", records), ("rejected", rejected), ("blank", blank)];
        let more: &[_] = match self {
            Stage::Scan => return vec![("clean", clean)],
            Stage::Normalize => &[],
            Stage::Dedup => &[("distinct", distinct)],
            Stage::EndToEnd | Stage::Gz | Stage::BeyondMemory => {
                &[("distinct", distinct), ("bytes of output", bytes)]
            }
            Stage::Seen => &[("distinct", unseen), ("bytes of output", unseen_bytes)],
        };
        [&parsed, more].concat()
    }
}

fn scan(
    bytes: &TestBytes,
    normalizer: &Normalizer,
    team: &Team,
    counters: &mut Counters,
) -> (TimedPass, Answer) {
    let watch = Stopwatch::start(counters);
    let stages = Stages::new(normalizer, &bytes.format, 0);
    let clean = AtomicU64::new(0);
    team.each(&bytes.chunks, |chunk, _, buffers| {
        clean.fetch_add(stages.scan(chunk, buffers), Relaxed);
    });
    (watch.stop(), vec![("clean", clean.into_inner())])
}

/// Normalizes, and adds to a set if there are shards.
fn parse(
    bytes: &TestBytes,
    normalizer: &Normalizer,
    team: &Team,
    counters: &mut Counters,
    shards: usize,
) -> Result<(TimedPass, Answer), String> {
    let watch = Stopwatch::start(counters);
    let stages = Stages::new(normalizer, &bytes.format, shards);
    let sums = [const { AtomicU64::new(0) }; 3];
    let full = AtomicU64::new(0);
    team.each(&bytes.chunks, |chunk, turn, buffers| match stages.parse(chunk, turn, buffers) {
        Ok(tally) => {
            let found = [tally.records, tally.rejected, tally.blank];
            for (sum, found) in sums.iter().zip(found) {
                sum.fetch_add(found, Relaxed);
            }
        }
        Err(_) => full.store(1, Relaxed),
    });
    let pass = watch.stop();
    if full.into_inner() != 0 {
        return Err(uniqurl::SetFull::default().to_string());
    }
    let [records, rejected, blank] = sums.map(AtomicU64::into_inner);
    let mut answer = vec![("records", records), ("rejected", rejected), ("blank", blank)];
    if shards > 0 {
        answer.push(("distinct", stages.distinct()));
    }
    Ok((pass, answer))
}

impl Limit {
    /// All of them.
    pub const ALL: [Limit; 3] = [Limit::Read, Limit::Copy, Limit::Newlines];

    /// The name in tables and results.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Read => "memory read",
            Limit::Copy => "memory copy",
            Limit::Newlines => "newline count",
        }
    }

    /// The limit with this name.
    pub fn named(name: &str) -> Option<Limit> {
        Limit::ALL.into_iter().find(|limit| limit.name() == name)
    }

    /// Does it once, to all bytes of the corpus. `copy` has room for them.
    pub fn run(
        self,
        bytes: &TestBytes,
        team: &Team,
        copy: &mut [u8],
        counters: &mut Counters,
    ) -> (TimedPass, Answer) {
        let watch = Stopwatch::start(counters);
        match self {
            Limit::Read => {
                let sum = AtomicU64::new(0);
                team.each(&bytes.chunks, |chunk, _, _| {
                    sum.fetch_add(add_up(chunk), Relaxed);
                });
                (watch.stop(), vec![("sum", sum.into_inner())])
            }
            Limit::Copy => {
                team.copy(&bytes.bytes, copy);
                (watch.stop(), vec![("bytes", copy.len() as u64)])
            }
            Limit::Newlines => {
                let feeds = AtomicU64::new(0);
                team.each(&bytes.chunks, |chunk, _, _| {
                    let count = memchr::memchr_iter(b'\n', chunk).count();
                    feeds.fetch_add(count as u64, Relaxed);
                });
                (watch.stop(), vec![("records", feeds.into_inner())])
            }
        }
    }
}

/// The sum of bytes as numbers of 64 bits, modulo 2^64. A last number is filled up with zeros.
pub fn add_up(bytes: &[u8]) -> u64 {
    let (numbers, rest) = bytes.as_chunks::<8>();
    let sum = numbers.iter().fold(0u64, |sum, n| sum.wrapping_add(u64::from_le_bytes(*n)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    sum.wrapping_add(u64::from_le_bytes(last))
}
