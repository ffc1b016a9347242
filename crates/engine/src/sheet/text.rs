//! Where the bytes of a chunk's URLs are: in the chunk, beside its records, or rewritten.
//!
//! A URL is eight bytes, its place and its length, which an [`Entry`] takes over; one that has no canonical
//! form says why in the length.

use uniqurl::bytes::AllocError;
use uniqurl::bytes::Span;
use uniqurl::set::{Bytes, Entry};
use uniqurl_formats::input::Chunk;
use uniqurl_formats::record::Records;
use uniqurl_store::sort::Measured;

/// The three places that a URL's bytes can be in.
#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) chunk: Option<Chunk>,
    pub(super) records: Records,
    pub(super) rewritten: Vec<u8>,
}

/// The same, by the two bits that say in which; nothing is nowhere.
#[derive(Debug, Clone, Copy)]
pub struct Buffers<'t>([&'t [u8]; 4]);

/// No bytes, at an address that there is. An empty slice of its own has one where nothing may be read,
/// and there a masked load of no byte at all, by which hashes are made, takes 80 ns.
const NOTHING: &[u8] = b"\0".split_at(0).0;

impl Text {
    pub(super) fn chunk(&self) -> &[u8] {
        self.chunk.as_ref().map_or(&[], Chunk::bytes)
    }

    pub(crate) fn buffers(&self) -> Buffers<'_> {
        Buffers([self.chunk(), &self.records.scratch, &self.rewritten, NOTHING])
    }

    #[inline]
    pub(super) fn get(&self, url: Url) -> &[u8] {
        self.buffers().get(url)
    }
}

impl<'t> Buffers<'t> {
    /// The same with what stands behind it.
    #[inline]
    pub(super) fn measured(&self, url: Url) -> Measured<'t> {
        let start = (url.at & ((1 << PLACE_SHIFT) - 1)) as usize;
        let buffer = self.0[(url.at >> PLACE_SHIFT) as usize];
        Measured { bytes: buffer.get(start..).unwrap_or(NOTHING), len: url.len as usize }
    }

    #[inline]
    pub(super) fn get(&self, url: Url) -> &'t [u8] {
        let start = (url.at & ((1 << PLACE_SHIFT) - 1)) as usize;
        let buffer = self.0[(url.at >> PLACE_SHIFT) as usize];
        // What is nowhere has no bytes, whatever length says why; the place of everything else is ours.
        let bytes = buffer.get(start..start + url.len as usize);
        debug_assert!(bytes.is_some() || !url.is_canonical(), "{url:?}");
        bytes.unwrap_or(NOTHING)
    }
}

impl<'t> Bytes<'t> for Buffers<'t> {
    #[inline]
    fn of(&self, entry: &Entry) -> &'t [u8] {
        self.get(Url { at: entry.start, len: entry.len })
    }
}

/// Where a canonical URL is: two bits say in which buffer, thirty where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Url {
    pub(super) at: u32,
    pub(super) len: u32,
}

pub(super) const IN_CHUNK: u32 = 0;
pub(super) const IN_SIDE: u32 = 1;
pub(super) const IN_REWRITTEN: u32 = 2;
const NOWHERE: u32 = 3;
pub(super) const PLACE_SHIFT: u32 = 30;

/// Bytes that are put together of the URLs of a chunk before the rest of its records goes on another sheet,
/// both in [`Records::scratch`] and as canonical forms. That is many times a chunk: only what stands before
/// or in place of many short URLs, as a base, a page's address or the end of redirects, comes to it.
pub(super) const AT_ONCE: usize = 8 << 20;

// A few records more come to it, and the keys of all that is in the three buffers.
const _: () = assert!(AT_ONCE < 1 << (PLACE_SHIFT - 4));

impl Url {
    pub(super) const BLANK: Url = Url { at: NOWHERE << PLACE_SHIFT, len: 0 };
    pub(super) const REJECTED: Url = Url { at: NOWHERE << PLACE_SHIFT, len: 1 };
    /// Not wanted by what its record says.
    pub(super) const FILTERED: Url = Url { at: NOWHERE << PLACE_SHIFT, len: 2 };
    /// Not wanted by what it is in canonical form.
    pub(super) const UNWANTED: Url = Url { at: NOWHERE << PLACE_SHIFT, len: 3 };

    /// An error where thirty bits do not tell the place, which [`AT_ONCE`] sees to.
    #[inline]
    pub(super) fn new(place: u32, start: usize, len: usize) -> Result<Self, AllocError> {
        match (u32::try_from(start), u32::try_from(len)) {
            (Ok(start), Ok(len)) if start >> PLACE_SHIFT == 0 => {
                Ok(Self { at: place << PLACE_SHIFT | start, len })
            }
            _ => Err(AllocError),
        }
    }

    /// A line of a chunk that thirty bits tell each place of.
    #[inline]
    pub(super) fn in_chunk(line: Span) -> Self {
        Self { at: IN_CHUNK << PLACE_SHIFT | line.start, len: line.len() as u32 }
    }

    #[inline]
    pub(super) fn is_blank(self) -> bool {
        self.at == Self::BLANK.at && self.len == Self::BLANK.len
    }

    #[inline]
    pub(super) fn is_rejected(self) -> bool {
        self.at == Self::REJECTED.at && self.len == Self::REJECTED.len
    }

    #[inline]
    pub(super) fn is_canonical(self) -> bool {
        self.at >> PLACE_SHIFT != NOWHERE
    }

    /// Whether it has a canonical form, wanted or not. Then its path was decoded where that is asked for.
    #[inline]
    pub(super) fn has_form(self) -> bool {
        self.is_canonical() || self.len == Self::UNWANTED.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_thirty_bits_do_not_tell_is_none() {
        let last = (1 << PLACE_SHIFT) - 1;
        let url = Url::new(IN_REWRITTEN, last, 7).unwrap();
        assert_eq!(
            (url.at >> PLACE_SHIFT, url.at as usize & last, url.len),
            (IN_REWRITTEN, last, 7)
        );
        assert!(Url::new(IN_CHUNK, last + 1, 7).is_err());
        assert!(Url::new(IN_SIDE, 1 << 32, 7).is_err());
    }

    #[test]
    fn what_is_nowhere_has_no_bytes_at_an_address_that_there_is() {
        let text = Text::default();
        for url in [Url::BLANK, Url::REJECTED, Url::FILTERED, Url::UNWANTED] {
            let bytes = text.get(url);
            assert!(bytes.is_empty() && bytes.as_ptr() == NOTHING.as_ptr(), "{url:?}");
        }
    }
}
