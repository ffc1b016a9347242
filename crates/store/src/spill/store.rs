//! Blocks in memory while there is room, and then in one temporary file, which never has a name, so that nothing of it
//! outlives the process.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::costs::{Costs, Spilled};
use crate::temporary_file::temporary_file;
use uniqurl::internal::alloc;
use uniqurl_text::Printable;

/// Blocks, written and read in any order by any thread.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
    /// Bytes of blocks that may still stay in memory.
    room: AtomicUsize,
    /// Made for the first block that has no room in memory.
    file: OnceLock<File>,
    end: AtomicU64,
    costs: Mutex<Costs>,
}

/// A block that was written.
#[derive(Debug, Clone)]
pub enum Extent {
    /// In memory, as it was before packing.
    Memory(Arc<Vec<u8>>),
    /// In the file.
    File {
        /// Where it starts.
        at: u64,
        /// Its bytes in the file, and before packing.
        length: u32,
        raw: u32,
    },
}

impl Extent {
    /// Its bytes before packing.
    pub(super) fn raw(&self) -> u64 {
        match self {
            Extent::Memory(block) => block.len() as u64,
            Extent::File { raw, .. } => (*raw).into(),
        }
    }
}

/// What was spilled could not be written, or not be read back.
#[derive(Debug)]
pub struct SpillError {
    /// The directory that the temporary file is in.
    pub directory: PathBuf,
    /// What happened.
    pub error: io::Error,
}

impl fmt::Display for SpillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: spill: {}", Printable::path(&self.directory), self.error)
    }
}

/// The source is that of its [`error`](SpillError::error), whose words this one has.
impl std::error::Error for SpillError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

impl Store {
    /// An empty one with a file: made without a name where the file system can do that, else its name is gone
    /// before anything is written.
    pub fn create(directory: &Path) -> Result<Self, SpillError> {
        let store = Self::in_memory(directory, 0);
        store.file()?;
        Ok(store)
    }

    /// An empty one that holds so many bytes in memory before it makes a file.
    pub fn in_memory(directory: &Path, bytes: usize) -> Self {
        Self {
            directory: directory.to_owned(),
            room: AtomicUsize::new(bytes),
            file: OnceLock::new(),
            end: AtomicU64::new(0),
            costs: Mutex::default(),
        }
    }

    fn file(&self) -> Result<&File, SpillError> {
        match self.file.get() {
            Some(file) => Ok(file),
            None => {
                let file = temporary_file(&self.directory).map_err(|error| self.error(error))?;
                // If two threads make one at the same time, one of them goes.
                Ok(self.file.get_or_init(|| file))
            }
        }
    }

    /// Takes room in memory for a block of so many bytes; returns whether there was enough.
    pub(super) fn take_room(&self, bytes: usize) -> bool {
        // A block gets all of its room or none, since many threads compete for the last of it.
        let less = |room: usize| room.checked_sub(bytes);
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// Bytes written, and the bytes that they were before packing.
    pub fn spilled(&self) -> Spilled {
        Spilled { written: self.end.load(Ordering::Relaxed), ..self.costs().spilled() }
    }

    /// Packs all blocks from now on, whatever that costs.
    pub fn pack_all(&self) {
        self.costs().packs_all = true;
    }

    pub(super) fn costs(&self) -> MutexGuard<'_, Costs> {
        // The costs are estimates, so a panic of another thread leaves nothing wrong in them.
        self.costs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An error of this file.
    pub fn error(&self, error: io::Error) -> SpillError {
        SpillError { directory: self.directory.clone(), error }
    }

    /// A block that is not as it was written.
    pub(super) fn damaged(&self, at: u64, reason: &str) -> SpillError {
        let text = format!("damaged block at offset {at}: {reason}");
        self.error(io::Error::new(io::ErrorKind::InvalidData, text))
    }

    /// Writes a block to the file, which had `raw` bytes before packing.
    pub(super) fn append(&self, block: &[u8], raw: u32) -> Result<Extent, SpillError> {
        let length = u32::try_from(block.len()).expect("blocks are small");
        // One addition gives a block its place, so threads write without a lock. A write that fails
        // leaves a hole, which no extent names.
        let at = self.end.fetch_add(u64::from(length), Ordering::Relaxed);
        self.file()?.write_all_at(block, at).map_err(|error| self.error(error))?;
        Ok(Extent::File { at, length, raw })
    }

    /// Reads a block of the file into `out`, which then holds nothing else.
    pub(super) fn read(&self, at: u64, length: u32, out: &mut Vec<u8>) -> Result<(), SpillError> {
        let length = length as usize;
        alloc::try_reserve(out, length.saturating_sub(out.len()))
            .map_err(|error| self.error(error.into()))?;
        out.resize(length, 0);
        self.file()?.read_exact_at(out, at).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.damaged(at, "the file ends before it"),
            _ => self.error(error),
        })
    }

    /// Changes one byte, as a bad disk would.
    #[cfg(test)]
    pub(super) fn damage(&self, at: u64) {
        let mut byte = [0];
        let file = self.file().unwrap();
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ 1], at).unwrap();
    }
}
