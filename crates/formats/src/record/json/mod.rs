//! Reads `json:POINTER`, JSON Lines: one value a line, and pointers (RFC 6901) to the parts of the URL.
//!
//! serde_json reads the value and skips everything that no pointer leads to. A string comes out as
//! bytes, UTF-8 or not. nginx's default escaping leaves `\xHH` in a hand-made format. It is not
//! JSON, but is read as that byte: lines that contain `\x` are rewritten first, and hardly any
//! other lines do.
//!
//! Text that is not JSON is `log-syntax`. A pointer that leads to nothing, or to a value that is
//! not a string, is `no-field`. If a name occurs twice in an object, the last one counts, as it
//! does nearly everywhere. An unescaped control character is accepted in a string that a pointer
//! leads to, and is an error elsewhere.

mod guess;
mod pointer;
pub(super) mod slice;
mod slow_path;
mod walk;

use std::borrow::Cow;
use std::sync::Arc;

use memchr::memmem;
use serde::Deserialize;

pub(super) use self::guess::guess;
use self::pointer::Node;
use super::columns::parts;
use super::line::{self, Line};
use super::part::{Facts, RecordPart, Said, Value};
use super::{Context, Extracted, Records};
use uniqurl::RejectReason;

/// The pointers to the parts of a URL in a JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json {
    text: String,
    root: Node,
    facts: Facts,
    /// The name of the format, if it is one of [`FormatTable`](super::FormatTable).
    name: Option<Arc<str>>,
    fields: Arc<JsonFields>,
}

/// The tokens of pointers.
pub(super) type Pointers = Vec<Vec<Vec<u8>>>;

/// The pointers to the fields of a record that are read again where they are asked for, beside its
/// status and method. Of several to one field, the first with a value counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct JsonFields {
    /// To the bytes sent.
    pub bytes: Pointers,
    /// To the duration in seconds.
    pub seconds: Pointers,
    /// To the time: with its date, or a number since 1970. Where the date has a member of its own, to
    /// the time of day.
    pub time: Pointers,
    /// To that date.
    pub date: Pointers,
    /// To the address of the client.
    pub client: Pointers,
    /// To the method, which is also a part.
    pub method: Pointers,
    /// To the referrer.
    pub referrer: Pointers,
    /// To the agent.
    pub agent: Pointers,
}

impl JsonFields {
    /// The pointers to the field of this name in a table of formats.
    pub(super) fn named(&mut self, name: &str) -> Option<&mut Pointers> {
        match name {
            "bytes" => Some(&mut self.bytes),
            "seconds" => Some(&mut self.seconds),
            "time" => Some(&mut self.time),
            "date" => Some(&mut self.date),
            "client" => Some(&mut self.client),
            "referrer" => Some(&mut self.referrer),
            "agent" => Some(&mut self.agent),
            _ => None,
        }
    }

    /// The pointers to a text.
    pub(super) fn of(&self, name: &str) -> Option<&Pointers> {
        match name {
            "client" => Some(&self.client),
            "method" => Some(&self.method),
            "referrer" => Some(&self.referrer),
            "agent" => Some(&self.agent),
            _ => None,
        }
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

impl Json {
    /// Parses a pointer to the URL, or pointers to its parts.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        Self::new(text, &parts(text)?)
    }

    fn new(text: &str, parts: &[(RecordPart, impl AsRef<str>)]) -> Result<Self, &'static str> {
        let mut root = Node::default();
        let mut fields = JsonFields::default();
        for (rank, (part, pointer)) in parts.iter().enumerate() {
            let field = match part {
                RecordPart::Time => &mut fields.time,
                RecordPart::Agent => &mut fields.agent,
                part => {
                    root.add(pointer.as_ref(), *part, rank)?;
                    continue;
                }
            };
            field.push(tokens(pointer.as_ref())?);
        }
        fields.method = pointers_in(&root, RecordPart::Method);
        let facts = Facts::of(parts.iter().map(|(part, _)| *part));
        Ok(Self { text: text.to_owned(), root, facts, name: None, fields: Arc::new(fields) })
    }

    /// The format of this name. If several pointers give the same part, the first one with a value
    /// counts.
    pub(super) fn named(
        name: &str,
        parts: &[(RecordPart, String)],
        fields: JsonFields,
    ) -> Result<Self, &'static str> {
        let json = Self::new("", parts)?;
        let fields = Arc::new(JsonFields { method: json.fields.method.clone(), ..fields });
        Ok(Self { name: Some(name.into()), fields, ..json })
    }

    /// The pointers to the status.
    pub(super) fn statuses(&self) -> Pointers {
        pointers_in(&self.root, RecordPart::Status)
    }

    /// The pointers to other fields.
    pub(super) fn fields(&self) -> &JsonFields {
        &self.fields
    }

    /// The object in a line of `cdxj`.
    pub(super) fn of_cdxj() -> Self {
        let parts =
            [("url", RecordPart::Url), ("status", RecordPart::Status), ("mime", RecordPart::Mime)];
        let node = |part| Node { parts: vec![(part, 0)], ..Node::default() };
        let children = parts.map(|(name, part)| (name.as_bytes().to_vec(), node(part)));
        let root = Node { children: children.to_vec(), ..Node::default() };
        let facts = Facts { method: false, status: true, mime: true, ..Facts::NONE };
        Self { text: String::new(), root, facts, name: None, fields: Arc::default() }
    }

    /// The name that [`Format::parse`](super::Format::parse) accepts.
    pub(super) fn name(&self) -> Cow<'_, str> {
        match &self.name {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(format!("json:{}", self.text)),
        }
    }

    /// True if records name a host.
    pub(super) fn has_host(&self) -> bool {
        self.root.gives(|part| matches!(part, RecordPart::Host | RecordPart::ClientHost))
    }

    /// False if the text lacks the names of all members that a URL can be built from.
    pub(super) fn may_read(&self, text: &[u8]) -> bool {
        let sources = [
            RecordPart::Url,
            RecordPart::Target,
            RecordPart::Uri,
            RecordPart::Request,
            RecordPart::Path,
            RecordPart::DecodedPath,
        ];
        sources
            .into_iter()
            .flat_map(|part| self.root.pointers_to(part))
            .any(|tokens| tokens.last().is_none_or(|name| memmem::find(text, name).is_some()))
    }

    /// True if an object has a member for this part, be it empty.
    pub(super) fn has_member(&self, text: &[u8], part: RecordPart) -> bool {
        self.root.pointers_to(part).iter().any(|tokens| slice::at(text, tokens).is_some())
    }

    /// True if the URL is built from a request target.
    pub(super) fn has_target(&self) -> bool {
        !self.root.gives(|part| part == RecordPart::Url)
    }

    /// True if a pointer leads to a query in a member of its own.
    pub(super) fn has_queries(&self) -> bool {
        self.root.holds_query(&[])
    }

    /// True if the value at a pointer is such a query, or holds one.
    pub(super) fn is_query(&self, tokens: &[Vec<u8>]) -> bool {
        self.root.holds_query(tokens)
    }

    pub(super) fn facts(&self) -> Facts {
        self.facts
    }

    /// Appends a record for each line of `chunk`.
    pub(super) fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let mut buffer = Vec::new();
        line::each(ctx, 0, chunk, out, |line, scratch| self.found(ctx, line, &mut buffer, scratch));
    }

    fn found(
        &self,
        ctx: &Context,
        line: Line<'_>,
        buffer: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
    ) -> Extracted {
        match self.said(line.bytes, buffer) {
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
        let rewritten = memmem::find(text, b"\\x").is_some();
        if !rewritten {
            return walk::walk(&self.root, text, Value::InLine);
        }
        buffer.clear();
        without_hex_escapes(text, buffer);
        walk::walk(&self.root, buffer, |bytes| Value::Elsewhere(bytes.into()))
    }
}

/// The pointers of a tree to a part.
fn pointers_in(root: &Node, part: RecordPart) -> Pointers {
    let pointers = root.pointers_to(part);
    pointers.iter().map(|tokens| tokens.iter().map(|token| token.to_vec()).collect()).collect()
}

/// Parses a pointer to a carried column: RFC 6901 if it begins with a slash, else the name of a
/// member.
pub(super) fn tokens(column: &str) -> Result<Vec<Vec<u8>>, &'static str> {
    match column.strip_prefix('/') {
        Some(tokens) => tokens.split('/').map(pointer::unescaped).collect(),
        None => Ok(vec![column.as_bytes().to_vec()]),
    }
}

/// Passes the value at each pointer in `text` to `take`. `buffer` holds the text's copy if it has
/// to be rewritten.
pub(super) fn carry(
    text: &[u8],
    pointers: impl IntoIterator<Item = impl AsRef<[Vec<u8>]>>,
    buffer: &mut Vec<u8>,
    mut take: impl FnMut(Option<&[u8]>),
) {
    let mut text = text;
    if memmem::find(text, b"\\x").is_some() {
        buffer.clear();
        without_hex_escapes(text, buffer);
        text = buffer;
    }
    for pointer in pointers {
        match slice::at(text, pointer.as_ref()) {
            Some(value @ [b'"', ..]) => take(bytes_of_string(value).as_deref()),
            Some(b"null") | None => take(None),
            Some(value) => take(Some(value)),
        }
    }
}

/// The content of a string, UTF-8 or not.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct JsonText<'a>(#[serde(borrow)] pub Cow<'a, [u8]>);

fn bytes_of_string(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    serde_json::from_slice(text).ok().map(|JsonText(bytes)| bytes)
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
