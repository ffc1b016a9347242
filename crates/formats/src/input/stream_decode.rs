//! Decodes a compressed input sequentially, member after member, and verifies every checksum.
//!
//! ```text
//! Start ---> Member ---> Between ---> over: the input ends, perhaps after padding
//!   |           ^           |  ^
//!   |           +-----------+  |
//!   |         another member   |
//!   +--------------------------+
//!     a dictionary was read, and perhaps no frame follows it
//! ```
//!
//! An error leads from everywhere to the end, after the bytes that were decoded before it.

use std::io::{self, BufRead, Read};

use crc32fast::Hasher as Crc;

use super::byte_source::{ByteSource, Counted, MemberStarts};
use super::compression::Compression;
use super::decoder::{DecodeError, DecodeStep, Decoder, Limits, Progress};

/// Largest zstd dictionary, compressed or not.
const DICTIONARY: usize = 16 << 20;

/// Decodes a compressed input.
pub(super) struct StreamDecoder<R> {
    input: Counted<R>,
    compression: Compression,
    limits: Limits,
    decoder: Decoder,
    position: StreamPosition,
    /// True once the end or an error was returned.
    over: bool,
    /// An error to return after the bytes decoded before it.
    error: Option<io::Error>,
    /// Number of zero bytes after the last member.
    padding: u64,
    starts: MemberStarts,
}

/// The decoder's position in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamPosition {
    /// Before the first member.
    Start,
    /// Inside a member.
    Member,
    /// After a member.
    Between,
}

impl<R: BufRead> StreamDecoder<R> {
    /// Decodes an input from its start.
    pub(super) fn new(
        input: Counted<R>,
        compression: Compression,
        limits: Limits,
    ) -> io::Result<Self> {
        Self::with_dictionary(input, compression, limits, &[], StreamPosition::Start)
    }

    /// Decodes an input from the start of a member.
    pub(super) fn with_dictionary(
        input: Counted<R>,
        compression: Compression,
        limits: Limits,
        dictionary: &[u8],
        position: StreamPosition,
    ) -> io::Result<Self> {
        let decoder = Decoder::new(compression, dictionary, limits)?;
        let starts = MemberStarts::default();
        Ok(Self {
            input,
            compression,
            limits,
            decoder,
            position,
            over: false,
            error: None,
            padding: 0,
            starts,
        })
    }

    pub(super) fn position(&self) -> StreamPosition {
        self.position
    }

    /// True once all bytes were returned.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Returns the next byte without consuming it, or `None` at the end.
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.input.fill_buf() {
                Ok(bytes) => return Ok(bytes.first().copied()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads the rest of the current member, or the next one from its start. Returns 0 at the end of
    /// the member or of the input.
    pub(super) fn read_member(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.error.take() {
            self.over = true;
            return Err(error);
        }
        if self.over || out.is_empty() {
            return Ok(0);
        }
        let result = self.read_on(out);
        self.over |= result.is_err();
        result
    }

    fn read_on(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.position == StreamPosition::Start && self.take_dictionary()? {
            // The dictionary may be followed by no frame at all.
            self.position = StreamPosition::Between;
        }
        if self.position != StreamPosition::Member {
            if self.position == StreamPosition::Between && !self.has_more()? {
                self.over = true;
                return Ok(0);
            }
            self.begin()?;
            self.position = StreamPosition::Member;
        }
        loop {
            let input = match self.input.fill_buf() {
                Ok(input) => input,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let at_end = input.is_empty();
            let DecodeStep { taken, given, result } = self.decoder.step(input, out);
            self.input.consume(taken);
            let end = match result {
                Ok(Progress::More) if taken + given > 0 => None,
                Ok(Progress::More) if at_end => Some(truncated()),
                // A step that moves nothing although there is input would be repeated for ever.
                Ok(Progress::More) => Some(damaged("invalid data")),
                Ok(Progress::End) => match self.finish() {
                    Ok(()) => {
                        self.position = StreamPosition::Between;
                        return Ok(given);
                    }
                    Err(error) => Some(error),
                },
                Err(wrong) => Some(wrong.into()),
            };
            match end {
                Some(error) if given == 0 => return Err(error),
                Some(error) => {
                    self.error = Some(error);
                    return Ok(given);
                }
                None if given > 0 => return Ok(given),
                None => {}
            }
        }
    }

    /// True if another member follows. Zeros after the last member are padding, which gzip accepts
    /// because tapes and block devices add it; other bytes are an error.
    fn has_more(&mut self) -> io::Result<bool> {
        let before = self.padding;
        while self.peek()? == Some(0) {
            let bytes = self.input.fill_buf()?;
            let zeros = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
            self.input.consume(zeros);
            self.padding += zeros as u64;
        }
        let padding = self.padding - before;
        match self.peek()? {
            None => {
                // Four zeros at a time belong to the format ("The .xz File Format" 2.2).
                if self.compression == Compression::Xz && self.padding.is_multiple_of(4) {
                    self.padding = 0;
                }
                Ok(false)
            }
            // xz alone has padding between its streams. In the other formats zeros are padding only
            // at the end.
            Some(byte) => {
                let padded = padding > 0
                    && (self.compression != Compression::Xz || !padding.is_multiple_of(4));
                if padded || !self.compression.begins_with(byte) {
                    let (compression, part) = (self.compression, self.compression.part());
                    let words = format!("what follows the last {compression} {part} is none");
                    return Err(damaged(words));
                }
                self.padding = before;
                Ok(true)
            }
        }
    }

    /// Reads the dictionary at the start of the input, if any.
    fn take_dictionary(&mut self) -> io::Result<bool> {
        if self.compression != Compression::Zstd {
            return Ok(false);
        }
        let Some(dictionary) = dictionary(&mut self.input)? else { return Ok(false) };
        // For a damaged dictionary the library reports a lack of memory, so its error is replaced.
        self.decoder = Decoder::new(self.compression, &dictionary, self.limits)
            .map_err(|_| damaged("its dictionary is damaged"))?;
        Ok(true)
    }

    /// Reads the header of a member.
    fn begin(&mut self) -> io::Result<()> {
        // Only a decoder that has ended a member needs it, and for bzip2 and xz a reset is a new
        // decoder.
        if self.position == StreamPosition::Between {
            self.decoder.reset()?;
        }
        match self.compression {
            Compression::Gzip => gzip_header(&mut self.input),
            _ => Ok(()),
        }
    }

    /// Reads and verifies the trailer of a gzip member. The other libraries verify their own.
    fn finish(&mut self) -> io::Result<()> {
        let Decoder::Gzip { inflate, crc } = &self.decoder else { return Ok(()) };
        let mut trailer = [0; 8];
        self.input.read_exact(&mut trailer).map_err(or_truncated)?;
        let [a, b, c, d, e, f, g, h] = trailer;
        if u32::from_le_bytes([a, b, c, d]) != crc.clone().finalize() {
            return Err(damaged("the checksum does not match"));
        }
        // RFC 1952 2.3.1: "the size of the original (uncompressed) input data modulo 2^32".
        if u32::from_le_bytes([e, f, g, h]) != inflate.total_out() as u32 {
            return Err(damaged("the length does not match"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for StreamDecoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.position != StreamPosition::Member {
                self.starts.begin(0);
            }
            let read = self.read_member(out)?;
            self.starts.give(read);
            if read > 0 || self.over || out.is_empty() {
                return Ok(read);
            }
        }
    }
}

impl<R: BufRead> ByteSource for StreamDecoder<R> {
    fn taken(&self) -> u64 {
        self.input.taken()
    }

    fn compression(&self) -> Option<Compression> {
        Some(self.compression)
    }

    fn padding(&self) -> u64 {
        self.padding
    }

    fn starts(&mut self) -> Option<&mut MemberStarts> {
        Some(&mut self.starts)
    }
}

/// Reads past the header of a gzip member (RFC 1952 2.3).
fn gzip_header(input: &mut impl BufRead) -> io::Result<()> {
    const FHCRC: u8 = 1 << 1;
    const FEXTRA: u8 = 1 << 2;
    const FNAME: u8 = 1 << 3;
    const FCOMMENT: u8 = 1 << 4;
    const RESERVED: u8 = 0xE0;
    let mut input = Checked { input, crc: Crc::new() };
    let fixed: [u8; 10] = input.array()?;
    let flags = fixed[3];
    if fixed[..2] != [0x1F, 0x8B] {
        return Err(damaged("what follows the last gzip member is none"));
    }
    if fixed[2] != 8 || flags & RESERVED != 0 {
        return Err(damaged("the header is of an unknown kind"));
    }
    if flags & FEXTRA != 0 {
        let length = u16::from_le_bytes(input.array()?);
        for _ in 0..length {
            // One byte at a time through `array`, because the header's checksum covers the extra
            // field as well.
            input.array::<1>()?;
        }
    }
    for flag in [FNAME, FCOMMENT] {
        while flags & flag != 0 && input.array()? != [0] {}
    }
    if flags & FHCRC != 0 {
        // Taken before the two bytes of the checksum are read, which it does not cover.
        let crc = input.crc.clone().finalize() as u16;
        if u16::from_le_bytes(input.array()?) != crc {
            return Err(damaged("the checksum of the header does not match"));
        }
    }
    Ok(())
}

/// Reads bytes and updates a checksum over them.
struct Checked<'a, R> {
    input: &'a mut R,
    crc: Crc,
}

impl<R: BufRead> Checked<'_, R> {
    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes).map_err(or_truncated)?;
        self.crc.update(&bytes);
        Ok(bytes)
    }
}

/// Reads the dictionary at the start of a zstd input, if any. The first frame is then skippable, with
/// the magic number 0x184D2A5D, and holds the dictionary plain or as a zstd frame (IIPC, "Use of
/// Zstandard in WARC files").
pub(super) fn dictionary(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    const FRAME: [u8; 4] = [0x5D, 0x2A, 0x4D, 0x18];
    // The first byte decides whether to consume the frame: no other format starts with it.
    if input.fill_buf()?.first() != Some(&FRAME[0]) {
        return Ok(None);
    }
    let mut header = [0; 8];
    input.read_exact(&mut header).map_err(or_truncated)?;
    let [a, b, c, d, length @ ..] = header;
    if [a, b, c, d] != FRAME {
        return Err(damaged("the first frame is none"));
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > DICTIONARY {
        return Err(too_long());
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes).map_err(or_truncated)?;
    if !bytes.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
        return Ok(Some(bytes));
    }
    let packed = Counted::new(bytes.as_slice());
    let mut decoder = StreamDecoder::with_dictionary(
        packed,
        Compression::Zstd,
        Limits::MOST,
        &[],
        // `Between`, or the decoder would look for a dictionary inside of the dictionary.
        StreamPosition::Between,
    )?;
    let mut dictionary = Vec::new();
    // One byte more than allowed shows a longer one.
    let limit = DICTIONARY as u64 + 1;
    (&mut decoder).take(limit).read_to_end(&mut dictionary)?;
    if dictionary.len() > DICTIONARY { Err(too_long()) } else { Ok(Some(dictionary)) }
}

fn too_long() -> io::Error {
    DecodeError::Limit(format!("its dictionary is beyond the limit of {} MiB", DICTIONARY >> 20))
        .into()
}

fn truncated() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}

fn or_truncated(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::UnexpectedEof { truncated() } else { error }
}

fn damaged(words: impl Into<String>) -> io::Error {
    DecodeError::Damaged(words.into()).into()
}
