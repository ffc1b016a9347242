//! Reads `tsv:COL`: lines with fields separated by tabs.
//!
//! Nothing quotes a tab or a line feed (IANA's text/tab-separated-values: "fields that contain tabs
//! are not allowable in this encoding"), so a quotation mark is an ordinary byte. If columns are
//! given by name, the first line of an input that is neither blank nor too long is the header.

use std::sync::Arc;

use super::columns::ColumnName;
use super::columns::{ColumnLayout, Columns};
use super::line::{self, is_blank, without_mark};
use super::part::Value;
use super::separators::Separators;
use super::{Context, Extracted, Records};

/// The columns, and their positions once the header has been read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tsv {
    pub(super) columns: Columns,
    layout: Option<Arc<ColumnLayout>>,
}

impl Tsv {
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let columns = Columns::parse(text)?;
        let layout = (!columns.need_header()).then(|| Arc::new(columns.layout(&[])));
        Ok(Self { columns, layout })
    }

    /// True until the header has been read.
    pub(super) fn waits(&self) -> bool {
        self.layout.is_none()
    }

    /// Appends a record for each line of `chunk`.
    pub(super) fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let mut now = self.layout.clone();
        let tabs = Separators::find(chunk, [b'\t']);
        line::each(ctx, 0, chunk, out, |line, scratch| {
            let Some(layout) = &now else {
                now = Some(Arc::new(self.layout(line.bytes)));
                return Extracted::Skipped;
            };
            layout.found(ctx, line, tabs.split(line), |_, field| Value::InLine(field), scratch)
        });
    }

    /// The format for the input after `chunk`, if it differs.
    pub(super) fn after(&self, ctx: &Context, chunk: &[u8]) -> Option<Self> {
        if self.layout.is_some() {
            return None;
        }
        let header = chunk
            .split(|byte| *byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
            .find(|line| line.len() <= ctx.max_record && !is_blank(line))?;
        Some(Self { columns: self.columns.clone(), layout: Some(Arc::new(self.layout(header))) })
    }

    /// Reads a line as the header, unless the header is known.
    pub(super) fn take_header(&mut self, line: &[u8]) {
        if self.waits() {
            self.layout = Some(Arc::new(self.layout(line)));
        }
    }

    /// True if a column holds queries without their `?`.
    pub(super) fn is_query(&self, name: &ColumnName) -> bool {
        self.layout.as_ref().is_some_and(|layout| layout.is_query_named(name))
    }

    /// The column of the status.
    pub(super) fn status(&self) -> Option<usize> {
        self.layout.as_ref()?.status()
    }

    /// The names of the columns.
    pub(super) fn header(&self) -> &[Vec<u8>] {
        self.layout.as_ref().map_or(&[], |layout| &layout.names)
    }

    fn layout(&self, line: &[u8]) -> ColumnLayout {
        let names: Vec<Vec<u8>> =
            without_mark(line).split(|byte| *byte == b'\t').map(<[u8]>::to_vec).collect();
        self.columns.layout(&names)
    }
}
