//! URLs in the text of HTML and XML: where they end, and which attributes hold none.
//!
//! An input is markup if it begins with a tag, a declaration or a comment. In other inputs only URLs
//! inside of a tag are, as in a line of Markdown that holds `<a href="...">`.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memrchr, memrchr2};

use crate::record::entity;
use crate::record::line::without_mark;

/// True if a text begins with markup. None if it is blank.
pub(super) fn begins(text: &[u8]) -> Option<bool> {
    let text = without_mark(text).trim_ascii_start();
    Some(match text.split_first()? {
        (b'<', [b'!' | b'?', ..]) => true,
        (b'<', [first, rest @ ..]) if first.is_ascii_alphabetic() => {
            let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b":-_.".contains(byte);
            let length = rest.iter().take_while(|byte| is_name(byte)).count();
            match &rest[length..] {
                [] | [b'>', ..] | [b'/', b'>', ..] => true,
                // A URL in angle brackets goes on otherwise.
                [next, ..] => next.is_ascii_whitespace(),
            }
        }
        _ => false,
    })
}

/// True if a text ends inside of a tag.
pub(super) fn is_in_tag(before: &[u8]) -> bool {
    let Some(open) = memrchr(b'<', before) else { return false };
    let tag = &before[open + 1..];
    tag.first().is_some_and(u8::is_ascii_alphabetic)
        && memchr(b'=', tag).is_some()
        && memchr(b'>', tag).is_none()
}

/// True if an attribute whose value names an XML namespace, or says where schemas of some are, holds the
/// URL that starts at `start`.
pub(super) fn is_namespace(text: &[u8], start: usize) -> bool {
    let before = &text[..start];
    let Some(quote) = memrchr2(b'"', b'\'', before) else { return false };
    let is_first = before[quote + 1..].trim_ascii().is_empty();
    match attribute(&before[..quote]) {
        Some(b"xmlns") => is_first,
        Some(name) if name.starts_with(b"xmlns:") => is_first,
        Some(name) => {
            let local = memrchr(b':', name).map_or(name, |colon| &name[colon + 1..]);
            matches!(local, b"schemaLocation" | b"noNamespaceSchemaLocation")
        }
        None => false,
    }
}

/// The name of the attribute that a text ends with, up to its `=`.
fn attribute(text: &[u8]) -> Option<&[u8]> {
    let name = text.trim_ascii_end().strip_suffix(b"=")?.trim_ascii_end();
    let is_outside = |byte: &u8| byte.is_ascii_whitespace() || b"<\"'".contains(byte);
    let start = name.iter().rposition(is_outside).map_or(0, |at| at + 1);
    (start < name.len()).then_some(&name[start..])
}

/// A URL in markup: its range in the text, and its bytes with references undone. None if nothing is left
/// of it.
///
/// In an attribute it ends with the value. Elsewhere a reference to a delimiter ends it, as the delimiter
/// would, and final punctuation is left to the text.
pub(super) fn url<'a>(
    text: &'a [u8],
    mut span: Range<usize>,
    uri: Cow<'a, [u8]>,
) -> Option<(Range<usize>, Cow<'a, [u8]>)> {
    let before = text[..span.start].trim_ascii_end();
    let quote = before.last().filter(|last| matches!(last, b'"' | b'\''));
    let quote = quote.filter(|_| attribute(&before[..before.len() - 1]).is_some());
    let uri = match (quote, uri) {
        // White space was taken out of it.
        (_, Cow::Owned(uri)) => Cow::Owned(uri),
        (Some(quote), Cow::Borrowed(uri)) => {
            span.end = span.start + memchr(*quote, uri).unwrap_or(uri.len());
            Cow::Borrowed(&text[span.clone()])
        }
        (None, Cow::Borrowed(_)) => {
            span.end = end_of_bare(text, span.clone());
            Cow::Borrowed(&text[span.clone()])
        }
    };
    let colon = memchr(b':', &uri)?;
    if uri[colon + 1..].iter().all(|byte| *byte == b'/') {
        return None;
    }
    if memchr(b'&', &uri).is_none() {
        return Some((span, uri));
    }
    let mut undone = Vec::with_capacity(uri.len());
    entity::undo(&uri, &mut undone);
    Some((span, Cow::Owned(undone)))
}

/// The end of a URL without quotation marks around it.
fn end_of_bare(text: &[u8], span: Range<usize>) -> usize {
    let mut at = span.start;
    let mut kept = at;
    while let Some(found) = memchr(b'&', &text[at..span.end]) {
        at += found;
        match entity::reference(&text[at..]) {
            Some((meant, _)) if meant.is_whitespace() || "\"<>".contains(meant) => {
                return without_punctuation(text, kept..at);
            }
            Some((_, length)) => {
                at += length;
                // Its semicolon is no punctuation.
                kept = at;
                if at >= span.end {
                    return at;
                }
            }
            None => at += 1,
        }
    }
    without_punctuation(text, kept..span.end)
}

/// The end of a range without the punctuation that it ends with.
fn without_punctuation(text: &[u8], range: Range<usize>) -> usize {
    let is_final = |byte: &&u8| b".,:;!?'([".contains(*byte);
    range.end - text[range].iter().rev().take_while(is_final).count()
}
