//! A set, or the outcome of each record, as a table: Parquet if the name ends in `.parquet`, an
//! Arrow IPC file if it ends in `.arrow`, CSV if it ends in `.csv`, `.csv.gz` or `.csv.zst`.
//!
//! In: the same lines that a text file would hold, columns between tabs. Out: a file that is
//! whole or absent like any other. An empty cell of a line is null, and an escaped one is the value before
//! the escape.
//!
//! Row groups are small, so that a lookup in a sorted set reads few of them: each stores the
//! minimum and maximum of its columns, and so does each page.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, UInt64Builder};
use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StringArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_ipc::{CompressionType, MetadataVersion};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::WriterProperties;

use super::Output;
use super::csv;
use super::fields::unescaped;
use super::file::named;
use super::row_groups::{RowGroups, of_parquet};
use uniqurl_formats::input::ending;
use uniqurl_text::Printable;

/// Rows that are handed to the writer together, and the memory that ends a batch earlier, since it is
/// held up to its end.
#[derive(Debug, Clone, Copy, Default)]
struct TableBatch {
    rows: usize,
    bytes: usize,
}

/// A row group of Parquet.
const ROW_GROUP: TableBatch = TableBatch { rows: 128 << 10, bytes: 2 << 20 };

/// A batch of Arrow.
const ARROW: TableBatch = TableBatch { rows: 16 << 10, bytes: 4 << 20 };

/// Bytes of CSV that are written together.
const CSV: usize = 256 << 10;

/// Bytes of a row, so that with a batch before it every place in it is a number of 31 bits.
const LONGEST: usize = 1 << 30;

/// Bytes that a cell takes besides its text, or for a number.
const BESIDE_TEXT: usize = size_of::<u64>();

/// Bytes of a page of Parquet. Up to this size, zstd looks for shorter matches: a list is 3 to 5 % smaller
/// than with pages of 64 KiB, 256 KiB, or 1 MiB, in the same time.
const PAGE: usize = 128 << 10;

/// A column of a table.
#[derive(Debug, Clone)]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub holds: TableValues,
}

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableValues {
    /// Text.
    Text,
    /// Text, which [`escaped`](super::escaped) wrote. A value that is not UTF-8 stays escaped.
    EscapedText,
    /// Bytes that may be no text.
    Bytes,
    /// The same, escaped.
    EscapedBytes,
    /// Whole numbers from 0.
    Numbers,
    /// Numbers with a decimal point.
    Decimals,
}

impl TableValues {
    /// The value of a cell.
    fn value(self, cell: &[u8]) -> Cow<'_, [u8]> {
        match self {
            TableValues::EscapedText | TableValues::EscapedBytes => unescaped(cell),
            _ => Cow::Borrowed(cell),
        }
    }
}

/// The kind of table that a file name asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableKind {
    /// Parquet.
    Parquet,
    /// An Arrow IPC file.
    Arrow,
    /// CSV with a header, quoted as RFC 4180 says; each row ends with a line feed.
    Csv,
}

impl TableKind {
    /// The kind that a name ends in, if it is one.
    pub fn of(name: &Path) -> Option<Self> {
        match ending(name)?.as_str() {
            "parquet" => Some(TableKind::Parquet),
            "arrow" => Some(TableKind::Arrow),
            "csv" => Some(TableKind::Csv),
            "gz" | "zst" => Self::of(Path::new(name.file_stem()?)).filter(|kind| kind.is_text()),
            _ => None,
        }
    }

    /// Whether it is text, which may be compressed as a whole and go into a pipe.
    pub fn is_text(self) -> bool {
        self == TableKind::Csv
    }
}

/// A table that is being written. It appears as an [`Output`] does: never after an error. The error of a row,
/// such as text that is not UTF-8, may come only with a later row, or at the end. Every error names the path.
///
/// ```
/// use std::io::Write;
/// use uniqurl_engine::output::{TableColumn, TableFile, TableKind, TableValues};
///
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("set.parquet");
/// let columns = vec![
///     TableColumn { name: "count".into(), holds: TableValues::Numbers },
///     TableColumn { name: "canonical".into(), holds: TableValues::Text },
/// ];
/// let mut table = TableFile::create(&path, TableKind::Parquet, columns, None)?;
/// table.write_all(b"2\thttp://example.com/\n")?;
/// table.commit()?;
/// assert!(path.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct TableFile {
    /// The name that errors give.
    name: PathBuf,
    writer: TableWriter,
    schema: Arc<Schema>,
    columns: Vec<Making>,
    /// The size of the rows held, and the size at which they are written.
    held: TableBatch,
    full: TableBatch,
    /// A line whose end has not come yet.
    pending: Vec<u8>,
}

impl fmt::Debug for TableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableFile").field("name", &self.name).finish_non_exhaustive()
    }
}

// Parquet, Arrow, Csv ── finish ──▶ Done ── commit. An error leads to Lost from everywhere, and nothing leads back.
enum TableWriter {
    Parquet(Box<RowGroups>),
    Arrow(Box<FileWriter<Output>>),
    /// CSV, with rows that wait to be written together.
    Csv(Box<Output>, Vec<u8>),
    /// All of it is written.
    Done(Box<Output>),
    /// An error came between.
    Lost,
}

/// A column that is being filled.
#[derive(Debug)]
struct Making {
    holds: TableValues,
    bytes: Vec<u8>,
    ends: Vec<i32>,
    valid: Vec<bool>,
    numbers: UInt64Builder,
    decimals: Float64Builder,
    /// Room for the bytes of later rows: new memory is slow to come.
    spare: Vec<Vec<u8>>,
}

impl TableFile {
    /// Opens the output for rows of these columns, sorted by the one of this number, from 0, if there is
    /// one.
    ///
    /// # Errors
    ///
    /// As for [`Output::create`]; and if the output is not a regular file, such as a pipe.
    pub fn create(
        path: &Path,
        kind: TableKind,
        columns: Vec<TableColumn>,
        sorted_by: Option<usize>,
    ) -> io::Result<Self> {
        let output = Output::create(path)?;
        Self::create_in(output, path, (kind, columns), sorted_by)
    }

    /// The same in an output that is one of many, where other threads write others.
    pub(super) fn create_alone(
        output: Output,
        name: &Path,
        (kind, columns): (TableKind, Vec<TableColumn>),
        sorted_by: Option<usize>,
    ) -> io::Result<Self> {
        let mut table = Self::create_in(output, name, (kind, columns), sorted_by)?;
        if let TableWriter::Parquet(writer) = &mut table.writer {
            writer.encode_alone();
        }
        Ok(table)
    }

    fn create_in(
        output: Output,
        path: &Path,
        (kind, columns): (TableKind, Vec<TableColumn>),
        sorted_by: Option<usize>,
    ) -> io::Result<Self> {
        // An error may come late, and rows that are already in a pipe cannot be taken back.
        if output.is_direct() && !kind.is_text() {
            let why = "a table is written whole or not at all, which takes a file";
            return Err(named(path, io::Error::new(io::ErrorKind::InvalidInput, why)));
        }
        let field = |column: &TableColumn| {
            let data_type = match column.holds {
                TableValues::Text | TableValues::EscapedText => DataType::Utf8,
                TableValues::Bytes | TableValues::EscapedBytes => DataType::Binary,
                TableValues::Numbers => DataType::UInt64,
                TableValues::Decimals => DataType::Float64,
            };
            Field::new(&column.name, data_type, true)
        };
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let writer = match kind {
            TableKind::Parquet => {
                let properties = properties(sorted_by);
                let writer = RowGroups::new(output, &schema, properties);
                TableWriter::Parquet(Box::new(writer.map_err(|error| of_parquet(path, error))?))
            }
            TableKind::Arrow => {
                // The format recommends an alignment of 64 bytes.
                let options = IpcWriteOptions::try_new(64, false, MetadataVersion::V5)
                    .and_then(|options| options.try_with_compression(Some(CompressionType::ZSTD)))
                    .map_err(|error| of_arrow(path, error))?;
                let writer = FileWriter::try_new_with_options(output, &schema, options);
                TableWriter::Arrow(Box::new(writer.map_err(|error| of_arrow(path, error))?))
            }
            TableKind::Csv => {
                let mut header = Vec::new();
                let names = columns.iter().map(|column| Cow::Borrowed(column.name.as_bytes()));
                csv::append_row(names, &mut header);
                TableWriter::Csv(Box::new(output), header)
            }
        };
        let columns = columns.iter().map(|column| Making::new(column.holds)).collect();
        let full = match kind {
            TableKind::Parquet => ROW_GROUP,
            TableKind::Arrow => ARROW,
            // CSV is written as text, so no row waits in columns.
            TableKind::Csv => TableBatch::default(),
        };
        let (name, held) = (path.to_owned(), TableBatch::default());
        Ok(Self { name, writer, schema, columns, held, full, pending: Vec::new() })
    }

    /// Brings every byte to the disk. No row can be written after that.
    ///
    /// # Errors
    ///
    /// As for [`Output::prepare`]; and if a row is wrong, such as text that is not UTF-8.
    pub fn prepare(&mut self) -> io::Result<()> {
        let done = self.finish();
        self.noted(done)?;
        match &mut self.writer {
            TableWriter::Done(output) => output.prepare(),
            _ => Err(self.ended()),
        }
    }

    /// Makes the file appear, whole.
    ///
    /// # Errors
    ///
    /// As for [`prepare`](Self::prepare) and [`Output::commit`].
    pub fn commit(mut self) -> io::Result<()> {
        self.prepare()?;
        match self.writer {
            TableWriter::Done(output) => output.commit(),
            _ => Err(self.ended()),
        }
    }

    /// Remembers an error: rows are lost with it.
    fn noted<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        if done.is_err() {
            self.writer = TableWriter::Lost;
        }
        done
    }

    /// Why nothing can be written.
    fn ended(&self) -> io::Error {
        let why = match self.writer {
            TableWriter::Lost => "an earlier error ended the table",
            _ => "the table is complete and takes no more rows",
        };
        named(&self.name, io::Error::other(why))
    }

    /// Writes all that is left.
    fn finish(&mut self) -> io::Result<()> {
        match self.writer {
            TableWriter::Parquet(_) | TableWriter::Arrow(_) | TableWriter::Csv(..) => {}
            TableWriter::Done(_) => return Ok(()),
            TableWriter::Lost => return Err(self.ended()),
        }
        // The last line of a text may have no line feed.
        if !self.pending.is_empty() {
            let line = std::mem::take(&mut self.pending);
            self.line(&line)?;
        }
        self.write_rows()?;
        // An error below leaves the table lost, as its rows are.
        let output = match std::mem::replace(&mut self.writer, TableWriter::Lost) {
            TableWriter::Parquet(writer) => {
                writer.finish().map_err(|error| of_parquet(&self.name, error))?
            }
            TableWriter::Arrow(writer) => {
                writer.into_inner().map_err(|error| of_arrow(&self.name, error))?
            }
            TableWriter::Csv(mut output, rows) => {
                output.write_all(&rows)?;
                *output
            }
            TableWriter::Done(output) => *output,
            TableWriter::Lost => return Err(self.ended()),
        };
        self.writer = TableWriter::Done(Box::new(output));
        Ok(())
    }

    /// Adds the lines that are whole now.
    fn lines(&mut self, bytes: &[u8]) -> io::Result<()> {
        if matches!(self.writer, TableWriter::Done(_) | TableWriter::Lost) {
            return Err(self.ended());
        }
        let mut start = 0;
        for feed in memchr::memchr_iter(b'\n', bytes) {
            if self.pending.is_empty() {
                self.line(&bytes[start..feed])?;
            } else {
                // The start of this line came with an earlier write.
                let mut line = std::mem::take(&mut self.pending);
                line.extend_from_slice(&bytes[start..feed]);
                self.line(&line)?;
            }
            start = feed + 1;
        }
        self.pending.extend_from_slice(&bytes[start..]);
        Ok(())
    }

    fn line(&mut self, line: &[u8]) -> io::Result<()> {
        if line.len() > LONGEST {
            let why = format!("a row of more than {LONGEST} bytes is too long for a table");
            return Err(named(&self.name, io::Error::new(io::ErrorKind::InvalidInput, why)));
        }
        let count = self.columns.len();
        // At most `count` cells, so a tab in the last one stays in it.
        let mut cells = line.splitn(count, |byte| *byte == b'\t');
        if let TableWriter::Csv(output, rows) = &mut self.writer {
            let cells = cells.chain(std::iter::repeat(&b""[..])).zip(&self.columns);
            csv::append_row(cells.map(|(cell, column)| column.holds.value(cell)), rows);
            if rows.len() >= CSV {
                output.write_all(rows)?;
                rows.clear();
            }
            return Ok(());
        }
        for column in &mut self.columns {
            let cell = cells.next().unwrap_or_default();
            column.add(cell).map_err(|error| named(&self.name, error))?;
        }
        self.held.rows += 1;
        self.held.bytes += line.len() + self.columns.len() * BESIDE_TEXT;
        let is_full = self.held.rows >= self.full.rows || self.held.bytes >= self.full.bytes;
        if is_full { self.write_rows() } else { Ok(()) }
    }

    fn write_rows(&mut self) -> io::Result<()> {
        let TableBatch { rows, bytes } = std::mem::take(&mut self.held);
        if rows == 0 {
            return Ok(());
        }
        let arrays = self.columns.iter_mut().map(Making::take).collect::<Result<Vec<_>, _>>();
        let batch =
            arrays.and_then(|arrays| RecordBatch::try_new(Arc::clone(&self.schema), arrays));
        let batch = batch.map_err(|error| of_arrow(&self.name, error))?;
        let written = match &mut self.writer {
            TableWriter::Parquet(writer) => {
                writer.push(batch, bytes).map_err(|error| of_parquet(&self.name, error))?
            }
            TableWriter::Arrow(writer) => {
                writer.write(&batch).map_err(|error| of_arrow(&self.name, error))?;
                vec![batch]
            }
            _ => return Err(self.ended()),
        };
        for batch in written {
            let (_, arrays, _) = batch.into_parts();
            self.columns.iter_mut().zip(arrays).for_each(|(column, array)| column.reuse(array));
        }
        Ok(())
    }
}

impl Write for TableFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let added = self.lines(bytes);
        self.noted(added)?;
        Ok(bytes.len())
    }

    /// Rows of Parquet and Arrow wait for their row group.
    fn flush(&mut self) -> io::Result<()> {
        let TableWriter::Csv(output, rows) = &mut self.writer else { return Ok(()) };
        let flushed = output.write_all(rows).and_then(|()| output.flush());
        rows.clear();
        self.noted(flushed)
    }
}

impl Making {
    fn new(holds: TableValues) -> Self {
        let (bytes, ends) = (Vec::new(), vec![0]);
        Self {
            holds,
            bytes,
            ends,
            valid: Vec::new(),
            numbers: UInt64Builder::new(),
            decimals: Float64Builder::new(),
            spare: Vec::new(),
        }
    }

    /// Adds a cell, unless it is a number that the column cannot hold: as a null it would be lost in silence.
    fn add(&mut self, cell: &[u8]) -> io::Result<()> {
        let text = || std::str::from_utf8(cell).ok();
        match self.holds {
            TableValues::Numbers => {
                let number = text().and_then(|digits| digits.parse().ok());
                if number.is_none() && !cell.is_empty() {
                    let why = format!("{} is too great for a column of 64 bits", Printable(cell));
                    return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                }
                self.numbers.append_option(number);
                return Ok(());
            }
            TableValues::Decimals => {
                let number = text().and_then(|digits| digits.parse().ok());
                self.decimals.append_option(number);
                return Ok(());
            }
            _ => {}
        }
        let mut value = self.holds.value(cell);
        // A column of text takes no other bytes, and one of bytes is no text to most readers.
        if self.holds == TableValues::EscapedText && std::str::from_utf8(&value).is_err() {
            value = Cow::Borrowed(cell);
        }
        self.bytes.extend_from_slice(&value);
        // A row more than a batch: see `LONGEST`.
        self.ends.push(self.bytes.len() as i32);
        self.valid.push(!cell.is_empty());
        Ok(())
    }

    /// The column so far. It is empty then.
    fn take(&mut self) -> Result<ArrayRef, ArrowError> {
        match self.holds {
            TableValues::Numbers => return Ok(Arc::new(self.numbers.finish())),
            TableValues::Decimals => return Ok(Arc::new(self.decimals.finish())),
            _ => {}
        }
        let ends = std::mem::replace(&mut self.ends, vec![0]);
        let offsets = OffsetBuffer::new(ends.into());
        // The next rows take about as much.
        let length = self.bytes.len();
        let room = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(length + length / 8));
        let bytes = Buffer::from_vec(std::mem::replace(&mut self.bytes, room));
        let valid = std::mem::take(&mut self.valid);
        // Without nulls there is no need for a buffer of them.
        let nulls = valid.contains(&false).then(|| NullBuffer::from(valid));
        Ok(match self.holds {
            TableValues::Text | TableValues::EscapedText => {
                Arc::new(StringArray::try_new(offsets, bytes, nulls)?)
            }
            _ => Arc::new(BinaryArray::try_new(offsets, bytes, nulls)?),
        })
    }

    /// Keeps the buffer of a written array for reuse if at least half of it was used.
    fn reuse(&mut self, array: ArrayRef) {
        let text = array.to_data().buffers().get(1).cloned();
        drop(array);
        // This gives the buffer only if nobody else holds it. A writer may keep an array for later.
        if let Some(Ok(mut bytes)) = text.map(Buffer::into_vec::<u8>)
            && bytes.len() >= bytes.capacity() / 2
        {
            bytes.clear();
            self.spare.push(bytes);
        }
    }
}

fn properties(sorted_by: Option<usize>) -> WriterProperties {
    let sorted = sorted_by.and_then(|column| i32::try_from(column).ok());
    let sorted = sorted.map(|column_idx| {
        vec![SortingColumn { column_idx, descending: false, nulls_first: false }]
    });
    WriterProperties::builder()
        .set_created_by(concat!("uniqurl version ", env!("CARGO_PKG_VERSION")).into())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        // Distinct values only fill a dictionary.
        .set_dictionary_enabled(false)
        .set_data_page_size_limit(PAGE)
        .set_sorting_columns(sorted)
        .build()
}

/// An error that names the path. The output's own has done so.
fn of_arrow(path: &Path, error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, inner) => inner,
        error => named(path, io::Error::other(error)),
    }
}
