//! An entry of the table of formats, and the error of a file of entries.

use std::fmt;

use super::super::Format;
use super::fits::LineTest;

/// A format with a name.
#[derive(Debug)]
pub struct NamedFormat {
    /// The name.
    pub name: String,
    /// Other names.
    pub aliases: Vec<String>,
    /// What writes the format, in one line.
    pub description: String,
    /// Some lines of the format.
    pub sample: String,
    /// The URLs in the sample, as the profile `crawl` writes them.
    pub urls: Vec<String>,
    /// The entry as it is written in its file.
    pub source: String,
    /// The reader.
    pub(in crate::record) format: Format,
    /// Whether a line has this format.
    pub(in crate::record) test: LineTest,
    /// Whether a hint may name the format where `auto` finds none.
    pub(in crate::record) is_suggested: bool,
}

impl NamedFormat {
    /// The reader.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// True if `auto` finds the format.
    pub fn is_detected(&self) -> bool {
        !matches!(self.test, LineTest::Never)
    }

    pub(super) fn has_name(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }
}

/// The reason why a file of formats cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatFileError {
    /// The line of the error, counted from 1.
    pub line: usize,
    /// The reason, in printable characters.
    pub reason: String,
}

impl fmt::Display for FormatFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for FormatFileError {}
