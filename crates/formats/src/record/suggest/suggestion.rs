//! What a hint may say of an input.

use super::super::Envelope;

/// A way to read an input that has no format of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suggestion {
    /// A format reads it.
    Format {
        /// Its name.
        name: String,
        /// The byte between columns, if it is neither a comma nor a tab.
        delimiter: Option<u8>,
        /// The values that it finds.
        finds: Finds,
    },
    /// Its lines are those of a format in this envelope.
    Envelope(Envelope),
    /// Its lines are words, and no format is known for them.
    Words,
    /// It is no list, and no format is known that reads it.
    NoList,
}

/// What a suggested format finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finds {
    /// The URLs.
    Urls,
    /// The column of a table with the URLs, or those with their parts.
    Columns,
    /// URLs without a scheme, which has to be assumed.
    HostPaths,
    /// A field that the format of `auto` leaves out: its place, as `field 3` or the pointer of a member.
    LeftOut(String),
}

impl Suggestion {
    pub(in crate::record) fn format(name: String, finds: Finds) -> Self {
        Self::Format { name, delimiter: None, finds }
    }
}
