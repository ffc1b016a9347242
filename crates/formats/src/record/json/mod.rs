//! Reads `json:POINTER`, JSON Lines: one value a line, and pointers (RFC 6901) to the parts of the URL.
//!
//! One [scan](scan) follows all pointers and checks the rest; what a value means for its part is decided
//! afterwards, here. A string comes out as bytes, UTF-8 or not. nginx's default escaping leaves `\xHH` in
//! a hand-made format. It is not JSON, but is read as that byte: a line that is no JSON is read again
//! without such escapes, if it has any.
//!
//! Text that is not JSON is `log-syntax`. A pointer that leads to nothing, or to a value that is
//! not a string, is `no-field`. If a name occurs twice in an object, the last one counts, as it
//! does nearly everywhere. An unescaped control character is accepted in what a pointer leads to, and
//! is an error elsewhere.

pub(super) mod pointers;
mod scan;

use std::borrow::Cow;
use std::sync::Arc;

use memchr::memmem;

use self::pointers::Found;
pub(super) use self::pointers::{Pointer, Pointers, Sink, at};
use self::scan::NotJson;
pub(super) use self::scan::{Controls, JsonText, Scan, Scanned, string};
pub(super) use self::scan::{first_item, first_value, is_whole, members};
use super::columns::{Column, ColumnKey, parts};
use super::fields::Fields;
use super::layout::Layout;
use super::line::{self, Line};
use super::part::{PartSet, RecordPart, Said, Value};
use super::{Context, Extracted, Records};
use uniqurl::RejectReason;

/// The pointers to the parts of a URL in a JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json {
    text: String,
    /// The parts of the URL, and those for filters.
    url: Arc<PartPointers>,
    /// The parts that are read again where they are asked for.
    beside: Arc<PartPointers>,
    /// All parts that pointers lead to.
    facts: PartSet,
    /// The name of the format, if it is one of [`FormatTable`](super::FormatTable).
    name: Option<Arc<str>>,
    /// Whether values are percent-encoded once, as CloudFront does.
    is_encoded: bool,
}

/// The pointers to parts. Of several to one part, the first with a value counts.
#[derive(Debug, PartialEq, Eq)]
struct PartPointers {
    list: Vec<(RecordPart, Pointer)>,
    pointers: Pointers,
}

impl PartPointers {
    fn new(list: Vec<(RecordPart, Pointer)>) -> Arc<Self> {
        let pointers = Pointers::new(list.iter().map(|(_, tokens)| &tokens[..]));
        Arc::new(Self { list, pointers })
    }

    /// The pointers to such a part.
    fn to(&self, is: impl Fn(RecordPart) -> bool) -> impl Iterator<Item = &Pointer> {
        self.list.iter().filter(move |(part, _)| is(*part)).map(|(_, tokens)| tokens)
    }

    fn parts(&self) -> PartSet {
        self.list.iter().map(|(part, _)| *part).collect()
    }
}

/// The reason why a value yields nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonError {
    /// It is not JSON.
    Syntax,
    /// A pointer leads to a value of the wrong type.
    Type,
}

impl Layout for Json {
    fn name(&self) -> Cow<'_, str> {
        match &self.name {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(format!("json:{}", self.text)),
        }
    }

    fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let mut buffer = Vec::new();
        line::each(ctx, 0, chunk, out, |line, scratch| {
            self.content(ctx, line, line.bytes, &mut buffer, scratch)
        });
    }

    fn found(&self, ctx: &Context, line: Line<'_>, scratch: &mut Vec<u8>) -> Option<Extracted> {
        Some(self.content(ctx, line, line.bytes, &mut Vec::new(), scratch))
    }

    fn parts(&self) -> PartSet {
        self.beside.parts()
    }

    fn facts(&self) -> PartSet {
        self.facts
    }

    fn fields<'a>(&self, text: &'a [u8], out: &mut Fields<'a>) {
        let (found, end) = self.beside.pointers.read_again(text);
        if end.is_ok() || !has_hex_escapes(text) {
            return self.read_parts(&found, out, |value| value);
        }
        let mut rewritten = Vec::new();
        without_hex_escapes(text, &mut rewritten);
        let (found, _) = self.beside.pointers.read_again(&rewritten);
        // The rewritten text ends with this function, so the values are copied out of it.
        self.read_parts(&found, out, |value| Cow::Owned(value.into_owned()));
    }

    fn has_queries(&self) -> bool {
        self.url.to(RecordPart::is_query).next().is_some()
    }

    fn is_json(&self) -> bool {
        true
    }

    fn names_place(&self) -> bool {
        true
    }

    fn column(&self, name: &str) -> Result<Option<ColumnKey>, String> {
        Ok(Some(ColumnKey::Pointer(tokens(name)?, None)))
    }

    fn cells(
        &self,
        line: &[u8],
        _columns: &[Column],
        pointers: &Pointers,
        take: &mut dyn FnMut(Option<&[u8]>),
    ) {
        cells(line, pointers, take);
    }

    /// True if the value at the pointer is such a query, or holds one.
    fn is_query(&self, column: &Column) -> bool {
        let tokens = column.pointer().0;
        self.url.to(RecordPart::is_query).any(|query| query.starts_with(tokens))
    }
}

impl Json {
    /// Parses a pointer to the URL, or pointers to its parts.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        Self::new(text, &parts(text)?)
    }

    fn new(text: &str, parts: &[(RecordPart, impl AsRef<str>)]) -> Result<Self, &'static str> {
        let pointer = |(part, pointer): &(RecordPart, _)| {
            pointers::parse(AsRef::as_ref(pointer)).map(|tokens| (*part, tokens))
        };
        let list: Vec<_> = parts.iter().map(pointer).collect::<Result<_, _>>()?;
        let of_url = |(part, _): &&(RecordPart, _)| part.is_read_at_once();
        for (_, tokens) in list.iter().filter(of_url) {
            let leads_into =
                |(_, other): &(_, Pointer)| other != tokens && other.starts_with(tokens);
            if list.iter().filter(of_url).any(leads_into) {
                return Err("one pointer leads into what another one takes as a whole");
            }
        }
        Ok(Self::of_pointers(text, list))
    }

    fn of_pointers(text: &str, list: Vec<(RecordPart, Pointer)>) -> Self {
        // A filter needs these two while the URL is read, and a column or tally reads them again.
        let is_beside = |part: RecordPart| {
            !part.is_read_at_once() || matches!(part, RecordPart::Status | RecordPart::Method)
        };
        let facts = list.iter().map(|(part, _)| *part).collect();
        let beside = list.iter().filter(|(part, _)| is_beside(*part)).cloned().collect();
        let url = list.into_iter().filter(|(part, _)| part.is_read_at_once()).collect();
        Self {
            text: text.to_owned(),
            url: PartPointers::new(url),
            beside: PartPointers::new(beside),
            facts,
            name: None,
            is_encoded: false,
        }
    }

    /// The object in a line of `cdxj`.
    pub(super) fn of_cdxj() -> Self {
        let parts =
            [("url", RecordPart::Url), ("status", RecordPart::Status), ("mime", RecordPart::Mime)];
        let list = parts.map(|(name, part)| (part, vec![name.as_bytes().to_vec()]));
        Self::of_pointers("", list.to_vec())
    }

    /// The format of this name. If several pointers give the same part, the first one with a value
    /// counts.
    pub(super) fn named(
        name: &str,
        parts: &[(RecordPart, String)],
        is_encoded: bool,
    ) -> Result<Self, &'static str> {
        Ok(Self { name: Some(name.into()), is_encoded, ..Self::new("", parts)? })
    }

    fn read_parts<'t, 'a>(
        &self,
        found: &[Found<'t>],
        out: &mut Fields<'a>,
        in_line: impl Fn(Cow<'t, [u8]>) -> Cow<'a, [u8]>,
    ) {
        out.read_parts(|part, take| {
            let found = self.beside.list.iter().zip(found).filter(|((other, _), _)| *other == part);
            found.filter_map(|(_, value)| shown((*value)?)).for_each(|value| {
                match self.is_encoded {
                    true => take(Cow::Owned(Value::decoded(&value).into_cow().into_owned())),
                    false => take(in_line(value)),
                }
            });
        });
    }

    /// False if the text lacks the names of all members that a URL can be built from.
    pub(super) fn may_read(&self, text: &[u8]) -> bool {
        // A search for a name is far cheaper than a scan, and detection asks each entry of the
        // table about each line.
        let is_source = |part: RecordPart| {
            part.is_source() || matches!(part, RecordPart::Uri | RecordPart::DecodedPath)
        };
        let mut names = self.url.to(is_source).map(|tokens| tokens.last());
        names.any(|name| name.is_none_or(|name| memmem::find(text, name).is_some()))
    }

    /// True if an object has a member for this part, be it empty.
    pub(super) fn has_member(&self, text: &[u8], part: RecordPart) -> bool {
        self.url.to(|other| other == part).any(|tokens| at(text, tokens).is_some())
    }

    /// True if the URL is built from a request target.
    pub(super) fn has_target(&self) -> bool {
        self.url.to(|part| part == RecordPart::Url).next().is_none()
    }

    /// Reads the value in a part of a line.
    pub(super) fn content(
        &self,
        ctx: &Context,
        line: Line<'_>,
        text: &[u8],
        buffer: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
    ) -> Extracted {
        match self.said(text, buffer) {
            Ok(said) => said.found(ctx, self.facts, line, scratch),
            Err(JsonError::Syntax) => Extracted::Reject(RejectReason::LogSyntax, 0),
            Err(JsonError::Type) => Extracted::Reject(RejectReason::NoField, 0),
        }
    }

    /// Reads the value in `text`. `buffer` holds its copy if it has to be rewritten.
    pub(super) fn said<'a>(
        &self,
        text: &'a [u8],
        buffer: &'a mut Vec<u8>,
    ) -> Result<Said<'a>, JsonError> {
        let mut said = match self.read_url(text, Value::InLine) {
            Err(JsonError::Syntax) if has_hex_escapes(text) => {
                buffer.clear();
                without_hex_escapes(text, buffer);
                self.read_url(buffer, |bytes| Value::Elsewhere(bytes.into()))?
            }
            said => said?,
        };
        if self.is_encoded {
            said.decode();
        }
        Ok(said)
    }

    /// Reads the parts of the URL. `in_text` makes values of slices of the text.
    fn read_url<'a>(
        &self,
        text: &'a [u8],
        in_text: impl Fn(&'a [u8]) -> Value<'a>,
    ) -> Result<Said<'a>, JsonError> {
        let found = self.url.pointers.read(text).map_err(|NotJson| JsonError::Syntax)?;
        let mut said = Said::default();
        for ((part, _), value) in self.url.list.iter().zip(found) {
            let Some(value) = value else { continue };
            let Some(value) = meaning(*part, value)? else { continue };
            // Loggers write nothing or a dash for a missing part. The URL itself is kept, so that
            // its record counts as blank or as rejected.
            if *part == RecordPart::Url || !matches!(&value[..], b"" | b"-") {
                said.set_first(
                    *part,
                    match value {
                        Cow::Borrowed(bytes) => in_text(bytes),
                        owned => Value::Elsewhere(owned),
                    },
                );
            }
        }
        Ok(said)
    }
}

/// What a value says of a part: nothing, or bytes.
fn meaning(part: RecordPart, value: &[u8]) -> Result<Option<Cow<'_, [u8]>>, JsonError> {
    use RecordPart::{Method, Mime, Port, Scheme, Status, Url};
    Ok(match value {
        [b'"', ..] => string(value),
        // As in tables, this counts as an empty URL.
        b"null" => (part == Url).then_some(Cow::Borrowed(b"")),
        // An object in the place of the scheme describes the TLS connection of the request.
        [b'{', ..] if part == Scheme => Some(Cow::Borrowed(b"https")),
        // The URL needs none of these, so a useless value counts as missing. A status is a number or a string.
        _ if matches!(part, Scheme | Port | Method | Status | Mime) => {
            let text = std::str::from_utf8(value).ok();
            text.filter(|text| text.parse::<u64>().is_ok()).map(|_| Cow::Borrowed(value))
        }
        _ => return Err(JsonError::Type),
    })
}

/// Parses a pointer to a carried column: RFC 6901 if it begins with a slash, else the name of a
/// member.
pub(super) fn tokens(column: &str) -> Result<Pointer, &'static str> {
    match column.starts_with('/') {
        true => pointers::parse(column),
        false => Ok(vec![column.as_bytes().to_vec()]),
    }
}

/// Passes the value at each pointer in `text` to `take`.
pub(super) fn cells(text: &[u8], pointers: &Pointers, take: &mut dyn FnMut(Option<&[u8]>)) {
    let (mut found, end) = pointers.read_again(text);
    let mut rewritten = Vec::new();
    if end.is_err() && has_hex_escapes(text) {
        without_hex_escapes(text, &mut rewritten);
        found = pointers.read_again(&rewritten).0;
    }
    found.into_iter().for_each(|value| take(value.and_then(shown).as_deref()));
}

/// A value as a column shows it: the bytes of a string, or the text of any other value but `null`.
fn shown(value: &[u8]) -> Option<Cow<'_, [u8]>> {
    match value {
        [b'"', ..] => string(value),
        b"" | b"null" => None,
        value => Some(Cow::Borrowed(value)),
    }
}

/// True if a text that is not JSON may be one but for `\xHH`. Without it, [`without_hex_escapes`] changes
/// nothing in JSON, so that only other text needs this look.
fn has_hex_escapes(text: &[u8]) -> bool {
    memmem::find(text, b"\\x").is_some()
}

/// Appends `text` with each `\xHH` replaced by its byte, or by a JSON escape if a string cannot
/// hold that byte.
fn without_hex_escapes(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let hex = |at: usize| char::from(*rest.get(at)?).to_digit(16);
        let length = match (rest.get(at + 1), hex(at + 2), hex(at + 3)) {
            (Some(b'x'), Some(high), Some(low)) => {
                match (high << 4 | low) as u8 {
                    byte @ (0..=0x1F | b'"' | b'\\') => {
                        out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
                    }
                    byte => out.push(byte),
                }
                4
            }
            // A backslash hides the next byte: `\\x41` is four characters.
            _ => {
                let pair = &rest[at..rest.len().min(at + 2)];
                out.extend_from_slice(pair);
                pair.len()
            }
        };
        rest = &rest[at + length..];
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests;
