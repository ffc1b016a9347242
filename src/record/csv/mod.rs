//! Reads `csv:COL`, RFC 4180: fields between commas, quoted where they hold commas or line feeds.
//!
//! [`cut`] finds the records, which may span lines; csv-core takes those apart that hold a quotation
//! mark, and the others are split where they stand. Where columns are named, the first record of an
//! input that is not blank names them.
//!
//! A quotation that does not close within the longest record there may be is no quotation but an
//! error, which must not swallow the rest of the input: the line that it begins on is `truncated`,
//! and the lines behind it, as far as was looked, are read each by itself.

mod cut;

use std::sync::Arc;

use csv_core::{ReadFieldResult, ReaderBuilder, Terminator};
use memchr::memchr;

use self::cut::{Cut, Cutter};
use super::columns::{Columns, Layout};
use super::line::{Line, is_blank, without_mark};
use super::part::Value;
use super::{Context, Found, Record, Records};
use crate::url::Code;

/// The columns, and where they are once the header has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Csv {
    pub(super) columns: Columns,
    layout: Option<Arc<Layout>>,
}

impl Csv {
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let columns = Columns::parse(text)?;
        let layout = (!columns.need_header()).then(|| Arc::new(columns.layout(&[])));
        Ok(Self { columns, layout })
    }

    /// Appends the records of `chunk`, which ends where a record does, or with the input.
    pub(super) fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let mut now = self.layout.clone();
        let mut reader = Fields::new();
        for cut in Cutter::new(chunk, ctx.max_record) {
            let range = cut.range();
            let line = Line { bytes: &chunk[range.clone()], start: range.start as u32 };
            let found = match (cut, &now) {
                (Cut::TooLong(_), _) => Found::Reject(Code::TooLong, 0),
                (Cut::Unclosed(_), _) => Found::Reject(Code::Truncated, 0),
                (Cut::Record(_), _) if is_blank(line.bytes) => Found::Blank,
                (Cut::Record(_), None) => {
                    now = Some(Arc::new(self.layout(&mut reader, line.bytes)));
                    Found::Skipped
                }
                (Cut::Record(_), Some(layout)) => {
                    if memchr(b'"', line.bytes).is_none() {
                        let fields = line.bytes.split(|byte| *byte == b',').map(Value::InLine);
                        layout.said(fields).found(ctx, layout.facts, line, &mut out.side)
                    } else {
                        let fields = reader.read(line.bytes);
                        let fields = fields.map(|field| Value::Elsewhere(field.into()));
                        layout.said(fields).found(ctx, layout.facts, line, &mut out.side)
                    }
                }
            };
            out.push(Record { line: line.span(0..line.bytes.len()), found });
            if out.is_full() {
                break;
            }
        }
    }

    /// The format as it stands behind `chunk`, if that changes it.
    pub(super) fn after(&self, ctx: &Context, chunk: &[u8]) -> Option<Self> {
        if self.layout.is_some() {
            return None;
        }
        let header = Cutter::new(chunk, ctx.max_record).find_map(|cut| match cut {
            Cut::Record(range) if !is_blank(&chunk[range.clone()]) => Some(range),
            _ => None,
        })?;
        let layout = self.layout(&mut Fields::new(), &chunk[header]);
        Some(Self { columns: self.columns.clone(), layout: Some(Arc::new(layout)) })
    }

    /// Length of the records at the start of `bytes` that are whole whatever follows.
    pub(super) fn whole(ctx: &Context, bytes: &[u8]) -> usize {
        cut::whole(bytes, ctx.max_record)
    }

    /// Takes a record for the header, if that is still to come.
    pub(super) fn take_header(&mut self, record: &[u8]) {
        if self.layout.is_none() {
            self.layout = Some(Arc::new(self.layout(&mut Fields::new(), record)));
        }
    }

    /// What the columns are called.
    pub(super) fn header(&self) -> &[Vec<u8>] {
        self.layout.as_ref().map_or(&[], |layout| &layout.names)
    }

    /// Hands out the fields of a record, without their quotation marks.
    pub(super) fn unquoted(&self, record: &[u8], take: impl FnOnce(&[&[u8]])) {
        take(&Fields::new().read(record).collect::<Vec<_>>());
    }

    fn layout(&self, reader: &mut Fields, record: &[u8]) -> Layout {
        let names: Vec<Vec<u8>> = reader.read(without_mark(record)).map(<[u8]>::to_vec).collect();
        self.columns.layout(&names)
    }
}

/// The fields of records with quotation marks, taken apart by csv-core.
struct Fields {
    reader: csv_core::Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Fields {
    fn new() -> Self {
        let mut reader = ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build();
        // Past what may be a byte-order mark: a record that begins like one is to keep it.
        reader.read_field(b"\n", &mut []);
        Self { reader, text: Vec::new(), ends: Vec::new() }
    }

    /// The fields of one record.
    fn read(&mut self, record: &[u8]) -> impl Iterator<Item = &[u8]> {
        self.ends.clear();
        // No field is longer than what it was written as.
        self.text.resize(record.len() + 1, 0);
        let mut end = 0;
        for mut input in [record, b"\n"] {
            while !input.is_empty() {
                let (result, read, wrote) = self.reader.read_field(input, &mut self.text[end..]);
                input = &input[read..];
                end += wrote;
                if matches!(result, ReadFieldResult::Field { .. }) {
                    self.ends.push(end);
                }
            }
        }
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.text[start..*end])
    }
}

#[cfg(test)]
mod tests;
