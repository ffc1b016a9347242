//! The first stage around the tasks of a round: it chooses the next chunks and collects their batches.
//!
//! Chunks go out as [`ReadTask`]s, to be read in parallel, and come back as batches in the order of the
//! inputs, with their records numbered. A few KiB of input may become gigabytes: a base before each target,
//! a page's address before each link, a redirect target in place of each URL. So a batch stops when it has
//! become long, and the next round begins with the rest of its chunk.

mod queue;
mod event;
mod origins;

pub(crate) use event::ReadEvent;
pub(crate) use origins::RecordOrigins;
pub(crate) use queue::{ChunkSource, QueuedChunk};

use crate::batch::{AT_ONCE, ParseRules, Position, WorkBatch};
use crate::plan::JobPlan;
use crate::watch::Watch;
use queue::{InputQueue, QueueItem};
use uniqurl::internal::HashKey;
use uniqurl_formats::input::{Chunk, Input, InputError};

/// Full chunks in a round, for each thread.
pub(crate) const CHUNKS: usize = 5;

/// Chunks in a round, for each thread, however small they are, such as the ends of small files.
const SMALL_CHUNKS: usize = 64;

/// Files that end in a round and stay open until it is read. Some systems allow a process 256 open files,
/// however many threads there are; and a file that is not read as soon as it is opened is so long that this
/// many fill a round.
const FILES: usize = 32;

/// Batches on their way may take one part in this many of the memory, and so much more for each thread,
/// which does not count.
const SHARE: usize = 4;
const THREAD_SHARE: usize = 3 << 19;

/// The same for each thread, if the memory is not limited.
const UNSAID_SHARE: usize = 64 << 20;

/// Buffers of a batch that hold its URLs, their lines or entries.
const BUFFERS: usize = 4;

/// Bytes of URLs that a batch makes in any case.
const LEAST_AT_ONCE: usize = 64 << 10;

/// A batch with the chunk to read and the result; or, between such batches, an error of an input.
pub(crate) struct ReadTask {
    pub(crate) batch: WorkBatch,
    pub(crate) input: usize,
    /// None if there is only an error.
    pub(crate) chunk: Option<QueuedChunk>,
    pub(crate) unread: Unread,
    pub(crate) result: Result<(), InputError>,
}

/// The part of a chunk that is not read yet.
pub(crate) enum Unread {
    /// All of it.
    All,
    /// The records from this one on, which an earlier batch could not take.
    Rest(Chunk, usize),
    /// Nothing. The batch only waits for those before it.
    Nothing,
}

/// Reads the inputs.
pub(crate) struct Reader<'a> {
    plan: &'a JobPlan,
    queue: InputQueue<'a>,
    pub(crate) rules: ParseRules<'a>,
    /// Tasks that come before any other chunk, mostly rests of chunks.
    waiting: Vec<ReadTask>,
    /// Batches to be reused.
    spare: Vec<WorkBatch>,
    /// Records that have a number, and the input of the last one.
    numbered: Position,
    numbered_input: usize,
    /// The input of each record.
    pub(crate) origins: RecordOrigins,
    /// Events that no one has taken yet.
    events: Vec<ReadEvent>,
    /// Whether an error of an input ends the run once everything read before it is written.
    has_failed: bool,
}

/// Memory that batches on their way may take before the next chunks have to wait for them, and half as much
/// for the buffers that wait to be reused.
pub(crate) fn batch_share(plan: &JobPlan) -> usize {
    let threads = plan.limits.workers();
    match plan.limits.memory {
        Some(_) => plan.budget() / SHARE + threads * THREAD_SHARE,
        None => threads * UNSAID_SHARE,
    }
}

/// Bytes of URLs that each of so many batches may make.
pub(crate) fn at_once(plan: &JobPlan, batches: usize) -> usize {
    (batch_share(plan) / BUFFERS / batches.max(1)).clamp(LEAST_AT_ONCE, AT_ONCE)
}

impl<'a> Reader<'a> {
    /// `columns` are extracted from records; keys are grouped by `shards`.
    pub(crate) fn new(
        plan: &'a JobPlan,
        inputs: &'a [Input],
        columns: &'a [String],
        hasher: HashKey,
        shards: usize,
        watch: &'a Watch,
    ) -> Self {
        let rules = ParseRules::new(plan, hasher, shards);
        let context = rules.context.clone();
        Self {
            plan,
            queue: InputQueue::new(plan, inputs, context, columns, watch),
            rules,
            waiting: Vec::new(),
            spare: Vec::new(),
            numbered: Position::default(),
            numbered_input: 0,
            origins: RecordOrigins::default(),
            events: Vec::new(),
            has_failed: false,
        }
    }

    /// Allows equal rows of a table to come as one.
    pub(crate) fn take_rows_once(&mut self) {
        self.queue.take_rows_once();
    }

    /// Whether the input that is being read is a file. Its next chunk comes soon.
    pub(crate) fn reads_file(&self) -> bool {
        self.queue.reads_file()
    }

    /// Whether the input that is being read is a pipe, which may be slow.
    pub(crate) fn reads_pipe(&self) -> bool {
        self.queue.reads_pipe()
    }

    /// Number of inputs that were read or begun.
    pub(crate) fn reached(&self) -> usize {
        self.queue.reached()
    }

    /// Records read so far.
    pub(crate) fn records(&self) -> u64 {
        self.numbered.in_run
    }

    /// Whether an error of an input ends the run soon.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// What happened since this was last called.
    pub(crate) fn take_events(&mut self) -> Vec<ReadEvent> {
        std::mem::take(&mut self.events)
    }

    /// Ends with `input`.
    pub(crate) fn end_after(&mut self, input: usize) {
        self.queue.end_after(input);
    }

    /// Takes back batches that are written. Those that would fill the memory are freed: they made many
    /// bytes of few, or hold the memory of longer chunks.
    pub(crate) fn reuse(&mut self, batches: &mut Vec<WorkBatch>) {
        let share = batch_share(self.plan) / 2;
        let mut spare: usize = self.spare.iter().map(WorkBatch::memory).sum();
        for mut batch in batches.drain(..) {
            batch.free_chunk();
            let more = batch.memory();
            if spare + more <= share {
                spare += more;
                self.spare.push(batch);
            }
        }
    }

    /// Whether rests of chunks wait to be read.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Frees the batches that nothing is read into any more.
    pub(crate) fn free_batches(&mut self) {
        self.spare = Vec::new();
    }

    /// Bytes of memory of everything that waits to be read or reused.
    pub(crate) fn memory(&self) -> usize {
        let waiting = self.waiting.iter().map(|task| &task.batch);
        self.spare.iter().chain(waiting).map(WorkBatch::memory).sum::<usize>() + self.queue.memory()
    }

    /// The tasks of the next round. None while `is_held`. Waits for a slow stream only if `idle`.
    pub(crate) fn next_tasks(&mut self, idle: bool, is_held: bool) -> Vec<ReadTask> {
        let mut tasks = Vec::new();
        if !is_held {
            tasks.append(&mut self.waiting);
        }
        // Tasks that wait come before new chunks, since their records come first.
        if !tasks.is_empty() {
            return tasks;
        }
        let limits = &self.plan.limits;
        let mut room = limits.workers() * CHUNKS * limits.chunk_size;
        let most = limits.workers() * SMALL_CHUNKS;
        // A short record may become a long URL, by a base before it or a redirect in its place.
        let mut made = batch_share(self.plan) / BUFFERS;
        let mut files = 0;
        let mut is_open = !is_held && !self.has_failed;
        if is_open {
            self.queue.gather(room / 2);
        }
        while is_open && room > 0 && made > 0 && tasks.len() < most && files < FILES {
            match self.queue.next(idle && tasks.is_empty()) {
                QueueItem::Chunk(chunk) => {
                    let is_last = matches!(chunk.source, ChunkSource::Range { last: true, .. });
                    files += usize::from(is_last);
                    room = room.saturating_sub(chunk.source.len());
                    made = made.saturating_sub(self.rules.brought);
                    self.events.push(ReadEvent::Read(chunk.input, chunk.source.read()));
                    tasks.push(self.task(chunk.input, Some(chunk), Unread::All, Ok(())));
                }
                QueueItem::Guessed(input, format, doubts) => {
                    self.events.push(ReadEvent::Guessed(input, format, doubts));
                }
                QueueItem::End(input, end) => self.events.push(ReadEvent::End(input, end)),
                QueueItem::Trouble(input, error) => {
                    // Its turn comes after everything that was read before it.
                    tasks.push(self.task(input, None, Unread::Nothing, Err(error)));
                    is_open = self.plan.input.keep_going;
                }
                QueueItem::Wait | QueueItem::Done => break,
            }
        }
        self.rules.at_once = at_once(self.plan, tasks.len());
        tasks
    }

    fn task(
        &mut self,
        input: usize,
        chunk: Option<QueuedChunk>,
        unread: Unread,
        result: Result<(), InputError>,
    ) -> ReadTask {
        let batch = self.spare.pop().unwrap_or_default();
        ReadTask { batch, input, chunk, unread, result }
    }

    /// The batches of tasks that are done, in order. Numbers their records, and checks that files that are
    /// at their end are still the same.
    pub(crate) fn finish_tasks(&mut self, tasks: Vec<ReadTask>) -> Vec<WorkBatch> {
        let mut batches = Vec::with_capacity(tasks.len());
        // If an input has an error, only the records read before it count.
        let mut broken = None;
        let mut tasks = tasks.into_iter();
        while let Some(ReadTask { mut batch, input, chunk, result, .. }) = tasks.next() {
            if broken == Some(input) || self.has_failed {
                self.spare.push(batch);
                continue;
            }
            if let Err(error) = result {
                self.spare.push(batch);
                broken = Some(input);
                self.fail(input, error);
                continue;
            }
            self.number(&mut batch, input);
            if let Some(cut) = batch.sequence.cut {
                batch.tally.records.skipped += 1;
                self.events.push(ReadEvent::Cut(input, cut.at));
            }
            let rest = batch.take_rest();
            batches.push(batch);
            if let Some((rest, from)) = rest {
                let task = self.task(input, chunk, Unread::Rest(rest, from), Ok(()));
                self.waiting.push(task);
                // The batches after it may be complete, but their records get their numbers only after the
                // rest.
                self.waiting.extend(tasks);
                break;
            }
            if let Some(ChunkSource::Range { file, last: true, .. }) = chunk.map(|c| c.source)
                && let Err(error) = file.verify()
            {
                self.fail(input, error);
            }
        }
        batches
    }

    fn number(&mut self, batch: &mut WorkBatch, input: usize) {
        if self.numbered_input != input {
            self.numbered_input = input;
            self.numbered.in_input = 0;
        }
        batch.sequence.before = self.numbered;
        let records = batch.tally.records.records;
        self.origins.add(self.numbered.in_run, records, input);
        self.numbered.in_input += records;
        self.numbered.in_run += records;
    }

    /// Gives up an input that cannot be read any further, or ends the run once everything read before is
    /// written and counted.
    fn fail(&mut self, input: usize, error: InputError) {
        self.queue.give_up(input);
        if !self.plan.input.keep_going {
            self.queue.end_after(input);
            self.has_failed = true;
        }
        self.events.push(ReadEvent::Failed(input, error));
    }
}
