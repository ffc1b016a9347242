//! The lines of a chunk without their envelopes, as a chunk of their own that a format reads.
//!
//! Comes in: a chunk of whole lines. Goes out: the chunk of inner lines, each with its place in the
//! outer chunk, so that the records found in it can be moved there. A line that cannot be read
//! because it has no envelope leaves an empty inner line, which holds its place among the records.
//!
//! Docker and containerd cut long lines over several envelopes. Each part is a line here: parts of
//! several streams alternate, and a missing one would join lines that do not belong together.

use uniqurl::RejectReason;
use uniqurl::internal::{Kernel, Span};

use super::super::layout::Layout;
use super::super::line::{cut, is_blank};
use super::super::{BufferId, Context, Extracted, Record, Records, Separator};
use super::Envelope;
use super::stripped::{BareLines, StrippedText};

/// Inner lines, each with its line feed, and their places.
#[derive(Debug, Default)]
pub(super) struct InnerChunk {
    pub bytes: Vec<u8>,
    lines: Vec<InnerLine>,
}

/// The place of an inner line. Its text may hold line feeds that were escaped; then a format finds
/// several records in it.
#[derive(Debug)]
struct InnerLine {
    /// Where it begins among the inner lines.
    start: u32,
    /// The outer line.
    outer: Span,
    text: InnerText,
    /// True if it goes on in a later envelope.
    is_cut: bool,
}

/// How the bytes of an inner line come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InnerText {
    /// They stand in the outer chunk at this offset.
    Same(u32),
    /// They were unescaped.
    Copied,
    /// There are none, for this reason.
    Missing(RejectReason),
}

impl InnerChunk {
    /// Strips the lines of a chunk.
    pub fn new(
        envelope: Envelope,
        bare: BareLines,
        layout: &dyn Layout,
        ctx: &Context,
        chunk: &[u8],
    ) -> Self {
        let mut inner = Self::default();
        inner.bytes.reserve(chunk.len());
        let mut lines = Vec::new();
        cut(Kernel::best(), Separator::LineFeed, chunk, &mut lines);
        for span in lines {
            inner.strip(envelope, bare, ctx, chunk, span);
            inner.check_quotations(layout, ctx);
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
    ) {
        let line = span.of(chunk);
        let start = self.bytes.len();
        if line.len() > ctx.max_record {
            return self.miss(span, RejectReason::TooLong);
        }
        if is_blank(line) {
            return self.end(start, span, InnerText::Copied, false);
        }
        let Some(stripped) = envelope.strip(line, &mut self.bytes) else {
            return match bare {
                BareLines::AreRejected => self.miss(span, RejectReason::LogSyntax),
                BareLines::AreRead => {
                    self.bytes.extend_from_slice(line);
                    self.end(start, span, InnerText::Same(span.start), false);
                }
            };
        };
        let text = match stripped.text {
            StrippedText::InLine(range) => {
                let at = span.start + range.start as u32;
                self.bytes.extend_from_slice(&line[range]);
                InnerText::Same(at)
            }
            StrippedText::Unescaped => InnerText::Copied,
        };
        self.end(start, span, text, stripped.is_cut);
    }

    /// Ends an inner line.
    fn end(&mut self, start: usize, outer: Span, text: InnerText, is_cut: bool) {
        self.bytes.push(b'\n');
        self.lines.push(InnerLine { start: start as u32, outer, text, is_cut });
    }

    /// Adds an empty line in place of one that cannot be read.
    fn miss(&mut self, outer: Span, why: RejectReason) {
        self.end(self.bytes.len(), outer, InnerText::Missing(why), false);
    }

    /// Takes the last line out if a quotation does not close in it, which would run on into the next
    /// envelope.
    fn check_quotations(&mut self, layout: &dyn Layout, ctx: &Context) {
        let Some(last) = self.lines.last_mut() else { return };
        let text = &self.bytes[last.start as usize..];
        if layout.whole(ctx, text) < text.len() {
            self.bytes.truncate(last.start as usize);
            self.bytes.push(b'\n');
            last.text = InnerText::Missing(RejectReason::Truncated);
            last.is_cut = false;
        }
    }

    /// Rejects the records of cut lines that are no URL, or one that may go on after the cut: where one
    /// more byte would change it.
    pub fn reject_cut(&self, layout: &dyn Layout, ctx: &Context, out: &mut Records) {
        if !self.lines.iter().any(|line| line.is_cut) {
            return;
        }
        let mut longer = Vec::with_capacity(self.bytes.len());
        let mut ends = Vec::with_capacity(self.lines.len());
        let starts = self.lines.iter().map(|line| line.start as usize);
        for (line, next) in self.lines.iter().zip(starts.skip(1).chain([self.bytes.len()])) {
            longer.extend_from_slice(&self.bytes[line.start as usize..next - 1]);
            longer.extend_from_slice(if line.is_cut { b"x\n" } else { b"\n" });
            ends.push((next as u32, longer.len() as u32));
        }
        // A base in front of each of all targets could take any amount of memory.
        let ctx = Context { base: None, ..ctx.clone() };
        let mut others = Records::default();
        layout.read(&ctx, &longer, &mut others);
        for (line, (end, end_of_other)) in self.lines.iter().zip(ends) {
            // Only the last record of a line can touch its end. It may be one that the window skips.
            let at = out.records.partition_point(|record| record.line.start < end);
            let headers = out.headers().min(at);
            let Some(record) = out.records[headers..at].last_mut() else { continue };
            let other = others.records.partition_point(|other| other.line.start < end_of_other);
            let longer = others.records[..other].last().and_then(|other| length(other.found));
            let is_open = match record.found {
                Extracted::Blank | Extracted::Skipped | Extracted::Filtered => false,
                found => length(found).is_none() || length(found) != longer,
            };
            if line.is_cut && is_open && record.line.start >= line.start {
                record.found = Extracted::Reject(RejectReason::Truncated, 0);
            }
        }
    }

    /// Moves the records that `layout` found in the inner lines to the outer ones.
    pub fn place(&self, layout: &dyn Layout, out: &mut Records) {
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
                InnerText::Same(at) if layout.is_within_lines() => shifted(record.line, line, at),
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

/// The length of the URL or target of a record, without a scheme and host that its reader added.
fn length(found: Extracted) -> Option<usize> {
    match found {
        Extracted::Url(_, span) | Extracted::Target(_, span) => Some(span.len()),
        Extracted::Joined { url, prefix } => Some(url.len() - prefix as usize),
        Extracted::Blank | Extracted::Skipped | Extracted::Filtered | Extracted::Reject(..) => None,
    }
}
