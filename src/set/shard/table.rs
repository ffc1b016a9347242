//! The slots of a shard.

use super::super::hash::Hash;
use crate::bytes::{AllocError, alloc};
use crate::simd::prefetch;

/// Slots in a cache line.
const LANES: usize = 8;

/// Places by their tags, in a power-of-two number of slots, or in none.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    /// Each slot has a tag in the upper half and a place in the lower; a free slot is 0. Allocators
    /// start large allocations at a cache line. Elsewhere searches are still right, but some wait for
    /// two lines.
    slots: Vec<u64>,
}

/// A free slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Free(usize);

/// The slots that a tag may be in, in order: round the first cache line, then round the next one from
/// the same lane on.
#[derive(Debug, Clone, Copy)]
struct Search {
    at: usize,
    first_lane: usize,
}

impl Table {
    /// Fewest slots of a table that is not empty.
    const MIN: usize = 64;

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Number of slots.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Prefetches the slots where the search for a hash starts.
    #[inline]
    pub(super) fn prefetch(&self, hash: Hash) {
        prefetch(&self.slots, self.search(hash.tag()).at);
    }

    /// The first place with the tag of a hash.
    #[inline]
    pub(super) fn candidate(&self, hash: Hash) -> Option<u32> {
        self.find(hash, |_| true).ok()
    }

    /// The first place with the tag of a hash for which `is_sought` holds, or the free slot for it.
    /// There is always a free slot.
    #[inline]
    pub(super) fn find(&self, hash: Hash, is_sought: impl Fn(u32) -> bool) -> Result<u32, Free> {
        let mut search = self.search(hash.tag());
        loop {
            let slot = self.slots[search.at];
            // URLs are never removed one by one, so a free slot ends the search.
            if slot == 0 {
                return Err(Free(search.at));
            }
            let place = slot as u32;
            // The tag is in the slot. Only if it matches are the bytes worth another cache miss.
            if (slot >> 32) as u32 == hash.tag() && is_sought(place) {
                return Ok(place);
            }
            search.go_on(self.len());
        }
    }

    #[inline]
    pub(super) fn fill(&mut self, free: Free, hash: Hash, place: u32) {
        self.slots[free.0] = u64::from(hash.tag()) << 32 | u64::from(place);
    }

    /// Grows to `slots`, a power of two of at most 2^32.
    #[cold]
    pub(super) fn grow(&mut self, slots: usize) -> Result<(), AllocError> {
        let mut bigger = Self::default();
        alloc::try_reserve_exact(&mut bigger.slots, slots)?;
        // In the order of slots: the new position depends on the upper bits of the tag, so both tables
        // are walked from front to back.
        bigger.slots.resize(slots, 0);
        for slot in self.slots.iter().filter(|slot| **slot != 0) {
            let free = bigger.free((slot >> 32) as u32);
            bigger.slots[free.0] = *slot;
        }
        *self = bigger;
        Ok(())
    }

    /// For each place, the number of slots that a search for it reads.
    #[cfg(test)]
    pub(super) fn probes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..).zip(&self.slots).filter(|(_, slot)| **slot != 0).map(|(at, slot)| {
            let mut search = self.search((slot >> 32) as u32);
            let mut probes = 1;
            while search.at != at {
                search.go_on(self.len());
                probes += 1;
            }
            probes
        })
    }

    /// The first free slot of a tag.
    fn free(&self, tag: u32) -> Free {
        let mut search = self.search(tag);
        while self.slots[search.at] != 0 {
            search.go_on(self.len());
        }
        Free(search.at)
    }

    #[inline]
    fn search(&self, tag: u32) -> Search {
        // There are at least 64 slots and at most 2^32.
        // A product, not a mask: `grow` relies on the upper bits of the tag.
        let at = ((u64::from(tag) * self.len() as u64) >> 32) as usize;
        Search { at, first_lane: at % LANES }
    }
}

impl Search {
    #[inline]
    fn go_on(&mut self, slots: usize) {
        // Wraps within the cache line, and goes on to the next line after a full round.
        let round = self.at / LANES * LANES + (self.at + 1) % LANES;
        let is_through = round % LANES == self.first_lane;
        self.at = if is_through { (round + LANES) & (slots - 1) } else { round };
    }
}

/// The number of slots to grow to from `slots` if `len` places would fill more than three quarters.
#[inline]
pub(super) fn slots_to_grow_to(slots: usize, len: usize) -> Option<usize> {
    let wanted = len.div_ceil(3) * 4;
    (wanted > slots).then(|| wanted.next_power_of_two().max(Table::MIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight tags, one for each lane of the second line of a table with 64 slots.
    fn tag(lane: u64) -> Hash {
        Hash::chosen((LANES as u64 + lane) << 26)
    }

    #[test]
    fn cache_line_fills_before_the_next_is_used() {
        for lane in 0..LANES as u64 {
            let mut table = Table::default();
            table.grow(Table::MIN).unwrap();
            let hash = tag(lane);
            for number in 1..=64 {
                let free = table.find(hash, |_| false).unwrap_err();
                // Round the second line from the lane on, then round the third, and so on.
                let turn = number as usize - 1;
                let line = (1 + turn / LANES) % (64 / LANES);
                let expected = line * LANES + (lane as usize + turn) % LANES;
                assert_eq!(free.0, expected, "lane {lane}, number {number}");
                if number < 64 {
                    table.fill(free, hash, number);
                    assert_eq!(table.find(hash, |place| place == number).unwrap(), number);
                }
            }
            assert_eq!(table.candidate(hash), Some(1));
            assert_eq!(table.probes().max(), Some(63));
        }
    }

    #[test]
    fn growing_table_keeps_its_entries() {
        let mut table = Table::default();
        assert!(table.is_empty());
        table.grow(Table::MIN).unwrap();
        let hashes: Vec<_> = (0..8).map(tag).chain((0..8).map(tag)).collect();
        for (number, hash) in (1..).zip(&hashes) {
            let free = table.find(*hash, |_| false).unwrap_err();
            table.fill(free, *hash, number);
        }
        table.grow(2 * Table::MIN).unwrap();
        assert_eq!(table.len(), 128);
        for (number, hash) in (1..).zip(&hashes) {
            assert_eq!(table.find(*hash, |place| place == number).unwrap(), number);
        }
        assert_eq!(
            (slots_to_grow_to(table.len(), 96), slots_to_grow_to(table.len(), 97)),
            (None, Some(256))
        );
    }
}
