//! A format whose records stand in envelopes.

use std::borrow::Cow;

use super::super::{Context, Format, Records, Separator, carry};
use super::inner_chunk::InnerChunk;
use super::{Envelope, StrippedText};

/// A format in an envelope. A record's own bytes are the line with its envelope; its URL is found by
/// the format in the line without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapped {
    envelope: Envelope,
    bare: BareLines,
    format: Format,
}

/// What happens to lines without the envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BareLines {
    /// They are read as they stand, since the envelope was found in most lines only.
    AreRead,
    /// They are rejected.
    AreRejected,
}

impl Wrapped {
    pub(super) fn new(envelope: Envelope, bare: BareLines, format: Format) -> Self {
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
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// Applies a line that is not a record, such as a header.
    pub(in crate::record) fn pass(&mut self, line: &[u8], buffer: &mut Vec<u8>) {
        let line = self.text_of(line, buffer);
        self.format.pass(line, &mut Vec::new());
    }

    /// The same envelope around another format.
    #[must_use]
    pub fn with(&self, format: Format) -> Self {
        Self { format, ..self.clone() }
    }

    pub(in crate::record) fn name(&self) -> String {
        format!("{} in {}", self.format.name(), self.envelope.name())
    }

    pub(in crate::record) fn has_queries(&self) -> bool {
        self.envelope.hides_bytes() || self.format.has_queries()
    }

    pub(in crate::record) fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let ctx = &*lines_of(ctx);
        let inner = self.inner(ctx, chunk);
        self.format.read(ctx, &inner.bytes, out);
        inner.reject_cut(&self.format, ctx, out);
        inner.place(&self.format, out);
    }

    pub(in crate::record) fn after(&self, ctx: &Context, chunk: &[u8]) -> Option<Self> {
        if !self.format.looks_back() {
            return None;
        }
        let ctx = &*lines_of(ctx);
        let format = self.format.after(ctx, &self.inner(ctx, chunk).bytes)?;
        Some(self.with(format))
    }

    /// See [`carry::missing`].
    pub(in crate::record) fn missing(
        &self,
        ctx: &Context,
        chunk: &[u8],
        columns: &[String],
    ) -> Option<String> {
        if !self.format.looks_back() {
            return None;
        }
        let ctx = &*lines_of(ctx);
        carry::missing(&self.format, ctx, &self.inner(ctx, chunk).bytes, columns)
    }

    /// The text in the envelope of a record. A line without the envelope is its own text.
    pub(in crate::record) fn text_of<'a>(
        &self,
        line: &'a [u8],
        buffer: &'a mut Vec<u8>,
    ) -> &'a [u8] {
        buffer.clear();
        match self.envelope.strip(line, buffer).map(|stripped| stripped.text) {
            Some(StrippedText::InLine(range)) => &line[range],
            Some(StrippedText::Unescaped) => buffer,
            None => line,
        }
    }

    fn inner(&self, ctx: &Context, chunk: &[u8]) -> InnerChunk {
        InnerChunk::new(self.envelope, self.bare, &self.format, ctx, chunk)
    }
}

/// The settings for lines: envelopes end in line feeds.
fn lines_of(ctx: &Context) -> Cow<'_, Context> {
    match ctx.separator {
        Separator::LineFeed => Cow::Borrowed(ctx),
        Separator::Nul => Cow::Owned(Context { separator: Separator::LineFeed, ..ctx.clone() }),
    }
}
