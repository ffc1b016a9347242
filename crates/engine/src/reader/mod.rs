//! The first stage around the tasks of a run: it chooses the next chunks and collects their batches.
//!
//! Chunks go out as [`ReadTask`]s, which are numbered, to be read in parallel, and come back in the order of their
//! numbers: then their records are numbered too. A few KiB of input may become gigabytes: a base before each target,
//! a page's address before each link, a redirect target in place of each URL. So a batch stops when it has
//! become long, and the rest of its chunk comes before all later chunks.

mod queue;
mod event;
mod origins;

pub(crate) use event::ReadEvent;
pub(crate) use origins::RecordOrigins;
pub(crate) use queue::{ChunkSource, Opener, QueuedChunk, SmallFile};

use std::mem::take;

use crate::batch::{AT_ONCE, ParseRules, Position, Sequence, TaskShare, WorkBatch};
use crate::plan::JobPlan;
use crate::watch::Watch;
use queue::{InputQueue, QueueItem};
use uniqurl_formats::input::{Chunk, Input, InputError};

/// Full chunks on their way, for each thread.
// Eight took up to a tenth more memory where lines grow beyond the budget.
pub(crate) const CHUNKS: usize = 5;

/// Chunks on their way, for each thread, however small they are, such as the ends of small files.
const SMALL_CHUNKS: usize = 64;

/// Files whose last chunk is on its way and which stay open until it is read. Some systems allow a process 256 open
/// files, however many threads there are; and a file that is not read as soon as it is opened is so long that
/// this many are enough work.
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
    pub(crate) number: u64,
    pub(crate) batch: WorkBatch,
    pub(crate) input: usize,
    /// None if there is only an error.
    pub(crate) chunk: Option<QueuedChunk>,
    pub(crate) unread: Unread,
    pub(crate) result: Result<(), InputError>,
    share: TaskShare,
}

impl ReadTask {
    /// Bytes of the chunk.
    pub(crate) fn size(&self) -> usize {
        self.batch.text.chunk.as_ref().map_or(0, Chunk::size)
    }
}

/// The part of a chunk that is not read yet.
pub(crate) enum Unread {
    /// All of it.
    All,
    /// The records from this one on, which an earlier batch could not take.
    Rest(Chunk, usize),
    /// Nothing.
    Nothing,
}

/// Reads the inputs.
pub(crate) struct Reader<'a> {
    plan: &'a JobPlan,
    queue: InputQueue<'a>,
    /// Bytes that the rules bring to each URL.
    brought: usize,
    /// The rest of a chunk, which comes before any other chunk.
    rest: Option<ReadTask>,
    /// The number of the next task.
    next: u64,
    /// Shares of the tasks on their way.
    taken: TaskShare,
    /// Files whose last chunk is not read yet.
    files: usize,
    /// Batches to be reused.
    spare: Vec<WorkBatch>,
    /// Bytes of memory of them.
    spared: usize,
    /// Records that have a number, and the input of the last one.
    numbered: Position,
    numbered_input: usize,
    /// Bytes of the inputs that those were read from.
    bytes: u64,
    /// The input of each record.
    pub(crate) origins: RecordOrigins,
    /// Events that no one has taken yet.
    events: Vec<ReadEvent>,
    /// The input that was given up last.
    broken: Option<usize>,
    /// Whether an error of an input ends the run once everything read before it is written.
    has_failed: bool,
}

/// How far the reader has come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// Number of inputs that were read or begun.
    pub(crate) reached: usize,
    /// Records read so far, and bytes of the inputs that they were read from.
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    /// Whether an error of an input ends the run soon.
    pub(crate) has_failed: bool,
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

/// Bytes of URLs that each batch may make.
pub(crate) fn at_once(plan: &JobPlan) -> usize {
    let batches = plan.limits.workers() * CHUNKS;
    (batch_share(plan) / BUFFERS / batches).clamp(LEAST_AT_ONCE, AT_ONCE)
}

impl<'a> Reader<'a> {
    /// `columns` are extracted from records, by these rules.
    pub(crate) fn new(
        plan: &'a JobPlan,
        inputs: &'a [Input],
        columns: &'a [String],
        rules: &ParseRules<'_>,
        watch: &'a Watch,
    ) -> Self {
        Self {
            plan,
            queue: InputQueue::new(plan, inputs, rules.context.clone(), columns, watch),
            brought: rules.brought,
            rest: None,
            next: 0,
            taken: TaskShare::default(),
            files: 0,
            spare: Vec::new(),
            spared: 0,
            numbered: Position::default(),
            numbered_input: 0,
            bytes: 0,
            origins: RecordOrigins::default(),
            events: Vec::new(),
            broken: None,
            has_failed: false,
        }
    }

    /// Allows equal rows of a table to come as one.
    pub(crate) fn take_rows_once(&mut self) {
        self.queue.take_rows_once();
    }

    /// What tasks need to open inputs.
    pub(crate) fn opener(&self) -> Opener<'a> {
        self.queue.opener()
    }

    /// The next small file that a task is to read before its turn.
    pub(crate) fn next_to_open(&mut self) -> Option<usize> {
        if self.has_failed { None } else { self.queue.next_to_open() }
    }

    /// Takes a small file that was read.
    pub(crate) fn put_small(&mut self, index: usize, file: SmallFile) {
        self.queue.put_small(index, file);
    }

    /// Whether the input that is being read is a file. Its next chunk comes soon.
    pub(crate) fn reads_file(&self) -> bool {
        self.queue.reads_file()
    }

    /// Whether the input that is being read is a pipe, which may be slow.
    pub(crate) fn reads_pipe(&self) -> bool {
        self.queue.reads_pipe()
    }

    /// How far it has come.
    pub(crate) fn progress(&self) -> Progress {
        Progress {
            reached: self.queue.reached(),
            records: self.numbered.in_run,
            bytes: self.bytes,
            has_failed: self.has_failed,
        }
    }

    /// What happened since this was last called.
    pub(crate) fn take_events(&mut self) -> Vec<ReadEvent> {
        take(&mut self.events)
    }

    /// Ends with `input`.
    pub(crate) fn end_after(&mut self, input: usize) {
        self.queue.end_after(input);
    }

    /// Takes back the shares of batches whose chunks make room for others.
    pub(crate) fn release(&mut self, share: &mut TaskShare) {
        let TaskShare { tasks, bytes } = take(share);
        self.taken.tasks -= tasks;
        self.taken.bytes -= bytes;
    }

    /// Takes back a batch that is written. Those that would fill the memory are freed: they made many
    /// bytes of few, or hold the memory of longer chunks.
    pub(crate) fn reuse(&mut self, mut batch: WorkBatch) {
        self.release(&mut batch.sequence.share);
        batch.sequence = Sequence::default();
        batch.free_chunk();
        let more = batch.memory();
        if self.spared + more <= batch_share(self.plan) / 2 {
            self.spared += more;
            self.spare.push(batch);
        }
    }

    /// Frees the batches that nothing is read into any more.
    pub(crate) fn free_batches(&mut self) {
        (self.spare, self.spared) = (Vec::new(), 0);
    }

    /// Bytes of memory of everything that waits to be read or reused.
    pub(crate) fn memory(&self) -> usize {
        let rest = self.rest.as_ref().map_or(0, |task| task.batch.memory());
        self.spared + rest + self.queue.memory()
    }

    /// The next task, if there is room for it: the rest of a chunk, or another chunk. Waits for a slow stream only if
    /// `idle`, that is, nothing is on its way.
    pub(crate) fn next_task(&mut self, idle: bool) -> Option<ReadTask> {
        if let Some(rest) = self.next_rest() {
            return Some(rest);
        }
        while !self.has_failed && self.has_room() {
            match self.queue.next(idle) {
                QueueItem::Chunk(chunk) => {
                    self.files += usize::from(chunk.source.is_last());
                    self.events.push(ReadEvent::Read(chunk.input, chunk.source.read()));
                    return Some(self.task(chunk.input, Some(chunk), Ok(())));
                }
                QueueItem::Guessed(input, format, doubts) => {
                    self.events.push(ReadEvent::Guessed(input, format, doubts));
                }
                QueueItem::End(input, end) => self.events.push(ReadEvent::End(input, end)),
                // Its turn comes after everything that was read before it.
                QueueItem::Trouble(input, error) => {
                    return Some(self.task(input, None, Err(error)));
                }
                QueueItem::Wait | QueueItem::Done => return None,
            }
        }
        None
    }

    /// The rest of a chunk, if one waits to be read.
    pub(crate) fn next_rest(&mut self) -> Option<ReadTask> {
        self.rest.take()
    }

    /// Whether another chunk may be read beside those on their way.
    fn has_room(&self) -> bool {
        let limits = &self.plan.limits;
        let TaskShare { tasks, bytes } = self.taken;
        // A short record may become a long URL, by a base before it or a redirect in its place.
        let made = tasks * self.brought;
        bytes < limits.workers() * CHUNKS * limits.chunk_size
            && tasks < limits.workers() * SMALL_CHUNKS
            // One task goes on however much a base brings to it, or nothing would ever be read.
            && (tasks == 0 || made < batch_share(self.plan) / BUFFERS)
            && self.files < FILES
    }

    fn task(
        &mut self,
        input: usize,
        chunk: Option<QueuedChunk>,
        result: Result<(), InputError>,
    ) -> ReadTask {
        let bytes = chunk.as_ref().map_or(0, |chunk| chunk.source.len());
        let share = TaskShare { tasks: 1, bytes };
        self.taken.tasks += share.tasks;
        self.taken.bytes += share.bytes;
        let unread = if chunk.is_some() { Unread::All } else { Unread::Nothing };
        let number = self.next;
        self.next += 1;
        ReadTask { number, batch: self.empty_batch(), input, chunk, unread, result, share }
    }

    fn empty_batch(&mut self) -> WorkBatch {
        let batch = self.spare.pop().unwrap_or_default();
        self.spared = self.spared.saturating_sub(batch.memory());
        batch
    }

    /// The batch of a task that was read; tasks come in the order of their numbers. Numbers its records, and checks that
    /// a file that is at its end is still the same. The second result says whether the rest of its chunk comes under
    /// the same number.
    pub(crate) fn finish(&mut self, task: ReadTask) -> (Option<WorkBatch>, bool) {
        let ReadTask { number, mut batch, input, chunk, result, mut share, .. } = task;
        let last = match &chunk {
            Some(QueuedChunk { source: ChunkSource::Range { file, last: true, .. }, .. }) => {
                Some(file.clone())
            }
            _ => None,
        };
        // If an input has an error, only the records read before it count.
        let is_dropped = self.broken == Some(input) || self.has_failed;
        if is_dropped || result.is_err() {
            self.files -= usize::from(last.is_some());
            self.release(&mut share);
            self.reuse(batch);
            if let (false, Err(error)) = (is_dropped, result) {
                self.fail(input, error);
            }
            return (None, false);
        }
        self.number(&mut batch, input);
        if let Some(cut) = batch.sequence.cut {
            batch.tally.records.skipped += 1;
            self.events.push(ReadEvent::Cut(input, cut.at));
        }
        if let Some((rest, from)) = batch.take_rest() {
            let unread = Unread::Rest(rest, from);
            let empty = self.empty_batch();
            let task =
                ReadTask { number, batch: empty, input, chunk, unread, result: Ok(()), share };
            self.rest = Some(task);
            return (Some(batch), true);
        }
        batch.sequence.share = share;
        self.bytes += chunk.map_or(0, |chunk| chunk.source.read());
        if let Some(file) = last {
            self.files -= 1;
            // A file that changed meanwhile gave a mixture of old and new bytes. That shows
            // only when all of it is read.
            if let Err(error) = file.verify() {
                self.fail(input, error);
            }
        }
        (Some(batch), false)
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
        // Its tasks that are on their way are dropped when their turn comes.
        self.broken = Some(input);
        self.queue.give_up(input);
        if !self.plan.input.keep_going {
            self.queue.end_after(input);
            self.has_failed = true;
        }
        self.events.push(ReadEvent::Failed(input, error));
    }
}
