//! Parts of a run's file: a header, and bytes, packed with Zstandard or as they are.
//!
//! The header is 14 bytes: the kind, the packing, the bytes before packing and after it (4 bytes each,
//! lowest first), and the CRC-32 of the ten bytes before and of the packed bytes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::super::error::SeenStoreError;
use uniqurl::internal::alloc;

/// Bytes of a header.
pub(super) const HEADER: usize = 14;

/// Packing: as they are, or a Zstandard frame.
const RAW: u8 = 0;
const ZSTD: u8 = 1;

/// The level of Zstandard. Level 1 makes files of URLs 8 % larger, and writes them in five sixths of the CPU time.
const LEVEL: i32 = 3;

/// Most bytes of a part before packing, so that a damaged length cannot take all memory.
const LONGEST: usize = 1 << 30;

/// What a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum PartKind {
    Block = 1,
    Filter = 2,
    Index = 3,
    Footer = 4,
}

/// Packs parts, one after the other.
pub(super) struct PartPacker(zstd::bulk::Compressor<'static>);

impl PartPacker {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(zstd::bulk::Compressor::new(LEVEL)?))
    }

    /// The part with these bytes, packed if that makes it smaller.
    pub(super) fn pack(&mut self, kind: PartKind, raw: &[u8]) -> io::Result<Vec<u8>> {
        if raw.len() > LONGEST {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a key of a gigabyte"));
        }
        let most = HEADER + zstd::zstd_safe::compress_bound(raw.len());
        let mut part = Vec::new();
        alloc::try_reserve_exact(&mut part, most)?;
        part.resize(most, 0);
        let packed = match kind {
            // Fingerprints are random.
            PartKind::Filter => None,
            _ => Some(self.0.compress_to_buffer(raw, &mut part[HEADER..])?),
        };
        let packing = match packed {
            Some(length) if length < raw.len() => {
                part.truncate(HEADER + length);
                ZSTD
            }
            Some(_) | None => {
                part.truncate(HEADER);
                part.extend_from_slice(raw);
                RAW
            }
        };
        let length = part.len() - HEADER;
        part[0] = kind as u8;
        part[1] = packing;
        part[2..6].copy_from_slice(&(raw.len() as u32).to_le_bytes());
        part[6..10].copy_from_slice(&(length as u32).to_le_bytes());
        let sum = checksum(&part);
        part[10..HEADER].copy_from_slice(&sum.to_le_bytes());
        // The bound is far above the packed length, and all parts of a zone wait for each other.
        part.shrink_to_fit();
        Ok(part)
    }
}

/// The checksum of a part, over all of it but the checksum.
fn checksum(part: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&part[..10]);
    sum.update(&part[HEADER..]);
    sum.finalize()
}

/// The checksum in the header of a part.
pub(super) fn stated_checksum(part: &[u8]) -> u32 {
    u32::from_le_bytes([part[10], part[11], part[12], part[13]])
}

/// Unpacks parts, one after the other.
#[derive(Default)]
pub(super) struct PartUnpacker(Option<zstd::bulk::Decompressor<'static>>);

impl PartUnpacker {
    /// Unpacks the part that was read from this place of a file into `raw`, which then holds nothing else.
    pub(super) fn unpack(
        &mut self,
        file: &RunFile,
        (kind, offset): (PartKind, u64),
        part: &[u8],
        raw: &mut Vec<u8>,
    ) -> Result<(), SeenStoreError> {
        let damaged = |reason| Err(file.damaged(offset, reason));
        let no_memory = || SeenStoreError::memory(&file.path);
        if part_length(part) != Some(part.len()) {
            return damaged("a part is not as long as it says");
        }
        // Nothing that a part says of itself is believed before its checksum holds.
        if stated_checksum(part) != checksum(part) {
            return damaged("wrong checksum");
        }
        // A part in the place of another one has a right checksum.
        if part[0] != kind as u8 {
            return damaged("another part was expected");
        }
        let size = u32::from_le_bytes([part[2], part[3], part[4], part[5]]) as usize;
        raw.clear();
        if size > LONGEST {
            return damaged("a part is too long");
        }
        // The frame may hold more than the header says. It is unpacked no further than there is
        // room.
        alloc::try_reserve_exact(raw, size).map_err(|_| no_memory())?;
        let packed = &part[HEADER..];
        match part[1] {
            RAW if packed.len() == size => raw.extend_from_slice(packed),
            ZSTD => {
                let decompressor = match &mut self.0 {
                    Some(decompressor) => decompressor,
                    // Filters are not packed, so a look-up that ends with one needs no
                    // decompressor.
                    none => none.insert(zstd::bulk::Decompressor::new().map_err(|_| no_memory())?),
                };
                if decompressor.decompress_to_buffer(packed, raw).ok() != Some(size) {
                    return damaged("it cannot be unpacked");
                }
            }
            _ => return damaged("unknown packing"),
        }
        Ok(())
    }
}

/// The length of the part that these bytes begin with, if the header is there.
pub(super) fn part_length(bytes: &[u8]) -> Option<usize> {
    let header = bytes.first_chunk::<HEADER>()?;
    let packed = u32::from_le_bytes([header[6], header[7], header[8], header[9]]);
    (packed as usize).checked_add(HEADER)
}

/// The file of a run.
#[derive(Debug)]
pub(in super::super) struct RunFile {
    pub(super) file: File,
    pub(super) path: PathBuf,
}

impl RunFile {
    /// A file that was opened, as errors name it.
    pub(in super::super) fn of(
        file: io::Result<File>,
        path: &Path,
    ) -> Result<Self, SeenStoreError> {
        let file = file.map_err(|error| SeenStoreError::io(path, error))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Reads `length` bytes at `offset` into `out`, which then holds nothing else.
    pub(super) fn read(
        &self,
        offset: u64,
        length: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), SeenStoreError> {
        let more = length.saturating_sub(out.len());
        alloc::try_reserve_exact(out, more)
            .map_err(|error| SeenStoreError::io(&self.path, error.into()))?;
        out.resize(length, 0);
        self.file.read_exact_at(out, offset).map_err(|error| match error.kind() {
            // The manifest tells how long the file is, so an end before that is damage.
            io::ErrorKind::UnexpectedEof => self.damaged(offset, "the file ends before it"),
            _ => SeenStoreError::io(&self.path, error),
        })
    }

    /// The error of a part that is not as it was written.
    pub(super) fn damaged(&self, offset: u64, reason: &str) -> SeenStoreError {
        SeenStoreError::damaged(&self.path, offset, reason)
    }
}

/// Reads parts of files, one after the other.
#[derive(Default)]
pub(super) struct PartReader {
    pub(super) bytes: Vec<u8>,
    pub(super) unpacker: PartUnpacker,
}

impl PartReader {
    /// Reads the part of this kind, offset and length into `raw`, which then holds nothing else.
    pub(super) fn read(
        &mut self,
        file: &RunFile,
        (kind, offset, length): (PartKind, u64, u32),
        raw: &mut Vec<u8>,
    ) -> Result<(), SeenStoreError> {
        file.read(offset, length as usize, &mut self.bytes)?;
        self.unpacker.unpack(file, (kind, offset), &self.bytes, raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_round_trip_and_every_flipped_bit_is_found() {
        let null = Path::new("/dev/null");
        let file = RunFile::of(File::open(null), null).unwrap();
        let (mut packer, mut unpacker) = (PartPacker::new().unwrap(), PartUnpacker::default());
        let long = b"http://example.com/".repeat(20);
        for raw in [&b""[..], b"x", &long] {
            for kind in [PartKind::Block, PartKind::Filter] {
                let mut part = packer.pack(kind, raw).unwrap();
                let mut out = b"old".to_vec();
                let mut unpack =
                    |kind, part: &[u8]| unpacker.unpack(&file, (kind, 0), part, &mut out);
                unpack(kind, &part).unwrap();
                assert!(unpack(PartKind::Footer, &part).is_err());
                assert!(unpack(kind, &[&part[..], b"x"].concat()).is_err());
                for cut in 0..part.len() {
                    assert!(unpack(kind, &part[..cut]).is_err());
                }
                for bit in 0..part.len() * 8 {
                    part[bit / 8] ^= 1 << (bit % 8);
                    assert!(unpack(kind, &part).is_err(), "bit {bit}");
                    part[bit / 8] ^= 1 << (bit % 8);
                }
                unpack(kind, &part).unwrap();
                assert_eq!(out, raw);
            }
        }
        assert!(packer.pack(PartKind::Block, &long).unwrap().len() < long.len() / 2);
    }
}
