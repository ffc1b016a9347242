//! One pass of work over a corpus.

use super::subject::{Team, TestBytes};
use super::work::{Answer, Expected, Work, add_up};
use crate::counters::{Cost, Counters};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use uniqurl::internal::shards_for;
use uniqurl::{Normalizer, Profile, SetFull};
use uniqurl_engine::{Dedup, InputFormat, Job, JobPlan, Sinks, Stages, Watch, cores, most_workers};
use uniqurl_formats::input::Input;

/// The profile of all stages.
pub const PROFILE: Profile = Profile::Crawl;

/// All that work is done on.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The bytes in memory.
    pub bytes: &'a TestBytes,
    /// The same in a file.
    pub file: &'a [Input],
    /// Room for a copy of them.
    pub copy: &'a mut [u8],
    /// Who works.
    pub team: &'a Team,
}

impl Subject<'_> {
    /// Does work once, and checks the answer. The time excludes preparation and, but for the pipeline, the freeing of
    /// memory.
    pub fn pass(
        &mut self,
        work: Work,
        expected: &Expected,
        counters: &mut Counters,
    ) -> Result<Cost, String> {
        let normalizer = Normalizer::new(PROFILE);
        let Subject { bytes, file, copy, team } = self;
        let (cost, found) = match work {
            Work::MemoryRead => {
                let (cost, sum) = counters.time(|| sum(bytes, team, add_up));
                (cost, vec![("sum", sum)])
            }
            Work::MemoryCopy => {
                let (cost, ()) = counters.time(|| team.copy(&bytes.bytes, copy));
                // Compared when the time is over.
                (cost, vec![("copies", u64::from(**copy == *bytes.bytes))])
            }
            Work::NewlineCount => {
                let count = |chunk: &[u8]| memchr::memchr_iter(b'\n', chunk).count() as u64;
                let (cost, lines) = counters.time(|| sum(bytes, team, count));
                (cost, vec![("records", lines)])
            }
            Work::Scan => {
                let (cost, clean) = counters.time(|| scan(bytes, &normalizer, team));
                (cost, vec![("clean", clean)])
            }
            Work::Normalize | Work::Dedup => {
                let has_set = work == Work::Dedup;
                let shards = if has_set { shards_for(team.threads()) } else { 0 };
                let (cost, parsed) = counters.time(|| parse(bytes, &normalizer, team, shards));
                let (stages, mut found) = parsed.map_err(|full| full.to_string())?;
                if has_set {
                    found.push(("distinct", stages.distinct()));
                }
                (cost, found)
            }
            Work::EndToEnd => {
                let plan = plan(bytes, &normalizer, team.threads());
                let (cost, found) = counters.time(|| pipeline(&plan, file));
                (cost, found?)
            }
        };
        expected.check(work, &found)?;
        Ok(cost)
    }
}

/// The sum over all chunks.
fn sum(bytes: &TestBytes, team: &Team, of_chunk: impl Fn(&[u8]) -> u64 + Sync) -> u64 {
    let sum = AtomicU64::new(0);
    team.each(&bytes.chunks, |chunk, _, _| {
        sum.fetch_add(of_chunk(chunk), Relaxed);
    });
    sum.into_inner()
}

/// How many URLs are proven clean.
pub fn scan(bytes: &TestBytes, normalizer: &Normalizer, team: &Team) -> u64 {
    let stages = Stages::new(normalizer, &bytes.format, 0);
    let clean = AtomicU64::new(0);
    team.each(&bytes.chunks, |chunk, _, buffers| {
        clean.fetch_add(stages.scan(chunk, buffers), Relaxed);
    });
    clean.into_inner()
}

/// Normalizes, and adds to a set if there are shards. The set comes back with the counts, so that it is freed outside
/// of the time.
fn parse<'a>(
    bytes: &'a TestBytes,
    normalizer: &'a Normalizer,
    team: &Team,
    shards: usize,
) -> Result<(Stages<'a>, Answer), SetFull> {
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
        // No thread can stop the others, so the error waits for the end of the pass.
        Err(_) => full.store(1, Relaxed),
    });
    if full.into_inner() != 0 {
        return Err(SetFull::default());
    }
    let [records, rejected, blank] = sums.map(AtomicU64::into_inner);
    Ok((stages, vec![("records", records), ("rejected", rejected), ("blank", blank)]))
}

fn plan(bytes: &TestBytes, normalizer: &Normalizer, threads: usize) -> JobPlan {
    let mut plan = JobPlan::new(normalizer.clone(), Job::Dedup(Dedup::default()));
    plan.input.format = InputFormat::Fixed(Arc::new(bytes.format.clone()));
    plan.limits.threads = threads;
    plan.limits.most_workers = most_workers(cores());
    plan
}

/// Runs the pipeline of the command, with its own threads, from a file to a sink that counts bytes.
fn pipeline(plan: &JobPlan, file: &[Input]) -> Result<Answer, String> {
    let mut sink = CountingSink::default();
    let (report, result) = uniqurl_engine::run(plan, file, Sinks::to(&mut sink), &Watch::default());
    result.map_err(|error| error.to_string())?;
    let tally = report.tally;
    Ok(vec![
        ("records", tally.records),
        ("rejected", tally.rejected),
        ("blank", tally.blank),
        ("distinct", tally.unique),
        ("bytes of output", sink.bytes),
    ])
}

/// Takes bytes and only counts them.
#[derive(Default)]
struct CountingSink {
    bytes: u64,
}

impl Write for CountingSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
