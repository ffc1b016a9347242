//! Many URLs on their way into a shard, read ahead of: nearly each of them misses the cache twice, once
//! for its slot and once for the bytes that the slot names, and the misses of many overlap.

use super::super::arena::Place;
use super::super::set::SetFull;
use super::{Entry, Shard, Stopped};
use crate::scan::prefetch;

/// Bytes.
const CACHE_LINE: usize = 64;

/// How many entries ahead a slot is fetched, and the bytes that it names.
const SLOT_AHEAD: usize = 32;
const BYTES_AHEAD: usize = 16;

/// Where the bytes of entries are.
pub(crate) trait Bytes<'t> {
    fn of(&self, entry: &Entry) -> &'t [u8];
}

/// Some URLs on their way into a shard.
pub(crate) struct Part<'e, B> {
    pub(crate) entries: &'e mut [Entry],
    pub(crate) bytes: B,
}

/// A place among the entries of parts that stand one behind the other.
#[derive(Debug, Default)]
struct Cursor {
    part: usize,
    entry: usize,
}

impl Cursor {
    /// The entry here; goes on to the next.
    #[inline]
    fn next<'p, B>(&mut self, parts: &'p [Part<'_, B>]) -> Option<(&'p Entry, &'p B)> {
        loop {
            let part = parts.get(self.part)?;
            if let Some(entry) = part.entries.get(self.entry) {
                self.entry += 1;
                return Some((entry, &part.bytes));
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
        let (mut slots, mut bytes) = (Cursor::default(), Cursor::default());
        let mut candidates = [None; BYTES_AHEAD];
        for _ in 0..SLOT_AHEAD {
            self.fetch_slot(slots.next(parts));
        }
        for candidate in &mut candidates {
            *candidate = self.fetch_candidate(bytes.next(parts));
        }
        let mut number = 0;
        for part in 0..parts.len() {
            for i in 0..parts[part].entries.len() {
                self.fetch_slot(slots.next(parts));
                let next = self.fetch_candidate(bytes.next(parts));
                let candidate = std::mem::replace(&mut candidates[number % BYTES_AHEAD], next);
                number += 1;
                let Part { entries, bytes } = &mut parts[part];
                let entry = &mut entries[i];
                let url = bytes.of(entry);
                act(self, candidate, entry, url).map_err(|_| Stopped { part, after: i })?;
            }
        }
        Ok(())
    }

    /// Fetches the slot that the search for a URL starts at, and the two cache lines that most URLs lie in.
    #[inline]
    fn fetch_slot<'t, B: Bytes<'t>>(&self, ahead: Option<(&Entry, &B)>) {
        if let Some((entry, bytes)) = ahead {
            prefetch(&self.slots, self.first_slot(entry.hash));
            let url = bytes.of(entry);
            prefetch(url, 0);
            prefetch(url, CACHE_LINE);
        }
    }

    /// Fetches the bytes that a URL will be compared with, if there are any, and says where they are.
    #[inline]
    fn fetch_candidate<B>(&self, ahead: Option<(&Entry, &B)>) -> Option<Place> {
        let (entry, _) = ahead?;
        let mut at = self.first_slot(entry.hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return None;
            }
            if (slot >> 32) as u32 == entry.hash.tag() {
                let place = Place(slot as u32);
                self.arena.prefetch(place, entry.len as usize);
                return Some(place);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }
}
