//! Reads `csv:COL`, RFC 4180: fields separated by commas, quoted if they hold commas or line feeds.
//!
//! [`cut`] finds the records, which may span lines, and their fields. csv-core decodes the fields
//! in use that contain a quotation mark besides the enclosing pair. If columns are given by name,
//! the first record of an input that is not blank is the header.
//!
//! A quotation that does not close within the limit on records is an error, and must not swallow
//! the rest of the input. So the line that it begins on is `truncated`, and the lines after it, up
//! to the limit, are read one by one.

mod cut;

use std::cell::RefCell;
use std::sync::Arc;

use csv_core::{Reader, ReaderBuilder, Terminator};
use memchr::memchr;

use self::cut::{CsvCutter, CsvRecord};
use super::columns::{ColumnLayout, ColumnName, Columns};
use super::line::{Line, is_blank, without_mark};
use super::part::{RecordPart, Value};
use super::{Context, Extracted, Record, Records};
use uniqurl::bytes::RejectReason;

/// The columns, and their positions once the header has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Csv {
    pub(super) columns: Columns,
    layout: Option<Arc<ColumnLayout>>,
}

impl Csv {
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let columns = Columns::parse(text)?;
        let layout = (!columns.need_header()).then(|| Arc::new(columns.layout(&[])));
        Ok(Self { columns, layout })
    }

    /// Appends the records of `chunk`, which ends with a record or with the input.
    pub(super) fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let mut now = self.layout.clone();
        for cut in CsvCutter::new(chunk, ctx.max_record) {
            let range = cut.range();
            let line = Line { bytes: &chunk[range.clone()], start: range.start as u32 };
            let found = match (cut, &now) {
                (CsvRecord::TooLong(_), _) => Extracted::Reject(RejectReason::TooLong, 0),
                (CsvRecord::Unclosed(_), _) => Extracted::Reject(RejectReason::Truncated, 0),
                (CsvRecord::Record(_), _) if is_blank(line.bytes) => Extracted::Blank,
                (CsvRecord::Record(_), None) => {
                    now = Some(Arc::new(self.layout(line.bytes)));
                    Extracted::Skipped
                }
                (CsvRecord::Record(_), Some(layout)) => {
                    let fields = cut::fields(line.bytes);
                    layout.found(ctx, line, fields, |_, field| value(field), &mut out.scratch)
                }
            };
            out.push(Record { line: line.span(0..line.bytes.len()), found });
            if out.is_full() {
                break;
            }
        }
    }

    /// The format for the input after `chunk`, if it differs.
    pub(super) fn after(&self, ctx: &Context, chunk: &[u8]) -> Option<Self> {
        if self.layout.is_some() {
            return None;
        }
        let header = CsvCutter::new(chunk, ctx.max_record).find_map(|cut| match cut {
            CsvRecord::Record(range) if !is_blank(&chunk[range.clone()]) => Some(range),
            _ => None,
        })?;
        let layout = self.layout(&chunk[header]);
        Some(Self { columns: self.columns.clone(), layout: Some(Arc::new(layout)) })
    }

    /// Length of the records at the start of `bytes` that are complete whatever follows.
    pub(super) fn whole(ctx: &Context, bytes: &[u8]) -> usize {
        cut::whole(bytes, ctx.max_record)
    }

    /// Reads a record as the header, unless the header is known.
    pub(super) fn take_header(&mut self, record: &[u8]) {
        if self.layout.is_none() {
            self.layout = Some(Arc::new(self.layout(record)));
        }
    }

    /// True if a column holds queries without their `?`.
    pub(super) fn is_query(&self, name: &ColumnName) -> bool {
        self.layout.as_ref().is_some_and(|layout| layout.is_query_named(name))
    }

    /// The column of a part.
    pub(super) fn column_of(&self, part: RecordPart) -> Option<usize> {
        self.layout.as_ref()?.column_of(part)
    }

    /// The names of the columns.
    pub(super) fn header(&self) -> &[Vec<u8>] {
        self.layout.as_ref().map_or(&[], |layout| &layout.names)
    }

    /// The fields of a record, without their quotation marks.
    pub(super) fn fields<'a>(&self, record: &'a [u8]) -> Vec<Value<'a>> {
        cut::fields(record).map(value).collect()
    }

    fn layout(&self, record: &[u8]) -> ColumnLayout {
        let names = cut::fields(without_mark(record)).map(|field| value(field).bytes().to_vec());
        let mut names: Vec<Vec<u8>> = names.collect();
        if names.is_empty() {
            // A mark alone: one column without a name.
            names.push(Vec::new());
        }
        self.columns.layout(&names)
    }
}

/// Decodes a field as it is written.
fn value(field: &[u8]) -> Value<'_> {
    match field {
        [b'"', text @ .., b'"'] if memchr(b'"', text).is_none() => Value::InLine(text),
        [b'"', ..] => Value::Elsewhere(unquoted(field).into()),
        _ => Value::InLine(field),
    }
}

thread_local! {
    /// Kept per thread: building a reader takes longer than reading most chunks.
    static READER: RefCell<Reader> =
        RefCell::new(ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build());
}

/// A field without its quotation marks, by csv-core.
fn unquoted(field: &[u8]) -> Vec<u8> {
    // Decoding never makes a field longer.
    let mut text = vec![0; field.len()];
    let mut length = 0;
    READER.with_borrow_mut(|reader| {
        reader.reset();
        for mut input in [field, b"\n"] {
            while !input.is_empty() {
                let (_, read, wrote) = reader.read_field(input, &mut text[length..]);
                input = &input[read..];
                length += wrote;
            }
        }
    });
    text.truncate(length);
    text
}

#[cfg(test)]
mod tests;
