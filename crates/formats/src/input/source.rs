//! Opens pipes and files as sources of bytes, decompressed if necessary.

use std::fmt;
use std::fs::File;
use std::io::{self, Chain, Cursor, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use super::byte_source::{ByteSource, Counted, Plain};
use super::compression::{Compression, HEAD};
use super::decoder::Limits;
use super::error::{InputError, Packed, Trouble};
use super::opened::{self, Input, OpenFile, standard_input, stdin};
use super::parallel_decode::ParallelDecoder;
use super::range::has_grown;
use super::read_ahead::{ReadAhead, StreamShare};
use super::stream_decode::StreamDecoder;
use crate::input::pipe::{self, BlockingReader};

/// The origin of a stream.
pub enum StreamSource {
    /// A pipe, a device, or standard input.
    Pipe(Box<dyn Pipe>),
    /// The same, opened by the thread that reads it: opening a named pipe waits for its writer.
    Unopened(Input),
    /// A regular file.
    File(Arc<OpenFile>),
}

impl fmt::Debug for StreamSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamSource::Pipe(_) => f.write_str("Pipe(..)"),
            StreamSource::Unopened(input) => f.debug_tuple("Unopened").field(input).finish(),
            StreamSource::File(file) => f.debug_tuple("File").field(file).finish(),
        }
    }
}

/// A reader that is read sequentially and may be slow.
pub trait Pipe: Read + Send {
    /// True if no data arrives for this long. `false` if that is unknown.
    fn waits(&self, _patience: Duration) -> bool {
        false
    }

    /// Tells whether the input has grown beyond its end.
    fn growth(&self) -> Growth {
        Growth::Unknown
    }
}

/// Tells whether an input has grown beyond its end, so that its last line may have been cut there.
#[derive(Debug, Clone)]
pub enum Growth {
    /// Nothing tells.
    Unknown,
    /// A file that was checked.
    File(Arc<OpenFile>),
    /// A file as standard input, and its size when it was checked.
    Redirected(Arc<File>, u64),
}

impl Growth {
    pub(super) fn has_grown(&self) -> bool {
        match self {
            Growth::Unknown => false,
            // All bytes were read by then, so a failure to ask for growth is no error of the input.
            Growth::File(file) => has_grown(file).unwrap_or(false),
            Growth::Redirected(file, size) => file.metadata().is_ok_and(|now| now.len() > *size),
        }
    }
}

impl Pipe for BlockingReader {
    fn waits(&self, patience: Duration) -> bool {
        let patience = patience.try_into().ok();
        // A read returns at once at the end of input and on errors too, so neither counts as waiting.
        matches!(poll(&mut [PollFd::new(&self.0, PollFlags::IN)], patience.as_ref()), Ok(0))
    }
}

/// A regular file as standard input, from its current position to its size when it was checked.
struct Redirected {
    file: Arc<File>,
    size: u64,
    left: u64,
}

impl Read for Redirected {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = out.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = (&*self.file).read(&mut out[..length])?;
        if read == 0 && length > 0 {
            // Fewer bytes than the size at opening: the file shrank, and `trouble` reads this kind
            // as that.
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read as u64;
        Ok(read)
    }
}

impl Pipe for Redirected {
    fn growth(&self) -> Growth {
        Growth::Redirected(Arc::clone(&self.file), self.size)
    }
}

/// Detects the compression of a file.
pub fn compression_of(file: &OpenFile) -> io::Result<Option<Compression>> {
    let mut head = [0; HEAD];
    let mut reader = Plain::new(file, 0);
    let length = read_full(&mut reader, &mut head)?;
    Ok(Compression::of(&head[..length]))
}

/// Fills `out`, or as much of it as the source can.
fn read_full(source: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < out.len() {
        match source.read(&mut out[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Opens the source of an origin. For a pipe, waits until its first bytes decide the compression. A
/// compressed file is decoded on the threads of its share if its format allows it.
pub(super) fn open(
    origin: StreamSource,
    share: &Arc<StreamShare>,
    limits: Limits,
) -> io::Result<(Box<dyn ByteSource>, Growth)> {
    match origin {
        StreamSource::File(file) => {
            let growth = Growth::File(Arc::clone(&file));
            let source = match compression_of(&file)? {
                None => Box::new(Plain::new(file, 0)),
                Some(compression) => ParallelDecoder::open(file, compression, share, limits)?,
            };
            Ok((source, growth))
        }
        StreamSource::Unopened(input) => open(StreamSource::Pipe(input.pipe()?), share, limits),
        StreamSource::Pipe(mut pipe) => {
            let mut head = Vec::new();
            // Byte by byte: a pipe that stands still after `B` holds a line that someone may wait
            // for. For nearly every list the first byte decides.
            while Compression::could_be(&head) {
                let mut byte = [0];
                if read_full(&mut pipe, &mut byte)? == 0 {
                    break;
                }
                head.push(byte[0]);
            }
            let (compression, growth) = (Compression::of(&head), pipe.growth());
            let whole = Cursor::new(head).chain(pipe);
            let source: Box<dyn ByteSource> = match compression {
                None => Box::new(Counted::new(whole)),
                Some(compression) => {
                    Box::new(StreamDecoder::new(Counted::buffered(whole), compression, limits)?)
                }
            };
            Ok((source, growth))
        }
    }
}

/// Converts an error of a source into the trouble to report for its input.
pub(super) fn trouble(error: io::Error, source: &dyn ByteSource) -> Trouble {
    match source.compression() {
        // Only errors of the operating system carry an error number; the others come from decoding.
        Some(compression) if error.raw_os_error().is_none() => {
            let packed = Packed { compression, at: source.taken() };
            match error.kind() {
                io::ErrorKind::UnexpectedEof => Trouble::Truncated(packed),
                io::ErrorKind::QuotaExceeded => Trouble::Limit(packed, error.to_string()),
                _ => Trouble::Damaged(packed, error.to_string()),
            }
        }
        None if error.kind() == io::ErrorKind::UnexpectedEof => Trouble::Shrank,
        _ => Trouble::Io(error),
    }
}

/// A sequential reader of an input, decompressed if necessary.
pub struct Unpacked(Box<dyn ByteSource>, Growth);

impl Unpacked {
    /// True if the input has grown beyond its end, so that its last line may have been cut there.
    pub fn grew(&self) -> bool {
        self.1.has_grown()
    }

    /// Converts a read error into the trouble to report for the input.
    pub fn trouble(&self, error: io::Error) -> Trouble {
        trouble(error, &*self.0)
    }
}

impl Read for Unpacked {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
    }
}

impl fmt::Debug for Unpacked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unpacked(..)")
    }
}

/// Wraps a pipe in a decompressing reader, for lists of names. Uncompressed lists pass through.
pub fn unpacked(pipe: Box<dyn Pipe>) -> io::Result<Unpacked> {
    let (source, growth) = open(StreamSource::Pipe(pipe), &alone(), Limits::MOST)?;
    Ok(Unpacked(source, growth))
}

/// Opens a path for sequential reading; `-` is standard input.
pub fn pipe(path: &Path) -> io::Result<Box<dyn Pipe>> {
    let file = match path == Path::new("-") {
        true => match standard_input()? {
            opened::Source::Redirected { size } => return redirected(size),
            _ => stdin()?,
        },
        false => File::open(path)?,
    };
    pipe::set_pipe_size(&file);
    Ok(Box::new(BlockingReader(file)))
}

impl Input {
    /// Opens a stream.
    pub fn open_stream(&self) -> Result<Box<dyn Pipe>, InputError> {
        self.pipe().map_err(|error| InputError::new(&self.path, None, Trouble::Io(error)))
    }

    /// The same, without the name in the error.
    fn pipe(&self) -> io::Result<Box<dyn Pipe>> {
        match self.source {
            opened::Source::Redirected { size } => redirected(size),
            _ => pipe(&self.path),
        }
    }
}

/// Standard input redirected from a file of this `size`. Reading starts at the current position: at the
/// end, if the file was read as an input before.
fn redirected(size: u64) -> io::Result<Box<dyn Pipe>> {
    let mut file = stdin()?;
    let left = size.saturating_sub(file.stream_position()?);
    Ok(Box::new(Redirected { file: file.into(), size, left }))
}

/// Like `unpacked`, but for a regular file, up to its size when it was checked.
pub fn unpacked_file(file: Arc<OpenFile>) -> io::Result<Unpacked> {
    let (source, growth) = open(StreamSource::File(file), &alone(), Limits::MOST)?;
    Ok(Unpacked(source, growth))
}

/// The share of a stream that its only thread reads.
fn alone() -> Arc<StreamShare> {
    ReadAhead::new(0, 1).share(0)
}

/// A pipe whose first bytes were read for detection and are chained in front.
impl ByteSource for Counted<Chain<Cursor<Vec<u8>>, Box<dyn Pipe>>> {
    fn taken(&self) -> u64 {
        Counted::taken(self)
    }

    fn waits(&self, patience: Duration) -> bool {
        let (head, pipe) = self.inner().get_ref();
        // While a byte of the head is left, the next read returns at once.
        head.position() == head.get_ref().len() as u64 && pipe.waits(patience)
    }
}
