//! Bytes in: inputs that were looked at before any work started, and chunks that hold whole records.
//!
//! A regular file is cut into ranges, each read by whoever works on it, at its own position; a pipe
//! is read in order by a thread of its own. Files are read and never mapped: one that shrinks is an
//! error with a name, not a signal.
//!
//! An input that is compressed is unpacked on the way; what it is compressed with is told by its first
//! bytes. Offsets count in what is unpacked.
//!
//! The records of an archive are no lines. They come without their bodies where nobody wants those,
//! each with the offset it has in the input.
//!
//! A record that is longer than the limit comes as its first bytes, one more than the limit, as the
//! last record of a chunk: nobody has to hold more, however long it is.

mod error;
mod state;
pub mod pipe;
mod opened;
mod range;

mod compression;
mod decoder;
mod stream_decode;
mod parallel_decode;
mod source;
mod whole;

mod buffers;
mod frames;
mod stream;

#[cfg(test)]
mod tests;

pub use compression::{Compression, ending};
pub use error::{InputError, Packed, Trouble};
pub use opened::{Input, Source, check};
pub use state::InputState;
pub use whole::read_whole;

pub use decoder::Limits;
pub use opened::OpenFile;
pub use range::{CutLine, RangeBuffer, read_range};
pub use source::{StreamSource, compression_of, unpacked_file};
pub use source::{Unpacked, pipe, unpacked};
pub use stream::{StreamEvent, StreamOptions, stream};

use bytes::{Buf, Bytes};

use crate::record::RowBatch;
use crate::record::{Frame, MARK};

/// Whole records, and where they stand in their input.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Its bytes.
    pub data: Data,
    /// Offset of the first byte.
    pub offset: u64,
    /// The records, where they are no lines: then bytes between them are left out.
    pub frames: Vec<Frame>,
}

impl Default for Data {
    fn default() -> Self {
        Data::Shared(Bytes::new())
    }
}

/// Where the bytes of a chunk live.
#[derive(Debug)]
pub enum Data {
    /// In a buffer that its worker reads into again and again.
    Block(RangeBuffer),
    /// In a part of what a stream was read into.
    Shared(Bytes),
    /// In cells: the rows of a table. Offsets count rows.
    Rows(Bytes, RowBatch),
}

impl Chunk {
    /// The bytes of its records.
    pub fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Block(block) => block.bytes(),
            Data::Shared(bytes) => bytes,
            Data::Rows(bytes, _) => bytes,
        }
    }

    /// The rows, where the records are those of a table.
    pub fn rows(&self) -> Option<&RowBatch> {
        match &self.data {
            Data::Rows(_, rows) => Some(rows),
            _ => None,
        }
    }

    /// How many rows each row stands for, where some stand for several.
    pub fn times(&self) -> &[u32] {
        if let Data::Rows(_, rows) = &self.data {
            return &rows.times;
        }
        &[]
    }

    /// An earlier row with the same cell as this one, where a table says so.
    #[inline]
    pub fn earlier(&self, row: usize) -> Option<usize> {
        if let Data::Rows(_, rows) = &self.data {
            return rows.earlier(row);
        }
        let _ = row;
        None
    }

    /// The offset in the input of the n-th record, counted from 0, which stands at `start` of the
    /// chunk. Of a row that is how many are before it.
    pub fn offset_of(&self, n: usize, start: u32) -> u64 {
        if let Data::Rows(..) = &self.data {
            return self.offset + n as u64;
        }
        let _ = n;
        match self.frames.partition_point(|frame| frame.start <= start).checked_sub(1) {
            Some(frame) => {
                let frame = &self.frames[frame];
                frame.offset + u64::from(start - frame.start)
            }
            None => self.offset + u64::from(start),
        }
    }

    /// How much it is to work on, in bytes. Rows may be more than theirs.
    pub fn size(&self) -> usize {
        match &self.data {
            Data::Rows(bytes, rows) => rows.size(bytes.len()),
            _ => self.bytes().len(),
        }
    }

    /// Bytes of memory it takes.
    pub fn memory(&self) -> usize {
        let data = match &self.data {
            Data::Block(block) => block.memory(),
            Data::Shared(bytes) => bytes.len(),
            Data::Rows(bytes, rows) => bytes.len() + rows.memory(),
        };
        data + self.frames.iter().map(Frame::memory).sum::<usize>()
    }

    /// Leaves out the first `count` bytes.
    pub fn skip(&mut self, count: usize) {
        self.offset += count as u64;
        match &mut self.data {
            Data::Block(block) => block.skip(count),
            Data::Shared(bytes) => bytes.advance(count),
            // No mark is at the start of a table.
            Data::Rows(..) => {}
        }
    }

    /// Leaves out a byte-order mark at the start of the input.
    pub fn skip_mark(&mut self) {
        if self.offset == 0 && self.bytes().starts_with(MARK) {
            self.skip(MARK.len());
        }
    }

    /// Takes this chunk and the one that comes behind it for one.
    pub fn take_with(&mut self, next: Chunk) -> Chunk {
        let first = std::mem::take(self);
        if first.bytes().is_empty() {
            return next;
        }
        let joined = [first.bytes(), next.bytes()].concat();
        Chunk { data: Data::Shared(joined.into()), offset: first.offset, frames: Vec::new() }
    }

    /// The same chunk again, to go on with the n-th record; and which one that is in it. Of a table there are
    /// only the rows behind.
    pub fn again(&self, n: usize) -> (Chunk, usize) {
        let (data, first) = match &self.data {
            Data::Block(block) => (Data::Shared(Bytes::copy_from_slice(block.bytes())), n),
            Data::Shared(bytes) => (Data::Shared(bytes.clone()), n),
            Data::Rows(bytes, rows) => {
                let data = Data::Rows(bytes.clone(), rows.behind(n));
                return (Chunk { data, offset: self.offset + n as u64, frames: Vec::new() }, 0);
            }
        };
        (Chunk { data, offset: self.offset, frames: self.frames.clone() }, first)
    }

    /// Keeps the first `at` bytes and gives the others.
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
