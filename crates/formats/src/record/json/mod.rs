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
mod preset;
pub(super) mod slice;
mod slow_path;
mod walk;

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;

use self::pointer::Node;
pub(super) use self::preset::MeasuredPointers;
use super::columns::parts;
use super::line::{self, Line};
use super::part::{Facts, RecordPart, Said, Value};
use super::{Context, Extracted, Records};
use uniqurl::bytes::RejectReason;

/// The pointers to the parts of a URL in a JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json {
    text: String,
    root: Node,
    facts: Facts,
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
    /// Parses a pointer to the URL, pointers to its parts, or the name of a preset.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let named = match preset::named(text) {
            Some(preset) => preset.iter().map(|(part, pointer)| (*part, *pointer)).collect(),
            None => parts(text)?,
        };
        let mut root = Node::default();
        for (rank, (part, pointer)) in named.iter().enumerate() {
            root.add(pointer, *part, rank)?;
        }
        let facts = Facts::of(named.iter().map(|(part, _)| *part));
        Ok(Self { text: text.to_owned(), root, facts })
    }

    /// The text that it was parsed from.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The pointers to the numbers of a record, by the names of presets.
    pub(super) fn measured(&self) -> MeasuredPointers {
        preset::measured(&self.text).unwrap_or_else(|| {
            let status = parts(&self.text).ok().and_then(|parts| {
                let (_, pointer) =
                    parts.into_iter().find(|(part, _)| *part == RecordPart::Status)?;
                tokens(pointer).ok()
            });
            MeasuredPointers { status: status.into_iter().collect(), ..Default::default() }
        })
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

/// Guesses the pointer to the URL from one line. A value that begins with a slash is a request
/// target, as in a list: it cannot supply a host.
pub(super) fn guess(line: &[u8]) -> Option<Json> {
    const NAMES: [&str; 7] =
        ["caddy", "cloudflare", "nginx-json", "target=/url", "/url", "target=/uri", "/uri"];
    // nginx's `uri` is only the path; other servers log the whole target there.
    let has_args = || slice::at(line, &["args"]).is_some();
    let is_decoded = |path: &[u8]| path.starts_with(b"/") && !path.contains(&b'?') && has_args();
    let mut buffer = Vec::new();
    NAMES.into_iter().find_map(|name| {
        let json = Json::parse(name).ok()?;
        let said = json.said(line, &mut buffer).ok()?;
        let fits = match name {
            "nginx-json" => {
                said.has_source() || said.get(RecordPart::DecodedPath).is_some_and(is_decoded)
            }
            "target=/url" | "target=/uri" => {
                said.get(RecordPart::Target).is_some_and(|target| target.starts_with(b"/"))
            }
            _ => said.has_source(),
        };
        fits.then_some(json)
    })
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
