//! Reads `csv:COL`, RFC 4180: fields separated by commas, quoted if they hold commas or line feeds.
//!
//! [`cut`] finds the records, which may span lines, and their fields. If columns are given by name,
//! the first record of an input that is not blank is the header. Spreadsheets in many languages write
//! semicolons in place of commas, and databases bars; the first record shows which.
//!
//! A quotation that does not close within the limit on records is an error, and must not swallow
//! the rest of the input. So the line that it begins on is `truncated`, and the lines after it, up
//! to the limit, are read one by one.

mod cut;

use std::borrow::Cow;
use std::sync::Arc;

use memchr::memchr;

use self::cut::{CsvCutter, CsvRecord};
use super::columns::{Column, Columns, Header};
use super::fields::Fields;
use super::json::pointers::Pointers;
use super::layout::Layout;
use super::line::{Line, is_blank, without_mark};
use super::origin::is_absolute;
use super::part::{RecordPart, Value};
use super::{Context, Extracted, Record, Records};
use uniqurl::RejectReason;

/// The columns, and their positions once the header has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Csv {
    pub(super) columns: Columns,
    /// The byte between columns, if it is known; otherwise a comma.
    delimiter: Option<u8>,
    header: Header,
}

/// The cells of a row, without quotation marks and white space around them.
pub(super) fn cells(row: &[u8], delimiter: u8) -> Vec<&[u8]> {
    let cells = cut::fields(row, delimiter).map(|cell| match cell {
        [b'"', inner @ .., b'"'] => inner.trim_ascii(),
        cell => cell.trim_ascii(),
    });
    cells.collect()
}

/// The rows that show whether a byte separates columns.
const ROWS: usize = 20;

/// The bytes that may separate columns, by rank.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

impl Layout for Csv {
    fn name(&self) -> Cow<'_, str> {
        format!("csv:{}", self.columns.as_str()).into()
    }

    /// Appends the records of `chunk`, which ends with a record or with the input.
    fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let mut now = self.header.clone();
        for cut in CsvCutter::new(chunk, self.delimiter(), ctx.max_record) {
            let range = cut.range();
            let line = Line { bytes: &chunk[range.clone()], start: range.start as u32 };
            let found = match (cut, now.layout()) {
                (CsvRecord::TooLong(_), _) => Extracted::Reject(RejectReason::TooLong, 0),
                (CsvRecord::Unclosed(_), _) => Extracted::Reject(RejectReason::Truncated, 0),
                // Before the header is asked for: a blank line in front of it is no header.
                (CsvRecord::Record(_), _) if is_blank(line.bytes) => Extracted::Blank,
                (CsvRecord::Record(_), None) => {
                    now = self.read_header(line.bytes);
                    Extracted::Skipped
                }
                (CsvRecord::Record(_), Some(layout)) => {
                    let fields = cut::fields(line.bytes, self.delimiter());
                    layout.found(ctx, line, fields, |_, field| value(field), &mut out.scratch)
                }
            };
            out.push(Record { line: line.span(0..line.bytes.len()), found });
            if out.is_full() {
                break;
            }
        }
    }

    fn whole(&self, ctx: &Context, bytes: &[u8]) -> usize {
        cut::whole(bytes, self.delimiter(), ctx.max_record)
    }

    fn looks_back(&self) -> bool {
        true
    }

    fn columns(&self) -> Option<&Columns> {
        Some(&self.columns)
    }

    fn header(&self) -> Option<&Header> {
        Some(&self.header)
    }

    fn header_in(&self, ctx: &Context, chunk: &[u8]) -> Option<Header> {
        if self.header.layout().is_some() {
            return None;
        }
        let mut records = CsvCutter::new(chunk, self.delimiter(), ctx.max_record);
        let header = records.find_map(|cut| match cut {
            CsvRecord::Record(range) if !is_blank(&chunk[range.clone()]) => Some(range),
            _ => None,
        })?;
        Some(self.read_header(&chunk[header]))
    }

    fn following(&self, ctx: &Context, chunk: &[u8]) -> Option<Arc<dyn Layout>> {
        Some(Arc::new(Self { header: self.header_in(ctx, chunk)?, ..self.clone() }))
    }

    /// Reads parts of a record.
    fn fields<'a>(&self, record: &'a [u8], out: &mut Fields<'a>) {
        let Some(layout) = self.header.layout() else { return };
        let is_read = |part: &RecordPart| match part {
            RecordPart::Date => out.want(RecordPart::Time),
            part => out.want(*part),
        };
        let fields = self.raw_fields(record, layout.columns_of(is_read));
        out.read_parts(|part, take| {
            let field = layout.column_of(part).and_then(|column| fields.get(column));
            field.into_iter().for_each(|field| take(value(field).into_cow()));
        });
    }

    fn cells(
        &self,
        record: &[u8],
        columns: &[Column],
        _pointers: &Pointers,
        take: &mut dyn FnMut(Option<&[u8]>),
    ) {
        let fields = self.raw_fields(record, columns.iter().filter_map(|column| column.place));
        for column in columns {
            let field = column.place.and_then(|place| fields.get(place));
            take(field.map(|field| value(field)).as_ref().map(Value::bytes));
        }
    }
}

impl Csv {
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let columns = Columns::parse(text)?;
        Ok(Self { header: Header::of(&columns), columns, delimiter: None })
    }

    /// The byte that separates columns.
    pub(super) fn delimiter(&self) -> u8 {
        self.delimiter.unwrap_or(b',')
    }

    /// The same with this byte between columns.
    pub(super) fn with_delimiter(self, delimiter: u8) -> Self {
        Self { delimiter: Some(delimiter), ..self }
    }

    /// Whether that byte is known, so that no input has to tell it.
    pub(super) fn has_delimiter(&self) -> bool {
        self.delimiter.is_some()
    }

    /// The byte between the columns of an input with this beginning. It separates the names that are asked
    /// for; of columns by number, it separates the fields of the first record, unless that is a URL, in
    /// which the byte may stand. A tab may not.
    pub(super) fn delimiter_of(&self, ctx: &Context, head: &[u8]) -> u8 {
        // The mark would become part of the first name.
        let head = without_mark(head);
        let fields = |delimiter: u8| {
            let mut records =
                CsvCutter::new(head, delimiter, ctx.max_record).map(|cut| cut.range());
            let record = records.find(|range| !is_blank(&head[range.clone()]));
            record.map(|range| cut::fields(&head[range], delimiter).collect::<Vec<_>>())
        };
        let has_names = |delimiter: &u8| {
            let layout = self.columns.layout(&names(fields(*delimiter).unwrap_or_default()));
            layout.columns().count() == self.columns.names().count()
        };
        let separates = |delimiter: &u8| {
            let fields = fields(*delimiter).unwrap_or_default();
            // A byte within a quotation separates nothing. By it the quotation would be cut in two,
            // and its halves have one mark each.
            let is_whole = |field: &&[u8]| !field.starts_with(b"\"") || field.ends_with(b"\"");
            fields.len() > 1
                && fields.iter().all(is_whole)
                && (b",\t".contains(delimiter)
                    || fields[0].starts_with(b"\"")
                    || !is_absolute(fields[0]))
        };
        let by_name =
            DELIMITERS.iter().filter(|_| self.columns.need_header()).find(|d| has_names(d));
        let found = by_name.or_else(|| DELIMITERS.iter().find(|delimiter| separates(delimiter)));
        found.copied().unwrap_or(b',')
    }

    /// True if semicolons or bars may separate the columns of an input with this beginning, or may stand in
    /// the URLs that its rows are: the first rows begin with a URL, and all have as many of them.
    pub(super) fn is_ambiguous(&self, ctx: &Context, head: &[u8]) -> bool {
        let head = without_mark(head);
        // The last row may go on after the beginning.
        let rows: Vec<_> = CsvCutter::new(head, b',', ctx.max_record)
            .map(|cut| cut.range())
            .take_while(|range| range.end < head.len())
            .map(|range| head[range].trim_ascii_end())
            .filter(|row| !row.is_empty())
            .take(ROWS)
            .collect();
        let count = |row: &[u8], delimiter| cut::fields(row, delimiter).count();
        rows.len() > 1
            && rows.iter().all(|row| is_absolute(row) && count(row, b',') == 1)
            && b";|".iter().any(|delimiter| {
                let columns = count(rows[0], *delimiter);
                columns > 1 && rows.iter().all(|row| count(row, *delimiter) == columns)
            })
    }

    /// The fields of a record up to the last of these columns, with their quotation marks. What comes after
    /// is not looked at, since most of the time goes into finding the ends of fields.
    fn raw_fields<'a>(
        &self,
        record: &'a [u8],
        columns: impl Iterator<Item = usize>,
    ) -> Vec<&'a [u8]> {
        let Some(last) = columns.max() else { return Vec::new() };
        // A column by number may be far beyond the end of the record.
        let mut fields = Vec::with_capacity(last.min(self.header.names().len()) + 1);
        fields.extend(cut::fields(record, self.delimiter()).take(last.saturating_add(1)));
        fields
    }

    fn read_header(&self, record: &[u8]) -> Header {
        let names = names(cut::fields(without_mark(record), self.delimiter()));
        Header::known(self.columns.layout(&names))
    }
}

/// The names of the columns in a header.
fn names<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let names = fields.into_iter().map(|field| value(field).bytes().to_vec());
    let mut names: Vec<Vec<u8>> = names.collect();
    if names.is_empty() {
        // A mark alone: one column without a name.
        names.push(Vec::new());
    }
    names
}

/// Decodes a field as it is written.
fn value(field: &[u8]) -> Value<'_> {
    match field {
        [b'"', text @ .., b'"'] if memchr(b'"', text).is_none() => Value::InLine(text),
        [b'"', ..] => Value::Elsewhere(unquoted(field).into()),
        _ => Value::InLine(field),
    }
}

/// A field in quotation marks without them: a pair of marks stands for one, and after a single one the
/// text goes on as it is.
fn unquoted(field: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(field.len());
    let mut rest = &field[1..];
    while let Some(mark) = memchr(b'"', rest) {
        text.extend_from_slice(&rest[..mark]);
        rest = &rest[mark + 1..];
        match rest.split_first() {
            Some((b'"', more)) => {
                text.push(b'"');
                rest = more;
            }
            _ => break,
        }
    }
    text.extend_from_slice(rest);
    text
}

#[cfg(test)]
mod tests;
