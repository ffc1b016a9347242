//! The reasons why a store cannot be read or written.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::spill::SpillError;
use uniqurl_text::Printable;

/// A store that cannot be read or written.
#[derive(Debug)]
pub struct SeenStoreError {
    /// The file or directory.
    pub path: PathBuf,
    /// Where in the file, in bytes, if the problem is at one place.
    pub offset: Option<u64>,
    /// The problem.
    pub problem: SeenStoreProblem,
}

/// The problem with a store.
#[derive(Debug)]
pub enum SeenStoreProblem {
    /// The system's error.
    Io(io::Error),
    /// Bytes that are not as they were written, for this reason.
    Damaged(String),
    /// Nothing has the name.
    Missing,
    /// The directory or file is no store.
    NotAStore,
    /// The store has another version of the format.
    Version(u64),
    /// The store has other rules; the text says which.
    OtherRules(String),
    /// The store has rules of the same name with other lists; the text says which.
    OtherLists(String),
    /// Another process writes to the store.
    Busy,
    /// A memory allocation failed.
    Memory,
}

impl SeenStoreError {
    pub(super) fn new(path: &Path, problem: SeenStoreProblem) -> Self {
        Self { path: path.to_owned(), offset: None, problem }
    }

    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        // A failed allocation travels as an `io::Error` of this kind, and has words of its own
        // here.
        let problem = match error.kind() {
            io::ErrorKind::OutOfMemory => SeenStoreProblem::Memory,
            _ => SeenStoreProblem::Io(error),
        };
        Self::new(path, problem)
    }

    /// A memory allocation failed, for the work on this file or directory.
    pub(super) fn memory(path: &Path) -> Self {
        Self::new(path, SeenStoreProblem::Memory)
    }

    pub(super) fn damaged(path: &Path, offset: u64, reason: &str) -> Self {
        let problem = SeenStoreProblem::Damaged(reason.to_owned());
        Self { path: path.to_owned(), offset: Some(offset), problem }
    }
}

impl From<SpillError> for SeenStoreError {
    fn from(SpillError { directory, error }: SpillError) -> Self {
        Self::io(&directory, error)
    }
}

impl fmt::Display for SeenStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Printable::path(&self.path))?;
        if let Some(offset) = self.offset {
            write!(f, "@{offset}")?;
        }
        f.write_str(": ")?;
        match &self.problem {
            SeenStoreProblem::Io(error) => error.fmt(f),
            SeenStoreProblem::Damaged(reason) => write!(f, "damaged: {reason}"),
            SeenStoreProblem::Missing => f.write_str("no such seen store"),
            SeenStoreProblem::NotAStore => f.write_str("it is no seen store"),
            SeenStoreProblem::Version(version) => write!(
                f,
                "it is of version {version} of seen stores, and this uniqurl reads version 1"
            ),
            SeenStoreProblem::OtherRules(difference) | SeenStoreProblem::OtherLists(difference) => {
                f.write_str(difference)
            }
            SeenStoreProblem::Busy => f.write_str("another process writes to this store"),
            SeenStoreProblem::Memory => f.write_str("not enough memory"),
        }
    }
}

impl std::error::Error for SeenStoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            // The words of the system's error are in those of this one, so its source comes next.
            SeenStoreProblem::Io(error) => error.source(),
            _ => None,
        }
    }
}
