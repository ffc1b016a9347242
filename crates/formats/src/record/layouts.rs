//! The list of layouts: their names, and how a name becomes a [`Format`].
//!
//! A new layout is a file with an implementation of [`Layout`](super::layout::Layout), and a line here.

use super::cdx::Cdx;
use super::cdxj::Cdxj;
use super::elb::Elb;
use super::error::UNKNOWN;
use super::extended::{Dialect, Extended};
use super::ltsv::Ltsv;
use super::ws::Ws;
use super::{Archive, Container, Csv, Format, FormatError, Json, Kinds, LogFormat};
use super::{READS_TABLES, TableFormat, Text, Tsv};

/// Makes a format of the text after the colon of its name.
type Make = fn(&str) -> Result<Format, FormatError>;

/// The layouts by name. Capitals stand for the text after a colon.
const LAYOUTS: &[(&str, Make)] = &[
    ("lines", |_| Ok(Format::Lines)),
    ("target", |_| Ok(Format::Target)),
    ("text", |_| Ok(Format::Text(Text::default()))),
    ("clf", |_| Ok(Format::Clf)),
    ("combined", |_| Ok(Format::Combined)),
    ("vhost", |_| Ok(Format::Vhost)),
    ("log:FORMAT", log),
    ("w3c", |_| Ok(Format::Extended(Extended::new(Dialect::W3c)))),
    ("elb", |_| Ok(Format::other(Elb))),
    ("alb", |_| Ok(Format::other(Elb))),
    ("cloudfront", |_| Ok(Format::Extended(Extended::new(Dialect::CloudFront)))),
    ("haproxy", |_| Ok(Format::Haproxy)),
    ("ws:N", |number| Ok(Format::other(Ws::parse(number)?))),
    ("csv:COL", |columns| Ok(Format::Csv(Csv::parse(columns)?))),
    ("tsv:COL", |columns| Ok(Format::Tsv(Tsv::parse(columns)?))),
    ("json:POINTER", |pointers| Ok(Format::Json(Json::parse(pointers)?))),
    ("ltsv", |_| Ok(Format::other(Ltsv))),
    ("cdx", |_| Ok(Format::other(Cdx::default()))),
    ("cdxj", |_| Ok(Format::other(Cdxj::default()))),
    ("warc", |_| Ok(Format::Archive(Archive::Warc(Kinds::default())))),
    ("wat", |_| Ok(Format::Archive(Archive::Wat))),
    ("wat:links", |_| Ok(Format::Archive(Archive::WatLinks))),
    ("arc", |_| Ok(Format::Archive(Archive::Arc))),
    ("sitemap", |_| Ok(Format::Sitemap)),
];

/// The layouts of tables.
const TABLES: &[(&str, Make)] = &[
    ("parquet", |_| Ok(Format::Table(TableFormat::any(Container::Parquet)))),
    ("parquet:COL", |columns| Ok(Format::Table(TableFormat::parse(Container::Parquet, columns)?))),
    ("arrow", |_| Ok(Format::Table(TableFormat::any(Container::Arrow)))),
    ("arrow:COL", |columns| Ok(Format::Table(TableFormat::parse(Container::Arrow, columns)?))),
];

/// Names that are no format by themselves, and the reason.
const INCOMPLETE: &[(&str, &str)] = &[
    ("csv", "it is followed by a column, as in csv:url or csv:1"),
    ("tsv", "it is followed by a column, as in tsv:url or tsv:1"),
    ("json", "it is followed by a pointer, as in json:/url"),
    ("ws", "it is followed by the number of a field, as in ws:3"),
    ("log", "it is followed by a format string, as in log:'%h \"%r\" %>s'"),
    ("varnishlog", "not read; varnishncsa prints the same requests, as combined reads them"),
];

fn layouts() -> impl Iterator<Item = &'static (&'static str, Make)> {
    LAYOUTS.iter().chain(TABLES.iter().filter(|_| READS_TABLES))
}

impl Format {
    /// Parses the name of a format with a reader of its own.
    pub(super) fn built_in(name: &str) -> Result<Self, FormatError> {
        // The text of a format with a parameter.
        let text = |known: &str| {
            let (kind, parameter) = known.split_once(':')?;
            // `wat:links` has a colon as well, but takes no text.
            let takes_any = parameter.starts_with(|c: char| c.is_ascii_uppercase());
            name.strip_prefix(kind)?.strip_prefix(':').filter(|_| takes_any)
        };
        let made = layouts()
            .find_map(|(known, make)| text(known).or((*known == name).then_some("")).map(make));
        let why = || INCOMPLETE.iter().find(|(known, _)| *known == name).map_or(UNKNOWN, |e| e.1);
        made.unwrap_or_else(|| Err(why().into())).map_err(|error| error.of(name))
    }

    /// The names of all formats that are read. Capitals stand for the text after a colon, as in `csv:COL`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        layouts().map(|(name, _)| *name)
    }
}

/// A format string, or the name that Apache has for one.
fn log(text: &str) -> Result<Format, FormatError> {
    match text {
        "common" => Ok(Format::Clf),
        "combined" => Ok(Format::Combined),
        "vhost_combined" | "vhost_common" => Ok(Format::Vhost),
        text => LogFormat::parse(text).map(Format::Log),
    }
}
