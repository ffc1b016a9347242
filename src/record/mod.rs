//! Where the URL is in a record.
//!
//! A format turns a chunk, which holds whole records only, into one [`Record`] for each of them, in
//! order. It undoes the log's own escaping exactly once (and only that log's own) and joins a
//! request target to the host that the log or the base names; it never looks inside a URL. A record
//! that yields no URL says why: nothing is dropped.
//!
//! In comes a chunk and a [`Context`]; out come [`Records`], spans without lifetimes. [`Format`]
//! names the formats. To add one: a file here with a `read` built on `line::each`, a variant of
//! [`Format`], and a second, slow reader in `tests/library/record_oracle/` that must agree with it. A format
//! with named fields says which of them is what part of a URL, and is done. One whose header
//! says where things are has an `after` too: the format as it stands behind a chunk.

mod detect;
mod format;

mod filter;
mod line;
mod site;
mod target;

mod escape;
mod request;

mod columns;
mod part;

mod cdx;
#[cfg(feature = "batch")]
mod cdxj;
mod clf;
#[cfg(feature = "batch")]
mod csv;
mod elb;
mod extended;
mod haproxy;
#[cfg(feature = "batch")]
mod json;
mod log;
#[cfg(feature = "tables")]
mod table;
mod text;
mod tsv;
mod vhost;
mod ws;

#[cfg(feature = "batch")]
mod archive;

#[cfg(feature = "batch")]
mod carry;

#[cfg(feature = "batch")]
pub use archive::{Archive, Kinds, NoSuchKind};
pub use cdx::Cdx;
#[cfg(feature = "batch")]
pub use csv::Csv;
pub use detect::detect;
#[cfg(feature = "batch")]
pub use detect::refusal;
pub use extended::Extended;
pub use filter::{BadFilter, Filter};
pub use format::{Format, FormatError};
#[cfg(feature = "batch")]
pub use json::Json;
pub use log::LogFormat;
pub use part::Facts;
#[cfg(feature = "tables")]
pub use table::{Container, Table};
pub use tsv::Tsv;

#[cfg(feature = "batch")]
pub(crate) use archive::{Frame, State, arc_body, could_be_archive, warc_body, warc_head};

#[cfg(feature = "batch")]
pub(crate) use carry::{Carrier, Values, carrying, missing};
#[cfg(feature = "tables")]
pub(crate) use table::{NULL, NoColumn, Rows};

use std::ops::Range;

use crate::url::Code;

/// How an input is cut into records.
#[cfg(feature = "batch")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// At line feeds.
    Lines,
    /// By the heads of WARC records.
    Warc {
        /// Whether what is behind the heads is wanted.
        bodies: bool,
    },
    /// By the heads of ARC records.
    Arc,
}

/// A range of bytes of a chunk or of [`Records::side`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte; never below `start`.
    pub end: u32,
}

impl Span {
    /// The bytes of the span in `bytes`, which is the buffer the span was made for.
    #[inline]
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.range()]
    }

    /// Where the span is in its buffer.
    #[inline]
    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Length in bytes.
    #[inline]
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether the span holds no byte.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// One record of a chunk, and what was found in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The record's own bytes in the chunk, without its line ending.
    pub line: Span,
    /// Where its URL is, or why it has none.
    pub found: Found,
}

/// What a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing but spaces and tabs.
    Blank,
    /// A header or a comment: no record at all.
    Skipped,
    /// A record that [`Context::filter`] does not want.
    Filtered,
    /// No URL can be read from it. The position counts in the target where one was found, else it is 0.
    Reject(Code, u32),
    /// An absolute URL, or in a list whatever stands there.
    Url(Place, Span),
    /// A request target in origin-form with no host known: a path and a query, never a reference.
    Target(Place, Span),
    /// A target behind the scheme and authority it was joined to, in [`Records::side`]. Bytes up to
    /// 0x20 before the target's slash stand before the scheme, where profiles that trim find them.
    Joined {
        /// The whole URL.
        url: Span,
        /// Bytes put in front of the target's slash: `scheme://authority`. A position in the URL
        /// less this, and not below 0, is the position in what the record itself says.
        prefix: u32,
    },
}

/// The buffer that a span points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The chunk itself: the bytes stand there as they are meant.
    Chunk,
    /// [`Records::side`]: an escape had to be undone.
    Side,
}

/// The records of one chunk. Reused from chunk to chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    /// One entry for each record, in the order of the chunk.
    pub records: Vec<Record>,
    /// URLs that are not in the chunk as they are meant: unescaped or joined.
    pub side: Vec<u8>,
}

impl Records {
    /// Forgets the records and keeps the memory.
    pub fn clear(&mut self) {
        self.records.clear();
        self.side.clear();
    }
}

/// What reading a record takes beyond the record itself.
#[derive(Debug, Clone)]
pub struct Context {
    /// Scheme and authority of `--base`, for targets of logs that do not name a host.
    pub base: Option<Origin>,
    /// Longest URL in bytes; a longer one is [`Code::TooLong`].
    pub max_url: usize,
    /// Longest record in bytes; the reader hands over at most one byte more of a longer one, and
    /// such a record is [`Code::TooLong`] unread.
    pub max_record: usize,
    /// Which records are wanted by what the format says of them beside the URL.
    pub filter: Filter,
    /// What ends a record of [`Format::Lines`]; those of other formats end as they do.
    pub separator: Separator,
}

impl Default for Context {
    /// No base, no filter; URLs of up to 64 KiB, and 1 MiB more for the record around one.
    fn default() -> Self {
        let max_url = 64 << 10;
        Self {
            base: None,
            max_url,
            max_record: max_url + (1 << 20),
            filter: Filter::default(),
            separator: Separator::LineFeed,
        }
    }
}

/// What ends a record of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Separator {
    /// A line feed, or a carriage return and a line feed.
    #[default]
    LineFeed,
    /// The byte 0.
    Nul,
}

impl Separator {
    /// The byte itself.
    #[cfg(feature = "batch")]
    pub(crate) const fn byte(self) -> u8 {
        match self {
            Separator::LineFeed => b'\n',
            Separator::Nul => 0,
        }
    }

    #[cfg(feature = "cli")]
    pub(crate) fn from_flag(nul: bool) -> Self {
        if nul { Separator::Nul } else { Separator::LineFeed }
    }
}

/// Scheme and authority that a request target is joined to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The scheme without its colon.
    pub scheme: Vec<u8>,
    /// The authority without its slashes.
    pub authority: Vec<u8>,
}
