//! Entries one behind the other, in packed blocks.
//!
//! A block is a Zstandard frame with a checksum, which is verified when it is read back: a disk that
//! gives back other bytes than it was given is an error, never a URL. An entry may go on in the
//! next block, so blocks are small however long a URL is.

use std::fmt;
use std::io;
use std::sync::Arc;

use zstd::bulk::{Compressor, Decompressor};

use super::entry::{OwnedEntry, SpillEntry};
use super::store::{Extent, SpillError, Store};
use uniqurl::bytes::alloc;

/// The fastest level that still finds what URLs have in common.
const LEVEL: i32 = 1;

/// Where the blocks of a stream are, in order.
#[derive(Debug, Default)]
pub struct Stream(Vec<Extent>);

impl Stream {
    /// Whether it holds no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Packs blocks, one at a time, for any number of writers.
pub struct BlockCompressor {
    store: Arc<Store>,
    compressor: Compressor<'static>,
    packed: Vec<u8>,
}

impl fmt::Debug for BlockCompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockCompressor").field("store", &self.store).finish_non_exhaustive()
    }
}

impl BlockCompressor {
    /// Compresses blocks into this file.
    pub fn new(store: &Arc<Store>) -> Result<Self, SpillError> {
        let made = Compressor::new(LEVEL).and_then(|mut compressor| {
            compressor.include_checksum(true)?;
            Ok(compressor)
        });
        let compressor = made.map_err(|error| store.error(error))?;
        Ok(Self { store: Arc::clone(store), compressor, packed: Vec::new() })
    }

    fn write(&mut self, block: &[u8]) -> Result<Extent, SpillError> {
        self.packed.clear();
        alloc::try_reserve(&mut self.packed, zstd::zstd_safe::compress_bound(block.len()))
            .map_err(|error| self.store.error(error.into()))?;
        let packed = self.compressor.compress_to_buffer(block, &mut self.packed);
        packed.map_err(|error| self.store.error(error))?;
        self.store.append(&self.packed)
    }
}

/// A stream that is being written. Its buffer is one block.
#[derive(Debug)]
pub struct EntryWriter {
    buffer: Vec<u8>,
    block: usize,
    extents: Vec<Extent>,
}

impl EntryWriter {
    /// Writes blocks of this many bytes.
    pub fn new(block: usize) -> Self {
        Self { buffer: Vec::new(), block, extents: Vec::new() }
    }

    /// Writes whole entries, as [`SpillEntry::append`] makes them.
    pub fn write(
        &mut self,
        mut entries: &[u8],
        compressor: &mut BlockCompressor,
    ) -> Result<(), SpillError> {
        while !entries.is_empty() {
            if self.buffer.capacity() == 0 {
                alloc::try_reserve_exact(&mut self.buffer, self.block)
                    .map_err(|error| compressor.store.error(error.into()))?;
            }
            let room = self.block - self.buffer.len();
            let (now, later) = entries.split_at(room.min(entries.len()));
            self.buffer.extend_from_slice(now);
            entries = later;
            if self.buffer.len() == self.block {
                self.flush(compressor)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, compressor: &mut BlockCompressor) -> Result<(), SpillError> {
        alloc::try_reserve(&mut self.extents, 1)
            .map_err(|error| compressor.store.error(error.into()))?;
        self.extents.push(compressor.write(&self.buffer)?);
        self.buffer.clear();
        Ok(())
    }

    /// Begins anew; what was written is the stream that is returned.
    pub fn turn(&mut self, compressor: &mut BlockCompressor) -> Result<Stream, SpillError> {
        let new = Self::new(self.block);
        std::mem::replace(self, new).finish(compressor)
    }

    /// Writes the entries of a stream.
    pub fn append(
        &mut self,
        mut stream: Stream,
        compressor: &mut BlockCompressor,
    ) -> Result<(), SpillError> {
        if !self.buffer.is_empty() {
            self.flush(compressor)?;
        }
        alloc::try_reserve(&mut self.extents, stream.0.len())
            .map_err(|error| compressor.store.error(error.into()))?;
        self.extents.append(&mut stream.0);
        Ok(())
    }

    /// Writes the last block, and gives the stream.
    pub fn finish(mut self, compressor: &mut BlockCompressor) -> Result<Stream, SpillError> {
        if !self.buffer.is_empty() {
            self.flush(compressor)?;
        }
        Ok(Stream(self.extents))
    }
}

/// Unpacks blocks, one at a time, for any number of readers.
pub(super) struct BlockDecompressor<'a> {
    store: &'a Store,
    block: usize,
    decompressor: Decompressor<'static>,
    packed: Vec<u8>,
}

impl<'a> BlockDecompressor<'a> {
    /// For blocks of at most `block` bytes.
    pub(super) fn new(store: &'a Store, block: usize) -> Result<Self, SpillError> {
        let decompressor = Decompressor::new().map_err(|error| store.error(error))?;
        Ok(Self { store, block, decompressor, packed: Vec::new() })
    }

    fn read(&mut self, extent: Extent, out: &mut Vec<u8>) -> Result<(), SpillError> {
        self.store.read(extent, &mut self.packed)?;
        out.clear();
        alloc::try_reserve_exact(out, self.block)
            .map_err(|error| self.store.error(error.into()))?;
        match self.decompressor.decompress_to_buffer(&self.packed, out) {
            Ok(length) if length > 0 => Ok(()),
            _ => Err(self.damaged()),
        }
    }

    fn damaged(&self) -> SpillError {
        let text = "what was written came back damaged";
        self.store.error(io::Error::new(io::ErrorKind::InvalidData, text))
    }
}

/// Reads a stream from front to back, with one block in memory.
#[derive(Debug)]
pub(super) struct EntryReader {
    extents: std::vec::IntoIter<Extent>,
    block: Vec<u8>,
    at: usize,
}

impl EntryReader {
    pub(super) fn new(stream: Stream) -> Self {
        Self { extents: stream.0.into_iter(), block: Vec::new(), at: 0 }
    }

    /// Reads the next entry; whether there was one.
    pub(super) fn next(
        &mut self,
        decompressor: &mut BlockDecompressor<'_>,
        entry: &mut OwnedEntry,
    ) -> Result<bool, SpillError> {
        if !self.fill(decompressor)? {
            return Ok(false);
        }
        entry.ordinal = self.number(decompressor)?;
        entry.count = self.number(decompressor)?;
        self.bytes(decompressor, &mut entry.key)?;
        self.bytes(decompressor, &mut entry.line)?;
        Ok(true)
    }

    /// Sees to it that there is a byte to read; whether there is.
    fn fill(&mut self, decompressor: &mut BlockDecompressor<'_>) -> Result<bool, SpillError> {
        if self.at < self.block.len() {
            return Ok(true);
        }
        let Some(extent) = self.extents.next() else {
            self.block = Vec::new();
            self.at = 0;
            return Ok(false);
        };
        decompressor.read(extent, &mut self.block)?;
        self.at = 0;
        Ok(true)
    }

    fn number(&mut self, decompressor: &mut BlockDecompressor<'_>) -> Result<u64, SpillError> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            if !self.fill(decompressor)? {
                break;
            }
            let byte = self.block[self.at];
            self.at += 1;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(decompressor.damaged())
    }

    fn bytes(
        &mut self,
        decompressor: &mut BlockDecompressor<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SpillError> {
        let mut left = self.number(decompressor)?;
        out.clear();
        while left > 0 {
            if !self.fill(decompressor)? {
                return Err(decompressor.damaged());
            }
            let here = self.block.len() - self.at;
            let now = usize::try_from(left).map_or(here, |left| left.min(here));
            alloc::try_reserve(out, now).map_err(|error| decompressor.store.error(error.into()))?;
            out.extend_from_slice(&self.block[self.at..self.at + now]);
            self.at += now;
            left -= now as u64;
        }
        Ok(())
    }
}

/// Writes entries as one stream.
pub fn written<'e>(
    entries: impl IntoIterator<Item = SpillEntry<'e>>,
    block: usize,
    compressor: &mut BlockCompressor,
) -> Result<Stream, SpillError> {
    let mut writer = EntryWriter::new(block);
    let mut text = Vec::new();
    for entry in entries {
        text.clear();
        entry.append(&mut text).map_err(|error| compressor.store.error(error.into()))?;
        writer.write(&text, compressor)?;
    }
    writer.finish(compressor)
}

#[cfg(test)]
mod tests {
    /// Ordinal, count, key and line.
    type EntryParts = (u64, u64, Vec<u8>, Vec<u8>);

    use super::*;

    const BLOCK: usize = 4096;

    fn store() -> (tempfile::TempDir, Arc<Store>) {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::create(directory.path()).unwrap());
        (directory, store)
    }

    fn read(store: &Store, stream: Stream) -> Result<Vec<EntryParts>, SpillError> {
        let mut decompressor = BlockDecompressor::new(store, BLOCK)?;
        let (mut reader, mut entry, mut read) =
            (EntryReader::new(stream), OwnedEntry::default(), Vec::new());
        while reader.next(&mut decompressor, &mut entry)? {
            read.push((entry.ordinal, entry.count, entry.key.clone(), entry.line.clone()));
        }
        Ok(read)
    }

    /// Entries shorter and longer than a block, and numbers of every length.
    fn entries() -> Vec<EntryParts> {
        let entry = |i: u64| {
            let key = format!("http://h/{i}/").into_bytes();
            let line = vec![b'x'; [0, 1, 127, 128, 5000, 20_000][i as usize % 6]];
            (u64::MAX >> (i % 64), i, key, line)
        };
        (0..300).map(entry).collect()
    }

    fn stream(store: &Arc<Store>) -> Stream {
        let entries = entries();
        let entries = entries.iter().map(|(ordinal, count, key, line)| SpillEntry {
            ordinal: *ordinal,
            count: *count,
            key,
            line,
        });
        written(entries, BLOCK, &mut BlockCompressor::new(store).unwrap()).unwrap()
    }

    #[test]
    fn entries_of_any_length_round_trip() {
        let (directory, store) = store();
        let stream = stream(&store);
        assert!(stream.0.len() > 300 && store.size() > 0);
        assert_eq!(read(&store, stream).unwrap(), entries());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "it has no name");
    }

    #[test]
    fn damaged_byte_is_an_error() {
        let (_directory, store) = store();
        let mut compressor = BlockCompressor::new(&store).unwrap();
        let entry = SpillEntry { ordinal: 7, count: 1, key: b"http://example.com/", line: b"" };
        let size = {
            written([entry], BLOCK, &mut compressor).unwrap();
            store.size()
        };
        for at in 0..size {
            let stream = Stream(vec![Extent::new(0, size as u32)]);
            store.damage(at);
            match read(&store, stream) {
                Err(error) => assert!(error.to_string().contains("damaged"), "{error}"),
                // A bit of the header that says nothing about the content may change.
                Ok(read) => assert_eq!(read, [(7, 1, entry.key.to_vec(), vec![])], "{at}"),
            }
            store.damage(at);
        }
        store.damage(size - 1);
        let stream = Stream(vec![Extent::new(0, size as u32)]);
        assert!(read(&store, stream).is_err(), "the checksum is verified");
    }

    #[test]
    fn truncated_stream_is_an_error() {
        let (_directory, store) = store();
        let mut stream = stream(&store);
        stream.0.pop();
        assert!(read(&store, stream).unwrap_err().to_string().contains("damaged"));
    }
}
