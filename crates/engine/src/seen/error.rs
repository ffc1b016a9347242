//! The reasons why a file of seen URLs cannot be read.

use std::fmt;
use std::path::PathBuf;

use uniqurl_formats::record::Refusal;
use uniqurl_text::Printable;

/// A list from before the run that cannot be used.
#[derive(Debug)]
pub struct SeenError {
    /// Its name.
    pub path: PathBuf,
    /// The problem with it.
    pub trouble: SeenTrouble,
}

/// The problem with a list from before the run.
#[derive(Debug)]
pub enum SeenTrouble {
    /// It is no text, for this reason.
    Refused(Refusal),
    /// Any other problem, in printable words.
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
