//! Writes to a store: one writer at a time.

use std::path::Path;

use super::error::SeenStoreError;
use super::keys::KeySink;
use super::rules::StoreRules;
use super::store::SeenStore;
use super::time::UnixTime;

/// The right to write to a store. Readers go on reading the store as they found it.
#[derive(Debug)]
pub struct SeenWriter {}

/// What to do if another process writes to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenBusy {
    /// Wait for its end.
    Wait,
    /// Give up, with [`SeenStoreProblem::Busy`](super::SeenStoreProblem::Busy).
    Fail,
}

/// Whether the keys of an add may be in the store already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Novelty {
    /// None of them is: they were looked up.
    AllNew,
    /// Some may be, and get the time of this add.
    Unknown,
}

/// A run that is being written. Nothing of it is in the store before [`SeenWriter::commit`]; it is removed
/// if it is dropped.
#[derive(Debug)]
pub struct RunBuilder<'w> {
    writer: &'w SeenWriter,
}

/// A run that is on the disk, but not yet in the store. It is removed if it is dropped.
#[derive(Debug)]
pub struct PreparedRun {}

impl SeenWriter {
    /// Takes the right to write to the store in the directory `path`, and makes an empty store if nothing has
    /// the name. What killed writers left behind is removed.
    ///
    /// # Errors
    ///
    /// The directory is no store, the store has other rules, another process writes to it, or a file of it
    /// cannot be read or written.
    pub fn create_or_open(
        path: &Path,
        rules: &StoreRules,
        when_busy: WhenBusy,
    ) -> Result<Self, SeenStoreError> {
        let _ = (path, rules, when_busy);
        todo!()
    }

    /// The same for a store that is there, whatever its rules.
    ///
    /// # Errors
    ///
    /// As above, and if there is no store.
    pub fn open(path: &Path, when_busy: WhenBusy) -> Result<Self, SeenStoreError> {
        let _ = (path, when_busy);
        todo!()
    }

    /// The store as it is now.
    pub fn store(&self) -> &SeenStore {
        todo!()
    }

    /// Begins an add at this time.
    ///
    /// # Errors
    ///
    /// The file cannot be made.
    pub fn begin_add(
        &self,
        time: UnixTime,
        novelty: Novelty,
    ) -> Result<RunBuilder<'_>, SeenStoreError> {
        let _ = (time, novelty);
        todo!()
    }

    /// Begins to take keys out. Keys that are not in the store may be among them; they change nothing.
    ///
    /// # Errors
    ///
    /// The file cannot be made.
    pub fn begin_removal(&self) -> Result<RunBuilder<'_>, SeenStoreError> {
        todo!()
    }

    /// Puts a prepared run into the store, and merges runs of about the same size within `memory` bytes. A
    /// run without keys changes nothing. Returns the number of keys that came or went.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written. The store is then as it was before, or as after the add.
    pub fn commit(&mut self, run: PreparedRun, memory: usize) -> Result<u64, SeenStoreError> {
        let _ = (run, memory);
        todo!()
    }

    /// Merges all runs into one, within `memory` bytes.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written; the store is as it was then.
    pub fn compact(&mut self, memory: usize) -> Result<(), SeenStoreError> {
        let _ = memory;
        todo!()
    }

    /// Drops the keys that were added before this time, within `memory` bytes, and returns their number.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written; the store is as it was then.
    pub fn forget(&mut self, before: UnixTime, memory: usize) -> Result<u64, SeenStoreError> {
        let _ = (before, memory);
        todo!()
    }
}

impl KeySink for RunBuilder<'_> {
    fn push(&mut self, key: &[u8]) -> Result<(), SeenStoreError> {
        let _ = key;
        todo!()
    }
}

impl RunBuilder<'_> {
    /// Brings the run to the disk.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn finish(self) -> Result<PreparedRun, SeenStoreError> {
        let _ = self.writer;
        todo!()
    }
}
