//! Writes a run from front to back.
//!
//! In: keys in order. Out: the file. Zones are gathered until there is one for each thread, and
//! then packed on all threads of the pool.

use std::io::{self, Write};
use std::mem::take;

use rayon::prelude::*;

use super::super::error::SeenStoreError;
use super::super::keys::{KeyList, SortedKeys as _};
use super::super::stats::AddStats;
use super::super::time::UnixTime;
use super::block::{BlockBuilder, shared_bytes};
use super::filter;
use super::footer::{Footer, ZonePlace};
use super::part::{PartKind, PartPacker, RunFile, stated_checksum};
use super::reader::Run;
use super::{BLOCK, MAGIC, Mark, RunInfo, SPELLED_OUT, ZONE_BYTES, ZONE_KEYS};
use uniqurl::internal::{AllocError, alloc};

/// Writes a run.
#[derive(Debug)]
pub(in super::super) struct RunWriter {
    file: RunFile,
    name: String,
    footer: Footer,
    block: BlockBuilder,
    zone: RawZone,
    /// Zones that wait to be packed.
    waiting: Vec<RawZone>,
    offset: u64,
    removed: u64,
}

/// A zone before it is packed.
#[derive(Debug, Default)]
struct RawZone {
    blocks: Vec<Vec<u8>>,
    /// For each block the shortest bytes that are greater than the keys before it, and no greater than its
    /// own.
    separators: KeyList,
    hashes: Vec<u64>,
    bytes: usize,
}

/// A zone as it is written.
struct PackedZone {
    separator: Vec<u8>,
    keys: u32,
    blocks: Vec<Vec<u8>>,
    filter: Vec<u8>,
    index: Vec<u8>,
}

impl RunWriter {
    /// Writes into a new file, which the manifest is to call `name`, for keys of these adds.
    pub(in super::super) fn new(
        file: RunFile,
        name: String,
        adds: &[(u64, UnixTime)],
    ) -> Result<Self, SeenStoreError> {
        let add =
            |(number, time): &(u64, UnixTime)| AddStats { number: *number, time: *time, keys: 0 };
        let mut writer = Self {
            file,
            name,
            footer: Footer { adds: adds.iter().map(add).collect(), ..Footer::default() },
            block: BlockBuilder::default(),
            zone: RawZone::default(),
            waiting: Vec::new(),
            offset: 0,
            removed: 0,
        };
        writer.append(MAGIC)?;
        Ok(writer)
    }

    /// Adds a key, which is greater than the one before.
    pub(in super::super) fn push(&mut self, key: &[u8], mark: Mark) -> Result<(), SeenStoreError> {
        // The first key may be empty, as `last` is before it, so their order says nothing.
        let is_first =
            self.footer.zones.is_empty() && self.waiting.is_empty() && self.zone.hashes.is_empty();
        let last = self.block.last();
        let shared = shared_bytes(last, key);
        // `None` is less than any byte, as a key that ends is less than one that goes on. Equal
        // keys give `None` twice.
        if !is_first && last.get(shared) >= key.get(shared) {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "keys are not in order");
            return Err(self.error(error));
        }
        match mark {
            Mark::Removed => self.removed += 1,
            Mark::Added(add) => self.footer.adds[add as usize].keys += 1,
        }
        self.add(key, shared, mark).map_err(|error| self.error(error.into()))?;
        if self.zone.hashes.len() >= ZONE_KEYS || self.zone.bytes >= ZONE_BYTES {
            self.end_zone()?;
        }
        Ok(())
    }

    fn add(&mut self, key: &[u8], shared: usize, mark: Mark) -> Result<(), AllocError> {
        if self.block.len() == 0 {
            // One byte more than the key before it has in common with this one tells them apart.
            self.zone.separators.push(0, &key[..(shared + 1).min(key.len())])?;
        }
        self.block.push(key, shared, mark.to_number())?;
        alloc::try_reserve(&mut self.zone.hashes, 1)?;
        self.zone.hashes.push(filter::hash(key));
        if self.block.size() >= BLOCK || self.block.spelled_out() >= SPELLED_OUT {
            self.zone.end_block(&mut self.block)?;
        }
        Ok(())
    }

    fn error(&self, error: io::Error) -> SeenStoreError {
        SeenStoreError::io(&self.file.path, error)
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), SeenStoreError> {
        self.offset += bytes.len() as u64;
        self.file.file.write_all(bytes).map_err(|error| self.error(error))
    }

    fn end_zone(&mut self) -> Result<(), SeenStoreError> {
        if self.zone.hashes.is_empty() {
            return Ok(());
        }
        let ended = self.zone.end_block(&mut self.block);
        ended.map_err(|error| self.error(error.into()))?;
        self.waiting.push(take(&mut self.zone));
        if self.waiting.len() >= rayon::current_num_threads() { self.write() } else { Ok(()) }
    }

    /// Writes the zones that wait.
    fn write(&mut self) -> Result<(), SeenStoreError> {
        let zones = take(&mut self.waiting);
        let packed: io::Result<Vec<PackedZone>> =
            zones.into_par_iter().map(RawZone::pack).collect();
        for zone in packed.map_err(|error| self.error(error))? {
            self.write_zone(zone)?;
        }
        Ok(())
    }

    fn write_zone(&mut self, zone: PackedZone) -> Result<(), SeenStoreError> {
        let PackedZone { separator, keys, blocks, filter, index } = zone;
        let length = blocks.iter().map(Vec::len).sum::<usize>();
        let place = ZonePlace {
            offset: self.offset,
            keys,
            blocks: length as u32,
            filter: filter.len() as u32,
            index: index.len() as u32,
        };
        for part in blocks.iter().chain([&filter, &index]) {
            self.append(part)?;
        }
        self.footer.push(&separator, place).map_err(|error| self.error(error.into()))
    }

    /// Writes the rest. The run is not on the disk yet: [`Run::sync`] brings it there.
    pub(in super::super) fn finish(mut self) -> Result<Run, SeenStoreError> {
        self.end_zone()?;
        self.write()?;
        let footer = self.footer.to_bytes().map_err(io::Error::from);
        let footer = footer.and_then(|raw| PartPacker::new()?.pack(PartKind::Footer, &raw));
        let mut end = footer.map_err(|error| self.error(error))?;
        let (length, checksum) = (end.len() as u32, stated_checksum(&end));
        // It stands last, since offsets are known only now and the file is written from front to
        // back.
        let mut trailer = [0; super::TRAILER];
        trailer[..8].copy_from_slice(&self.offset.to_le_bytes());
        trailer[8..12].copy_from_slice(&length.to_le_bytes());
        let sum = crc32fast::hash(&trailer[..12]);
        trailer[12..].copy_from_slice(&sum.to_le_bytes());
        end.extend_from_slice(&trailer);
        self.append(&end)?;
        let info = RunInfo {
            name: self.name,
            bytes: self.offset,
            entries: self.footer.entries(),
            removed: self.removed,
            checksum,
        };
        Ok(Run { file: self.file, info, footer: self.footer })
    }
}

impl RawZone {
    fn end_block(&mut self, block: &mut BlockBuilder) -> Result<(), AllocError> {
        if block.len() > 0 {
            let mut bytes = Vec::new();
            block.finish(&mut bytes)?;
            alloc::try_reserve(&mut self.blocks, 1)?;
            self.bytes += bytes.len();
            self.blocks.push(bytes);
        }
        Ok(())
    }

    fn pack(self) -> io::Result<PackedZone> {
        let Self { blocks, separators, mut hashes, .. } = self;
        let mut packer = PartPacker::new()?;
        let keys = hashes.len() as u32;
        let filter = packer.pack(PartKind::Filter, &filter::build(&mut hashes))?;
        let (mut packed, mut index) = (Vec::new(), BlockBuilder::default());
        for (number, block) in blocks.into_iter().enumerate() {
            let part = packer.pack(PartKind::Block, &block)?;
            index.push_whole(separators.get(number), part.len() as u32)?;
            packed.push(part);
        }
        let mut raw = Vec::new();
        index.finish(&mut raw)?;
        let index = packer.pack(PartKind::Index, &raw)?;
        let separator = separators.get(0).to_vec();
        Ok(PackedZone { separator, keys, blocks: packed, filter, index })
    }
}
