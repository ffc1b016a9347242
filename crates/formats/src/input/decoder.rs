//! Decodes one member of a compressed input with the library of its format.
//!
//! Each library runs in small steps that report the bytes consumed and produced, even on error. So all but
//! about a block of the bytes before damage is decoded.

use std::io;

use crc32fast::Hasher as Crc;
use flate2::{Decompress, FlushDecompress};
use liblzma::stream::{
    Action, Error as XzError, Status as XzStatus, Stream, TELL_UNSUPPORTED_CHECK,
};
use zstd::stream::raw::{DParameter, Decoder as ZstdDecoder, InBuffer, Operation, OutBuffer};
use zstd::zstd_safe::get_frame_content_size;

use super::compression::Compression;

/// Most segments per thread of a parallel decoder that are in progress or waiting.
pub(super) const AHEAD: usize = 2;

/// Allowed zstd window sizes, as powers of two. The largest is the default limit of `zstd`; the
/// smallest is the one that decoders should support under any memory limit (RFC 8878 section
/// 3.1.1.1.2).
const ZSTD_WINDOW: std::ops::RangeInclusive<u32> = 23..=27;

/// Allowed memory for decoding xz. `xz -9` needs a quarter of the upper bound, `xz -6` a third of the
/// lower.
const XZ_MEMORY: std::ops::RangeInclusive<u64> = 32 << 20..=256 << 20;

/// Bytes that a segment may unpack to before its rest has to wait. A block that the command compresses
/// fits in any case, and the upper bound is far beyond what a segment of URLs unpacks to.
const SEGMENT: std::ops::RangeInclusive<usize> = 1 << 20..=8 << 20;

/// Decoders get one part in this many of the run's memory.
const SHARE: usize = 4;

/// Memory limits for decoding a member.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Log2 of the largest window.
    zstd_window: u32,
    xz_memory: u64,
    segment: usize,
}

impl Limits {
    /// The limits when memory is no concern.
    pub const MOST: Self = Self {
        zstd_window: *ZSTD_WINDOW.end(),
        xz_memory: *XZ_MEMORY.end(),
        segment: *SEGMENT.end(),
    };

    /// Divides a run's `memory` bytes among `threads` decoding threads.
    pub fn within(memory: usize, threads: usize) -> Self {
        // `ilog2` of nothing panics, and a tiny budget shared by many threads rounds down to
        // nothing.
        let share = (memory / SHARE / threads.max(1)).max(1);
        Self {
            zstd_window: share.ilog2().clamp(*ZSTD_WINDOW.start(), *ZSTD_WINDOW.end()),
            xz_memory: (share as u64).clamp(*XZ_MEMORY.start(), *XZ_MEMORY.end()),
            segment: (share / AHEAD).clamp(*SEGMENT.start(), *SEGMENT.end()),
        }
    }

    /// How many segments may be in progress or wait. If there is little memory, few wait.
    pub(super) fn segments(self, threads: usize) -> usize {
        if self.segment > *SEGMENT.start() { threads * AHEAD } else { threads + 1 }
    }

    /// Bytes that a segment, which one of several threads decodes, may unpack to.
    pub(super) fn segment(self) -> usize {
        self.segment
    }
}

/// The decoder of one format.
pub(super) enum Decoder {
    /// `crc` is the checksum of the decoded bytes.
    Gzip {
        inflate: Box<Decompress>,
        crc: Crc,
    },
    Zstd(Box<ZstdDecoder<'static>>, ZstdFrame, Limits),
    Bzip2(bzip2::Decompress),
    Xz(Box<Stream>, Limits),
}

/// Progress within a zstd frame.
pub(super) struct ZstdFrame {
    /// Bytes the library wants next: the rest of a header or of a block.
    wanted: usize,
    /// The first bytes of the frame, at least those of its header.
    head: Vec<u8>,
    /// Decoded bytes so far.
    given: u64,
}

impl ZstdFrame {
    const NEW: Self = Self { wanted: ZSTD_FIRST, head: Vec::new(), given: 0 };

    /// Decodes a header or a block, or part of one. On error the library loses its counts of consumed
    /// and produced bytes. So each call gets at most one header or block: a damaged input then loses
    /// less than a block before the damage.
    fn step(
        &mut self,
        decoder: &mut ZstdDecoder<'_>,
        input: &[u8],
        out: &mut [u8],
    ) -> DecodeStep<io::Error> {
        let bytes = &input[..input.len().min(self.wanted)];
        let missing = ZSTD_HEADER.saturating_sub(self.head.len());
        self.head.extend_from_slice(&bytes[..bytes.len().min(missing)]);
        let (mut input, mut output) = (InBuffer::around(bytes), OutBuffer::around(out));
        let result = decoder.run(&mut input, &mut output);
        let given = output.pos();
        let taken = if result.is_ok() { input.pos() } else { bytes.len() };
        self.given += given as u64;
        let result = result.map(|hint| {
            // For a block, the library's hint includes the next block's header.
            self.wanted = if hint > ZSTD_BLOCK { hint - ZSTD_BLOCK } else { hint };
            if hint == 0 { Progress::End } else { Progress::More }
        });
        DecodeStep { taken, given, result }
    }

    /// Checks the decoded length at the end of the frame. Frame_Content_Size "is the original
    /// (uncompressed) size" (RFC 8878 3.1.1.1.4); the library skips this check if the last block is
    /// empty.
    fn judge(&self) -> Result<(), DecodeError> {
        match get_frame_content_size(&self.head) {
            Ok(Some(said)) if said != self.given => {
                let Self { given, .. } = self;
                Err(DecodeError::Damaged(format!(
                    "a frame says that it has {said} bytes, and has {given}"
                )))
            }
            // A frame need not name its length, and a skippable frame has none.
            _ => Ok(()),
        }
    }
}

/// The result of a step.
pub(super) struct DecodeStep<E = DecodeError> {
    pub(super) taken: usize,
    pub(super) given: usize,
    pub(super) result: Result<Progress, E>,
}

/// The reason decoding failed, as text.
pub(super) enum DecodeError {
    Damaged(String),
    /// It exceeds a memory limit.
    Limit(String),
}

impl From<DecodeError> for io::Error {
    fn from(wrong: DecodeError) -> Self {
        match wrong {
            DecodeError::Damaged(words) => Self::new(io::ErrorKind::InvalidData, words),
            DecodeError::Limit(words) => Self::new(io::ErrorKind::QuotaExceeded, words),
        }
    }
}

/// Whether the member goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    More,
    /// The member is complete.
    End,
}

impl Decoder {
    /// Creates a decoder for the first member. Only zstd uses `dictionary`.
    pub(super) fn new(
        compression: Compression,
        dictionary: &[u8],
        limits: Limits,
    ) -> io::Result<Self> {
        Ok(match compression {
            Compression::Gzip => {
                // Raw deflate: `StreamDecoder` reads the gzip header and trailer itself, and so
                // knows where each of them ends.
                Decoder::Gzip { inflate: Box::new(Decompress::new(false)), crc: Crc::new() }
            }
            Compression::Zstd => {
                let mut decoder = ZstdDecoder::with_dictionary(dictionary)?;
                decoder.set_parameter(DParameter::WindowLogMax(limits.zstd_window))?;
                Decoder::Zstd(Box::new(decoder), ZstdFrame::NEW, limits)
            }
            Compression::Bzip2 => Decoder::Bzip2(bzip2::Decompress::new(false)),
            Compression::Xz => Decoder::Xz(Box::new(xz(limits)?), limits),
        })
    }

    /// Resets the decoder for another member.
    pub(super) fn reset(&mut self) -> io::Result<()> {
        match self {
            Decoder::Gzip { inflate, crc } => {
                inflate.reset(false);
                crc.reset();
            }
            Decoder::Zstd(decoder, frame, _) => {
                decoder.reinit()?;
                *frame = ZstdFrame::NEW;
            }
            // Neither library can reset a decoder. A new one for bzip2 clears 3.6 MB, which shows
            // only in files of very many tiny streams.
            Decoder::Bzip2(decompress) => *decompress = bzip2::Decompress::new(false),
            Decoder::Xz(stream, limits) => **stream = xz(*limits)?,
        }
        Ok(())
    }

    /// Decodes part of `input` into `out`, which must not be empty.
    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8]) -> DecodeStep {
        match self {
            Decoder::Gzip { inflate, crc } => {
                let before = (inflate.total_in(), inflate.total_out());
                let result = match inflate.decompress(input, out, FlushDecompress::None) {
                    Ok(flate2::Status::StreamEnd) => Ok(Progress::End),
                    Ok(_) => Ok(Progress::More),
                    // The library's own message depends on how the input was split, so it is not used.
                    Err(_) => Err(DecodeError::Damaged("invalid data".to_owned())),
                };
                let given = (inflate.total_out() - before.1) as usize;
                crc.update(&out[..given]);
                DecodeStep { taken: (inflate.total_in() - before.0) as usize, given, result }
            }
            Decoder::Zstd(decoder, frame, limits) => {
                let DecodeStep { taken, given, result } = frame.step(decoder, input, out);
                let result = match result {
                    Ok(Progress::End) => frame.judge().map(|()| Progress::End),
                    Ok(Progress::More) => Ok(Progress::More),
                    Err(error) => Err(wrong_zstd(&error, *limits)),
                };
                DecodeStep { taken, given, result }
            }
            // If eight bytes are available, the library reads up to seven ahead, so its position at an
            // error varies slightly with the split. Feeding it at most seven at a time takes 1.10 of
            // the time.
            Decoder::Bzip2(decompress) => {
                let before = (decompress.total_in(), decompress.total_out());
                let result = match decompress.decompress(input, out) {
                    Ok(bzip2::Status::StreamEnd) => Ok(Progress::End),
                    Ok(_) => Ok(Progress::More),
                    Err(_) => Err(DecodeError::Damaged(INVALID.to_owned())),
                };
                DecodeStep {
                    taken: (decompress.total_in() - before.0) as usize,
                    given: (decompress.total_out() - before.1) as usize,
                    result,
                }
            }
            Decoder::Xz(stream, limits) => {
                let before = (stream.total_in(), stream.total_out());
                // Never `Finish`: `StreamDecoder` knows a truncated input by a step that takes and
                // gives nothing.
                let result = match stream.process(input, out, Action::Run) {
                    Ok(XzStatus::StreamEnd) => Ok(Progress::End),
                    Ok(_) => Ok(Progress::More),
                    Err(error) => Err(wrong_xz(error, *limits)),
                };
                DecodeStep {
                    taken: (stream.total_in() - before.0) as usize,
                    given: (stream.total_out() - before.1) as usize,
                    result,
                }
            }
        }
    }
}

/// The first bytes of a frame, with which the library can say how many it wants next.
const ZSTD_FIRST: usize = 5;

/// Length of the longest frame header, including its magic number (RFC 8878 3.1.1).
const ZSTD_HEADER: usize = 18;

/// Length of a block header (RFC 8878 3.1.1.2).
const ZSTD_BLOCK: usize = 3;

fn xz(limits: Limits) -> io::Result<Stream> {
    // Without this flag the library passes streams whose checksum it cannot verify as if they were
    // whole.
    Stream::new_stream_decoder(limits.xz_memory, TELL_UNSUPPORTED_CHECK).map_err(io::Error::other)
}

const INVALID: &str = "invalid data or a checksum that does not match";

fn wrong_zstd(error: &io::Error, limits: Limits) -> DecodeError {
    let words = error.to_string();
    // The crate hands on the library's error codes as text, so only words tell a limit from damage.
    if words.contains("too much memory") {
        let most = 1 << (limits.zstd_window - 20);
        return DecodeError::Limit(format!("its window is beyond the limit of {most} MiB"));
    }
    if words.starts_with("Dictionary mismatch") {
        return DecodeError::Damaged("its dictionary is not at the start of the input".into());
    }
    DecodeError::Damaged(words)
}

fn wrong_xz(error: XzError, limits: Limits) -> DecodeError {
    match error {
        XzError::Data => DecodeError::Damaged(INVALID.to_owned()),
        XzError::MemLimit => {
            let most = limits.xz_memory >> 20;
            DecodeError::Limit(format!(
                "unpacking it takes more memory than the limit of {most} MiB"
            ))
        }
        XzError::UnsupportedCheck => {
            DecodeError::Damaged("its kind of checksum cannot be verified".to_owned())
        }
        error => DecodeError::Damaged(error.to_string()),
    }
}
