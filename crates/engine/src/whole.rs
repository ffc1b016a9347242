//! A set of whole records: the inputs are read once to find the records that are kept, and once more to copy them.
//!
//! A set that held records would be as large as its inputs, and records that compete for a key
//! ([`Keep`](crate::Keep)) would all be held until the end. So the set has the places of its records alone, in
//! memory and beyond, and a bit for each record says whether it is copied.

use std::env;
use std::io::{self, Write};
use std::sync::Arc;

use crate::error::RunError;
use crate::job::Job;
#[cfg(feature = "tables")]
use crate::output::TableKind;
use crate::output::{LineForm, RecordUnit};
use crate::phase_writer::PhaseWriter;
use crate::plan::JobPlan;
use crate::report::Report;
use crate::run::run;
use crate::selection::Selection;
use crate::sink::Sinks;
use crate::watch::Watch;
#[cfg(feature = "tables")]
use crate::whole_rows::{RowsTo, copy_rows};
use uniqurl_formats::input::{Input, InputError, Trouble};
use uniqurl_store::temporary_file;

/// Where whole records go.
pub struct WholeSinks<'s> {
    /// The kept records, the rejected ones and the keys.
    pub kept: Sinks<'s>,
    /// The other records.
    pub dropped: Option<&'s mut (dyn Write + Send)>,
    /// The kind of the outputs, if records are rows of tables.
    #[cfg(feature = "tables")]
    pub table: Option<TableKind>,
}

impl WholeSinks<'_> {
    fn unit(&self) -> RecordUnit {
        #[cfg(feature = "tables")]
        if self.table.is_some() {
            return RecordUnit::Row;
        }
        RecordUnit::Bytes
    }
}

/// Does a [`Job::Dedup`] whose output is, of each key that the set would write, the record that is kept, byte for byte,
/// in the order of the inputs. The header of a table is written once. All other records that have a URL, the filtered
/// ones included, go to `dropped`, if it is there.
///
/// If the outputs are divided, each record is after [`MARK_OF_RECORD`](crate::MARK_OF_RECORD) bytes. Inputs that can be
/// read only once are copied to a temporary file. Time is that of two runs; memory, beside that of the set, is a bit for
/// each record.
///
/// # Errors
///
/// Those of [`run`]; an input whose records do not stand by themselves; inputs with different headers; one that changed
/// between the two times.
pub fn run_whole(
    plan: &JobPlan,
    inputs: &[Input],
    sinks: WholeSinks<'_>,
    watch: &Watch,
) -> (Report, Result<(), RunError>) {
    let inputs =
        match inputs.iter().map(|input| repeatable(plan, input)).collect::<Result<Vec<_>, _>>() {
            Ok(inputs) => inputs,
            Err(error) => return (Report::default(), Err(RunError::Input(error))),
        };
    let unit = sinks.unit();
    #[cfg(feature = "tables")]
    let table = sinks.table;
    let WholeSinks { kept: Sinks { out, rejects, keys }, dropped, .. } = sinks;
    let mut selection = Selection::default();
    let mut first = plan.clone();
    first.output.form = LineForm::Places(unit);
    first.output.split = None;
    // Each trait object has a lifetime of its own; coerced, they get that of the selection.
    let (rejects, keys) = (rejects.map(|out| out as _), keys.map(|keys| keys as _));
    let finding = Sinks { out: &mut selection, rejects, keys };
    let (report, result) = run(&first, &inputs, finding, watch);
    if result.is_err() {
        return (report, result);
    }
    let mut second = plan.clone();
    second.job = Job::Select(Arc::new(selection.clone()));
    // They have decided already.
    second.input.seen.clear();
    second.input.stores.clear();
    second.policy.max_rejected = None;
    let mut out = PhaseWriter::new(out, watch);
    let dropped: Option<&mut (dyn Write + Send)> = dropped.map(|out| out as _);
    #[cfg(feature = "tables")]
    if let Some(kind) = table {
        let kept = RowsTo { selection, kind, out: &mut out };
        let result = copy_tables(&second, &inputs, kept, dropped, &report);
        return (report, result);
    }
    let copying = Sinks { out: &mut out, rejects: dropped, keys: None };
    let (copied, result) = run(&second, &inputs, copying, &Watch::default());
    let result = result.and_then(|()| unchanged(&report, &copied));
    (report, result)
}

/// Copies rows to tables.
#[cfg(feature = "tables")]
fn copy_tables<'o>(
    plan: &JobPlan,
    inputs: &[Input],
    kept: RowsTo<'o>,
    dropped: Option<&'o mut (dyn Write + Send)>,
    found: &Report,
) -> Result<(), RunError> {
    let kind = kept.kind;
    let mut outputs = vec![kept];
    if let Some(out) = dropped {
        let mut selection = Selection::default();
        let sinks = Sinks { out: &mut io::sink(), rejects: Some(&mut selection), keys: None };
        let (copied, result) = run(plan, inputs, sinks, &Watch::default());
        result.and_then(|()| unchanged(found, &copied))?;
        outputs.push(RowsTo { selection, kind, out });
    }
    copy_rows(plan, inputs, outputs)
}

/// The input, or a copy if it can be read only once.
fn repeatable(plan: &JobPlan, input: &Input) -> Result<Input, InputError> {
    let memory = plan.limits.memory.as_ref();
    let directory = memory.map_or_else(env::temp_dir, |memory| memory.directory.clone());
    let copy = input.clone().copied_to(|| {
        temporary_file(&directory).map_err(|error| {
            let text = format!(
                "it is read twice, and cannot be copied to {}: {error}",
                directory.display()
            );
            io::Error::new(error.kind(), text)
        })
    });
    copy.map_err(|error| InputError::new(&input.path, None, Trouble::Io(error)))
}

/// Fails if an input had not as many records the second time.
fn unchanged(found: &Report, copied: &Report) -> Result<(), RunError> {
    let both = found.files.iter().zip(&copied.files);
    match both.into_iter().find(|(found, copied)| found.tally.records != copied.tally.records) {
        Some((file, _)) => {
            Err(RunError::Input(InputError::new(&file.path, None, Trouble::Replaced)))
        }
        None => Ok(()),
    }
}
