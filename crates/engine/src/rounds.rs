//! The rounds of a run: in each, every stage works on another batch.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::batches::{CHUNKS, Left, Reading};
use super::insert::{End, insert};
use super::job::Job;
use super::overflow::Overflow;
use super::report::{RunError, Watch};
use super::run::{Formatting, Run, Sinks};
use super::scatter::{Scatter, SetChange};
use super::schedule;
use super::sheet::{Rules, Sheet};
use crate::output::vectored;
use uniqurl::bytes::AllocError;
use uniqurl::profile::Grammar;
use uniqurl_formats::input::{Chunk, Data, read_range};
use uniqurl_formats::record::Context;
use uniqurl_store::keep_policy::KeepPolicy;

/// Chunks of a batch that the thread reads which spawns the tasks of a round. It goes on with the sheets to
/// format while the others insert.
const READ_LAST: usize = CHUNKS + 1;

/// The batches on their way, by the stage that is next for them.
#[derive(Default)]
struct Batches {
    inserting: Vec<Sheet>,
    formatting: Vec<Sheet>,
    writing: Vec<Sheet>,
}

impl Batches {
    fn is_empty(&self) -> bool {
        self.inserting.is_empty() && self.formatting.is_empty() && self.writing.is_empty()
    }

    fn all(&self) -> [&[Sheet]; 3] {
        [&self.inserting, &self.formatting, &self.writing]
    }
}

impl Run<'_> {
    pub(super) fn work(&mut self, sinks: Sinks<'_>) -> Result<(), RunError> {
        let Sinks { out, mut rejects, seen: saved } = sinks;
        // The rules that act are counted for each record.
        if rejects.is_none() && self.takes_first_records() && !self.rules.count_rules {
            self.schedule.take_rows_once();
        }
        self.look_back(saved.is_some())?;
        if self.only_sorts() {
            self.scatter = Scatter::Possible;
        }
        let mut batches = Batches::default();
        loop {
            let idle = batches.is_empty();
            let mut reading = self.next_batch(false)?;
            if idle && let Some(change) = self.set_change.take() {
                match change {
                    SetChange::MoveOut => self.move_out()?,
                    SetChange::Scatter => self.begin_to_scatter()?,
                    SetChange::Gather => self.gather()?,
                }
                continue;
            }
            if reading.is_empty() && idle {
                // Nothing is left to do but to wait for a slow stream: what is known of it goes out.
                flush(out, &mut rejects).map_err(RunError::Output)?;
                reading = self.next_batch(true)?;
                if reading.is_empty() {
                    break;
                }
            }
            let takes_more = self.overflow.is_none() && self.scatter.active().is_none();
            if takes_more && self.is_over_budget(batches.all()) {
                self.begin_to_spill()?;
            }
            self.set_change = self.next_set_change(batches.all())?;
            let read = self.setup.watch.bytes.load(Ordering::Relaxed);
            self.round(&mut reading, &mut batches, out, &mut rejects)?;
            self.inserted = read;
            self.spare.append(&mut batches.writing);
            self.account_all(&mut batches.formatting)?;
            if let Some(observed) = &mut self.report.observed {
                let bytes = self.setup.watch.bytes.load(Ordering::Relaxed);
                observed.pace.note(self.start.elapsed().as_secs_f64(), bytes);
            }
            self.show(&batches.formatting);
            batches.writing = batches.formatting;
            batches.formatting = batches.inserting;
            batches.inserting = self.take_read(reading)?;
        }
        if let Some((input, error)) = self.ending.take() {
            self.counted = input;
            return Err(RunError::Input(error));
        }
        self.is_read = true;
        self.show_inputs();
        self.check_share_of_rejected()?;
        if let Job::Dedup(dedup) = self.setup.job {
            self.finish(&dedup, out, saved)?;
        }
        Ok(())
    }

    /// Takes each batch through the stage that is next for it, on all threads.
    fn round(
        &mut self,
        reading: &mut [Reading],
        batches: &mut Batches,
        out: &mut (dyn Write + Send),
        rejects: &mut Option<&mut (dyn Write + Send)>,
    ) -> Result<(), RunError> {
        let Batches { inserting, formatting, writing } = batches;
        let writing = &*writing;
        let mut ends: Vec<_> = self.shards.iter().map(End::before).collect();
        let no_room = AtomicBool::new(false);
        let written = Mutex::new(Ok(()));
        let spilled = Mutex::new(Ok(()));
        {
            let Self {
                rules, setup, shards, seen, inputs, formatting: how, overflow, scatter, ..
            } = &mut *self;
            let (rules, inputs) = (&*rules, *inputs);
            let scattering = scatter.active();
            // All batches on their way are scattered, or none is.
            let how = if scattering.is_some() { Formatting::Undecided } else { *how };
            let with_rejects = rejects.is_some();
            let (written, spilled, no_room) = (&written, &spilled, &no_room);
            for sheet in &mut *inserting {
                sheet.spills = overflow.is_some();
            }
            let cut = reading.len().saturating_sub(READ_LAST);
            // The thread that spawns begins with the last task, the others with the first: in the
            // middle are the small ones, so that all threads end at about the same time.
            rayon::scope(|scope| {
                let (first, last) = reading.split_at_mut(cut);
                for group in overflow.iter_mut().flat_map(Overflow::groups) {
                    scope.spawn(move |_| {
                        if let Err(error) = group.write(writing) {
                            *spilled.lock().unwrap_or_else(|e| e.into_inner()) = Err(error);
                        }
                    });
                }
                scope.spawn(move |_| {
                    let result = write(writing, out, rejects);
                    *written.lock().unwrap_or_else(|e| e.into_inner()) = result;
                });
                spawn_reads(scope, first, rules, setup.watch, no_room);
                match scattering {
                    Some(scattering) => scattering.insert(scope, inserting, no_room),
                    None => insert(scope, seen.as_deref_mut(), shards, inserting, &mut ends),
                }
                for sheet in formatting {
                    scope.spawn(move |_| {
                        let path = &inputs[sheet.input].path;
                        if format(sheet, how, rules, path).is_err() {
                            no_room.store(true, Ordering::Relaxed);
                        }
                        if rules.observes && sheet.observe(path, rules.shards > 0).is_err() {
                            no_room.store(true, Ordering::Relaxed);
                        }
                        if with_rejects {
                            sheet.format_rejects(path, rules.secrets);
                        }
                    });
                }
                spawn_reads(scope, last, rules, setup.watch, no_room);
            });
        }
        written.into_inner().unwrap_or_else(|e| e.into_inner()).map_err(RunError::Output)?;
        spilled.into_inner().unwrap_or_else(|e| e.into_inner())?;
        if no_room.into_inner() {
            return Err(RunError::Memory);
        }
        if ends.iter().any(|end| end.full.is_some()) {
            self.spill_instead(inserting, &mut ends)?;
        }
        Ok(())
    }
}

fn spawn_reads<'s>(
    scope: &rayon::Scope<'s>,
    batch: &'s mut [Reading],
    rules: &'s Rules<'_>,
    watch: &'s Watch,
    no_room: &'s AtomicBool,
) {
    for reading in batch {
        scope.spawn(move |_| {
            if read(reading, rules, watch).is_err() {
                no_room.store(true, Ordering::Relaxed);
            }
        });
    }
}

/// Stage *read*.
fn read(reading: &mut Reading, rules: &Rules<'_>, watch: &Watch) -> Result<(), AllocError> {
    let Reading { sheet, task, left, result, .. } = reading;
    let left = std::mem::replace(left, Left::Nothing);
    let Some(task) = task.as_mut().filter(|_| !matches!(left, Left::Nothing)) else {
        return Ok(());
    };
    let mut block = sheet.take_block();
    sheet.clear();
    sheet.input = task.input;
    let mut chunk = match (left, &mut task.bytes) {
        (Left::Rest(chunk, from), _) => {
            sheet.from = from;
            chunk
        }
        (_, schedule::Bytes::Chunk { chunk, cut, read }) => {
            sheet.cut = cut.take();
            watch.bytes.fetch_add(*read, Ordering::Relaxed);
            std::mem::take(chunk)
        }
        (_, schedule::Bytes::Range { file, range, .. }) => {
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
    if rules.normalizer.profile().grammar == Grammar::Repaired || task.format.is_json() {
        chunk.skip_mark();
    }
    sheet.text.chunk = Some(chunk);
    if rules.columns.is_some_and(|columns| !columns.taken_out.is_empty()) {
        sheet.format = Some(Arc::clone(&task.format));
    }
    sheet.digest(&task.format, rules)
}

/// Stage *format*.
fn format(
    sheet: &mut Sheet,
    how: Formatting,
    rules: &Rules<'_>,
    path: &Path,
) -> Result<(), AllocError> {
    match how {
        Formatting::Places if rules.survivor() != KeepPolicy::First => {
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
        Formatting::Undecided => sheet.tally.undecided = sheet.tally.canonical,
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
    let lines = sheets.iter().map(|sheet| sheet.out.as_slice());
    vectored::write_all(lines, |parts| out.write_vectored(parts))?;
    let Some(rejects) = rejects else { return Ok(()) };
    let lines = sheets.iter().map(|sheet| sheet.rejects.as_slice());
    vectored::write_all(lines, |parts| rejects.write_vectored(parts))
}
