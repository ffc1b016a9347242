//! Errors of inputs.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::compression::Compression;
use crate::input::InputState;
use crate::record::Refusal;
use uniqurl_text::{Printable, UrlExcerpt};

/// An input that could not be read, with the place of the error.
#[derive(Debug)]
pub struct InputError {
    /// The input's name.
    pub path: PathBuf,
    /// Offset of the error in bytes, if there is one.
    pub at: Option<u64>,
    /// The kind of error.
    pub trouble: Trouble,
}

/// The kind of an input error.
#[derive(Debug)]
pub enum Trouble {
    /// An I/O error.
    Io(io::Error),
    /// The input is a directory.
    Directory,
    /// The file ended before its size at opening.
    Shrank,
    /// It has nothing readable, for this reason.
    Refused(Refusal),
    /// A table that lacks the requested columns, or that cannot be read as a table. The column names in
    /// the text are already escaped for printing, since not all of them are text.
    Columns(String),
    /// A table that violates its format, for this reason.
    Malformed(String),
    /// A table that needs more memory than allowed, for this reason.
    Memory(String),
    /// The file was replaced, or its bytes changed in place.
    Replaced,
    /// The compressed data ends early.
    Truncated(Packed),
    /// The compressed data is damaged, for this reason.
    Damaged(Packed, String),
    /// Decompressing it needs more memory than allowed, for this reason.
    Limit(Packed, String),
}

/// The place of an error in a compressed input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packed {
    /// The compression.
    pub compression: Compression,
    /// Offset in the compressed bytes; that of the [`InputError`] counts decompressed bytes.
    pub at: u64,
}

impl InputError {
    /// Creates an error with the input's name and the offset.
    pub fn new(path: &Path, at: Option<u64>, trouble: Trouble) -> Self {
        Self { path: path.to_owned(), at, trouble }
    }

    /// Input bytes read before the error.
    pub fn taken(&self) -> Option<u64> {
        match &self.trouble {
            Trouble::Truncated(packed)
            | Trouble::Damaged(packed, _)
            | Trouble::Limit(packed, _) => Some(packed.at),
            _ => self.at,
        }
    }

    /// The final state of an input with this error.
    pub fn state(&self) -> InputState {
        match &self.trouble {
            Trouble::Directory | Trouble::Refused(_) | Trouble::Columns(_) => InputState::Refused,
            // A limit is no damage: a run with more memory may read the rest of this input.
            Trouble::Limit(..) | Trouble::Memory(_) => InputState::Unfinished,
            Trouble::Io(error) if error.kind() == io::ErrorKind::NotFound => InputState::Missing,
            _ => InputState::Damaged,
        }
    }

    /// The final state of an input that was not opened because of this error.
    pub fn state_unopened(&self) -> InputState {
        match self.state() {
            InputState::Refused => InputState::Refused,
            // Nothing of it was read, so nothing can be said about its bytes.
            _ => InputState::Missing,
        }
    }

    /// A one-word code for the kind of error.
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
        let name = self.path.as_os_str().as_encoded_bytes();
        if self.code() == "missing" && memchr::memmem::find(name, b"://").is_some() {
            // A URL that was taken for a name may have secrets.
            write!(f, "{}", UrlExcerpt(name))?;
        } else {
            write!(f, "{}", Printable::path(&self.path))?;
        }
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

/// `source` is that of the inner I/O error, because this error already prints the inner one's text. The
/// inner error itself is in [`trouble`](InputError::trouble).
impl std::error::Error for InputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.trouble {
            Trouble::Io(error) => error.source(),
            _ => None,
        }
    }
}
