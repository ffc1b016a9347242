//! Outputs that are tables, recognized by their names: their columns, and hints about names that promise
//! another format than the lines written.

use std::panic;
use std::path::Path;
use std::thread;

use crate::args::output_paths::kind_of_shards;
use crate::args::run_args::RunArgs;
use crate::request::{Division, Request};
use uniqurl::{Key, Normalizer};
use uniqurl_engine::output::{Field, LineForm, TableColumn, TableKind, TableValues};
use uniqurl_engine::{Dedup, Job, OutputOptions, SetOrder};
use uniqurl_formats::input::ending;
use uniqurl_formats::table::THREAD;
use uniqurl_text::Printable;

/// The contents of a table.
pub(crate) struct TableSpec {
    pub(crate) kind: TableKind,
    pub(crate) columns: Vec<TableColumn>,
    /// The column by which rows are sorted.
    pub(crate) sorted_by: Option<usize>,
}

impl TableSpec {
    /// The kind of table that a run writes, if it writes one or several.
    pub(crate) fn kind(common: &RunArgs, division: Option<&Division>) -> Option<TableKind> {
        match division {
            Some(Division { suffix, .. }) => kind_of_shards(suffix),
            None => TableKind::of(&common.output),
        }
    }

    /// The table that a run writes.
    pub(crate) fn new(
        kind: TableKind,
        common: &RunArgs,
        job: &Job,
        output: &OutputOptions,
        normalizer: &Normalizer,
    ) -> Self {
        let OutputOptions { fields, carry, tally, .. } = output;
        // Lines of one column hold a key as it stands; in others its bytes are escaped, if it may have any.
        let (key_alone, key_holds) = match normalizer.may_write_any_byte() {
            true => (TableValues::Bytes, TableValues::EscapedBytes),
            false => (TableValues::Text, TableValues::Text),
        };
        let key_name = match common.key {
            Key::Url => Field::Canonical.name(),
            key => key.name(),
        };
        let column = |name: &str, holds| TableColumn { name: name.to_owned(), holds };
        let numbers = |name: &str| column(name, TableValues::Numbers);
        let escaped = |name: &str| column(name, TableValues::EscapedText);
        let columns: Vec<_> = match job {
            Job::Dedup(_) if tally.any() => {
                let columns = [numbers(Field::Count.name()), column(key_name, key_holds)];
                let tallies =
                    // Of the columns of a tally, only these have a decimal point.
                    tally.names().map(|name| match name.starts_with("time_") || name == "errors" {
                        true => column(name, TableValues::Decimals),
                        false => numbers(name),
                    });
                columns.into_iter().chain(tallies).collect()
            }
            Job::Dedup(dedup) if fields.is_empty() && carry.is_empty() => {
                let key = column(key_name, key_alone);
                let count = dedup.count.then(|| numbers(Field::Count.name()));
                count.into_iter().chain([key]).collect()
            }
            Job::Dedup(dedup) => {
                let fields = match &fields[..] {
                    [] => Field::of_key(common.key, dedup.count),
                    fields => fields,
                };
                let field = |field: &Field| match field {
                    Field::Count => numbers(field.name()),
                    // A hash is hexadecimal, whatever bytes the URL holds.
                    Field::Hash => column(field.name(), TableValues::Text),
                    Field::First | Field::Original | Field::Decoded => escaped(field.name()),
                    field => column(field.name(), key_holds),
                };
                let carried = carry.iter().map(|name| escaped(name));
                fields.iter().map(field).chain(carried).collect()
            }
            _ => vec![
                numbers("record"),
                escaped("original"),
                column(key_name, key_holds),
                column("reject", TableValues::Text),
            ],
        };
        let is_sorted = matches!(job, Job::Dedup(Dedup { order: SetOrder::Sorted, .. }));
        // Carried columns may have any name, also that of the key.
        let own = columns.len() - carry.len();
        let sorted_by = columns[..own].iter().position(|column| column.name == key_name);
        Self { kind, columns, sorted_by: sorted_by.filter(|_| is_sorted) }
    }
}

/// The line that names the columns of a tally, whose numbers nobody could tell apart.
pub(crate) fn header(common: &RunArgs, output: &OutputOptions) -> Option<String> {
    let is_asked = output.tally.any() && output.form == LineForm::Tabs;
    let names = [Field::Count.name(), common.key.name()].into_iter().chain(output.tally.names());
    is_asked.then(|| names.collect::<Vec<_>>().join("\t") + "\n")
}

/// The message about lines that go into a file whose name promises JSON objects or cells of a table, and the
/// hint with the option for those.
pub(crate) fn output_hint(output: &Path, request: &Request) -> Option<(String, &'static str)> {
    let (plan, lines) = (&request.plan, &request.plan.output);
    let is_json = match &plan.job {
        Job::Normalize { json } => *json,
        Job::Dedup(_) | Job::Tabulate | Job::Select(_) => lines.form == LineForm::Json,
    };
    if is_json || request.division.is_some() || request.whole.is_some() {
        return None;
    }
    let mut promised = ending(output)?;
    if matches!(promised.as_str(), "gz" | "zst") {
        promised = ending(Path::new(output.file_stem()?))?;
    }
    let is_counted = matches!(&plan.job, Job::Dedup(dedup) if dedup.count);
    let has_columns = is_counted || !lines.fields.is_empty() || !lines.carry.is_empty();
    let objects = "write objects with --json";
    let table =
        "end the name in .csv, .parquet or .arrow for a table, or write objects with --json";
    let (written, instead) = match promised.as_str() {
        "json" | "jsonl" | "ndjson" => ("lines are written, not JSON", objects),
        // Lines with columns are what the name promises.
        "tsv" if !has_columns => ("lines are written, without columns or a header", table),
        _ => return None,
    };
    Some((format!("{}: {written}", Printable::path(output)), instead))
}

/// Silences panics of table readers: they come from damaged input, which is reported where the panic is
/// caught.
pub(crate) fn expect_panics() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panicked| {
        // Any other panic is a fault of the program, and is shown.
        if thread::current().name() != Some(THREAD) {
            usual(panicked);
        }
    }));
}
