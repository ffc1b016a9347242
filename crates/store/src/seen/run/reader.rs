//! Opens a run, and reads it from front to back.

use std::fs::File;
use std::path::Path;

use rayon::prelude::*;

use super::super::error::SeenStoreError;
use super::super::store::AddStats;
use super::block::Block;
use super::filter::{Filter, hash};
use super::footer::{Footer, ZonePlace};
use super::part::{PartKind, PartUnpacker, RunFile, part_length, stated_checksum};
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
                (offset, length as usize)
            }
            Some(_) | None => return Err(file.damaged(end, "wrong checksum")),
        };
        let mut raw = Vec::new();
        file.read(offset, length, &mut bytes)?;
        PartUnpacker::new()
            .unpack(PartKind::Footer, &bytes, &mut raw)
            .map_err(|problem| file.error(offset, problem))?;
        let footer = Footer::parse(&raw);
        let Some(footer) = footer.filter(|footer| footer.offset() == offset) else {
            return Err(file.damaged(offset, "its footer cannot be read"));
        };
        let is_named = stated_checksum(&bytes) == info.checksum
            && length == part_length(&bytes).unwrap_or_default()
            && footer.entries() == info.entries;
        if !is_named {
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
            block: KeyList::default(),
            at: 0,
            packed: Vec::new(),
        }
    }

    /// Bytes of memory that reading it from front to back takes, unless a key is longer.
    pub(in super::super) fn reading_memory() -> usize {
        6 * READ_AT_ONCE
    }

    /// Reads everything, and checks that all parts agree.
    pub(in super::super) fn verify(&self) -> Result<(), SeenStoreError> {
        self.footer.zones.par_iter().enumerate().try_for_each(|(number, zone)| {
            let mut unpacker = PartUnpacker::new();
            let (mut bytes, mut filter, mut index) = (Vec::new(), Vec::new(), Vec::new());
            self.read_part(
                zone.filter_offset(),
                zone.filter,
                PartKind::Filter,
                &mut bytes,
                &mut unpacker,
                &mut filter,
            )?;
            let damaged = |offset, reason: &str| self.file.damaged(offset, reason);
            let filter = Filter::parse(&filter)
                .ok_or_else(|| damaged(zone.filter_offset(), "its filter cannot be read"))?;
            self.read_part(
                zone.index_offset(),
                zone.index,
                PartKind::Index,
                &mut bytes,
                &mut unpacker,
                &mut index,
            )?;
            let index = Block::parse(&index)
                .ok_or_else(|| damaged(zone.index_offset(), "its index cannot be read"))?;
            self.verify_blocks(number, zone, &filter, index, &mut unpacker)
        })?;
        let (mut reader, mut before) = (self.entries(), Vec::new());
        let (mut removed, mut added) = (0, vec![0; self.adds().len()]);
        let mut entries = 0u64;
        while let Some((key, mark)) = reader.next()? {
            if entries > 0 && key <= &before[..] {
                return Err(reader.out_of_order());
            }
            before.clear();
            before.extend_from_slice(key);
            entries += 1;
            match mark {
                Mark::Removed => removed += 1,
                Mark::Added(add) => added[add as usize] += 1,
            }
        }
        let stated = self.adds().iter().map(|add| add.keys);
        if removed != self.info.removed || !stated.eq(added) {
            return Err(self
                .file
                .damaged(self.footer.offset(), "its keys are not as many as it says"));
        }
        Ok(())
    }

    /// Checks the blocks of a zone against its filter and its index.
    fn verify_blocks(
        &self,
        number: usize,
        zone: &ZonePlace,
        filter: &Filter<'_>,
        index: Block<'_>,
        unpacker: &mut PartUnpacker,
    ) -> Result<(), SeenStoreError> {
        let (mut bytes, mut raw, mut key) = (Vec::new(), Vec::new(), Vec::new());
        let (mut cursor, mut separator) = (index.cursor(), Vec::new());
        let (mut offset, mut keys) = (zone.offset, 0);
        let no_room = |error: AllocError| SeenStoreError::io(&self.file.path, error.into());
        while let Some(at) = cursor.next(&mut separator).map_err(no_room)? {
            let length = index.mark(at);
            self.read_part(offset, length, PartKind::Block, &mut bytes, unpacker, &mut raw)?;
            let damaged = |reason| self.file.damaged(offset, reason);
            let block = Block::parse(&raw).ok_or_else(|| damaged(UNREADABLE))?;
            let mut entries = block.cursor();
            let is_first = at == 0;
            if (is_first && separator != self.footer.separator(number))
                || (!is_first && key >= separator)
            {
                return Err(damaged("a block and its index disagree"));
            }
            while let Some(at) = entries.next(&mut key).map_err(no_room)? {
                if at == 0 && key < separator {
                    return Err(damaged("a block and its index disagree"));
                }
                if !filter.may_contain(hash(&key)) {
                    return Err(damaged("its filter lacks a key"));
                }
            }
            keys += block.len();
            offset += u64::from(length);
        }
        if offset != zone.filter_offset() || keys != zone.keys as usize {
            return Err(self.file.damaged(zone.index_offset(), "a zone and its index disagree"));
        }
        Ok(())
    }

    /// Reads one part.
    pub(super) fn read_part(
        &self,
        offset: u64,
        length: u32,
        kind: PartKind,
        bytes: &mut Vec<u8>,
        unpacker: &mut PartUnpacker,
        raw: &mut Vec<u8>,
    ) -> Result<(), SeenStoreError> {
        self.file.read(offset, length as usize, bytes)?;
        match unpacker.unpack(kind, bytes, raw) {
            Ok(read) if read == bytes.len() => Ok(()),
            Ok(_) => Err(self.file.damaged(offset, "a part is shorter than its index says")),
            Err(problem) => Err(self.file.error(offset, problem)),
        }
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
    blocks: std::vec::IntoIter<KeyList>,
    block: KeyList,
    at: usize,
    packed: Vec<u8>,
}

/// The keys of a block, spelled out.
#[derive(Debug, Default)]
struct KeyList {
    offset: u64,
    keys: Vec<u8>,
    ends: Vec<usize>,
    marks: Vec<u32>,
}

impl KeyList {
    fn unpack(
        run: &Run,
        (offset, part): (u64, &[u8]),
        unpacker: &mut PartUnpacker,
        raw: &mut Vec<u8>,
    ) -> Result<Self, SeenStoreError> {
        let damaged = |reason| run.file.damaged(offset, reason);
        let unpacked = unpacker.unpack(PartKind::Block, part, raw);
        unpacked.map_err(|problem| run.file.error(offset, problem))?;
        let block = Block::parse(raw).ok_or_else(|| damaged(UNREADABLE))?;
        let mut list = Self { offset, ..Self::default() };
        let spelled = list.spell_out(block);
        spelled.map_err(|error| SeenStoreError::io(&run.file.path, error.into()))?;
        let adds = run.footer.adds.len();
        if list.marks.iter().any(|mark| *mark as usize > adds) {
            return Err(damaged("a key of an unknown add"));
        }
        Ok(list)
    }

    fn spell_out(&mut self, block: Block<'_>) -> Result<(), AllocError> {
        alloc::try_reserve_exact(&mut self.ends, block.len())?;
        alloc::try_reserve_exact(&mut self.marks, block.len())?;
        alloc::try_reserve_exact(&mut self.keys, block.spelled_out())?;
        block.for_each(|shared, suffix, mark| {
            let start = self.ends.len().checked_sub(2).map_or(0, |at| self.ends[at]);
            self.keys.extend_from_within(start..start + shared);
            self.keys.extend_from_slice(suffix);
            self.ends.push(self.keys.len());
            self.marks.push(mark);
        });
        Ok(())
    }
}

impl RunReader<'_> {
    /// Goes on to the next key, and returns it with its mark.
    pub(in super::super) fn next(&mut self) -> Result<Option<(&[u8], Mark)>, SeenStoreError> {
        while self.at == self.block.ends.len() {
            match self.blocks.next() {
                Some(block) => (self.block, self.at) = (block, 0),
                None if self.zone == self.run.footer.zones.len() => return Ok(None),
                None => self.read()?,
            }
        }
        let start = self.at.checked_sub(1).map_or(0, |before| self.block.ends[before]);
        let key = &self.block.keys[start..self.block.ends[self.at]];
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
        let share = parts.len().div_ceil(rayon::current_num_threads());
        let blocks: Result<Vec<Vec<KeyList>>, SeenStoreError> = parts
            .par_chunks(share)
            .map(|parts| {
                let (mut unpacker, mut raw) = (PartUnpacker::new(), Vec::new());
                let unpack = |part: &_| KeyList::unpack(run, *part, &mut unpacker, &mut raw);
                parts.iter().map(unpack).collect()
            })
            .collect();
        let blocks: Vec<KeyList> = blocks?.into_iter().flatten().collect();
        self.blocks = blocks.into_iter();
        Ok(())
    }

    /// The error of keys that are not in order.
    fn out_of_order(&self) -> SeenStoreError {
        self.run.file.damaged(self.block.offset, "keys are not in order")
    }
}

/// The reason why a block is none.
pub(super) const UNREADABLE: &str = "a block cannot be read";
