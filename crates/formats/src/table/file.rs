//! Random access to a file for table readers, possibly several at once.

use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use crate::input::OpenFile;

/// A position in a file. The file ends at its size at opening.
#[derive(Debug, Clone)]
pub(super) struct At {
    file: Arc<OpenFile>,
    at: u64,
    /// The most bytes that the library may read at once.
    most: usize,
}

impl At {
    pub(super) fn new(file: Arc<OpenFile>) -> Self {
        Self { file, at: 0, most: usize::MAX }
    }

    pub(super) fn within(&self, most: usize) -> Self {
        Self { most, ..self.clone() }
    }

    pub(super) fn size(&self) -> u64 {
        self.file.size()
    }

    /// Fills `out` with the bytes at `offset`.
    pub(super) fn read_at(&self, out: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.file.read_exact_at(out, offset)
    }
}

impl Read for At {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(self.size().saturating_sub(self.at)).unwrap_or(usize::MAX);
        let length = out.len().min(rest);
        let read = self.file.file.read_at(&mut out[..length], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Length for At {
    fn len(&self) -> u64 {
        self.size()
    }
}

impl ChunkReader for At {
    type T = BufReader<At>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(BufReader::new(At { at: start, ..self.clone() }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        // Check before allocating: the claims of a file may be arbitrary.
        if start.checked_add(length as u64).is_none_or(|end| end > self.size()) {
            let why = format!("{length} bytes at {start} are not in a file of {}", self.size());
            return Err(ParquetError::EOF(why));
        }
        // The library may understand a header otherwise than `page_headers`.
        if length > self.most {
            return Err(ParquetError::General("a page is longer than its header says".into()));
        }
        let mut bytes = vec![0; length];
        self.read_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}
