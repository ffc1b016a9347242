//! The lock that lets one writer in.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use super::error::{SeenStoreError, SeenStoreProblem};

/// The name of the file that is locked. It stays, and is always empty.
pub(super) const LOCK: &str = "lock";

/// What to do if another process writes to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenBusy {
    /// Wait for its end.
    Wait,
    /// Give up, with [`SeenStoreProblem::Busy`](super::SeenStoreProblem::Busy).
    Fail,
}

/// Locks the store in `directory` until the file is closed, which the system does for a killed process.
pub(super) fn lock(directory: &Path, when_busy: WhenBusy) -> Result<File, SeenStoreError> {
    let path = directory.join(LOCK);
    let of_lock = |error| SeenStoreError::io(&path, error);
    let mut options = OpenOptions::new();
    // The file is never removed: two writers that lock two files of this name would both be let in.
    let file = options.write(true).create(true).truncate(false).open(&path).map_err(of_lock)?;
    match (file.try_lock(), when_busy) {
        (Ok(()), _) => return Ok(file),
        (Err(TryLockError::Error(error)), _) => return Err(of_lock(error)),
        (Err(TryLockError::WouldBlock), WhenBusy::Fail) => {
            return Err(SeenStoreError::new(directory, SeenStoreProblem::Busy));
        }
        (Err(TryLockError::WouldBlock), WhenBusy::Wait) => {}
    }
    loop {
        match file.lock() {
            Ok(()) => return Ok(file),
            // A signal that was handled does not end the wait.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(of_lock(error)),
        }
    }
}
