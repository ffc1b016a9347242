//! Blocks as the file holds them, where none is left in memory: a header, and the bytes, packed by LZ4 or as they are.
//!
//! Input is a block with room for its header; output is where it is. Each block says itself
//! how it is packed, so that the choice may change at any time: packing is worth its time only where
//! the disk is slow. A checksum over the header and all bytes is verified when a block is read back: a
//! disk that returns other bytes than it was given is an error, never a URL.

use std::fmt;
use std::mem::take;
use std::sync::Arc;
use std::time::Instant;

use lz4_flex::block::{
    CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size,
};

use super::store::{Extent, SpillError, Store};
use uniqurl::internal::alloc;

/// Bytes of a header: the method, the length of the block before packing, and the checksum of both and
/// of the bytes after it.
pub(super) const HEADER: usize = 9;

/// The first byte of a header.
const RAW: u8 = 1;
const LZ4: u8 = 2;

/// Packs blocks and writes them, one at a time, for any number of writers.
pub struct BlockCompressor {
    store: Arc<Store>,
    table: CompressTable,
    packed: Vec<u8>,
}

impl fmt::Debug for BlockCompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockCompressor").field("store", &self.store).finish_non_exhaustive()
    }
}

impl BlockCompressor {
    /// Writes blocks into this file.
    pub fn new(store: &Arc<Store>) -> Self {
        Self { store: Arc::clone(store), table: CompressTable::default(), packed: Vec::new() }
    }

    pub(super) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Writes a block that starts with [`HEADER`] bytes of any value. It is taken if it stays in memory.
    pub(super) fn write(&mut self, block: &mut Vec<u8>) -> Result<Extent, SpillError> {
        // A block in memory is not packed: it is read again where it lies.
        if self.store.take_room(block.capacity()) {
            return Ok(Extent::Memory(Arc::new(take(block))));
        }
        let raw = block.len() - HEADER;
        // The lock is held for the choice alone, and not while a block is packed or written.
        let packs = self.store.costs().packs_next();
        let is_packed = packs && self.pack(&block[HEADER..])?;
        let (method, written) = if is_packed { (LZ4, &mut self.packed) } else { (RAW, block) };
        seal(method, raw as u32, written);
        let start = Instant::now();
        let extent = self.store.append(written, raw as u32)?;
        let length = written.len();
        let mut costs = self.store.costs();
        costs.write.add(start.elapsed().as_nanos() as f64 / length as f64);
        costs.count(raw, is_packed);
        Ok(extent)
    }

    /// Packs bytes, leaves room for a header before them, and returns true if they became fewer.
    fn pack(&mut self, raw: &[u8]) -> Result<bool, SpillError> {
        let most = HEADER + get_maximum_output_size(raw.len());
        let more = most.saturating_sub(self.packed.len());
        alloc::try_reserve_exact(&mut self.packed, more)
            .map_err(|error| self.store.error(error.into()))?;
        self.packed.resize(most, 0);
        let start = Instant::now();
        let packed = compress_into_with_table(raw, &mut self.packed[HEADER..], &mut self.table);
        // The buffer has room for any result, so an error is taken for a block that did not shrink.
        let packed = packed.unwrap_or(raw.len());
        let spent = start.elapsed().as_nanos() as f64;
        let mut costs = self.store.costs();
        costs.pack.add(spent / raw.len() as f64);
        // A block that does not shrink is written as it is.
        costs.ratio.add((packed as f64 / raw.len() as f64).min(1.0));
        self.packed.truncate(HEADER + packed);
        Ok(packed < raw.len())
    }
}

/// Fills in the header.
fn seal(method: u8, raw: u32, block: &mut [u8]) {
    block[0] = method;
    block[1..5].copy_from_slice(&raw.to_le_bytes());
    let sum = checksum(block);
    block[5..HEADER].copy_from_slice(&sum.to_le_bytes());
}

fn checksum(block: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&block[..5]);
    sum.update(&block[HEADER..]);
    sum.finalize()
}

/// Reads blocks and unpacks them, one at a time, for any number of readers.
#[derive(Debug)]
pub(super) struct BlockDecompressor<'a> {
    store: &'a Store,
    packed: Vec<u8>,
    /// Where the block is that was read last from the file.
    last: u64,
}

impl<'a> BlockDecompressor<'a> {
    pub(super) fn new(store: &'a Store) -> Self {
        Self { store, packed: Vec::new(), last: 0 }
    }

    /// A block, where it starts after [`HEADER`] bytes.
    pub(super) fn block(&mut self, extent: &Extent) -> Result<Arc<Vec<u8>>, SpillError> {
        if let Extent::Memory(block) = extent {
            return Ok(Arc::clone(block));
        }
        let mut block = Vec::new();
        self.read(extent, &mut block)?;
        Ok(Arc::new(block))
    }

    /// Reads a block into `out`, where it starts after [`HEADER`] bytes.
    pub(super) fn read(&mut self, extent: &Extent, out: &mut Vec<u8>) -> Result<(), SpillError> {
        let (at, length) = match extent {
            Extent::File { at, length, .. } => (*at, *length),
            Extent::Memory(block) => {
                out.clear();
                alloc::try_reserve(out, block.len())
                    .map_err(|error| self.store.error(error.into()))?;
                out.extend_from_slice(block);
                return Ok(());
            }
        };
        let damaged = |reason| self.store.damaged(at, reason);
        self.last = at;
        self.store.read(at, length, &mut self.packed)?;
        let Some((&[method, a, b, c, d, e, f, g, h], bytes)) = self.packed.split_first_chunk()
        else {
            return Err(damaged("it is too short"));
        };
        // Before anything else in the block is believed.
        if u32::from_le_bytes([e, f, g, h]) != checksum(&self.packed) {
            return Err(damaged("wrong checksum"));
        }
        let raw = u32::from_le_bytes([a, b, c, d]) as usize;
        match method {
            // Bytes that were not packed change hands without a copy.
            RAW if raw == bytes.len() => std::mem::swap(&mut self.packed, out),
            LZ4 => {
                let length = HEADER + raw;
                let more = length.saturating_sub(out.len());
                alloc::try_reserve_exact(out, more)
                    .map_err(|error| self.store.error(error.into()))?;
                out.resize(length, 0);
                if decompress_into(bytes, &mut out[HEADER..]).ok() != Some(raw) {
                    return Err(damaged("it cannot be unpacked"));
                }
            }
            _ => return Err(damaged("unknown header")),
        }
        Ok(())
    }

    pub(super) fn store(&self) -> &'a Store {
        self.store
    }

    /// The error of a block whose bytes are as they were written, but are no entries.
    pub(super) fn damaged(&self, reason: &str) -> SpillError {
        self.store.damaged(self.last, reason)
    }
}
