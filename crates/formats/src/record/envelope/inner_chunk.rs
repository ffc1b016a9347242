//! The lines of a chunk without their envelopes, as a chunk of their own that a format reads.
//!
//! Comes in: a chunk of whole lines. Goes out: the chunk of inner lines, each with its place in the
//! outer chunk, so that the records found in it can be moved there. A line that cannot be read (it
//! has no envelope, or its end is missing) leaves an empty inner line, which holds its place among
//! the records.

use std::ops::Range;

use memchr::memchr;

use uniqurl::RejectReason;
use uniqurl::internal::{Kernel, Span};

use super::super::line::{cut, is_blank};
use super::super::{BufferId, Context, Csv, Extracted, Format, Record, Records, Separator};
use super::parts::{self, LinePart, OpenLines, OverlongStreams, STREAMS};
use super::wrapped::BareLines;
use super::{Envelope, OutputStream, StrippedText};

/// Inner lines, each with its line feed, and their places.
#[derive(Debug, Default)]
pub(super) struct InnerChunk {
    pub bytes: Vec<u8>,
    lines: Vec<InnerLine>,
    /// The text of the open line of each stream.
    open: [Vec<u8>; 2],
}

/// The place of an inner line. Its text may hold line feeds that were escaped; then a format finds
/// several records in it.
#[derive(Debug)]
struct InnerLine {
    /// Where it begins among the inner lines.
    start: u32,
    /// The outer line or lines.
    outer: Span,
    text: InnerText,
}

/// How the bytes of an inner line come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InnerText {
    /// They stand in the outer chunk at this offset.
    Same(u32),
    /// They were unescaped or joined.
    Copied,
    /// There are none, for this reason.
    Missing(RejectReason),
}

impl InnerChunk {
    /// Strips the lines of a chunk.
    pub fn new(
        envelope: Envelope,
        bare: BareLines,
        overlong: OverlongStreams,
        format: &Format,
        ctx: &Context,
        chunk: &[u8],
    ) -> Self {
        let mut inner = Self::default();
        inner.bytes.reserve(chunk.len());
        let mut open = OpenLines::new(overlong, ctx.max_record);
        let mut lines = Vec::new();
        cut(Kernel::best(), Separator::LineFeed, chunk, &mut lines);
        for span in lines {
            while let Some((stream, begun)) = open.expire(span.end) {
                inner.open[stream as usize].clear();
                inner.miss(parts::span(begun, span.start), RejectReason::TooLong);
            }
            inner.strip(envelope, bare, ctx, chunk, span, &mut open);
            if let Format::Csv(csv) = format {
                inner.check_quotations(csv, ctx);
            }
        }
        for (_, begun) in open.unfinished() {
            inner.miss(parts::span(begun, chunk.len() as u32), RejectReason::Truncated);
        }
        inner
    }

    fn strip(
        &mut self,
        envelope: Envelope,
        bare: BareLines,
        ctx: &Context,
        chunk: &[u8],
        span: Span,
        open: &mut OpenLines,
    ) {
        let line = span.of(chunk);
        let start = self.bytes.len();
        if line.len() > ctx.max_record {
            return self.miss(span, RejectReason::TooLong);
        }
        if is_blank(line) {
            return self.end(start, span, InnerText::Copied);
        }
        let Some(stripped) = parts::strip(envelope, line, &mut self.bytes) else {
            return match bare {
                BareLines::AreRejected => self.miss(span, RejectReason::LogSyntax),
                BareLines::AreRead => {
                    self.bytes.extend_from_slice(line);
                    self.end(start, span, InnerText::Same(span.start));
                }
            };
        };
        let text = match stripped.text.clone() {
            StrippedText::InLine(range) => {
                let at = span.start + range.start as u32;
                self.bytes.extend_from_slice(&line[range]);
                InnerText::Same(at)
            }
            StrippedText::Unescaped => InnerText::Copied,
        };
        let part = open.take(&stripped, span.start);
        let joined = &mut self.open[stripped.stream as usize];
        match part {
            LinePart::Whole => self.end(start, span, text),
            LinePart::OfOverlong => self.bytes.truncate(start),
            LinePart::GoesOn => joined.extend(self.bytes.drain(start..)),
            LinePart::Last(begun) => {
                joined.extend_from_slice(&self.bytes[start..]);
                self.bytes.truncate(start);
                self.bytes.append(joined);
                self.end(start, parts::span(begun, span.end), InnerText::Copied);
            }
        }
    }

    /// Ends an inner line.
    fn end(&mut self, start: usize, outer: Span, text: InnerText) {
        self.bytes.push(b'\n');
        self.lines.push(InnerLine { start: start as u32, outer, text });
    }

    /// Adds an empty line in place of one that cannot be read.
    fn miss(&mut self, outer: Span, why: RejectReason) {
        self.end(self.bytes.len(), outer, InnerText::Missing(why));
    }

    /// Takes the last line out if a quotation does not close in it, which would run on into the next
    /// envelope.
    fn check_quotations(&mut self, csv: &Csv, ctx: &Context) {
        let Some(last) = self.lines.last_mut() else { return };
        let text = &self.bytes[last.start as usize..];
        if memchr(b'"', text).is_some() && csv.whole(ctx, text) < text.len() {
            self.bytes.truncate(last.start as usize);
            self.bytes.push(b'\n');
            last.text = InnerText::Missing(RejectReason::Truncated);
        }
    }

    /// Moves the records that `format` found in the inner lines to the outer ones.
    pub fn place(&self, format: &Format, out: &mut Records) {
        let headers = out.headers();
        let mut lines = self.lines.iter().peekable();
        let mut line = lines.next();
        for (number, record) in out.records.iter_mut().enumerate() {
            while let Some(next) = lines.next_if(|next| next.start <= record.line.start) {
                line = Some(next);
            }
            let Some(line) = line else { return };
            // A header among the skipped records stays one.
            if let InnerText::Missing(why) = line.text
                && number >= headers
            {
                record.found = Extracted::Reject(why, 0);
            }
            self.place_url(line, record, &mut out.scratch);
            record.line = match line.text {
                // There a record is less than a line.
                InnerText::Same(at) if matches!(format, Format::Text(_)) => {
                    shifted(record.line, line, at)
                }
                _ => line.outer,
            };
        }
    }

    fn place_url(&self, line: &InnerLine, record: &mut Record, scratch: &mut Vec<u8>) {
        let (Extracted::Url(BufferId::Chunk, span) | Extracted::Target(BufferId::Chunk, span)) =
            record.found
        else {
            return;
        };
        let is_target = matches!(record.found, Extracted::Target(..));
        let (buffer, span) = match line.text {
            InnerText::Same(at) => (BufferId::Chunk, shifted(span, line, at)),
            InnerText::Copied | InnerText::Missing(_) => {
                let start = scratch.len();
                scratch.extend_from_slice(span.of(&self.bytes));
                match Span::checked(start..scratch.len()) {
                    Some(span) => (BufferId::Scratch, span),
                    None => {
                        record.found = Extracted::Reject(RejectReason::TooLong, 0);
                        return;
                    }
                }
            }
        };
        record.found = match is_target {
            true => Extracted::Target(buffer, span),
            false => Extracted::Url(buffer, span),
        };
    }
}

/// A span of the inner lines in the outer chunk, where the text of the line begins at `at`.
fn shifted(span: Span, line: &InnerLine, at: u32) -> Span {
    Span { start: span.start - line.start + at, end: span.end - line.start + at }
}

/// The text in the envelopes of one record, which may hold several lines: the parts of its own, and
/// lines of the other stream between them. A line without the envelope is its own text.
pub(in crate::record) fn text_of_record<'a>(
    envelope: Envelope,
    record: &'a [u8],
    buffer: &'a mut Vec<u8>,
) -> &'a [u8] {
    buffer.clear();
    let mut of: Option<OutputStream> = None;
    let mut same: Option<Range<usize>> = None;
    let mut start = 0;
    let mut is_copied = false;
    for line in record.split_inclusive(|byte| *byte == b'\n') {
        let text =
            line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
        let before = buffer.len();
        if let Some(stripped) = parts::strip(envelope, text, buffer) {
            if *of.get_or_insert(stripped.stream) != stripped.stream {
                buffer.truncate(before);
            } else if let StrippedText::InLine(range) = stripped.text {
                // The first part is only copied if another one follows.
                match same.take() {
                    None if !is_copied => same = Some(start + range.start..start + range.end),
                    first => {
                        buffer.extend_from_slice(&record[first.unwrap_or_default()]);
                        buffer.extend_from_slice(&text[range]);
                        is_copied = true;
                    }
                }
            } else {
                is_copied = true;
            }
        }
        start += line.len();
    }
    match same {
        Some(range) => &record[range],
        None if is_copied => buffer,
        None => record,
    }
}

const _: () = assert!(STREAMS.len() == 2);
