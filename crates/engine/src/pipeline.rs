//! The parts of a run, and what happens between its flows: waiting, look-ups, and changes of the set.

use std::time::Duration;

use crate::accounts::Accounts;
use crate::batch::{ParseRules, WorkBatch};
use crate::error::RunError;
use crate::flow::{Flow, Output};
use crate::plan::JobPlan;
use crate::reader::{Progress, ReadTask, Reader, at_once};
use crate::report::Report;
use crate::seen;
use crate::sequencer::Sequencer;
use crate::set::{self, RunSet};
use crate::sink::{Sink, Sinks};
use crate::stages::format::Formatter;
use crate::trace::{Trace, TraceStage};
use crate::watch::Phase;
use crate::window::Window;
use uniqurl::internal::HashKey;
use uniqurl_formats::input::Input;

/// How long the run waits before it looks for more in a pipe again, while a window is not due.
const MOMENT: Duration = Duration::from_millis(1);

/// The parts of a run.
pub(crate) struct Pipeline<'a> {
    rules: ParseRules<'a>,
    reader: Reader<'a>,
    /// Tasks that were read while the set had to change.
    read: Sequencer<ReadTask>,
    /// Where batches wait to be looked up in stores, if there are any.
    window: Option<Window>,
    set: RunSet<'a>,
    sink: Sink<'a>,
    accounts: Accounts<'a>,
    plan: &'a JobPlan,
    inputs: &'a [Input],
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
        let mut rules = ParseRules::new(plan, hasher, set.shards());
        rules.at_once = at_once(plan);
        let mut reader = Reader::new(plan, inputs, columns, &rules, accounts.watch());
        // Equal rows that come as one cannot be rejected one by one.
        if sinks.rejects.is_none() && plan.needs_first_records_only() {
            reader.take_rows_once();
        }
        let formatter = Formatter::new(plan, columns, sinks.rejects.is_some());
        let window = Window::new(plan, None);
        let sink = Sink::new(sinks, formatter);
        let read = Sequencer::default();
        Self { rules, reader, read, window, set, sink, accounts, plan, inputs }
    }

    /// Reads and writes everything.
    pub(crate) fn work(&mut self) -> Result<(), RunError> {
        // Lists from before the run come first, since the first batch is looked up in them already.
        self.load_seen()?;
        let mut first = self.next_task(true)?;
        loop {
            self.flow(first.take())?;
            // Nothing is on its way now.
            // With a window, the tasks wait for its look-up, after which the set changes if it must.
            if self.window.is_none() && self.read.is_paused() {
                self.change()?;
                continue;
            }
            first = self.fill_window()?;
            if first.is_some() || self.look_up()? {
                continue;
            }
            // There is nothing to do but wait for a slow stream. Meanwhile all output is visible.
            self.sink.flush().map_err(RunError::Output)?;
            first = self.next_task(true)?;
            if first.is_none() {
                break;
            }
        }
        // A failed input ends the run only here, when everything before it is written, so the output does not
        // depend on how far ahead the run had read.
        self.accounts.check_failure()?;
        let reached = self.reader.progress().reached;
        self.accounts.end_reading(reached);
        // That none of several inputs has the field is known only now. The set is not written yet.
        self.accounts.check_filters()?;
        // A share can be judged only when all records are counted.
        self.accounts.check_share_of_rejected()?;
        // Sorting and partitions need the memory.
        self.reader.free_batches();
        let watch = self.accounts.watch();
        watch.enter(Phase::Sorting);
        let timer = Trace::begin(watch.trace.as_ref());
        self.set.finish(&mut self.sink, &mut self.accounts, &self.reader.origins)?;
        timer.end(TraceStage::Settle, 0, || 0);
        Ok(())
    }

    /// Takes chunks through all stages until nothing is on its way.
    fn flow(&mut self, first: Option<ReadTask>) -> Result<(), RunError> {
        let ended = self.shared().run(first);
        self.end_flow(ended)
    }

    /// The parts that the tasks of a flow share.
    fn shared(&mut self) -> Flow<'_, 'a> {
        // Taken apart, since a flow borrows each part by itself.
        let Self { rules, reader, read, window, set, sink, accounts, plan, inputs } = self;
        let window = window.as_mut().map(|window| {
            let most = window.most_beside(set);
            (window, most)
        });
        let output = Output { sink, accounts };
        Flow::new((*plan, *inputs, rules), (reader, read), window, set.share(), output)
    }

    fn end_flow(&mut self, ended: Result<(), RunError>) -> Result<(), RunError> {
        if let Err(RunError::Rejected(_)) = &ended {
            // Nothing is read after the input with the rejected record too many.
            self.reader.end_after(self.accounts.counted());
        }
        ended?;
        self.note_events()
    }

    /// The next task. Waits for a slow stream only if `idle`.
    fn next_task(&mut self, idle: bool) -> Result<Option<ReadTask>, RunError> {
        let task = self.reader.next_task(idle);
        self.note_events()?;
        let Progress { reached, has_failed, .. } = self.reader.progress();
        self.accounts.show_inputs(reached, has_failed);
        if self.accounts.watch().is_stopped() {
            return Err(RunError::Stopped);
        }
        Ok(task)
    }

    /// Notes what the reader tells about inputs.
    fn note_events(&mut self) -> Result<(), RunError> {
        let events = self.reader.take_events();
        events.into_iter().try_for_each(|event| self.accounts.note(event))
    }

    /// The next task while a window gathers batches, since there is nothing to read without waiting. A window that is
    /// not full waits for a file, which comes soon, and for a pipe until its look-up is due.
    fn fill_window(&mut self) -> Result<Option<ReadTask>, RunError> {
        let gathers = |window: &Window| {
            window.is_waiting() && window.memory() < window.most_beside(&self.set)
        };
        if !self.window.as_ref().is_some_and(gathers) {
            return Ok(None);
        }
        if self.reader.reads_file()
            && let Some(task) = self.next_task(true)?
        {
            return Ok(Some(task));
        }
        while self.reader.reads_pipe() && !self.window.as_ref().is_none_or(Window::is_due) {
            if let Some(task) = self.next_task(false)? {
                return Ok(Some(task));
            }
            std::thread::sleep(MOMENT);
        }
        Ok(None)
    }

    /// Looks up the batches of the window, and takes them to their end before more is read, so that only one window is in
    /// memory. Returns whether there were any.
    fn look_up(&mut self) -> Result<bool, RunError> {
        let Some(window) = self.window.as_mut().filter(|window| window.is_waiting()) else {
            return Ok(false);
        };
        window.look_up(&self.set)?;
        while let Some(ready) = self.window.as_mut().map(Window::take_ready)
            && !ready.is_empty()
        {
            let buffers: usize = ready.iter().map(WorkBatch::memory).sum();
            // Asked before each part of the window, since the part before it has added keys.
            if self.set.is_nearly_full() || self.is_over_budget(&ready, buffers + self.waiting()) {
                self.change_set()?;
            }
            let ended = self.shared().run_ready(ready);
            self.end_flow(ended)?;
        }
        Ok(true)
    }

    /// Has the set change if the run would still exceed its budget with the batch that waits for it.
    fn change(&mut self) -> Result<(), RunError> {
        let buffers = self.waiting();
        // The flow stopped for an estimate with all batches on their way. These are written now, and
        // without them the batch may fit.
        let is_over =
            |task: &ReadTask| self.is_over_budget(std::slice::from_ref(&task.batch), buffers);
        if self.set.is_nearly_full() || self.read.first(is_over) == Some(true) {
            self.change_set()?;
        }
        Ok(())
    }

    fn change_set(&mut self) -> Result<(), RunError> {
        self.set.change(self.reader.progress().bytes)
    }

    /// Bytes of memory of the tasks that were read while the set had to change.
    fn waiting(&self) -> usize {
        self.read.sum(|task| task.batch.memory())
    }

    /// Whether the run would exceed its budget with these batches in the set. The buffers of batches take so many bytes.
    fn is_over_budget(&self, batches: &[WorkBatch], buffers: usize) -> bool {
        let Some(memory) = self.plan.limits.memory.as_ref().filter(|_| self.set.can_change())
        else {
            return false;
        };
        let window = self.window.as_ref().map_or(0, Window::memory);
        let partitions = set::buffers(self.plan.budget(), self.plan.limits.workers());
        let rest = self.reader.memory() + partitions + self.plan.memory_of_rules();
        memory.is_exceeded_by(self.set.memory(batches) + buffers + window + rest)
    }

    /// The report of a run, whatever its end.
    pub(crate) fn finish(mut self) -> Report {
        if let Some(spilled) = self.set.spilled() {
            // It ended before that was deduplicated.
            self.accounts.report().spilled = spilled;
        }
        self.accounts.finish(self.reader.progress().reached)
    }

    /// Reads the lists from before the run. Those that do not fit into memory become a store.
    fn load_seen(&mut self) -> Result<(), RunError> {
        let (plan, set) = (self.plan, &mut self.set);
        // Without a set, nothing is looked up.
        if plan.input.seen.is_empty() || set.shards() == 0 {
            return Ok(());
        }
        let seen = seen::load(plan, &self.rules.hasher, set.shards())?;
        self.accounts.report().rejected_seen = seen.rejected;
        set.set_seen(seen.shards);
        self.window = Window::new(plan, seen.store);
        Ok(())
    }
}
