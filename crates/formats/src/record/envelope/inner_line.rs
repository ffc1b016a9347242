//! The lines of a chunk without their envelopes.
//!
//! In: an outer line. Out: the line of the program in it, with its place in the chunk. Docker and containerd cut
//! long lines over several envelopes. Each part is a line here: parts of several streams alternate, and a missing
//! one would join lines that do not belong together.

use uniqurl::RejectReason;
use uniqurl::internal::{Kernel, Span};

use super::super::Separator;
use super::super::line::{Line, cut, is_blank};
use super::Envelope;
use super::stripped::{BareLines, StrippedText};

/// The line in an envelope.
pub(super) struct InnerLine<'a> {
    pub text: &'a [u8],
    /// Where the text begins in the chunk. None if it was unescaped, and stands elsewhere.
    pub start: Option<u32>,
    /// True if it goes on in a later envelope.
    pub is_cut: bool,
}

impl<'a> InnerLine<'a> {
    /// Takes a line out of its envelope. `buffer` holds an unescaped text. An error is the reason why the line
    /// cannot be read.
    pub fn of(
        envelope: Envelope,
        bare: BareLines,
        max_record: usize,
        line: Line<'a>,
        buffer: &'a mut Vec<u8>,
    ) -> Result<Self, RejectReason> {
        let within = |range: std::ops::Range<usize>, is_cut| {
            let start = Some(line.start + range.start as u32);
            Self { text: &line.bytes[range], start, is_cut }
        };
        // The reader cuts such a line, and an object that was cut has no text to take out.
        if line.bytes.len() > max_record {
            return Err(RejectReason::TooLong);
        }
        // A blank line has no envelope, but is blank and not rejected.
        if is_blank(line.bytes) {
            return Ok(within(0..0, false));
        }
        buffer.clear();
        match (envelope.strip(line.bytes, buffer), bare) {
            (Some(found), _) => Ok(match found.text {
                StrippedText::InLine(range) => within(range, found.is_cut),
                StrippedText::Unescaped => Self { text: buffer, start: None, is_cut: found.is_cut },
            }),
            (None, BareLines::AreRead) => Ok(within(0..line.bytes.len(), false)),
            (None, BareLines::AreRejected) => Err(RejectReason::LogSyntax),
        }
    }

    /// The text as a chunk of its own. The carriage return at its end belonged to the line feed after it.
    pub fn chunk(&self) -> &'a [u8] {
        match self.text.strip_suffix(b"\r").unwrap_or(self.text) {
            // Without a line feed, there would be no line at all.
            b"" => b"\n",
            text => text,
        }
    }
}

/// The outer lines of a chunk.
pub(super) fn outer_lines(chunk: &[u8]) -> Vec<Span> {
    let mut lines = Vec::new();
    cut(Kernel::best(), Separator::LineFeed, chunk, &mut lines);
    lines
}

/// The lines of a chunk without their envelopes, as a chunk. A line that cannot be read is empty.
pub(super) fn stripped(
    envelope: Envelope,
    bare: BareLines,
    max_record: usize,
    chunk: &[u8],
) -> Vec<u8> {
    let mut all = Vec::with_capacity(chunk.len());
    let mut buffer = Vec::new();
    for span in outer_lines(chunk) {
        let line = Line { bytes: span.of(chunk), start: span.start };
        if let Ok(inner) = InnerLine::of(envelope, bare, max_record, line, &mut buffer) {
            all.extend_from_slice(inner.text);
        }
        all.push(b'\n');
    }
    all
}
