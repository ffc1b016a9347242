//! Many URLs on their way into a shard, read ahead of: nearly each of them misses the cache twice, once
//! for its slot and once for the bytes that the slot names, and the misses of many overlap.

use super::super::arena::Place;
use super::super::hash::Hash;
use super::super::url_set::SetFull;
use super::{Entry, Shard, Stopped};
use crate::simd::prefetch;

/// Bytes.
const CACHE_LINE: usize = 64;

/// How many entries ahead a slot is fetched, and the bytes that it names.
const SLOT_AHEAD: usize = 32;
const BYTES_AHEAD: usize = 16;

/// Where the bytes of entries are.
pub trait Bytes<'t> {
    /// The bytes of an entry.
    fn of(&self, entry: &Entry) -> &'t [u8];
}

/// Some URLs on their way into a shard.
#[derive(Debug)]
pub struct Part<'e, B> {
    /// The URLs, in the order of the input.
    pub entries: &'e mut [Entry],
    /// Where their bytes are.
    pub bytes: B,
}

/// What is known of an entry before its turn.
#[derive(Debug, Default, Clone, Copy)]
struct Coming<'t> {
    hash: Hash,
    url: &'t [u8],
    /// Where its URL may be.
    candidate: Option<Place>,
}

/// Goes through the entries of parts that stand one behind the other.
#[derive(Debug, Default)]
struct Cursor {
    part: usize,
    entry: usize,
}

impl Cursor {
    /// The entry here, or nothing behind the last; goes on to the next.
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
    /// Does something about many URLs, in order, each with the place where it may be: its slot is
    /// fetched [`SLOT_AHEAD`] of them before, and the bytes there [`BYTES_AHEAD`] before, so that their
    /// cache misses overlap, also from part to part.
    #[inline]
    pub(super) fn each<'t, B: Bytes<'t>>(
        &mut self,
        parts: &mut [Part<'_, B>],
        mut act: impl FnMut(&mut Self, Option<Place>, &mut Entry, &'t [u8]) -> Result<(), SetFull>,
    ) -> Result<(), Stopped> {
        if self.table.is_empty() {
            debug_assert!(parts.iter().all(|part| part.entries.is_empty()), "no room was made");
            return Ok(());
        }
        let mut cursor = Cursor::default();
        let mut coming = [Coming::default(); SLOT_AHEAD];
        for coming in &mut coming {
            *coming = self.fetch_slot(cursor.next(parts));
        }
        for coming in &mut coming[..BYTES_AHEAD] {
            self.fetch_candidate(coming);
        }
        let mut number = 0;
        for part in 0..parts.len() {
            for i in 0..parts[part].entries.len() {
                self.fetch_candidate(&mut coming[(number + BYTES_AHEAD) % SLOT_AHEAD]);
                let next = self.fetch_slot(cursor.next(parts));
                let now = std::mem::replace(&mut coming[number % SLOT_AHEAD], next);
                number += 1;
                let entry = &mut parts[part].entries[i];
                act(self, now.candidate, entry, now.url).map_err(|_| Stopped { part, after: i })?;
            }
        }
        Ok(())
    }

    /// Fetches the slot that the search for a URL starts at, and the cache lines that most URLs lie in.
    #[inline]
    fn fetch_slot<'t>(&self, coming: Option<Coming<'t>>) -> Coming<'t> {
        let Some(coming) = coming else { return Coming::default() };
        self.table.prefetch(coming.hash);
        // The last byte by its own, in place of a guess at whether there are so many.
        let last = coming.url.len().saturating_sub(1);
        prefetch(coming.url, 0);
        prefetch(coming.url, last.min(CACHE_LINE));
        prefetch(coming.url, last);
        coming
    }

    /// Fetches the bytes that a URL will be compared with, if there are any, and notes where they are.
    #[inline]
    fn fetch_candidate(&self, coming: &mut Coming<'_>) {
        coming.candidate = self.table.candidate(coming.hash);
        if let Some(place) = coming.candidate {
            self.arena.prefetch(place, coming.url.len());
        }
    }
}
