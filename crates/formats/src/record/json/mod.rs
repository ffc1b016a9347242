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

mod pointer;
pub(super) mod slice;
mod slow_path;
mod walk;

use std::borrow::Cow;
use std::sync::Arc;

use memchr::memmem;
use serde::Deserialize;

use self::pointer::Node;
use super::columns::parts;
use super::extended::decoded;
use super::fields::Fields;
use super::line::{self, Line};
use super::part::{PartSet, RecordPart, Said, Value};
use super::{Context, Extracted, Records};
use uniqurl::RejectReason;

/// The pointers to the parts of a URL in a JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json {
    text: String,
    root: Node,
    /// The parts that pointers lead to.
    facts: PartSet,
    /// The name of the format, if it is one of [`FormatTable`](super::FormatTable).
    name: Option<Arc<str>>,
    /// Whether values are percent-encoded once, as CloudFront does.
    is_encoded: bool,
    beside: Arc<PartPointers>,
}

/// The tokens of pointers.
pub(super) type Pointers = Vec<Vec<Vec<u8>>>;

/// The pointers to the parts of a record that are read again where they are asked for. Of several to one
/// part, the first with a value counts.
pub(super) type PartPointers = Vec<(RecordPart, Pointers)>;

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
        let mut beside = PartPointers::new();
        for (rank, (part, pointer)) in parts.iter().enumerate() {
            if part.is_read_at_once() {
                root.add(pointer.as_ref(), *part, rank)?;
                continue;
            }
            let pointer = tokens(pointer.as_ref())?;
            match beside.iter_mut().find(|(other, _)| other == part) {
                Some((_, pointers)) => pointers.push(pointer),
                None => beside.push((*part, vec![pointer])),
            }
        }
        let facts = parts.iter().map(|(part, _)| *part).collect();
        Ok(Self::of_tree(text, root, facts, beside))
    }

    fn of_tree(text: &str, root: Node, facts: PartSet, mut beside: PartPointers) -> Self {
        for part in [RecordPart::Status, RecordPart::Method] {
            let pointers = pointers_in(&root, part);
            beside.extend((!pointers.is_empty()).then_some((part, pointers)));
        }
        Self {
            text: text.to_owned(),
            root,
            facts,
            name: None,
            is_encoded: false,
            beside: Arc::new(beside),
        }
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

    /// The parts beside the URL.
    pub(super) fn parts(&self) -> PartSet {
        self.beside.iter().map(|(part, _)| *part).collect()
    }

    /// Reads parts of a record.
    pub(super) fn fields<'a>(&self, text: &'a [u8], out: &mut Fields<'a>) {
        if memmem::find(text, b"\\x").is_none() {
            return self.read_parts(text, out, |value| value);
        }
        let mut rewritten = Vec::new();
        without_hex_escapes(text, &mut rewritten);
        self.read_parts(&rewritten, out, |value| Cow::Owned(value.into_owned()));
    }

    fn read_parts<'t, 'a>(
        &self,
        text: &'t [u8],
        out: &mut Fields<'a>,
        in_line: impl Fn(Cow<'t, [u8]>) -> Cow<'a, [u8]>,
    ) {
        out.read_parts(|part, take| {
            let pointers = self.beside.iter().filter(|(other, _)| *other == part);
            let values =
                pointers.flat_map(|(_, list)| list).filter_map(|pointer| value_at(text, pointer));
            values.for_each(|value| match self.is_encoded {
                true => take(Cow::Owned(decoded(&value).into_cow().into_owned())),
                false => take(in_line(value)),
            });
        });
    }

    /// The object in a line of `cdxj`.
    pub(super) fn of_cdxj() -> Self {
        let parts =
            [("url", RecordPart::Url), ("status", RecordPart::Status), ("mime", RecordPart::Mime)];
        let node = |part| Node { parts: vec![(part, 0)], ..Node::default() };
        let children = parts.map(|(name, part)| (name.as_bytes().to_vec(), node(part)));
        let root = Node { children: children.to_vec(), ..Node::default() };
        let facts = PartSet::of(&[RecordPart::Status, RecordPart::Mime]);
        Self::of_tree("", root, facts, PartPointers::new())
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

    pub(super) fn facts(&self) -> PartSet {
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
        let mut said = if rewritten {
            buffer.clear();
            without_hex_escapes(text, buffer);
            walk::walk(&self.root, buffer, |bytes| Value::Elsewhere(bytes.into()))?
        } else {
            walk::walk(&self.root, text, Value::InLine)?
        };
        if self.is_encoded {
            said.decode();
        }
        Ok(said)
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
        take(value_at(text, pointer.as_ref()).as_deref());
    }
}

/// The value at a pointer: the bytes of a string, or the text of any other value but `null`.
fn value_at<'t>(text: &'t [u8], pointer: &[Vec<u8>]) -> Option<Cow<'t, [u8]>> {
    match slice::at(text, pointer)? {
        value @ [b'"', ..] => bytes_of_string(value),
        b"null" => None,
        value => Some(Cow::Borrowed(value)),
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
