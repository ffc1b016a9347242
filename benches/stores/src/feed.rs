//! Gives the keys of a store in order, in batches, and keeps the time of making and sorting them apart from
//! that of the store: a thread makes the next batch only while the store waits for it.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use uniqurl_store::seen::{KeySink, SeenStoreError, SeenStoreProblem, SortedKeys};

use crate::clock::{Clock, Seconds};
use crate::contenders::{Failure, MEMORY};
use crate::keys::{Batch, Keys};

/// Keys of a batch: few enough for the cache.
const KEYS: usize = 10_000;

/// Sorted keys on their way to a store.
pub struct Feed {
    empty: SyncSender<Batch>,
    filled: Receiver<Batch>,
    /// Time that the store waited.
    waited: Seconds,
    thread: JoinHandle<Result<(), SeenStoreError>>,
}

impl Feed {
    /// Makes these keys; files for sorting go to `directory`.
    pub fn start(keys: Keys, directory: &Path) -> Self {
        let (empty, free) = sync_channel(1);
        let (full, filled) = sync_channel(1);
        let directory = directory.to_owned();
        let thread = thread::spawn(move || {
            let batch = Batch::default();
            let mut sink = Sink { free, full, batch, waits: true };
            keys.sorted(MEMORY, &directory, &mut sink)?;
            sink.hand_over()
        });
        Self { empty, filled, waited: Seconds::default(), thread }
    }

    /// Replaces the keys in `batch` by the next ones; false at the end.
    pub fn next(&mut self, batch: &mut Batch) -> bool {
        let clock = Clock::start();
        batch.clear();
        // The thread is gone only after the last batch, or after an error that `finish` returns.
        let filled =
            self.empty.send(std::mem::take(batch)).ok().and_then(|()| self.filled.recv().ok());
        let more = filled.is_some();
        *batch = filled.unwrap_or_default();
        self.waited += clock.elapsed();
        more
    }

    /// The time that the store waited for keys.
    pub fn finish(self) -> Result<Seconds, Failure> {
        drop((self.empty, self.filled));
        self.thread.join().expect("the thread ends")?;
        Ok(self.waited)
    }
}

struct Sink {
    free: Receiver<Batch>,
    full: SyncSender<Batch>,
    batch: Batch,
    /// Whether the buffer was not asked for yet.
    waits: bool,
}

impl Sink {
    fn hand_over(&mut self) -> Result<(), SeenStoreError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.full.send(std::mem::take(&mut self.batch)).map_err(|_| gone())?;
        self.waits = true;
        Ok(())
    }
}

impl KeySink for Sink {
    fn push(&mut self, key: &[u8]) -> Result<(), SeenStoreError> {
        if self.waits {
            self.batch = self.free.recv().map_err(|_| gone())?;
            self.waits = false;
        }
        self.batch.push(key);
        if self.batch.len() < KEYS { Ok(()) } else { self.hand_over() }
    }
}

/// The store gave up.
fn gone() -> SeenStoreError {
    let problem = SeenStoreProblem::Io(io::ErrorKind::BrokenPipe.into());
    SeenStoreError { path: "the sorted keys".into(), offset: None, problem }
}
