//! Records of web archives: WARC, WAT and ARC.
//!
//! The input is a chunk of heads (for WAT with their bodies) and the [`Frame`] of each; the output
//! is the records found in them. The only bodies it reads are JSON.

mod found;

mod arc;
mod base;
mod kinds;
mod links;
mod warc;
mod wat;

pub use kinds::Kinds;

pub use arc::body_length as arc_body;
pub use warc::{VERSION as WARC_VERSION, content_length as warc_body, end_of_fields as warc_head};

use std::borrow::Cow;
use std::sync::Arc;

use self::links::Links;
use super::fields::{Fields, stamp, written};
use super::layout::Layout;
use super::part::{PartSet, RecordPart};
use super::{Context, Extracted, Framing, Record, Records};
use uniqurl::RejectReason;
use uniqurl::internal::Span;

/// The format of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Archive {
    /// `warc`: the WARC-Target-URI of records of these kinds.
    Warc(Kinds),
    /// `wat`: the target of each response that a WAT file describes.
    Wat,
    /// `wat:links`: every link of the page in each such response.
    WatLinks,
    /// `arc`: the first field of each head, version 1.
    Arc,
}

/// A record in a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Start in the chunk. The range covers the head, and the body if it is loaded.
    pub start: u32,
    /// End in the chunk.
    pub end: u32,
    /// Start in the input.
    pub offset: u64,
    /// Whether the record is complete.
    pub state: FrameState,
    /// The links of its page, kept if they exceed one [pass](Records::limit): parsing the record
    /// again for each pass would take quadratic time.
    links: Option<Arc<Links>>,
}

/// The state of a record in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameState {
    /// It is complete.
    Whole,
    /// The input ended inside it.
    Cut,
    /// It has no head, or its head gives no length. Only its beginning is in the chunk.
    Malformed,
    /// It exceeds the limit on records. Only its beginning is in the chunk.
    TooLong,
}

impl Frame {
    /// A record from `start` to `end` of a chunk.
    pub fn new(start: u32, end: u32, offset: u64, state: FrameState) -> Self {
        Self { start, end, offset, state, links: None }
    }

    /// Bytes of memory in use beside the frame itself.
    pub fn memory(&self) -> usize {
        self.links.as_ref().map_or(0, |links| links.memory())
    }
}

impl Layout for Archive {
    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Archive::Warc(_) => "warc",
            Archive::Wat => "wat",
            Archive::WatLinks => "wat:links",
            Archive::Arc => "arc",
        })
    }

    fn has_whole_records(&self) -> bool {
        false
    }

    /// The records are no lines.
    fn read(&self, _ctx: &Context, _chunk: &[u8], _out: &mut Records) {}

    fn parts(&self) -> PartSet {
        match self {
            Archive::Warc(_) => PartSet::of(&[RecordPart::Time]),
            Archive::Arc => PartSet::of(&[RecordPart::Time, RecordPart::Mime]),
            Archive::Wat | Archive::WatLinks => PartSet::NONE,
        }
    }

    /// Reads the time of a record from its head.
    fn fields<'a>(&self, head: &'a [u8], out: &mut Fields<'a>) {
        out.numbers.time = match self {
            Archive::Warc(_) => warc::field(head, b"warc-date").and_then(|date| written(&date)),
            // `URL IP-address date media-type length`
            Archive::Arc => {
                let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
                // Counted from the end, because only the URL may contain blanks.
                let mut fields = line.trim_ascii_end().rsplit(|byte| *byte == b' ');
                fields.nth(2).and_then(stamp)
            }
            Archive::Wat | Archive::WatLinks => None,
        };
    }

    fn framing(&self) -> Framing {
        match self {
            Archive::Warc(_) => Framing::Warc { bodies: false },
            Archive::Wat | Archive::WatLinks => Framing::Warc { bodies: true },
            Archive::Arc => Framing::Arc,
        }
    }

    fn fits_envelopes(&self) -> bool {
        false
    }
}

impl Archive {
    /// Detects an archive by its beginning. Its first records distinguish WAT files from other WARC files.
    pub(super) fn detect(head: &[u8]) -> Option<Self> {
        let head = without_blanks(head);
        if head.starts_with(warc::VERSION) {
            let is_wat = warc::begins_wat(head);
            Some(if is_wat { Archive::Wat } else { Archive::Warc(Kinds::default()) })
        } else if head.starts_with(arc::FIRST) {
            Some(Archive::Arc)
        } else {
            None
        }
    }

    /// Appends the content of the records.
    pub fn read(self, ctx: &Context, chunk: &[u8], frames: &mut [Frame], out: &mut Records) {
        for frame in frames {
            if out.is_full() {
                break;
            }
            let span = Span { start: frame.start, end: frame.end };
            let bytes = span.of(chunk);
            // The bytes of the head, to show when the record is rejected.
            let line = Span { start: frame.start, end: frame.start + head_length(bytes) };
            let reject = match frame.state {
                FrameState::Whole => None,
                FrameState::Cut => Some(RejectReason::Truncated),
                FrameState::Malformed => Some(RejectReason::LogSyntax),
                FrameState::TooLong => Some(RejectReason::TooLong),
            };
            if let Some(code) = reject {
                out.push(Record { line, found: Extracted::Reject(code, 0) });
                continue;
            }
            let start = frame.start;
            match self {
                Archive::Warc(kinds) => {
                    let found = warc::find(ctx, bytes, start, kinds, out);
                    out.push(Record { line, found });
                }
                Archive::Arc => {
                    let found = arc::find(ctx, bytes, start);
                    out.push(Record { line, found });
                }
                Archive::Wat => wat::target(ctx, bytes, line, out),
                Archive::WatLinks => wat::links(ctx, bytes, line, &mut frame.links, out),
            }
        }
    }
}

/// Skips leading blanks, which are allowed before any record, including the first.
fn without_blanks(head: &[u8]) -> &[u8] {
    &head[blanks(head)..]
}

/// The number of leading blanks, including the ends of blank lines.
pub fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b'\r' | b'\n' | b' ' | b'\t')).count()
}

/// True if more bytes could make this the beginning of an archive.
pub fn could_be_archive(head: &[u8]) -> bool {
    let head = without_blanks(head);
    [warc::VERSION, arc::FIRST].iter().any(|magic| {
        let common = head.len().min(magic.len());
        !head.is_empty() && head[..common] == magic[..common]
    })
}

/// Length of a record's head, without the line endings after it.
fn head_length(bytes: &[u8]) -> u32 {
    let head = &bytes[..warc::end_of_fields(bytes).unwrap_or(bytes.len())];
    let ending = head.iter().rev().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    (head.len() - ending) as u32
}
