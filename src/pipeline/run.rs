//! The rounds of a run.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::audit::{Auditing, Originals};
use super::checkpoint::Keeper;
use super::differences::Versus;
use super::finish::Lines;
use super::insert::{End, insert};
use super::job::{Job, Order, Setup};
use super::overflow::{Origins, Overflow};
use super::report::{MaxRejected, Report, RunError, TooManyRejected, Watch};
use super::schedule::{self, Next, Schedule, Task};
use super::seen;
use super::sheet::{Before, Columns, Rules, Sheet};
use crate::dedup::{Counting, Key, Shard, Survivor};
use crate::input::{Chunk, Data, Input, InputError, Trouble, read_range};
use crate::output::{Bytes, Field, FileStats, Layout, LineForm, SetHeader, State, Tally};
use crate::profile::Grammar;
use crate::record::Context;
use crate::room::{self, NoRoom};

/// A record that is longer than a URL may be by this much is not looked into.
const RECORD_AROUND_URL: usize = 1 << 20;

/// Full chunks in a batch, for each thread.
pub(super) const CHUNKS: usize = 2;

/// Chunks in a batch, for each thread, however small they are. The ends of small files make them so.
const SMALL_CHUNKS: usize = 64;

/// Reads the inputs and writes what they yield to `out`, and the rejected records to `rejects`.
///
/// The report is whole also when the run fails; of what was spilled, all counts as duplicates until it
/// is settled at the end. Time is linear in the bytes read, memory in those of the distinct URLs, up to
/// [`Setup::memory`].
///
/// ```
/// use uniqurl::pipeline::{Job, Setup, Watch, run};
/// use uniqurl::{Normalizer, Profile, input};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("urls.txt");
/// std::fs::write(&path, "http://a.com\nHTTP://A.com/\nx\n")?;
/// let (inputs, errors) = input::check(&[path]);
/// assert!(errors.is_empty());
/// let watch = Watch::default();
/// let normalizer = Normalizer::new(&Profile::CRAWL);
/// let setup = Setup { threads: 2, ..Setup::new(normalizer, Job::Dedup(Default::default()), &watch) };
/// let mut out = Vec::new();
/// let (report, result) = run(&setup, &inputs, &mut out, None);
/// result?;
/// assert_eq!(out, b"http://a.com/\n");
/// assert_eq!((report.tally.unique, report.tally.duplicates, report.tally.rejected), (1, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(
    setup: &Setup<'_>,
    inputs: &[Input],
    out: &mut (dyn Write + Send),
    rejects: Option<&mut (dyn Write + Send)>,
) -> (Report, Result<(), RunError>) {
    run_to(setup, inputs, Sinks { out, rejects: rejects.map(|rejects| rejects as _), seen: None })
}

/// Where a run writes.
pub struct Sinks<'s> {
    /// What the inputs yield.
    pub out: &'s mut (dyn Write + Send),
    /// The rejected records.
    pub rejects: Option<&'s mut (dyn Write + Send)>,
    /// A saved set: the keys of [`Setup::seen`] and the new ones, for a later run's [`Setup::seen`].
    pub seen: Option<&'s mut (dyn Write + Send)>,
}

/// The same with all that a run can write.
///
/// A set is saved whole: with [`Dedup::limit`](super::Dedup::limit) and
/// [`Dedup::min_count`](super::Dedup::min_count) it holds also what is not
/// written.
pub fn run_to(
    setup: &Setup<'_>,
    inputs: &[Input],
    sinks: Sinks<'_>,
) -> (Report, Result<(), RunError>) {
    run_with(setup, inputs, sinks, Key::random())
}

/// The same with a hash of the caller's choice.
pub(super) fn run_with(
    setup: &Setup<'_>,
    inputs: &[Input],
    sinks: Sinks<'_>,
    key: Key,
) -> (Report, Result<(), RunError>) {
    let files = inputs.iter().map(|input| FileStats {
        path: input.path.clone(),
        state: State::Ok,
        bytes: 0,
        tally: Tally::default(),
    });
    let mut report = Report {
        files: files.collect(),
        observed: setup.observes.then(Box::default),
        ..Report::default()
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(setup.threads)
        .thread_name(|i| format!("uniqurl-{i}"));
    let mut reached = 0;
    #[cfg(test)]
    let pool = {
        let plan = room::failing::plan();
        pool.start_handler(move |_| room::failing::follow(plan.clone()))
    };
    let result = match pool.build() {
        Ok(pool) => pool.install(|| {
            let taken_out = setup.taken_out();
            let mut run = Run::new(setup, &taken_out, inputs, &mut report, key);
            let result = run.work(sinks);
            let originals = std::mem::take(&mut run.originals);
            run.report.audit = originals.map(|originals| originals.audit(&setup.normalizer));
            reached = run.schedule.reached();
            result
        }),
        Err(error) => Err(RunError::Threads(error.to_string())),
    };
    report.files.truncate(reached);
    for file in &report.files {
        report.tally.merge(&file.tally);
        report.bytes += file.bytes;
    }
    if let Some(audit) = &mut report.audit {
        audit.by_key = audit.canonical.saturating_sub(report.tally.unique);
    }
    setup.watch.count(|tally, inputs| {
        *tally = report.tally;
        let count = |state| report.files.iter().filter(|file| file.state == state).count() as u64;
        (inputs.ok, inputs.damaged) = (count(State::Ok), count(State::Damaged));
    });
    (report, result)
}

/// What the *format* stage makes of a sheet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Formatting {
    /// The new URLs, to be written at once.
    New,
    /// The places of the new URLs, for the end.
    Places,
    Lines,
    Json,
    Rows,
    Differences,
}

pub(super) struct Run<'a> {
    pub(super) setup: &'a Setup<'a>,
    pub(super) inputs: &'a [Input],
    pub(super) report: &'a mut Report,
    pub(super) rules: Rules<'a>,
    pub(super) schedule: Schedule<'a>,
    pub(super) formatting: Formatting,
    pub(super) counting: Counting,
    pub(super) shards: Vec<Shard>,
    /// What was seen before the run, where there is something.
    pub(super) seen: Option<Vec<Shard>>,
    /// What a saved set says of the run's rules.
    pub(super) header: Option<SetHeader>,
    /// The new URLs in the order of the input, where the output has to wait for the end.
    pub(super) places: Vec<u64>,
    /// What is to be written of each of them, where that is more than the key.
    pub(super) lines: Lines,
    /// Where URLs go that the set does not hold, once it takes no more.
    pub(super) overflow: Option<Overflow>,
    /// How many of them came out of the set, whose lines had become too many. Their ordinals are the
    /// numbers up to there.
    pub(super) moved: u64,
    /// Which records are of which input.
    pub(super) origins: Origins,
    pub(super) spare: Vec<Sheet>,
    /// The different URLs so far, as they were read, where merges are counted.
    pub(super) originals: Option<Originals>,
    pub(super) before: Before,
    /// The input that `before` counts the records of.
    before_input: usize,
    /// Rejected records so far.
    pub(super) rejected: u64,
    /// The checkpoints, where there are any.
    pub(super) keeper: Option<Keeper<'a>>,
    /// Whether no input is begun before there is a checkpoint.
    is_saving: bool,
    /// Whether nothing is read before the set has moved out of memory.
    is_moving: bool,
    start: Instant,
}

/// A sheet whose chunk is to be read, and what came of it.
struct Reading {
    sheet: Sheet,
    task: Task,
    result: Result<(), InputError>,
}

impl<'a> Run<'a> {
    fn new(
        setup: &'a Setup<'a>,
        taken_out: &'a [String],
        inputs: &'a [Input],
        report: &'a mut Report,
        key: Key,
    ) -> Self {
        let (formatting, counting, shards) = match &setup.job {
            Job::Normalize { json: false } => (Formatting::Lines, Counting::Off, 0),
            Job::Normalize { json: true } => (Formatting::Json, Counting::Off, 0),
            Job::Tabulate => (Formatting::Rows, Counting::Off, 0),
            Job::Compare { .. } => (Formatting::Differences, Counting::Off, 0),
            Job::Dedup(dedup) => {
                let counts =
                    dedup.count || dedup.min_count > 1 || setup.fields.contains(&Field::Count);
                let waits = counts
                    || dedup.order == Order::Sorted
                    || dedup.limit.is_some()
                    || setup.keep.survivor() != Survivor::First
                    || setup.checkpoint.is_some();
                (
                    if waits { Formatting::Places } else { Formatting::New },
                    if counts { Counting::On } else { Counting::Off },
                    (setup.threads * 16).next_power_of_two().clamp(64, 1024),
                )
            }
        };
        let survivor = setup.keep.survivor();
        let counted = matches!(&setup.job, Job::Dedup(dedup) if dedup.count);
        let has_columns =
            !setup.fields.is_empty() || !setup.carry.is_empty() || setup.form == LineForm::Json;
        let columns = (shards > 0 && has_columns).then(|| Columns {
            layout: Layout {
                fields: match &setup.fields[..] {
                    [] => Field::of_key(setup.key, counted),
                    fields => fields,
                },
                carry: &setup.carry,
                bytes: match setup.normalizer.profile().grammar {
                    Grammar::Ignored => Bytes::Any,
                    Grammar::Enforced | Grammar::Repaired => Bytes::Printable,
                },
                form: setup.form,
            },
            taken_out,
            survivor,
            secrets: setup.secrets,
        });
        let max_record = setup.max_url.saturating_add(RECORD_AROUND_URL);
        let context = Context {
            base: setup.normalizer.origin(),
            max_url: setup.max_url,
            max_record,
            filter: setup.filter.clone(),
            separator: setup.separator,
        };
        let schedule = Schedule::new(setup, inputs, context.clone(), taken_out);
        Self {
            setup,
            inputs,
            report,
            schedule,
            rules: Rules {
                normalizer: &setup.normalizer,
                context,
                key,
                wanted: Some(&setup.wanted).filter(|wanted| !wanted.is_empty()),
                secrets: setup.secrets,
                written: setup.key,
                columns,
                split: setup.split,
                shards,
                decoded: setup.normalizer.has_decoded()
                    && (formatting == Formatting::Json || setup.fields.contains(&Field::Decoded)),
                count_rules: setup.auditing != Auditing::Off,
                observes: setup.observes,
                versus: match &setup.job {
                    Job::Compare { other, json } => {
                        Some(Versus::new(&setup.normalizer, other, *json, setup.secrets))
                    }
                    Job::Dedup(_) | Job::Normalize { .. } | Job::Tabulate => None,
                },
            },
            formatting,
            counting,
            shards: (0..shards).map(|_| Shard::new(counting)).collect(),
            seen: None,
            header: None,
            places: Vec::new(),
            lines: Lines::new(survivor),
            overflow: None,
            moved: 0,
            origins: Origins::default(),
            spare: Vec::new(),
            originals: (setup.auditing == Auditing::Merges).then(Originals::default),
            before: Before::default(),
            before_input: 0,
            rejected: 0,
            start: Instant::now(),
            keeper: setup.checkpoint.map(Keeper::new),
            is_saving: false,
            is_moving: false,
        }
    }

    fn work(&mut self, sinks: Sinks<'_>) -> Result<(), RunError> {
        let Sinks { out, mut rejects, seen: saved } = sinks;
        if rejects.is_none() && self.takes_first_records() {
            self.schedule.take_rows_once();
        }
        self.look_back(saved.is_some())?;
        self.resume(rejects.as_mut().map(|rejects| &mut **rejects as _))?;
        let mut inserting: Vec<Sheet> = Vec::new();
        let mut formatting: Vec<Sheet> = Vec::new();
        let mut writing: Vec<Sheet> = Vec::new();
        loop {
            let idle = inserting.is_empty() && formatting.is_empty() && writing.is_empty();
            let mut reading = self.next_batch(false)?;
            if self.is_moving && idle {
                self.is_moving = false;
                self.move_out()?;
                continue;
            }
            if self.is_saving && idle && reading.is_empty() {
                self.is_saving = false;
                self.save()?;
                continue;
            }
            if reading.is_empty() && idle {
                // Nothing is left to do but to wait for a slow stream: what is known of it goes out.
                flush(out, &mut rejects).map_err(RunError::Output)?;
                reading = self.next_batch(true)?;
                if reading.is_empty() && !self.is_saving {
                    break;
                }
            }
            if self.overflow.is_none() && self.is_over_budget([&inserting, &formatting, &writing]) {
                self.begin_to_spill()?;
            }
            self.is_moving = self.has_outgrown([&inserting, &formatting, &writing]);
            let mut ends: Vec<_> = self.shards.iter().map(End::before).collect();
            let no_room = AtomicBool::new(false);
            let written = Mutex::new(Ok(()));
            let spilled = Mutex::new(Ok(()));
            let kept = Mutex::new(Ok(()));
            {
                let Self {
                    rules,
                    setup,
                    shards,
                    seen,
                    inputs,
                    formatting: how,
                    overflow,
                    keeper,
                    ..
                } = &mut *self;
                let (rules, inputs, how) = (&*rules, *inputs, *how);
                let with_rejects = rejects.is_some();
                let rejects = &mut rejects;
                let (out, writing, written) = (&mut *out, &writing, &written);
                let (spilled, kept, no_room) = (&spilled, &kept, &no_room);
                for sheet in &mut inserting {
                    sheet.spills = overflow.is_some();
                }
                rayon::scope(|scope| {
                    for group in overflow.iter_mut().flat_map(Overflow::groups) {
                        scope.spawn(move |_| {
                            if let Err(error) = group.write(writing) {
                                *spilled.lock().unwrap_or_else(|e| e.into_inner()) = Err(error);
                            }
                        });
                    }
                    if let Some(keeper) = keeper {
                        scope.spawn(move |_| {
                            let result = keeper.keep(writing, with_rejects);
                            *kept.lock().unwrap_or_else(|e| e.into_inner()) = result;
                        });
                    }
                    scope.spawn(move |_| {
                        let result = write(writing, out, rejects);
                        *written.lock().unwrap_or_else(|e| e.into_inner()) = result;
                    });
                    insert(scope, seen.as_deref_mut(), shards, &mut inserting, &mut ends);
                    for sheet in &mut formatting {
                        scope.spawn(move |_| {
                            let path = &inputs[sheet.input].path;
                            if format(sheet, how, rules, path).is_err() {
                                no_room.store(true, Ordering::Relaxed);
                            }
                            if rules.observes {
                                sheet.observe(path, rules.shards > 0);
                            }
                            if with_rejects {
                                sheet.format_rejects(path, rules.secrets);
                            }
                        });
                    }
                    for reading in &mut reading {
                        let watch = setup.watch;
                        scope.spawn(move |_| {
                            if read(reading, rules, watch).is_err() {
                                no_room.store(true, Ordering::Relaxed);
                            }
                        });
                    }
                });
            }
            written.into_inner().unwrap_or_else(|e| e.into_inner()).map_err(RunError::Output)?;
            spilled.into_inner().unwrap_or_else(|e| e.into_inner())?;
            kept.into_inner().unwrap_or_else(|e| e.into_inner()).map_err(RunError::Output)?;
            if no_room.into_inner() {
                return Err(RunError::Memory);
            }
            if ends.iter().any(|end| end.full.is_some()) {
                self.spill_instead(&mut inserting, &mut ends)?;
            }
            self.spare.append(&mut writing);
            for sheet in &mut formatting {
                self.account(sheet)?;
                self.check_rejected(sheet)?;
            }
            if let Some(observed) = &mut self.report.observed {
                let bytes = self.setup.watch.bytes.load(Ordering::Relaxed);
                observed.pace.note(self.start.elapsed().as_secs_f64(), bytes);
            }
            self.show(&formatting);
            writing = formatting;
            formatting = inserting;
            inserting = self.take_read(reading)?;
        }
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
        if let Job::Dedup(dedup) = self.setup.job {
            self.finish(&dedup, out, saved)?;
        }
        Ok(())
    }

    /// Whether all that the run asks of a record is whether it is the first of its URL, and all that it
    /// asks of the others is how many they are.
    fn takes_first_records(&self) -> bool {
        let rules = &self.rules;
        rules.shards > 0
            && self.setup.seen.is_empty()
            && rules.columns.is_none()
            && !rules.decoded
            && !rules.count_rules
            && !rules.observes
            && !matches!(self.setup.max_rejected, Some(MaxRejected::Count(_)))
    }

    /// Reads what was seen before the run.
    fn look_back(&mut self, saving: bool) -> Result<(), RunError> {
        if self.shards.is_empty() || (self.setup.seen.is_empty() && !saving) {
            return Ok(());
        }
        let header = SetHeader::of(&self.setup.normalizer, self.setup.key);
        if !self.setup.seen.is_empty() {
            let (context, key) = (&self.rules.context, &self.rules.key);
            let shards = self.shards.len();
            let seen = seen::load(self.setup, context, key, shards, &header, saving)?;
            self.seen = Some(seen.shards);
            self.overflow = seen.overflow;
            self.report.doubts = seen.doubts;
        }
        self.header = saving.then_some(header);
        Ok(())
    }

    /// The chunks to read in the next round.
    fn next_batch(&mut self, idle: bool) -> Result<Vec<Reading>, RunError> {
        let mut batch = Vec::new();
        let threads = self.setup.threads;
        let mut room = threads * CHUNKS * self.setup.chunk_size;
        let most = threads * SMALL_CHUNKS;
        while !self.is_saving && !self.is_moving && room > 0 && batch.len() < most {
            match self.schedule.next(idle && batch.is_empty()) {
                Next::Task(task) => {
                    room = room.saturating_sub(task.bytes.len());
                    let sheet = self.spare.pop().unwrap_or_default();
                    batch.push(Reading { sheet, task, result: Ok(()) });
                }
                Next::Guessed(input, format) => {
                    let path = self.inputs[input].path.clone();
                    self.report.guessed.push((path, format.name().into_owned()));
                }
                Next::End(input, schedule::End { bytes, padding }) => {
                    self.report.files[input].bytes = bytes;
                    if padding > 0 {
                        let path = self.inputs[input].path.clone();
                        self.report.padded.push((path, padding));
                    }
                    // What was read of a damaged input is in the set and cannot be read again.
                    self.is_saving = self.report.damaged.is_empty()
                        && self.keeper.as_ref().is_some_and(Keeper::is_due);
                }
                Next::Trouble(input, error) => self.trouble(input, error)?,
                Next::Wait | Next::Done => break,
            }
        }
        if self.setup.watch.is_stopped() {
            return Err(RunError::Stopped);
        }
        Ok(batch)
    }

    /// An input that cannot be read on ends the run, or is left as it is.
    fn trouble(&mut self, input: usize, error: InputError) -> Result<(), RunError> {
        if matches!(&error.trouble, Trouble::Io(error) if error.kind() == io::ErrorKind::OutOfMemory)
        {
            // Nothing is wrong with the input.
            return Err(RunError::Memory);
        }
        let file = &mut self.report.files[input];
        file.bytes = error.taken().unwrap_or(file.bytes);
        file.state = State::Damaged;
        self.schedule.give_up(input);
        self.setup.watch.count(|_, inputs| inputs.damaged += 1);
        if !self.setup.keep_going {
            return Err(RunError::Input(error));
        }
        self.report.damaged.push((input, error));
        Ok(())
    }

    /// Takes the sheets of a batch that was read, in order: numbers their records and looks whether
    /// files that are at their end are still what they were.
    fn take_read(&mut self, batch: Vec<Reading>) -> Result<Vec<Sheet>, RunError> {
        let mut sheets = Vec::with_capacity(batch.len());
        // What was read of an input before its trouble counts, what stands behind does not.
        let mut broken = None;
        for Reading { mut sheet, task, result } in batch {
            let input = task.input;
            if broken == Some(input) {
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
                self.report.cut.push((self.inputs[input].path.clone(), cut.at));
            }
            sheets.push(sheet);
            if let schedule::Bytes::Range { file, last: true, .. } = &task.bytes
                && let Err(error) = file.verify()
            {
                self.trouble(input, error)?;
            }
        }
        Ok(sheets)
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
        Err(RunError::Rejected(TooManyRejected {
            limit,
            rejected: self.rejected,
            records: self.before.in_run,
            first: first.map(|(record, offset)| (path, record, offset)),
        }))
    }

    /// Shows the accounting with these sheets, which were counted last.
    fn show(&self, sheets: &[Sheet]) {
        let Some(last) = sheets.last() else { return };
        self.setup.watch.count(|tally, inputs| {
            sheets.iter().for_each(|sheet| tally.merge(&sheet.tally));
            // The last one's own input may go on.
            inputs.ok = (last.input as u64).saturating_sub(inputs.damaged);
        });
    }

    /// Counts what a formatted sheet holds.
    fn account(&mut self, sheet: &mut Sheet) -> Result<(), NoRoom> {
        if let (Some(observed), Some(more)) = (&mut self.report.observed, &mut sheet.observed) {
            observed.merge(more);
        }
        self.report.files[sheet.input].tally.merge(&sheet.tally);
        self.report.hostless += sheet.hostless;
        self.report.differences.merge(&sheet.differences);
        if let Some(originals) = &mut self.originals {
            sheet.list_originals(&self.setup.normalizer, originals)?;
        }
        #[cfg(feature = "tables")]
        if self.counting == Counting::On {
            sheet.add_counts(&mut self.shards);
        }
        self.report.listed += sheet.listed;
        self.report.tabbed += sheet.tabbed;
        room::reserve(&mut self.places, sheet.new.len())?;
        self.places.extend_from_slice(&sheet.new);
        if !sheet.lines_of_new.is_empty() {
            self.lines.add(&sheet.new, &sheet.lines_of_new)?;
        }
        for (place, candidate) in sheet.candidates.iter() {
            self.lines.offer(place, candidate)?;
        }
        Ok(())
    }
}

/// Stage *read*.
fn read(reading: &mut Reading, rules: &Rules<'_>, watch: &Watch) -> Result<(), NoRoom> {
    let Reading { sheet, task, result } = reading;
    let mut block = sheet.take_block();
    sheet.clear();
    sheet.input = task.input;
    let chunk = match &mut task.bytes {
        schedule::Bytes::Chunk { chunk, cut, read } => {
            sheet.cut = cut.take();
            watch.bytes.fetch_add(*read, Ordering::Relaxed);
            std::mem::take(chunk)
        }
        schedule::Bytes::Range { file, range, .. } => {
            watch.bytes.fetch_add(range.end - range.start, Ordering::Relaxed);
            let Context { max_record, separator, .. } = rules.context;
            match read_range(file, range.clone(), max_record, separator.byte(), &mut block) {
                Ok((offset, cut)) => {
                    sheet.cut = cut;
                    Chunk { data: Data::Block(block), offset, frames: Vec::new() }
                }
                Err(error) => {
                    *result = Err(error);
                    return Ok(());
                }
            }
        }
    };
    sheet.text.chunk = Some(chunk);
    if rules.columns.is_some_and(|columns| !columns.taken_out.is_empty()) {
        sheet.format = Some(Arc::clone(&task.format));
    }
    if rules.normalizer.profile().grammar == Grammar::Repaired {
        sheet.skip_mark();
    }
    sheet.digest(&task.format, rules)
}

/// Stage *format*.
fn format(
    sheet: &mut Sheet,
    how: Formatting,
    rules: &Rules<'_>,
    path: &Path,
) -> Result<(), NoRoom> {
    match how {
        Formatting::Places if rules.survivor() != Survivor::First => {
            if let Some(columns) = rules.columns {
                sheet.list_candidates(columns, path)?;
            }
        }
        Formatting::New | Formatting::Places if sheet.spills => {
            sheet.spill_new(rules.columns, path)?;
        }
        Formatting::New => sheet.format_new(rules.columns, rules.split, path)?,
        Formatting::Places => sheet.list_new(rules.columns, path)?,
        Formatting::Lines => sheet.format_lines()?,
        Formatting::Json => sheet.format_json(),
        Formatting::Rows => sheet.format_rows(rules),
        Formatting::Differences => {
            if let Some(versus) = &rules.versus {
                sheet.format_differences(versus, path);
            }
        }
    }
    Ok(())
}

fn flush(
    out: &mut (dyn Write + Send),
    rejects: &mut Option<&mut (dyn Write + Send)>,
) -> io::Result<()> {
    out.flush()?;
    rejects.as_mut().map_or(Ok(()), |rejects| rejects.flush())
}

/// Stage *write*.
fn write(
    sheets: &[Sheet],
    out: &mut (dyn Write + Send),
    rejects: &mut Option<&mut (dyn Write + Send)>,
) -> io::Result<()> {
    for sheet in sheets {
        out.write_all(&sheet.out)?;
        if let Some(rejects) = rejects {
            rejects.write_all(&sheet.rejects)?;
        }
    }
    Ok(())
}
