//! Opens a run, and reads it from front to back.

use std::fs::File;
use std::path::Path;

use rayon::prelude::*;

use super::super::error::SeenStoreError;
use super::super::keys::{KeyList, SortedKeys as _};
use super::super::stats::AddStats;
use super::block::Block;
use super::filter::Filter;
use super::footer::{Footer, ZonePlace};
use super::part::{PartKind, PartReader, PartUnpacker, RunFile, part_length, stated_checksum};
use super::{MAGIC, Mark, RunInfo, TRAILER};
use uniqurl::internal::{AllocError, alloc};

/// A run, open.
#[derive(Debug)]
pub(in super::super) struct Run {
    pub(super) file: RunFile,
    pub(super) info: RunInfo,
    pub(super) footer: Footer,
}

/// Packed bytes that are read at once from front to back.
const READ_AT_ONCE: usize = 256 << 10;

impl Run {
    /// Opens the run that a manifest in this directory names.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not the one that the manifest names.
    pub(in super::super) fn open(directory: &Path, info: &RunInfo) -> Result<Self, SeenStoreError> {
        let path = directory.join(&info.name);
        let file = RunFile::of(File::open(&path), &path)?;
        let size = file.file.metadata().map_err(|error| SeenStoreError::io(&file.path, error))?;
        // Asked first, so that a file that was cut is called that, and not one with a wrong
        // checksum.
        if size.len() != info.bytes {
            let reason = format!("it has {} bytes, of {}", size.len(), info.bytes);
            return Err(file.damaged(size.len().min(info.bytes), &reason));
        }
        let mut bytes = Vec::new();
        file.read(0, MAGIC.len(), &mut bytes)?;
        if bytes != MAGIC {
            return Err(file.damaged(0, "it does not begin as a run does"));
        }
        let Some(end) = info.bytes.checked_sub(TRAILER as u64) else {
            return Err(file.damaged(0, "it is too short"));
        };
        file.read(end, TRAILER, &mut bytes)?;
        let (offset, length) = match parse_trailer(&bytes) {
            Some((offset, length)) if offset.checked_add(length.into()) == Some(end) => {
                (offset, length)
            }
            Some(_) | None => return Err(file.damaged(end, "wrong checksum")),
        };
        let (mut parts, mut raw) = (PartReader::default(), Vec::new());
        parts.read(&file, (PartKind::Footer, offset, length), &mut raw)?;
        let footer = Footer::parse(&raw);
        // The zones have to fill all bytes before the footer.
        let Some(footer) = footer.filter(|footer| footer.offset() == offset) else {
            return Err(file.damaged(offset, "its footer cannot be read"));
        };
        // A run of another store may have the same name and length.
        if stated_checksum(&parts.bytes) != info.checksum || footer.entries() != info.entries {
            return Err(file.damaged(offset, "it is another run than the manifest names"));
        }
        Ok(Self { file, info: info.clone(), footer })
    }

    /// Brings its bytes to the disk.
    pub(in super::super) fn sync(&self) -> Result<(), SeenStoreError> {
        let synced = self.file.file.sync_all();
        synced.map_err(|error| SeenStoreError::io(&self.file.path, error))
    }

    /// What the manifest says about it.
    pub(in super::super) fn info(&self) -> &RunInfo {
        &self.info
    }

    /// The adds of its keys, oldest first.
    pub(in super::super) fn adds(&self) -> &[AddStats] {
        &self.footer.adds
    }

    /// Reads its keys from front to back.
    pub(in super::super) fn entries(&self) -> RunReader<'_> {
        RunReader {
            run: self,
            zone: 0,
            offset: MAGIC.len() as u64,
            blocks: Vec::new().into_iter(),
            block: SpelledBlock::default(),
            at: 0,
            packed: Vec::new(),
        }
    }

    /// Bytes of memory that reading it from front to back takes, unless a key is longer.
    pub(in super::super) fn reading_memory() -> usize {
        6 * READ_AT_ONCE
    }

    /// Reads the filter of a zone.
    pub(super) fn filter<'b>(
        &self,
        zone: &ZonePlace,
        parts: &mut PartReader,
        raw: &'b mut Vec<u8>,
    ) -> Result<Filter<'b>, SeenStoreError> {
        let offset = zone.filter_offset();
        parts.read(&self.file, (PartKind::Filter, offset, zone.filter), raw)?;
        Filter::parse(raw).ok_or_else(|| self.file.damaged(offset, "its filter cannot be read"))
    }

    /// Reads the index of a zone: the separator of each block, and as its mark the bytes of the block.
    pub(super) fn index<'b>(
        &self,
        zone: &ZonePlace,
        parts: &mut PartReader,
        raw: &'b mut Vec<u8>,
    ) -> Result<Block<'b>, SeenStoreError> {
        let offset = zone.index_offset();
        parts.read(&self.file, (PartKind::Index, offset, zone.index), raw)?;
        // A zone has keys, so there is one block at least.
        let index = Block::parse(raw).filter(|index| index.len() > 0);
        index.ok_or_else(|| self.file.damaged(offset, "its index cannot be read"))
    }
}

/// Where the footer is, and its length.
fn parse_trailer(bytes: &[u8]) -> Option<(u64, u32)> {
    let (covered, sum) = bytes.split_last_chunk::<4>()?;
    if crc32fast::hash(covered) != u32::from_le_bytes(*sum) {
        return None;
    }
    let (offset, length) = covered.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*offset), u32::from_le_bytes(*length.first_chunk()?)))
}

/// Reads a run from front to back. Blocks are unpacked on all threads of the pool, several at a time.
#[derive(Debug)]
pub(in super::super) struct RunReader<'r> {
    run: &'r Run,
    zone: usize,
    /// Where the next part of the zone is.
    offset: u64,
    blocks: std::vec::IntoIter<SpelledBlock>,
    block: SpelledBlock,
    at: usize,
    packed: Vec<u8>,
}

/// The keys of a block, spelled out.
#[derive(Debug, Default)]
struct SpelledBlock {
    keys: KeyList,
    marks: Vec<u32>,
}

impl SpelledBlock {
    fn unpack(
        run: &Run,
        (offset, part): (u64, &[u8]),
        unpacker: &mut PartUnpacker,
        raw: &mut Vec<u8>,
    ) -> Result<Self, SeenStoreError> {
        unpacker.unpack(&run.file, (PartKind::Block, offset), part, raw)?;
        let block = Block::parse(raw).ok_or_else(|| run.file.damaged(offset, UNREADABLE))?;
        let list = Self::of(block);
        let list = list.map_err(|error| SeenStoreError::io(&run.file.path, error.into()))?;
        // Asked once for each block, so that a merge may index its adds by a mark.
        let adds = run.footer.adds.len();
        if list.marks.iter().any(|mark| *mark as usize > adds) {
            return Err(run.file.damaged(offset, UNKNOWN_ADD));
        }
        Ok(list)
    }

    fn of(block: Block<'_>) -> Result<Self, AllocError> {
        let mut keys = KeyList::with_capacity(block.len(), block.spelled_out())?;
        let mut marks = Vec::new();
        alloc::try_reserve_exact(&mut marks, block.len())?;
        for key in block.keys() {
            keys.push(key.shared, key.suffix)?;
            marks.push(key.mark);
        }
        Ok(Self { keys, marks })
    }
}

impl RunReader<'_> {
    /// Goes on to the next key, and returns it with its mark.
    pub(in super::super) fn next(&mut self) -> Result<Option<(&[u8], Mark)>, SeenStoreError> {
        // `read` may only pass from one zone to the next, without a block.
        while self.at == self.block.marks.len() {
            match self.blocks.next() {
                Some(block) => (self.block, self.at) = (block, 0),
                None if self.zone == self.run.footer.zones.len() => return Ok(None),
                None => self.read()?,
            }
        }
        let key = self.block.keys.get(self.at);
        let mark = Mark::of_number(self.block.marks[self.at]);
        self.at += 1;
        Ok(Some((key, mark)))
    }

    /// Reads and unpacks the next blocks of the zone, or goes on to the next zone.
    fn read(&mut self) -> Result<(), SeenStoreError> {
        let Self { run, .. } = self;
        let zone = run.footer.zones[self.zone];
        let left = (zone.filter_offset() - self.offset) as usize;
        if left == 0 {
            self.zone += 1;
            self.offset = zone.end();
            return Ok(());
        }
        run.file.read(self.offset, left.min(READ_AT_ONCE), &mut self.packed)?;
        let length = part_length(&self.packed).filter(|length| *length <= left);
        let length = length.ok_or_else(|| run.file.damaged(self.offset, "a part is cut off"))?;
        // One key of some hundred KiB makes such a block.
        if length > self.packed.len() {
            run.file.read(self.offset, length, &mut self.packed)?;
        }
        let mut parts = Vec::new();
        let mut rest = &self.packed[..];
        while let Some(part) = part_length(rest).and_then(|length| rest.get(..length)) {
            parts.push((self.offset, part));
            self.offset += part.len() as u64;
            rest = &rest[part.len()..];
        }
        // A share for each thread, so that each makes one decompressor.
        let share = parts.len().div_ceil(rayon::current_num_threads());
        let blocks: Result<Vec<Vec<SpelledBlock>>, SeenStoreError> = parts
            .par_chunks(share)
            .map(|parts| {
                let (mut unpacker, mut raw) = (PartUnpacker::default(), Vec::new());
                let unpack = |part: &_| SpelledBlock::unpack(run, *part, &mut unpacker, &mut raw);
                parts.iter().map(unpack).collect()
            })
            .collect();
        let blocks: Vec<SpelledBlock> = blocks?.into_iter().flatten().collect();
        self.blocks = blocks.into_iter();
        Ok(())
    }
}

/// The reason why a block is none.
pub(super) const UNREADABLE: &str = "a block cannot be read";

/// The reason why a mark is none.
pub(super) const UNKNOWN_ADD: &str = "a key of an unknown add";
