//! Joins the parts of lines that were cut over several envelopes, on each of two streams.
//!
//! A chunk ends where no line is open on either stream, so it holds whole records. That cannot wait
//! for ever: a line that is still open [`Context::max_record`](super::super::Context::max_record)
//! bytes after its start is too long, and its later parts are skipped.

use memchr::memmem;
use uniqurl::internal::Span;

use super::{Envelope, OutputStream, Stripped, docker};

/// The streams of a container.
pub(super) const STREAMS: [OutputStream; 2] = [OutputStream::Stdout, OutputStream::Stderr];

/// The streams with a line that is too long, whose end is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct OverlongStreams([bool; 2]);

impl OverlongStreams {
    pub fn are_none(self) -> bool {
        self == Self::default()
    }
}

/// The lines that are open, and where each begins.
#[derive(Debug)]
pub(super) struct OpenLines {
    begun: [Option<u32>; 2],
    overlong: OverlongStreams,
    max_record: usize,
}

/// The effect of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LinePart {
    /// It is whole.
    Whole,
    /// It is a part of a line that goes on.
    GoesOn,
    /// It is the last part of a line that begins at this offset.
    Last(u32),
    /// It is a part of a line that is too long, and was reported before.
    OfOverlong,
}

impl OpenLines {
    pub fn new(overlong: OverlongStreams, max_record: usize) -> Self {
        Self { begun: [None; 2], overlong, max_record }
    }

    pub fn overlong(&self) -> OverlongStreams {
        self.overlong
    }

    pub fn are_none(&self) -> bool {
        self.begun == [None; 2]
    }

    /// Ends a line that is open and would be too long at `end`. To be called before each line, until
    /// it returns none.
    pub fn expire(&mut self, end: u32) -> Option<(OutputStream, u32)> {
        let is_over = |begun: &Option<u32>| {
            begun.is_some_and(|begun| (end - begun) as usize > self.max_record)
        };
        let stream = self.begun.iter().position(is_over)?;
        self.overlong.0[stream] = true;
        self.begun[stream].take().map(|begun| (STREAMS[stream], begun))
    }

    /// Takes a line that begins at `start`.
    pub fn take(&mut self, line: &Stripped, start: u32) -> LinePart {
        let stream = line.stream as usize;
        if self.overlong.0[stream] {
            self.overlong.0[stream] = line.goes_on;
            return LinePart::OfOverlong;
        }
        match (self.begun[stream], line.goes_on) {
            (None, false) => LinePart::Whole,
            (begun, true) => {
                self.begun[stream] = Some(begun.unwrap_or(start));
                LinePart::GoesOn
            }
            (Some(begun), false) => {
                self.begun[stream] = None;
                LinePart::Last(begun)
            }
        }
    }

    /// The lines that no part ends, by their starts.
    pub fn unfinished(&self) -> Vec<(OutputStream, u32)> {
        let open = STREAMS.into_iter().zip(self.begun);
        let mut open: Vec<_> = open.filter_map(|(stream, begun)| Some((stream, begun?))).collect();
        open.sort_by_key(|(_, begun)| *begun);
        open
    }
}

/// Whether a chunk has no part of a line that is cut. May say no if there is none.
fn has_no_parts(envelope: Envelope, chunk: &[u8]) -> bool {
    match envelope {
        Envelope::Cri => memmem::find(chunk, b" P").is_none(),
        Envelope::Docker | Envelope::Syslog | Envelope::Journald => false,
    }
}

/// Passes over whole lines. Returns the length of those at the start that no open line follows, and
/// the streams that are overlong after them.
pub(super) fn whole(
    envelope: Envelope,
    overlong: OverlongStreams,
    max_record: usize,
    lines: &[u8],
) -> (usize, OverlongStreams) {
    if !envelope.has_parts() || overlong.are_none() && has_no_parts(envelope, lines) {
        return (lines.len(), overlong);
    }
    let mut open = OpenLines::new(overlong, max_record);
    let mut whole = (0, overlong);
    let mut buffer = Vec::new();
    let mut start = 0;
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let text = without_end(line);
        let end = start + text.len();
        while open.expire(end as u32).is_some() {}
        // A short object of Docker's is no part of a line, unless one is open.
        let is_whole = envelope == Envelope::Docker && text.len() < docker::PART;
        let is_alone = is_whole && open.are_none() && open.overlong().are_none();
        if !is_alone && text.len() <= max_record {
            buffer.clear();
            if let Some(line) = strip(envelope, text, &mut buffer) {
                open.take(&line, start as u32);
            }
        }
        start += line.len();
        if open.are_none() {
            whole = (start, open.overlong());
        }
    }
    whole
}

/// A line without its line feed and one carriage return before it.
fn without_end(line: &[u8]) -> &[u8] {
    match line {
        [line @ .., b'\r', b'\n'] | [line @ .., b'\n'] => line,
        line => line,
    }
}

/// Strips a line that may begin with a byte-order mark.
pub(super) fn strip(envelope: Envelope, line: &[u8], buffer: &mut Vec<u8>) -> Option<Stripped> {
    use super::super::line::{MARK, without_mark};
    let text = without_mark(line);
    let mut found = envelope.strip(text, buffer)?;
    if text.len() < line.len()
        && let super::StrippedText::InLine(range) = &mut found.text
    {
        *range = range.start + MARK.len()..range.end + MARK.len();
    }
    Some(found)
}

/// The record's own bytes: from the start of its first part to the end of its last.
pub(super) fn span(begun: u32, end: u32) -> Span {
    Span { start: begun, end }
}
