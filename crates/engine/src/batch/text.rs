//! Where the bytes of a chunk's URLs are: in the chunk, in the scratch buffer of its records, or rewritten.
//!
//! A [`UrlRef`] is eight bytes, position and length, which an [`Entry`] copies. For a record without a
//! canonical URL the length says why.

use super::bytes;
use uniqurl::internal::{AllocError, Bytes, Entry, Kernel, Span, alloc};
use uniqurl::key::Template;
use uniqurl_formats::input::Chunk;
use uniqurl_formats::record::{BufferId, Extracted, Records};

/// The records of a chunk, and the three buffers that hold their URLs.
#[derive(Debug, Default)]
pub(crate) struct BatchText {
    pub(crate) chunk: Option<Chunk>,
    /// The records of a list: spans of the chunk. Empty for any other format.
    pub(crate) lines: Vec<Span>,
    /// The records of any other format, and the scratch buffer.
    pub(crate) records: Records,
    pub(crate) rewritten: Vec<u8>,
    /// Lines of the batch, with blank ones that were left out.
    pub(super) lines_read: usize,
    /// The number among the lines of the batch of each that is kept, if blank ones were left out.
    numbers: Vec<u32>,
    /// The batch takes no more records once one of the last two buffers is longer than this.
    at_once: usize,
}

/// The three buffers, by the two bits that select one; the fourth is empty.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextBuffers<'t>([&'t [u8]; 4]);

/// No bytes, at a readable address. The address of an empty slice may not be readable, and there a masked
/// load of no byte at all, by which hashes are made, takes 80 ns.
const NOTHING: &[u8] = b"\0".split_at(0).0;

impl BatchText {
    /// The bytes of the chunk.
    pub(crate) fn chunk(&self) -> &[u8] {
        self.chunk.as_ref().map_or(&[], Chunk::bytes)
    }

    pub(crate) fn buffers(&self) -> TextBuffers<'_> {
        TextBuffers([self.chunk(), &self.records.scratch, &self.rewritten, NOTHING])
    }

    #[inline]
    pub(crate) fn get(&self, url: UrlRef) -> &[u8] {
        self.buffers().get(url)
    }

    /// The buffer that a record's URL is in.
    pub(crate) fn buffer(&self, id: BufferId) -> &[u8] {
        match id {
            BufferId::Chunk => self.chunk(),
            BufferId::Scratch => &self.records.scratch,
        }
    }

    /// The span of each record, headers included, with the URL or other text found in it.
    pub(crate) fn all_records(&self) -> impl Iterator<Item = (Span, Extracted)> {
        let lines = self.lines.iter().map(|line| (*line, Extracted::Url(BufferId::Chunk, *line)));
        let records = self.records.records.iter().map(|record| (record.line, record.found));
        // One of the two is empty.
        lines.chain(records)
    }

    /// The URL that was found in a record, as the normalizer gets it, and how many bytes of a host were
    /// put before it.
    pub(crate) fn found_url(&self, found: Extracted) -> Option<(&[u8], u32)> {
        match found {
            Extracted::Blank | Extracted::Skipped | Extracted::Filtered | Extracted::Reject(..) => {
                None
            }
            Extracted::Url(buffer, url) | Extracted::Target(buffer, url) => {
                Some((url.of(self.buffer(buffer)), 0))
            }
            Extracted::Joined { url, prefix } => Some((url.of(&self.records.scratch), prefix)),
        }
    }

    /// An upper bound for the bytes of the canonical URLs of the chunk.
    pub(crate) fn canonical_bytes(&self) -> usize {
        self.chunk().len() + self.records.scratch.len() + self.rewritten.len()
    }

    /// Sets how many bytes of URLs the batch makes: `room`, or more for a long chunk, since each batch reads
    /// the whole chunk again.
    pub(super) fn limit(&mut self, room: usize) {
        self.at_once = room.max(self.chunk().len() / 4).min(AT_ONCE);
    }

    /// Most bytes of URLs that are made, besides those of the last record.
    #[inline(always)]
    pub(crate) fn at_once(&self) -> usize {
        self.at_once
    }

    /// Leaves blank lines out of the list. A file of nothing else would take as long and as much memory for
    /// each of its bytes as for a URL.
    pub(super) fn drop_blanks(&mut self) {
        let Self { chunk: Some(chunk), lines, numbers, .. } = self else { return };
        let bytes = chunk.bytes();
        let mut kept = 0;
        for number in 0..lines.len() {
            let line = lines[number];
            if !line.of(bytes).iter().all(|byte| matches!(byte, b' ' | b'\t')) {
                lines[kept] = line;
                numbers.push(number as u32);
                kept += 1;
            }
        }
        lines.truncate(kept);
    }

    /// Appends the template of a URL of the chunk or the scratch buffer to `rewritten`.
    #[inline]
    pub(super) fn append_template(
        &mut self,
        kernel: Kernel,
        url: UrlRef,
    ) -> Result<UrlRef, AllocError> {
        let (from, out) = match url.at >> BUFFER_SHIFT {
            IN_CHUNK => (self.chunk.as_ref().map_or(&[][..], Chunk::bytes), &mut self.rewritten),
            _ => (&self.records.scratch[..], &mut self.rewritten),
        };
        let start = (url.at & ((1 << BUFFER_SHIFT) - 1)) as usize;
        alloc::try_reserve(out, Template::room(url.len as usize))?;
        let before = out.len();
        // The whole buffer goes along, so that a block of vector code need not end where the URL does.
        Template::append_at(kernel, from, start..start + url.len as usize, out);
        UrlRef::new(IN_REWRITTEN, before, out.len() - before)
    }

    /// The number that a record has among those of the batch with the blank lines that were left out.
    pub(super) fn number_of(&self, sequence: usize) -> usize {
        self.numbers.get(sequence).map_or(sequence, |number| *number as usize)
    }

    /// Forgets all but the chunk.
    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.numbers.clear();
        self.records.clear();
        self.rewritten.clear();
    }

    /// Bytes of memory of the buffers.
    pub(super) fn memory(&self) -> usize {
        let Self { chunk, lines, records, rewritten, numbers, lines_read: _, at_once: _ } = self;
        let Records { records, scratch, .. } = records;
        chunk.as_ref().map_or(0, Chunk::memory)
            + bytes(lines)
            + bytes(numbers)
            + bytes(records)
            + bytes(scratch)
            + bytes(rewritten)
    }
}

impl<'t> TextBuffers<'t> {
    #[inline]
    pub(crate) fn get(&self, url: UrlRef) -> &'t [u8] {
        let start = (url.at & ((1 << BUFFER_SHIFT) - 1)) as usize;
        let buffer = self.0[(url.at >> BUFFER_SHIFT) as usize];
        // Without a canonical URL the length is a reason, and the slice is out of bounds.
        let bytes = buffer.get(start..start + url.len as usize);
        debug_assert!(bytes.is_some() || !url.is_canonical(), "{url:?}");
        bytes.unwrap_or(NOTHING)
    }
}

impl<'t> Bytes<'t> for TextBuffers<'t> {
    #[inline]
    fn of(&self, entry: &Entry) -> &'t [u8] {
        self.get(UrlRef { at: entry.start, len: entry.len })
    }
}

/// Where a canonical URL is: two bits select the buffer, thirty are the position in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UrlRef {
    pub(crate) at: u32,
    pub(crate) len: u32,
}

pub(crate) const IN_CHUNK: u32 = 0;
pub(crate) const IN_SCRATCH: u32 = 1;
pub(crate) const IN_REWRITTEN: u32 = 2;
// The fourth buffer is empty, so a reference without a URL reads as no bytes.
const NOWHERE: u32 = 3;
pub(crate) const BUFFER_SHIFT: u32 = 30;

/// Most bytes of URLs that a batch makes from one chunk, both in [`Records::scratch`] and as canonical forms;
/// the rest of the records goes to another batch. This is many times a chunk, so only a long base, page
/// address or redirect target, joined to or replacing many short URLs, reaches it. If there is little memory,
/// it is less.
pub(crate) const AT_ONCE: usize = 8 << 20;

// A few more records are added to it, and then the keys of all URLs in the three buffers.
const _: () = assert!(AT_ONCE < 1 << (BUFFER_SHIFT - 4));

impl UrlRef {
    pub(crate) const BLANK: UrlRef = UrlRef { at: NOWHERE << BUFFER_SHIFT, len: 0 };
    pub(crate) const REJECTED: UrlRef = UrlRef { at: NOWHERE << BUFFER_SHIFT, len: 1 };
    /// The filter for records dropped it.
    pub(crate) const FILTERED: UrlRef = UrlRef { at: NOWHERE << BUFFER_SHIFT, len: 2 };
    /// The filter for canonical URLs dropped it.
    pub(crate) const UNWANTED: UrlRef = UrlRef { at: NOWHERE << BUFFER_SHIFT, len: 3 };

    /// It has no host, which the key needs.
    pub(crate) const HOSTLESS: UrlRef = UrlRef { at: NOWHERE << BUFFER_SHIFT, len: 4 };

    /// An error if the position needs more than thirty bits, which [`AT_ONCE`] prevents.
    #[inline]
    pub(crate) fn new(place: u32, start: usize, len: usize) -> Result<Self, AllocError> {
        match (u32::try_from(start), u32::try_from(len)) {
            (Ok(start), Ok(len)) if start >> BUFFER_SHIFT == 0 => {
                Ok(Self { at: place << BUFFER_SHIFT | start, len })
            }
            _ => Err(AllocError),
        }
    }

    /// A span of a buffer in which each position fits into thirty bits. `buffer` is the shifted number of
    /// that buffer.
    #[inline]
    pub(crate) fn in_buffer(buffer: u32, span: Span) -> Self {
        Self { at: buffer | span.start, len: span.len() as u32 }
    }

    #[inline]
    pub(crate) fn is_blank(self) -> bool {
        self.at == Self::BLANK.at && self.len == Self::BLANK.len
    }

    #[inline]
    pub(crate) fn is_rejected(self) -> bool {
        self.at == Self::REJECTED.at && [Self::REJECTED.len, Self::HOSTLESS.len].contains(&self.len)
    }

    #[inline]
    pub(crate) fn is_canonical(self) -> bool {
        self.at >> BUFFER_SHIFT != NOWHERE
    }

    /// Whether it has a canonical form, filtered out, without the host for a key, or kept. If the job decodes paths, it has one of those
    /// too.
    #[inline]
    pub(crate) fn has_form(self) -> bool {
        self.is_canonical() || [Self::UNWANTED.len, Self::HOSTLESS.len].contains(&self.len)
    }
}

/// The number of a buffer in a [`UrlRef`].
pub(super) fn buffer_number(buffer: BufferId) -> u32 {
    match buffer {
        BufferId::Chunk => IN_CHUNK,
        BufferId::Scratch => IN_SCRATCH,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_of_more_than_thirty_bits_is_an_error() {
        let last = (1 << BUFFER_SHIFT) - 1;
        let url = UrlRef::new(IN_REWRITTEN, last, 7).unwrap();
        assert_eq!(
            (url.at >> BUFFER_SHIFT, url.at as usize & last, url.len),
            (IN_REWRITTEN, last, 7)
        );
        assert!(UrlRef::new(IN_CHUNK, last + 1, 7).is_err());
        assert!(UrlRef::new(IN_SCRATCH, 1 << 32, 7).is_err());
    }

    #[test]
    fn record_without_a_url_has_an_empty_slice_at_a_valid_address() {
        let text = BatchText::default();
        for url in
            [UrlRef::BLANK, UrlRef::REJECTED, UrlRef::FILTERED, UrlRef::UNWANTED, UrlRef::HOSTLESS]
        {
            let bytes = text.get(url);
            assert!(bytes.is_empty() && bytes.as_ptr() == NOTHING.as_ptr(), "{url:?}");
        }
    }
}
