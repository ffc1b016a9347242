//! Finds the URL in each record of an input.
//!
//! A format turns a chunk of whole records into one [`Record`] each, in order. It undoes the log's
//! own escaping exactly once, and no other escaping. It joins a request target to the host that the
//! log or the base names. It never looks inside a URL. A record without a URL carries a reason:
//! nothing is dropped.
//!
//! The input is a chunk and a [`Context`]; the output is [`Records`], spans without lifetimes.
//! A [`Format`] is a handle to a [`Layout`]. Most new formats are an entry of `data/formats.toml`. For a layout
//! that no entry can describe, write a file with a `read` built on `line::each` and with what else the layout
//! has (its parts, its columns, the test of its lines), a line in the list of `layouts`, and a second, slow
//! reader in `tests/formats/record_oracle/` that must agree with it.

mod escape;
mod entity;
mod hosts;
mod label;
mod line;
mod separators;

mod filter;
mod origin;
mod target;
mod request;
mod part;
mod columns;
mod fields;
mod error;

mod layout;

mod list;
mod ws;
mod clf;
mod vhost;
mod access;
mod haproxy;
mod elb;
mod log;
mod ltsv;
mod json;
mod csv;
mod extended;
mod tsv;
mod cdx;
mod cdxj;
mod robots;
mod sitemap;
mod text;
mod archive;
mod container;
mod table;

mod envelope;

mod format;
mod layouts;
mod named;
mod names;
mod carry;

mod unsupported;
mod value_kind;
mod census;
mod advice;
mod trial;
mod left_out;
mod suggest;
mod detect;

pub use archive::{Archive, Kinds};
pub use container::Container;
pub use csv::Csv;
pub use detect::refusal;
pub use detect::{Detected, Doubts, detect};
pub use envelope::{Envelope, EnvelopeChoice, wrap};
pub use error::FormatError;
pub use extended::Extended;
pub use filter::{BadFilter, Filter};
pub use format::{Format, Wrapped};
pub use json::Json;
pub use label::Labels;
pub use layout::Layout;
pub use log::LogFormat;
pub use named::{FormatFileError, FormatTable, NamedFormat};
pub use part::{PartSet, RecordPart};
pub use suggest::{Finds, Suggestion, suggest, suggest_members};
pub use table::TableFormat;
pub use text::Text;
pub use tsv::Tsv;
pub use unsupported::Refusal;

pub use archive::{Frame, FrameState};
pub(crate) use archive::{WARC_VERSION, arc_body, blanks, could_be_archive, warc_body, warc_head};

pub use detect::{HEAD, HeadLines, head_limit, is_table, refusal_of_auto};
pub use line::without_mark;
pub use line::{MARK, cut};

pub use carry::{Carrier, Values, carrying, missing};
pub use fields::{FieldReader, Fields, Measured, parse_time, write_time};
#[cfg(feature = "tables")]
pub(crate) use table::{ALIKE, NoColumn};
pub use table::{NULL, RowBatch};

use uniqurl::RejectReason;
use uniqurl::internal::{Origin, Span, Targets};

/// Whether this build reads Parquet and Arrow.
pub(crate) const READS_TABLES: bool = cfg!(feature = "tables");

/// How an input is cut into records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// At line feeds.
    Lines,
    /// By the heads of WARC records.
    Warc {
        /// Whether the reader also needs the bodies.
        bodies: bool,
    },
    /// By the heads of ARC records.
    Arc,
}

/// One record of a chunk and its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// The record's own bytes in the chunk, without its line ending.
    pub line: Span,
    /// Where its URL is, or why it has none.
    pub found: Extracted,
}

/// The content of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extracted {
    /// Nothing but spaces and tabs.
    Blank,
    /// A header or a comment, not a record.
    Skipped,
    /// A record that [`Context::filter`] excludes.
    Filtered,
    /// No URL can be read. The position is an offset in the target if there is a target, else 0.
    Reject(RejectReason, u32),
    /// An absolute URL; in a list, the whole line unchecked.
    Url(BufferId, Span),
    /// A request target without a known host: a path and a query, never a reference. It is in
    /// origin-form unless [`Targets`] admits more.
    Target(BufferId, Span),
    /// A target after the scheme and authority it was joined to, in [`Records::scratch`]. Leading
    /// bytes up to 0x20 of the target move in front of the scheme, where profiles that trim find
    /// them ([`Targets::Trimmed`]).
    Joined {
        /// The whole URL.
        url: Span,
        /// Number of bytes added to the target: `scheme://authority`, and a slash if the target
        /// lacks one. A position after them and after the blanks before the scheme, minus this
        /// number, is the position in the target. Any other position is in the host from the log,
        /// the record or the base.
        prefix: u32,
    },
}

/// The buffer that a span points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferId {
    /// The chunk itself: the bytes need no unescaping.
    Chunk,
    /// [`Records::scratch`]: an escape was undone.
    Scratch,
}

/// The records of one chunk. Reused from chunk to chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    /// One entry for each record, in the order of the chunk.
    pub records: Vec<Record>,
    /// URLs that differ from the chunk's bytes: unescaped or joined.
    pub scratch: Vec<u8>,
    window: Window,
}

/// Selects the records of a chunk to read. The output can be thousands of times as long as its
/// chunk: a page's address precedes each of its links, and a base precedes each target of a log. So
/// one chunk may be read in several passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Window {
    /// Records still to skip.
    passing: usize,
    /// Reading stops once [`Records::scratch`] or [`Records::records`] holds more bytes than this.
    most: usize,
    /// Skipped records that are kept all the same: headers, which describe the records after them.
    headers: usize,
}

impl Default for Window {
    fn default() -> Self {
        Self { passing: 0, most: usize::MAX, headers: 0 }
    }
}

impl Records {
    /// Removes the records and keeps the memory.
    pub fn clear(&mut self) {
        self.records.clear();
        self.scratch.clear();
        self.window = Window::default();
    }

    /// Clears the records, then skips the first `from` records of the next chunk and stops reading
    /// once the scratch buffer, or the list of records, holds more than `most` bytes.
    pub fn limit(&mut self, from: usize, most: usize) {
        self.clear();
        self.window = Window { passing: from, most, headers: 0 };
    }

    /// Appends the next record, unless the window skips it.
    #[inline]
    fn push(&mut self, record: Record) {
        if self.window.passing == 0 {
            self.records.push(record);
            return;
        }
        self.window.passing -= 1;
        // Nothing that is kept points there, since headers have no URL. Left alone, it would fill
        // the window before a record is read.
        self.scratch.clear();
        if record.found == Extracted::Skipped {
            self.window.headers += 1;
            self.records.push(record);
        }
    }

    /// Skips up to `count` records, as many as the window asks for, and returns how many it skipped.
    fn pass_over(&mut self, count: usize) -> usize {
        let passed = count.min(self.window.passing);
        self.window.passing -= passed;
        passed
    }

    /// True if no more records of this chunk are to be read.
    #[inline]
    pub fn is_full(&self) -> bool {
        // Headers are not counted: a chunk of many would be full in each pass, before the first
        // record.
        self.scratch.len() > self.window.most
            || self.records.len() - self.window.headers > self.window.most / size_of::<Record>()
    }

    /// The number of headers kept from among the skipped records.
    pub fn headers(&self) -> usize {
        self.window.headers
    }
}

/// Default limit on a URL's length in bytes.
pub const MAX_URL: usize = 64 << 10;

/// Default limit on a record's length in bytes: documents of megabytes beside a short URL are usual.
pub const MAX_RECORD: usize = 16 << 20;

/// Highest limit on a record's length, in bytes.
pub const LONGEST_RECORD: usize = 512 << 20;

/// The limit on a record's length, in bytes, where none is chosen: at least 1 MiB more than that on URLs.
pub const fn max_record(max_url: usize) -> usize {
    // The other fields of a record need room beside the longest URL.
    let around = max_url + (1 << 20);
    if around > MAX_RECORD { around } else { MAX_RECORD }
}

/// Highest limit on a URL's length, in bytes, that the command and the Python package accept.
pub const LONGEST_URL: usize = 64 << 20;

/// Longest key that is read from a list of keys: no canonical form of the longest URL is longer.
pub const LONGEST_KEY: usize = 640 << 20;

/// The settings for reading a record.
#[derive(Debug, Clone)]
pub struct Context {
    /// Scheme and authority for targets of logs that do not name a host.
    pub base: Option<Origin>,
    /// How the profile reads request targets.
    pub targets: Targets,
    /// Longest URL in bytes; a longer one is [`RejectReason::TooLong`].
    pub max_url: usize,
    /// Longest record in bytes. The reader passes on at most one byte more of a longer one, which
    /// is [`RejectReason::TooLong`] and is not parsed.
    pub max_record: usize,
    /// Excludes records by method, status and media type.
    pub filter: Filter,
    /// The end of a record of [`Format::Lines`]; other formats have their own.
    pub separator: Separator,
}

impl Default for Context {
    /// No base, no filter, targets as `crawl` reads them; URLs of up to 64 KiB in records of up to
    /// 16 MiB.
    fn default() -> Self {
        Self {
            base: None,
            targets: Targets::default(),
            max_url: MAX_URL,
            max_record: MAX_RECORD,
            filter: Filter::default(),
            separator: Separator::LineFeed,
        }
    }
}

/// The terminator of a record in a list.
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
    fn reading_in_parts_gives_the_same_records() {
        let base = Origin { scheme: b"http".to_vec(), authority: b"a-long-base".to_vec() };
        let ctx = Context { base: Some(base), ..Context::default() };
        for (format, chunk) in [
            (("target", ""), "/a\n/b\nno\n\n/c\n/d"),
            (("csv:target=u", ""), "\nn,u\n1,/a\n2,\"/b\"\"\"\n\"x\n\",/c\n4,/d\n"),
            (("w3c", ""), "#Fields: cs-uri-stem\n/a\n/b\n#Fields: x cs-uri-stem\n1 /c\n2 /d\n"),
            (("text", ""), "see <http://a\tb/> and\nhttp://c http://d\nnothing\n<http://e\tf/>\n"),
            (
                ("target", "docker"),
                "{\"log\":\"/a\\n\"}\n/b\n{\"log\":\"\"}\n{\"log\":\"/c\\n/d\\n\"}\n{\"log\":\"/e\"}\n",
            ),
            (
                ("lines", "docker"),
                "{\"log\":\"http://aaaaaaa/\"}\n{\"log\":\"http://bbbbbbbbbbbbbb/\"}\nno\n{\"log\":\"c\"}\n",
            ),
            (
                ("text", "docker"),
                "{\"log\":\"a http://a/ http://b/\"}\nno\n{\"log\":\"none\"}\nno\n{\"log\":\"http://c/\"}\n",
            ),
            (
                ("csv:target=u", "docker"),
                "no\n{\"log\":\"n,u\\n\"}\n{\"log\":\"1,/a\"}\n{\"log\":\"2,\\\"/b\"}\n{\"log\":\"3,/c\"}\n",
            ),
        ] {
            let format = Format::parse(format.0).map(|parsed| match format.1 {
                "" => parsed,
                envelope => {
                    let choice = EnvelopeChoice::named(envelope).unwrap();
                    wrap(choice, &parsed, b"", true).unwrap()
                }
            });
            let format = format.unwrap();
            let urls = |records: &Records, scratch: &[u8]| -> Vec<(Extracted, Vec<u8>)> {
                let found = records.records.iter().skip(records.headers());
                let bytes = |found| match found {
                    Extracted::Url(BufferId::Scratch, span)
                    | Extracted::Target(BufferId::Scratch, span) => span.of(scratch),
                    Extracted::Joined { url, .. } => url.of(scratch),
                    _ => b"",
                };
                // The offset in the buffer depends on earlier records.
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
