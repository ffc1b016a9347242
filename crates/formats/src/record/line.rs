//! Cuts a chunk into lines, and handles blank and overlong ones for all formats.
//!
//! The input is a chunk of whole lines; the output is one [`Record`] each, filled by a format's
//! closure.

use std::ops::Range;

use super::{Context, Extracted, Record, Records, Separator};
use uniqurl::RejectReason;
use uniqurl::internal::{Kernel, Span};

/// A line without its ending, and its offset in the chunk.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Where it begins in the chunk.
    pub start: u32,
}

impl Line<'_> {
    /// A range of the line as a span of the chunk.
    #[inline]
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        Span { start: self.start + range.start as u32, end: self.start + range.end as u32 }
    }

    /// The range of a slice of the line; none if it is a slice of something else.
    #[inline]
    pub(super) fn range_of(&self, part: &[u8]) -> Option<Range<usize>> {
        let start = part.as_ptr().addr().checked_sub(self.bytes.as_ptr().addr())?;
        let range = start..start + part.len();
        (range.end <= self.bytes.len()).then_some(range)
    }
}

/// Appends a record for each line of `chunk`.
///
/// `find` sees lines that are neither blank nor longer than the limit on records; longer lines are
/// rejected at position `too_long_at`. One carriage return before the line feed belongs to the ending.
#[inline]
pub(super) fn each(
    ctx: &Context,
    too_long_at: usize,
    chunk: &[u8],
    out: &mut Records,
    find: impl FnMut(Line<'_>, &mut Vec<u8>) -> Extracted,
) {
    each_between(Separator::LineFeed, ctx, too_long_at, chunk, out, find);
}

/// The same for any separator.
#[inline]
pub(super) fn each_between(
    separator: Separator,
    ctx: &Context,
    too_long_at: usize,
    chunk: &[u8],
    out: &mut Records,
    mut find: impl FnMut(Line<'_>, &mut Vec<u8>) -> Extracted,
) {
    let mut lines = Vec::new();
    // Formats do not receive the chosen backend. memchr, which they search with, also detects the CPU.
    cut(Kernel::best(), separator, chunk, &mut lines);
    for line in lines {
        let bytes = line.of(chunk);
        // A record that is too long was cut by the reader, so nothing that it seems to hold is
        // looked at.
        let found = if bytes.len() > ctx.max_record {
            Extracted::Reject(RejectReason::TooLong, too_long_at as u32)
        } else if is_blank(bytes) {
            Extracted::Blank
        } else {
            find(Line { bytes, start: line.start }, &mut out.scratch)
        };
        out.push(Record { line, found });
        if out.is_full() {
            break;
        }
    }
}

/// Appends a span for each record of a list.
pub fn cut(kernel: Kernel, separator: Separator, chunk: &[u8], out: &mut Vec<Span>) {
    match separator {
        Separator::LineFeed => kernel.lines(chunk, out),
        Separator::Nul => cut_at_nul(chunk, out),
    }
}

/// A NUL terminates a record and is not part of it. A last record without a NUL counts.
fn cut_at_nul(chunk: &[u8], out: &mut Vec<Span>) {
    let mut start = 0;
    let rest = (!chunk.ends_with(b"\0")).then_some(chunk.len());
    for end in memchr::memchr_iter(0, chunk).chain(rest.filter(|_| !chunk.is_empty())) {
        out.push(Span { start, end: end as u32 });
        start = end as u32 + 1;
    }
}

/// A byte-order mark in UTF-8.
pub const MARK: &[u8] = b"\xEF\xBB\xBF";

/// The text after a byte-order mark, if there is one.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Whether a record holds only spaces and tabs.
#[inline]
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|&byte| matches!(byte, b' ' | b'\t'))
}

#[cfg(test)]
mod tests {
    use super::super::format::tests::read;
    use super::super::{BufferId, Context, Extracted, Format, Separator};
    use super::Line;
    use uniqurl::RejectReason;
    use uniqurl::internal::Span;

    #[test]
    fn only_a_slice_of_the_line_has_a_range_in_it() {
        let text = b"abcdef".to_vec();
        let line = Line { bytes: &text[1..4], start: 1 };
        assert_eq!(line.range_of(&text[2..4]), Some(1..3));
        assert_eq!(line.range_of(&text[4..4]), Some(3..3));
        for other in [&text[..2], &text[3..5], b"bc"] {
            assert_eq!(line.range_of(other), None);
        }
    }

    fn lines(chunk: &[u8]) -> Vec<Extracted> {
        read(&Format::Lines, &Context::default(), chunk).records.iter().map(|r| r.found).collect()
    }

    fn url(start: u32, end: u32) -> Extracted {
        Extracted::Url(BufferId::Chunk, Span { start, end })
    }

    #[test]
    fn each_line_feed_ends_a_record_and_an_unended_line_is_one() {
        assert_eq!(lines(b""), []);
        assert_eq!(lines(b"\n"), [Extracted::Blank]);
        assert_eq!(lines(b"a\nb\n"), [url(0, 1), url(2, 3)]);
        assert_eq!(lines(b"a\nb"), [url(0, 1), url(2, 3)]);
    }

    #[test]
    fn one_carriage_return_before_the_line_feed_is_part_of_the_ending() {
        assert_eq!(lines(b"a\r\n\r\nb\r\r\n"), [url(0, 1), Extracted::Blank, url(5, 7)]);
        assert_eq!(lines(b"a\r"), [url(0, 2)], "no line feed, no ending");
    }

    #[test]
    fn records_that_end_in_nul_may_hold_line_feeds() {
        let ctx = Context { separator: Separator::Nul, ..Context::default() };
        let chunk = b"http://a\0http://b\nc\0 \t\0\0\r\n\0d";
        let records = read(&Format::Lines, &ctx, chunk).records;
        let found: Vec<Extracted> = records.iter().map(|record| record.found).collect();
        let blank = Extracted::Blank;
        assert_eq!(found, [url(0, 8), url(9, 19), blank, blank, url(24, 26), url(27, 28)]);
        assert_eq!(records[1].line, Span { start: 9, end: 19 });
        let of_another_format = read(&Format::Target, &ctx, b"/a\n/b\n");
        assert_eq!(of_another_format.records.len(), 2);
        assert_eq!(read(&Format::Lines, &ctx, b"").records, []);
    }

    #[test]
    fn only_spaces_and_tabs_are_blank() {
        assert_eq!(lines(b" \t\n\x0b\n"), [Extracted::Blank, url(3, 4)]);
    }

    #[test]
    fn overlong_line_is_rejected_at_the_limit() {
        let ctx = Context { max_url: 3, max_record: 5, ..Context::default() };
        let found: Vec<Extracted> = read(&Format::Lines, &ctx, b"abc\nabcd\n     \n      \n")
            .records
            .iter()
            .map(|r| r.found)
            .collect();
        let too_long = Extracted::Reject(RejectReason::TooLong, 3);
        assert_eq!(found, [url(0, 3), too_long, Extracted::Blank, too_long]);
    }
}
