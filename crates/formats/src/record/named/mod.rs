//! The formats with a name, as data: `data/formats.toml`, and files of the same form.
//!
//! Each entry holds a name, a layout and a sample. It is what `--format NAME` reads, what
//! `--format auto` looks for, what `uniqurl formats` prints, and what the tests try. A new format is
//! one entry.

mod fits;
mod entry;
mod parse;

use std::sync::{Arc, LazyLock};

pub use self::entry::{FormatFileError, NamedFormat};
use super::{Format, FormatError};

/// The entries that come with the program.
const SHIPPED: &str = include_str!("../../../data/formats.toml");

static TABLE: LazyLock<Arc<FormatTable>> = LazyLock::new(|| {
    // The table is part of the program, and the tests read it, so no user meets an error here.
    let entries = parse::entries(SHIPPED);
    Arc::new(FormatTable { entries: entries.unwrap_or_default(), own: 0 })
});

/// The formats with a name, in the order in which `auto` tries them.
#[derive(Debug, Default)]
pub struct FormatTable {
    entries: Vec<Arc<NamedFormat>>,
    /// How many of them, the first ones, are of files.
    own: usize,
}

impl FormatTable {
    /// The formats that come with the program.
    pub fn shipped() -> &'static Arc<FormatTable> {
        &TABLE
    }

    /// These formats and those of a file, which `auto` tries first, and which replace others of their
    /// names.
    ///
    /// ```
    /// use uniqurl_formats::record::FormatTable;
    ///
    /// let file = r#"
    /// [[format]]
    /// name = "shop"
    /// description = "The log of a shop"
    /// log = '$time_iso8601 $request_method $host "$request_uri" $status'
    /// "#;
    /// let table = FormatTable::shipped().with_file(file)?;
    /// let line = b"2024-01-01T00:00:00Z GET a.example \"/x\" 200\n";
    /// assert_eq!(table.detect("x", line, true).format.name(), "shop");
    /// # Ok::<(), uniqurl_formats::record::FormatFileError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The first thing in the text that is not an entry.
    pub fn with_file(&self, text: &str) -> Result<FormatTable, FormatFileError> {
        let mut entries = parse::entries(text)?;
        let own = entries.len() + self.own;
        entries.extend(self.entries.iter().cloned());
        Ok(FormatTable { entries, own })
    }

    /// The entries.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &NamedFormat> + DoubleEndedIterator {
        self.entries.iter().map(|entry| &**entry)
    }

    /// The entry of a file whose layout most lines have.
    pub(super) fn own_format<'a>(&self, lines: impl Iterator<Item = &'a [u8]>) -> Option<Format> {
        let own = &self.entries[..self.own];
        let mut votes = vec![0; self.own];
        let mut all = 0;
        // Most runs have no file of formats, and need no pass over the lines.
        for line in lines.take_while(|_| self.own > 0) {
            all += 1;
            let entry = own.iter().position(|entry| entry.test.fits(line));
            entry.into_iter().for_each(|entry| votes[entry] += 1);
        }
        let entry = votes.iter().position(|votes| votes * 2 > all)?;
        Some(own[entry].format.clone())
    }

    /// The entry with this name or alias.
    pub fn find(&self, name: &str) -> Option<&NamedFormat> {
        self.entries().find(|entry| entry.has_name(name))
    }

    /// Parses a format's name as [`Format::parse`] does, with the entries of this table.
    ///
    /// # Errors
    ///
    /// As for [`Format::parse`].
    pub fn parse(&self, name: &str) -> Result<Format, FormatError> {
        // Layouts first: an entry that takes the name of one is an error, so this hides nothing.
        Format::built_in(name).or_else(|error| self.parse_named(name).ok_or(error))
    }

    /// The format of the entry with this name.
    pub(super) fn parse_named(&self, name: &str) -> Option<Format> {
        self.find(name).map(|entry| entry.format.clone())
    }
}

#[cfg(test)]
mod tests;
