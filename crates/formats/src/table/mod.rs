//! The rows of a table: Parquet, and the IPC format of Arrow.
//!
//! In comes a file; out come chunks of cells, in the order of the rows. A table comes in sections (the
//! row groups of Parquet), and each is unpacked on a thread of its own, as many at a time as there are
//! threads; what they are ahead is bounded by the chunks that may wait.
//!
//! The readers are libraries for formats that say where things are, so bytes that lie can make them
//! panic. What could end the process is looked at before (`claims`, `pages`, `messages`). They run on
//! threads of their own, named [`THREAD`], and one that does not come back is a file that is damaged.

mod arrow;
mod claims;
mod column;
mod cut;
mod deltas;
mod fault;
mod file;
mod messages;
mod pages;
mod parquet;
mod schema;
mod thrift;

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use arrow_array::ArrayRef;

use self::cut::Cutter;
use self::fault::Fault;
use self::file::At;
use crate::input::{Chunk, OpenFile};
use crate::input::{InputError, Trouble};
use crate::record::{Container, Table};

/// The name of the threads that read what strangers wrote.
pub const THREAD: &str = "uniqurl-table";

/// Chunks of a section that may wait to be taken.
const AHEAD: usize = 32;

/// Bytes that a footer or a batch may take where nobody said how many all of it may.
const UNSAID: usize = 4 << 30;

/// How a table is read.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    pub chunk_size: usize,
    pub max_record: usize,
    pub threads: usize,
    /// Bytes of memory that all of it may take, if anybody said.
    pub memory: usize,
    /// Whether rows with one and the same cell may come as one of which it is said how many they are.
    pub once: bool,
}

impl Reading {
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
pub enum Next {
    /// Rows, and how many bytes of the file were read for them.
    Chunk(Chunk, u64),
    /// There is nothing yet.
    Wait,
    Error(InputError),
    End,
}

/// A table that is being read.
pub struct Rows {
    file: Arc<OpenFile>,
    content: Arc<Content>,
    reading: Reading,
    /// Sections that were begun, of how many.
    begun: usize,
    sections: usize,
    running: VecDeque<Running>,
    /// The way to the threads, who are there once there is work: they keep their memory from section
    /// to section.
    workers: Option<Sender<Task>>,
    /// Bytes of memory that the threads hold.
    held: Arc<AtomicUsize>,
    /// Bytes of the file that were told as read.
    told: u64,
    /// Rows that were handed on.
    rows: u64,
}

/// A section for a thread, and where its parts go.
struct Task {
    section: usize,
    sender: SyncSender<Part>,
}

/// A section that is being unpacked.
struct Running {
    parts: Receiver<Part>,
}

/// What comes out of a section.
enum Part {
    /// Rows, and how far into the file they go.
    Chunk(Chunk, u64),
    Failed(Fault),
    End,
}

/// A file whose schema is known.
enum Content {
    Parquet(parquet::Content),
    Arrow(arrow::Content),
}

/// Why a batch is not taken.
enum Stop {
    /// Nobody wants the rest.
    Unwanted,
    /// This is wrong with the file.
    Failed(Fault),
}

/// Takes the columns of a batch, and how far into the file it goes.
type Take<'a> = &'a mut dyn FnMut(&[Column], u64) -> Result<(), Stop>;

/// A column of a batch, below the structs that it is in.
struct Column {
    above: Vec<ArrayRef>,
    array: ArrayRef,
}

impl Content {
    fn sections(&self) -> usize {
        match self {
            Content::Parquet(content) => content.sections(),
            Content::Arrow(_) => 1,
        }
    }

    /// Number of the first row of a section, from 0.
    fn first_row(&self, section: usize) -> u64 {
        match self {
            Content::Parquet(content) => content.first_row(section),
            Content::Arrow(_) => 0,
        }
    }

    fn read(&self, section: usize, reading: Reading, take: Take<'_>) -> Result<(), Stop> {
        match self {
            Content::Parquet(content) => content.read(section, reading, take),
            Content::Arrow(content) => content.read(reading, take),
        }
    }

    /// Words for a section, where there are several.
    fn name(&self, section: usize) -> String {
        match self {
            Content::Parquet(_) => format!("row group {} of {}: ", section + 1, self.sections()),
            Content::Arrow(_) => String::new(),
        }
    }
}

impl Rows {
    /// Opens the table in a file. Out comes the table as `wanted` has it, its columns found.
    pub fn open(
        file: Arc<OpenFile>,
        wanted: &Table,
        reading: Reading,
    ) -> Result<(Self, Table), InputError> {
        let trouble = |trouble| InputError::new(file.path(), None, trouble);
        let found = container_of(&file)?;
        let container = wanted.container();
        if found != Some(container) {
            return Err(trouble(Trouble::Columns(schema::other(container, found))));
        }
        let (at, table) = (At::new(Arc::clone(&file)), wanted.clone());
        let opened = on_thread(move || match container {
            Container::Parquet => parquet::Content::open(at, &table, reading.at_once())
                .map(|(content, table)| (Content::Parquet(content), table)),
            Container::Arrow => arrow::Content::open(at, &table, reading.at_once())
                .map(|(content, table)| (Content::Arrow(content), table)),
        });
        let (content, table) = match opened.map_err(|error| trouble(Trouble::Io(error)))? {
            Some(opened) => opened.map_err(trouble)?,
            None => return Err(trouble(Trouble::Malformed(PANICKED.to_owned()))),
        };
        let sections = content.sections();
        let reading = Reading { once: reading.once && table.is_list(), ..reading };
        let rows = Self {
            file,
            content: Arc::new(content),
            reading,
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
    pub fn next(&mut self, idle: bool) -> Next {
        loop {
            while self.begun < self.sections && self.running.len() < self.reading.threads {
                match self.begin(self.begun) {
                    Ok(running) => self.running.push_back(running),
                    Err(error) => return Next::Error(self.error(Trouble::Io(error))),
                }
                self.begun += 1;
            }
            let section = self.begun - self.running.len();
            let Some(running) = self.running.front() else { return Next::End };
            let part = match idle {
                true => running.parts.recv().map_err(|_| TryRecvError::Disconnected),
                false => running.parts.try_recv(),
            };
            match part {
                Ok(Part::Chunk(chunk, end)) => {
                    self.held.fetch_sub(chunk.memory(), Ordering::Relaxed);
                    let read = end.saturating_sub(self.told);
                    self.told += read;
                    self.rows += chunk.rows().map_or(0, |rows| rows.of_table());
                    return Next::Chunk(chunk, read);
                }
                Ok(Part::End) => {
                    self.running.pop_front();
                }
                Ok(Part::Failed(why)) => return Next::Error(self.fault(section, why)),
                Err(TryRecvError::Empty) => return Next::Wait,
                Err(TryRecvError::Disconnected) => {
                    return Next::Error(self.fault(section, PANICKED.into()));
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

    fn fault(&self, section: usize, fault: Fault) -> InputError {
        let name = self.content.name(section);
        self.error(fault.told(|why| format!("{name}{why}, behind row {}", self.rows)).into())
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
        let _ = workers.send(Task { section, sender });
        Ok(Running { parts })
    }

    /// Starts the threads.
    fn hire(&self) -> io::Result<Sender<Task>> {
        let (sender, tasks) = channel::<Task>();
        let tasks = Arc::new(Mutex::new(tasks));
        for _ in 0..self.reading.threads.min(self.sections) {
            let (content, reading) = (Arc::clone(&self.content), self.reading);
            let (tasks, held) = (Arc::clone(&tasks), Arc::clone(&self.held));
            thread::Builder::new().name(THREAD.into()).spawn(move || {
                loop {
                    let task = tasks.lock().unwrap_or_else(|e| e.into_inner()).recv();
                    let Ok(Task { section, sender }) = task else { break };
                    work(&content, section, reading, Sending { sender, held: Arc::clone(&held) });
                }
            })?;
        }
        Ok(sender)
    }
}

/// Unpacks a section.
fn work(content: &Content, section: usize, reading: Reading, mut sending: Sending) {
    let mut cutter = Cutter::new(content.first_row(section), reading);
    let read = content.read(section, reading, &mut |columns, end| {
        let batch = columns.iter().map(|column| column.array.get_array_memory_size()).sum();
        sending.held.fetch_add(batch, Ordering::Relaxed);
        let cut = cutter.cut(columns, |chunk| sending.chunk(chunk, end));
        sending.held.fetch_sub(batch, Ordering::Relaxed);
        cut
    });
    // Where the other side went away nobody wants to know.
    let _ = match read {
        Ok(()) => sending.sender.send(Part::End),
        Err(Stop::Failed(why)) => sending.sender.send(Part::Failed(why)),
        Err(Stop::Unwanted) => Ok(()),
    };
}

/// What is said where a reader panicked.
const PANICKED: &str = "what it says of itself contradicts itself";

struct Sending {
    sender: SyncSender<Part>,
    held: Arc<AtomicUsize>,
}

impl Sending {
    fn chunk(&mut self, chunk: Chunk, end: u64) -> Result<(), Stop> {
        self.held.fetch_add(chunk.memory(), Ordering::Relaxed);
        self.sender.send(Part::Chunk(chunk, end)).map_err(|_| Stop::Unwanted)
    }
}

/// Runs something on a thread of its own. None: it panicked.
fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    Ok(thread::Builder::new().name(THREAD.into()).spawn(work)?.join().ok())
}
