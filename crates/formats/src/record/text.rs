//! Reads `text`: every URL in free text is a record, by the rules of [`extract`].
//!
//! Each line is read by itself, so the records do not depend on how the input is cut. A URL that
//! angle brackets hold together across a line's end becomes two pieces. Lines without a URL and
//! blank lines are not records.

use memchr::{memchr, memchr_iter};

use super::line::Line;
use super::{BufferId, Context, Extracted, Record, Records};
use uniqurl::bytes::RejectReason;
use uniqurl::bytes::Span;
use uniqurl::uri::extract;

/// Appends a record for each URL in `chunk`, and a skipped one for each line without any.
pub(super) fn read(ctx: &Context, chunk: &[u8], out: &mut Records) {
    let mut start = 0;
    let ends = memchr_iter(b'\n', chunk).map(|feed| {
        let is_pair = feed > 0 && chunk[feed - 1] == b'\r';
        (feed - usize::from(is_pair), feed + 1)
    });
    let last = (chunk.last() != Some(&b'\n')).then_some((chunk.len(), chunk.len()));
    for (end, next) in ends.chain(last) {
        let line = Line { bytes: &chunk[start..end], start: start as u32 };
        if start < next {
            read_line(ctx, line, out);
            if out.is_full() {
                break;
            }
        }
        start = next;
    }
}

fn read_line(ctx: &Context, line: Line<'_>, out: &mut Records) {
    let whole = line.span(0..line.bytes.len());
    if line.bytes.len() > ctx.max_record {
        let found = Extracted::Reject(RejectReason::TooLong, 0);
        return out.push(Record { line: whole, found });
    }
    let mut has_url = false;
    // A URL has a colon.
    let has_colon = memchr(b':', line.bytes).is_some();
    for url in has_colon.then(|| extract(line.bytes)).into_iter().flatten() {
        let span = line.span(url.span.clone());
        let found = if url.uri.len() > ctx.max_url {
            Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32)
        } else if url.uri.len() == url.span.len() {
            Extracted::Url(BufferId::Chunk, span)
        } else {
            let start = out.scratch.len();
            out.scratch.extend_from_slice(&url.uri);
            match Span::checked(start..out.scratch.len()) {
                Some(uri) => Extracted::Url(BufferId::Scratch, uri),
                None => Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32),
            }
        };
        out.push(Record { line: span, found });
        has_url = true;
    }
    if !has_url {
        out.push(Record { line: whole, found: Extracted::Skipped });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriage_return_before_a_line_feed_is_not_part_of_the_record() {
        let ctx = Context { max_record: 9, ..Context::default() };
        for (text, found) in [
            ("<http://h>", Extracted::Reject(RejectReason::TooLong, 0)),
            ("http://h/\r\n", Extracted::Url(BufferId::Chunk, Span { start: 0, end: 9 })),
            ("http://h/\r", Extracted::Reject(RejectReason::TooLong, 0)),
            ("\r\n", Extracted::Skipped),
        ] {
            let mut out = Records::default();
            read(&ctx, text.as_bytes(), &mut out);
            assert_eq!(out.records.iter().map(|record| record.found).collect::<Vec<_>>(), [found]);
        }
    }
}
