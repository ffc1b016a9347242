//! One member of a compressed input, unpacked by the library of its format.
//!
//! Each library is asked in small steps that say how much they took and gave, also where they end in
//! an error: so what stands before the damage is the same however the input comes in.

use std::io;

use flate2::{Crc, Decompress, FlushDecompress};
use liblzma::stream::{
    Action, Error as XzError, Status as XzStatus, Stream, TELL_UNSUPPORTED_CHECK,
};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::packing::Packing;

/// Bytes that a zstd window may have, as a power of two: what `zstd` itself allows unless told
/// otherwise.
const ZSTD_WINDOW: u32 = 27;

/// Memory that unpacking xz may take: what `xz -9` needs is a quarter of it.
const XZ_MEMORY: u64 = 256 << 20;

/// A library at work.
pub(super) enum Engine {
    Gzip {
        inflate: Box<Decompress>,
        crc: Crc,
    },
    /// With the bytes that it wants next.
    Zstd(Box<Decoder<'static>>, usize),
    Bzip2(bzip2::Decompress),
    Xz(Box<Stream>),
}

/// What came of a step.
pub(super) struct Step {
    pub(super) taken: usize,
    pub(super) given: usize,
    pub(super) result: Result<Then, String>,
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
    pub(super) fn new(packing: Packing, dictionary: &[u8]) -> io::Result<Self> {
        Ok(match packing {
            Packing::Gzip => {
                Engine::Gzip { inflate: Box::new(Decompress::new(false)), crc: Crc::new() }
            }
            Packing::Zstd => {
                let mut decoder = Decoder::with_dictionary(dictionary)?;
                decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW))?;
                Engine::Zstd(Box::new(decoder), ZSTD_FIRST)
            }
            Packing::Bzip2 => Engine::Bzip2(bzip2::Decompress::new(false)),
            Packing::Xz => Engine::Xz(Box::new(xz()?)),
        })
    }

    /// Makes ready for another member.
    pub(super) fn reset(&mut self) -> io::Result<()> {
        match self {
            Engine::Gzip { inflate, crc } => {
                inflate.reset(false);
                crc.reset();
            }
            Engine::Zstd(decoder, wanted) => {
                decoder.reinit()?;
                *wanted = ZSTD_FIRST;
            }
            Engine::Bzip2(decompress) => *decompress = bzip2::Decompress::new(false),
            Engine::Xz(stream) => **stream = xz()?,
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
                    Err(error) => Err(error.message().unwrap_or("invalid data").to_owned()),
                };
                let given = (inflate.total_out() - before.1) as usize;
                crc.update(&out[..given]);
                Step { taken: (inflate.total_in() - before.0) as usize, given, result }
            }
            Engine::Zstd(decoder, wanted) => {
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
                    Err(error) => Err(zstd_words(&error)),
                };
                Step { taken: input.pos(), given: output.pos(), result }
            }
            Engine::Bzip2(decompress) => {
                let before = (decompress.total_in(), decompress.total_out());
                let result = match decompress.decompress(input, out) {
                    Ok(bzip2::Status::StreamEnd) => Ok(Then::End),
                    Ok(_) => Ok(Then::More),
                    Err(_) => Err("invalid data or a checksum that does not match".to_owned()),
                };
                Step {
                    taken: (decompress.total_in() - before.0) as usize,
                    given: (decompress.total_out() - before.1) as usize,
                    result,
                }
            }
            Engine::Xz(stream) => {
                let before = (stream.total_in(), stream.total_out());
                let result = match stream.process(input, out, Action::Run) {
                    Ok(XzStatus::StreamEnd) => Ok(Then::End),
                    Ok(_) => Ok(Then::More),
                    Err(error) => Err(xz_words(error)),
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

fn xz() -> io::Result<Stream> {
    Stream::new_stream_decoder(XZ_MEMORY, TELL_UNSUPPORTED_CHECK).map_err(io::Error::other)
}

fn zstd_words(error: &io::Error) -> String {
    let words = error.to_string();
    if words.contains("too much memory") {
        return format!("its window is beyond the limit of {} MiB", 1 << (ZSTD_WINDOW - 20));
    }
    words
}

fn xz_words(error: XzError) -> String {
    match error {
        XzError::Data => "invalid data or a checksum that does not match".to_owned(),
        XzError::MemLimit => {
            format!("unpacking it takes more memory than the limit of {} MiB", XZ_MEMORY >> 20)
        }
        XzError::UnsupportedCheck => "its kind of checksum cannot be verified".to_owned(),
        error => error.to_string(),
    }
}
