//! One member of a compressed input, unpacked by the library of its format.
//!
//! Each library is asked in small steps that say how much they took and gave, also where they end in
//! an error: so what stands before the damage is the same however the input comes in.

use std::io;

use crc32fast::Hasher as Crc;
use flate2::{Decompress, FlushDecompress};
use liblzma::stream::{
    Action, Error as XzError, Status as XzStatus, Stream, TELL_UNSUPPORTED_CHECK,
};
use zstd::stream::raw::{DParameter, Decoder as ZstdDecoder, InBuffer, Operation, OutBuffer};
use zstd::zstd_safe::get_frame_content_size;

use super::compression::Compression;

/// Bytes that a zstd window may have, as a power of two: what `zstd` itself allows unless told
/// otherwise, and what a decoder should support however little memory there is (RFC 8878 section
/// 3.1.1.1.2).
const ZSTD_WINDOW: std::ops::RangeInclusive<u32> = 23..=27;

/// Memory that unpacking xz may take: what `xz -9` needs is a quarter of the most, what `xz -6` needs a
/// third of the least.
const XZ_MEMORY: std::ops::RangeInclusive<u64> = 32 << 20..=256 << 20;

/// A part of the memory of a run goes to what unpacks.
const SHARE: usize = 4;

/// What unpacking a member may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// As a power of two.
    zstd_window: u32,
    xz_memory: u64,
}

impl Limits {
    /// However much there is.
    pub const MOST: Self = Self { zstd_window: *ZSTD_WINDOW.end(), xz_memory: *XZ_MEMORY.end() };

    /// For each of `threads` threads of a run that may take `memory` bytes.
    pub fn within(memory: usize, threads: usize) -> Self {
        let share = (memory / SHARE / threads.max(1)).max(1);
        Self {
            zstd_window: share.ilog2().clamp(*ZSTD_WINDOW.start(), *ZSTD_WINDOW.end()),
            xz_memory: (share as u64).clamp(*XZ_MEMORY.start(), *XZ_MEMORY.end()),
        }
    }
}

/// A library at work.
pub(super) enum Decoder {
    /// With the checksum of what was unpacked.
    Gzip {
        inflate: Box<Decompress>,
        crc: Crc,
    },
    Zstd(Box<ZstdDecoder<'static>>, ZstdFrame, Limits),
    Bzip2(bzip2::Decompress),
    Xz(Box<Stream>, Limits),
}

/// How far a frame of zstd has come.
pub(super) struct ZstdFrame {
    /// Bytes that the library wants next: the rest of a header or of a block.
    wanted: usize,
    /// As many of its first bytes as its header can have.
    head: [u8; ZSTD_HEADER],
    headed: usize,
    /// How much it gave.
    given: u64,
    /// Whether the library may have more to give of what it took.
    holds: bool,
}

impl ZstdFrame {
    const NEW: Self =
        Self { wanted: ZSTD_FIRST, head: [0; ZSTD_HEADER], headed: 0, given: 0, holds: false };

    /// Keeps those of the bytes that belong to the first `count`, and says how many these are.
    fn keep(&mut self, bytes: &[u8], count: usize) -> usize {
        let more = bytes.len().min(count.saturating_sub(self.headed));
        self.head[self.headed..][..more].copy_from_slice(&bytes[..more]);
        self.headed += more;
        more
    }

    /// Goes on with a header or a block, or a part of it. The library forgets what it took and gave
    /// before an error, so it takes no two of them at a time, and none while it holds some of the last.
    fn step(
        &mut self,
        decoder: &mut ZstdDecoder<'_>,
        input: &[u8],
        out: &mut [u8],
    ) -> DecodeStep<io::Error> {
        if self.holds {
            let step = self.run(decoder, &[], out);
            if step.given > 0 || step.result.is_err() {
                return step;
            }
        }
        if self.headed < ZSTD_FIRST {
            // They are judged together, so that damage is told alike however they come.
            let taken = self.keep(input, ZSTD_FIRST);
            if self.headed < ZSTD_FIRST {
                return DecodeStep { taken, given: 0, result: Ok(Progress::More) };
            }
            let first = self.head;
            return DecodeStep { taken, ..self.run(decoder, &first[..ZSTD_FIRST], out) };
        }
        let bytes = &input[..input.len().min(self.wanted)];
        self.keep(bytes, ZSTD_HEADER);
        self.run(decoder, bytes, out)
    }

    fn run(
        &mut self,
        decoder: &mut ZstdDecoder<'_>,
        bytes: &[u8],
        out: &mut [u8],
    ) -> DecodeStep<io::Error> {
        let room = out.len();
        let (mut input, mut output) = (InBuffer::around(bytes), OutBuffer::around(out));
        let result = decoder.run(&mut input, &mut output);
        let given = output.pos();
        let taken = if result.is_ok() { input.pos() } else { bytes.len() };
        self.given += given as u64;
        self.holds = given == room;
        let result = result.map(|hint| {
            // Of a block it asks for the header behind it, too.
            self.wanted = if hint > ZSTD_BLOCK { hint - ZSTD_BLOCK } else { hint };
            if hint == 0 { Progress::End } else { Progress::More }
        });
        DecodeStep { taken, given, result }
    }

    /// Judges its length at its end. Frame_Content_Size "is the original (uncompressed) size" (RFC 8878
    /// 3.1.1.1.4); the library does not ask where the last block is empty.
    fn judge(&self) -> Result<(), DecodeError> {
        match get_frame_content_size(&self.head[..self.headed]) {
            Ok(Some(said)) if said != self.given => {
                let Self { given, .. } = self;
                Err(DecodeError::Damaged(format!(
                    "a frame says that it has {said} bytes, and has {given}"
                )))
            }
            _ => Ok(()),
        }
    }
}

/// What came of a step.
pub(super) struct DecodeStep<E = DecodeError> {
    pub(super) taken: usize,
    pub(super) given: usize,
    pub(super) result: Result<Progress, E>,
}

/// Why it does not go on, in words.
pub(super) enum DecodeError {
    Damaged(String),
    /// It takes more than it may.
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

/// How it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    More,
    /// The member is complete.
    End,
}

impl Decoder {
    /// Ready for the first member. `dictionary` is for zstd.
    pub(super) fn new(
        compression: Compression,
        dictionary: &[u8],
        limits: Limits,
    ) -> io::Result<Self> {
        Ok(match compression {
            Compression::Gzip => {
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

    /// Makes ready for another member.
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
            Decoder::Bzip2(decompress) => *decompress = bzip2::Decompress::new(false),
            Decoder::Xz(stream, limits) => **stream = xz(*limits)?,
        }
        Ok(())
    }

    /// Unpacks some of `input` into `out`, which has room.
    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8]) -> DecodeStep {
        match self {
            Decoder::Gzip { inflate, crc } => {
                let before = (inflate.total_in(), inflate.total_out());
                let result = match inflate.decompress(input, out, FlushDecompress::None) {
                    Ok(flate2::Status::StreamEnd) => Ok(Progress::End),
                    Ok(_) => Ok(Progress::More),
                    // What the library says of it depends on how the bytes came.
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
            // The library reads up to seven bytes ahead where there are eight, so where it stands at an
            // error depends a little on how the bytes came. With seven at a time it takes 1.10 of the time.
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

/// How much of a frame tells what to ask for next.
const ZSTD_FIRST: usize = 5;

/// Bytes of the longest header of a frame, its magic number among them (RFC 8878 3.1.1).
const ZSTD_HEADER: usize = 18;

/// Bytes of the header of a block (RFC 8878 3.1.1.2).
const ZSTD_BLOCK: usize = 3;

fn xz(limits: Limits) -> io::Result<Stream> {
    Stream::new_stream_decoder(limits.xz_memory, TELL_UNSUPPORTED_CHECK).map_err(io::Error::other)
}

const INVALID: &str = "invalid data or a checksum that does not match";

fn wrong_zstd(error: &io::Error, limits: Limits) -> DecodeError {
    let words = error.to_string();
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
