//! A format: a handle to a layout, with the few questions that concern one layout alone.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::envelope::wrapped::{Handle, Wrapped as WrappedIn};
use super::layout::Layout;
use super::{
    Archive, Context, Csv, Extended, Json, Kinds, Labels, LogFormat, TableFormat, Text, Tsv,
};
use super::{clf, haproxy, list, sitemap, vhost};

/// A reader that finds the URL in each record.
///
/// Reading never fails: a line without a URL yields a [`RejectReason`](uniqurl::RejectReason). The
/// same lines give the same records however they are cut into chunks.
///
/// ```
/// use uniqurl_formats::record::{Context, Format, Extracted, BufferId, Records};
///
/// let format = Format::parse("combined")?;
/// let log = br#"10.0.0.7 - - [17/May/2015:10:05:03 +0000] "GET /a\x22b HTTP/1.1" 200 5 "-" "-"
/// "#;
/// let mut records = Records::default();
/// format.read(&Context::default(), log, &mut records);
/// let Extracted::Target(BufferId::Scratch, target) = records.records[0].found else { panic!() };
/// assert_eq!(target.of(&records.scratch), b"/a\"b");
/// # Ok::<(), uniqurl_formats::record::FormatError>(())
/// ```
///
/// It does not read binary files: archives, Parquet and Arrow have readers of their own. All else that a format
/// can say of its records, its [`Layout`] says. Layouts that no other code asks for by name are
/// [`Other`](Self::Other).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Format {
    /// `lines`: each line is a URL.
    Lines,
    /// `lines`, which nobody asked for: lines that begin with a word and a colon as a log may are no URLs.
    Labelled(Labels),
    /// `target`: each line is a request target.
    Target,
    /// `clf`: the Common Log Format.
    Clf,
    /// `combined`: the Common Log Format with two more fields, which its reader ignores.
    Combined,
    /// `vhost`: Apache's `vhost_combined`, whose first field is `host:port`.
    Vhost,
    /// `log:FORMAT`: an Apache or nginx format string.
    Log(LogFormat),
    /// `haproxy`: HAProxy's HTTP log.
    Haproxy,
    /// `w3c` and `cloudfront`: logs with `#Fields:` lines that name the columns.
    Extended(Extended),
    /// `json:POINTER`: one JSON value a line, and a pointer to the URL in it.
    Json(Json),
    /// `csv:COL`: fields separated by commas, or as [`delimited`](Self::delimited) finds, optionally
    /// quoted.
    Csv(Csv),
    /// `tsv:COL`: fields separated by tabs.
    Tsv(Tsv),
    /// `text`: the URLs in free text.
    Text(Text),
    /// `sitemap`: the content of each `<loc>` of an XML sitemap.
    Sitemap,
    /// `warc`, `wat`, `wat:links`, `arc`: the records of a web archive.
    Archive(Archive),
    /// `parquet:COL`, `arrow:COL`: the rows of a table.
    Table(TableFormat),
    /// Any format of lines, in an envelope around each line. [`parse`](Format::parse) never returns it.
    Wrapped(Box<Wrapped>),
    /// Any other layout: `ws:N`, `elb`, `ltsv`, `cdx`, `cdxj`.
    Other(Arc<dyn Layout>),
}

/// A format in an envelope.
pub type Wrapped = WrappedIn<Format>;

/// The layout. This is the only place that knows which layout a format has.
impl Deref for Format {
    type Target = dyn Layout;

    fn deref(&self) -> &(dyn Layout + 'static) {
        match self {
            Format::Lines | Format::Labelled(_) => &list::Lines,
            Format::Target => &list::Target,
            Format::Clf => &clf::CLF,
            Format::Combined => &clf::COMBINED,
            Format::Vhost => &vhost::Vhost,
            Format::Haproxy => &haproxy::Haproxy,
            Format::Sitemap => &sitemap::Sitemap,
            Format::Log(log) => log,
            Format::Extended(extended) => extended,
            Format::Json(json) => json,
            Format::Csv(csv) => csv,
            Format::Tsv(tsv) => tsv,
            Format::Text(text) => text,
            Format::Archive(archive) => archive,
            Format::Table(table) => table,
            Format::Wrapped(wrapped) => &**wrapped,
            Format::Other(layout) => &**layout,
        }
    }
}

impl Format {
    /// A layout that needs no name of its own here.
    pub(super) fn other(layout: impl Layout + 'static) -> Self {
        Format::Other(Arc::new(layout))
    }

    /// The format for the input after `chunk`, if it differs: a header in the chunk describes the
    /// records that follow it.
    ///
    /// ```
    /// use uniqurl_formats::record::{Context, Format, Extracted, Records};
    ///
    /// let at_start = Format::parse("tsv:url")?;
    /// let behind = at_start.after(&Context::default(), b"id\turl\n").expect("there is a header");
    /// let mut records = Records::default();
    /// behind.read(&Context::default(), b"1\thttp://h/\n", &mut records);
    /// assert!(matches!(records.records[0].found, Extracted::Url(..)));
    /// # Ok::<(), uniqurl_formats::record::FormatError>(())
    /// ```
    pub fn after(&self, ctx: &Context, chunk: &[u8]) -> Option<Self> {
        match self {
            Format::Wrapped(wrapped) => {
                wrapped.after(ctx, chunk).map(|after| Format::Wrapped(Box::new(after)))
            }
            format => format.following(ctx, chunk).map(Format::Other),
        }
    }

    /// Applies a line that is not a record, such as a header.
    pub(super) fn pass(&mut self, line: &[u8]) {
        // The reader has looked at its length.
        let ctx = Context { max_record: usize::MAX, ..Context::default() };
        if let Some(after) = self.after(&ctx, line) {
            *self = after;
        }
    }

    /// The format of the lines in an envelope, if there is one.
    pub(super) fn inner(&self) -> &Format {
        match self {
            Format::Wrapped(wrapped) => wrapped.format(),
            format => format,
        }
    }

    /// The format of a record in its envelope, and the record without it.
    pub(super) fn unwrapped<'f, 'a>(
        &'f self,
        line: &'a [u8],
        buffer: &'a mut Vec<u8>,
    ) -> (&'f Format, &'a [u8]) {
        match self {
            Format::Wrapped(wrapped) => (wrapped.format(), wrapped.text_of(line, buffer)),
            format => (format, line),
        }
    }

    /// The lines that are no URLs in a list that was guessed. To a user who says `lines`, each line is one.
    pub fn labels(&self) -> Option<Labels> {
        match self {
            Format::Labelled(labels) => Some(*labels),
            _ => None,
        }
    }

    /// True if the beginning of an input may change how this format is read.
    pub fn needs_head(&self) -> bool {
        self.may_refuse() || matches!(self, Format::Csv(_))
    }

    /// The byte between the columns of a table of `csv`, if it is no comma.
    pub fn delimiter(&self) -> Option<u8> {
        match self {
            Format::Csv(csv) => Some(csv.delimiter()).filter(|delimiter| *delimiter != b','),
            _ => None,
        }
    }

    /// The format for an input with this beginning, if it separates the columns of a table by another byte
    /// than a comma.
    pub fn delimited(&self, ctx: &Context, head: &[u8]) -> Option<Self> {
        let Format::Csv(csv) = self else { return None };
        if csv.has_delimiter() {
            return None;
        }
        let delimiter = csv.delimiter_of(ctx, head);
        (delimiter != b',').then(|| Format::Csv(csv.clone().with_delimiter(delimiter)))
    }

    /// The same with this byte between the columns of a table of `csv`; None for other formats.
    pub fn with_delimiter(&self, delimiter: u8) -> Option<Self> {
        let Format::Csv(csv) = self else { return None };
        Some(Format::Csv(csv.clone().with_delimiter(delimiter)))
    }

    /// True if the rows of an input with this beginning may be URLs or columns.
    pub fn is_ambiguous(&self, ctx: &Context, head: &[u8]) -> bool {
        let Format::Csv(csv) = self else { return false };
        // A name is found under one delimiter only. A number fits under each of them, so only
        // numbers leave it open.
        let by_number = !csv.has_delimiter() && !csv.columns.need_header();
        by_number && csv.delimiter_of(ctx, head) == b',' && csv.is_ambiguous(ctx, head)
    }

    /// Restricts a WARC format to records of these kinds; other formats stay as they are.
    #[must_use]
    pub fn with_kinds(self, kinds: Kinds) -> Self {
        match self {
            Format::Archive(Archive::Warc(_)) => Format::Archive(Archive::Warc(kinds)),
            format => format,
        }
    }

    /// True if [`with_kinds`](Self::with_kinds) restricts it.
    pub fn has_kinds(&self) -> bool {
        matches!(self, Format::Archive(Archive::Warc(_)))
    }
}

/// An envelope holds a format.
impl Handle for Format {
    fn after(&self, ctx: &Context, chunk: &[u8]) -> Option<Self> {
        self.after(ctx, chunk)
    }
}

/// Writes the name.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{BufferId, Context, Extracted, Records};
    use super::Format;

    /// The records of a chunk.
    pub fn read(format: &Format, ctx: &Context, chunk: &[u8]) -> Records {
        let mut out = Records::default();
        format.read(ctx, chunk, &mut out);
        out
    }

    /// The content of one line, as text.
    pub fn show(format: &Format, ctx: &Context, line: &[u8]) -> String {
        let out = read(format, ctx, line);
        let [record] = out.records[..] else { panic!("one line, {} records", out.records.len()) };
        let text = |place, span: super::super::Span| {
            let bytes = span.of(if place == BufferId::Chunk { line } else { &out.scratch });
            String::from_utf8(bytes.to_vec()).expect("the tests that show are in ASCII")
        };
        match record.found {
            Extracted::Blank => "blank".into(),
            Extracted::Skipped => "skipped".into(),
            Extracted::Filtered => "filtered".into(),
            Extracted::Reject(code, at) => format!("{} {at}", code.name()),
            Extracted::Url(place, span) => format!("url {}", text(place, span)),
            Extracted::Target(place, span) => format!("target {}", text(place, span)),
            Extracted::Joined { url, prefix } => {
                format!("joined {prefix} {}", text(BufferId::Scratch, url))
            }
        }
    }
}
