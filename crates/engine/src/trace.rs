//! A trace of a run: each of its tasks with its CPU time, to simulate the run with other numbers of threads.
//!
//! Wall time on a few cores does not show which parts of a run would keep many cores waiting. The CPU time
//! of a task hardly depends on how many other tasks run, so the same tasks can be scheduled anew on paper.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Tasks of a run, noted while it lasts. See [`Watch::trace`](crate::Watch::trace).
#[derive(Debug)]
pub struct Trace {
    begun: Instant,
    round: AtomicU64,
    tasks: Mutex<Vec<TracedTask>>,
}

/// The kind of a task.
///
/// `Next`, `Adapt`, `Spawn`, `Count` and `Collect` are the work of one thread between two rounds: choosing
/// chunks, checking the memory, making tasks, counting batches, and numbering the records that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceStage {
    /// Reading the sets and lists from before the run.
    Seen,
    /// Choosing the chunks of a round.
    Next,
    /// Checking the budget, and changing the set.
    Adapt,
    /// Making the tasks of a round. It is a part of the round.
    Spawn,
    /// From the first task of a round to the last. The CPU time of its tasks is not part of its own.
    Round,
    /// Reading and parsing a chunk.
    Read,
    /// Adding keys to a shard or to buckets.
    Insert,
    /// Formatting a batch.
    Format,
    /// Writing all batches of a round.
    Write,
    /// Writing the entries of some partitions.
    Spill,
    /// Counting batches, and keeping the parts of them that are needed at the end.
    Count,
    /// Numbering the records of the batches that were read.
    Collect,
    /// The output that waits for the end of the inputs: sorting, merging and writing it on all threads.
    Settle,
    /// Bringing all bytes to the disk.
    Sync,
}

impl TraceStage {
    fn name(self) -> &'static str {
        match self {
            TraceStage::Seen => "seen",
            TraceStage::Next => "next",
            TraceStage::Adapt => "adapt",
            TraceStage::Spawn => "spawn",
            TraceStage::Round => "round",
            TraceStage::Read => "read",
            TraceStage::Insert => "insert",
            TraceStage::Format => "format",
            TraceStage::Write => "write",
            TraceStage::Spill => "spill",
            TraceStage::Count => "count",
            TraceStage::Collect => "collect",
            TraceStage::Settle => "settle",
            TraceStage::Sync => "sync",
        }
    }

    /// Whether the stage is a step of the thread that makes the tasks.
    fn is_step(self) -> bool {
        use TraceStage::{Format, Insert, Read, Spill, Write};
        !matches!(self, Read | Insert | Format | Write | Spill)
    }
}

/// A task that is done.
#[derive(Debug)]
struct TracedTask {
    stage: TraceStage,
    round: u64,
    /// The input of a chunk, the batch of a round, the shard, or the first of some partitions.
    number: usize,
    bytes: usize,
    thread: Option<usize>,
    start: Duration,
    wall: Duration,
    cpu: Duration,
    /// CPU time of the whole process by the end of a step, decoding and other threads included.
    process: Option<Duration>,
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
        Self { begun: Instant::now(), round: AtomicU64::new(0), tasks: Mutex::default() }
    }
}

impl Trace {
    /// Begins a task of this thread, if there is a trace.
    pub fn begin(trace: Option<&Self>) -> TaskTimer<'_> {
        TaskTimer(trace.map(|trace| Running {
            trace,
            start: trace.begun.elapsed(),
            cpu: cpu_time(Whose::Thread),
        }))
    }

    /// Begins the next round, if there is a trace.
    pub(crate) fn next_round(trace: Option<&Self>) {
        if let Some(trace) = trace {
            trace.round.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes a JSON object for each task that is done: its stage, round, number, thread, bytes, and in
    /// nanoseconds its start since the trace began, its time and its CPU time.
    ///
    /// # Errors
    ///
    /// As `out` says.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for task in &*self.tasks.lock().unwrap_or_else(PoisonError::into_inner) {
            let &TracedTask { round, number, bytes, start, wall, cpu, .. } = task;
            let name = task.stage.name();
            write!(out, "{{\"stage\":\"{name}\",\"round\":{round},\"number\":{number},")?;
            if let Some(thread) = task.thread {
                write!(out, "\"thread\":{thread},")?;
            }
            let [start, wall, cpu] = [start, wall, cpu].map(|time| time.as_nanos());
            write!(out, "\"bytes\":{bytes},\"start\":{start},\"wall\":{wall},\"cpu\":{cpu}")?;
            if let Some(process) = task.process {
                write!(out, ",\"process\":{}", process.as_nanos())?;
            }
            out.write_all(b"}\n")?;
        }
        Ok(())
    }
}

impl TaskTimer<'_> {
    /// Ends the task, which handled `bytes`.
    pub fn end(self, stage: TraceStage, number: usize, bytes: impl FnOnce() -> usize) {
        let Some(Running { trace, start, cpu }) = self.0 else { return };
        let cpu = cpu_time(Whose::Thread).saturating_sub(cpu);
        let task = TracedTask {
            stage,
            round: trace.round.load(Ordering::Relaxed),
            number,
            bytes: bytes(),
            thread: rayon::current_thread_index(),
            start,
            wall: trace.begun.elapsed().saturating_sub(start),
            cpu,
            process: stage.is_step().then(|| cpu_time(Whose::Process)),
        };
        trace.tasks.lock().unwrap_or_else(PoisonError::into_inner).push(task);
    }
}

#[derive(Clone, Copy)]
enum Whose {
    Thread,
    Process,
}

/// CPU time so far.
#[cfg(unix)]
fn cpu_time(whose: Whose) -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let clock = match whose {
        Whose::Thread => ClockId::ThreadCPUTime,
        Whose::Process => ClockId::ProcessCPUTime,
    };
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

/// Tasks have no CPU time where there are no such clocks.
#[cfg(not(unix))]
fn cpu_time(_: Whose) -> Duration {
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Job, JobPlan, Sinks, Watch, run};
    use std::collections::BTreeMap;
    use uniqurl::internal::shards_for;
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
            let [start, wall] = ["start", "wall"].map(|key| task[key].as_u64().unwrap());
            let is_in_round = |round: &&serde_json::Value| {
                let [begin, lasts] = ["start", "wall"].map(|key| round[key].as_u64().unwrap());
                round["stage"] == "round" && begin <= start && start + wall <= begin + lasts
            };
            if matches!(stage, "read" | "insert" | "format" | "write") {
                let round = tasks.iter().find(is_in_round).expect("the round of the task");
                assert_eq!(round["round"], task["round"], "{task}");
            }
        }
        assert_eq!((bytes["read"], bytes["write"]), (lines.len() as u64, expected.len() as u64));
        assert_eq!(counts["read"], counts["format"]);
        assert!(counts["read"] >= lines.len().div_ceil(2 * plan.limits.chunk_size));
        assert_eq!(counts["insert"] % shards_for(2), 0);
        for stage in ["next", "adapt", "spawn", "write", "count", "collect"] {
            assert!(counts[stage] >= counts["round"], "{stage}");
        }
        assert_eq!(counts["settle"], 1);
    }
}
