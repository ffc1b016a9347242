//! Cuts the rows of a batch into chunks: the bytes of the cells, and a span for each cell.
//!
//! Texts that follow each other in one buffer are used in place. Others are copied, as are numbers,
//! formatted values and the cells of several columns.

use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

use bytes::Bytes;

use super::batch::{Column, Stop, TableOptions};
use super::column::{Cell, Cells, Keys, Standing, Views};
use crate::input::{Chunk, Data};
use crate::record::{ALIKE, NULL, RowBatch};
use uniqurl::internal::Span;

/// Most rows of a chunk.
const ROWS: usize = 16 << 10;

/// Most bytes of a chunk without its last row, regardless of the requested size.
const MOST: usize = 256 << 20;

/// A chunk of dictionary values may be this many times longer. Most dictionaries have at most 1 MiB,
/// and a value in two chunks is processed twice.
const LONGER_CHUNKS: usize = 4;

/// Dictionary values per row of a batch up to which processing values does not take longer than rows.
const VALUES_A_ROW: usize = 8;

/// Fewer rows than this are copied instead of becoming a chunk of their own.
const LEAST_IN_PLACE: usize = 256;

/// Cuts the rows of a section.
pub(super) struct RowCutter {
    /// Rows before the next chunk.
    at: u64,
    chunk_size: usize,
    max_record: usize,
    once: bool,
    /// Bytes and cells of the previous chunk, used to reserve memory.
    usual: (usize, usize),
}

/// The chunk under construction.
#[derive(Default)]
struct Making {
    bytes: Vec<u8>,
    rows: RowBatch,
    /// Total length of its cells, counting shared ones each time.
    told: usize,
    /// For each identity, the span of the cell and the first row that had it.
    seen: HashMap<u128, (Span, u32), rapidhash::fast::RandomState>,
}

impl RowCutter {
    /// Creates a cutter; `at` rows precede the first.
    pub(super) fn new(at: u64, options: TableOptions) -> Self {
        let TableOptions { chunk_size, max_record, once, .. } = options;
        Self { at, chunk_size: chunk_size.clamp(1, MOST), max_record, once, usual: (0, 0) }
    }

    /// Cuts the rows of a batch into chunks.
    pub(super) fn cut(
        &mut self,
        columns: &[Column],
        mut hand_on: impl FnMut(Chunk) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let unknown = || Stop::Failed("a column has a type that it did not have".into());
        let length = columns.iter().map(|column| column.array.len()).min().unwrap_or(0);
        let cells = columns.iter().map(Cells::new).collect::<Option<Vec<_>>>();
        let cells = cells.ok_or_else(unknown)?;
        if let [one] = &cells[..]
            && let Some(keys) = one.keys()
            && self.once
            && keys.values <= VALUES_A_ROW * length
        {
            return self.cut_once(one, keys, length, hand_on);
        }
        // With several columns, a row repeats only if each of its cells does, and no array tells that.
        let repeats = matches!(&cells[..], [one] if one.may_repeat());
        let views = match &cells[..] {
            [one] if !repeats => one.views(),
            _ => None,
        };
        let mut buffers = Vec::new();
        if let Some(views) = &views {
            buffers.resize(views.buffers.len(), Bytes::new());
        }
        let mut row = 0;
        while row < length {
            if let Some(views) = &views
                && let Some(chunk) = self.in_place(views, row..length, &mut buffers)
            {
                row += chunk.rows().map_or(0, RowBatch::len);
                hand_on(chunk)?;
                continue;
            }
            let mut making = self.begin(cells.len());
            let start = row;
            while row < length
                && row - start < ROWS
                && !self.is_full(making.bytes.len(), making.told)
            {
                for cells in &cells {
                    making.append(cells, row, self.max_record, repeats);
                }
                row += 1;
            }
            hand_on(self.end(making))?;
        }
        Ok(())
    }

    /// Makes a chunk of rows whose texts lie in one buffer; `None` if they are too few. `buffers`
    /// caches the views' buffers as shared bytes.
    fn in_place(
        &mut self,
        views: &Views<'_>,
        rows: Range<usize>,
        buffers: &mut [Bytes],
    ) -> Option<Chunk> {
        let mut cells = Vec::with_capacity(self.usual.1);
        // Number of the buffer, and the range of it that the texts cover.
        let mut place: Option<(usize, usize, usize)> = None;
        let wanted = rows.len().min(ROWS);
        // Texts may overlap, so the length of the range does not bound the sum of their lengths.
        let mut told = 0;
        for row in rows.clone().take(wanted) {
            let (start, length) = match (views.get(row), place) {
                (Standing::Null, _) => {
                    cells.push(NULL);
                    continue;
                }
                (Standing::In { buffer, offset, length }, None) => {
                    place = Some((buffer, offset, offset));
                    (offset, length)
                }
                // The offsets rise, as `may_repeat` has found, so the difference is never negative.
                (Standing::In { buffer, offset, length }, Some((same, first, _)))
                    if buffer == same && offset - first <= MOST =>
                {
                    (offset, length)
                }
                // A text inside its view is also in the buffer, after the previous text or after its
                // own length (Parquet, "Plain encoding").
                (Standing::Here { text, length }, Some((buffer, _, end))) => {
                    let stands = |at: &usize| {
                        views.buffers[buffer].get(*at..at + length) == Some(&text[..length])
                    };
                    let Some(at) = [end + size_of::<u32>(), end].into_iter().find(stands) else {
                        break;
                    };
                    (at, length)
                }
                (Standing::In { .. } | Standing::Here { .. }, _) => break,
            };
            let Some((_, first, end)) = &mut place else { break };
            let from = start - *first;
            *end = (*end).max(start + length);
            // Keep one byte more than the limit, to mark the cell as too long.
            let to = from + length.min(self.max_record + 1);
            cells.push(Span { start: from as u32, end: to as u32 });
            told += to - from;
            if self.is_full(*end - *first, told) {
                break;
            }
        }
        let (buffer, first, end) = place.unwrap_or_default();
        if cells.len() < wanted.min(LEAST_IN_PLACE) && end - first < self.chunk_size {
            return None;
        }
        let bytes = match buffers.get_mut(buffer) {
            Some(bytes) if end > first => {
                if bytes.is_empty() {
                    *bytes = Bytes::from_owner(views.buffers[buffer].clone());
                }
                bytes.slice(first..end)
            }
            _ => Bytes::new(),
        };
        self.usual.1 = cells.len();
        let offset = self.at;
        self.at += cells.len() as u64;
        let rows = RowBatch { width: 1, cells, ..RowBatch::default() };
        Some(Chunk { data: Data::Rows(bytes, rows), offset, frames: Vec::new() })
    }

    /// Like `cut`, but rows with the same dictionary key become one row, in order of first occurrence.
    fn cut_once(
        &mut self,
        cells: &Cells<'_>,
        keys: Keys<'_>,
        length: usize,
        mut hand_on: impl FnMut(Chunk) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        // The index after the last value stands for null.
        let null = keys.values;
        // For each value the number of its cell, counted through all chunks from 1.
        let mut numbers = vec![0_u32; null + 1];
        let mut before = 1;
        let mut making = self.begin(1);
        for row in 0..length {
            let key = keys.get(row).unwrap_or(null);
            let number = numbers[key];
            // A value that an earlier chunk holds has a number below `before`. That chunk is gone,
            // so the value gets a row again.
            if number >= before {
                making.rows.times[(number - before) as usize] += 1;
                continue;
            }
            if making.bytes.len() >= LONGER_CHUNKS * self.chunk_size {
                before += making.rows.times.len() as u32;
                hand_on(self.end(std::mem::take(&mut making)))?;
                making = self.begin(1);
            }
            numbers[key] = before + making.rows.times.len() as u32;
            making.append(cells, row, self.max_record, false);
            making.rows.times.push(1);
        }
        if making.rows.times.is_empty() { Ok(()) } else { hand_on(self.end(making)) }
    }

    /// True if a chunk has enough bytes, or shared cells of enough total length.
    fn is_full(&self, bytes: usize, told: usize) -> bool {
        bytes.max(told / ALIKE) >= self.chunk_size
    }

    fn begin(&self, width: usize) -> Making {
        let mut making = Making::default();
        making.rows.width = width;
        making.bytes.reserve(self.usual.0);
        making.rows.cells.reserve(self.usual.1);
        making
    }

    fn end(&mut self, making: Making) -> Chunk {
        let Making { bytes, rows, .. } = making;
        self.usual = (bytes.len(), rows.cells.len());
        let offset = self.at;
        self.at += rows.of_table();
        Chunk { data: Data::Rows(bytes.into(), rows), offset, frames: Vec::new() }
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
                // Keep one byte more than the limit, to mark the cell as too long.
                let text = &text[..text.len().min(max_record + 1)];
                (self.write(|bytes| bytes.extend_from_slice(text)), this)
            }
            (Cell::Number(number), None) => {
                // Writing to a vector cannot fail.
                let write = |bytes: &mut Vec<u8>| drop(write!(bytes, "{number}"));
                (self.write(write), this)
            }
            (Cell::Words(text), None) => {
                (self.write(|bytes| bytes.extend_from_slice(text.as_bytes())), this)
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
        self.told += span.len();
        self.rows.cells.push(span);
    }

    fn write(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Span {
        let start = self.bytes.len() as u32;
        write(&mut self.bytes);
        Span { start, end: self.bytes.len() as u32 }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::Int32Type;
    use arrow_array::{ArrayRef, BinaryViewArray, DictionaryArray, Int32Array, StringArray};
    use arrow_buffer::Buffer;

    use super::*;

    fn options(chunk_size: usize) -> TableOptions {
        TableOptions { chunk_size, max_record: 9000, threads: 1, memory: usize::MAX, once: false }
    }

    /// The rows of each chunk of a column, and the total length of their cells.
    fn chunks(array: ArrayRef, chunk_size: usize) -> Vec<(usize, usize)> {
        let mut chunks = Vec::new();
        let columns = [Column { above: Vec::new(), array }];
        let cut = RowCutter::new(0, options(chunk_size)).cut(&columns, |chunk| {
            let cells = &chunk.rows().expect("rows").cells;
            chunks.push((cells.len(), cells.iter().map(|cell| cell.len()).sum()));
            Ok(())
        });
        assert!(cut.is_ok());
        chunks
    }

    #[test]
    fn rows_that_share_cells_are_cut_into_bounded_chunks() {
        const ROWS: usize = 10_000;
        const LONG: usize = 5000;
        let long = "a".repeat(LONG + ROWS);
        let keys = Int32Array::from_iter_values((0..ROWS as i32).map(|row| row % 3));
        let values = StringArray::from(vec![&long[..LONG]; 3]);
        let views = |at: fn(usize) -> usize| -> ArrayRef {
            let views =
                (0..ROWS).map(|row| LONG as u128 | 0x6161_6161 << 32 | (at(row) as u128) << 96);
            let buffer = Buffer::from_vec(long.clone().into_bytes());
            let views = views.collect::<Vec<_>>().into();
            Arc::new(BinaryViewArray::try_new(views, vec![buffer], None).expect("views"))
        };
        let dictionary: DictionaryArray<Int32Type> =
            DictionaryArray::try_new(keys, Arc::new(values)).expect("a dictionary");
        for (name, array) in [
            ("keys", Arc::new(dictionary) as ArrayRef),
            ("one place", views(|_| 7)),
            ("in each other", views(|row| row / 2)),
            ("each in the one before", views(|row| row)),
        ] {
            let chunks = chunks(array, 1 << 14);
            let rows: usize = chunks.iter().map(|(rows, _)| rows).sum();
            assert_eq!(rows, ROWS, "{name}");
            let most = chunks.iter().map(|(_, told)| *told).max();
            assert!(most <= Some((ALIKE << 14) + LONG), "{name}: {most:?}");
        }
    }

    #[test]
    fn overlapping_texts_are_cut_exactly() {
        const ROWS: usize = 1000;
        const LONG: usize = 500;
        let text: String = (0..2 * ROWS + LONG).map(|n| char::from(b'a' + (n % 7) as u8)).collect();
        // Each text begins after the start of the one before it, and every other one ends before that
        // one does.
        let place = |row: usize| (row, LONG - 20 * (row % 2));
        let views = (0..ROWS).map(|row| {
            let (at, length) = place(row);
            let start = text.as_bytes()[at..].first_chunk().expect("four bytes");
            length as u128 | u128::from(u32::from_le_bytes(*start)) << 32 | (at as u128) << 96
        });
        let views = views.collect::<Vec<_>>().into();
        let buffer = Buffer::from_vec(text.clone().into_bytes());
        let array = Arc::new(BinaryViewArray::try_new(views, vec![buffer], None).expect("views"));
        let columns = [Column { above: Vec::new(), array }];
        let mut row = 0;
        let cut = RowCutter::new(0, options(1 << 20)).cut(&columns, |chunk| {
            for cell in &chunk.rows().expect("rows").cells {
                let (at, length) = place(row);
                assert_eq!(cell.of(chunk.bytes()), &text.as_bytes()[at..at + length]);
                row += 1;
            }
            Ok(())
        });
        assert!(cut.is_ok());
        assert_eq!(row, ROWS);
    }
}
