//! The parts of a run, and its rounds: in each, every stage works on another batch.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::accounts::Accounts;
use crate::batch::WorkBatch;
use crate::error::RunError;
use crate::plan::JobPlan;
use crate::reader::{CHUNKS, ReadTask, Reader, batch_share};
use crate::report::Report;
use crate::seen;
use crate::set::{self, RunSet, SetBackend};
use crate::sink::{Sink, Sinks};
use crate::stages::format::Formatter;
use crate::stages::insert::insert;
use crate::stages::read;
use crate::trace::{Trace, TraceStage};
use crate::watch::Phase;
use crate::window::Window;
use uniqurl::SetFull;
use uniqurl::internal::HashKey;
use uniqurl_formats::input::Input;

/// The number of chunks of a round that the spawning thread reads itself. After them it formats batches while
/// the other threads insert.
const READ_LAST: usize = CHUNKS + 1;

/// How long the run waits before it looks for more in a pipe again, while a window is not due.
const MOMENT: Duration = Duration::from_millis(1);

/// The parts of a run.
pub(crate) struct Pipeline<'a> {
    reader: Reader<'a>,
    /// Where batches wait to be looked up in stores, if there are any.
    window: Option<Window>,
    set: RunSet<'a>,
    sink: Sink<'a>,
    accounts: Accounts<'a>,
    plan: &'a JobPlan,
    inputs: &'a [Input],
    hasher: HashKey,
}

/// The batches on their way, by the next stage of each.
#[derive(Default)]
struct Batches {
    inserting: Vec<WorkBatch>,
    formatting: Vec<WorkBatch>,
    writing: Vec<WorkBatch>,
}

impl Batches {
    fn is_empty(&self) -> bool {
        self.inserting.is_empty() && self.formatting.is_empty() && self.writing.is_empty()
    }

    /// Bytes of memory of their buffers.
    fn memory(&self) -> usize {
        let all = [&self.inserting, &self.formatting, &self.writing];
        all.into_iter().flatten().map(WorkBatch::memory).sum()
    }
}

impl<'a> Pipeline<'a> {
    pub(crate) fn new<'s: 'a>(
        plan: &'a JobPlan,
        inputs: &'a [Input],
        columns: &'a [String],
        sinks: Sinks<'s>,
        accounts: Accounts<'a>,
        hasher: HashKey,
    ) -> Self {
        let set = RunSet::new(plan, inputs, hasher.clone(), sinks.keys.is_some());
        let mut reader =
            Reader::new(plan, inputs, columns, hasher.clone(), set.shards(), accounts.watch());
        // Equal rows that come as one cannot be rejected one by one.
        if sinks.rejects.is_none() && plan.needs_first_records_only() {
            reader.take_rows_once();
        }
        let formatter = Formatter::new(plan, columns, sinks.rejects.is_some());
        let window = Window::new(plan, None);
        let sink = Sink::new(sinks, formatter);
        Self { reader, window, set, sink, accounts, plan, inputs, hasher }
    }

    /// Reads and writes everything.
    pub(crate) fn work(&mut self) -> Result<(), RunError> {
        let trace = self.accounts.watch().trace.as_ref();
        let timer = Trace::begin(trace);
        self.load_seen()?;
        timer.end(TraceStage::Seen, 0, || 0);
        let mut batches = Batches::default();
        loop {
            let timer = Trace::begin(trace);
            let (idle, is_held) = (batches.is_empty(), self.set.is_move_due());
            // Batches whose URLs are much longer than their chunks are written before more is read.
            let buffers = batches.memory();
            let is_crowded = !idle && buffers > batch_share(self.plan);
            // Batches that are looked up go on before more is read, so that only one window is in memory.
            let is_ready = self.window.as_ref().is_some_and(Window::is_ready);
            let waits = is_held || is_crowded || is_ready;
            let mut tasks = self.next_tasks(false, waits)?;
            // The set is moved once no batch is on its way, since they hold positions in it.
            if idle && is_held {
                self.set.move_out()?;
                continue;
            }
            if tasks.is_empty() && idle {
                tasks = self.fill_window()?;
                batches.inserting = self.take_ready();
            }
            if tasks.is_empty() && batches.is_empty() {
                // There is nothing to do but wait for a slow stream. Meanwhile all output is visible.
                self.sink.flush().map_err(RunError::Output)?;
                tasks = self.next_tasks(true, false)?;
                if tasks.is_empty() {
                    break;
                }
            }
            timer.end(TraceStage::Next, 0, || 0);
            // The budget is checked before the keys of this round are added.
            let timer = Trace::begin(trace);
            let waiting = self.window.as_ref().map_or(0, Window::memory);
            self.adapt_set(&batches.inserting, buffers + waiting)?;
            timer.end(TraceStage::Adapt, 0, || 0);
            let read = self.accounts.bytes();
            Trace::next_round(trace);
            let timer = Trace::begin(trace);
            self.round(&mut tasks, &mut batches)?;
            timer.end(TraceStage::Round, 0, || 0);
            let timer = Trace::begin(trace);
            self.set.note_inserted(read);
            // Written batches give their buffers to the next chunks.
            self.reader.reuse(&mut batches.writing);
            self.count(&mut batches.formatting)?;
            timer.end(TraceStage::Count, 0, || 0);
            let timer = Trace::begin(trace);
            batches.writing = batches.formatting;
            batches.formatting = batches.inserting;
            batches.inserting = self.reader.finish_tasks(tasks);
            self.note_events()?;
            if let Some(window) = &mut self.window {
                window.add(std::mem::take(&mut batches.inserting));
                if window.is_full(&self.set) && !window.is_ready() {
                    self.look_up()?;
                }
                batches.inserting = self.take_ready();
            }
            timer.end(TraceStage::Collect, 0, || 0);
        }
        self.accounts.check_failure()?;
        self.accounts.end_reading(self.reader.reached());
        self.accounts.check_filters()?;
        // A share can be judged only when all records are counted.
        self.accounts.check_share_of_rejected()?;
        // Sorting and partitions need the memory.
        self.reader.free_batches();
        self.accounts.watch().enter(Phase::Sorting);
        let timer = Trace::begin(trace);
        self.set.finish(&mut self.sink, &mut self.accounts, &self.reader.origins)?;
        timer.end(TraceStage::Settle, 0, || 0);
        Ok(())
    }

    /// The tasks of the next round. None while `is_held`. Waits for a slow stream only if `idle`.
    fn next_tasks(&mut self, idle: bool, is_held: bool) -> Result<Vec<ReadTask>, RunError> {
        let tasks = self.reader.next_tasks(idle, is_held);
        self.note_events()?;
        if self.accounts.watch().is_stopped() {
            return Err(RunError::Stopped);
        }
        self.accounts.show_inputs(self.reader.reached(), self.reader.has_failed());
        Ok(tasks)
    }

    /// Notes what the reader tells about inputs.
    fn note_events(&mut self) -> Result<(), RunError> {
        let events = self.reader.take_events();
        events.into_iter().try_for_each(|event| self.accounts.note(event))
    }

    /// Looks up the batches of a window, since there is nothing to read without waiting. A window that is not full
    /// waits for a file, which comes soon, and for a pipe until its look-up is due. If something comes, the result
    /// is the tasks that read it.
    fn fill_window(&mut self) -> Result<Vec<ReadTask>, RunError> {
        if !self.window.as_ref().is_some_and(Window::is_waiting) {
            return Ok(Vec::new());
        }
        if self.reader.reads_file() {
            let tasks = self.next_tasks(true, false)?;
            if !tasks.is_empty() {
                return Ok(tasks);
            }
        }
        while self.reader.reads_pipe() && !self.window.as_ref().is_none_or(Window::is_due) {
            let tasks = self.next_tasks(false, false)?;
            if !tasks.is_empty() {
                return Ok(tasks);
            }
            std::thread::sleep(MOMENT);
        }
        self.look_up().map(|()| Vec::new())
    }

    /// Looks up the batches of the window.
    fn look_up(&mut self) -> Result<(), RunError> {
        let Some(window) = &mut self.window else { return Ok(()) };
        let timer = Trace::begin(self.accounts.watch().trace.as_ref());
        window.look_up(&self.set)?;
        timer.end(TraceStage::Seen, 0, || 0);
        Ok(())
    }

    /// The batches that leave the window for the next round. None while the set has to change.
    fn take_ready(&mut self) -> Vec<WorkBatch> {
        match &mut self.window {
            Some(window) if !self.set.is_move_due() => window.take_ready(),
            _ => Vec::new(),
        }
    }

    /// The report of a run, whatever its end.
    pub(crate) fn finish(mut self) -> Report {
        if let Some(spilled) = self.set.spilled() {
            // It ended before that was deduplicated.
            self.accounts.report().spilled = spilled;
        }
        self.accounts.finish(self.reader.reached())
    }

    /// Counts formatted batches, and keeps the parts of them that the set needs at the end.
    fn count(&mut self, batches: &mut [WorkBatch]) -> Result<(), RunError> {
        let records = self.reader.records();
        let counted = self.accounts.count_all(batches, records, |batch| self.set.keep(batch));
        if let Err(RunError::Rejected(_)) = &counted {
            // Nothing is read after the input with the rejected record too many.
            self.reader.end_after(self.accounts.counted());
        }
        counted?;
        self.accounts.show(batches);
        Ok(())
    }

    /// Has the set spill if the run would exceed its budget, and decides about other changes. The batches on
    /// their way take `buffers` bytes, which are counted once in a round, since that looks at every batch.
    fn adapt_set(&mut self, inserting: &[WorkBatch], buffers: usize) -> Result<(), RunError> {
        if let (SetBackend::Memory(_), Some(memory)) = (&self.set.backend, &self.plan.limits.memory)
            && memory.is_exceeded_by(held(&self.reader, &self.set, self.plan, buffers, inserting))
        {
            self.set.begin_to_spill()?;
        }
        let (reader, plan) = (&self.reader, self.plan);
        // Only rarely needed, since it goes through all batches.
        self.set.plan_change(|set| held(reader, set, plan, buffers, &[]))
    }

    /// Reads the lists from before the run. Those that do not fit into memory become a store.
    fn load_seen(&mut self) -> Result<(), RunError> {
        let (plan, set) = (self.plan, &mut self.set);
        if plan.input.seen.is_empty() || set.shards() == 0 {
            return Ok(());
        }
        let seen = seen::load(plan, &self.hasher, set.shards())?;
        self.accounts.report().rejected_seen = seen.rejected;
        set.set_seen(seen.shards);
        self.window = Window::new(plan, seen.store);
        Ok(())
    }

    /// Takes each batch through its next stage, on all threads.
    fn round(&mut self, tasks: &mut [ReadTask], batches: &mut Batches) -> Result<(), RunError> {
        let Batches { inserting, formatting, writing } = batches;
        let writing = &**writing;
        let insertion = self.set.insertion();
        inserting.iter_mut().for_each(|batch| batch.insertion = insertion);
        let (is_full, out_of_memory) = (AtomicBool::new(false), AtomicBool::new(false));
        // Tasks of a scope return nothing, so results come back through mutexes that are locked once.
        let (written, spilled) = (Mutex::new(Ok(())), Mutex::new(Ok(())));
        let formatted = Mutex::new(Ok(()));
        {
            let Self { reader, set, sink, accounts, inputs, .. } = self;
            let (rules, watch, inputs) = (&reader.rules, accounts.watch(), *inputs);
            let trace = watch.trace.as_ref();
            let formatter = sink.formatter;
            let partitioner = &set.partitioner();
            let (written, spilled, formatted) = (&written, &spilled, &formatted);
            let out_of_memory = &out_of_memory;
            let is_full = &is_full;
            let cut = tasks.len().saturating_sub(READ_LAST);
            // The thread that spawns begins with the last task, the others with the first: in the
            // middle are the small ones, so that all threads end at about the same time.
            rayon::scope(|scope| {
                let timer = Trace::begin(trace);
                let (first, last) = tasks.split_at_mut(cut);
                let backend = &mut set.backend;
                let shards = match backend {
                    SetBackend::None => None,
                    SetBackend::Memory(set) => Some(set),
                    SetBackend::Spilling(set, spiller) => {
                        spiller.spawn_writes(scope, writing, spilled, trace);
                        Some(set)
                    }
                };
                scope.spawn(move |_| {
                    let timer = Trace::begin(trace);
                    // One task writes all batches, which keeps the order of the input.
                    let result = sink.write(writing);
                    timer.end(TraceStage::Write, 0, || {
                        writing.iter().map(|batch| batch.out.lines.len()).sum()
                    });
                    *written.lock().unwrap_or_else(|e| e.into_inner()) = result;
                });
                read::spawn(scope, first, rules, watch, out_of_memory);
                if let Some(set) = shards {
                    insert(scope, set.target(), inserting, is_full, trace);
                }
                for (number, batch) in formatting.iter_mut().enumerate() {
                    scope.spawn(move |_| {
                        let timer = Trace::begin(trace);
                        let path = &inputs[batch.input].path;
                        let result = formatter.format(batch, path, partitioner);
                        if result.is_err() {
                            *formatted.lock().unwrap_or_else(|e| e.into_inner()) = result;
                        }
                        timer.end(TraceStage::Format, number, || batch.out.lines.len());
                    });
                }
                read::spawn(scope, last, rules, watch, out_of_memory);
                timer.end(TraceStage::Spawn, 0, || 0);
            });
        }
        written.into_inner().unwrap_or_else(|e| e.into_inner()).map_err(RunError::Output)?;
        spilled.into_inner().unwrap_or_else(|e| e.into_inner())?;
        formatted.into_inner().unwrap_or_else(|e| e.into_inner())?;
        if out_of_memory.into_inner() {
            return Err(RunError::Memory);
        }
        if is_full.into_inner() {
            return Err(SetFull::default().into());
        }
        Ok(())
    }
}

/// Bytes that the run holds, `buffers` of batches on their way and those that the set needs to take the batches
/// of `inserting` included.
fn held(
    reader: &Reader<'_>,
    set: &RunSet<'_>,
    plan: &JobPlan,
    buffers: usize,
    inserting: &[WorkBatch],
) -> usize {
    let partitions = set::buffers(plan.budget(), plan.limits.workers());
    let rules = plan.normalizer.memory();
    set.memory(inserting) + buffers + reader.memory() + partitions + rules
}
