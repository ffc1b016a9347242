//! Prefetches for many URLs on their way into a shard. Nearly each one misses the cache twice: once for
//! its slot and once for the bytes that the slot points to. Prefetching makes the misses of many URLs
//! overlap.

use super::super::hash::Hash;
use super::super::set_full::SetFull;
use super::{Entry, Shard, Stopped};
use crate::simd::prefetch;

/// Bytes of a cache line.
const CACHE_LINE: usize = 64;

/// How many entries ahead to prefetch a slot, and the bytes that it points to.
const SLOT_AHEAD: usize = 32;
const BYTES_AHEAD: usize = 16;

/// Locates the bytes of entries.
pub trait Bytes<'t> {
    /// The bytes of an entry.
    fn of(&self, entry: &Entry) -> &'t [u8];
}

/// A batch of URLs on their way into a shard.
#[derive(Debug)]
pub struct Part<'e, B> {
    /// The URLs, in input order.
    pub entries: &'e [Entry],
    /// Locates their bytes.
    pub bytes: B,
}

/// An upcoming entry.
#[derive(Debug, Default, Clone, Copy)]
struct Coming<'t> {
    hash: Hash,
    url: &'t [u8],
    /// The place that may hold its URL.
    candidate: Option<u32>,
}

/// Iterates over the entries of consecutive parts.
#[derive(Debug, Default)]
struct Cursor {
    part: usize,
    entry: usize,
}

impl Cursor {
    /// Returns the current entry and advances; `None` after the last.
    #[inline]
    fn next<'t, B: Bytes<'t>>(&mut self, parts: &[Part<'_, B>]) -> Option<Coming<'t>> {
        loop {
            let part = parts.get(self.part)?;
            if let Some(entry) = part.entries.get(self.entry) {
                self.entry += 1;
                let url = part.bytes.of(entry);
                return Some(Coming { hash: entry.hash, url, candidate: None });
            }
            *self = Self { part: self.part + 1, entry: 0 };
        }
    }
}

impl Shard {
    /// Calls `act` for many URLs, in order, each with the place that may hold it. A slot is prefetched
    /// [`SLOT_AHEAD`] entries before its turn, and the bytes [`BYTES_AHEAD`] entries before, so that
    /// their cache misses overlap, even across parts.
    #[inline]
    pub(super) fn each<'t, B: Bytes<'t>>(
        &mut self,
        parts: &[Part<'_, B>],
        mut act: impl FnMut(&mut Self, Option<u32>, &Entry, &'t [u8]) -> Result<(), SetFull>,
    ) -> Result<(), Stopped> {
        // Without slots there is nothing to search. `reserve` makes slots for any entry.
        if self.table.is_empty() {
            debug_assert!(parts.iter().all(|part| part.entries.is_empty()), "no room was made");
            return Ok(());
        }
        let mut cursor = Cursor::default();
        // A ring of the next entries, with the one whose turn it is at `number % SLOT_AHEAD`.
        let mut coming = [Coming::default(); SLOT_AHEAD];
        for coming in &mut coming {
            *coming = self.fetch_slot(cursor.next(parts));
        }
        // Finding a candidate reads a slot, so it happens well after the slot was fetched.
        for coming in &mut coming[..BYTES_AHEAD] {
            self.fetch_candidate(coming);
        }
        let mut number = 0;
        for (part, Part { entries, .. }) in parts.iter().enumerate() {
            for (i, entry) in entries.iter().enumerate() {
                self.fetch_candidate(&mut coming[(number + BYTES_AHEAD) % SLOT_AHEAD]);
                let next = self.fetch_slot(cursor.next(parts));
                let now = std::mem::replace(&mut coming[number % SLOT_AHEAD], next);
                number += 1;
                act(self, now.candidate, entry, now.url).map_err(|_| Stopped { part, after: i })?;
            }
        }
        Ok(())
    }

    /// Prefetches the first slot of the search for a URL, and the cache lines that most URLs occupy.
    #[inline]
    fn fetch_slot<'t>(&self, coming: Option<Coming<'t>>) -> Coming<'t> {
        let Some(coming) = coming else { return Coming::default() };
        self.table.prefetch(coming.hash);
        // The last byte is always fetched too, instead of a branch on the length.
        let last = coming.url.len().saturating_sub(1);
        prefetch(coming.url, 0);
        prefetch(coming.url, last.min(CACHE_LINE));
        prefetch(coming.url, last);
        coming
    }

    /// Finds the bytes that a URL will be compared with, if any, and prefetches them.
    #[inline]
    fn fetch_candidate(&self, coming: &mut Coming<'_>) {
        coming.candidate = self.table.candidate(coming.hash);
        if let Some(place) = coming.candidate {
            self.prefetch(place, coming.url.len());
        }
    }
}
