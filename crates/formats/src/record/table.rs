//! Reads `parquet:COL` and `arrow:COL`: rows of tables, decoded into cells.
//!
//! The input is the bytes of the relevant cells, one column after the other, and for each row the
//! spans of its cells. The output is a record for each row. The file's schema names the columns, so
//! they are found before any row is read.
//!
//! A row is blank if the cell of its URL is null, if the URL holds only spaces and tabs, or if all
//! its cells do.

use std::borrow::Cow;

use super::columns::{ColumnKey, ColumnLayout, ColumnName, Columns, Header};
use super::layout::Layout;
use super::line::{Line, is_blank};
use super::part::{PartSet, RecordPart, Value};
use super::{BufferId, Container, Context, Extracted, Record, Records};
use uniqurl::RejectReason;
use uniqurl::internal::Span;

/// The columns, and their cells in a row once the schema is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableFormat {
    container: Container,
    /// None: use the column that seems to hold the URL.
    columns: Option<Columns>,
    header: Header,
    /// Columns to carry beside the URL, and their cells once the schema is known.
    carry: Vec<String>,
    carried: Vec<usize>,
}

/// The cells of a chunk, row by row.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RowBatch {
    /// Cells in a row.
    pub width: usize,
    /// The span of each cell in the chunk, or [`NULL`].
    pub cells: Vec<Span>,
    /// For each row the first row of the chunk with the same cell, as a dictionary says; empty
    /// without a dictionary.
    pub first: Vec<u32>,
    /// The number of rows that each row stands for; empty if each stands for one.
    pub times: Vec<u32>,
}

/// Factor by which a chunk with shared cells may be longer than another, if each cell is counted.
/// Such rows are less work, but the output of each row takes memory of its own. A chunk of URLs of
/// 40 bytes reaches this limit; with 16, long URLs take three times the memory.
pub const ALIKE: usize = 4;

/// A cell without a value.
pub const NULL: Span = Span { start: u32::MAX, end: u32::MAX };

impl RowBatch {
    /// The number of rows in the chunk.
    pub fn len(&self) -> usize {
        self.cells.len().checked_div(self.width).unwrap_or(0)
    }

    /// True if it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows after the first `n`.
    pub fn behind(&self, n: usize) -> Self {
        // A row whose first equal is cut off has none now.
        let first = self.first.iter().enumerate().skip(n);
        Self {
            width: self.width,
            cells: self.cells[n * self.width..].to_vec(),
            first: first
                .map(|(row, first)| first.checked_sub(n as u32).unwrap_or((row - n) as u32))
                .collect(),
            times: self.times.iter().skip(n).copied().collect(),
        }
    }

    /// The number of rows of the table.
    pub fn of_table(&self) -> u64 {
        match &self.times[..] {
            [] => self.len() as u64,
            times => times.iter().map(|times| u64::from(*times)).sum(),
        }
    }

    /// The first earlier row with the same content, if any.
    pub fn earlier(&self, row: usize) -> Option<usize> {
        let first = *self.first.get(row)? as usize;
        (first < row).then_some(first)
    }

    /// The amount of work in bytes, if the cells take `bytes` bytes.
    pub fn size(&self, bytes: usize) -> usize {
        let told: usize = self.cells.iter().map(|cell| cell.len()).sum();
        bytes.max(told / ALIKE) + self.memory()
    }

    /// Bytes of memory used in addition to the cells.
    pub fn memory(&self) -> usize {
        self.cells.capacity() * size_of::<Span>()
            + (self.first.capacity() + self.times.capacity()) * size_of::<u32>()
    }
}

impl Layout for TableFormat {
    fn name(&self) -> Cow<'_, str> {
        match &self.columns {
            Some(columns) => Cow::Owned(format!("{}:{}", self.container.name(), columns.as_str())),
            None => Cow::Borrowed(self.container.name()),
        }
    }

    /// The records are no lines.
    fn read(&self, _ctx: &Context, _chunk: &[u8], _out: &mut Records) {}

    fn parts(&self) -> PartSet {
        self.facts().and(PartSet::of(&[RecordPart::Time, RecordPart::Agent]))
    }

    fn facts(&self) -> PartSet {
        self.columns().map_or(PartSet::NONE, Columns::parts)
    }

    fn columns(&self) -> Option<&Columns> {
        self.columns.as_ref()
    }

    fn fits_envelopes(&self) -> bool {
        false
    }

    fn column(&self, name: &str) -> Result<Option<ColumnKey>, String> {
        Ok(Some(ColumnKey::Named(ColumnName::parse(name)?)))
    }

    fn header(&self) -> Option<&Header> {
        Some(&self.header)
    }
}

impl TableFormat {
    /// A container, and the columns after the colon of its name.
    pub(super) fn parse(container: Container, columns: &str) -> Result<Self, &'static str> {
        Ok(Self { columns: Some(Columns::parse(columns)?), ..Self::any(container) })
    }

    /// A container with no columns named.
    pub fn any(container: Container) -> Self {
        Self {
            container,
            columns: None,
            header: Header::default(),
            carry: Vec::new(),
            carried: Vec::new(),
        }
    }

    /// The same format with these columns carried beside the URL.
    pub fn carrying(&self, columns: &[String]) -> Self {
        Self { carry: columns.to_vec(), ..self.clone() }
    }

    /// The cells of a row to carry beside the URL.
    pub(super) fn carried(&self) -> &[usize] {
        &self.carried
    }

    /// The cell of a row that its URL is built from.
    pub fn source(&self) -> usize {
        self.header.layout().and_then(ColumnLayout::source).unwrap_or(0)
    }

    /// The cell of a row that holds a part.
    pub(super) fn cell_of(&self, part: RecordPart) -> Option<usize> {
        self.header.layout()?.column_of(part)
    }

    /// The container that it reads.
    pub fn container(&self) -> Container {
        self.container
    }

    /// Finds the columns in a schema. Returns the format with its columns resolved, and the columns
    /// of the schema that form the cells of a row, in this order. An error names a missing column.
    pub fn resolve(
        &self,
        names: &[Vec<u8>],
        holds_text: impl Fn(usize) -> bool,
    ) -> Result<(Self, Vec<usize>), NoColumn> {
        let columns = match &self.columns {
            Some(columns) => columns.clone(),
            None => {
                let column = url_column(names, holds_text).ok_or(NoColumn::Unclear)?;
                let name = String::from_utf8_lossy(&names[column]);
                // A name that would parse as something else is replaced by its number.
                let by_name = Columns::parse(&name).ok().filter(|columns| {
                    columns.find(names).is_ok_and(|found| found == [(column, RecordPart::Url)])
                });
                let by_number = || Columns::parse(&(column + 1).to_string());
                by_name.map_or_else(by_number, Ok).map_err(|_| NoColumn::Unclear)?
            }
        };
        let found = columns.find(names).map_err(NoColumn::Missing)?;
        let carried = self.carry.iter().map(|name| {
            let column = ColumnName::parse(name).ok().and_then(|name| name.find(names));
            let column = column.filter(|column| *column < names.len());
            column.ok_or_else(|| NoColumn::Missing(name.clone()))
        });
        let carried = carried.collect::<Result<Vec<usize>, _>>()?;
        let mut wanted: Vec<usize> =
            found.iter().map(|(column, _)| *column).chain(carried.iter().copied()).collect();
        // A column may be asked for twice, and is decoded once.
        wanted.sort_unstable();
        wanted.dedup();
        let cell = |column: usize| wanted.partition_point(|other| *other < column);
        let layout =
            ColumnLayout::new(found.iter().map(|(column, part)| (cell(*column), *part)).collect());
        let resolved = Self {
            container: self.container,
            columns: Some(columns),
            header: Header::known(layout),
            carry: self.carry.clone(),
            carried: carried.into_iter().map(cell).collect(),
        };
        Ok((resolved, wanted))
    }

    /// Appends a record for each row of a chunk.
    pub fn read(&self, ctx: &Context, chunk: &[u8], rows: &RowBatch, out: &mut Records) {
        let Some(layout) = self.header.layout() else { return };
        out.records.reserve(rows.len());
        // The window may be left out: records of tables are as large as their spans, and a table that goes on
        // begins at its first row (`Chunk::again`).
        if rows.width == 1 && layout.is_url_alone() {
            out.records.extend(rows.cells.iter().map(|cell| url(ctx, chunk, *cell)));
            return;
        }
        let source = self.source();
        let line = Line { bytes: chunk, start: 0 };
        for cells in rows.cells.chunks_exact(rows.width) {
            let value = |cell: &Span| if *cell == NULL { &[][..] } else { cell.of(chunk) };
            // A row is no line, so it is shown by the cell of its URL.
            let own = if cells[source] == NULL { Span::default() } else { cells[source] };
            let said = || layout.columns().map(|cell| value(&cells[cell]));
            let found = if cells[source] == NULL || said().all(is_blank) {
                Extracted::Blank
            } else if layout.is_url_alone() && own.len() > ctx.max_url {
                Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32)
            // The limit on records holds for each cell, since a row has no bytes of its own.
            } else if cells.iter().any(|cell| value(cell).len() > ctx.max_record) {
                Extracted::Reject(RejectReason::TooLong, 0)
            } else {
                let value = |_, cell| Value::InLine(value(cell));
                layout.found(ctx, line, cells.iter(), value, &mut out.scratch)
            };
            out.push(Record { line: own, found });
            if out.is_full() {
                break;
            }
        }
    }

    /// True if a row is a URL and nothing else.
    pub fn is_list(&self) -> bool {
        self.carried.is_empty() && self.header.layout().is_some_and(ColumnLayout::is_url_alone)
    }
}

/// Reads a row with one cell, the URL.
fn url(ctx: &Context, chunk: &[u8], cell: Span) -> Record {
    if cell == NULL {
        return Record { line: Span::default(), found: Extracted::Blank };
    }
    let found = if is_blank(cell.of(chunk)) {
        Extracted::Blank
    } else if cell.len() > ctx.max_url {
        Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32)
    } else {
        Extracted::Url(BufferId::Chunk, cell)
    };
    Record { line: cell, found }
}

/// The reason why a table has no column to read.
#[derive(Debug, PartialEq, Eq)]
pub enum NoColumn {
    /// No column has this name or number.
    Missing(String),
    /// No column is called `url`, and the number of text columns is not one.
    Unclear,
}

/// The column called `url`, `uri`, or `canonical` as in a set; else the only column of text.
fn url_column(names: &[Vec<u8>], holds_text: impl Fn(usize) -> bool) -> Option<usize> {
    let named = ["url", "uri", "canonical"].iter().find_map(|name| {
        names.iter().position(|column| column.eq_ignore_ascii_case(name.as_bytes()))
    });
    named.or_else(|| {
        let mut texts = (0..names.len()).filter(|column| holds_text(*column));
        texts.next().filter(|_| texts.next().is_none())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Format;

    fn names(names: &[&str]) -> Vec<Vec<u8>> {
        names.iter().map(|name| name.as_bytes().to_vec()).collect()
    }

    fn table(name: &str) -> TableFormat {
        let Format::Table(table) = Format::parse(name).unwrap() else { panic!("{name}") };
        table
    }

    #[test]
    fn column_named_url_or_the_only_text_column_is_read() {
        for (columns, found) in [
            (&["a", "url", "b"][..], Some("parquet:url")),
            (&["uri", "URL"], Some("parquet:URL")),
            (&["uri", "x"], Some("parquet:uri")),
            (&["n", "text"], Some("parquet:text")),
            (&["n", "7"], Some("parquet:2")),
            (&["n", "a", "b"], None),
            (&["n"], None),
        ] {
            let holds_text = |column: usize| columns[column] != "n";
            let names = names(columns);
            let resolved = TableFormat::any(Container::Parquet).resolve(&names, holds_text);
            let name = resolved.as_ref().ok().map(|(table, _)| table.name().into_owned());
            assert_eq!(name.as_deref(), found, "{columns:?}");
        }
    }

    #[test]
    fn error_names_the_missing_column() {
        let names = names(&["a", "b"]);
        for (name, missing) in [("arrow:c", "c"), ("arrow:3", "3"), ("arrow:host=a,path=x", "x")] {
            let error = table(name).resolve(&names, |_| true).unwrap_err();
            assert_eq!(error, NoColumn::Missing(missing.into()), "{name}");
        }
    }

    #[test]
    fn parts_are_read_from_the_cells_and_a_row_without_its_source_is_blank() {
        let names = names(&["status", "path", "host"]);
        let (table, wanted) =
            table("parquet:host=host,path=path").resolve(&names, |_| true).unwrap();
        assert_eq!(wanted, [1, 2]);
        let chunk = b"/ah ";
        let cell = |start, end| Span { start, end };
        let cells =
            vec![cell(0, 2), cell(2, 3), NULL, cell(2, 3), cell(3, 4), NULL, cell(0, 2), NULL];
        let rows = RowBatch { width: 2, cells, ..RowBatch::default() };
        let mut out = Records::default();
        table.read(&Context::default(), chunk, &rows, &mut out);
        let found: Vec<_> = out.records.iter().map(|record| record.found).collect();
        assert!(
            matches!(found[0], Extracted::Joined { prefix: 8, url } if url.of(&out.scratch) == b"http://h/a")
        );
        assert_eq!(found[1..3], [Extracted::Blank, Extracted::Blank]);
        assert_eq!(found[3], Extracted::Target(BufferId::Chunk, cell(0, 2)));
    }

    #[test]
    fn rest_of_a_row_batch_equals_its_rows_alone() {
        let cell = |start| Span { start, end: start + 1 };
        let rows = RowBatch {
            width: 2,
            cells: (0..10).map(cell).collect(),
            first: vec![0, 1, 0, 3, 3],
            times: vec![1, 2, 3, 4, 5],
        };
        let behind = rows.behind(2);
        assert_eq!(behind.cells, rows.cells[4..]);
        assert_eq!(behind.times, [3, 4, 5]);
        assert_eq!([0, 1, 2].map(|row| behind.earlier(row)), [None, None, Some(1)]);
    }
}
