//! The batches of a run: which chunks are read in a round, and what is counted of them.

use std::io;

use super::report::{MaxRejected, RunError, TooManyRejected};
use super::run::Run;
use super::schedule::{self, Next, Task};
use super::sheet::{Sheet, add_hosts};
use crate::output::Tally;
use uniqurl::bytes::AllocError;
use uniqurl::bytes::alloc::{self};
#[cfg(feature = "tables")]
use uniqurl::set::Counting;
use uniqurl_formats::input::InputState;
use uniqurl_formats::input::{Chunk, InputError, Trouble};

/// Full chunks in a batch, for each thread.
pub(super) const CHUNKS: usize = 5;

/// Chunks in a batch, for each thread, however small they are. The ends of small files make them so.
const SMALL_CHUNKS: usize = 64;

/// Files that end in a batch and are open until it is read. However many threads there are, a process
/// may have 256 open on some systems; and what is not read at once when it is opened is long enough
/// to make a batch of so many.
const FILES: usize = 32;

/// A sheet whose chunk is to be read, and what came of it; or, between such sheets, what is wrong with an
/// input from there on.
pub(super) struct Reading {
    pub(super) sheet: Sheet,
    pub(super) input: usize,
    /// None where there is nothing but a trouble.
    pub(super) task: Option<Task>,
    pub(super) left: Left,
    pub(super) result: Result<(), InputError>,
}

/// What is still to be read of a task.
pub(super) enum Left {
    All,
    /// The records of its chunk from this one on: there were too many for one sheet.
    Rest(Chunk, usize),
    /// Nothing: its sheet only waits for those before it.
    Nothing,
}

impl Reading {
    /// Whether its sheet is read, and waits for those before it.
    pub(super) fn is_read(&self) -> bool {
        self.task.is_some() && matches!(self.left, Left::Nothing)
    }
}

impl Run<'_> {
    /// The chunks to read in the next round.
    pub(super) fn next_batch(&mut self, idle: bool) -> Result<Vec<Reading>, RunError> {
        let mut batch = Vec::new();
        if self.set_change.is_none() {
            // Nothing else comes before what is behind the last sheets.
            batch.append(&mut self.waiting);
        }
        if !batch.is_empty() {
            return Ok(batch);
        }
        let threads = self.setup.threads;
        let mut room = threads * CHUNKS * self.setup.chunk_size;
        let most = threads * SMALL_CHUNKS;
        let mut files = 0;
        let mut is_open = self.set_change.is_none() && self.ending.is_none();
        while is_open && room > 0 && batch.len() < most && files < FILES {
            match self.schedule.next(idle && batch.is_empty()) {
                Next::Task(task) => {
                    let input = task.input;
                    files += usize::from(matches!(
                        task.bytes,
                        schedule::Bytes::Range { last: true, .. }
                    ));
                    room = room.saturating_sub(task.bytes.len());
                    // How many there are shows at its end, which the run may not come to.
                    self.report.files[input].bytes += task.bytes.read();
                    let sheet = self.spare.pop().unwrap_or_default();
                    let (task, left) = (Some(task), Left::All);
                    batch.push(Reading { sheet, input, task, left, result: Ok(()) });
                }
                Next::Guessed(input, format) => {
                    self.report.guessed.push((input, format.name().into_owned()));
                }
                Next::End(input, schedule::End { bytes, padding }) => {
                    self.report.files[input].bytes = bytes;
                    if padding > 0 {
                        self.report.padded.push((input, padding));
                    }
                }
                Next::Trouble(input, error) => {
                    // Its turn comes behind that of what was read before it.
                    let sheet = self.spare.pop().unwrap_or_default();
                    let (task, left) = (None, Left::Nothing);
                    batch.push(Reading { sheet, input, task, left, result: Err(error) });
                    is_open = self.setup.keep_going;
                }
                Next::Wait | Next::Done => break,
            }
        }
        if self.setup.watch.is_stopped() {
            return Err(RunError::Stopped);
        }
        self.show_inputs();
        Ok(batch)
    }

    /// An input that cannot be read on is left as it is, or ends the run once all that was read before is
    /// written and counted.
    fn trouble(&mut self, input: usize, error: InputError) -> Result<(), RunError> {
        if matches!(&error.trouble, Trouble::Io(error) if error.kind() == io::ErrorKind::OutOfMemory)
        {
            // Nothing is wrong with the input.
            return Err(RunError::Memory);
        }
        let file = &mut self.report.files[input];
        file.bytes = error.taken().unwrap_or(file.bytes);
        file.state = error.state();
        self.schedule.give_up(input);
        self.setup.watch.count(|_, inputs| inputs.count(error.state()));
        if self.setup.keep_going {
            self.report.damaged.push((input, error));
        } else {
            self.forget_behind(input);
            self.ending = Some((input, error));
        }
        Ok(())
    }

    /// Takes back what is known of the inputs behind `input`, which the run does not come to: how far ahead
    /// it was depends on the number of threads.
    fn forget_behind(&mut self, input: usize) {
        self.schedule.end_behind(input);
        self.report.guessed.retain(|(of, _)| *of <= input);
        self.report.padded.retain(|(of, _)| *of <= input);
    }

    /// Takes the sheets of a batch that was read, in order: numbers their records and looks whether
    /// files that are at their end are still what they were.
    pub(super) fn take_read(&mut self, batch: Vec<Reading>) -> Result<Vec<Sheet>, RunError> {
        let mut sheets = Vec::with_capacity(batch.len());
        // What was read of an input before its trouble counts, what stands behind does not.
        let mut broken = None;
        let mut batch = batch.into_iter();
        while let Some(Reading { mut sheet, input, task, result, .. }) = batch.next() {
            if broken == Some(input) || self.ending.is_some() {
                self.spare.push(sheet);
                continue;
            }
            if let Err(error) = result {
                self.spare.push(sheet);
                broken = Some(input);
                self.trouble(input, error)?;
                continue;
            }
            if self.before_input != input {
                self.before_input = input;
                self.before.in_input = 0;
            }
            sheet.before = self.before;
            self.origins.begin(self.before.in_run, input);
            self.before.in_input += sheet.tally.records;
            self.before.in_run += sheet.tally.records;
            if let Some(cut) = sheet.cut {
                sheet.tally.skipped += 1;
                self.report.cut.push((input, cut.at));
            }
            let rest = sheet.take_rest();
            sheets.push(sheet);
            if let Some((chunk, from)) = rest {
                let (sheet, left) = (self.spare.pop().unwrap_or_default(), Left::Rest(chunk, from));
                self.waiting.push(Reading { sheet, input, task, left, result: Ok(()) });
                self.waiting.extend(batch);
                break;
            }
            if let Some(schedule::Bytes::Range { file, last: true, .. }) = task.map(|t| t.bytes)
                && let Err(error) = file.verify()
            {
                self.trouble(input, error)?;
            }
        }
        Ok(sheets)
    }

    /// Counts what formatted sheets hold, up to the one with a rejected record too many.
    pub(super) fn account_all(&mut self, sheets: &mut [Sheet]) -> Result<(), RunError> {
        let mut counted = 0;
        let mut checked = Ok(());
        while checked.is_ok() && counted < sheets.len() {
            let sheet = &mut sheets[counted];
            checked = self.account(sheet).map_err(RunError::from);
            checked = checked.and_then(|()| self.check_rejected(sheet));
            counted += 1;
        }
        if let Some(observed) = &mut self.report.observed {
            add_hosts(&sheets[..counted], observed);
        }
        checked
    }

    /// Ends the run at the first rejected record that is one too many.
    fn check_rejected(&mut self, sheet: &Sheet) -> Result<(), RunError> {
        let before = self.rejected;
        self.rejected += sheet.tally.rejected;
        let Some(limit @ MaxRejected::Count(most)) = self.setup.max_rejected else { return Ok(()) };
        if self.rejected <= most {
            return Ok(());
        }
        let first = sheet.place_of_rejected((most - before) as usize);
        let path = self.inputs[sheet.input].path.clone();
        self.stop_at(sheet.input);
        Err(RunError::Rejected(TooManyRejected {
            limit,
            rejected: self.rejected,
            records: self.before.in_run,
            first: first.map(|(record, offset)| (path, record, offset)),
        }))
    }

    /// Ends the reading in an input: what is wrong with it or behind it comes later than that.
    fn stop_at(&mut self, input: usize) {
        self.forget_behind(input);
        self.report.cut.retain(|(of, _)| *of < input);
        for (of, _) in self.report.damaged.extract_if(.., |(of, _)| *of >= input) {
            self.report.files[of].state = InputState::Ok;
        }
    }

    /// Ends a run of which too much was rejected.
    pub(super) fn check_share_of_rejected(&self) -> Result<(), RunError> {
        if let Some(limit @ MaxRejected::Percent(percent)) = self.setup.max_rejected {
            let sum = |count: fn(&Tally) -> u64| {
                self.report.files.iter().map(|file| count(&file.tally)).sum::<u64>()
            };
            let (rejected, records) = (sum(|tally| tally.rejected), sum(|tally| tally.records));
            if rejected as f64 * 100.0 > percent * records as f64 {
                let error = TooManyRejected { limit, rejected, records, first: None };
                return Err(RunError::Rejected(error));
            }
        }
        Ok(())
    }

    /// Shows the accounting with these sheets, which were counted last.
    pub(super) fn show(&self, sheets: &[Sheet]) {
        self.setup.watch.count(|tally, _| {
            sheets.iter().for_each(|sheet| tally.merge(&sheet.tally));
        });
    }

    /// Shows which of the inputs that were begun are counted whole.
    pub(super) fn show_inputs(&self) {
        let reached = self.schedule.reached();
        let whole = if self.is_read { reached } else { self.counted.min(reached) };
        let left = &self.report.files[whole..reached];
        let unfinished = left.iter().filter(|file| file.state == InputState::Ok).count();
        self.setup.watch.count(|_, inputs| {
            let given_up = self.report.damaged.len() + usize::from(self.ending.is_some());
            inputs.ok = (reached - unfinished).saturating_sub(given_up) as u64;
            inputs.unfinished = unfinished as u64;
        });
    }

    /// Counts what a formatted sheet holds.
    fn account(&mut self, sheet: &mut Sheet) -> Result<(), AllocError> {
        if let (Some(observed), Some(more)) = (&mut self.report.observed, &mut sheet.observed) {
            observed.merge(more);
        }
        self.report.files[sheet.input].tally.merge(&sheet.tally);
        self.counted = sheet.input;
        self.report.hostless += sheet.hostless;
        #[cfg(feature = "tables")]
        if self.counting == Counting::On {
            sheet.add_counts(&mut self.shards);
        }
        self.report.listed += sheet.listed;
        self.report.tabbed += sheet.tabbed;
        alloc::try_reserve(&mut self.places, sheet.new.len())?;
        self.places.extend_from_slice(&sheet.new);
        if !sheet.lines_of_new.is_empty() {
            self.lines.add(sheet.new.len(), &sheet.lines_of_new)?;
        }
        for (place, candidate) in sheet.candidates.iter() {
            self.lines.offer(place, candidate)?;
        }
        Ok(())
    }
}
