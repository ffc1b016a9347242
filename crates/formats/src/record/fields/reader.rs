//! Reads the fields of the records of a chunk, in order, through the headers and envelopes around them.

use std::borrow::Cow;

use super::super::{Format, NULL, PartSet, RowBatch};
use super::Fields;
use uniqurl::internal::{AllocError, Span};

/// Reads parts of the records of one chunk.
#[derive(Debug)]
pub struct FieldReader {
    format: Format,
    parts: PartSet,
    /// A line without its envelope.
    buffer: Vec<u8>,
}

impl FieldReader {
    /// For those of these parts that records of `format` can have. It is the format at the start of the
    /// chunk.
    pub fn new(format: &Format, wanted: PartSet) -> Self {
        Self { format: format.clone(), parts: format.parts().and(wanted), buffer: Vec::new() }
    }

    /// The parts that it reads.
    pub fn parts(&self) -> PartSet {
        self.parts
    }

    /// Applies a line that is not a record, such as a header.
    pub fn pass(&mut self, line: &[u8]) {
        self.format.pass(line);
    }

    /// Reads a record.
    ///
    /// # Errors
    ///
    /// Memory ran out.
    pub fn read<'a>(&'a mut self, line: &'a [u8]) -> Result<Fields<'a>, AllocError> {
        let (format, line) = self.format.unwrapped(line, &mut self.buffer);
        Fields::filled(self.parts, |fields| format.fields(line, fields))
    }

    /// Reads a row of a table.
    pub fn read_row<'a>(&self, chunk: &'a [u8], rows: &RowBatch, row: usize) -> Fields<'a> {
        let mut fields = Fields::new(self.parts);
        let Format::Table(table) = &self.format else { return fields };
        let cells = &rows.cells[row * rows.width..][..rows.width];
        let cell = |part| table.cell_of(part).map(|cell| cells[cell]);
        fields.read_parts(|part, take| {
            let cell = cell(part).filter(|cell: &Span| *cell != NULL);
            cell.into_iter().for_each(|cell| take(Cow::Borrowed(cell.of(chunk))));
        });
        fields
    }
}
