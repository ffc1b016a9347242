//! Cuts the rows of a batch into chunks: the bytes of their cells, and where each is.

use std::collections::HashMap;
use std::io::Write;

use super::column::{Cell, Cells};
use super::{Column, Stop};
use crate::input::{Chunk, Data};
use crate::record::{NULL, Rows, Span};

/// Rows of a chunk, however short they are.
const ROWS: usize = 16 << 10;

/// Bytes of a chunk, but for those of its last row, however many are asked for.
const MOST: usize = 256 << 20;

/// Where the rows of a section come by.
pub(super) struct Cutter {
    /// Rows before the next chunk.
    at: u64,
    chunk_size: usize,
    max_record: usize,
    /// Bytes and cells of the chunk before.
    usual: (usize, usize),
}

/// The chunk that is being made.
#[derive(Default)]
struct Making {
    bytes: Vec<u8>,
    rows: Rows,
    /// By what tells it apart, where a cell of the chunk is and which row it was the first of.
    seen: HashMap<u128, (Span, u32), rapidhash::fast::RandomState>,
}

impl Cutter {
    pub(super) fn new(at: u64, chunk_size: usize, max_record: usize) -> Self {
        Self { at, chunk_size: chunk_size.min(MOST), max_record, usual: (0, 0) }
    }

    /// Makes chunks of the rows of a batch.
    pub(super) fn cut(
        &mut self,
        columns: &[Column],
        mut hand_on: impl FnMut(Chunk) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let unknown = || Stop::Failed("a column has a type that it did not have".into());
        let length = columns.iter().map(|column| column.array.len()).min().unwrap_or(0);
        let cells = columns.iter().map(Cells::new).collect::<Option<Vec<_>>>();
        let cells = cells.ok_or_else(unknown)?;
        // Rows that have several cells repeat where each of these does, which nobody tells.
        let repeats = matches!(&cells[..], [one] if one.may_repeat());
        let mut row = 0;
        while row < length {
            let mut making = Making::default();
            making.rows.width = cells.len();
            making.bytes.reserve(self.usual.0);
            making.rows.cells.reserve(self.usual.1);
            let start = row;
            while row < length && row - start < ROWS && making.bytes.len() < self.chunk_size.max(1)
            {
                for cells in &cells {
                    making.append(cells, row, self.max_record, repeats);
                }
                row += 1;
            }
            self.usual = (making.bytes.len(), making.rows.cells.len());
            let data = Data::Rows(making.bytes, making.rows);
            let offset = self.at;
            self.at += (row - start) as u64;
            hand_on(Chunk { data, offset, frames: Vec::new() })?;
        }
        Ok(())
    }
}

impl Making {
    fn append(&mut self, cells: &Cells<'_>, row: usize, max_record: usize, repeats: bool) {
        let this = self.rows.cells.len() as u32;
        let identity = if repeats { cells.identity(row) } else { None };
        let known = identity.and_then(|identity| self.seen.get(&identity).copied());
        let (span, first) = match (cells.get(row), known) {
            (Cell::Null, _) => (NULL, this),
            (_, Some(known)) => known,
            (Cell::Text(text), None) => {
                // Of what is too long, as much as tells so.
                let text = &text[..text.len().min(max_record + 1)];
                (self.write(|bytes| bytes.extend_from_slice(text)), this)
            }
            (Cell::Number(number), None) => {
                // Writing to a vector cannot fail.
                let write = |bytes: &mut Vec<u8>| drop(write!(bytes, "{number}"));
                (self.write(write), this)
            }
        };
        if repeats {
            self.rows.first.push(first);
            if let Some(identity) = identity
                && first == this
                && span != NULL
            {
                self.seen.insert(identity, (span, this));
            }
        }
        self.rows.cells.push(span);
    }

    fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Span {
        let start = self.bytes.len() as u32;
        write(&mut self.bytes);
        Span { start, end: self.bytes.len() as u32 }
    }
}
