//! Reads inputs, which are checked before any work starts, into chunks of whole records.
//!
//! A regular file is cut into ranges, which workers read at their own positions; a pipe is read
//! sequentially on its own thread. Files are read and never mapped: a file that shrinks is an error
//! with a name, not a signal.
//!
//! Compressed inputs are recognized by their first bytes and decompressed while reading. Offsets count
//! decompressed bytes.
//!
//! The records of an archive are not lines. They come without their bodies unless these are requested,
//! each with its offset in the input.
//!
//! A record longer than the limit is cut to one byte more than the limit and ends its chunk, so memory
//! stays bounded for any record.

mod error;
mod state;
pub mod pipe;
mod opened;
mod buffers;
mod range;
mod read_ahead;

mod compression;
mod byte_source;
mod decoder;
mod stream_decode;
mod parallel_decode;
mod source;
mod whole;

mod events;
mod frames;
mod stream;

#[cfg(test)]
mod tests;

pub use compression::{Compression, ending};
pub use error::{InputError, Packed, Trouble};
pub use opened::{Input, Source, check};
pub use state::InputState;
pub use whole::{read_whole, read_within};

pub use decoder::Limits;
pub use events::{StreamEvent, StreamEvents};
pub use opened::OpenFile;
pub use range::{CutLine, RangeBuffer, read_range};
pub use read_ahead::ReadAhead;
pub use source::{StreamSource, compression_of, unpacked_file};
pub use source::{Unpacked, pipe, unpacked};
pub use stream::{StreamOptions, stream};

use bytes::{Buf, Bytes};

use crate::record::RowBatch;
use crate::record::{Frame, MARK};

/// Whole records and their position in the input.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Its bytes.
    pub data: Data,
    /// Offset of the first byte.
    pub offset: u64,
    /// The records of an archive; bytes between them are left out. Empty for lines.
    pub frames: Vec<Frame>,
}

impl Default for Data {
    fn default() -> Self {
        Data::Shared(Bytes::new())
    }
}

/// The storage of a chunk's bytes.
#[derive(Debug)]
pub enum Data {
    /// A buffer that its worker reuses.
    Block(RangeBuffer),
    /// A part of a stream's buffer.
    Shared(Bytes),
    /// The cells of a table's rows. Offsets count rows.
    Rows(Bytes, RowBatch),
}

impl Chunk {
    /// Returns the bytes of its records.
    pub fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Block(block) => block.bytes(),
            Data::Shared(bytes) => bytes,
            Data::Rows(bytes, _) => bytes,
        }
    }

    /// Returns the rows, if the records are those of a table.
    pub fn rows(&self) -> Option<&RowBatch> {
        match &self.data {
            Data::Rows(_, rows) => Some(rows),
            _ => None,
        }
    }

    /// How many rows each row stands for; empty if each stands for itself.
    pub fn times(&self) -> &[u32] {
        if let Data::Rows(_, rows) = &self.data {
            return &rows.times;
        }
        &[]
    }

    /// Returns an earlier row with the same cell, if the table knows of one.
    #[inline]
    pub fn earlier(&self, row: usize) -> Option<usize> {
        if let Data::Rows(_, rows) = &self.data {
            return rows.earlier(row);
        }
        let _ = row;
        None
    }

    /// Returns the offset in the input of record `n` (counted from 0), which starts at `start` in the
    /// chunk. For a table this is the number of rows before it.
    pub fn offset_of(&self, n: usize, start: u32) -> u64 {
        if let Data::Rows(..) = &self.data {
            return self.offset + n as u64;
        }
        let _ = n;
        // Bytes between the records are left out of a chunk, so an offset follows from the frame
        // that holds it.
        match self.frames.partition_point(|frame| frame.start <= start).checked_sub(1) {
            Some(frame) => {
                let frame = &self.frames[frame];
                frame.offset + u64::from(start - frame.start)
            }
            None => self.offset + u64::from(start),
        }
    }

    /// The amount of work in bytes. Rows may count for more than their bytes.
    pub fn size(&self) -> usize {
        match &self.data {
            Data::Rows(bytes, rows) => rows.size(bytes.len()),
            _ => self.bytes().len(),
        }
    }

    /// Memory use in bytes.
    pub fn memory(&self) -> usize {
        let data = match &self.data {
            Data::Block(block) => block.memory(),
            Data::Shared(bytes) => bytes.len(),
            Data::Rows(bytes, rows) => bytes.len() + rows.memory(),
        };
        data + self.frames.iter().map(Frame::memory).sum::<usize>()
    }

    /// Drops the first `count` bytes.
    pub fn skip(&mut self, count: usize) {
        self.offset += count as u64;
        match &mut self.data {
            Data::Block(block) => block.skip(count),
            Data::Shared(bytes) => bytes.advance(count),
            // A table never starts with a byte-order mark.
            Data::Rows(..) => {}
        }
    }

    /// Drops a byte-order mark at the start of the input.
    pub fn skip_mark(&mut self) {
        if self.offset == 0 && self.bytes().starts_with(MARK) {
            self.skip(MARK.len());
        }
    }

    /// Joins this chunk and the next one.
    pub fn take_with(&mut self, next: Chunk) -> Chunk {
        let first = std::mem::take(self);
        if first.bytes().is_empty() {
            return next;
        }
        let joined = [first.bytes(), next.bytes()].concat();
        Chunk { data: Data::Shared(joined.into()), offset: first.offset, frames: Vec::new() }
    }

    /// Copies the chunk to continue with record `n`, and returns the index of that record in the copy.
    /// A table's copy holds only the rows from `n` on.
    pub fn again(&self, n: usize) -> (Chunk, usize) {
        let (data, first) = match &self.data {
            // A worker reads its next range into the same block, so this copy has to own its bytes.
            Data::Block(block) => (Data::Shared(Bytes::copy_from_slice(block.bytes())), n),
            Data::Shared(bytes) => (Data::Shared(bytes.clone()), n),
            Data::Rows(bytes, rows) => {
                let data = Data::Rows(bytes.clone(), rows.behind(n));
                return (Chunk { data, offset: self.offset + n as u64, frames: Vec::new() }, 0);
            }
        };
        (Chunk { data, offset: self.offset, frames: self.frames.clone() }, first)
    }

    /// Keeps the first `at` bytes and returns the rest.
    pub fn split_off(&mut self, at: usize) -> Chunk {
        let offset = self.offset + at as u64;
        let rest = Bytes::copy_from_slice(&self.bytes()[at..]);
        match &mut self.data {
            Data::Block(block) => block.truncate(at),
            Data::Shared(bytes) => bytes.truncate(at),
            Data::Rows(bytes, _) => bytes.truncate(at),
        }
        Chunk { data: Data::Shared(rest), offset, frames: Vec::new() }
    }
}
