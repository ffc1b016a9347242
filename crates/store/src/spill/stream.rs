//! Entries one after the other, in packed blocks.
//!
//! A block holds whole entries: as many as fit, or a longer one alone.

use super::entry::{AROUND, SpillEntry};
use super::packing::{BlockCompressor, BlockDecompressor, HEADER};
use super::store::{Extent, SpillError};
use uniqurl::internal::{AllocError, alloc, prefetch};

/// Where the blocks of a stream are, in order.
#[derive(Debug, Default, Clone)]
pub struct Stream {
    pub(super) extents: Vec<Extent>,
    /// A length up to which all its keys are equal. It saves sorting the time to find out.
    pub(super) depth: usize,
}

impl From<Vec<Extent>> for Stream {
    fn from(extents: Vec<Extent>) -> Self {
        Self { extents, depth: 0 }
    }
}

impl Stream {
    /// Whether it holds no entries.
    pub fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// The bytes of its entries, before packing.
    pub fn bytes(&self) -> u64 {
        self.extents.iter().map(Extent::raw).sum()
    }
}

/// A stream that is being written. Its buffer is one block.
#[derive(Debug)]
pub struct EntryWriter {
    /// Starts with room for the header of a block.
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
        let no_room = |compressor: &BlockCompressor, error: AllocError| {
            compressor.store().error(error.into())
        };
        while !entries.is_empty() {
            if self.buffer.is_empty() {
                alloc::try_reserve_exact(&mut self.buffer, HEADER + self.block)
                    .map_err(|error| no_room(compressor, error))?;
                self.buffer.resize(HEADER, 0);
            }
            let room = (HEADER + self.block).saturating_sub(self.buffer.len());
            let mut now = whole_entries(entries, room);
            if now == 0 && self.buffer.len() == HEADER {
                // One that is longer than a block.
                now = SpillEntry::decode(entries).map_or(entries.len(), |(_, length)| length);
                alloc::try_reserve_exact(&mut self.buffer, now)
                    .map_err(|error| no_room(compressor, error))?;
            }
            let (now, later) = entries.split_at(now);
            self.buffer.extend_from_slice(now);
            // What fits stays in the buffer, since the next call may fill the block up.
            if !later.is_empty() {
                self.flush(compressor)?;
            }
            entries = later;
        }
        Ok(())
    }

    /// Writes an entry.
    #[inline]
    pub fn push(
        &mut self,
        entry: &SpillEntry<'_>,
        compressor: &mut BlockCompressor,
    ) -> Result<(), SpillError> {
        let need = AROUND + entry.key.len() + entry.line.len();
        // For most entries this is the only question, so the rest is out of line.
        if self.buffer.capacity() - self.buffer.len() < need {
            self.make_room(need, compressor)?;
        }
        entry.append(&mut self.buffer).map_err(|error| compressor.store().error(error.into()))
    }

    /// Fetches the place of the next entry into the cache.
    #[inline]
    pub(super) fn fetch(&mut self) {
        let room = self.buffer.spare_capacity_mut();
        prefetch(room, 0);
        prefetch(room, 64);
    }

    /// Makes room for an entry of so many bytes, in another block if there is one.
    #[cold]
    fn make_room(
        &mut self,
        need: usize,
        compressor: &mut BlockCompressor,
    ) -> Result<(), SpillError> {
        if !self.buffer.is_empty() {
            self.flush(compressor)?;
        }
        alloc::try_reserve_exact(&mut self.buffer, HEADER + need.max(self.block))
            .map_err(|error| compressor.store().error(error.into()))?;
        self.buffer.resize(HEADER, 0);
        Ok(())
    }

    fn flush(&mut self, compressor: &mut BlockCompressor) -> Result<(), SpillError> {
        // Reserved first, so that a block which was written cannot be lost.
        alloc::try_reserve(&mut self.extents, 1)
            .map_err(|error| compressor.store().error(error.into()))?;
        self.extents.push(compressor.write(&mut self.buffer)?);
        // The buffer of a longer entry is given up.
        match self.buffer.len() > HEADER + self.block {
            true => self.buffer = Vec::new(),
            false => self.buffer.clear(),
        }
        Ok(())
    }

    /// Writes the last block, and gives the stream.
    pub fn finish(mut self, compressor: &mut BlockCompressor) -> Result<Stream, SpillError> {
        if !self.buffer.is_empty() {
            self.flush(compressor)?;
        }
        Ok(self.extents.into())
    }
}

/// The length of the whole entries that `entries` starts with and that fit into `room`.
fn whole_entries(entries: &[u8], room: usize) -> usize {
    if entries.len() <= room {
        return entries.len();
    }
    let mut end = 0;
    while let Some((_, length)) = SpillEntry::decode(&entries[end..]) {
        if end + length > room {
            break;
        }
        end += length;
    }
    end
}

/// Reads a stream from front to back, with one block in memory.
#[derive(Debug)]
pub(super) struct EntryReader {
    extents: std::vec::IntoIter<Extent>,
    block: Vec<u8>,
    /// Where the last entry ends.
    end: usize,
}

impl EntryReader {
    /// Stands before the first entry.
    pub(super) fn new(stream: Stream) -> Self {
        Self { extents: stream.extents.into_iter(), block: Vec::new(), end: 0 }
    }

    /// Goes on to the next entry, and returns it.
    pub(super) fn next(
        &mut self,
        decompressor: &mut BlockDecompressor<'_>,
    ) -> Result<Option<SpillEntry<'_>>, SpillError> {
        if self.end == self.block.len() {
            let Some(extent) = self.extents.next() else {
                // Whoever asks again finds the end again.
                *self = Self::new(Stream::default());
                return Ok(None);
            };
            decompressor.read(&extent, &mut self.block)?;
            self.end = HEADER;
        }
        match SpillEntry::decode(&self.block[self.end..]) {
            Some((entry, length)) => {
                self.end += length;
                Ok(Some(entry))
            }
            None => Err(decompressor.damaged("an entry is cut off")),
        }
    }
}

/// Writes entries as one stream.
#[cfg(test)]
pub(crate) fn written<'e>(
    entries: impl IntoIterator<Item = SpillEntry<'e>>,
    block: usize,
    compressor: &mut BlockCompressor,
) -> Result<Stream, SpillError> {
    let mut writer = EntryWriter::new(block);
    for entry in entries {
        writer.push(&entry, compressor)?;
    }
    writer.finish(compressor)
}

#[cfg(test)]
mod tests {
    /// Ordinal, count, key and line.
    type EntryParts = (u64, u64, Vec<u8>, Vec<u8>);

    use std::sync::Arc;

    use super::super::store::Store;
    use super::*;

    const BLOCK: usize = 4096;

    fn store() -> (tempfile::TempDir, Arc<Store>) {
        let directory = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::create(directory.path()).unwrap());
        (directory, store)
    }

    fn read(store: &Store, stream: Stream) -> Result<Vec<EntryParts>, SpillError> {
        let mut decompressor = BlockDecompressor::new(store);
        let (mut reader, mut read) = (EntryReader::new(stream), Vec::new());
        while let Some(entry) = reader.next(&mut decompressor)? {
            read.push((entry.ordinal, entry.count, entry.key.to_vec(), entry.line.to_vec()));
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
        written(entries, BLOCK, &mut BlockCompressor::new(store)).unwrap()
    }

    #[test]
    fn entries_of_any_length_round_trip() {
        let (directory, store) = store();
        let stream = stream(&store);
        assert!(stream.extents.len() > 100 && store.spilled().written > 0);
        assert_eq!(read(&store, stream).unwrap(), entries());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "it has no name");
    }

    /// A stream of one block of the file.
    fn file_block(at: u64, length: u32) -> Stream {
        vec![Extent::File { at, length, raw: 0 }].into()
    }

    #[test]
    fn damaged_byte_is_an_error_that_names_the_block() {
        let (directory, store) = store();
        let mut compressor = BlockCompressor::new(&store);
        // The first block is packed, the second is not.
        let key = b"http://example.com/http://example.com/http://example.com/http://example.com/";
        let entry = SpillEntry { ordinal: 7, count: 1, key, line: b"" };
        let mut starts = vec![0];
        for _ in 0..2 {
            written([entry], BLOCK, &mut compressor).unwrap();
            starts.push(store.spilled().written);
            store.costs().pack.add(1e9);
        }
        assert_eq!(store.spilled().packing(), "mixed");
        for block in starts.windows(2) {
            let extent = || file_block(block[0], (block[1] - block[0]) as u32);
            for at in block[0]..block[1] {
                store.damage(at);
                let error = read(&store, extent()).unwrap_err().to_string();
                let text = format!("spill: damaged block at offset {}: ", block[0]);
                assert!(error.contains(&text) && !error.contains("example"), "{error}");
                assert!(error.contains(directory.path().to_str().unwrap()), "{error}");
                store.damage(at);
            }
            assert_eq!(read(&store, extent()).unwrap().len(), 1);
        }
        let cut = file_block(starts[2] - 1, 2);
        assert!(read(&store, cut).unwrap_err().to_string().contains("the file ends before it"));
    }

    #[test]
    fn entries_of_a_block_that_end_early_are_an_error() {
        let (_directory, store) = store();
        let mut compressor = BlockCompressor::new(&store);
        let mut block = vec![0; HEADER];
        SpillEntry { ordinal: 7, count: 1, key: b"key", line: b"" }.append(&mut block).unwrap();
        block.pop();
        let stream = Stream::from(vec![compressor.write(&mut block).unwrap()]);
        assert!(read(&store, stream).unwrap_err().to_string().contains("an entry is cut off"));
    }
}
