//! Reads the rows of tables: Parquet, and the IPC format of Arrow.
//!
//! Input is a file; output is chunks of cells, in row order. A table has sections (the row groups of
//! Parquet). Each section is decoded on one thread, and as many sections at a time as there are
//! threads. A limit on the waiting chunks bounds how far they run ahead.
//!
//! ```text
//! next: begins sections  -->  one queue  -->  threads, each with one section at a time
//! next: takes in order   <--  a bounded channel for each section: chunks, then an end or an error
//! ```
//!
//! The readers are libraries for formats that contain offsets, so corrupt bytes can make them panic.
//! Claims that could abort the process are validated first (`footer`, `page_headers`, `pages`, `messages`). The
//! readers run on their own threads, named [`THREAD`]; if one panics, the file is reported as damaged.

mod arrow;
mod batch;
mod column;
mod cut;
mod deltas;
mod error;
mod file;
mod footer;
mod messages;
mod page_headers;
mod pages;
mod parquet;
mod schema;
mod thrift;
mod unpack;
mod whole;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

pub use self::batch::TableOptions;
pub use self::whole::WholeTable;

use self::batch::{Stop, Take, TakeBatch};
use self::cut::RowCutter;
use self::error::TableError;
use self::file::At;
use crate::input::{Chunk, OpenFile};
use crate::input::{InputError, Trouble};
use crate::record::{Container, TableFormat};

/// The name of the threads that read untrusted tables.
pub const THREAD: &str = "uniqurl-table";

/// Chunks of a section that may wait to be taken.
const AHEAD: usize = 32;

/// Detects the container of a file.
pub fn container_of(file: &Arc<OpenFile>) -> Result<Option<Container>, InputError> {
    let mut head = [0; 8];
    let length = head.len().min(usize::try_from(file.size()).unwrap_or(usize::MAX));
    let read = At::new(Arc::clone(file)).read_at(&mut head[..length], 0);
    read.map_err(|error| {
        let is_short = error.kind() == io::ErrorKind::UnexpectedEof;
        let trouble = if is_short { Trouble::Shrank } else { Trouble::Io(error) };
        InputError::new(file.path(), Some(0), trouble)
    })?;
    Ok(Container::of(&head[..length]))
}

/// An event of a table.
#[derive(Debug)]
pub enum TableEvent {
    /// Rows, and the number of file bytes read for them.
    Chunk(Chunk, u64),
    /// No rows are ready yet.
    Wait,
    /// The file cannot be read further.
    Error(InputError),
    /// All rows were returned.
    End,
}

/// A table being read.
pub struct TableReader {
    file: Arc<OpenFile>,
    content: Arc<TableContent>,
    options: TableOptions,
    /// Sections started so far, and their total.
    begun: usize,
    sections: usize,
    running: VecDeque<Running>,
    /// The channel to the threads, which start on first use. They keep their memory from section to
    /// section.
    workers: Option<Sender<SectionTask>>,
    /// Memory held by the threads, in bytes.
    held: Arc<AtomicUsize>,
    /// File bytes reported as read.
    told: u64,
    /// Rows returned so far.
    rows: u64,
}

impl fmt::Debug for TableReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableReader").field("file", &self.file).finish_non_exhaustive()
    }
}

/// A section for a thread, and the channel for its events.
struct SectionTask {
    section: usize,
    sender: SyncSender<SectionEvent>,
}

/// A section being decoded.
struct Running {
    parts: Receiver<SectionEvent>,
}

/// An event of a section.
enum SectionEvent {
    /// Rows, and the file offset that they reach.
    Chunk(Chunk, u64),
    Failed(TableError),
    End,
}

/// A file whose schema is known.
enum TableContent {
    Parquet(parquet::ParquetFile),
    Arrow(arrow::ArrowFile),
}

impl TableContent {
    fn sections(&self) -> usize {
        match self {
            TableContent::Parquet(content) => content.sections(),
            TableContent::Arrow(_) => 1,
        }
    }

    /// Index of the first row of a section.
    fn first_row(&self, section: usize) -> u64 {
        match self {
            TableContent::Parquet(content) => content.first_row(section),
            TableContent::Arrow(_) => 0,
        }
    }

    fn read(&self, section: usize, options: TableOptions, take: Take<'_>) -> Result<(), Stop> {
        match self {
            TableContent::Parquet(content) => content.read(section, options, take),
            TableContent::Arrow(content) => content.read(options, take),
        }
    }

    fn read_batches(
        &self,
        section: usize,
        options: TableOptions,
        take: TakeBatch<'_>,
    ) -> Result<(), Stop> {
        match self {
            TableContent::Parquet(content) => content.read_batches(section, options, take),
            TableContent::Arrow(content) => content.read_batches(options, take),
        }
    }

    /// A prefix that names the section in messages, if there are several.
    fn name(&self, section: usize) -> String {
        match self {
            TableContent::Parquet(_) => {
                format!("row group {} of {}: ", section + 1, self.sections())
            }
            TableContent::Arrow(_) => String::new(),
        }
    }
}

impl TableReader {
    /// Opens the table in a file. Returns the reader, and `wanted` with its columns resolved.
    pub fn open(
        file: Arc<OpenFile>,
        wanted: &TableFormat,
        options: TableOptions,
    ) -> Result<(Self, TableFormat), InputError> {
        let trouble = |trouble| InputError::new(file.path(), None, trouble);
        let found = container_of(&file)?;
        let container = wanted.container();
        if found != Some(container) {
            return Err(trouble(Trouble::Columns(schema::other(container, found))));
        }
        let (at, table) = (At::new(Arc::clone(&file)), wanted.clone());
        let opened = on_thread(move || match container {
            Container::Parquet => parquet::ParquetFile::open(at, &table, options.at_once())
                .map(|(content, table)| (TableContent::Parquet(content), table)),
            Container::Arrow => arrow::ArrowFile::open(at, &table, options.at_once())
                .map(|(content, table)| (TableContent::Arrow(content), table)),
        });
        let (content, table) = match opened.map_err(|error| trouble(Trouble::Io(error)))? {
            Some(opened) => opened.map_err(trouble)?,
            None => return Err(trouble(Trouble::Malformed(PANICKED.to_owned()))),
        };
        let sections = content.sections();
        // Equal URLs are one row only where nothing else is read of the rows.
        let options = TableOptions { once: options.once && table.is_list(), ..options };
        let rows = Self {
            file,
            content: Arc::new(content),
            options,
            begun: 0,
            sections,
            running: VecDeque::new(),
            workers: None,
            held: Arc::default(),
            told: 0,
            rows: 0,
        };
        Ok((rows, table))
    }

    /// Returns the next event. Blocks only if `idle`.
    pub fn next(&mut self, idle: bool) -> TableEvent {
        loop {
            // Rows come out in the order of the file, so more sections than threads would only
            // wait.
            while self.begun < self.sections && self.running.len() < self.options.threads {
                match self.begin(self.begun) {
                    Ok(running) => self.running.push_back(running),
                    Err(error) => return TableEvent::Error(self.error(Trouble::Io(error))),
                }
                self.begun += 1;
            }
            let section = self.begun - self.running.len();
            let Some(running) = self.running.front() else { return TableEvent::End };
            let part = match idle {
                true => running.parts.recv().map_err(|_| TryRecvError::Disconnected),
                false => running.parts.try_recv(),
            };
            match part {
                Ok(SectionEvent::Chunk(chunk, end)) => {
                    // The counter serves the memory budget alone, and orders nothing.
                    self.held.fetch_sub(chunk.memory(), Ordering::Relaxed);
                    let read = end.saturating_sub(self.told);
                    self.told += read;
                    self.rows += chunk.rows().map_or(0, |rows| rows.of_table());
                    return TableEvent::Chunk(chunk, read);
                }
                Ok(SectionEvent::End) => {
                    self.running.pop_front();
                }
                Ok(SectionEvent::Failed(why)) => {
                    return TableEvent::Error(self.section_error(section, why));
                }
                Err(TryRecvError::Empty) => return TableEvent::Wait,
                // A thread that panics drops its end of the channel, and that is all it leaves.
                Err(TryRecvError::Disconnected) => {
                    return TableEvent::Error(self.section_error(section, PANICKED.into()));
                }
            }
        }
    }

    /// Verifies that the file has not changed, and returns its size.
    pub fn end(&self) -> Result<u64, InputError> {
        self.file.verify().map(|()| self.file.size())
    }

    /// Memory held by decoded rows that were not taken yet, in bytes.
    pub fn memory(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    fn section_error(&self, section: usize, error: TableError) -> InputError {
        let name = self.content.name(section);
        self.error(error.told(|why| format!("{name}{why}, behind row {}", self.rows)).into())
    }

    /// Apparent damage may come from a change of the file, so that is checked first.
    fn error(&self, trouble: Trouble) -> InputError {
        let changed = self.file.verify().err();
        changed.unwrap_or_else(|| InputError::new(self.file.path(), None, trouble))
    }

    fn begin(&mut self, section: usize) -> io::Result<Running> {
        // Bounded, so that no section decodes far ahead of the one in turn.
        let (sender, parts) = sync_channel(AHEAD);
        let workers = match &self.workers {
            Some(workers) => workers,
            None => self.workers.insert(self.hire()?),
        };
        // If all threads have panicked, the sender is dropped and `next` reports it.
        let _ = workers.send(SectionTask { section, sender });
        Ok(Running { parts })
    }

    /// Starts the threads.
    fn hire(&self) -> io::Result<Sender<SectionTask>> {
        let (sender, tasks) = channel::<SectionTask>();
        let tasks = Arc::new(Mutex::new(tasks));
        for _ in 0..self.options.threads.min(self.sections) {
            let (content, options) = (Arc::clone(&self.content), self.options);
            let (tasks, held) = (Arc::clone(&tasks), Arc::clone(&self.held));
            thread::Builder::new().name(THREAD.into()).spawn(move || {
                loop {
                    // One idle thread holds the lock while it sleeps in `recv`, and each section
                    // wakes exactly one.
                    let task = tasks.lock().unwrap_or_else(|e| e.into_inner()).recv();
                    let Ok(SectionTask { section, sender }) = task else { break };
                    work(&content, section, options, Sending { sender, held: Arc::clone(&held) });
                }
            })?;
        }
        Ok(sender)
    }
}

/// Decodes a section.
fn work(content: &TableContent, section: usize, options: TableOptions, mut sending: Sending) {
    let mut cutter = RowCutter::new(content.first_row(section), options);
    let read = content.read(section, options, &mut |columns, end| {
        let batch = columns.iter().map(|column| column.array.get_array_memory_size()).sum();
        // The batch counts as long as chunks are made of it; then the chunks that wait count
        // instead.
        sending.held.fetch_add(batch, Ordering::Relaxed);
        let cut = cutter.cut(columns, |chunk| sending.chunk(chunk, end));
        sending.held.fetch_sub(batch, Ordering::Relaxed);
        cut
    });
    // The send fails only if the reader was dropped.
    let _ = match read {
        Ok(()) => sending.sender.send(SectionEvent::End),
        Err(Stop::Failed(why)) => sending.sender.send(SectionEvent::Failed(why)),
        Err(Stop::Unwanted) => Ok(()),
    };
}

/// The message for a reader that panicked.
const PANICKED: &str = "what it says of itself contradicts itself";

struct Sending {
    sender: SyncSender<SectionEvent>,
    held: Arc<AtomicUsize>,
}

impl Sending {
    fn chunk(&mut self, chunk: Chunk, end: u64) -> Result<(), Stop> {
        self.held.fetch_add(chunk.memory(), Ordering::Relaxed);
        self.sender.send(SectionEvent::Chunk(chunk, end)).map_err(|_| Stop::Unwanted)
    }
}

/// Runs a function on its own thread. Returns `None` if it panicked.
fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    Ok(thread::Builder::new().name(THREAD.into()).spawn(work)?.join().ok())
}
