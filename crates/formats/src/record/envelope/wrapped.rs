//! A format whose records stand in envelopes.

use std::borrow::Cow;

use super::super::{Context, Format, Records, Separator, carry};
use super::inner_chunk::InnerChunk;
use super::parts::{self, OverlongStreams};
use super::{Envelope, text_of_record};

/// A format in an envelope. A record's own bytes are the line with its envelope; its URL is found by
/// the format in the line without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapped {
    envelope: Envelope,
    bare: BareLines,
    format: Format,
    overlong: OverlongStreams,
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
        Self { envelope, bare, format, overlong: OverlongStreams::default() }
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

    pub(in crate::record) fn looks_back(&self) -> bool {
        self.envelope.has_parts() || self.format.looks_back()
    }

    /// Length of the lines at the start of `lines` that no part of a line follows.
    pub(in crate::record) fn whole(&self, ctx: &Context, lines: &[u8]) -> usize {
        parts::whole(self.envelope, self.overlong, ctx.max_record, lines).0
    }

    pub(in crate::record) fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let ctx = &*lines_of(ctx);
        let inner = self.inner(ctx, chunk);
        self.format.read(ctx, &inner.bytes, out);
        inner.place(&self.format, out);
    }

    pub(in crate::record) fn after(&self, ctx: &Context, chunk: &[u8]) -> Option<Self> {
        // Only a chunk of that length can begin or end a line that is too long.
        let may_be_overlong = chunk.len() > ctx.max_record || !self.overlong.are_none();
        let overlong = match self.envelope.has_parts() && may_be_overlong {
            true => parts::whole(self.envelope, self.overlong, ctx.max_record, chunk).1,
            false => self.overlong,
        };
        let ctx = &*lines_of(ctx);
        let format = self
            .format
            .looks_back()
            .then(|| self.format.after(ctx, &self.inner(ctx, chunk).bytes))
            .flatten();
        if format.is_none() && overlong == self.overlong {
            return None;
        }
        let format = format.unwrap_or_else(|| self.format.clone());
        Some(Self { format, overlong, ..self.clone() })
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

    /// The text in the envelopes of one record.
    pub(in crate::record) fn text_of<'a>(
        &self,
        record: &'a [u8],
        buffer: &'a mut Vec<u8>,
    ) -> &'a [u8] {
        text_of_record(self.envelope, record, buffer)
    }

    fn inner(&self, ctx: &Context, chunk: &[u8]) -> InnerChunk {
        let Self { envelope, bare, format, overlong } = self;
        InnerChunk::new(*envelope, *bare, *overlong, format, ctx, chunk)
    }
}

/// The settings for lines: envelopes end in line feeds.
fn lines_of(ctx: &Context) -> Cow<'_, Context> {
    match ctx.separator {
        Separator::LineFeed => Cow::Borrowed(ctx),
        Separator::Nul => Cow::Owned(Context { separator: Separator::LineFeed, ..ctx.clone() }),
    }
}
