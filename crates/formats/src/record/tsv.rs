//! Reads `tsv:COL`: lines with fields separated by tabs.
//!
//! Nothing quotes a tab or a line feed (IANA's text/tab-separated-values: "fields that contain tabs
//! are not allowable in this encoding"), so a quotation mark is an ordinary byte. If columns are
//! given by name, the first line of an input that is neither blank nor too long is the header.

use std::borrow::Cow;
use std::sync::Arc;

use super::columns::{ColumnKey, ColumnName, Columns, Header};
use super::fields::{COLUMNS, Fields};
use super::layout::Layout;
use super::line::{self, is_blank, without_mark};
use super::part::{PartSet, RecordPart, Value, marked};
use super::separators::Separators;
use super::{Context, Extracted, Records};
use uniqurl::RejectReason;

/// The columns, and their positions once the header has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tsv {
    pub(super) columns: Columns,
    header: Header,
    /// The fixed layout of a format of [`FormatTable`](super::FormatTable).
    fixed: Option<Arc<FixedTsv>>,
}

/// A layout without a header that software fixes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FixedTsv {
    name: String,
    /// Number of fields that each line has at least.
    least: usize,
    /// Whether fields are percent-encoded once, as CloudFront does.
    is_encoded: bool,
}

impl Layout for Tsv {
    fn name(&self) -> Cow<'_, str> {
        match &self.fixed {
            Some(fixed) => Cow::Borrowed(&fixed.name),
            None => Cow::Owned(format!("tsv:{}", self.columns.as_str())),
        }
    }

    fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let mut now = self.header.clone();
        let tabs = Separators::find(chunk, [b'\t']);
        line::each(ctx, 0, chunk, out, |line, scratch| {
            let Some(layout) = now.layout() else {
                now = self.read_header(line.bytes);
                return Extracted::Skipped;
            };
            let Some(fixed) = &self.fixed else {
                let value = |_, field| Value::InLine(field);
                return layout.found(ctx, line, tabs.split(line), value, scratch);
            };
            // Later versions of the software may append fields, so more are no error.
            if tabs.count(line) + 1 < fixed.least {
                return Extracted::Reject(RejectReason::Truncated, 0);
            }
            let value = |part, field| match (fixed.is_encoded, part) {
                (false, _) => Value::InLine(field),
                (true, RecordPart::Query) => marked(Value::decoded(field)),
                (true, _) => Value::decoded(field),
            };
            layout.found(ctx, line, tabs.split(line), value, scratch)
        });
    }

    fn fields<'a>(&self, line: &'a [u8], out: &mut Fields<'a>) {
        let Some(layout) = self.header.layout() else { return };
        let is_encoded = self.fixed.as_ref().is_some_and(|fixed| fixed.is_encoded);
        out.read_parts(|part, take| {
            let column = layout.column_of(part);
            let field = column.and_then(|n| line.split(|byte| *byte == b'\t').nth(n));
            field.into_iter().for_each(|field| match is_encoded {
                true => take(Value::decoded(field).into_cow()),
                false => take(Cow::Borrowed(field)),
            });
        });
    }

    /// True until the header has been read.
    fn looks_back(&self) -> bool {
        self.header.layout().is_none()
    }

    fn common_columns(&self) -> PartSet {
        // A layout that software fixes has no header with names of its own.
        self.fixed.as_ref().map_or(PartSet::NONE, |_| self.parts())
    }

    fn column(&self, name: &str) -> Result<Option<ColumnKey>, String> {
        let common = self.common_columns();
        let has_common = COLUMNS.iter().any(|(_, part)| common.has(*part));
        match ColumnName::parse(name)? {
            ColumnName::Header(_) if has_common => Ok(None),
            _ => self.columns.column(name, &self.name()).map(Some),
        }
    }

    fn columns(&self) -> Option<&Columns> {
        Some(&self.columns)
    }

    fn header(&self) -> Option<&Header> {
        Some(&self.header)
    }

    fn header_in(&self, ctx: &Context, chunk: &[u8]) -> Option<Header> {
        if !self.looks_back() {
            return None;
        }
        let header = chunk
            .split(|byte| *byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
            // `read` rejects such lines, so they are no header there either.
            .find(|line| line.len() <= ctx.max_record && !is_blank(line))?;
        Some(self.read_header(header))
    }

    fn following(&self, ctx: &Context, chunk: &[u8]) -> Option<Arc<dyn Layout>> {
        Some(Arc::new(Self { header: self.header_in(ctx, chunk)?, ..self.clone() }))
    }

    fn values<'a>(&self, line: &'a [u8]) -> Vec<Value<'a>> {
        line.split(|byte| *byte == b'\t').map(Value::InLine).collect()
    }
}

impl Tsv {
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let columns = Columns::parse(text)?;
        Ok(Self { header: Header::of(&columns), columns, fixed: None })
    }

    /// The format of this name, with these columns counted from 0.
    pub(super) fn named(
        name: &str,
        parts: Vec<(usize, RecordPart)>,
        least: usize,
        is_encoded: bool,
    ) -> Self {
        let columns = Columns::numbered(parts);
        let fixed = FixedTsv { name: name.to_owned(), least, is_encoded };
        Self { header: Header::of(&columns), columns, fixed: Some(Arc::new(fixed)) }
    }

    fn read_header(&self, line: &[u8]) -> Header {
        let names: Vec<Vec<u8>> =
            without_mark(line).split(|byte| *byte == b'\t').map(<[u8]>::to_vec).collect();
        Header::known(self.columns.layout(&names))
    }
}
