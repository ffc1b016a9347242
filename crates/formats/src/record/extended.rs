//! Reads `w3c`, the W3C Extended Log File Format that IIS and many proxies write, and `cloudfront`,
//! the same with tabs as separators and with fields percent-encoded once.
//!
//! `#Fields:` names the fields of the lines after it, and may occur again with other names. A line
//! before the first `#Fields:` is `log-syntax`. Other lines that begin with `#` are comments; only
//! `#Software:` matters.
//!
//! IIS logs the path decoded, so its `%`, `?` and `#` are percent-encoded again, as they must have
//! been in the request. IIS and CloudFront log a query without its `?`, so a `?` at the start is
//! data. Some proxies write the mark (`?q=a`), and the rest do not document it. A field that begins
//! with a quotation mark runs to the closing mark, with `""` for a mark (section "Format" of the
//! draft: `string = '"' *schar '"'`). Not so if IIS wrote it: there the mark came from the client.
//! A dash is an empty field. Fields are separated by blanks, or by tabs alone if the names in
//! `#Fields:` are.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memmem};

use super::columns::{ColumnKey, ColumnLayout, ColumnName, Header, Lacking, first_lacking};
use super::fields::{COLUMNS, Fields, decimal};
use super::layout::Layout;
use super::line::{self, Line, MARK, without_mark};
use super::part::{PartSet, RecordPart, Value, encoded, marked};
use super::separators::Separators;
use super::{Context, Extracted, Records, clf};
use uniqurl::RejectReason;

/// The format and the directives read so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extended {
    dialect: Dialect,
    header: Header,
    software: Software,
    /// Whether fields are separated by tabs alone, as the names in `#Fields:` are.
    tabs_only: bool,
}

/// The software that wrote the log, as far as known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Software {
    /// Unknown: the path stays as it is, and a field may be quoted.
    Other,
    /// IIS itself: the path is decoded, fields are never quoted, and a `+` stands for a space.
    Iis,
    /// A module of IIS, such as the one for advanced logging: the path is decoded, and texts are quoted.
    IisModule,
}

/// The writer of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Any software: fields are separated by spaces.
    W3c,
    /// Amazon CloudFront: fields are separated by tabs and percent-encoded once.
    CloudFront,
}

impl Layout for Extended {
    fn name(&self) -> Cow<'_, str> {
        let name = match self.dialect {
            Dialect::W3c => "w3c",
            Dialect::CloudFront => "cloudfront",
        };
        name.into()
    }

    fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let mut now = self.clone();
        let separators = self.dialect.separators(chunk);
        line::each(ctx, 0, chunk, out, |line, scratch| {
            if without_mark(line.bytes).starts_with(b"#") {
                now.take(line.bytes);
                return Extracted::Skipped;
            }
            let Some(layout) = now.header.layout() else {
                return Extracted::Reject(RejectReason::LogSyntax, 0);
            };
            let is_other = now.software == Software::Other;
            let meant = |part, value| match part {
                RecordPart::Path if !is_other => encoded(value),
                RecordPart::Query if !is_other || now.dialect == Dialect::CloudFront => {
                    marked(value)
                }
                _ => value,
            };
            match now.dialect {
                Dialect::W3c if now.tabs_only => {
                    let fields = line.bytes.split(|byte| *byte == b'\t').map(Value::InLine);
                    layout.found(ctx, line, fields, meant, scratch)
                }
                Dialect::W3c => {
                    let fields = fields(line, &separators, now.software);
                    layout.found(ctx, line, fields, meant, scratch)
                }
                Dialect::CloudFront => {
                    let value = |part, field| meant(part, Value::decoded(field));
                    layout.found(ctx, line, separators.split(line), value, scratch)
                }
            }
        });
    }

    fn has_directives(&self) -> bool {
        true
    }

    /// The owner of the log chooses its fields.
    fn parts(&self) -> PartSet {
        clf::OF_COMBINED.with(RecordPart::Seconds).with(RecordPart::Mime)
    }

    fn fields<'a>(&self, line: &'a [u8], out: &mut Fields<'a>) {
        let Some(layout) = self.header.layout() else { return };
        let values = self.values(line);
        // After a missing field or a space within one, all others are in the wrong place.
        if values.len() != layout.names.len() {
            return;
        }
        let value = |part| layout.column_of(part).map(|column| &values[column]);
        out.read_parts(|part, take| {
            value(part).cloned().into_iter().for_each(|value| take(value.into_cow()));
        });
        for part in [RecordPart::Status, RecordPart::Bytes] {
            value(part).cloned().into_iter().for_each(|value| out.set(part, value.into_cow()));
        }
        // The draft of W3C and CloudFront have seconds with a fraction; IIS has whole milliseconds.
        if let Some(taken) = value(RecordPart::Seconds).filter(|_| self.dialect == Dialect::W3c)
            && !taken.bytes().contains(&b'.')
        {
            out.numbers.duration = decimal(taken.bytes(), 3);
        }
    }

    fn has_queries(&self) -> bool {
        true
    }

    fn looks_back(&self) -> bool {
        true
    }

    fn following(&self, ctx: &Context, chunk: &[u8]) -> Option<Arc<dyn Layout>> {
        let mut directives = directives(ctx, chunk).peekable();
        // Most chunks have none, and every line in an envelope is a chunk.
        directives.peek()?;
        let mut after = self.clone();
        directives.for_each(|directive| after.take(directive));
        Some(Arc::new(after))
    }

    fn fits(&self, _line: &[u8]) -> Option<bool> {
        Some(false)
    }

    fn column(&self, name: &str) -> Result<Option<ColumnKey>, String> {
        // Only a header tells which names there are, and it may come later.
        Ok(Some(ColumnKey::Named(ColumnName::Header(name.into()))))
    }

    fn header(&self) -> Option<&Header> {
        Some(&self.header)
    }

    /// The decoded fields of a line.
    fn values<'a>(&self, line: &'a [u8]) -> Vec<Value<'a>> {
        match self.dialect {
            Dialect::W3c if self.tabs_only => {
                line.split(|byte| *byte == b'\t').map(Value::InLine).collect()
            }
            Dialect::W3c => {
                let spaces = self.dialect.separators(line);
                fields(Line { bytes: line, start: 0 }, &spaces, self.software).collect()
            }
            Dialect::CloudFront => line.split(|byte| *byte == b'\t').map(Value::decoded).collect(),
        }
    }

    /// A column that a `#Fields:` line does not list is missing from the records after it, unless another
    /// field holds the part that logs have in common under its name.
    fn lacking(&self, ctx: &Context, chunk: &[u8], columns: &[String]) -> Option<Lacking> {
        let headers = directives(ctx, chunk).filter_map(|directive| {
            let names = without_mark(directive).strip_prefix(b"#Fields:")?;
            Some(self.dialect.layout(names).names)
        });
        headers.into_iter().find_map(|header| {
            let fills_in = |name: &&String| {
                let part = COLUMNS.iter().find(|(known, _)| known == name);
                part.is_some_and(|(_, part)| names(*part, &header))
            };
            let asked = columns.iter().filter(|name| !fills_in(name));
            let asked = asked.map(|name| ColumnName::Header(name.as_bytes().to_vec()));
            first_lacking(&asked.collect::<Vec<_>>(), &header)
        })
    }
}

impl Extended {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self { dialect, header: Header::default(), software: Software::Other, tabs_only: false }
    }

    /// Applies a directive.
    fn take(&mut self, directive: &[u8]) {
        let directive = without_mark(directive);
        if let Some(names) = directive.strip_prefix(b"#Fields:") {
            self.header = Header::known(self.dialect.layout(names));
            let names = names.trim_ascii();
            // ISA separates by tabs and has blanks inside of fields.
            self.tabs_only = names.contains(&b'\t') && !names.contains(&b' ');
        } else if let Some(software) = directive.strip_prefix(b"#Software:") {
            let says = |name: &[u8]| memmem::find(software, name).is_some();
            self.software = if says(b"Internet Information Services") {
                Software::Iis
            } else if says(b"IIS") {
                Software::IisModule
            } else {
                Software::Other
            };
        }
    }
}

/// The part beside the URL for each name. If several names give the same part, the first listed here wins.
const BESIDE: &[(&str, RecordPart)] = &[
    ("c-ip", RecordPart::Client),
    ("date", RecordPart::Date),
    ("time", RecordPart::Time),
    ("sc-bytes", RecordPart::Bytes),
    ("time-taken", RecordPart::Seconds),
    ("cs(referer)", RecordPart::Referrer),
    ("cs(referrer)", RecordPart::Referrer),
    ("cs-referred", RecordPart::Referrer),
    ("cs(user-agent)", RecordPart::Agent),
    ("c-agent", RecordPart::Agent),
];

/// The part for each other name.
const W3C: &[(&str, RecordPart)] = &[
    ("cs-uri", RecordPart::Uri),
    ("cs-uri-stem", RecordPart::Path),
    ("cs-uri-path", RecordPart::Path),
    ("cs-uri-query", RecordPart::Query),
    ("cs-host", RecordPart::Host),
    ("cs(host)", RecordPart::Host),
    ("cs-uri-scheme", RecordPart::Scheme),
    ("s-port", RecordPart::Port),
    ("cs-uri-port", RecordPart::Port),
    ("cs-method", RecordPart::Method),
    ("sc-status", RecordPart::Status),
    ("sc(content-type)", RecordPart::Mime),
    ("rs(content-type)", RecordPart::Mime),
    ("sc-content-type", RecordPart::Mime),
];

const CLOUDFRONT: &[(&str, RecordPart)] = &[
    ("cs-uri-stem", RecordPart::Path),
    ("cs-uri-query", RecordPart::Query),
    ("x-host-header", RecordPart::Host),
    ("cs(host)", RecordPart::Host),
    ("cs-protocol", RecordPart::Scheme),
    ("cs-method", RecordPart::Method),
    ("sc-status", RecordPart::Status),
    ("sc-content-type", RecordPart::Mime),
];

/// True if a header names a field for this part, which is beside the URL.
fn names(part: RecordPart, header: &[Vec<u8>]) -> bool {
    let has = |name: &str| header.iter().any(|field| field.eq_ignore_ascii_case(name.as_bytes()));
    W3C.iter().chain(BESIDE).any(|(name, other)| *other == part && has(name))
}

impl Dialect {
    /// Finds the field separators of a chunk.
    fn separators(self, chunk: &[u8]) -> Separators {
        match self {
            Dialect::W3c => Separators::find(chunk, [b' ', b'\t']),
            Dialect::CloudFront => Separators::find(chunk, [b'\t']),
        }
    }

    fn layout(self, names: &[u8]) -> ColumnLayout {
        let known = match self {
            Dialect::W3c => W3C,
            Dialect::CloudFront => CLOUDFRONT,
        };
        let names: Vec<&[u8]> =
            names.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty()).collect();
        let mut slots: Vec<(usize, RecordPart)> = Vec::new();
        for (name, part) in known.iter().chain(BESIDE) {
            // Writers differ in the case of names such as `cs(User-Agent)`.
            let column = names.iter().position(|other| other.eq_ignore_ascii_case(name.as_bytes()));
            if let Some(column) = column
                && slots.iter().all(|(_, other)| other != part)
            {
                slots.push((column, *part));
            }
        }
        let mut layout = ColumnLayout::new(slots);
        layout.names = names.into_iter().map(<[u8]>::to_vec).collect();
        layout
    }
}

/// The dialect of a `#Fields:` line; none for other lines. The fields of a CloudFront log are
/// configurable, and other servers have a `cs-protocol` too.
pub(super) fn dialect(line: &[u8]) -> Option<Dialect> {
    let names = without_mark(line).strip_prefix(b"#Fields:")?;
    let is_of_cloudfront = |name: &[u8]| {
        name.starts_with(b"x-edge-") || matches!(name, b"x-host-header" | b"cs-protocol-version")
    };
    let mut names = names.split(u8::is_ascii_whitespace);
    Some(if names.any(is_of_cloudfront) { Dialect::CloudFront } else { Dialect::W3c })
}

/// The directives of a chunk. An overlong line is not one: it is a rejected record. A byte-order
/// mark may precede later directives too, if files were concatenated.
fn directives<'a>(ctx: &Context, chunk: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let max_record = ctx.max_record;
    let lines = memchr_iter(b'#', chunk).filter_map(|at| {
        let before = &chunk[..at];
        let before = before.strip_suffix(MARK).unwrap_or(before);
        if !(before.is_empty() || before.ends_with(b"\n")) {
            return None;
        }
        let length = memchr(b'\n', &chunk[at..]).unwrap_or(chunk.len() - at);
        let line = &chunk[before.len()..at + length];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    });
    lines.filter(move |line| line.len() <= max_record)
}

/// The fields of a line, separated by spaces and tabs.
fn fields<'a>(
    line: Line<'a>,
    spaces: &Separators,
    software: Software,
) -> impl Iterator<Item = Value<'a>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &line.bytes[at..];
        // The draft separates fields by white space, however much of it there is.
        at += rest.iter().position(|byte| !matches!(byte, b' ' | b'\t'))?;
        if software != Software::Iis
            && let Some(quoted) = line.bytes[at..].strip_prefix(b"\"")
            && let Some((text, length)) = unquoted(quoted)
        {
            at += 1 + length;
            return Some(match text {
                Cow::Borrowed(text) => Value::InLine(text),
                owned => Value::Elsewhere(owned),
            });
        }
        let start = at;
        at = spaces.next(line, start).unwrap_or(line.bytes.len());
        Some(Value::InLine(&line.bytes[start..at]))
    })
}

/// The text before the closing mark, and the length up to and including the mark. None if nothing
/// closes it, or if it closes in the middle of a field: then the first mark opened nothing.
fn unquoted(text: &[u8]) -> Option<(Cow<'_, [u8]>, usize)> {
    let mut at = 0;
    let mut pairs = false;
    loop {
        at += memchr(b'"', &text[at..])?;
        match text.get(at + 1) {
            Some(b'"') => {
                pairs = true;
                at += 2;
            }
            None | Some(b' ' | b'\t') => break,
            Some(_) => return None,
        }
    }
    if !pairs {
        return Some((Cow::Borrowed(&text[..at]), at + 1));
    }
    let mut undone = Vec::with_capacity(at);
    let mut rest = &text[..at];
    while let Some(mark) = memchr(b'"', rest) {
        undone.extend_from_slice(&rest[..=mark]);
        // Marks come in pairs here, since a single one would have ended the text.
        rest = &rest[mark + 2..];
    }
    undone.extend_from_slice(rest);
    Some((Cow::Owned(undone), at + 1))
}
