//! Reads `w3c`, the W3C Extended Log File Format as IIS and many proxies write it, and `cloudfront`,
//! which is the same between tabs and with its fields percent-encoded once.
//!
//! `#Fields:` names the fields of the lines behind it, and may come again with other names; a line
//! before the first is `log-syntax`. Other lines that begin with `#` are comments, of which
//! `#Software:` matters: IIS logs the path decoded, so its `%`, `?` and `#` become triplets again, as
//! they must have been ones. IIS and CloudFront log a query without its `?`, so that one it begins with
//! is data; some proxies write the mark (`?q=a`), and others say nothing of it. A field that begins with
//! a quotation mark runs to the one that closes it, with `""` for a mark (section "Format" of the draft:
//! `string = '"' *schar '"'`), unless it is IIS that wrote it: there the client did. A dash is nothing.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memmem};

use super::columns::ColumnLayout;
use super::columns::ColumnName;
use super::line::{self, Line, MARK, without_mark};
use super::part::{Facts, RecordPart, Value, encoded, marked};
use super::separators::Separators;
use super::{Context, Extracted, Records};
use uniqurl::bytes::RejectReason;

/// What the directives so far say of the lines behind them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extended {
    dialect: Dialect,
    layout: Option<Arc<ColumnLayout>>,
    software: Software,
}

/// What is known of the software.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Software {
    /// Nothing: the path stands as it came, and a field may be in quotation marks.
    Other,
    /// IIS itself: the path is decoded, and nothing is put in quotation marks, but a `+` in the place
    /// of a blank.
    Iis,
    /// A module of IIS, as that for advanced logging: the path is decoded, and texts are in quotation
    /// marks.
    IisModule,
}

/// Who wrote the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Anybody: spaces between the fields.
    W3c,
    /// Amazon CloudFront: tabs between them, and their bytes percent-encoded once.
    CloudFront,
}

/// Such logs have these, by a field's choice.
pub(super) const FACTS: Facts = Facts { method: true, status: true, mime: true };

impl Extended {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self { dialect, layout: None, software: Software::Other }
    }

    pub(super) fn name(&self) -> &'static str {
        match self.dialect {
            Dialect::W3c => "w3c",
            Dialect::CloudFront => "cloudfront",
        }
    }

    /// Appends a record for each line of `chunk`.
    pub(super) fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let mut now = self.clone();
        let separators = self.dialect.separators(chunk);
        line::each(ctx, 0, chunk, out, |line, scratch| {
            if without_mark(line.bytes).starts_with(b"#") {
                now.take(line.bytes);
                return Extracted::Skipped;
            }
            let Some(layout) = &now.layout else {
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
                Dialect::W3c => {
                    let fields = fields(line, &separators, now.software);
                    layout.found(ctx, line, fields, meant, scratch)
                }
                Dialect::CloudFront => {
                    let value = |part, field| meant(part, decoded(field));
                    layout.found(ctx, line, separators.split(line), value, scratch)
                }
            }
        });
    }

    /// The format as it stands behind `chunk`, if that changes it.
    pub(super) fn after(&self, ctx: &Context, chunk: &[u8]) -> Option<Self> {
        let mut behind = self.clone();
        let mut any = false;
        for directive in directives(ctx, chunk) {
            behind.take(directive);
            any = true;
        }
        any.then_some(behind)
    }

    /// What the fields are called, by each directive in `chunk` that tells it.
    pub(super) fn headers(
        &self,
        ctx: &Context,
        chunk: &[u8],
    ) -> impl Iterator<Item = Vec<Vec<u8>>> {
        directives(ctx, chunk).filter_map(|directive| {
            let names = without_mark(directive).strip_prefix(b"#Fields:")?;
            Some(self.dialect.layout(names).names)
        })
    }

    /// Hands out the fields of a line, as they are meant, and what they are called.
    pub(super) fn fields(&self, line: &[u8], take: impl FnOnce(&[Vec<u8>], Vec<Value<'_>>)) {
        let spaces;
        let fields = match self.dialect {
            Dialect::W3c => {
                spaces = self.dialect.separators(line);
                fields(Line { bytes: line, start: 0 }, &spaces, self.software).collect()
            }
            Dialect::CloudFront => line.split(|byte| *byte == b'\t').map(decoded).collect(),
        };
        take(self.layout.as_ref().map_or(&[], |layout| &layout.names), fields);
    }

    /// Whether a field of this name holds queries by themselves.
    pub(super) fn is_query(&self, name: &ColumnName) -> bool {
        self.layout.as_ref().is_some_and(|layout| layout.is_query_named(name))
    }

    /// Takes what a directive says.
    pub(super) fn take(&mut self, directive: &[u8]) {
        let directive = without_mark(directive);
        if let Some(names) = directive.strip_prefix(b"#Fields:") {
            self.layout = Some(Arc::new(self.dialect.layout(names)));
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

/// The part that each name stands for. Of several that say the same, the first listed here counts.
const W3C: &[(&str, RecordPart)] = &[
    ("cs-uri", RecordPart::Target),
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

impl Dialect {
    /// What stands between the fields of a chunk.
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
        for (name, part) in known {
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

/// Whether a line is a directive that names fields, and who wrote it. The fields of a log of CloudFront
/// are chosen, and other servers have a `cs-protocol` too.
pub(super) fn dialect(line: &[u8]) -> Option<Dialect> {
    let names = without_mark(line).strip_prefix(b"#Fields:")?;
    let is_of_cloudfront = |name: &[u8]| {
        name.starts_with(b"x-edge-") || matches!(name, b"x-host-header" | b"cs-protocol-version")
    };
    let mut names = names.split(u8::is_ascii_whitespace);
    Some(if names.any(is_of_cloudfront) { Dialect::CloudFront } else { Dialect::W3c })
}

/// The lines that are no records. One that is too long is a record that is rejected. A byte-order mark
/// stands before later ones too, where files were put one behind the other.
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

/// The fields between runs of spaces and tabs.
fn fields<'a>(
    line: Line<'a>,
    spaces: &'a Separators,
    software: Software,
) -> impl Iterator<Item = Value<'a>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &line.bytes[at..];
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

/// What stands before the closing mark, and the length up to behind that. None if nothing closes it,
/// or if it closes in the middle of a field: then it opened nothing.
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
        rest = &rest[mark + 2..];
    }
    undone.extend_from_slice(rest);
    Some((Cow::Owned(undone), at + 1))
}

/// A field with its percent-encoding undone once.
fn decoded(field: &[u8]) -> Value<'_> {
    if memchr(b'%', field).is_none() {
        return Value::InLine(field);
    }
    let mut out = Vec::with_capacity(field.len());
    let mut at = 0;
    while at < field.len() {
        let hex = |at: usize| char::from(*field.get(at)?).to_digit(16);
        match (field[at], hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high << 4 | low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    Value::Elsewhere(out.into())
}
