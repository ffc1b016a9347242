//! Reads `cdxj`, the indexes of pywb and Common Crawl: key, timestamp, and a JSON object with the URL.
//!
//! Lines that begin with `!`, `@` or ` CDX` are headers. The second level of a ZipNum index,
//! `cluster.idx`, has a key and a location for each block of lines but no URLs; such a file is rejected.

use memchr::memchr;

use super::fields::{Fields, stamp};
use super::json::{Json, JsonError};
use super::line;
use super::{Context, Extracted, Records};
use uniqurl::RejectReason;

/// Appends a record for each line of `chunk`.
pub(super) fn read(ctx: &Context, json: &Json, chunk: &[u8], out: &mut Records) {
    let mut buffer = Vec::new();
    line::each(ctx, 0, chunk, out, |line, scratch| {
        if is_header(line.bytes) {
            return Extracted::Skipped;
        }
        let Some(object) = object(line.bytes) else {
            return Extracted::Reject(RejectReason::LogSyntax, 0);
        };
        match json.said(object, &mut buffer) {
            Ok(said) => said.found(ctx, json.facts(), line, scratch),
            Err(JsonError::Syntax) => Extracted::Reject(RejectReason::LogSyntax, 0),
            Err(JsonError::Type) => Extracted::Reject(RejectReason::NoField, 0),
        }
    });
}

/// Reads the status and the time of a line.
pub(super) fn fields<'a>(json: &Json, line: &'a [u8], out: &mut Fields<'a>) {
    let Some(object) = object(line) else { return };
    json.fields(object, out);
    out.numbers.time = line.split(|byte| *byte == b' ').nth(1).and_then(stamp);
}

fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"!") || line.starts_with(b"@") || line.starts_with(b" CDX")
}

/// The JSON of a line, which follows a key, digits, and a space after each.
pub(super) fn object(line: &[u8]) -> Option<&[u8]> {
    let key = memchr(b' ', line).filter(|key| *key > 0)?;
    let rest = &line[key + 1..];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    rest[digits..].strip_prefix(b" ").filter(|json| digits > 0 && json.starts_with(b"{"))
}

/// True if a line belongs to a `cluster.idx`: key and timestamp, a shard's name, offset, length.
pub(super) fn is_of_cluster(line: &[u8]) -> bool {
    let fields: Vec<_> = line.split(|byte| *byte == b'\t').collect();
    let is_number = |field: &&[u8]| !field.is_empty() && field.iter().all(u8::is_ascii_digit);
    matches!(fields[..], [key, shard, ..]
        if fields.len() >= 4
            && fields[2..].iter().all(is_number)
            && !shard.is_empty()
            && memchr(b' ', key).is_some_and(|space| is_number(&&key[space + 1..])))
}
