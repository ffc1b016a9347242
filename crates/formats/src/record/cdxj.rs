//! Reads `cdxj`, the indexes of pywb and Common Crawl: key, timestamp, and a JSON object with the URL.
//!
//! Lines that begin with `!`, `@` or ` CDX` are headers. The second level of a ZipNum index,
//! `cluster.idx`, has a key and a location for each block of lines but no URLs; such a file is rejected.

use std::borrow::Cow;

use memchr::memchr;

use super::columns::{Column, ColumnKey};
use super::fields::{Fields, stamp};
use super::json::{self, Json, Pointers};
use super::layout::Layout;
use super::line;
use super::part::{PartSet, RecordPart};
use super::{Context, Extracted, Records};
use uniqurl::RejectReason;

/// The layout.
#[derive(Debug)]
pub(super) struct Cdxj(Json);

impl Default for Cdxj {
    fn default() -> Self {
        Self(Json::of_cdxj())
    }
}

/// The fields of a line before its object.
const BEFORE: [&str; 2] = ["urlkey", "timestamp"];

impl Layout for Cdxj {
    fn name(&self) -> Cow<'_, str> {
        "cdxj".into()
    }

    fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let mut buffer = Vec::new();
        line::each(ctx, 0, chunk, out, |line, scratch| {
            if is_header(line.bytes) {
                return Extracted::Skipped;
            }
            let Some(object) = object(line.bytes) else {
                return Extracted::Reject(RejectReason::LogSyntax, 0);
            };
            self.0.content(ctx, line, object, &mut buffer, scratch)
        });
    }

    /// Reads the status and the time of a line.
    fn fields<'a>(&self, line: &'a [u8], out: &mut Fields<'a>) {
        let Some(object) = object(line) else { return };
        self.0.fields(object, out);
        out.numbers.time = line.split(|byte| *byte == b' ').nth(1).and_then(stamp);
    }

    fn parts(&self) -> PartSet {
        PartSet::of(&[RecordPart::Status, RecordPart::Time, RecordPart::Mime])
    }

    fn is_json(&self) -> bool {
        true
    }

    fn fits_envelopes(&self) -> bool {
        false
    }

    fn may_refuse(&self) -> bool {
        true
    }

    fn fits(&self, line: &[u8]) -> Option<bool> {
        Some(object(line).is_some())
    }

    fn common_columns(&self) -> PartSet {
        PartSet::NONE
    }

    fn column(&self, name: &str) -> Result<Option<ColumnKey>, String> {
        let before = BEFORE.iter().position(|known| *known == name);
        Ok(Some(ColumnKey::Pointer(json::tokens(name)?, before)))
    }

    fn cells(
        &self,
        line: &[u8],
        columns: &[Column],
        pointers: &Pointers,
        take: &mut dyn FnMut(Option<&[u8]>),
    ) {
        // `json::cells` passes one value for each column, in order.
        let mut columns_left = columns.iter();
        json::cells(object(line).unwrap_or_default(), pointers, &mut |value| {
            let field = |before| line.split(|byte| *byte == b' ').nth(before);
            let before = columns_left.next().and_then(|column| column.pointer().1);
            take(value.or_else(|| before.and_then(field)));
        });
    }
}

fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"!") || line.starts_with(b"@") || line.starts_with(b" CDX")
}

/// The JSON of a line, which follows a key, digits, and a space after each.
fn object(line: &[u8]) -> Option<&[u8]> {
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
