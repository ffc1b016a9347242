//! The flow of batches from *read* to *write*.
//!
//! Nobody waits for anybody: work is small tasks, and each one makes those that it has made possible.
//!
//! - A task *reads* and parses a chunk, on any thread. Chunks have numbers, and there is room for a few for each thread.
//! - *Collecting*: parsed batches go on in the order of their numbers, which gives their records numbers, and here the
//!   memory is checked. A batch then joins the queues of the lanes that it has keys for; a lane owns some shards of the set.
//! - *Insert*: a lane takes the batches in its queue, in order. The lane that is the last with a batch hands it on.
//! - *Format* makes the output of a batch, on any thread and in any order.
//! - *Write*: formatted batches are counted and written in order. Keepers take what they spill, and the lines kept for the end.
//!   Then their buffers and their room go back to the reader, and with that the next chunk is read.
//!
//! ```text
//!                 by number            by lane              by number
//! read, parse ──▶ [ read ] ─ collect ─▶ [ queues ] ─ insert ─▶ format ──▶ [ formatted ] ─ write ─▶ [ queues ] ─ keep
//!    ▲                                                                                                          │
//!    └────────────────────────────── buffers, and room for another chunk ◀──────────────────────────────────────┘
//! ```
//!
//! Each place where order matters, in brackets above, is a [`Sequencer`]: one task at a time serves it, and whoever
//! adds to it meanwhile goes on. So a task never waits for another, but for a lock that is held for a moment, and for a
//! slow output, whose thread alone it takes. A flow ends when no task is left: all inputs are read, or the next bytes
//! are not there yet, or the set has to change, which needs all of it.
//!
//! Whoever holds the lock of `collected` may take that of `reader`, and never the other way round. `output` is held
//! without both, since writing may take long. The locks of sequencers and lanes come last, and are held for a moment.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::ScopeFifo;

use crate::accounts::Accounts;
use crate::batch::{Insertion, ParseRules, WorkBatch};
use crate::error::RunError;
use crate::plan::JobPlan;
use crate::reader::{Opener, ReadTask, Reader, batch_share};
use crate::sequencer::Sequencer;
use crate::set::{self, FlowSet, Keeper, Lane};
use crate::sink::Sink;
use crate::stages::format::Formatter;
use crate::stages::read::read;
use crate::trace::{Trace, TraceStage};
use crate::watch::Watch;
use crate::window::Window;
use uniqurl_formats::input::Input;

/// What the tasks of a flow share.
pub(crate) struct Flow<'f, 'a> {
    plan: &'a JobPlan,
    inputs: &'a [Input],
    rules: &'f ParseRules<'a>,
    watch: &'a Watch,
    formatter: Formatter<'a>,
    opener: Opener<'a>,
    reader: Mutex<&'f mut Reader<'a>>,
    /// Tasks that are read, until they are collected.
    read: &'f Sequencer<ReadTask>,
    /// What only the one who collects uses.
    collected: Mutex<Collected<'f>>,
    set: FlowSet<'f>,
    formatted: Sequencer<WorkBatch>,
    output: Mutex<Output<'f, 'a>>,
    /// Bytes of memory of the batches on their way.
    on_way: AtomicUsize,
    /// Bytes of memory that do not change while batches are on their way.
    fixed: usize,
    /// Whether no more chunks are read, since the set has to change or a look-up is due.
    is_closed: AtomicBool,
    /// Whether a shard is nearly full.
    is_nearly_full: AtomicBool,
    has_failed: AtomicBool,
    error: Mutex<Option<RunError>>,
}

/// Where collected batches go.
struct Collected<'f> {
    /// The number of the next one.
    next: u64,
    /// Whether the next one goes on whatever memory there is: the set has changed for it already.
    has_changed: bool,
    /// The batches that wait for a look-up, if there are stores to look into, and the bytes that they may take.
    window: Option<(&'f mut Window, usize)>,
}

/// Where formatted batches go.
pub(crate) struct Output<'f, 'a> {
    pub(crate) sink: &'f mut Sink<'a>,
    pub(crate) accounts: &'f mut Accounts<'a>,
}

impl<'f, 'a> Flow<'f, 'a> {
    /// A flow of the chunks of `reader`. Parsed batches gather in a window if there is one, up to so many bytes.
    pub(crate) fn new(
        (plan, inputs, rules): (&'a JobPlan, &'a [Input], &'f ParseRules<'a>),
        (reader, read): (&'f mut Reader<'a>, &'f Sequencer<ReadTask>),
        window: Option<(&'f mut Window, usize)>,
        set: FlowSet<'f>,
        output: Output<'f, 'a>,
    ) -> Self {
        let waiting = window.as_ref().map_or(0, |(window, _)| window.memory());
        let partitions = set::buffers(plan.budget(), plan.limits.workers());
        Self {
            plan,
            inputs,
            rules,
            watch: output.accounts.watch(),
            formatter: output.sink.formatter,
            opener: reader.opener(),
            reader: Mutex::new(reader),
            read,
            collected: Mutex::new(Collected { next: 0, has_changed: read.is_paused(), window }),
            set,
            formatted: Sequencer::default(),
            output: Mutex::new(output),
            on_way: AtomicUsize::new(read.sum(|task| task.batch.sequence.counted)),
            fixed: waiting + partitions + plan.memory_of_rules(),
            is_closed: AtomicBool::new(false),
            is_nearly_full: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
            error: Mutex::new(None),
        }
    }

    /// Works until there is nothing to do. Begins with `first`, if there is a task already, and with the tasks that were
    /// read before.
    pub(crate) fn run(self, first: Option<ReadTask>) -> Result<(), RunError> {
        // First in, first out: what is written next was read first, and only written batches make room. Last in,
        // first out, as rayon has it otherwise, would read new chunks while older batches wait.
        rayon::scope_fifo(|scope| {
            if let Some(task) = first {
                self.spawn_read(scope, task);
            }
            // Tasks that waited for the change of the set have the lowest numbers, so nothing can
            // be collected before them.
            if self.read.go_on() {
                self.collect(scope);
            }
            self.read_more(scope);
        });
        self.error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Takes batches whose keys are looked up to their end. No chunk is read.
    pub(crate) fn run_ready(self, ready: Vec<WorkBatch>) -> Result<(), RunError> {
        self.is_closed.store(true, Ordering::Relaxed);
        rayon::scope_fifo(|scope| {
            for (number, mut batch) in (0..).zip(ready) {
                batch.sequence.number = number;
                self.on_way.fetch_add(batch.sequence.counted, Ordering::Relaxed);
                self.insert(scope, batch);
            }
        });
        self.error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    /// Reads as many chunks as there is room for.
    fn read_more<'s>(&'s self, scope: &ScopeFifo<'s>) {
        loop {
            if self.is_closed.load(Ordering::Relaxed) || self.has_ended() {
                return;
            }
            let mut reader = lock(&self.reader);
            // Batches whose URLs are much longer than their chunks are written before more is read.
            let on_way = self.on_way.load(Ordering::Relaxed);
            if on_way > 0 && on_way > batch_share(self.plan) {
                return;
            }
            // Opening a file takes longer than reading its few lines, so tasks for that start before
            // the next chunk is chosen.
            while let Some(index) = reader.next_to_open() {
                self.spawn_open(scope, index);
            }
            let timer = Trace::begin(self.trace());
            // It never waits: a thread that waited here for a slow pipe would hold up all that need the reader.
            let Some(task) = reader.next_task(false) else { return };
            timer.end(TraceStage::Next, task.number as usize, || 0);
            drop(reader);
            self.spawn_read(scope, task);
        }
    }

    /// Reads a small file before its turn.
    fn spawn_open<'s>(&'s self, scope: &ScopeFifo<'s>, index: usize) {
        scope.spawn_fifo(move |scope| {
            let timer = Trace::begin(self.trace());
            let file = self.opener.read_small(index);
            timer.end(TraceStage::Open, index, || 0);
            lock(&self.reader).put_small(index, file);
            // The turn of this file may have come meanwhile. Then no other task goes on reading.
            self.read_more(scope);
        });
    }

    fn spawn_read<'s>(&'s self, scope: &ScopeFifo<'s>, mut task: ReadTask) {
        scope.spawn_fifo(move |scope| {
            if self.has_ended() {
                return;
            }
            let timer = Trace::begin(self.trace());
            if read(&mut task, self.rules, self.watch).is_err() {
                return self.fail(RunError::Memory);
            }
            timer.end(TraceStage::Read, task.number as usize, || task.size());
            self.count_memory(&mut task.batch);
            if self.read.put(task.number, task) {
                self.collect(scope);
            }
            self.read_more(scope);
        });
    }

    /// Sends parsed batches on, in the order of their numbers.
    fn collect<'s>(&'s self, scope: &ScopeFifo<'s>) {
        while let Some(task) = self.read.take() {
            if self.has_ended() {
                return;
            }
            let timer = Trace::begin(self.trace());
            let number = task.number as usize;
            let mut collected = lock(&self.collected);
            // A window takes batches without the set, and a chunk with an error has no keys.
            let adds_nothing = collected.window.is_some() || task.result.is_err();
            let goes_on = collected.has_changed || adds_nothing || !self.must_change(&task.batch);
            // Once a flow is closed, tasks that come later wait for the next flow too, or
            // they would overtake this one.
            if self.is_closed.load(Ordering::Relaxed) || !goes_on {
                self.is_closed.store(true, Ordering::Relaxed);
                return self.read.pause(task);
            }
            collected.has_changed = false;
            let counted = task.batch.sequence.counted;
            // The block ends the lock. `release` and `read_more` below take it again, and under a lock that is
            // still held the run would stand still.
            let (batch, has_rest) = {
                let mut reader = lock(&self.reader);
                let (batch, has_rest) = reader.finish(task);
                // The next batch of this chunk comes under the same number, before those of all later chunks. This
                // is said before the lock ends: whoever has it next reads the rest, and may put it at once.
                if has_rest {
                    self.read.repeat();
                }
                (batch, has_rest)
            };
            let Some(mut batch) = batch else {
                self.on_way.fetch_sub(counted, Ordering::Relaxed);
                continue;
            };
            match &mut collected.window {
                Some((window, most)) => {
                    // A batch may wait in the window for long, so it gives its room back at once. The window
                    // counts its memory from here on.
                    lock(&self.reader).release(&mut batch.sequence.share);
                    self.on_way.fetch_sub(counted, Ordering::Relaxed);
                    window.add(batch);
                    if window.memory() >= *most {
                        self.is_closed.store(true, Ordering::Relaxed);
                    }
                }
                None => {
                    batch.sequence.number = collected.next;
                    collected.next += 1;
                    self.insert(scope, batch);
                }
            }
            timer.end(TraceStage::Collect, number, || 0);
            if has_rest {
                drop(collected);
                self.read_more(scope);
            }
        }
    }

    /// Whether the set has to change before it takes a batch.
    fn must_change(&self, batch: &WorkBatch) -> bool {
        match self.set.insertion {
            Insertion::Added if self.is_nearly_full.load(Ordering::Relaxed) => return true,
            Insertion::Added => {}
            // Lines of keys in the set are replaced by longer ones.
            Insertion::LookedUp if self.set.has_replaceable_lines() => {}
            // Such a set does not grow.
            Insertion::LookedUp | Insertion::None => return false,
        }
        let Some(memory) = &self.plan.limits.memory else { return false };
        let buffers = self.on_way.load(Ordering::Relaxed) + lock(&self.reader).memory();
        memory.is_exceeded_by(self.set.memory(batch) + buffers + self.fixed)
    }

    /// Hands a batch to the lanes of the set that it has keys for.
    fn insert<'s>(&'s self, scope: &ScopeFifo<'s>, mut batch: WorkBatch) {
        batch.insertion = self.set.insertion;
        // Before any lane has the batch, since a lane takes off what it has inserted.
        self.set.expect(&batch);
        let batch = Arc::new(batch);
        // Each lane holds a handle, and so does this task. No other count of the lanes that
        // still need the batch is kept.
        for lane in self.set.lanes.iter().filter(|lane| lane.is_wanted_by(&batch)) {
            if lane.queue.push(Arc::clone(&batch)) {
                scope.spawn_fifo(move |scope| self.serve(scope, lane));
            }
        }
        // A batch without keys in any lane goes on from here.
        self.hand_on(scope, batch);
    }

    fn serve<'s>(&'s self, scope: &ScopeFifo<'s>, lane: &'s Lane<'_>) {
        loop {
            let batches = lane.queue.take_all();
            if batches.is_empty() || self.has_ended() {
                return;
            }
            let timer = Trace::begin(self.trace());
            // All batches that wait are inserted at once, so that a shard is brought
            // into the cache once for them.
            let waiting: Vec<&WorkBatch> = batches.iter().map(|batch| &**batch).collect();
            match lane.insert(&waiting) {
                Ok(true) => {}
                Ok(false) => self.is_nearly_full.store(true, Ordering::Relaxed),
                Err(full) => return self.fail(RunError::Set(full)),
            }
            timer.end(TraceStage::Insert, lane.first(), || batches.len());
            batches.into_iter().for_each(|batch| self.hand_on(scope, batch));
        }
    }

    /// Has a batch formatted, if this is the last lane that held it.
    fn hand_on<'s>(&'s self, scope: &ScopeFifo<'s>, batch: Arc<WorkBatch>) {
        // Of two tasks that let go at the same time, `into_inner` gives the batch to exactly one. `try_unwrap`
        // could give it to neither.
        let Some(mut batch) = Arc::into_inner(batch) else { return };
        self.set.note_inserted(&batch);
        // In a task of its own, so that the lane goes on with its next batches.
        scope.spawn_fifo(move |scope| {
            if self.has_ended() {
                return;
            }
            let timer = Trace::begin(self.trace());
            let path: &Path = &self.inputs[batch.input].path;
            if let Err(error) = self.formatter.format(&mut batch, path, &self.set.partitioner) {
                return self.fail(error);
            }
            timer.end(TraceStage::Format, batch.sequence.number as usize, || batch.out.lines.len());
            self.count_memory(&mut batch);
            if self.formatted.put(batch.sequence.number, batch) {
                self.write(scope);
            }
        });
    }

    /// Writes formatted batches.
    fn write<'s>(&'s self, scope: &ScopeFifo<'s>) {
        loop {
            let mut batches = self.formatted.take_all();
            if batches.is_empty() || self.has_ended() {
                return;
            }
            let timer = Trace::begin(self.trace());
            if let Err(error) = self.write_all(&mut batches) {
                return self.fail(error);
            }
            timer.end(TraceStage::Write, batches[0].sequence.number as usize, || {
                batches.iter().map(|batch| batch.out.lines.len()).sum()
            });
            for batch in batches {
                if self.set.keepers.is_empty() {
                    self.reuse(batch);
                    continue;
                }
                let batch = Arc::new(batch);
                for keeper in &self.set.keepers {
                    if keeper.queue.push(Arc::clone(&batch)) {
                        scope.spawn_fifo(move |scope| self.keep(scope, keeper));
                    }
                }
                // The keepers hold handles of their own. The last one to let go gives the buffers back.
                self.hand_back(batch);
            }
            // Written batches have made room, and nobody else looks for it.
            self.read_more(scope);
        }
    }

    /// Counts batches, keeps the parts of them that the set needs at the end, and writes them, up to the one with a
    /// rejected record too many.
    fn write_all(&self, batches: &mut [WorkBatch]) -> Result<(), RunError> {
        // Both come before the output is locked: a slow output then holds nobody who needs the reader.
        let (progress, events) = {
            let mut reader = lock(&self.reader);
            (reader.progress(), reader.take_events())
        };
        let Output { sink, accounts } = &mut *lock(&self.output);
        // Events come first, so that an input without the field of a filter ends the run
        // before its records are written.
        events.into_iter().try_for_each(|event| accounts.note(event))?;
        let keep = |batch: &mut WorkBatch| Ok(self.set.keep(batch)?);
        let (within, result) = accounts.count_all(batches, progress.records, keep);
        // What stands before an error is written, so that a pipe gets it however many batches came together.
        let batches = &batches[..within];
        accounts.show(batches);
        accounts.show_inputs(progress.reached, progress.has_failed);
        sink.write(batches).map_err(RunError::Output)?;
        result
    }

    /// Has a keeper take its part of written batches.
    fn keep<'s>(&'s self, scope: &ScopeFifo<'s>, keeper: &'s Keeper<'_>) {
        loop {
            let batches = keeper.queue.take_all();
            if batches.is_empty() || self.has_ended() {
                return;
            }
            let timer = Trace::begin(self.trace());
            let first = batches[0].sequence.number as usize;
            for batch in batches {
                if let Err(error) = keeper.keep(&batch) {
                    return self.fail(error);
                }
                self.hand_back(batch);
            }
            timer.end(TraceStage::Keep, first, || 0);
            self.read_more(scope);
        }
    }

    fn hand_back(&self, batch: Arc<WorkBatch>) {
        if let Some(batch) = Arc::into_inner(batch) {
            self.reuse(batch);
        }
    }

    fn reuse(&self, batch: WorkBatch) {
        self.on_way.fetch_sub(batch.sequence.counted, Ordering::Relaxed);
        lock(&self.reader).reuse(batch);
    }

    /// Counts the memory of a batch whose buffers may have grown.
    fn count_memory(&self, batch: &mut WorkBatch) {
        let memory = batch.memory();
        let before = std::mem::replace(&mut batch.sequence.counted, memory);
        // Atomic numbers wrap, so the sum is right whichever is the larger.
        self.on_way.fetch_add(memory.wrapping_sub(before), Ordering::Relaxed);
    }

    fn trace(&self) -> Option<&Trace> {
        self.watch.trace.as_ref()
    }

    /// Whether the run has failed or was stopped, so that no task goes on.
    fn has_ended(&self) -> bool {
        // A task that sees the flag late does some work for nothing. The error itself is behind a lock.
        if self.has_failed.load(Ordering::Relaxed) {
            return true;
        }
        if !self.watch.is_stopped() {
            return false;
        }
        self.fail(RunError::Stopped);
        true
    }

    /// Ends the flow with an error. The first one counts.
    fn fail(&self, error: RunError) {
        lock(&self.error).get_or_insert(error);
        self.has_failed.store(true, Ordering::Relaxed);
    }
}

/// A task that panicked ends the run, so nobody uses what it left half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
