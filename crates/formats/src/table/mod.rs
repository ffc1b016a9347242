//! The rows of a table: Parquet, and the IPC format of Arrow.
//!
//! In comes a file; out come chunks of cells, in the order of the rows. A table comes in sections (the
//! row groups of Parquet), and each is unpacked on a thread of its own, as many at a time as there are
//! threads; what they are ahead is bounded by the chunks that may wait.
//!
//! The readers are libraries for formats that say where things are, so bytes that lie can make them
//! panic. What could end the process is looked at before (`parquet_limits`, `pages`, `messages`). They run on
//! threads of their own, named [`THREAD`], and one that does not come back is a file that is damaged.

mod arrow;
mod parquet_limits;
mod column;
mod cut;
mod deltas;
mod error;
mod file;
mod messages;
mod pages;
mod parquet;
mod schema;
mod thrift;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use arrow_array::ArrayRef;

use self::cut::RowCutter;
use self::error::TableError;
use self::file::At;
use crate::input::{Chunk, OpenFile};
use crate::input::{InputError, Trouble};
use crate::record::{Container, TableFormat};

/// The name of the threads that read what strangers wrote.
pub const THREAD: &str = "uniqurl-table";

/// Chunks of a section that may wait to be taken.
const AHEAD: usize = 32;

/// Bytes that a footer or a batch may take where nobody said how many all of it may.
const UNSAID: usize = 4 << 30;

/// How a table is read.
#[derive(Debug, Clone, Copy)]
pub struct TableOptions {
    /// Bytes of a chunk.
    pub chunk_size: usize,
    /// Longest cell in bytes.
    pub max_record: usize,
    /// Threads that decode row groups.
    pub threads: usize,
    /// Bytes of memory that all of it may take, if anybody said.
    pub memory: usize,
    /// Whether rows with one and the same cell may come as one of which it is said how many they are.
    pub once: bool,
}

impl TableOptions {
    /// Bytes that what is there only once may take.
    fn at_once(&self) -> usize {
        if self.memory == usize::MAX { UNSAID } else { self.memory }
    }
}

/// The container of a file, if it is one.
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

/// What comes next of a table.
#[derive(Debug)]
pub enum TableEvent {
    /// Rows, and how many bytes of the file were read for them.
    Chunk(Chunk, u64),
    /// There is nothing yet.
    Wait,
    /// The file cannot be read on.
    Error(InputError),
    /// The last row was handed out.
    End,
}

/// A table that is being read.
pub struct TableReader {
    file: Arc<OpenFile>,
    content: Arc<TableContent>,
    options: TableOptions,
    /// Sections that were begun, of how many.
    begun: usize,
    sections: usize,
    running: VecDeque<Running>,
    /// The way to the threads, who are there once there is work: they keep their memory from section
    /// to section.
    workers: Option<Sender<SectionTask>>,
    /// Bytes of memory that the threads hold.
    held: Arc<AtomicUsize>,
    /// Bytes of the file that were told as read.
    told: u64,
    /// Rows that were handed on.
    rows: u64,
}

impl fmt::Debug for TableReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableReader").field("file", &self.file).finish_non_exhaustive()
    }
}

/// A section for a thread, and where its parts go.
struct SectionTask {
    section: usize,
    sender: SyncSender<SectionEvent>,
}

/// A section that is being unpacked.
struct Running {
    parts: Receiver<SectionEvent>,
}

/// What comes out of a section.
enum SectionEvent {
    /// Rows, and how far into the file they go.
    Chunk(Chunk, u64),
    Failed(TableError),
    End,
}

/// A file whose schema is known.
enum TableContent {
    Parquet(parquet::ParquetFile),
    Arrow(arrow::ArrowFile),
}

/// Why a batch is not taken.
enum Stop {
    /// Nobody wants the rest.
    Unwanted,
    /// This is wrong with the file.
    Failed(TableError),
}

/// Takes the columns of a batch, and how far into the file it goes.
type Take<'a> = &'a mut dyn FnMut(&[Column], u64) -> Result<(), Stop>;

/// A column of a batch, below the structs that it is in.
struct Column {
    above: Vec<ArrayRef>,
    array: ArrayRef,
}

impl TableContent {
    fn sections(&self) -> usize {
        match self {
            TableContent::Parquet(content) => content.sections(),
            TableContent::Arrow(_) => 1,
        }
    }

    /// Number of the first row of a section, from 0.
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

    /// Words for a section, where there are several.
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
    /// Opens the table in a file. Out comes the table as `wanted` has it, its columns found.
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

    /// The next rows. Waits for them only if `idle`.
    pub fn next(&mut self, idle: bool) -> TableEvent {
        loop {
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
                Err(TryRecvError::Disconnected) => {
                    return TableEvent::Error(self.section_error(section, PANICKED.into()));
                }
            }
        }
    }

    /// Whether the file is still what it was; its size.
    pub fn end(&self) -> Result<u64, InputError> {
        self.file.verify().map(|()| self.file.size())
    }

    /// Bytes of memory that what is unpacked and not yet taken holds.
    pub fn memory(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    fn section_error(&self, section: usize, error: TableError) -> InputError {
        let name = self.content.name(section);
        self.error(error.told(|why| format!("{name}{why}, behind row {}", self.rows)).into())
    }

    /// What looks like damage may be a change of the file.
    fn error(&self, trouble: Trouble) -> InputError {
        let changed = self.file.verify().err();
        changed.unwrap_or_else(|| InputError::new(self.file.path(), None, trouble))
    }

    fn begin(&mut self, section: usize) -> io::Result<Running> {
        let (sender, parts) = sync_channel(AHEAD);
        let workers = match &self.workers {
            Some(workers) => workers,
            None => self.workers.insert(self.hire()?),
        };
        // Where all of them have panicked nobody sends anything, which tells so.
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
                    let task = tasks.lock().unwrap_or_else(|e| e.into_inner()).recv();
                    let Ok(SectionTask { section, sender }) = task else { break };
                    work(&content, section, options, Sending { sender, held: Arc::clone(&held) });
                }
            })?;
        }
        Ok(sender)
    }
}

/// Unpacks a section.
fn work(content: &TableContent, section: usize, options: TableOptions, mut sending: Sending) {
    let mut cutter = RowCutter::new(content.first_row(section), options);
    let read = content.read(section, options, &mut |columns, end| {
        let batch = columns.iter().map(|column| column.array.get_array_memory_size()).sum();
        sending.held.fetch_add(batch, Ordering::Relaxed);
        let cut = cutter.cut(columns, |chunk| sending.chunk(chunk, end));
        sending.held.fetch_sub(batch, Ordering::Relaxed);
        cut
    });
    // Where the other side went away nobody wants to know.
    let _ = match read {
        Ok(()) => sending.sender.send(SectionEvent::End),
        Err(Stop::Failed(why)) => sending.sender.send(SectionEvent::Failed(why)),
        Err(Stop::Unwanted) => Ok(()),
    };
}

/// What is said where a reader panicked.
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

/// Runs something on a thread of its own. None: it panicked.
fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    Ok(thread::Builder::new().name(THREAD.into()).spawn(work)?.join().ok())
}
