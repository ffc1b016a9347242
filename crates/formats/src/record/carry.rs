//! Extracts columns beside a record's URL: those of `--carry`, and the one that `--keep max:COL` compares.
//!
//! The input is the relevant lines of a chunk, in order, including headers, which give the
//! positions of the columns in later lines. The output is the values of the columns. This parses a
//! record a second time, so reading costs nothing if no column is carried.

use std::ops::Range;
use std::path::Path;

use super::columns::{ColumnName, Columns, find_all};
use super::extended;
use super::fields::COLUMNS;
use super::part::{PartSet, RecordPart, Value};
use super::{Context, Csv, Format, Tsv, cdx, cdxj, json};
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
        self.lacks |= self.try_push(value).is_err();
    }

    fn try_push(&mut self, value: Option<&[u8]>) -> Result<(), AllocError> {
        let bytes = value.unwrap_or_default();
        alloc::try_reserve(&mut self.bytes, bytes.len())?;
        alloc::try_reserve(&mut self.places, 1)?;
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.places.push(value.map(|_| start..self.bytes.len()));
        Ok(())
    }

    /// An error if memory ran out for any of the values.
    fn are_whole(&self) -> Result<(), AllocError> {
        if self.lacks { Err(AllocError) } else { Ok(()) }
    }

    /// Sets the value of the n-th column, unless it has one.
    pub(super) fn fill(&mut self, n: usize, value: &[u8]) {
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
    /// For tables of text: the position of each column under the last header.
    places: Vec<Option<usize>>,
    /// For JSON: the pointers to the columns.
    pointers: json::Pointers,
    /// Buffers for a record without its envelope, and for a value.
    buffers: [Vec<u8>; 2],
}

/// A column to carry.
#[derive(Debug, Default)]
struct Column {
    /// The record's own column.
    own: Option<OwnColumn>,
    /// The part that logs have in common under this name.
    common: Option<RecordPart>,
}

/// A column by the name that the format has for it.
#[derive(Debug)]
enum OwnColumn {
    /// The letter of a legend.
    Letter(u8),
    /// A name in a header, or a number.
    Named(ColumnName),
    /// A pointer into a value of JSON, and the index of the field of a CDXJ line before its object that
    /// counts where the object has no such member.
    Pointer(Vec<Vec<u8>>, Option<usize>),
}

/// The fields of a CDXJ line before its object.
const BEFORE: [&str; 2] = ["urlkey", "timestamp"];

/// The list of formats with columns, for error messages.
const SUCH: &str = "csv:COL, tsv:COL, json:POINTER, cdx, cdxj, w3c, cloudfront, parquet:COL, \
     arrow:COL and access logs";

/// The parts that logs have in common which a format may have under their names. Tables with a header and
/// indexes have names of their own.
fn common(format: &Format) -> impl Iterator<Item = (&'static str, RecordPart)> {
    let parts = match format {
        Format::Tsv(tsv) if !tsv.is_fixed() => PartSet::NONE,
        Format::Csv(_) | Format::Table(_) | Format::Wrapped(_) => PartSet::NONE,
        Format::Cdx(_) | Format::Cdxj(_) => PartSet::NONE,
        format => format.parts(),
    };
    COLUMNS.into_iter().filter(move |(_, part)| parts.has(*part))
}

/// The column of this name, in a format without an envelope.
fn column(format: &Format, name: &str) -> Result<Column, String> {
    if name.is_empty() {
        return Err("a column has a name or a number".into());
    }
    let (_, common) = common(format).find(|(known, _)| *known == name).unzip();
    match own_column(format, name) {
        Err(why) if common.is_none() => Err(why),
        own => Ok(Column { own: own.ok(), common }),
    }
}

fn own_column(format: &Format, name: &str) -> Result<OwnColumn, String> {
    match format {
        Format::Cdx(_) => letter(name).map(OwnColumn::Letter).ok_or_else(|| {
            "cdx has no such column: its columns are the letters of the legend, or \
             urlkey, timestamp, url, mime, status, digest, redirect, robotflags, \
             length, offset and filename, of 14 also orig.length, orig.offset and \
             orig.filename"
                .into()
        }),
        Format::Json(_) => Ok(OwnColumn::Pointer(json::tokens(name)?, None)),
        Format::Cdxj(_) => {
            let before = BEFORE.iter().position(|known| *known == name);
            Ok(OwnColumn::Pointer(json::tokens(name)?, before))
        }
        Format::Csv(Csv { columns: of_url, .. }) | Format::Tsv(Tsv { columns: of_url, .. }) => {
            match ColumnName::parse(name)? {
                ColumnName::Header(_) if common(format).next().is_some() => Err(lacks(format)),
                ColumnName::Header(_) if !of_url.need_header() => Err(format!(
                    "{} takes the first line for a record, so columns have only numbers",
                    format.name()
                )),
                name => Ok(OwnColumn::Named(name)),
            }
        }
        Format::Extended(_) => Ok(OwnColumn::Named(ColumnName::Header(name.into()))),
        Format::Table(_) => Ok(OwnColumn::Named(ColumnName::parse(name)?)),
        _ if common(format).next().is_some() => Err(lacks(format)),
        _ => Err(format!("{} has no columns with names, as {SUCH} have", format.name())),
    }
}

/// The reason why a log has no column of a name.
fn lacks(format: &Format) -> String {
    let names: Vec<_> = common(format).map(|(name, _)| name).collect();
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
    let lacking = |names: &[ColumnName], header: &[Vec<u8>]| {
        let mut places = names.iter().zip(find_all(names, header));
        let lacks = |column: Option<usize>| column.is_none_or(|column| column >= header.len());
        let (lacking, _) = places.find(|(_, column)| lacks(*column))?;
        // A URL may stand in the place of a name: on the command line, or in a first row that is no header.
        let shown = |name: &[u8]| match name.iter().any(|byte| b"/:@=".contains(byte)) {
            true => UrlExcerpt(name).to_string(),
            false => Excerpt(name).to_string(),
        };
        let column = match lacking {
            ColumnName::Number(number) => (number + 1).to_string(),
            ColumnName::Header(name) => shown(name),
        };
        if READS_TABLES && let Some(kind) = super::Container::of(chunk).map(super::Container::name)
        {
            return Some(format!("it is a table of the format {kind}"));
        }
        if let Some(why) = super::unsupported::refusal(chunk) {
            return Some(format!("it has no column `{column}`: {why}"));
        }
        let mut listed: Vec<_> = header.iter().take(LISTED).map(|name| shown(name)).collect();
        if header.len() > LISTED {
            listed.push(format!("{} more", header.len() - LISTED));
        }
        Some(format!("it has no column `{column}`: its columns are {}", listed.join(", ")))
    };
    let named = |own: &Columns| -> Vec<ColumnName> {
        let carried = columns.iter().filter_map(|column| ColumnName::parse(column).ok());
        own.names().cloned().chain(carried).collect()
    };
    match format {
        Format::Csv(csv) => lacking(&named(&csv.columns), csv.after(ctx, chunk)?.header.names()),
        Format::Tsv(tsv) => lacking(&named(&tsv.columns), tsv.after(ctx, chunk)?.header.names()),
        // A column that a `#Fields:` line does not list is missing from the records after it.
        Format::Extended(extended) if !columns.is_empty() => {
            extended.headers(ctx, chunk).find_map(|header| {
                let fills_in = |name: &&String| {
                    let part = COLUMNS.iter().find(|(known, _)| known == name);
                    part.is_some_and(|(_, part)| extended::names(*part, &header))
                };
                let names = columns.iter().filter(|name| !fills_in(name));
                let names = names.map(|name| ColumnName::Header(name.as_bytes().to_vec()));
                lacking(&names.collect::<Vec<_>>(), &header)
            })
        }
        Format::Wrapped(wrapped) => wrapped.missing(ctx, chunk, columns),
        _ => None,
    }
}

impl Carrier {
    /// Prepares to read `columns` from records of `format`, after [`carrying`] has accepted them.
    pub fn new(format: &Format, columns: &[String]) -> Self {
        let inner = format.inner();
        let mut carrier = Self {
            columns: columns.iter().map(|name| column(inner, name).unwrap_or_default()).collect(),
            format: format.clone(),
            common: PartSet::NONE,
            places: Vec::new(),
            pointers: json::Pointers::default(),
            buffers: Default::default(),
        };
        carrier.common = carrier.columns.iter().filter_map(|column| column.common).collect();
        let pointers = carrier.columns.iter().map(|column| column.pointer().0);
        carrier.pointers = json::Pointers::new(pointers);
        carrier.find_places();
        carrier
    }

    /// Finds the columns under the last header.
    fn find_places(&mut self) {
        let Some(header) = self.format.inner().header() else { return };
        let names: Vec<ColumnName> = self.columns.iter().map(Column::name).collect();
        self.places = find_all(&names, header.names());
    }

    /// Appends the value of the n-th column of the last record read, with possible secrets hidden.
    pub fn mask(&self, n: usize, value: &[u8], out: &mut Vec<u8>) {
        let format = self.format.inner();
        let place = self.places.get(n).copied().flatten();
        let is_query = match format {
            Format::Json(json) => {
                self.columns.get(n).is_some_and(|column| json.is_query(column.pointer().0))
            }
            Format::Table(table) => {
                table.carried().get(n).is_some_and(|cell| table.is_query(*cell))
            }
            format => format.header().zip(place).is_some_and(|(header, n)| header.is_query(n)),
        };
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
        self.format.pass(line, &mut self.buffers[0]);
        self.find_places();
    }

    /// Reads the columns of a record into `out`.
    pub fn values(&mut self, line: &[u8], out: &mut Values) -> Result<(), AllocError> {
        out.clear();
        let Self { format, columns, common, places, pointers, buffers: [record, buffer] } = self;
        let (format, line) = format.unwrapped(line, record);
        let take = |fields: &[&[u8]], out: &mut Values| {
            for place in places.iter() {
                out.push(place.and_then(|column| fields.get(column).copied()));
            }
        };
        let bytes = |values: &[Value<'_>], out: &mut Values| {
            take(&values.iter().map(Value::bytes).collect::<Vec<_>>(), out);
        };
        match format {
            Format::Cdx(cdx) => {
                let (delimiter, legend) = cdx.columns(line);
                for column in columns.iter() {
                    let place = legend.iter().position(|letter| column.is_letter(*letter));
                    let mut fields = line.split(|byte| *byte == delimiter);
                    out.push(place.and_then(|place| fields.nth(place)));
                }
            }
            Format::Json(_) | Format::Cdxj(_) => {
                let is_cdxj = matches!(format, Format::Cdxj(_));
                let object = if is_cdxj { cdxj::object(line).unwrap_or_default() } else { line };
                let mut before = columns.iter().map(|column| column.pointer().1);
                json::carry(object, pointers, buffer, |value| {
                    let before = before.next().flatten();
                    let field = || line.split(|byte| *byte == b' ').nth(before?);
                    out.push(value.or_else(field));
                });
            }
            Format::Csv(csv) => bytes(&csv.values(line), out),
            Format::Tsv(_) => take(&line.split(|byte| *byte == b'\t').collect::<Vec<_>>(), out),
            Format::Extended(extended) => bytes(&extended.values(line), out),
            _ => columns.iter().for_each(|_| out.push(None)),
        }
        out.are_whole()?;
        if !common.is_empty() {
            let fields = format.fields(line, *common)?;
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

impl Column {
    fn is_letter(&self, letter: u8) -> bool {
        matches!(self.own, Some(OwnColumn::Letter(own)) if own == letter)
    }

    /// The pointer, and the field before the object.
    fn pointer(&self) -> (&[Vec<u8>], Option<usize>) {
        match &self.own {
            Some(OwnColumn::Pointer(pointer, before)) => (pointer, *before),
            _ => (&[], None),
        }
    }

    /// The name in a header; one that no column has for other columns.
    fn name(&self) -> ColumnName {
        match &self.own {
            Some(OwnColumn::Named(name)) => name.clone(),
            _ => ColumnName::Number(usize::MAX),
        }
    }
}

/// The letter of a column in a legend.
fn letter(column: &str) -> Option<u8> {
    if let [letter @ (b'a'..=b'z' | b'A'..=b'Z')] = column.as_bytes() {
        return Some(*letter);
    }
    let named = cdx::NAMES.iter().find(|(_, names)| names.contains(&column));
    named.map(|(letter, _)| *letter)
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
