//! What can be wrong with an input.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::compression::Compression;
use crate::input::InputState;
use crate::record::Refusal;
use uniqurl::bytes::Printable;

/// An input that could not be read, and where.
#[derive(Debug)]
pub struct InputError {
    /// Its name.
    pub path: PathBuf,
    /// Offset of the trouble in bytes, where there is one.
    pub at: Option<u64>,
    /// What happened.
    pub trouble: Trouble,
}

/// What is wrong with an input.
#[derive(Debug)]
pub enum Trouble {
    /// The system refused.
    Io(io::Error),
    /// A directory was given.
    Directory,
    /// It ended before the size it had when it was opened.
    Shrank,
    /// It holds nothing that could be read, for this reason.
    Refused(Refusal),
    /// It is a table that does not have the columns asked for, or cannot be read as one. The names of
    /// columns in it are printable already, since not all of them are text.
    Columns(String),
    /// It is a table or a saved set that contradicts its format, for this reason.
    Malformed(String),
    /// It is a table that takes more memory to read than it may, for this reason.
    Memory(String),
    /// Another file has its name now, or its bytes changed in place.
    Replaced,
    /// It is compressed and ended before it was complete.
    Truncated(Packed),
    /// It is compressed and cannot be unpacked on, for this reason.
    Damaged(Packed, String),
    /// It is compressed and takes more to unpack than it may.
    Limit(Packed, String),
}

/// Where in a compressed input the trouble is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packed {
    /// How it is compressed.
    pub compression: Compression,
    /// Offset in the compressed bytes, where that of the [`InputError`] is in the unpacked ones.
    pub at: u64,
}

impl InputError {
    /// Names the input and the place of its trouble.
    pub fn new(path: &Path, at: Option<u64>, trouble: Trouble) -> Self {
        Self { path: path.to_owned(), at, trouble }
    }

    /// How much of the input itself was read.
    pub fn taken(&self) -> Option<u64> {
        match &self.trouble {
            Trouble::Truncated(packed)
            | Trouble::Damaged(packed, _)
            | Trouble::Limit(packed, _) => Some(packed.at),
            _ => self.at,
        }
    }

    /// How it leaves an input that was begun.
    pub fn state(&self) -> InputState {
        match &self.trouble {
            Trouble::Directory | Trouble::Refused(_) | Trouble::Columns(_) => InputState::Refused,
            Trouble::Limit(..) | Trouble::Memory(_) => InputState::Unfinished,
            Trouble::Io(error) if error.kind() == io::ErrorKind::NotFound => InputState::Missing,
            _ => InputState::Damaged,
        }
    }

    /// A word for the kind of trouble.
    pub fn code(&self) -> &'static str {
        match &self.trouble {
            Trouble::Io(error) if error.kind() == io::ErrorKind::NotFound => "missing",
            Trouble::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => "permission",
            Trouble::Io(_) => "io",
            Trouble::Directory => "directory",
            Trouble::Refused(_) | Trouble::Columns(_) => "format",
            Trouble::Shrank | Trouble::Replaced => "changed",
            Trouble::Truncated(_) => "truncated",
            Trouble::Damaged(..) | Trouble::Malformed(_) => "damaged",
            Trouble::Limit(..) | Trouble::Memory(_) => "limit",
        }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Printable::path(&self.path))?;
        if let Some(at) = self.at {
            write!(f, "@{at}")?;
        }
        write!(f, ": {}: ", self.code())?;
        match &self.trouble {
            Trouble::Io(error) => write!(f, "{error}"),
            Trouble::Directory => f.write_str("is a directory"),
            Trouble::Refused(why) => why.fmt(f),
            Trouble::Columns(why) => f.write_str(why),
            Trouble::Malformed(why) | Trouble::Memory(why) => {
                write!(f, "{}", Printable(why.as_bytes()))
            }
            Trouble::Shrank => f.write_str("the file shrank while it was read"),
            Trouble::Replaced => {
                f.write_str("the file was replaced or rewritten while it was read")
            }
            Trouble::Truncated(Packed { compression, at }) => {
                write!(f, "the {compression} data ends early, at byte {at} of what is compressed")
            }
            Trouble::Damaged(Packed { compression, at }, why)
            | Trouble::Limit(Packed { compression, at }, why) => {
                write!(f, "{compression}: {why}, before byte {at} of what is compressed")
            }
        }
    }
}

/// The source is that of the error in it, whose words this one has; that error is its
/// [`trouble`](InputError::trouble).
impl std::error::Error for InputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.trouble {
            Trouble::Io(error) => error.source(),
            _ => None,
        }
    }
}
