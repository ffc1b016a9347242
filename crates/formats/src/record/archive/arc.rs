//! Reads the heads of ARC records, version 1: a line of URL, address, date, type and length.

use super::super::fields::whole;
use super::super::{BufferId, Context, Extracted};
use super::found::url;
use uniqurl::RejectReason;

/// The beginning of every file: a record about itself.
pub(super) const FIRST: &[u8] = b"filedesc://";

/// The relevant fields of a head.
pub struct Fields<'a> {
    pub url: &'a [u8],
    mime: &'a [u8],
    pub length: &'a [u8],
}

/// The fields of a head, if the line is one. They are counted from the end, because only the URL
/// may contain spaces.
pub fn fields(line: &[u8]) -> Option<Fields<'_>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut fields = line.rsplitn(5, |byte| *byte == b' ');
    let (length, mime) = (fields.next()?, fields.next()?);
    let (date, _address, url) = (fields.next()?, fields.next()?, fields.next()?);
    let is_number = |field: &[u8]| !field.is_empty() && field.iter().all(u8::is_ascii_digit);
    // Every URL of an ARC file has a colon, also the made-up `dns:` and `filedesc:`. A line of a
    // body that happens to end in numbers rarely has one before them.
    (is_number(length) && is_number(date) && (8..=17).contains(&date.len()) && url.contains(&b':'))
        .then_some(Fields { url, mime, length })
}

/// The length of the body, if the line is a head.
pub fn body_length(line: &[u8]) -> Option<u64> {
    whole(fields(line)?.length)
}

/// Finds the URL of a record.
pub(super) fn find(ctx: &Context, head: &[u8], start: u32) -> Extracted {
    let line = head.strip_suffix(b"\n").unwrap_or(head);
    match fields(line) {
        None => Extracted::Reject(RejectReason::LogSyntax, 0),
        // The record about the file is asked for before the filter: it is a header and counts as
        // skipped, while a filter counts only records.
        Some(fields) if fields.url.starts_with(FIRST) => Extracted::Skipped,
        Some(fields) if !ctx.filter.keeps(None, None, Some(fields.mime)) => Extracted::Filtered,
        Some(fields) => url(ctx, BufferId::Chunk, start, fields.url),
    }
}
