//! The formats by name.
//!
//! The input is a name, as `--format` of the command takes it; the output is a [`Format`], which
//! reads chunks.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::num::NonZeroUsize;
use std::str::FromStr;

use super::columns::Header;
use super::extended::Dialect;
use super::part::{PartSet, RecordPart};
use super::{Archive, Csv, Framing, Json, Kinds, Labels, Text, Wrapped, cdxj};
use super::{
    Cdx, Context, Extended, FormatTable, LogFormat, Records, Separator, Tsv, clf, elb, haproxy,
    line, sitemap, target, vhost, ws,
};
use super::{READS_TABLES, TableFormat};
use uniqurl::UnknownName;

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
/// It does not read binary files: archives, Parquet and Arrow have readers of their own.
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
    /// `ws:N`: the N-th field between white space, counted from 1.
    Ws(NonZeroUsize),
    /// `w3c` and `cloudfront`: logs with `#Fields:` lines that name the columns.
    Extended(Extended),
    /// `elb` and `alb`: the access logs of Amazon's load balancers.
    Elb,
    /// `cdx`: the index of a web archive.
    Cdx(Cdx),
    /// `cdxj`: an index of a web archive with a JSON object in each line.
    Cdxj(Json),
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
}

/// The names of formats. Parameters are in capitals.
#[rustfmt::skip]
const NAMES: [&str; 23] = [
    "lines", "target", "text", "clf", "combined", "vhost", "log:FORMAT", "w3c", "elb", "alb", "cloudfront",
    "haproxy", "ws:N", "csv:COL", "tsv:COL", "json:POINTER", "cdx", "cdxj", "warc", "wat", "wat:links", "arc",
    "sitemap",
];

/// The names of formats of tables.
const TABLES: [&str; 4] = ["parquet", "parquet:COL", "arrow", "arrow:COL"];

/// Other words for formats with a parameter, and the name that is meant.
const ALIASES: [(&str, &str); 10] = [
    ("ndjson", "json:POINTER"),
    ("jsonl", "json:POINTER"),
    ("jsonlines", "json:POINTER"),
    ("list", "lines"),
    ("url", "lines"),
    ("urls", "lines"),
    ("plain", "lines"),
    ("txt", "text"),
    ("robots", "text"),
    ("feather", "arrow"),
];

impl Format {
    /// Parses a format's name: of a reader, or of an entry of the [`FormatTable`] that comes with the
    /// program.
    ///
    /// # Errors
    ///
    /// The name is unknown, or the text after its colon is invalid.
    pub fn parse(name: &str) -> Result<Self, FormatError> {
        Self::built_in(name).or_else(|error| FormatTable::shipped().parse_named(name).ok_or(error))
    }

    /// Parses the name of a format with a reader of its own.
    pub(super) fn built_in(name: &str) -> Result<Self, FormatError> {
        let error = |why| FormatError { name: name.to_owned(), at: 0, why };
        if let Some(text) = name.strip_prefix("log:") {
            return match text {
                "common" => Ok(Format::Clf),
                "combined" => Ok(Format::Combined),
                "vhost_combined" | "vhost_common" => Ok(Format::Vhost),
                _ => LogFormat::parse(text).map(Format::Log).map_err(|error| error.of(name)),
            };
        }
        if let Some(number) = name.strip_prefix("ws:") {
            let digits = number.bytes().all(|byte| byte.is_ascii_digit());
            let field = number.parse().ok().filter(|_| digits);
            return field.map(Format::Ws).ok_or_else(|| {
                error("it is followed by the number of a field, counted from 1, as in ws:3")
            });
        }
        if let Some(pointer) = name.strip_prefix("json:") {
            return Json::parse(pointer).map(Format::Json).map_err(error);
        }
        if let Some(columns) = name.strip_prefix("csv:") {
            return Csv::parse(columns).map(Format::Csv).map_err(error);
        }
        if let Some(columns) = name.strip_prefix("tsv:") {
            return Tsv::parse(columns).map(Format::Tsv).map_err(error);
        }
        if let Some(archive) = Archive::named(name) {
            return Ok(Format::Archive(archive));
        }
        if READS_TABLES && let Some(table) = TableFormat::parse(name) {
            return table.map(Format::Table).map_err(error);
        }
        Ok(match name {
            "lines" => Format::Lines,
            "target" => Format::Target,
            "clf" => Format::Clf,
            "combined" => Format::Combined,
            "vhost" => Format::Vhost,
            "haproxy" => Format::Haproxy,
            "w3c" => Format::Extended(Extended::new(Dialect::W3c)),
            "cloudfront" => Format::Extended(Extended::new(Dialect::CloudFront)),
            "elb" | "alb" => Format::Elb,
            "cdx" => Format::Cdx(Cdx::default()),
            "cdxj" => Format::Cdxj(Json::of_cdxj()),
            "text" => Format::Text(Text::default()),
            "sitemap" => Format::Sitemap,
            "csv" => return Err(error("it is followed by a column, as in csv:url or csv:1")),
            "tsv" => return Err(error("it is followed by a column, as in tsv:url or tsv:1")),
            "json" => {
                return Err(error("it is followed by a pointer, as in json:/url"));
            }
            "ws" => return Err(error("it is followed by the number of a field, as in ws:3")),
            "log" => {
                return Err(error("it is followed by a format string, as in log:'%h \"%r\" %>s'"));
            }
            "varnishlog" => {
                return Err(error(
                    "not read; varnishncsa prints the same requests, as combined reads them",
                ));
            }
            _ => return Err(error(UNKNOWN)),
        })
    }

    /// The names of all formats that are read. Capitals stand for the text after a colon, as in `csv:COL`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().chain(TABLES.iter().filter(|_| READS_TABLES)).copied()
    }

    /// The name that [`parse`](Self::parse) accepts for this format.
    pub fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Format::Lines | Format::Labelled(_) => "lines",
            Format::Target => "target",
            Format::Clf => "clf",
            Format::Combined => "combined",
            Format::Vhost => "vhost",
            Format::Haproxy => "haproxy",
            Format::Extended(extended) => extended.name(),
            Format::Elb => "elb",
            Format::Cdx(_) => "cdx",
            Format::Cdxj(_) => "cdxj",
            Format::Text(_) => "text",
            Format::Sitemap => "sitemap",
            Format::Json(json) => return json.name(),
            Format::Csv(csv) => return Cow::Owned(format!("csv:{}", csv.columns.as_str())),
            Format::Tsv(tsv) => return tsv.name(),
            Format::Log(format) => return format.name(),
            Format::Ws(field) => return Cow::Owned(format!("ws:{field}")),
            Format::Archive(archive) => return archive.name(),
            Format::Table(table) => return table.name(),
            Format::Wrapped(wrapped) => return Cow::Owned(wrapped.name()),
        })
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

    /// How to cut an input of this format into records.
    pub fn framing(&self) -> Framing {
        match self {
            Format::Archive(archive) => archive.framing(),
            _ => Framing::Lines,
        }
    }

    /// Appends one record to `out` for each line of `chunk`, in order. For `lines`, a line ends in
    /// [`Context::separator`]; for `csv`, a record may span lines; for `text`, each URL is a
    /// record. Archives and tables are not lines and yield nothing here.
    ///
    /// A chunk holds whole lines and is shorter than 4 GiB; its last line may lack its line feed.
    /// It is read as the start of an input: use the format that [`after`](Self::after) returns for
    /// the next chunk.
    pub fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        match self {
            Format::Lines | Format::Labelled(_) => line::read(ctx, chunk, out),
            Format::Target => target::read(ctx, chunk, out),
            Format::Clf | Format::Combined => clf::read(ctx, chunk, out),
            Format::Vhost => vhost::read(ctx, chunk, out),
            Format::Log(format) => format.read(ctx, chunk, out),
            Format::Haproxy => haproxy::read(ctx, chunk, out),
            Format::Ws(field) => ws::read(ctx, *field, chunk, out),
            Format::Extended(extended) => extended.read(ctx, chunk, out),
            Format::Elb => elb::read(ctx, chunk, out),
            Format::Cdx(cdx) => cdx.read(ctx, chunk, out),
            Format::Cdxj(json) => cdxj::read(ctx, json, chunk, out),
            Format::Json(json) => json.read(ctx, chunk, out),
            Format::Csv(csv) => csv.read(ctx, chunk, out),
            Format::Tsv(tsv) => tsv.read(ctx, chunk, out),
            Format::Text(text) => text.read(ctx, chunk, out),
            Format::Sitemap => sitemap::read(ctx, chunk, out),
            Format::Archive(_) => {}
            Format::Table(_) => {}
            Format::Wrapped(wrapped) => wrapped.read(ctx, chunk, out),
        }
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
            Format::Extended(extended) => extended.after(ctx, chunk).map(Format::Extended),
            Format::Cdx(cdx) => cdx.after(ctx, chunk).map(Format::Cdx),
            Format::Tsv(tsv) => tsv.after(ctx, chunk).map(Format::Tsv),
            Format::Csv(csv) => csv.after(ctx, chunk).map(Format::Csv),
            Format::Wrapped(wrapped) => {
                wrapped.after(ctx, chunk).map(|after| Format::Wrapped(Box::new(after)))
            }
            Format::Text(text) => text.after(chunk).map(Format::Text),
            _ => None,
        }
    }

    /// The format of the lines in an envelope, if there is one.
    pub(super) fn inner(&self) -> &Format {
        match self {
            Format::Wrapped(wrapped) => wrapped.format(),
            format => format,
        }
    }

    /// The header of its inputs, if they have one that names columns.
    pub(super) fn header(&self) -> Option<&Header> {
        match self {
            Format::Csv(csv) => Some(&csv.header),
            Format::Tsv(tsv) => Some(&tsv.header),
            Format::Extended(extended) => Some(&extended.header),
            _ => None,
        }
    }

    /// Applies a line that is not a record, such as a header. `buffer` is for the line without its envelope.
    pub(super) fn pass(&mut self, line: &[u8], buffer: &mut Vec<u8>) {
        match self {
            Format::Extended(extended) => extended.take(line),
            Format::Cdx(cdx) => cdx.take(line),
            Format::Csv(csv) => csv.take_header(line),
            Format::Tsv(tsv) => tsv.take_header(line),
            Format::Wrapped(wrapped) => wrapped.pass(line, buffer),
            _ => {}
        }
    }

    /// True if [`after`](Self::after) can return another format, or [`whole`](Self::whole) less
    /// than everything. Such a format needs its chunks examined in order before they are read.
    /// Otherwise any chunk can be read by itself.
    pub fn looks_back(&self) -> bool {
        match self {
            Format::Extended(_) | Format::Cdx(_) => true,
            Format::Csv(_) | Format::Sitemap => true,
            Format::Tsv(tsv) => tsv.waits(),
            Format::Wrapped(wrapped) => wrapped.format().looks_back(),
            Format::Text(text) => text.waits(),
            _ => false,
        }
    }

    /// Length of the records at the start of `lines` (whole lines) that are complete whatever
    /// follows. This is all of it except for formats whose records may span lines.
    pub fn whole(&self, ctx: &Context, lines: &[u8]) -> usize {
        match self {
            Format::Csv(csv) => csv.whole(ctx, lines),
            Format::Sitemap => sitemap::whole(ctx, lines),
            _ => lines.len(),
        }
    }

    /// The byte after which an input of this format may be cut: the separator, unless the format has
    /// its own.
    pub fn separator(&self, separator: Separator) -> u8 {
        match self {
            Format::Sitemap => sitemap::END,
            _ => separator.byte(),
        }
    }

    /// The lines that are no URLs in a list that was guessed. To a user who says `lines`, each line is one.
    pub fn labels(&self) -> Option<Labels> {
        match self {
            Format::Labelled(labels) => Some(*labels),
            _ => None,
        }
    }

    /// True for JSON formats, where a byte-order mark at the start of an input does not belong to
    /// the first record (RFC 8259 section 8.1: parsers "MAY ignore the presence of a byte order mark").
    pub fn is_json(&self) -> bool {
        matches!(self, Format::Json(_) | Format::Cdxj(_))
    }

    /// True if records can hold a query in a field of its own, without a `?`.
    pub fn has_queries(&self) -> bool {
        match self {
            Format::Extended(_) => true,
            Format::Log(format) => format.has_args(),
            Format::Cdxj(json) | Format::Json(json) => json.has_queries(),
            Format::Csv(csv) => csv.columns.have_queries(),
            Format::Tsv(tsv) => tsv.columns.have_queries(),
            Format::Table(table) => table.has_queries(),
            Format::Wrapped(wrapped) => wrapped.has_queries(),
            _ => false,
        }
    }

    /// True if each record is a line, or can be one, so that it may stand in an [envelope](Wrapped).
    pub fn fits_envelopes(&self) -> bool {
        !matches!(
            self,
            Format::Archive(_)
                | Format::Table(_)
                | Format::Cdx(_)
                | Format::Cdxj(_)
                | Format::Sitemap
                | Format::Wrapped(_)
        )
    }

    /// True if `refusal` may reject an input of this format.
    pub fn may_refuse(&self) -> bool {
        matches!(self, Format::Cdx(_) | Format::Cdxj(_))
    }

    /// True if the beginning of an input may change how this format is read.
    pub fn needs_head(&self) -> bool {
        self.may_refuse() || matches!(self, Format::Csv(_))
    }

    /// The parts by which filters can judge the records.
    pub fn facts(&self) -> PartSet {
        let mime = RecordPart::Mime;
        match self {
            Format::Extended(_) | Format::Cdx(_) | Format::Cdxj(_) => self.parts().with(mime),
            Format::Archive(Archive::Arc) => self.parts().with(mime),
            Format::Json(json) => json.facts(),
            Format::Table(table) => table.parts(),
            Format::Wrapped(wrapped) => wrapped.format().facts(),
            format => format.parts(),
        }
    }
}

/// Writes the name.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name())
    }
}

/// Parses as [`Format::parse`] does.
impl FromStr for Format {
    type Err = FormatError;

    fn from_str(name: &str) -> Result<Self, FormatError> {
        Self::parse(name)
    }
}

/// The name that was probably meant by one that no format has.
fn nearest(name: &str) -> Option<String> {
    let table = FormatTable::shipped();
    let names = || Format::names().chain(table.entries().map(|entry| &entry.name[..]));
    let is_it = |(alias, _): &&(&str, &str)| name.eq_ignore_ascii_case(alias);
    if let Some((_, meant)) = ALIASES.iter().find(is_it) {
        return names().find(|name| name == meant).map(str::to_owned);
    }
    // The nearest may be the part of a name before its colon, which no name is by itself.
    let short = names().map(|name| name.split(':').next().unwrap_or(name));
    let found = UnknownName::new(name, "format", short);
    let short = found.nearest()?;
    let whole = names().find(|name| name.split(':').next() == Some(short))?;
    Some(whole.to_owned())
}

/// The reason for a name that no format has.
const UNKNOWN: &str = "unknown";

/// An invalid format name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatError {
    /// The name as given.
    pub(super) name: String,
    /// Offset of the error; 0 if it concerns the whole name.
    pub(super) at: usize,
    /// The message, phrased to follow a colon.
    pub(super) why: &'static str,
}

impl FormatError {
    /// True if no format has the name; otherwise the text after its colon is invalid or missing.
    pub fn is_unknown(&self) -> bool {
        self.why == UNKNOWN
    }

    /// The same error with offsets into `name`, which ends in the text.
    fn of(self, name: &str) -> Self {
        let lead = name.len() - self.name.len();
        let at = if self.at > 0 { lead + self.at } else { 0 };
        Self { name: name.to_owned(), at, ..self }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_unknown() { "unknown format `" } else { "format `" })?;
        for c in self.name.chars() {
            match c {
                '"' | '\'' => f.write_char(c)?,
                _ => write!(f, "{}", c.escape_debug())?,
            }
        }
        f.write_str("`")?;
        if self.is_unknown() {
            return match nearest(&self.name) {
                Some(meant) => write!(f, " (did you mean `{meant}`?)"),
                None => Ok(()),
            };
        }
        if self.at > 0 {
            write!(f, ", byte {}", self.at)?;
        }
        write!(f, ": {}", self.why)
    }
}

impl std::error::Error for FormatError {}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{BufferId, Context, Extracted, Records};
    use super::{Format, READS_TABLES};

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

    #[test]
    fn format_name_round_trips() {
        for name in [
            "lines",
            "target",
            "text",
            "clf",
            "combined",
            "vhost",
            "haproxy",
            "ws:3",
            "w3c",
            "elb",
            "cloudfront",
            "cdx",
            "tsv:2",
            "tsv:host=h,target=3",
            r#"log:%h "%r""#,
        ] {
            assert_eq!(Format::parse(name).unwrap().name(), name);
        }
    }

    #[test]
    fn well_known_log_formats_have_names() {
        assert_eq!(Format::parse("log:combined"), Ok(Format::Combined));
        assert_eq!(Format::parse("log:vhost_combined"), Ok(Format::Vhost));
    }

    #[test]
    fn formats_of_tables_are_suggested_only_where_they_are_read() {
        let error = Format::parse("parqet").unwrap_err().to_string();
        assert_eq!(error.contains("did you mean `parquet`?"), READS_TABLES, "{error}");
        assert_eq!(Format::parse("parquet:url").is_ok(), READS_TABLES);
    }

    #[test]
    fn an_unknown_format_is_reported_with_the_one_that_was_meant() {
        let told = |name: &str| Format::parse(name).unwrap_err().to_string();
        assert_eq!(told("nginx-jso"), "unknown format `nginx-jso` (did you mean `nginx-json`?)");
        assert_eq!(told("ndjson"), "unknown format `ndjson` (did you mean `json:POINTER`?)");
        assert_eq!(told("jsn"), "unknown format `jsn` (did you mean `json:POINTER`?)");
        assert_eq!(told("frobnicate"), "unknown format `frobnicate`");
        for (alias, meant) in super::ALIASES {
            let is_known = super::NAMES.contains(&meant) || super::TABLES.contains(&meant);
            assert!(is_known && Format::parse(alias).is_err(), "{alias}");
        }
    }

    #[test]
    fn unknown_format_name_is_an_error_with_a_reason() {
        for (name, words) in [
            ("", "unknown format"),
            ("auto", "unknown format"),
            ("Lines", "unknown format"),
            ("tsv", "followed by a column"),
            ("ws", "number of a field"),
            ("log", "followed by a format string"),
            ("ws:0", "counted from 1"),
            ("ws:", "counted from 1"),
            ("ws:+1", "counted from 1"),
            ("ws:99999999999999999999", "counted from 1"),
            ("log:", "names no request"),
            ("log:%h", "names no request"),
        ] {
            let error = Format::parse(name).unwrap_err().to_string();
            assert!(error.contains(words), "{name}: {error}");
        }
    }

    #[test]
    fn error_quotes_a_format_with_its_own_quotation_marks() {
        let error = Format::parse("log:%h '\"%r\u{1b}").unwrap_err().to_string();
        assert!(error.starts_with("format `log:%h '\"%r\\u{1b}`"), "{error}");
    }

    #[test]
    fn error_position_refers_to_the_name_as_given() {
        for (name, words) in [
            ("log:$request $", "format `log:$request $`, byte 13: "),
            ("log:%h%U", "format `log:%h%U`, byte 6: "),
            ("log:%", "format `log:%`: "),
        ] {
            let error = Format::parse(name).unwrap_err().to_string();
            assert!(error.starts_with(words), "{name}: {error}");
        }
    }
}
