//! Which chunk comes next: the inputs in order, each from start to end.
//!
//! In most formats a chunk can be read without any other, so workers get ranges of a file and read them.
//! If a header decides the meaning of later records, or records span lines, the chunks are read here, one
//! after the other: each is searched for its last whole record, and goes to a worker with the format at its
//! start. Small files are read and closed by tasks before their turn, or here if there is one thread.
//!
//! Inputs that cannot be cut, such as pipes and most compressed files, are read ahead: as many as there are
//! threads that decode are decoded side by side, each into memory of its own. Their chunks are taken in the
//! order of the inputs all the same, so the results do not depend on it.

mod open;
mod file;
mod small;
mod early;
mod stream;
#[cfg(feature = "tables")]
mod table;
mod format_state;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::plan::JobPlan;
use crate::watch::Watch;
use early::Early;
use format_state::FormatState;
use uniqurl_formats::input::{
    Chunk, CutLine, Input, InputError, OpenFile, ReadAhead, StreamEvents, Trouble,
};
use uniqurl_formats::record::{self, Context};
#[cfg(feature = "tables")]
use uniqurl_formats::table::TableReader;

/// The next item of the queue.
pub(crate) enum QueueItem {
    /// A chunk to read.
    Chunk(QueuedChunk),
    /// A slow stream has nothing yet.
    Wait,
    /// The format of an input was guessed, with what may be wrong about it.
    Guessed(usize, Arc<record::Format>, record::Doubts),
    /// An input is read to its end.
    End(usize, InputEnd),
    /// An input cannot be read, or not any further.
    Trouble(usize, InputError),
    /// There are no more inputs.
    Done,
}

/// The end of an input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputEnd {
    /// How many bytes it had.
    pub(crate) bytes: u64,
    /// How many of them were zeros after compressed data.
    pub(crate) padding: u64,
}

/// A chunk to read.
pub(crate) struct QueuedChunk {
    pub(crate) input: usize,
    pub(crate) format: Arc<record::Format>,
    pub(crate) source: ChunkSource,
}

/// Where the bytes of a chunk are.
pub(crate) enum ChunkSource {
    /// In a range of a file.
    Range {
        /// The file.
        file: Arc<OpenFile>,
        /// Where in it.
        range: Range<u64>,
        /// Whether it is the last range of the file.
        last: bool,
    },
    /// In memory.
    Chunk {
        /// The chunk.
        chunk: Chunk,
        /// A last line that was left out of it.
        cut: Option<CutLine>,
        /// Bytes of the input that were read for it.
        read: u64,
    },
}

impl ChunkSource {
    /// Bytes of the chunk, except for the end of its last record.
    pub(crate) fn len(&self) -> usize {
        match self {
            ChunkSource::Range { range, .. } => (range.end - range.start) as usize,
            ChunkSource::Chunk { chunk, .. } => chunk.size(),
        }
    }

    /// Whether it is the last range of a file, which stays open until then.
    pub(crate) fn is_last(&self) -> bool {
        matches!(self, ChunkSource::Range { last: true, .. })
    }

    /// Bytes of the input.
    pub(crate) fn read(&self) -> u64 {
        match self {
            ChunkSource::Range { range, .. } => range.end - range.start,
            ChunkSource::Chunk { read, .. } => *read,
        }
    }
}

/// What it takes to open inputs and to find their formats. Tasks have it for themselves.
#[derive(Clone)]
pub(crate) struct Opener<'a> {
    plan: &'a JobPlan,
    inputs: &'a [Input],
    context: Context,
    /// Columns that are extracted from records.
    columns: &'a [String],
}

/// The inputs, and how far they are read.
pub(crate) struct InputQueue<'a> {
    opener: Opener<'a>,
    watch: &'a Watch,
    /// Whether equal rows of a table may come as one.
    #[cfg_attr(not(feature = "tables"), allow(dead_code, reason = "only tables ask"))]
    once: bool,
    next: usize,
    current: Option<OpenInput>,
    /// The small files after the current input.
    small: Early<SmallFile>,
    ahead: Ahead,
    /// The end of the current stream, while its last records are read.
    ended: Option<InputEnd>,
}

/// The inputs after the current one that were opened before their turn.
struct Ahead {
    /// In order, or the errors of opening them.
    opened: VecDeque<Result<OpenedInput, InputError>>,
    /// Most streams that are open at once.
    most: usize,
    /// Threads that decode them.
    decoders: usize,
    memory: Arc<ReadAhead>,
}

/// The input that is being read.
enum OpenInput {
    File {
        file: Arc<OpenFile>,
        state: FormatState,
        at: u64,
    },
    /// A small file that is read.
    Read {
        size: u64,
        state: FormatState,
        records: Option<(Chunk, Option<CutLine>)>,
    },
    /// A pipe, or a file that has to be read in order.
    Stream {
        pieces: StreamEvents,
        state: Option<FormatState>,
        file: Option<Arc<OpenFile>>,
    },
    /// The rows of a table.
    #[cfg(feature = "tables")]
    Table {
        rows: Box<TableReader>,
        format: Arc<record::Format>,
    },
}

/// A small file that is read. None for one that is more than records in lines, which is opened again at its turn.
pub(crate) type SmallFile = Option<Result<ReadFile, InputError>>;

/// A small file that is read and closed.
pub(crate) struct ReadFile {
    size: u64,
    format: Arc<record::Format>,
    /// The item that comes before its records.
    first: Option<QueueItem>,
    records: (Chunk, Option<CutLine>),
}

/// An open input, and the item that comes before its chunks.
#[derive(Default)]
struct OpenedInput {
    input: Option<OpenInput>,
    first: Option<QueueItem>,
}

impl<'a> InputQueue<'a> {
    /// `columns` are extracted from the records.
    pub(crate) fn new(
        plan: &'a JobPlan,
        inputs: &'a [Input],
        context: Context,
        columns: &'a [String],
        watch: &'a Watch,
    ) -> Self {
        Self {
            opener: Opener { plan, inputs, context, columns },
            watch,
            once: false,
            next: 0,
            current: None,
            small: Early::default(),
            ahead: Ahead::new(plan, inputs),
            ended: None,
        }
    }

    /// Allows equal rows of a table to come as one, since the job does not need each record.
    pub(crate) fn take_rows_once(&mut self) {
        self.once = true;
    }

    /// Number of inputs that were read or begun.
    pub(crate) fn reached(&self) -> usize {
        self.next
    }

    /// Ends with `input`, and reads no more of it.
    pub(crate) fn end_after(&mut self, input: usize) {
        self.next = self.next.min(input + 1);
        (self.current, self.ended) = (None, None);
        self.ahead.opened.clear();
        self.small = Early::default();
    }

    /// Whether the current input is a file. Its next chunk comes soon.
    pub(crate) fn reads_file(&self) -> bool {
        self.current.is_some() && !self.reads_pipe()
    }

    /// Whether the current input is a pipe, which may be slow.
    pub(crate) fn reads_pipe(&self) -> bool {
        matches!(&self.current, Some(OpenInput::Stream { file: None, .. }))
    }

    /// Reads no more of `input`.
    pub(crate) fn give_up(&mut self, input: usize) {
        // A later input may be current by now, and goes on.
        if self.next == input + 1 {
            self.current = None;
        }
    }

    /// The next item. Waits for a slow stream only if `idle`, that is, nothing else is left to do.
    pub(crate) fn next(&mut self, idle: bool) -> QueueItem {
        loop {
            // Before the first input there is no current one, and nobody uses the index.
            let index = self.next.wrapping_sub(1);
            if let Some(end) = self.ended.take() {
                return QueueItem::End(index, end);
            }
            let next = match self.current.take() {
                // Its task has it looked for again.
                None if self.small.is_missing(self.next) => Some(QueueItem::Wait),
                None if self.next == self.opener.inputs.len() => {
                    // No stream is left that would take a buffer.
                    self.ahead.memory.free_buffers();
                    Some(QueueItem::Done)
                }
                None => {
                    // It counts as reached before it is opened, so that one that cannot
                    // be opened is in the report.
                    self.next += 1;
                    let first = self.begin(self.next - 1);
                    self.open_ahead();
                    first
                }
                Some(OpenInput::File { file, state, at }) => {
                    self.next_range(index, file, state, at)
                }
                Some(OpenInput::Read { size, state, records }) => {
                    self.next_read(index, size, state, records)
                }
                Some(OpenInput::Stream { pieces, state, file }) => {
                    self.next_piece(index, pieces, state, file, idle)
                }
                #[cfg(feature = "tables")]
                Some(OpenInput::Table { rows, format }) => {
                    self.next_rows(index, rows, format, idle)
                }
            };
            if let Some(next) = next {
                return next;
            }
        }
    }

    /// Bytes of memory of all that was read ahead.
    pub(crate) fn memory(&self) -> usize {
        match &self.current {
            #[cfg(feature = "tables")]
            Some(OpenInput::Table { rows, .. }) => rows.memory(),
            _ => self.ahead.memory.memory() + self.small.len() * record::HEAD,
        }
    }

    fn without_column(&self, index: usize, why: String) -> QueueItem {
        let path = &self.opener.inputs[index].path;
        QueueItem::Trouble(index, InputError::new(path, None, Trouble::Columns(why)))
    }
}

fn here(chunk: Chunk, cut: Option<CutLine>, read: u64) -> ChunkSource {
    ChunkSource::Chunk { chunk, cut, read }
}
