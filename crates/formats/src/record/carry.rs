//! Extracts columns beside a record's URL: those of `--carry`, and the one that `--keep max:COL` compares.
//!
//! The input is the relevant lines of a chunk, in order, including headers, which give the
//! positions of the columns in later lines. The output is the values of the columns. This parses a
//! record a second time, so reading costs nothing if no column is carried.

use std::ops::Range;
use std::path::Path;

use super::columns::{Column, ColumnName, Header, find_all};
use super::fields::{COLUMNS, Fields};
use super::json::Pointers;
use super::part::{PartSet, RecordPart};
use super::{Context, Format};
use super::{NULL, READS_TABLES, RowBatch};
use uniqurl::internal::{AllocError, alloc};
use uniqurl_text::{Excerpt, HIDDEN, UrlExcerpt, redact, redact_query, redact_record};

/// The values of one record's columns. Reused from record to record.
#[derive(Debug, Default)]
pub struct Values {
    bytes: Vec<u8>,
    places: Vec<Option<Range<usize>>>,
    /// True if memory ran out for one of the values.
    lacks: bool,
}

impl Values {
    fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
        self.lacks = false;
    }

    fn push(&mut self, value: Option<&[u8]>) {
        self.lacks |= alloc::try_reserve(&mut self.places, 1).is_err();
        if !self.lacks {
            self.places.push(None);
            value.into_iter().for_each(|value| self.fill(self.places.len() - 1, value));
        }
    }

    /// An error if memory ran out for any of the values.
    fn are_whole(&self) -> Result<(), AllocError> {
        if self.lacks { Err(AllocError) } else { Ok(()) }
    }

    /// Sets the value of the n-th column, unless it has one.
    pub(super) fn fill(&mut self, n: usize, value: &[u8]) {
        // Own columns are filled in first: a column of the input counts before the one that logs
        // have in common under its name.
        if self.places[n].is_some() {
            return;
        }
        self.lacks |= alloc::try_reserve(&mut self.bytes, value.len()).is_err();
        if !self.lacks {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(value);
            self.places[n] = Some(start..self.bytes.len());
        }
    }

    /// The value of the n-th column, if the record has one.
    pub fn get(&self, n: usize) -> Option<&[u8]> {
        Some(&self.bytes[self.places.get(n)?.clone()?])
    }
}

/// The columns to carry, and their positions in the records of a chunk.
#[derive(Debug)]
pub struct Carrier {
    format: Format,
    columns: Vec<Column>,
    /// The parts among them that logs have in common. They fill in where records have no column of that
    /// name.
    common: PartSet,
    /// The pointers to them, for JSON.
    pointers: Pointers,
    /// Buffers for a record without its envelope, and for a value.
    buffers: [Vec<u8>; 2],
}

/// The list of formats with columns, for error messages.
const SUCH: &str = "csv:COL, tsv:COL, json:POINTER, cdx, cdxj, w3c, cloudfront, ltsv, \
     parquet:COL, arrow:COL and access logs";

/// The parts that logs have in common which a format may have under their names.
fn common(format: &Format) -> impl Iterator<Item = (&'static str, RecordPart)> {
    let parts = format.common_columns();
    COLUMNS.into_iter().filter(move |(_, part)| parts.has(*part))
}

/// The column of this name, in a format without an envelope.
fn column(format: &Format, name: &str) -> Result<Column, String> {
    if name.is_empty() {
        return Err("a column has a name or a number".into());
    }
    let (_, common_part) = common(format).find(|(known, _)| *known == name).unzip();
    match format.column(name) {
        Err(why) if common_part.is_none() => Err(why),
        Ok(None) if common_part.is_none() => Err(lacks(format)),
        own => Ok(Column { own: own.ok().flatten(), common: common_part, place: None }),
    }
}

/// The reason why a format has no column of a name.
fn lacks(format: &Format) -> String {
    let names: Vec<_> = common(format).map(|(name, _)| name).collect();
    if names.is_empty() {
        return format!("{} has no columns with names, as {SUCH} have", format.name());
    }
    format!("{} has no such column: its columns are {}", format.name(), names.join(", "))
}

/// The format with these columns to carry.
///
/// # Errors
///
/// A message that says why the format cannot carry them.
pub fn carrying(format: &Format, columns: &[String]) -> Result<Format, String> {
    if let Format::Wrapped(wrapped) = format {
        let inner = carrying(wrapped.format(), columns)?;
        return Ok(Format::Wrapped(Box::new(wrapped.with(inner))));
    }
    for name in columns {
        let shown = || uniqurl_text::Printable::path(Path::new(name));
        column(format, name).map_err(|why| format!("column {}: {why}", shown()))?;
    }
    Ok(match format {
        Format::Table(table) => Format::Table(table.carrying(columns)),
        format => format.clone(),
    })
}

/// Maximum number of a header's columns to list in a message.
const LISTED: usize = 40;

/// Finds the first header in a chunk that lacks one of `columns` or of the columns in the format's
/// name, and returns the error message. `format` is the format at the start of the chunk.
pub fn missing(format: &Format, ctx: &Context, chunk: &[u8], columns: &[String]) -> Option<String> {
    if let Format::Wrapped(wrapped) = format {
        return missing(wrapped.format(), ctx, &wrapped.stripped(ctx, chunk)?, columns);
    }
    let (lacking, header) = format.lacking(ctx, chunk, columns)?;
    // A URL may stand in the place of a name: on the command line, or in a first row that is no header.
    let shown = |name: &[u8]| match name.iter().any(|byte| b"/:@=".contains(byte)) {
        true => UrlExcerpt(name).to_string(),
        false => Excerpt(name).to_string(),
    };
    let column = match &lacking {
        ColumnName::Number(number) => (number + 1).to_string(),
        ColumnName::Header(name) => shown(name),
    };
    if READS_TABLES && let Some(kind) = super::Container::of(chunk).map(super::Container::name) {
        return Some(format!("it is a table of the format {kind}"));
    }
    // A reason why the input cannot be read at all says more than the lack of a column.
    if let Some(why) = super::unsupported::refusal(chunk) {
        return Some(format!("it has no column `{column}`: {why}"));
    }
    let mut listed: Vec<_> = header.iter().take(LISTED).map(|name| shown(name)).collect();
    if header.len() > LISTED {
        listed.push(format!("{} more", header.len() - LISTED));
    }
    Some(format!("it has no column `{column}`: its columns are {}", listed.join(", ")))
}

impl Carrier {
    /// Prepares to read `columns` from records of `format`, after [`carrying`] has accepted them.
    pub fn new(format: &Format, columns: &[String]) -> Self {
        let inner = format.inner();
        let columns: Vec<Column> =
            columns.iter().map(|name| column(inner, name).unwrap_or_default()).collect();
        let mut carrier = Self {
            common: columns.iter().filter_map(|column| column.common).collect(),
            pointers: Pointers::new(columns.iter().map(|column| column.pointer().0)),
            columns,
            format: format.clone(),
            buffers: Default::default(),
        };
        // Chunks after the first carry no header, so the format may already know one.
        carrier.find_places();
        carrier
    }

    /// Finds the columns under the last header, or the cells of a table's row.
    fn find_places(&mut self) {
        let places = match self.format.inner() {
            Format::Table(table) => table.carried().iter().copied().map(Some).collect(),
            format => {
                let names: Vec<ColumnName> = self.columns.iter().map(Column::name).collect();
                find_all(&names, format.header().map_or(&[], Header::names))
            }
        };
        for (column, place) in self.columns.iter_mut().zip(places) {
            column.place = place;
        }
    }

    /// Appends the value of the n-th column of the last record read, with possible secrets hidden.
    pub fn mask(&self, n: usize, value: &[u8], out: &mut Vec<u8>) {
        let format = self.format.inner();
        let is_query = self.columns.get(n).is_some_and(|column| format.is_query(column));
        match format.is_json() && matches!(value, [b'{' | b'[', ..]) {
            // The query is not located within the value, so all of it is hidden.
            true if is_query => out.extend_from_slice(HIDDEN.as_bytes()),
            true => redact_record(value, out),
            // A dash stands for a missing query.
            false if is_query && value != b"-" => redact_query(value, out),
            false => redact(value, out),
        }
    }

    /// Applies a line that is not a record, such as a header.
    pub fn pass(&mut self, line: &[u8]) {
        // A log may be restarted with other fields, and a concatenated file has a header in its
        // middle.
        self.format.pass(line);
        self.find_places();
    }

    /// Reads the columns of a record into `out`.
    pub fn values(&mut self, line: &[u8], out: &mut Values) -> Result<(), AllocError> {
        out.clear();
        let Self { format, columns, common, pointers, buffers: [record, buffer] } = self;
        let (format, line) = format.unwrapped(line, record);
        format.cells(line, columns, pointers, &mut |value| out.push(value));
        out.are_whole()?;
        // Most records of formats with columns of their own have all of them, and are read once.
        let lacks = |(n, column): (usize, &Column)| column.common.is_some() && out.get(n).is_none();
        if columns.iter().enumerate().any(lacks) {
            let fields = Fields::filled(*common, |fields| format.fields(line, fields))?;
            for (n, column) in columns.iter().enumerate() {
                let value = column.common.and_then(|part| fields.shown(part, buffer));
                value.into_iter().for_each(|value| out.fill(n, value));
            }
        }
        out.are_whole()
    }

    /// Reads the columns of a table's row into `out`.
    pub fn row(
        &self,
        chunk: &[u8],
        rows: &RowBatch,
        row: usize,
        out: &mut Values,
    ) -> Result<(), AllocError> {
        out.clear();
        let Format::Table(table) = &self.format else { return Ok(()) };
        let cells = &rows.cells[row * rows.width..][..rows.width];
        for cell in table.carried() {
            out.push(Some(cells[*cell]).filter(|cell| *cell != NULL).map(|cell| cell.of(chunk)));
        }
        out.are_whole()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uniqurl::internal::alloc::failing::{self, Plan};

    #[test]
    fn failed_allocation_of_a_value_is_an_error() {
        let mut values = Values::default();
        failing::follow(Some(Plan::at(0, false)));
        values.push(Some(b"a"));
        failing::follow(None);
        assert_eq!(values.are_whole(), Err(AllocError));
        values.clear();
        values.push(Some(b"a"));
        assert_eq!((values.are_whole(), values.get(0)), (Ok(()), Some(&b"a"[..])));
    }
}
