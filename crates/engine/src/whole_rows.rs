//! Copies rows of tables: those of a selection to one table, and those of another selection to another.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::error::RunError;
use crate::output::TableKind;
use crate::plan::JobPlan;
use crate::selection::Selection;
use uniqurl_formats::input::{Input, InputError, OpenFile, Trouble};
use uniqurl_formats::record::Refusal;
use uniqurl_formats::table::{TableOptions, WholeTable};

/// A table that is to hold the rows of a selection.
pub(crate) struct RowsTo<'o> {
    pub(crate) selection: Selection,
    pub(crate) kind: TableKind,
    pub(crate) out: &'o mut (dyn Write + Send),
}

/// Copies rows with all of their columns, in the order of the inputs, which have the same columns.
pub(crate) fn copy_rows(
    plan: &JobPlan,
    inputs: &[Input],
    outputs: Vec<RowsTo<'_>>,
) -> Result<(), RunError> {
    let options = TableOptions {
        chunk_size: plan.limits.chunk_size,
        max_record: usize::MAX,
        threads: 1,
        memory: plan.budget(),
        once: false,
    };
    let mut tables = Vec::new();
    let mut outputs = Some(outputs);
    let mut columns: Option<SchemaRef> = None;
    for (number, input) in inputs.iter().enumerate() {
        let copied = open(input, options.memory).and_then(|table| {
            let schema = table.schema();
            match &columns {
                None => columns = Some(Arc::clone(schema)),
                Some(columns) if columns.fields() != schema.fields() => {
                    let trouble = Trouble::Refused(Refusal::OTHER_COLUMNS);
                    return Err(RunError::Input(InputError::new(&input.path, None, trouble)));
                }
                Some(_) => {}
            }
            if let Some(outputs) = outputs.take() {
                for output in outputs {
                    let writer = RowWriter::new(output.kind, output.out, schema);
                    tables.push((output.selection, writer.map_err(RunError::Output)?));
                }
            }
            let mut row = 0;
            let copied = table.read(options, |batch| {
                let first = row + 1;
                row += batch.num_rows() as u64;
                let copied = tables.iter_mut().try_for_each(|(selection, writer)| {
                    let is_selected = (first..=row).map(|row| Some(selection.has(number, row)));
                    let is_selected: BooleanArray = is_selected.collect();
                    match is_selected.true_count() {
                        0 => Ok(()),
                        _ => writer
                            .write(&filter_record_batch(&batch, &is_selected).map_err(of_arrow)?),
                    }
                });
                copied.map_or_else(ControlFlow::Break, ControlFlow::Continue)
            });
            match copied.map_err(RunError::Input)? {
                ControlFlow::Break(error) => Err(RunError::Output(error)),
                ControlFlow::Continue(()) => Ok(()),
            }
        });
        match copied {
            // It is reported already, and the rows before the damage are copied.
            Err(RunError::Input(_)) if plan.input.keep_going => {}
            copied => copied?,
        }
    }
    tables.into_iter().try_for_each(|(_, writer)| writer.finish()).map_err(RunError::Output)
}

fn open(input: &Input, memory: usize) -> Result<WholeTable, RunError> {
    let replaced = || InputError::new(&input.path, None, Trouble::Replaced);
    let file = OpenFile::open(input).and_then(|file| file.ok_or_else(replaced));
    let table = file.and_then(|file| WholeTable::open(Arc::new(file), memory));
    table.and_then(|table| table.ok_or_else(replaced)).map_err(RunError::Input)
}

/// A table that is being written.
enum RowWriter<'o> {
    Parquet(ArrowWriter<&'o mut (dyn Write + Send)>),
    Arrow(FileWriter<&'o mut (dyn Write + Send)>),
}

impl<'o> RowWriter<'o> {
    fn new(
        kind: TableKind,
        out: &'o mut (dyn Write + Send),
        schema: &SchemaRef,
    ) -> io::Result<Self> {
        Ok(match kind {
            TableKind::Arrow => {
                RowWriter::Arrow(FileWriter::try_new(out, schema).map_err(of_arrow)?)
            }
            TableKind::Parquet | TableKind::Csv => {
                let properties = WriterProperties::builder()
                    .set_created_by(concat!("uniqurl version ", env!("CARGO_PKG_VERSION")).into())
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .build();
                let writer = ArrowWriter::try_new(out, Arc::clone(schema), Some(properties));
                RowWriter::Parquet(writer.map_err(of_parquet)?)
            }
        })
    }

    fn write(&mut self, rows: &RecordBatch) -> io::Result<()> {
        match self {
            RowWriter::Parquet(writer) => {
                writer.write(rows).map_err(of_parquet)?;
                // Rows of documents are long, and a row group waits in memory.
                match writer.memory_size() > ROW_GROUP {
                    true => writer.flush().map_err(of_parquet),
                    false => Ok(()),
                }
            }
            RowWriter::Arrow(writer) => writer.write(rows).map_err(of_arrow),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            RowWriter::Parquet(writer) => writer.close().map(drop).map_err(of_parquet),
            RowWriter::Arrow(mut writer) => writer.finish().map_err(of_arrow),
        }
    }
}

/// Bytes of a row group.
const ROW_GROUP: usize = 64 << 20;

fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(inner) => *inner,
            Err(inner) => io::Error::other(inner),
        },
        error => io::Error::other(error),
    }
}

fn of_arrow(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, inner) => inner,
        error => io::Error::other(error),
    }
}
