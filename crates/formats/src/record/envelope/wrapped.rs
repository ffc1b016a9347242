//! A format whose records stand in envelopes.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use super::super::layout::Layout;
use super::super::part::PartSet;
use super::super::{Context, Records, Separator};
use super::Envelope;
use super::inner_chunk::InnerChunk;
use super::stripped::{BareLines, StrippedText};

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
        let inner = self.inner(ctx, chunk);
        self.format.read(ctx, &inner.bytes, out);
        inner.reject_cut(&*self.format, ctx, out);
        inner.place(&*self.format, out);
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
        self.looks_back().then(|| self.inner(&lines_of(ctx), chunk).bytes)
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
        InnerChunk::new(self.envelope, self.bare, &*self.format, ctx, chunk)
    }
}

/// The settings for lines: envelopes end in line feeds.
fn lines_of(ctx: &Context) -> Cow<'_, Context> {
    match ctx.separator {
        Separator::LineFeed => Cow::Borrowed(ctx),
        Separator::Nul => Cow::Owned(Context { separator: Separator::LineFeed, ..ctx.clone() }),
    }
}
