//! The accounts of a run: the counts of each input, shown during the run and reported at its end.

use std::io;
use std::sync::Arc;

use crate::batch::WorkBatch;
use crate::error::{IdleFilter, RunError, TooManyRejected};
use crate::job::{InputFormat, MaxRejected};
use crate::output::{FileStats, Inputs, Tally};
use crate::plan::JobPlan;
use crate::reader::{ReadEvent, RecordOrigins};
use crate::report::Report;
use crate::watch::Watch;
use uniqurl_formats::input::{Input, InputError, InputState, Trouble};
use uniqurl_formats::record::{Doubts, Format};

/// Most bytes of a rejected record that are kept for a hint.
const EXCERPT: usize = 16 << 10;

/// Counts the records of a run by their outcome.
pub(crate) struct Accounts<'a> {
    plan: &'a JobPlan,
    inputs: &'a [Input],
    watch: &'a Watch,
    report: Report,
    /// The input whose records were counted last. Those before it are counted completely.
    counted: usize,
    /// The fields that a filter asks for and no input so far has; None before the first input.
    lacking: Option<Vec<&'static str>>,
    /// Whether all inputs are read to their ends and counted.
    is_read: bool,
    /// Rejected records so far.
    rejected: u64,
    /// The error of an input that ends the run, and the input.
    failure: Option<(usize, InputError)>,
}

impl<'a> Accounts<'a> {
    pub(crate) fn new(plan: &'a JobPlan, inputs: &'a [Input], watch: &'a Watch) -> Self {
        let files =
            inputs.iter().map(|input| FileStats::unread(input.path.clone(), InputState::Ok));
        let report = Report { files: files.collect(), ..Report::default() };
        Self {
            plan,
            inputs,
            watch,
            report,
            counted: 0,
            lacking: None,
            is_read: false,
            rejected: 0,
            failure: None,
        }
    }

    pub(crate) fn watch(&self) -> &'a Watch {
        self.watch
    }

    pub(crate) fn report(&mut self) -> &mut Report {
        &mut self.report
    }

    /// The counts of all inputs.
    pub(crate) fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.report.files.iter().for_each(|file| total.merge(&file.tally));
        total
    }

    /// Notes what the reader tells about an input.
    pub(crate) fn note(&mut self, event: ReadEvent) -> Result<(), RunError> {
        match event {
            ReadEvent::Read(input, bytes) => self.report.files[input].bytes += bytes,
            ReadEvent::Guessed(input, format, doubts) => {
                self.note_guess(input, &format, doubts);
                // What the only input lacks is known before anything of it is read.
                if self.inputs.len() == 1 {
                    self.check_filters()?;
                }
            }
            ReadEvent::End(input, end) => {
                self.report.files[input].bytes = end.bytes;
                if end.padding > 0 {
                    self.report.padded.push((input, end.padding));
                }
            }
            ReadEvent::Cut(input, at) => self.report.cut.push((input, at)),
            ReadEvent::Failed(input, error) => self.note_failure(input, error)?,
        }
        Ok(())
    }

    /// Notes how far an input could be read, and why no further.
    fn note_failure(&mut self, input: usize, error: InputError) -> Result<(), RunError> {
        if matches!(&error.trouble, Trouble::Io(error) if error.kind() == io::ErrorKind::OutOfMemory)
        {
            // Nothing is wrong with the input.
            return Err(RunError::Memory);
        }
        let file = &mut self.report.files[input];
        file.bytes = error.taken().unwrap_or(file.bytes);
        file.state = error.state();
        self.watch.count(|_, inputs| inputs.count(error.state()));
        if self.plan.input.keep_going {
            self.report.damaged.push((input, error));
        } else {
            self.forget_after(input);
            self.failure = Some((input, error));
        }
        Ok(())
    }

    /// Fails if an input could not be read, which ends the run once everything before it is written.
    pub(crate) fn check_failure(&mut self) -> Result<(), RunError> {
        match self.failure.take() {
            Some((input, error)) => {
                // All batches before the failed input are counted by now, so `finish` calls none
                // of those inputs unfinished.
                self.counted = input;
                Err(RunError::Input(error))
            }
            None => Ok(()),
        }
    }

    fn note_guess(&mut self, input: usize, format: &Format, doubts: Doubts) {
        let Doubts { dropped_host, suggestion } = doubts;
        let name = format.name();
        // Most inputs have the format of the one before, and share its name.
        let name = match self.report.guessed.last() {
            Some((_, last)) if **last == *name => Arc::clone(last),
            _ => name.into(),
        };
        self.report.guessed.push((input, name));
        self.report.delimiters.extend(format.delimiter().map(|delimiter| (input, delimiter)));
        self.report.dropped_hosts.extend(dropped_host.map(|field| (input, field)));
        self.report.suggestions.extend(suggestion.map(|suggestion| (input, suggestion)));
        if let InputFormat::Auto = self.plan.input.format {
            let lacked: Vec<_> = self.plan.lacked_by(format).collect();
            match &mut self.lacking {
                Some(lacking) => lacking.retain(|field| lacked.contains(field)),
                None => self.lacking = Some(lacked),
            }
        }
    }

    /// Fails if no input has a field that a filter asks for.
    pub(crate) fn check_filters(&self) -> Result<(), RunError> {
        match self.lacking.iter().flatten().next() {
            Some(field) => {
                let mut formats = self.report.guessed.iter().map(|(_, format)| format);
                let first = formats.next().map_or("", |format| &**format);
                let format = formats.all(|format| **format == *first).then(|| first.to_owned());
                Err(RunError::Idle(IdleFilter { field, format }))
            }
            None => Ok(()),
        }
    }

    /// Drops the notes on inputs after `input`, which the run does not reach: how far ahead of it the
    /// run had read depends on the number of threads.
    fn forget_after(&mut self, input: usize) {
        self.report.guessed.retain(|(of, _)| *of <= input);
        self.report.delimiters.retain(|(of, _)| *of <= input);
        self.report.dropped_hosts.retain(|(of, _)| *of <= input);
        self.report.suggestions.retain(|(of, _)| *of <= input);
        self.report.padded.retain(|(of, _)| *of <= input);
    }

    /// Counts formatted batches, up to the one with a rejected record too many, and returns how many stand before
    /// that. `keep` takes from each batch the data that the set needs at the end; `records` are read so far.
    pub(crate) fn count_all(
        &mut self,
        batches: &mut [WorkBatch],
        records: u64,
        mut keep: impl FnMut(&mut WorkBatch) -> Result<(), RunError>,
    ) -> (usize, Result<(), RunError>) {
        // One batch at a time, so that the counts do not depend on how many batches come together.
        for (i, batch) in batches.iter_mut().enumerate() {
            self.count(batch);
            let result = keep(batch).and_then(|()| self.check_rejected(batch, records));
            if result.is_err() {
                return (i, result);
            }
        }
        (batches.len(), Ok(()))
    }

    fn count(&mut self, batch: &WorkBatch) {
        self.report.files[batch.input].tally.merge(&batch.tally.records);
        self.counted = batch.input;
        if self.report.first_rejected.is_none() {
            self.report.first_rejected = batch.first_rejected(EXCERPT);
        }
        self.report.hostless += batch.tally.hostless;
        self.report.listed += batch.tally.listed;
        self.report.tabbed += batch.tally.tabbed;
        self.report.labelled += batch.tally.labelled;
        let in_lists = &batch.tally.in_lists;
        self.report.in_lists.resize(in_lists.len().max(self.report.in_lists.len()), 0);
        self.report.in_lists.iter_mut().zip(in_lists).for_each(|(sum, more)| *sum += more);
    }

    /// Ends the run at the first rejected record too many.
    fn check_rejected(&mut self, batch: &WorkBatch, records: u64) -> Result<(), RunError> {
        let before = self.rejected;
        self.rejected += batch.tally.records.rejected;
        let Some(limit @ MaxRejected::Count(most)) = self.plan.policy.max_rejected else {
            return Ok(());
        };
        if self.rejected <= most {
            return Ok(());
        }
        // Earlier batches had `before` rejected records, so this one is the first over the limit.
        let first = batch.position_of_rejected((most - before) as usize);
        let path = self.inputs[batch.input].path.clone();
        self.stop_at(batch.input);
        Err(RunError::Rejected(TooManyRejected {
            limit,
            rejected: self.rejected,
            records,
            first: first.map(|(record, offset)| (path, record, offset)),
        }))
    }

    /// Takes back errors of this and later inputs, which come after the end of the run.
    fn stop_at(&mut self, input: usize) {
        self.forget_after(input);
        self.report.cut.retain(|(of, _)| *of < input);
        for (of, _) in self.report.damaged.extract_if(.., |(of, _)| *of >= input) {
            self.report.files[of].state = InputState::Ok;
        }
    }

    /// The input whose records were counted last.
    pub(crate) fn counted(&self) -> usize {
        self.counted
    }

    /// Fails if a share of rejected records is too large.
    pub(crate) fn check_share_of_rejected(&self) -> Result<(), RunError> {
        if let Some(limit @ MaxRejected::Percent(percent)) = self.plan.policy.max_rejected {
            let Tally { rejected, records, .. } = self.total();
            if rejected as f64 * 100.0 > percent * records as f64 {
                let error = TooManyRejected { limit, rejected, records, first: None };
                return Err(RunError::Rejected(error));
            }
        }
        Ok(())
    }

    /// Shows the counts of these batches, which were counted last.
    pub(crate) fn show(&self, batches: &[WorkBatch]) {
        self.watch.count(|tally, _| {
            batches.iter().for_each(|batch| tally.merge(&batch.tally.records));
        });
    }

    /// Shows which of the inputs that were begun are counted completely.
    pub(crate) fn show_inputs(&self, reached: usize, has_failed: bool) {
        let whole = if self.is_read { reached } else { self.counted.min(reached) };
        let left = &self.report.files[whole..reached];
        let unfinished = left.iter().filter(|file| file.state == InputState::Ok).count();
        self.watch.count(|_, inputs| {
            let given_up = self.report.damaged.len() + usize::from(has_failed);
            inputs.ok = (reached - unfinished).saturating_sub(given_up) as u64;
            inputs.unfinished = unfinished as u64;
        });
    }

    /// Notes that all inputs are read and counted.
    pub(crate) fn end_reading(&mut self, reached: usize) {
        self.is_read = true;
        self.show_inputs(reached, false);
    }

    /// Counts the undecided records of spilled URLs as unique or as duplicates.
    pub(crate) fn settle_spilled(&mut self, origins: &RecordOrigins) {
        for (input, unique) in origins.unique() {
            let tally = &mut self.report.files[input].tally;
            tally.unique += unique;
            tally.duplicates += tally.undecided - unique;
            tally.undecided = 0;
        }
    }

    /// Counts so many first records of keys as duplicates, by input, since their keys became equal to others.
    pub(crate) fn settle_joined(&mut self, joined: &[(usize, u64)]) {
        for (input, count) in joined {
            let tally = &mut self.report.files[*input].tally;
            tally.unique -= count;
            tally.duplicates += count;
        }
    }

    /// The report of a run that reached the first `reached` inputs.
    pub(crate) fn finish(mut self, reached: usize) -> Report {
        let files = &mut self.report.files;
        if !self.is_read {
            // These inputs were begun, but not all of their records were counted.
            let left = &mut files[self.counted..reached.max(self.counted)];
            left.iter_mut().filter(|file| file.state == InputState::Ok).for_each(|file| {
                file.state = InputState::Unfinished;
            });
        }
        // Inputs that the run never opened are not reported.
        files.truncate(reached);
        self.report.tally = self.total();
        let mut report = self.report;
        report.bytes = report.files.iter().map(|file| file.bytes).sum();
        self.watch.count(|tally, inputs| {
            *tally = report.tally.clone();
            let found: Inputs = report.files.iter().map(|file| file.state).collect();
            (inputs.ok, inputs.unfinished) = (found.ok, found.unfinished);
        });
        report
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::job::Job;
    use uniqurl::{Normalizer, Profile};
    use uniqurl_formats::input::Source;

    fn inputs(count: usize) -> Vec<Input> {
        let input =
            |n: usize| Input { path: n.to_string().into(), source: Source::Stream, copy: None };
        (0..count).map(input).collect()
    }

    fn plan(max_rejected: Option<MaxRejected>) -> JobPlan {
        let normalizer = Normalizer::new(Profile::Crawl);
        let mut plan = JobPlan::new(normalizer, Job::Dedup(Default::default()));
        plan.policy.max_rejected = max_rejected;
        plan
    }

    fn batch(input: usize, records: u64, rejected: u64) -> WorkBatch {
        let mut batch = WorkBatch::default();
        batch.input = input;
        let tally = &mut batch.tally.records;
        (tally.records, tally.rejected) = (records, rejected);
        tally.unique = records - rejected;
        tally.canonical = tally.unique;
        batch
    }

    #[test]
    fn batches_are_counted_for_their_inputs() {
        let (plan, inputs, watch) = (plan(None), inputs(3), Watch::default());
        let mut accounts = Accounts::new(&plan, &inputs, &watch);
        let mut batches = [batch(0, 5, 1), batch(1, 3, 0), batch(1, 2, 2)];
        accounts.count_all(&mut batches, 10, |_| Ok(())).1.unwrap();
        accounts.show(&batches);
        assert_eq!(watch.counted().0.records, 10);
        let report = accounts.finish(2);
        let counts: Vec<_> =
            report.files.iter().map(|file| (file.tally.records, file.tally.rejected)).collect();
        assert_eq!(counts, [(5, 1), (5, 2)]);
        assert_eq!((report.tally.records, report.tally.unique), (10, 7));
        // The run ended while the second input was read.
        let states: Vec<_> = report.files.iter().map(|file| file.state).collect();
        assert_eq!(states, [InputState::Ok, InputState::Unfinished]);
    }

    #[test]
    fn input_errors_after_the_rejection_limit_are_not_reported() {
        let (plan, inputs, watch) =
            (plan(Some(MaxRejected::Count(1))), inputs(3), Watch::default());
        let mut accounts = Accounts::new(&plan, &inputs, &watch);
        accounts.note(ReadEvent::Cut(0, 7)).unwrap();
        accounts.note(ReadEvent::Cut(1, 8)).unwrap();
        let trouble = Trouble::Io(io::Error::other("bad"));
        let error = InputError::new(Path::new("2"), None, trouble);
        accounts.note(ReadEvent::Failed(2, error)).unwrap();
        let mut batches = [batch(0, 2, 1), batch(1, 2, 1), batch(1, 9, 9)];
        let (within, result) = accounts.count_all(&mut batches, 13, |_| Ok(()));
        assert!(matches!(result, Err(RunError::Rejected(_))), "{result:?}");
        // The batch before that one is written, though both come together.
        assert_eq!((within, accounts.counted()), (1, 1));
        let report = accounts.finish(2);
        assert_eq!((report.tally.records, report.tally.rejected), (4, 2));
        assert_eq!(report.cut, [(0, 7)]);
        assert!(report.damaged.is_empty());
    }

    #[test]
    fn percentage_limit_of_rejects_counts_all_inputs() {
        for (percent, fails) in [(50.0, false), (49.9, true)] {
            let limit = Some(MaxRejected::Percent(percent));
            let (plan, inputs, watch) = (plan(limit), inputs(2), Watch::default());
            let mut accounts = Accounts::new(&plan, &inputs, &watch);
            let mut batches = [batch(0, 2, 2), batch(1, 2, 0)];
            accounts.count_all(&mut batches, 4, |_| Ok(())).1.unwrap();
            assert_eq!(accounts.check_share_of_rejected().is_err(), fails);
        }
    }
}
