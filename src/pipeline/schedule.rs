//! Which chunk comes next: the inputs in order, each from front to back.
//!
//! Most formats read a chunk without knowing any other, so the ranges of a file go to the workers
//! unread. Where a header says what the records behind it mean, or records span lines, the chunks are
//! brought here first, one behind the other: each is looked at for what ends in it, and goes to a
//! worker with the format as it stands at its start.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use super::batches::CHUNKS;
use super::job::{Format, Setup};
use super::memory::Memory;
use super::report::Watch;
#[cfg(feature = "tables")]
use crate::input::table;
use crate::input::{
    self, Chunk, Cut, Cutting, Data, Input, InputError, OpenFile, Origin, Packed, Packing, Piece,
    Trouble,
};
use crate::record::{self, Context, Framing, Kinds};

/// How much of an input its format is guessed from.
const HEAD: u64 = 64 << 10;

/// How often a wait for a slow stream looks whether the run is to end.
const LOOK: Duration = Duration::from_millis(50);

/// What is said of a table that comes through a pipe, or compressed as a whole.
#[cfg(feature = "tables")]
const NO_PIPE: &str = "a table is read from its end, which a pipe does not show; write it to a file \
                       and name that";
#[cfg(feature = "tables")]
const NO_PACKING: &str =
    "a table is read from its end, which compression hides; unpack the file first";

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
    Chunk { chunk: Chunk, cut: Option<Cut>, read: u64 },
}

impl Bytes {
    /// How many, but for the end of the last record.
    pub(super) fn len(&self) -> usize {
        match self {
            Bytes::Range { range, .. } => (range.end - range.start) as usize,
            Bytes::Chunk { chunk, .. } => chunk.size(),
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
        pieces: Receiver<Piece>,
        reading: Option<Reading>,
        file: Option<Arc<OpenFile>>,
    },
    /// The rows of a table.
    #[cfg(feature = "tables")]
    Table {
        rows: Box<table::Rows>,
        format: Arc<record::Format>,
    },
}

/// The format as it stands at a place of an input, and the start of a record that ends behind it.
struct Reading {
    format: Arc<record::Format>,
    carried: Chunk,
    /// What of the input was read for it.
    read: u64,
}

impl Reading {
    fn new(format: Arc<record::Format>) -> Self {
        Self { format, carried: Chunk::default(), read: 0 }
    }

    /// The whole records up to the end of `chunk`, and the format at their start. None: there is no
    /// end of a record in it. An error is a header without the columns that are named or taken out.
    fn advance(
        &mut self,
        context: &Context,
        taken_out: &[String],
        chunk: Chunk,
    ) -> Result<Option<(Arc<record::Format>, Chunk)>, String> {
        if !self.format.looks_back() {
            return Ok(Some((Arc::clone(&self.format), chunk)));
        }
        let mut chunk = self.carried.take_with(chunk);
        // What a header says does not begin with a mark, whatever the profile thinks of that.
        if chunk.offset == 0 && chunk.bytes().starts_with(b"\xEF\xBB\xBF") {
            chunk.skip(3);
        }
        let whole = self.format.whole(context, chunk.bytes());
        self.carried = chunk.split_off(whole);
        if whole == 0 {
            return Ok(None);
        }
        Ok(Some((self.pass(context, taken_out, &chunk)?, chunk)))
    }

    /// What is carried when the input is at its end.
    fn rest(
        &mut self,
        context: &Context,
        taken_out: &[String],
    ) -> Result<Option<(Arc<record::Format>, Chunk)>, String> {
        let rest = std::mem::take(&mut self.carried);
        if rest.bytes().is_empty() {
            return Ok(None);
        }
        Ok(Some((self.pass(context, taken_out, &rest)?, rest)))
    }

    /// The format at the start of a chunk, which is put behind it.
    fn pass(
        &mut self,
        context: &Context,
        taken_out: &[String],
        chunk: &Chunk,
    ) -> Result<Arc<record::Format>, String> {
        let at_start = Arc::clone(&self.format);
        if let Some(why) = record::missing(&at_start, context, chunk.bytes(), taken_out) {
            return Err(why);
        }
        if let Some(behind) = at_start.after(context, chunk.bytes()) {
            self.format = Arc::new(behind);
        }
        Ok(at_start)
    }
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
            chunk_size: setup.chunk_size.max(1),
            ahead: setup.threads * CHUNKS,
            threads: setup.threads,
            kinds: setup.kinds,
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

    /// Begins behind the first `inputs`.
    pub(super) fn pass_over(&mut self, inputs: usize) {
        self.next = inputs;
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
                return Err(InputError::new(&input.path, None, Trouble::Refused(NO_PIPE)));
            }
            let pipe = Origin::Pipe(Box::new(input.open_stream()?));
            self.begin_stream(index, pipe, None, None)?;
            return Ok(None);
        };
        let file = Arc::new(file);
        let packing = input::packing_of(&file)
            .map_err(|error| InputError::new(&input.path, Some(0), Trouble::Io(error)))?;
        #[cfg(feature = "tables")]
        if let Some(next) = self.try_table(index, &file, packing)? {
            return Ok(next);
        }
        if packing.is_some() {
            let source = Origin::File(Arc::clone(&file));
            self.begin_stream(index, source, None, Some(file))?;
            return Ok(None);
        }
        if let (0, Some(packing)) = (file.size(), Packing::meant_by(&input.path)) {
            let trouble = Trouble::Truncated(Packed { packing, at: 0 });
            return Err(InputError::new(&input.path, Some(0), trouble));
        }
        let (format, next) = match known {
            Some(format) => (self.taking_out(index, &format)?, None),
            None => {
                let mut block = input::Block::default();
                let head = 0..file.size().min(HEAD);
                let Context { max_record, separator, .. } = self.context;
                input::read_range(&file, head, max_record, separator.byte(), &mut block)?;
                self.find_format(index, block.bytes())?
            }
        };
        if format.framing() == Framing::Lines {
            let reading = Reading::new(format);
            self.current = Some(Current::File { file, reading, at: 0 });
        } else {
            let source = Origin::File(Arc::clone(&file));
            self.begin_stream(index, source, Some(format), Some(file))?;
        }
        Ok(next)
    }

    /// Begins to read a table, if the file is one or is to be one. Inside: word of its format.
    #[cfg(feature = "tables")]
    fn try_table(
        &mut self,
        index: usize,
        file: &Arc<OpenFile>,
        packing: Option<Packing>,
    ) -> Result<Option<Option<Next>>, InputError> {
        let wanted = match self.format {
            Format::Fixed(format) => match &*self.taking_out(index, format)? {
                record::Format::Table(table) => table.clone(),
                _ => return Ok(None),
            },
            Format::Auto => match table::container_of(file)? {
                Some(container) => record::Table::any(container).carrying(self.taken_out),
                None => return Ok(None),
            },
        };
        if packing.is_some() {
            let trouble = Trouble::Refused(NO_PACKING);
            return Err(InputError::new(&self.inputs[index].path, None, trouble));
        }
        let reading = table::Reading {
            chunk_size: self.chunk_size,
            max_record: self.context.max_record,
            threads: self.threads,
            memory: self.memory,
            once: self.once,
        };
        let (rows, table) = table::Rows::open(Arc::clone(file), &wanted, reading)?;
        let format = Arc::new(record::Format::Table(table));
        let guessed =
            matches!(self.format, Format::Auto).then(|| Next::Guessed(index, Arc::clone(&format)));
        self.current = Some(Current::Table { rows: Box::new(rows), format });
        Ok(Some(guessed))
    }

    #[cfg(feature = "tables")]
    fn next_rows(
        &mut self,
        index: usize,
        mut rows: Box<table::Rows>,
        format: Arc<record::Format>,
        idle: bool,
    ) -> Option<Next> {
        let next = match rows.next(idle) {
            table::Next::Chunk(chunk, read) => {
                let bytes = Bytes::Chunk { chunk, cut: None, read };
                Next::Task(Task { input: index, format: Arc::clone(&format), bytes })
            }
            table::Next::Wait => Next::Wait,
            table::Next::Error(error) => return Some(Next::Trouble(index, error)),
            table::Next::End => {
                return Some(match rows.end() {
                    Ok(bytes) => Next::End(index, End { bytes, padding: 0 }),
                    Err(error) => Next::Trouble(index, error),
                });
            }
        };
        self.current = Some(Current::Table { rows, format });
        Some(next)
    }

    /// Bytes of memory of what was read ahead.
    pub(super) fn memory(&self) -> usize {
        match &self.current {
            #[cfg(feature = "tables")]
            Some(Current::Table { rows, .. }) => rows.memory(),
            _ => 0,
        }
    }

    /// Begins to read an input in order. `found` is its format, if it was found already.
    fn begin_stream(
        &mut self,
        index: usize,
        source: Origin,
        found: Option<Arc<record::Format>>,
        file: Option<Arc<OpenFile>>,
    ) -> Result<(), InputError> {
        let path = &self.inputs[index].path;
        let format = match (found, self.format) {
            (Some(found), _) => Some(found),
            (None, Format::Auto) => None,
            (None, Format::Fixed(format)) => Some(self.taking_out(index, format)?),
        };
        let cutting = Cutting {
            format: format.clone(),
            name: path.to_string_lossy().into_owned(),
            chunk_size: self.chunk_size,
            max_record: self.context.max_record,
            separator: self.context.separator.byte(),
            ahead: self.ahead,
            threads: self.threads,
            limits: input::Limits::within(self.memory, self.threads),
        };
        let pieces = input::stream(source, cutting)
            .map_err(|error| InputError::new(path, None, Trouble::Io(error)))?;
        self.current = Some(Current::Stream { pieces, reading: format.map(Reading::new), file });
        Ok(())
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
        if let Some(why) = record::refusal(head) {
            return Err(InputError::new(path, None, Trouble::Refused(why)));
        }
        if let Format::Fixed(format) = self.format {
            return Ok((self.taking_out(index, format)?, None));
        }
        let format = record::detect(&path.to_string_lossy(), head).with_kinds(self.kinds);
        let format = self.taking_out(index, &Arc::new(format))?;
        Ok((Arc::clone(&format), Some(Next::Guessed(index, format))))
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
            return Some(Next::Task(Task { input: index, format, bytes: here(chunk, None) }));
        }
        let end = (at + self.chunk_size as u64).min(size);
        if !reading.format.looks_back() {
            let bytes = Bytes::Range { file: Arc::clone(&file), range: at..end, last: end == size };
            let format = Arc::clone(&reading.format);
            self.current = Some(Current::File { file, reading, at: end });
            return Some(Next::Task(Task { input: index, format, bytes }));
        }
        let mut block = input::Block::default();
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
        let format = Arc::clone(&reading.format);
        self.current = Some(Current::File { file, reading, at: end });
        let (format, chunk) = match (advanced, cut) {
            (Some(advanced), _) => advanced,
            (None, Some(_)) => (format, Chunk::default()),
            (None, None) => return None,
        };
        Some(Next::Task(Task { input: index, format, bytes: here(chunk, cut) }))
    }

    /// What a stream says next, unless the run is to end before.
    fn wait_for(&self, pieces: &Receiver<Piece>) -> Result<Piece, TryRecvError> {
        loop {
            match pieces.recv_timeout(LOOK) {
                Ok(piece) => return Ok(piece),
                Err(RecvTimeoutError::Disconnected) => return Err(TryRecvError::Disconnected),
                Err(RecvTimeoutError::Timeout) if self.watch.is_stopped() => {
                    return Err(TryRecvError::Empty);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn without_column(&self, index: usize, why: String) -> Next {
        let path = &self.inputs[index].path;
        Next::Trouble(index, InputError::new(path, None, Trouble::Columns(why)))
    }

    fn next_piece(
        &mut self,
        index: usize,
        pieces: Receiver<Piece>,
        mut reading: Option<Reading>,
        file: Option<Arc<OpenFile>>,
        idle: bool,
    ) -> Option<Next> {
        let piece = match idle {
            true => self.wait_for(&pieces),
            false => pieces.try_recv(),
        };
        let path = &self.inputs[index].path;
        // What looks like damage may be a change of the file.
        let changed = || file.as_ref().and_then(|file| file.verify().err());
        let next = match (piece, &mut reading) {
            (Ok(Piece::Chunk(chunk, read)), Some(reading)) => {
                reading.read += read;
                let advanced = match reading.advance(&self.context, self.taken_out, chunk) {
                    Ok(advanced) => advanced,
                    Err(why) => return Some(self.without_column(index, why)),
                };
                advanced.map(|(format, chunk)| {
                    let read = std::mem::take(&mut reading.read);
                    let bytes = Bytes::Chunk { chunk, cut: None, read };
                    Next::Task(Task { input: index, format, bytes })
                })
            }
            (Ok(Piece::Guess(format)), _) => {
                let format = Arc::new(format.as_ref().clone().with_kinds(self.kinds));
                if let Err(error) = self.taking_out(index, &format) {
                    return Some(Next::Trouble(index, error));
                }
                reading = Some(Reading::new(Arc::clone(&format)));
                Some(Next::Guessed(index, format))
            }
            (Ok(Piece::End { taken, padding }), reading) => {
                if let Some(error) = changed() {
                    return Some(Next::Trouble(index, error));
                }
                let end = End { bytes: taken, padding };
                let rest = match reading.as_mut() {
                    Some(reading) => reading.rest(&self.context, self.taken_out),
                    None => Ok(None),
                };
                let rest = match rest {
                    Ok(rest) => rest,
                    Err(why) => return Some(self.without_column(index, why)),
                };
                let Some((format, chunk)) = rest else { return Some(Next::End(index, end)) };
                self.ended = Some(end);
                return Some(Next::Task(Task { input: index, format, bytes: here(chunk, None) }));
            }
            (Ok(Piece::Error(at, trouble)), _) => {
                let at = (!matches!(trouble, Trouble::Refused(_))).then_some(at);
                let error = changed().unwrap_or_else(|| InputError::new(path, at, trouble));
                return Some(Next::Trouble(index, error));
            }
            (Err(TryRecvError::Empty), _) => Some(Next::Wait),
            // The reader sends a guess before any chunk, and an end or an error before it goes; it can
            // only have panicked.
            (Err(TryRecvError::Disconnected) | Ok(Piece::Chunk(..)), _) => {
                let error = std::io::Error::other("the reading thread ended early");
                let error = InputError::new(path, None, Trouble::Io(error));
                return Some(Next::Trouble(index, error));
            }
        };
        self.current = Some(Current::Stream { pieces, reading, file });
        next
    }
}

fn here(chunk: Chunk, cut: Option<Cut>) -> Bytes {
    let read = chunk.bytes().len() as u64;
    Bytes::Chunk { chunk, cut, read }
}
