//! Why a file of what was seen is not read.

use std::fmt;
use std::path::PathBuf;

use uniqurl::bytes::Printable;
use uniqurl_formats::record::Refusal;

/// A set from before the run that cannot be used.
#[derive(Debug)]
pub struct SeenError {
    /// Its name.
    pub path: PathBuf,
    /// What is wrong with it.
    pub trouble: SeenTrouble,
}

/// What is wrong with a set from before the run.
#[derive(Debug)]
pub enum SeenTrouble {
    /// It is no text, for this reason.
    Refused(Refusal),
    /// What these printable words say.
    Other(String),
}

impl From<String> for SeenTrouble {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

impl fmt::Display for SeenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: seen: ", Printable::path(&self.path))?;
        match &self.trouble {
            SeenTrouble::Refused(why) => why.fmt(f),
            SeenTrouble::Other(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for SeenError {}
