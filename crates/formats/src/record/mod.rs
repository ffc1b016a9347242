//! Where the URL is in a record.
//!
//! A format turns a chunk, which holds whole records only, into one [`Record`] for each of them, in
//! order. It undoes the log's own escaping exactly once (and only that log's own) and joins a
//! request target to the host that the log or the base names; it never looks inside a URL. A record
//! that yields no URL says why: nothing is dropped.
//!
//! In comes a chunk and a [`Context`]; out come [`Records`], spans without lifetimes. [`Format`]
//! names the formats. To add one: a file here with a `read` built on `line::each`, a variant of
//! [`Format`], and a second, slow reader in `tests/formats/record_oracle/` that must agree with it. A format
//! with named fields says which of them is what part of a URL, and is done. One whose header
//! says where things are has an `after` too: the format as it stands behind a chunk.

mod detect;
mod unsupported;
mod format;

mod filter;
mod line;
mod origin;
mod target;

mod escape;
mod request;

mod columns;
mod part;
mod separators;

mod cdx;
mod cdxj;
mod clf;
mod csv;
mod elb;
mod extended;
mod haproxy;
mod json;
mod log;
mod container;
mod table;
mod text;
mod tsv;
mod vhost;
mod ws;

mod archive;

mod carry;
mod saved_set;

pub use archive::{Archive, Kinds};
pub use cdx::Cdx;
pub use container::Container;
pub use csv::Csv;
pub use detect::detect;
pub use detect::refusal;
pub use extended::Extended;
pub use filter::{BadFilter, Filter};
pub use format::{Format, FormatError};
pub use json::Json;
pub use log::LogFormat;
pub use part::Facts;
pub use saved_set::{BREAKS_OFF, LONGEST_KEY, Parsed, SetHeader};
pub use table::TableFormat;
pub use tsv::Tsv;
pub use unsupported::Refusal;

pub use archive::{Frame, FrameState};
pub(crate) use archive::{arc_body, blanks, could_be_archive, warc_body, warc_head};

pub use detect::{HEAD, is_table, refusal_of_auto};
pub use line::without_mark;
pub use line::{MARK, cut};

pub use carry::{Carrier, Values, carrying, missing};
#[cfg(feature = "tables")]
pub(crate) use table::{ALIKE, NoColumn};
pub use table::{NULL, RowBatch};

use uniqurl::bytes::{RejectReason, Span};
use uniqurl::normalize::{Origin, Targets};

/// Whether this build reads Parquet and Arrow.
pub(crate) const READS_TABLES: bool = cfg!(feature = "tables");

/// How an input is cut into records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
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

/// One record of a chunk, and what was found in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The record's own bytes in the chunk, without its line ending.
    pub line: Span,
    /// Where its URL is, or why it has none.
    pub found: Extracted,
}

/// What a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extracted {
    /// Nothing but spaces and tabs.
    Blank,
    /// A header or a comment: no record at all.
    Skipped,
    /// A record that [`Context::filter`] does not want.
    Filtered,
    /// No URL can be read from it. The position counts in the target where one was found, else it is 0.
    Reject(RejectReason, u32),
    /// An absolute URL, or in a list whatever stands there.
    Url(BufferId, Span),
    /// A request target with no host known, in origin-form but where [`Targets`] says more: a path
    /// and a query, never a reference.
    Target(BufferId, Span),
    /// A target behind the scheme and authority it was joined to, in [`Records::scratch`]. Bytes up to
    /// 0x20 before the target's slash stand before the scheme, where profiles that trim find them
    /// ([`Targets::Trimmed`]).
    Joined {
        /// The whole URL.
        url: Span,
        /// Bytes put in front of the target: `scheme://authority`, and a slash where it lacks one. A
        /// position behind them and the blanks before the scheme is, less this, the position in the
        /// target; any other is in what the log, the record or the base says of the host.
        prefix: u32,
    },
}

/// The buffer that a span points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferId {
    /// The chunk itself: the bytes stand there as they are meant.
    Chunk,
    /// [`Records::scratch`]: an escape had to be undone.
    Scratch,
}

/// The records of one chunk. Reused from chunk to chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    /// One entry for each record, in the order of the chunk.
    pub records: Vec<Record>,
    /// URLs that are not in the chunk as they are meant: unescaped or joined.
    pub scratch: Vec<u8>,
    window: Window,
}

/// Which records of a chunk are read. What a format puts together may be thousands of times as long as
/// its chunk: a page's address before each of its links, a base before each target of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Window {
    /// Records that are still to be passed over.
    passing: usize,
    /// Bytes of [`Records::scratch`] behind which no record is read.
    most: usize,
    /// Records that were passed over and are there nevertheless: they say what is behind them.
    headers: usize,
}

impl Default for Window {
    fn default() -> Self {
        Self { passing: 0, most: usize::MAX, headers: 0 }
    }
}

impl Records {
    /// Forgets the records and keeps the memory.
    pub fn clear(&mut self) {
        self.records.clear();
        self.scratch.clear();
        self.window = Window::default();
    }

    /// Has the first `from` records of the next chunk passed over, and none read once there are more
    /// than `most` bytes beside it.
    pub fn limit(&mut self, from: usize, most: usize) {
        self.clear();
        self.window = Window { passing: from, most, headers: 0 };
    }

    /// Takes the next record, unless it is to be passed over.
    #[inline]
    fn push(&mut self, record: Record) {
        if self.window.passing == 0 {
            self.records.push(record);
            return;
        }
        self.window.passing -= 1;
        self.scratch.clear();
        if record.found == Extracted::Skipped {
            self.window.headers += 1;
            self.records.push(record);
        }
    }

    /// Passes over those of the next `count` records that are to be, and says how many they are.
    fn pass_over(&mut self, count: usize) -> usize {
        let passed = count.min(self.window.passing);
        self.window.passing -= passed;
        passed
    }

    /// Whether no more are to be read of this chunk.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.scratch.len() > self.window.most
    }

    /// How many of the records are headers from among those that were passed over.
    pub fn headers(&self) -> usize {
        self.window.headers
    }
}

/// Longest URL in bytes where nothing is said of it.
pub const MAX_URL: usize = 64 << 10;

/// Longest URL in bytes that the command and the Python package can be told to take.
pub const LONGEST_URL: usize = 64 << 20;

/// What reading a record takes beyond the record itself.
#[derive(Debug, Clone)]
pub struct Context {
    /// Scheme and authority for targets of logs that do not name a host.
    pub base: Option<Origin>,
    /// How the profile reads request targets.
    pub targets: Targets,
    /// Longest URL in bytes; a longer one is [`RejectReason::TooLong`].
    pub max_url: usize,
    /// Longest record in bytes; the reader hands over at most one byte more of a longer one, and
    /// such a record is [`RejectReason::TooLong`] unread.
    pub max_record: usize,
    /// Which records are wanted by what the format says of them beside the URL.
    pub filter: Filter,
    /// What ends a record of [`Format::Lines`]; those of other formats end as they do.
    pub separator: Separator,
}

impl Default for Context {
    /// No base, no filter, targets as `crawl` reads them; URLs of up to 64 KiB, and 1 MiB more for
    /// the record around one.
    fn default() -> Self {
        Self {
            base: None,
            targets: Targets::default(),
            max_url: MAX_URL,
            max_record: MAX_URL + (1 << 20),
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
    pub const fn byte(self) -> u8 {
        match self {
            Separator::LineFeed => b'\n',
            Separator::Nul => 0,
        }
    }

    /// The byte 0 if `nul`, else a line feed.
    pub fn from_flag(nul: bool) -> Self {
        if nul { Separator::Nul } else { Separator::LineFeed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_that_are_read_in_parts_are_those_that_are_read_at_once() {
        let base = Origin { scheme: b"http".to_vec(), authority: b"a-long-base".to_vec() };
        let ctx = Context { base: Some(base), ..Context::default() };
        for (format, chunk) in [
            ("target", "/a\n/b\nno\n\n/c\n/d"),
            ("csv:target=u", "\nn,u\n1,/a\n2,\"/b\"\"\"\n\"x\n\",/c\n4,/d\n"),
            ("w3c", "#Fields: cs-uri-stem\n/a\n/b\n#Fields: x cs-uri-stem\n1 /c\n2 /d\n"),
            ("text", "see <http://a\tb/> and\nhttp://c http://d\nnothing\n<http://e\tf/>\n"),
        ] {
            let format = Format::parse(format).unwrap();
            let urls = |records: &Records, scratch: &[u8]| -> Vec<(Extracted, Vec<u8>)> {
                let found = records.records.iter().skip(records.headers());
                let bytes = |found| match found {
                    Extracted::Url(BufferId::Scratch, span)
                    | Extracted::Target(BufferId::Scratch, span) => span.of(scratch),
                    Extracted::Joined { url, .. } => url.of(scratch),
                    _ => b"",
                };
                // Where it is in the buffer depends on what is before it.
                let kind = |found| match found {
                    Extracted::Url(BufferId::Scratch, _) => Extracted::Blank,
                    Extracted::Joined { prefix, .. } => {
                        Extracted::Joined { url: Span::default(), prefix }
                    }
                    found => found,
                };
                found.map(|record| (kind(record.found), bytes(record.found).to_vec())).collect()
            };
            let mut all = Records::default();
            format.read(&ctx, chunk.as_bytes(), &mut all);
            for most in [0, 20, 50] {
                let mut parts = Vec::new();
                let mut records = Records::default();
                let mut from = 0;
                loop {
                    records.limit(from, most);
                    format.read(&ctx, chunk.as_bytes(), &mut records);
                    let part = urls(&records, &records.scratch);
                    from += part.len();
                    parts.extend(part);
                    if !records.is_full() {
                        break;
                    }
                }
                assert_eq!(parts, urls(&all, &all.scratch), "{} {most}", format.name());
            }
        }
    }
}
