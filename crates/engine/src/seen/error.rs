//! Why a file of what was seen is not read.

use std::fmt;
use std::path::PathBuf;

use uniqurl::bytes::Printable;

/// A set from before the run that cannot be used.
#[derive(Debug)]
pub struct SeenError {
    /// Its name.
    pub path: PathBuf,
    /// What is wrong with it, in printable words.
    pub why: String,
    /// What would do.
    pub instead: Instead,
}

/// What would do in the place of a set from before the run that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instead {
    /// Nothing is known.
    Nothing,
    /// A saved set ([`Sinks::seen`](crate::Sinks::seen)), which is taken as it stands.
    SavedSet,
    /// A saved set, or lines where there are JSON objects.
    Lines,
    /// A list of the URLs that this format reads in it.
    List(String),
    /// A saved set of the column that this format reads in it, if that holds URLs.
    Column(String),
    /// The same file where records end with NUL ([`Separator::Nul`](uniqurl_formats::record::Separator::Nul)).
    EndingWithNul,
}

/// An error but for the name of the file.
#[derive(Debug)]
pub(super) struct Unclear {
    pub(super) why: String,
    pub(super) instead: Instead,
}

impl Unclear {
    pub(super) fn new(why: impl Into<String>, instead: Instead) -> Self {
        Self { why: why.into(), instead }
    }

    pub(super) fn of(self, path: PathBuf) -> SeenError {
        SeenError { path, why: self.why, instead: self.instead }
    }
}

impl fmt::Display for SeenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: seen: {}", Printable::path(&self.path), self.why)
    }
}

impl std::error::Error for SeenError {}
