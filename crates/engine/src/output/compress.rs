//! A file that is compressed while it is written, where its name ends in `.gz` or `.zst`.
//!
//! Each block of 1 MiB becomes a gzip member or zstd frame of its own. So blocks are compressed on all
//! cores and can be unpacked on all of them, and the bytes of the file depend only on the bytes
//! written. On a list of 227,518 real URLs that costs 0.3 % of the size for gzip and 5 % for zstd. If many
//! files are written at once, the blocks are smaller, since each file gathers one.

use std::io::{self, IoSlice, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::prelude::*;

use super::sync_writer::SyncWriter;
use super::vectored;
use uniqurl::internal::alloc;
pub use uniqurl_formats::input::ending;

/// Bytes of a block, and blocks that are compressed at a time.
pub(super) const BLOCK: usize = 1 << 20;
pub(super) const BLOCKS: usize = 16;

/// The default levels of the tools `gzip` and `zstd`.
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// How a file is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Codec {
    Plain,
    Gzip,
    Zstd,
}

/// A file with the compressor in front of it.
#[derive(Debug)]
pub(super) struct CompressWriter {
    packing: Codec,
    /// Bytes of a block.
    block: usize,
    /// Blocks that are gathered before they are compressed.
    blocks: usize,
    /// Bytes to be compressed.
    pending: Vec<u8>,
    /// Whether any block was written: a compressed file of nothing still has one.
    begun: bool,
    spool: SyncWriter,
}

impl CompressWriter {
    /// Compresses if the name asks for it.
    pub fn new(name: &Path, spool: SyncWriter, block: usize, blocks: usize) -> Self {
        let packing = match ending(name).as_deref() {
            Some("gz") => Codec::Gzip,
            Some("zst") => Codec::Zstd,
            _ => Codec::Plain,
        };
        Self { packing, block, blocks, pending: Vec::new(), begun: false, spool }
    }

    pub fn spool(&self) -> &SyncWriter {
        &self.spool
    }

    /// Writes the remaining bytes and syncs the file to the disk.
    pub fn finish(&mut self) -> io::Result<()> {
        if self.packing != Codec::Plain {
            self.write_blocks()?;
            // A file of no bytes is no valid gzip or zstd file.
            if !self.begun {
                self.begun = true;
                self.spool.write_all(&self.packing.pack(&[])?)?;
            }
        }
        self.spool.finish()
    }

    fn write_blocks(&mut self) -> io::Result<()> {
        let packing = self.packing;
        // Outside of a pool of threads there is only this one.
        let blocks: Vec<_> = if rayon::current_thread_index().is_some() {
            self.pending.par_chunks(self.block).map(|block| packing.pack(block)).collect()
        } else {
            self.pending.chunks(self.block).map(|block| packing.pack(block)).collect()
        };
        self.pending.clear();
        for block in blocks {
            self.begun = true;
            self.spool.write_all(&block?)?;
        }
        Ok(())
    }
}

impl Codec {
    /// A block as a member or frame of its own, with a checksum.
    fn pack(self, block: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Codec::Plain => Ok(block.to_vec()),
            Codec::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL));
                encoder.write_all(block)?;
                encoder.finish()
            }
            Codec::Zstd => {
                let mut encoder = zstd::Encoder::new(Vec::new(), ZSTD_LEVEL)?;
                // A gzip member always has a checksum, a zstd frame only if asked.
                encoder.include_checksum(true)?;
                // The frame then states its size, so a decoder can reserve its output at once.
                encoder.set_pledged_src_size(Some(block.len() as u64))?;
                encoder.write_all(block)?;
                encoder.finish()
            }
        }
    }
}

impl Write for CompressWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.packing == Codec::Plain {
            return self.spool.write(bytes);
        }
        let room = self.block * self.blocks - self.pending.len();
        // Taking part of the bytes keeps the blocks the same, however the writes are cut.
        let taken = bytes.len().min(room);
        alloc::try_reserve(&mut self.pending, taken)?;
        self.pending.extend_from_slice(&bytes[..taken]);
        if taken == room {
            self.write_blocks()?;
        }
        Ok(taken)
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self.packing {
            Codec::Plain => self.spool.write_vectored(parts),
            Codec::Gzip | Codec::Zstd => self.write(vectored::first(parts)),
        }
    }

    /// Blocks are written whole, so that they depend on nothing but the bytes.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sync_writer::Sync;
    use super::*;
    use std::io::{Read, Seek};

    /// The content of a file of this name after `bytes` were written in parts of `step` bytes.
    fn written(name: &str, bytes: &[u8], step: usize) -> Vec<u8> {
        let mut file = tempfile::tempfile().unwrap();
        let spool = SyncWriter::new(file.try_clone().unwrap(), Sync::Never);
        let mut pack = CompressWriter::new(
            Path::new(name),
            spool,
            BLOCK,
            if step == 1 { BLOCKS } else { 1 + step % 16 },
        );
        for part in bytes.chunks(step) {
            pack.write_all(part).unwrap();
            pack.flush().unwrap();
        }
        pack.finish().unwrap();
        let mut written = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut written).unwrap();
        written
    }

    fn unpacked(name: &str, bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        match name {
            "a.gz" => flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut text).unwrap(),
            "a.zst" => zstd::Decoder::new(bytes).unwrap().read_to_end(&mut text).unwrap(),
            _ => bytes.to_vec().as_slice().read_to_end(&mut text).unwrap(),
        };
        text
    }

    #[test]
    fn compressed_bytes_depend_only_on_the_written_text() {
        let line = b"http://example.com/a\n";
        let mut text = Vec::new();
        while text.len() < BLOCK * (BLOCKS + 2) + 77 {
            text.extend_from_slice(line);
            text.extend_from_slice(text.len().to_string().as_bytes());
        }
        for name in ["a", "a.gz", "a.zst"] {
            let file = written(name, &text, text.len());
            assert!(unpacked(name, &file) == text, "{name}");
            assert!(written(name, &text, 1_000_003) == file, "{name}");
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            assert!(pool.install(|| written(name, &text, 300_000)) == file, "{name}");
        }
    }

    #[test]
    fn empty_output_is_a_valid_compressed_file() {
        for name in ["a.gz", "a.zst"] {
            let file = written(name, b"", 1);
            assert!(!file.is_empty() && unpacked(name, &file).is_empty(), "{name}");
        }
        assert!(written("a.txt", b"", 1).is_empty());
    }
}
