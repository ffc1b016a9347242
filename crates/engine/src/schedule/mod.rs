//! Which chunk comes next: the inputs in order, each from front to back.
//!
//! Most formats read a chunk without knowing any other, so the ranges of a file go to the workers
//! unread. Where a header says what the records behind it mean, or records span lines, the chunks are
//! brought here first, one behind the other: each is looked at for what ends in it, and goes to a
//! worker with the format as it stands at its start. Small files are brought here too, and closed.

mod reading;
#[cfg(feature = "tables")]
mod rows;
mod stream;

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use super::batches::CHUNKS;
use super::job::{Format, Setup};
use super::memory::Memory;
use super::report::Watch;
use reading::Reading;
use uniqurl_formats::input::{
    self, Chunk, Compression, CutLine, Data, Input, InputError, OpenFile, Packed, StreamEvent,
    StreamSource, Trouble,
};
use uniqurl_formats::record::{self, Context, Framing, Kinds};
#[cfg(feature = "tables")]
use uniqurl_formats::table;

/// A file of one chunk that is no longer is read when it is opened: thousands of them would otherwise
/// be open at once, and all that the threads have to read of them is in a cache.
pub const SMALL: u64 = record::HEAD as u64;

/// The next thing to do.
pub(super) enum Next {
    /// A chunk to read.
    Task(Task),
    /// A slow stream has nothing yet.
    Wait,
    /// The guessed format of an input.
    Guessed(usize, Arc<record::Format>),
    /// An input is read to its end.
    End(usize, End),
    /// An input cannot be read, or not on.
    Trouble(usize, InputError),
    /// There are no more inputs.
    Done,
}

/// The end of an input.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    /// How many bytes it had.
    pub(super) bytes: u64,
    /// How many of them were zeros behind what was compressed.
    pub(super) padding: u64,
}

/// A chunk to read.
pub(super) struct Task {
    pub(super) input: usize,
    pub(super) format: Arc<record::Format>,
    pub(super) bytes: Bytes,
}

/// Where its bytes are.
pub(super) enum Bytes {
    /// In a file. The last range of a file says so.
    Range { file: Arc<OpenFile>, range: Range<u64>, last: bool },
    /// Here. Perhaps a last line was left out of them, and so many bytes of the input were read for
    /// them.
    Chunk { chunk: Chunk, cut: Option<CutLine>, read: u64 },
}

impl Bytes {
    /// How many, but for the end of the last record.
    pub(super) fn len(&self) -> usize {
        match self {
            Bytes::Range { range, .. } => (range.end - range.start) as usize,
            Bytes::Chunk { chunk, .. } => chunk.size(),
        }
    }

    /// How many bytes of the input that takes.
    pub(super) fn read(&self) -> u64 {
        match self {
            Bytes::Range { range, .. } => range.end - range.start,
            Bytes::Chunk { read, .. } => *read,
        }
    }
}

pub(super) struct Schedule<'a> {
    inputs: &'a [Input],
    format: &'a Format,
    context: Context,
    /// Bytes of a chunk, but for the end of its last record.
    chunk_size: usize,
    /// Chunks that a stream may be ahead.
    ahead: usize,
    threads: usize,
    kinds: Kinds,
    /// Whether a scheme is assumed where there is none.
    assumes_scheme: bool,
    /// Columns that are taken out of the records.
    taken_out: &'a [String],
    /// Bytes of memory that the run may take.
    #[cfg_attr(not(feature = "tables"), allow(dead_code, reason = "only tables ask"))]
    memory: usize,
    /// Whether rows of a table that are alike may come as one.
    #[cfg_attr(not(feature = "tables"), allow(dead_code, reason = "only tables ask"))]
    once: bool,
    watch: &'a Watch,
    next: usize,
    current: Option<Current>,
    /// Where the current stream ended, when its last records have been handed out.
    ended: Option<End>,
}

/// The input that is being read.
enum Current {
    File {
        file: Arc<OpenFile>,
        reading: Reading,
        at: u64,
    },
    /// A pipe, or a file that has to be read in order.
    Stream {
        pieces: Receiver<StreamEvent>,
        reading: Option<Reading>,
        file: Option<Arc<OpenFile>>,
    },
    /// The rows of a table.
    #[cfg(feature = "tables")]
    Table {
        rows: Box<table::TableReader>,
        format: Arc<record::Format>,
    },
}

impl<'a> Schedule<'a> {
    /// `taken_out` are the columns that are taken out of the records.
    pub(super) fn new(
        setup: &'a Setup<'a>,
        inputs: &'a [Input],
        context: Context,
        taken_out: &'a [String],
    ) -> Self {
        Self {
            inputs,
            format: &setup.format,
            context,
            chunk_size: setup.chunk_size,
            ahead: setup.threads * CHUNKS,
            threads: setup.threads,
            kinds: setup.kinds,
            assumes_scheme: setup.normalizer.assumed_scheme().is_some(),
            taken_out,
            memory: setup.memory.as_ref().map_or(usize::MAX, Memory::size),
            once: false,
            watch: setup.watch,
            next: 0,
            current: None,
            ended: None,
        }
    }

    /// Says that nobody looks at each record: rows of a table that are alike may come as one.
    pub(super) fn take_rows_once(&mut self) {
        self.once = true;
    }

    /// Number of inputs that were read or begun.
    pub(super) fn reached(&self) -> usize {
        self.next
    }

    /// Reads nothing behind `input`, and no more of it.
    pub(super) fn end_behind(&mut self, input: usize) {
        self.next = self.next.min(input + 1);
        (self.current, self.ended) = (None, None);
    }

    /// Reads no more of `input`.
    pub(super) fn give_up(&mut self, input: usize) {
        if self.next == input + 1 {
            self.current = None;
        }
    }

    /// The next thing to do. Waits for a slow stream only if `idle`: nothing else is left to do.
    pub(super) fn next(&mut self, idle: bool) -> Next {
        loop {
            let index = self.next.wrapping_sub(1);
            if let Some(end) = self.ended.take() {
                return Next::End(index, end);
            }
            let next = match self.current.take() {
                None if self.next == self.inputs.len() => Some(Next::Done),
                None => {
                    self.next += 1;
                    self.open(self.next - 1)
                }
                Some(Current::File { file, reading, at }) => {
                    self.next_range(index, file, reading, at)
                }
                Some(Current::Stream { pieces, reading, file }) => {
                    self.next_piece(index, pieces, reading, file, idle)
                }
                #[cfg(feature = "tables")]
                Some(Current::Table { rows, format }) => self.next_rows(index, rows, format, idle),
            };
            if let Some(next) = next {
                return next;
            }
        }
    }

    fn open(&mut self, index: usize) -> Option<Next> {
        self.try_open(index).unwrap_or_else(|error| Some(Next::Trouble(index, error)))
    }

    fn try_open(&mut self, index: usize) -> Result<Option<Next>, InputError> {
        let input = &self.inputs[index];
        let known = self.known_format();
        let Some(file) = OpenFile::open(input)? else {
            #[cfg(feature = "tables")]
            if let Format::Fixed(format) = self.format
                && matches!(**format, record::Format::Table(_))
            {
                let trouble = Trouble::Refused(record::Refusal::Table);
                return Err(InputError::new(&input.path, None, trouble));
            }
            let pipe = StreamSource::Pipe(input.open_stream()?);
            self.begin_stream(index, pipe, None, None)?;
            return Ok(None);
        };
        let file = Arc::new(file);
        let packing = input::compression_of(&file)
            .map_err(|error| InputError::new(&input.path, Some(0), Trouble::Io(error)))?;
        #[cfg(feature = "tables")]
        if let Some(next) = self.try_table(index, &file, packing)? {
            return Ok(next);
        }
        if packing.is_some() {
            let source = StreamSource::File(Arc::clone(&file));
            self.begin_stream(index, source, None, Some(file))?;
            return Ok(None);
        }
        if let (0, Some(packing)) = (file.size(), Compression::meant_by(&input.path)) {
            let trouble = Trouble::Truncated(Packed { compression: packing, at: 0 });
            return Err(InputError::new(&input.path, Some(0), trouble));
        }
        if file.size() == 0 && matches!(self.format, Format::Auto) {
            // It says nothing of its format, so nothing can be missing in it either.
            return Ok(Some(Next::End(index, End { bytes: 0, padding: 0 })));
        }
        let (format, next) = match known {
            Some(format) => (self.taking_out(index, &format)?, None),
            None => {
                let mut block = input::RangeBuffer::default();
                let head = 0..file.size().min(record::HEAD as u64);
                let Context { max_record, separator, .. } = self.context;
                input::read_range(&file, head, max_record, separator.byte(), &mut block)?;
                self.find_format(index, block.bytes())?
            }
        };
        if format.framing() == Framing::Lines {
            let reading = Reading::new(format);
            self.current = Some(Current::File { file, reading, at: 0 });
        } else {
            let source = StreamSource::File(Arc::clone(&file));
            self.begin_stream(index, source, Some(format), Some(file))?;
        }
        Ok(next)
    }

    /// Bytes of memory of what was read ahead.
    pub(super) fn memory(&self) -> usize {
        match &self.current {
            #[cfg(feature = "tables")]
            Some(Current::Table { rows, .. }) => rows.memory(),
            _ => 0,
        }
    }

    /// The format, if nothing in an input can change what it is.
    fn known_format(&self) -> Option<Arc<record::Format>> {
        match self.format {
            Format::Fixed(format) if !format.may_refuse() => Some(Arc::clone(format)),
            Format::Auto | Format::Fixed(_) => None,
        }
    }

    /// The format, where the columns that are taken out of records can be told by it.
    fn taking_out(
        &self,
        index: usize,
        format: &Arc<record::Format>,
    ) -> Result<Arc<record::Format>, InputError> {
        if self.taken_out.is_empty() {
            return Ok(Arc::clone(format));
        }
        let path = &self.inputs[index].path;
        match record::carrying(format, self.taken_out) {
            Ok(format) => Ok(Arc::new(format)),
            Err(why) => Err(InputError::new(path, None, Trouble::Columns(why))),
        }
    }

    /// The format of an input that begins with `head`, and word of it where it was guessed.
    fn find_format(
        &self,
        index: usize,
        head: &[u8],
    ) -> Result<(Arc<record::Format>, Option<Next>), InputError> {
        let path = &self.inputs[index].path;
        let why = match self.format {
            Format::Auto => record::refusal_of_auto(head),
            Format::Fixed(_) => record::refusal(head),
        };
        if let Some(why) = why {
            return Err(InputError::new(path, None, Trouble::Refused(why)));
        }
        if let Format::Fixed(format) = self.format {
            return Ok((self.taking_out(index, format)?, None));
        }
        let format = self.as_asked(record::detect(&path.to_string_lossy(), head));
        let format = self.taking_out(index, &Arc::new(format))?;
        Ok((Arc::clone(&format), Some(Next::Guessed(index, format))))
    }

    /// A format that was guessed, as the options have it.
    fn as_asked(&self, format: record::Format) -> record::Format {
        match format {
            // No scheme is assumed of targets of requests, so these are none: `//host/path`.
            record::Format::Target if self.assumes_scheme => record::Format::Lines,
            format => format.with_kinds(self.kinds),
        }
    }

    fn next_range(
        &mut self,
        index: usize,
        file: Arc<OpenFile>,
        mut reading: Reading,
        at: u64,
    ) -> Option<Next> {
        let size = file.size();
        if at == size {
            let rest = match reading.rest(&self.context, self.taken_out) {
                Ok(rest) => rest,
                Err(why) => return Some(self.without_column(index, why)),
            };
            let Some((format, chunk)) = rest else {
                return Some(Next::End(index, End { bytes: size, padding: 0 }));
            };
            self.current = Some(Current::File { file, reading, at });
            return Some(Next::Task(Task { input: index, format, bytes: here(chunk, None, 0) }));
        }
        let end = (at + self.chunk_size as u64).min(size);
        let is_small = at == 0 && end == size && size <= SMALL;
        if !reading.format.looks_back() && !is_small {
            let bytes = Bytes::Range { file: Arc::clone(&file), range: at..end, last: end == size };
            let format = Arc::clone(&reading.format);
            self.current = Some(Current::File { file, reading, at: end });
            return Some(Next::Task(Task { input: index, format, bytes }));
        }
        let mut block = input::RangeBuffer::default();
        let Context { max_record, separator, .. } = self.context;
        let read = input::read_range(&file, at..end, max_record, separator.byte(), &mut block);
        let verified =
            read.and_then(|read| if end == size { file.verify().map(|()| read) } else { Ok(read) });
        let (offset, cut) = match verified {
            Ok(read) => read,
            Err(error) => return Some(Next::Trouble(index, error)),
        };
        let chunk = Chunk { data: Data::Block(block), offset, frames: Vec::new() };
        let advanced = match reading.advance(&self.context, self.taken_out, chunk) {
            Ok(advanced) => advanced,
            Err(why) => return Some(self.without_column(index, why)),
        };
        let (format, chunk) = advanced.unwrap_or_else(|| reading.nothing());
        self.current = Some(Current::File { file, reading, at: end });
        Some(Next::Task(Task { input: index, format, bytes: here(chunk, cut, end - at) }))
    }

    fn without_column(&self, index: usize, why: String) -> Next {
        let path = &self.inputs[index].path;
        Next::Trouble(index, InputError::new(path, None, Trouble::Columns(why)))
    }
}

fn here(chunk: Chunk, cut: Option<CutLine>, read: u64) -> Bytes {
    Bytes::Chunk { chunk, cut, read }
}
