//! A trace of a run: each of its tasks with its CPU time, to simulate the run with other numbers of threads.
//!
//! Wall time on a few cores does not show which parts of a run would keep many cores waiting. The CPU time
//! of a task hardly depends on how many other tasks run, so the same tasks can be scheduled anew on paper.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Tasks of a run, noted while it lasts. See [`Watch::trace`](crate::Watch::trace).
#[derive(Debug)]
pub struct Trace {
    begun: Instant,
    tasks: Mutex<Vec<TracedTask>>,
}

/// The kind of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceStage {
    /// Reading the sets and lists from before the run, and looking up keys in stores.
    Seen,
    /// Opening and reading a small file before its turn.
    Open,
    /// Choosing the next chunk. One thread at a time does it.
    Next,
    /// Reading and parsing a chunk.
    Read,
    /// Sending a parsed batch on, in the order of the input. One thread at a time does it.
    Collect,
    /// Adding the keys of batches to some shards. One thread at a time does it for a shard.
    Insert,
    /// Formatting a batch.
    Format,
    /// Counting and writing batches. One thread at a time does it.
    Write,
    /// Writing the entries of some partitions, or keeping the lines of some shards. One thread at a time does it.
    Keep,
    /// The output that waits for the end of the inputs: sorting, merging and writing it on all threads.
    Settle,
    /// Bringing all bytes to the disk.
    Sync,
}

impl TraceStage {
    fn name(self) -> &'static str {
        match self {
            TraceStage::Seen => "seen",
            TraceStage::Open => "open",
            TraceStage::Next => "next",
            TraceStage::Read => "read",
            TraceStage::Insert => "insert",
            TraceStage::Format => "format",
            TraceStage::Write => "write",
            TraceStage::Keep => "keep",
            TraceStage::Collect => "collect",
            TraceStage::Settle => "settle",
            TraceStage::Sync => "sync",
        }
    }
}

/// A task that is done.
#[derive(Debug)]
struct TracedTask {
    stage: TraceStage,
    /// The number of the chunk, of the first batch, or of the first shard.
    number: usize,
    bytes: usize,
    thread: Option<usize>,
    start: Duration,
    wall: Duration,
    cpu: Duration,
}

/// A task that runs.
pub struct TaskTimer<'t>(Option<Running<'t>>);

struct Running<'t> {
    trace: &'t Trace,
    start: Duration,
    cpu: Duration,
}

impl Default for Trace {
    /// Times count from now.
    fn default() -> Self {
        Self { begun: Instant::now(), tasks: Mutex::default() }
    }
}

impl Trace {
    /// Begins a task of this thread, if there is a trace.
    pub fn begin(trace: Option<&Self>) -> TaskTimer<'_> {
        TaskTimer(trace.map(|trace| Running {
            trace,
            start: trace.begun.elapsed(),
            cpu: cpu_time(),
        }))
    }
    /// Writes a JSON object for each task that is done: its stage, number, thread, bytes, and in
    /// nanoseconds its start since the trace began, its time and its CPU time.
    ///
    /// # Errors
    ///
    /// As `out` says.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for task in &*self.tasks.lock().unwrap_or_else(PoisonError::into_inner) {
            let &TracedTask { number, bytes, start, wall, cpu, .. } = task;
            let name = task.stage.name();
            write!(out, "{{\"stage\":\"{name}\",\"number\":{number},")?;
            if let Some(thread) = task.thread {
                write!(out, "\"thread\":{thread},")?;
            }
            let [start, wall, cpu] = [start, wall, cpu].map(|time| time.as_nanos());
            writeln!(out, "\"bytes\":{bytes},\"start\":{start},\"wall\":{wall},\"cpu\":{cpu}}}")?;
        }
        Ok(())
    }
}

impl TaskTimer<'_> {
    /// Ends the task, which handled `bytes`.
    pub fn end(self, stage: TraceStage, number: usize, bytes: impl FnOnce() -> usize) {
        let Some(Running { trace, start, cpu }) = self.0 else { return };
        let cpu = cpu_time().saturating_sub(cpu);
        let task = TracedTask {
            stage,
            number,
            // A closure, so that a run without a trace adds up no sizes.
            bytes: bytes(),
            thread: rayon::current_thread_index(),
            start,
            wall: trace.begun.elapsed().saturating_sub(start),
            cpu,
        };
        trace.tasks.lock().unwrap_or_else(PoisonError::into_inner).push(task);
    }
}

/// CPU time of this thread so far.
#[cfg(unix)]
fn cpu_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Tasks have no CPU time where there is no such clock.
#[cfg(not(unix))]
fn cpu_time() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Job, JobPlan, Sinks, Watch, run};
    use std::collections::BTreeMap;
    use uniqurl::{Normalizer, Profile};
    use uniqurl_formats::input;

    #[test]
    fn trace_has_each_task_of_a_run_and_changes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("in");
        let lines: String = (0..90).map(|i| format!("http://h/{}\n", i % 40)).collect();
        std::fs::write(&path, &lines).unwrap();
        let (inputs, _) = input::check(&[path]);
        let mut plan =
            JobPlan::new(Normalizer::new(Profile::Crawl), Job::Dedup(Default::default()));
        (plan.limits.threads, plan.limits.chunk_size) = (2, 100);
        let output = |watch: &Watch| {
            let mut out = Vec::new();
            run(&plan, &inputs, Sinks::to(&mut out), watch).1.unwrap();
            out
        };
        let expected = output(&Watch::default());
        let mut watch = Watch::default();
        watch.trace = Some(Trace::default());
        assert_eq!(output(&watch), expected);

        let mut document = Vec::new();
        watch.trace.unwrap().write(&mut document).unwrap();
        let tasks: Vec<serde_json::Value> = std::str::from_utf8(&document)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let (mut bytes, mut counts) = (BTreeMap::new(), BTreeMap::new());
        for task in &tasks {
            let stage = task["stage"].as_str().unwrap();
            *bytes.entry(stage).or_insert(0) += task["bytes"].as_u64().unwrap();
            *counts.entry(stage).or_insert(0) += 1;
        }
        assert_eq!((bytes["read"], bytes["write"]), (lines.len() as u64, expected.len() as u64));
        assert!(counts["read"] >= lines.len().div_ceil(2 * plan.limits.chunk_size));
        for stage in ["collect", "format"] {
            assert_eq!(counts["read"], counts[stage], "{stage}");
        }
        for stage in ["next", "insert", "write"] {
            assert!(counts[stage] > 0, "{stage}");
        }
        assert_eq!(counts["settle"], 1);
    }
}
