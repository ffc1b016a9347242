//! Reads the heads of WARC records (ISO 28500, "WARC 1.1" section 4 and 5).

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

use super::super::fields::whole;
use super::super::{BufferId, Context, Extracted, Records};
use super::Kinds;
use super::found::{scratch, url};
use uniqurl::RejectReason;

/// The beginning of every record (WARC 1.1 section 4: `version = "WARC/1.1" CRLF`). Drafts began with 0.
pub const VERSION: &[u8] = b"WARC/";

/// The end of a head's fields, after the first empty line. Some writers omit the carriage returns.
pub fn end_of_fields(bytes: &[u8]) -> Option<usize> {
    memchr_iter(b'\n', bytes).find_map(|feed| match &bytes[feed + 1..] {
        [b'\n', ..] => Some(feed + 2),
        [b'\r', b'\n', ..] => Some(feed + 3),
        _ => None,
    })
}

/// The value of the first field with this name (in lower case), without surrounding white space.
/// The value may begin or continue on the next line: `field-value = *( field-content | LWS )` and
/// `LWS = [CRLF] 1*( SP | HT )`. A fold is read as a space (RFC 2616 section 2.2: "All linear white
/// space, including folding, has the same semantics as SP").
pub fn field<'a>(head: &'a [u8], name: &[u8]) -> Option<Cow<'a, [u8]>> {
    // The first line is the version.
    let mut lines = lines(head).skip(1);
    while let Some(line) = lines.next() {
        // Nearly all lines are other fields. Their first bytes show that without a search for the
        // colon.
        if !line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            continue;
        }
        let Some(colon) = memchr(b':', line) else { continue };
        if !line[..colon].trim_ascii_end().eq_ignore_ascii_case(name) {
            continue;
        }
        let mut value = Cow::Borrowed(line[colon + 1..].trim_ascii());
        let folded = lines.take_while(|line| matches!(line, [b' ' | b'\t', ..]));
        for part in folded.map(<[u8]>::trim_ascii).filter(|part| !part.is_empty()) {
            if value.is_empty() {
                value = Cow::Borrowed(part);
            } else {
                let joined = value.to_mut();
                joined.push(b' ');
                joined.extend_from_slice(part);
            }
        }
        return Some(value);
    }
    None
}

/// Splits at line feeds, like `slice::split`, which is slower since it goes byte by byte.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(head);
    std::iter::from_fn(move || {
        let text = rest?;
        let feed = memchr(b'\n', text);
        rest = feed.map(|feed| &text[feed + 1..]);
        Some(&text[..feed.unwrap_or(text.len())])
    })
}

/// The length of the body, if the head gives it.
pub fn content_length(head: &[u8]) -> Option<u64> {
    whole(&field(head, b"content-length")?)
}

/// Finds the target of a record. A folded target is copied into `out`. `start` is the offset of the
/// head in the chunk.
pub(super) fn find(
    ctx: &Context,
    head: &[u8],
    start: u32,
    kinds: Kinds,
    out: &mut Records,
) -> Extracted {
    // The kind comes first: records about the file itself need no target, and are no malformed
    // ones.
    match field(head, b"warc-type") {
        None => return Extracted::Reject(RejectReason::LogSyntax, 0),
        Some(kind) if !kinds.contains(&kind) => return Extracted::Skipped,
        Some(_) => {}
    }
    match field(head, b"warc-target-uri") {
        None => Extracted::Reject(RejectReason::LogSyntax, 0),
        Some(Cow::Borrowed(value)) => {
            let target = bare(value);
            // The target is a slice of the head.
            let at = start + (target.as_ptr() as usize - head.as_ptr() as usize) as u32;
            url(ctx, BufferId::Chunk, at, target)
        }
        Some(Cow::Owned(value)) => {
            let start = out.scratch.len();
            out.scratch.extend_from_slice(bare(&value));
            scratch(ctx, start, out)
        }
    }
}

/// Removes the angle brackets that WARC 1.0's grammar and some tools put around a WARC-Target-URI.
pub(super) fn bare(value: &[u8]) -> &[u8] {
    let inner = value.strip_prefix(b"<").and_then(|value| value.strip_suffix(b">"));
    inner.unwrap_or(value)
}

/// True if a record describes another one in JSON, as those of WAT files do.
pub(super) fn is_wat(head: &[u8]) -> bool {
    field(head, b"warc-type").is_some_and(|kind| kind.eq_ignore_ascii_case(b"metadata"))
        && field(head, b"content-type")
            .is_some_and(|kind| kind.to_ascii_lowercase().starts_with(b"application/json"))
}

/// True if a WAT file begins like this: after the record about the file itself, all records
/// describe others. In other files a crawler may have added JSON of its own.
pub(super) fn begins_wat(bytes: &[u8]) -> bool {
    let is_about_file = |head: &&[u8]| {
        field(head, b"warc-type").is_some_and(|kind| kind.eq_ignore_ascii_case(b"warcinfo"))
    };
    let mut records = heads(bytes).filter(|head| !is_about_file(head)).peekable();
    // Nothing but the record about the file is no evidence, and `all` is true for nothing.
    records.peek().is_some() && records.all(is_wat)
}

/// The heads of the records at the start of an input.
fn heads(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let end = end_of_fields(bytes)?;
        let (head, rest) = bytes.split_at(end);
        let length = usize::try_from(content_length(head)?).ok()?;
        bytes = rest.get(length..).unwrap_or_default().trim_ascii_start();
        Some(head)
    })
}
