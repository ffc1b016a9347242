//! The row groups of a Parquet file, encoded side by side.
//!
//! In: whole row groups. Out: the file, which is the same for any number of threads. Each column
//! of each group is a task. Columns alone would be too few tasks: a set has one.

use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use rayon::prelude::*;

use super::Output;
use super::file::named;
use super::page_checksums;

/// Memory of the row groups that wait to be encoded in parallel, and for each thread. It is not counted in the
/// budget of a run.
const WAITING: usize = 8 << 20;
const WAITING_THREAD: usize = 4 << 20;

/// A file that grows by row groups.
pub(super) struct RowGroups {
    file: SerializedFileWriter<Output>,
    columns: ArrowRowGroupWriterFactory,
    /// Columns of text, which take nearly all of the time.
    texts: usize,
    waiting: Vec<RecordBatch>,
    /// The memory of those.
    bytes: usize,
    encoding: Encoding,
}

/// The threads that encode the columns of row groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// All of the pool.
    OnAll,
    /// The one that adds row groups.
    Alone,
}

impl RowGroups {
    /// Begins the file.
    pub fn new(output: Output, schema: &Arc<Schema>, properties: WriterProperties) -> Result<Self> {
        let writer = ArrowWriter::try_new(output, Arc::clone(schema), Some(properties))?;
        let (file, columns) = writer.into_serialized_writer()?;
        let columns = columns.with_page_store_factory(page_checksums::stores());
        let is_text = |field: &&Arc<Field>| *field.data_type() != DataType::UInt64;
        let texts = schema.fields().iter().filter(is_text).count().max(1);
        Ok(Self { file, columns, texts, waiting: Vec::new(), bytes: 0, encoding: Encoding::OnAll })
    }

    /// Has the thread that adds a row group encode it at once: other threads are busy with other files.
    pub fn encode_alone(&mut self) {
        self.encoding = Encoding::Alone;
    }

    /// The threads that encode. Outside of a pool there is only this one.
    fn threads(&self) -> usize {
        match (self.encoding, rayon::current_thread_index()) {
            (Encoding::OnAll, Some(_)) => rayon::current_num_threads(),
            _ => 1,
        }
    }

    /// Adds a row group that takes so much memory, and gives back those that were written.
    pub fn push(&mut self, group: RecordBatch, bytes: usize) -> Result<Vec<RecordBatch>> {
        self.waiting.push(group);
        self.bytes += bytes;
        let threads = self.threads();
        let tasks = self.waiting.len() * self.texts;
        // The next may be as long as this one.
        let is_full = tasks >= threads || self.bytes + bytes > WAITING + threads * WAITING_THREAD;
        if is_full { self.write() } else { Ok(Vec::new()) }
    }

    /// Writes the remaining rows, and returns the output.
    pub fn finish(mut self) -> Result<Output> {
        self.write()?;
        self.file.into_inner()
    }

    fn write(&mut self) -> Result<Vec<RecordBatch>> {
        let before = self.file.flushed_row_groups().len();
        let mut columns = Vec::new();
        for (i, group) in self.waiting.iter().enumerate() {
            // The writer numbers row groups, so the waiting ones continue after those written.
            let writers = self.columns.create_column_writers(before + i)?;
            columns
                .extend(writers.into_iter().zip(group.schema_ref().fields()).zip(group.columns()));
        }
        // A column is a long task, and they differ in length, so none waits behind another on its thread.
        let chunks: Vec<_> = if self.threads() > 1 {
            columns.into_par_iter().with_max_len(1).map(encode).collect()
        } else {
            columns.into_iter().map(encode).collect()
        };
        // Encoding is parallel, but the groups are appended in order.
        let mut chunks = chunks.into_iter();
        for group in &self.waiting {
            let mut writer = self.file.next_row_group()?;
            for chunk in chunks.by_ref().take(group.num_columns()) {
                chunk?.append_to_row_group(&mut writer)?;
            }
            writer.close()?;
        }
        self.bytes = 0;
        Ok(std::mem::take(&mut self.waiting))
    }
}

/// A column of a row group, with its encoder.
type Column<'g> = ((ArrowColumnWriter, &'g Arc<Field>), &'g ArrayRef);

fn encode(((mut writer, field), values): Column<'_>) -> Result<ArrowColumnChunk> {
    for leaf in compute_leaves(field, values)? {
        writer.write(&leaf)?;
    }
    let mut chunk = writer.close()?;
    page_checksums::count_in(&mut chunk)?;
    Ok(chunk)
}

/// An error that names the path. The output's own has done so.
pub(super) fn of_parquet(path: &Path, error: ParquetError) -> io::Error {
    let error = match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(inner) => return *inner,
            Err(inner) => io::Error::other(inner),
        },
        error => io::Error::other(error),
    };
    named(path, error)
}
