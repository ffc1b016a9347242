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
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::packing::Packing;

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
pub(crate) struct Limits {
    /// As a power of two.
    zstd_window: u32,
    xz_memory: u64,
}

impl Limits {
    /// However much there is.
    pub(crate) const MOST: Self =
        Self { zstd_window: *ZSTD_WINDOW.end(), xz_memory: *XZ_MEMORY.end() };

    /// For each of `threads` threads of a run that may take `memory` bytes.
    pub(crate) fn within(memory: usize, threads: usize) -> Self {
        let share = (memory / SHARE / threads.max(1)).max(1);
        Self {
            zstd_window: share.ilog2().clamp(*ZSTD_WINDOW.start(), *ZSTD_WINDOW.end()),
            xz_memory: (share as u64).clamp(*XZ_MEMORY.start(), *XZ_MEMORY.end()),
        }
    }
}

/// A library at work.
pub(super) enum Engine {
    /// With the checksum of what was unpacked.
    Gzip {
        inflate: Box<Decompress>,
        crc: Crc,
    },
    /// With the bytes that it wants next.
    Zstd(Box<Decoder<'static>>, usize, Limits),
    Bzip2(bzip2::Decompress),
    Xz(Box<Stream>, Limits),
}

/// What came of a step.
pub(super) struct Step {
    pub(super) taken: usize,
    pub(super) given: usize,
    pub(super) result: Result<Then, Wrong>,
}

/// Why it does not go on, in words.
pub(super) enum Wrong {
    Damaged(String),
    /// It takes more than it may.
    Limit(String),
}

impl From<Wrong> for io::Error {
    fn from(wrong: Wrong) -> Self {
        match wrong {
            Wrong::Damaged(words) => Self::new(io::ErrorKind::InvalidData, words),
            Wrong::Limit(words) => Self::new(io::ErrorKind::QuotaExceeded, words),
        }
    }
}

/// How it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    More,
    /// The member is complete.
    End,
}

impl Engine {
    /// Ready for the first member. `dictionary` is for zstd.
    pub(super) fn new(packing: Packing, dictionary: &[u8], limits: Limits) -> io::Result<Self> {
        Ok(match packing {
            Packing::Gzip => {
                Engine::Gzip { inflate: Box::new(Decompress::new(false)), crc: Crc::new() }
            }
            Packing::Zstd => {
                let mut decoder = Decoder::with_dictionary(dictionary)?;
                decoder.set_parameter(DParameter::WindowLogMax(limits.zstd_window))?;
                Engine::Zstd(Box::new(decoder), ZSTD_FIRST, limits)
            }
            Packing::Bzip2 => Engine::Bzip2(bzip2::Decompress::new(false)),
            Packing::Xz => Engine::Xz(Box::new(xz(limits)?), limits),
        })
    }

    /// Makes ready for another member.
    pub(super) fn reset(&mut self) -> io::Result<()> {
        match self {
            Engine::Gzip { inflate, crc } => {
                inflate.reset(false);
                crc.reset();
            }
            Engine::Zstd(decoder, wanted, _) => {
                decoder.reinit()?;
                *wanted = ZSTD_FIRST;
            }
            Engine::Bzip2(decompress) => *decompress = bzip2::Decompress::new(false),
            Engine::Xz(stream, limits) => **stream = xz(*limits)?,
        }
        Ok(())
    }

    /// Unpacks some of `input` into `out`, which has room.
    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Step {
        match self {
            Engine::Gzip { inflate, crc } => {
                let before = (inflate.total_in(), inflate.total_out());
                let result = match inflate.decompress(input, out, FlushDecompress::None) {
                    Ok(flate2::Status::StreamEnd) => Ok(Then::End),
                    Ok(_) => Ok(Then::More),
                    Err(error) => {
                        Err(Wrong::Damaged(error.message().unwrap_or("invalid data").to_owned()))
                    }
                };
                let given = (inflate.total_out() - before.1) as usize;
                crc.update(&out[..given]);
                Step { taken: (inflate.total_in() - before.0) as usize, given, result }
            }
            Engine::Zstd(decoder, wanted, limits) => {
                // One block at a time: the library forgets what it gave before an error.
                let input = &input[..input.len().min(*wanted)];
                let mut input = InBuffer::around(input);
                let mut output = OutBuffer::around(out);
                let result = match decoder.run(&mut input, &mut output) {
                    Ok(0) => Ok(Then::End),
                    Ok(hint) => {
                        *wanted = hint;
                        Ok(Then::More)
                    }
                    Err(error) => Err(wrong_zstd(&error, *limits)),
                };
                Step { taken: input.pos(), given: output.pos(), result }
            }
            Engine::Bzip2(decompress) => {
                let before = (decompress.total_in(), decompress.total_out());
                let result = match decompress.decompress(input, out) {
                    Ok(bzip2::Status::StreamEnd) => Ok(Then::End),
                    Ok(_) => Ok(Then::More),
                    Err(_) => Err(Wrong::Damaged(INVALID.to_owned())),
                };
                Step {
                    taken: (decompress.total_in() - before.0) as usize,
                    given: (decompress.total_out() - before.1) as usize,
                    result,
                }
            }
            Engine::Xz(stream, limits) => {
                let before = (stream.total_in(), stream.total_out());
                let result = match stream.process(input, out, Action::Run) {
                    Ok(XzStatus::StreamEnd) => Ok(Then::End),
                    Ok(_) => Ok(Then::More),
                    Err(error) => Err(wrong_xz(error, *limits)),
                };
                Step {
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

fn xz(limits: Limits) -> io::Result<Stream> {
    Stream::new_stream_decoder(limits.xz_memory, TELL_UNSUPPORTED_CHECK).map_err(io::Error::other)
}

const INVALID: &str = "invalid data or a checksum that does not match";

fn wrong_zstd(error: &io::Error, limits: Limits) -> Wrong {
    let words = error.to_string();
    if words.contains("too much memory") {
        let most = *ZSTD_WINDOW.end();
        return Wrong::Limit(format!(
            "its window is beyond the limit of {} MiB{}",
            1 << (limits.zstd_window - 20),
            way_out(limits.zstd_window < most, 1 << (most - 20), "zstd -dc --long=31")
        ));
    }
    if words.starts_with("Dictionary mismatch") {
        let why =
            "its dictionary is not at the start of the input; zstd -dc -D DICTIONARY unpacks it";
        return Wrong::Damaged(why.into());
    }
    Wrong::Damaged(words)
}

/// What can be done about a limit: more memory moves it up to so many MiB, and behind that there is
/// another program.
fn way_out(has_more: bool, mebibytes: u64, command: &str) -> String {
    if has_more {
        format!("; with a larger --memory it is up to {mebibytes} MiB")
    } else {
        format!("; {command} unpacks it")
    }
}

fn wrong_xz(error: XzError, limits: Limits) -> Wrong {
    match error {
        XzError::Data => Wrong::Damaged(INVALID.to_owned()),
        XzError::MemLimit => {
            let most = *XZ_MEMORY.end();
            Wrong::Limit(format!(
                "unpacking it takes more memory than the limit of {} MiB{}",
                limits.xz_memory >> 20,
                way_out(limits.xz_memory < most, most >> 20, "xz -dc")
            ))
        }
        XzError::UnsupportedCheck => {
            Wrong::Damaged("its kind of checksum cannot be verified".to_owned())
        }
        error => Wrong::Damaged(error.to_string()),
    }
}
