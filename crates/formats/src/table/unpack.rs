//! Unpacks a page of a Parquet column, never to more than its header says.
//!
//! The library unpacks some codecs to the end before it compares the length, so a page of a few bytes could
//! take all memory.

use std::io::Read;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use parquet::basic::Compression;

/// Buffer size for decoding brotli.
const BUFFER: usize = 64 << 10;

/// The first byte of a brotli stream, without its highest bit, that has a "Large Window": up to 1 GiB, where
/// the standard has 16 MiB (RFC 7932 section 9.1).
const LARGE_WINDOW: u8 = 0b001_0001;

/// Unpacks pages of one column.
pub(super) struct Unpacker {
    codec: Compression,
    /// Zstandard's context, kept from page to page.
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl Unpacker {
    pub(super) fn new(codec: Compression) -> Self {
        Self { codec, zstd: None }
    }

    /// Unpacks a page to `length` bytes. Its first `levels` bytes are not packed.
    pub(super) fn unpack(
        &mut self,
        page: Bytes,
        levels: usize,
        length: usize,
    ) -> Result<Bytes, String> {
        if self.codec == Compression::UNCOMPRESSED {
            return Ok(page);
        }
        let split = page.split_at_checked(levels).filter(|_| levels <= length);
        let (levels, packed) = split.ok_or("its levels are longer than it is")?;
        let mut out = Vec::with_capacity(length);
        out.extend_from_slice(levels);
        // A page of nulls has no bytes, and none that are packed.
        if levels.len() < length {
            self.append(packed, &mut out, length)?;
        }
        if out.len() != length {
            let unpacked = out.len();
            return Err(format!("it has {length} bytes by its head, and unpacks to {unpacked}"));
        }
        Ok(out.into())
    }

    /// Fills `out` to a length, or somewhat beyond.
    fn append(&mut self, packed: &[u8], out: &mut Vec<u8>, length: usize) -> Result<(), String> {
        match self.codec {
            Compression::GZIP(_) => read(MultiGzDecoder::new(packed), out, length),
            Compression::BROTLI(_) => {
                if packed.first().is_some_and(|first| first & 0x7F == LARGE_WINDOW) {
                    return Err("its brotli window is larger than the standard has".to_owned());
                }
                read(brotli::Decompressor::new(packed, BUFFER), out, length)
            }
            Compression::ZSTD(_) => {
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    None => self.zstd.insert(zstd::bulk::Decompressor::new().map_err(words)?),
                };
                let filled = out.len() as u64;
                // The library writes no further than the vector's capacity.
                let mut out = std::io::Cursor::new(out);
                out.set_position(filled);
                zstd.decompress_to_buffer(packed, &mut out).map(drop).map_err(words)
            }
            Compression::SNAPPY => fill(out, length, |out| {
                snap::raw::Decoder::new().decompress(packed, out).map_err(words)
            }),
            Compression::LZ4_RAW => fill(out, length, |out| lz4_block(packed, out)),
            // Writers have put three framings under this name: Hadoop's, LZ4's own, and none.
            Compression::LZ4 => {
                let levels = out.len();
                let hadoop = fill(out, length, |out| lz4_hadoop(packed, out));
                if hadoop.is_ok() && out.len() == length {
                    return hadoop;
                }
                out.truncate(levels);
                if read(lz4_flex::frame::FrameDecoder::new(packed), out, length).is_ok() {
                    return Ok(());
                }
                out.truncate(levels);
                // The bare block comes last: it has no lengths or marks by which another framing
                // would be rejected.
                fill(out, length, |out| lz4_block(packed, out))
            }
            Compression::UNCOMPRESSED | Compression::LZO => Err("its codec is unknown".to_owned()),
        }
    }
}

/// Appends what a reader yields, up to one byte more than `length`.
fn read(unpacked: impl Read, out: &mut Vec<u8>, length: usize) -> Result<(), String> {
    // The one byte more shows a page that is longer than its header says.
    let most = (length - out.len()) as u64 + 1;
    unpacked.take(most).read_to_end(out).map(drop).map_err(words)
}

/// Appends what `unpack` writes into a slice, and returns its length.
fn fill(
    out: &mut Vec<u8>,
    length: usize,
    unpack: impl FnOnce(&mut [u8]) -> Result<usize, String>,
) -> Result<(), String> {
    let start = out.len();
    out.resize(length, 0);
    let filled = unpack(&mut out[start..])?;
    out.truncate(start + filled);
    Ok(())
}

fn lz4_block(packed: &[u8], out: &mut [u8]) -> Result<usize, String> {
    lz4_flex::block::decompress_into(packed, out).map_err(words)
}

/// Unpacks Hadoop's framing: blocks, each after its unpacked and packed lengths, highest bytes first.
fn lz4_hadoop(mut packed: &[u8], out: &mut [u8]) -> Result<usize, String> {
    const CUT: &str = "a block of it ends early";
    let mut filled = 0;
    while let Some(([a, b, c, d, e, f, g, h], rest)) = packed.split_first_chunk() {
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        let (block, rest) =
            rest.split_at_checked(u32::from_be_bytes([*e, *f, *g, *h]) as usize).ok_or(CUT)?;
        let part = out[filled..].get_mut(..length).ok_or(CUT)?;
        if lz4_block(block, part)? != length {
            return Err(CUT.to_owned());
        }
        filled += length;
        packed = rest;
    }
    if packed.is_empty() { Ok(filled) } else { Err(CUT.to_owned()) }
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
