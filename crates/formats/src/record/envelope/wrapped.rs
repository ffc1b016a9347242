//! A format whose records stand in envelopes.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use memchr::memchr;
use uniqurl::RejectReason;
use uniqurl::internal::Span;

use super::super::layout::Layout;
use super::super::line::{Line, is_blank};
use super::super::part::PartSet;
use super::super::{BufferId, Context, Extracted, Record, Records, Separator};
use super::Envelope;
use super::inner_line::{InnerLine, outer_lines, stripped};
use super::stripped::BareLines;

/// A format in an envelope. A record's own bytes are the line with its envelope; its URL is found by
/// the format in the line without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapped<F> {
    envelope: Envelope,
    bare: BareLines,
    format: F,
}

/// A handle to a layout, which an envelope can hold: [`Format`](super::super::Format), which itself may be an
/// envelope, so that this file cannot name it.
pub trait Handle: Deref<Target = dyn Layout> + Clone + fmt::Debug + Send + Sync {
    /// The handle for the input after `chunk`, if it differs.
    fn after(&self, ctx: &Context, chunk: &[u8]) -> Option<Self>;
}

impl<F: Handle> Layout for Wrapped<F> {
    fn name(&self) -> Cow<'_, str> {
        format!("{} in {}", self.format.name(), self.envelope.name()).into()
    }

    fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let ctx = &*lines_of(ctx);
        let mut now = self.format.clone();
        let mut buffer = Vec::new();
        for outer in outer_lines(chunk) {
            let line = Line { bytes: outer.of(chunk), start: outer.start };
            match InnerLine::of(self.envelope, self.bare, ctx.max_record, line, &mut buffer) {
                Ok(inner) => {
                    let first = out.records.len();
                    read_line(&*now, ctx, &inner, out);
                    let records = &mut out.records[first..];
                    if inner.is_cut {
                        reject_open(&*now, ctx, inner.text, records);
                    }
                    for record in records {
                        place(&*now, &inner, outer, record, &mut out.scratch);
                    }
                    // A header in one envelope describes the lines in those after it.
                    if now.looks_back()
                        && let Some(after) = now.after(ctx, inner.chunk())
                    {
                        now = after;
                    }
                }
                Err(why) => out.push(Record { line: outer, found: Extracted::Reject(why, 0) }),
            }
            if out.is_full() {
                break;
            }
        }
    }

    fn has_whole_records(&self) -> bool {
        self.format.has_whole_records()
    }

    fn has_directives(&self) -> bool {
        self.format.has_directives()
    }

    fn parts(&self) -> PartSet {
        self.format.parts()
    }

    fn facts(&self) -> PartSet {
        self.format.facts()
    }

    fn has_queries(&self) -> bool {
        self.envelope.hides_bytes() || self.format.has_queries()
    }

    fn looks_back(&self) -> bool {
        self.format.looks_back()
    }

    fn fits_envelopes(&self) -> bool {
        false
    }
}

impl<F: Handle> Wrapped<F> {
    pub(in crate::record) fn new(envelope: Envelope, bare: BareLines, format: F) -> Self {
        Self { envelope, bare, format }
    }

    /// The part of a format's name that names the format in an envelope, which is all of it where there
    /// is none.
    pub fn inner_name(name: &str) -> &str {
        let of = |envelope: Envelope| {
            name.strip_suffix(envelope.name()).and_then(|name| name.strip_suffix(" in "))
        };
        Envelope::ALL.into_iter().find_map(of).unwrap_or(name)
    }

    /// The format of the lines in the envelopes.
    pub fn format(&self) -> &F {
        &self.format
    }

    /// The same envelope around another format.
    #[must_use]
    pub fn with(&self, format: F) -> Self {
        Self { format, ..self.clone() }
    }

    /// The format for the input after `chunk`, if it differs.
    pub(in crate::record) fn after(&self, ctx: &Context, chunk: &[u8]) -> Option<Self> {
        let format = self.format.after(&lines_of(ctx), &self.stripped(ctx, chunk)?)?;
        Some(self.with(format))
    }

    /// The lines of a chunk without their envelopes, for a format that needs the lines before.
    pub(in crate::record) fn stripped(&self, ctx: &Context, chunk: &[u8]) -> Option<Vec<u8>> {
        self.looks_back().then(|| stripped(self.envelope, self.bare, ctx.max_record, chunk))
    }

    /// The text in the envelope of a record. A line without the envelope is its own text.
    pub(in crate::record) fn text_of<'a>(
        &self,
        line: &'a [u8],
        buffer: &'a mut Vec<u8>,
    ) -> &'a [u8] {
        let line = Line { bytes: line, start: 0 };
        // The reader has judged this line, so neither its length nor a missing envelope matters
        // here.
        let inner = InnerLine::of(self.envelope, BareLines::AreRead, usize::MAX, line, buffer);
        inner.map_or(line.bytes, |inner| inner.text)
    }
}

/// Reads the line in an envelope. Its text may hold line feeds that were escaped; then there are several records.
fn read_line(layout: &dyn Layout, ctx: &Context, inner: &InnerLine<'_>, out: &mut Records) {
    let bytes = inner.chunk();
    let whole = Span { start: 0, end: bytes.len() as u32 };
    // To cut a chunk takes as long as to read the one line in it.
    if memchr(b'\n', bytes).is_none()
        && !is_blank(bytes)
        && let Some(found) = layout.found(ctx, Line { bytes, start: 0 }, &mut out.scratch)
    {
        return out.push(Record { line: whole, found });
    }
    layout.read(ctx, bytes, out);
}

/// Rejects the last record of a line that was cut unless it is a URL that ends before the cut: one that one
/// more byte does not change.
fn reject_open(layout: &dyn Layout, ctx: &Context, text: &[u8], records: &mut [Record]) {
    // A base in front of each of all targets could take any amount of memory.
    let ctx = Context { base: None, ..ctx.clone() };
    let mut others = Records::default();
    layout.read(&ctx, &[text, b"x"].concat(), &mut others);
    let longer = others.records.last().and_then(|other| length(other.found));
    let Some(record) = records.last_mut() else { return };
    let is_open = match record.found {
        Extracted::Blank | Extracted::Skipped | Extracted::Filtered => false,
        found => length(found).is_none() || length(found) != longer,
    };
    if is_open {
        record.found = Extracted::Reject(RejectReason::Truncated, 0);
    }
}

/// Moves a record that was found in an inner line to the outer one.
fn place(
    layout: &dyn Layout,
    inner: &InnerLine<'_>,
    outer: Span,
    record: &mut Record,
    scratch: &mut Vec<u8>,
) {
    if let Extracted::Url(buffer @ BufferId::Chunk, span)
    | Extracted::Target(buffer @ BufferId::Chunk, span) = &mut record.found
    {
        if let Some(start) = inner.start {
            *span = shifted(*span, start);
        } else {
            // The next line overwrites the buffer with the unescaped text.
            let start = scratch.len();
            scratch.extend_from_slice(span.of(inner.text));
            match Span::checked(start..scratch.len()) {
                Some(copy) => (*buffer, *span) = (BufferId::Scratch, copy),
                None => record.found = Extracted::Reject(RejectReason::TooLong, 0),
            }
        }
    }
    record.line = match inner.start {
        Some(start) if layout.is_within_lines() => shifted(record.line, start),
        _ => outer,
    };
}

fn shifted(span: Span, start: u32) -> Span {
    Span { start: span.start + start, end: span.end + start }
}

/// The length of the URL or target of a record, without a scheme and host that its reader added.
fn length(found: Extracted) -> Option<usize> {
    match found {
        Extracted::Url(_, span) | Extracted::Target(_, span) => Some(span.len()),
        Extracted::Joined { url, prefix } => Some(url.len() - prefix as usize),
        Extracted::Blank | Extracted::Skipped | Extracted::Filtered | Extracted::Reject(..) => None,
    }
}

/// The settings for lines: envelopes end in line feeds.
fn lines_of(ctx: &Context) -> Cow<'_, Context> {
    match ctx.separator {
        Separator::LineFeed => Cow::Borrowed(ctx),
        Separator::Nul => Cow::Owned(Context { separator: Separator::LineFeed, ..ctx.clone() }),
    }
}
