//! The entries of one range in memory.

use std::sync::Arc;

use super::super::entry::{SpillEntry, decode_number};
use crate::keep_policy::KeepPolicy;
use crate::sort::{Measured, Threads, Urls, in_turn, sort_from, sort_memory};
use uniqurl::SetFull;
use uniqurl::internal::{AllocError, alloc, prefetch};

/// Entries in memory: their blocks, as the store holds them.
#[derive(Debug, Default)]
pub struct RangeEntries {
    blocks: Vec<Arc<Vec<u8>>>,
    /// Bytes of the blocks.
    bytes: usize,
    /// Where each entry starts: the number of its block, and the offset in it.
    places: Vec<u64>,
}

/// Bits of an offset in a place.
const OFFSET: u32 = 32;

impl RangeEntries {
    /// An empty collection with room for so many entries.
    pub(super) fn with_capacity(entries: usize) -> Result<Self, AllocError> {
        let mut new = Self::default();
        alloc::try_reserve_exact(&mut new.places, entries)?;
        Ok(new)
    }

    /// Number of its entries.
    pub(super) fn count(&self) -> usize {
        self.places.len()
    }

    /// Bytes of memory, including those that take a block of so many bytes and sort all entries.
    pub(super) fn memory(&self, block: usize) -> usize {
        // Entries of that block are as long as the others.
        let more = self.places.len() * block / self.bytes.max(1);
        let (places, capacity) = (self.places.len() + more, self.places.capacity());
        // A vector that grows doubles, and is there twice meanwhile.
        let places_held =
            if places > capacity { capacity + places.max(2 * capacity) } else { capacity };
        self.bytes + block + places_held * size_of::<u64>() + sort_memory(places)
    }

    /// Takes the entries of a block, which starts after `header` bytes. Those with the same key are of earlier records.
    /// The result is `None` if one is cut off.
    pub(super) fn take(
        &mut self,
        block: Arc<Vec<u8>>,
        header: usize,
    ) -> Result<Option<()>, AllocError> {
        let number = (self.blocks.len() as u64) << OFFSET;
        let mut at = header;
        while at < block.len() {
            let Some((_, length)) = SpillEntry::decode(&block[at..]) else { return Ok(None) };
            alloc::try_reserve(&mut self.places, 1)?;
            self.places.push(number | at as u64);
            at += length;
        }
        alloc::try_reserve(&mut self.blocks, 1)?;
        self.bytes += block.len();
        self.blocks.push(block);
        Ok(Some(()))
    }

    /// Sorts the entries by key, which are equal up to `depth`, and those of a key by their records if another record than the first is kept. Fails if
    /// memory runs out.
    pub(super) fn sort(
        &mut self,
        depth: usize,
        keep: KeepPolicy,
        threads: Threads,
    ) -> Result<(), SetFull> {
        let mut places = std::mem::take(&mut self.places);
        sort_from(depth, &mut places, self, threads)?;
        // The least ordinal and the sum of tallies are the same in any order.
        if matches!(keep, KeepPolicy::Last | KeepPolicy::Greatest) {
            let same = |a: &u64, b: &u64| self.holds(*b, self.get(*a));
            let ordinal = |place: &u64| self.entry(*place).ordinal;
            for group in places.chunk_by_mut(same).filter(|group| group.len() > 1) {
                group.sort_unstable_by_key(ordinal);
            }
        }
        self.places = places;
        Ok(())
    }

    /// Cuts the sorted entries into parts of `entries` or more, with all entries of a key in one part.
    pub fn parts(&self, entries: usize) -> Vec<&[u64]> {
        let (mut parts, mut rest) = (Vec::new(), self.places.as_slice());
        while rest.len() > entries {
            let last = self.get(rest[entries - 1]);
            let same = rest[entries..].iter().take_while(|place| self.holds(**place, last)).count();
            let (part, after) = rest.split_at(entries + same);
            parts.push(part);
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(rest);
        }
        parts
    }

    /// The distinct keys.
    pub fn keys(&self) -> impl Iterator<Item = &[u8]> {
        let mut last: Option<&[u8]> = None;
        in_turn(&self.places, self).filter_map(move |place| {
            if last.is_some_and(|last| self.holds(place, last)) {
                return None;
            }
            last = Some(self.get(place));
            last
        })
    }

    /// Calls `take` for each key of a part: with its first ordinal, the count of all its records, and the
    /// line to write for the record that is kept, or for all of them.
    pub fn for_each<E: From<AllocError>>(
        &self,
        part: &[u64],
        keep: KeepPolicy,
        mut take: impl FnMut(SpillEntry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.for_each_key(part, keep, |first, kept| {
            take(SpillEntry { line: keep.line(kept.line), ..first })
        })
    }

    /// Calls `take` for each key of a part: with the entry of its first record, which counts all records, and with the
    /// entry of the record that is kept, or the sum of all tallies.
    fn for_each_key<E: From<AllocError>>(
        &self,
        part: &[u64],
        keep: KeepPolicy,
        mut take: impl FnMut(SpillEntry<'_>, SpillEntry<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut current: Option<(SpillEntry<'_>, SpillEntry<'_>)> = None;
        // The sum of tallies, which is the line of no single entry.
        let mut sum = Vec::new();
        for place in in_turn(part, self) {
            match &mut current {
                Some((first, kept)) if self.holds(place, first.key) => {
                    let other = self.entry(place);
                    let count = first.count + other.count;
                    // Threads write a range in any order, so a later entry may be of an earlier
                    // record.
                    if other.ordinal < first.ordinal {
                        *first = other;
                    }
                    first.count = count;
                    match keep {
                        KeepPolicy::First => *kept = *first,
                        KeepPolicy::Last | KeepPolicy::Greatest => {
                            if keep.is_replaced(other.line, kept.line) {
                                *kept = other;
                            }
                        }
                        KeepPolicy::Tally => {
                            // Most keys have one record, whose line is taken where it lies.
                            if sum.is_empty() {
                                alloc::try_reserve(&mut sum, kept.line.len())?;
                                sum.extend_from_slice(kept.line);
                            }
                            keep.combine(&mut sum, other.line)?;
                        }
                    }
                }
                _ => {
                    let next = self.entry(place);
                    if let Some((first, kept)) = current.replace((next, next)) {
                        take(first, with_sum(kept, &sum))?;
                        sum.clear();
                    }
                }
            }
        }
        current.map_or(Ok(()), |(first, kept)| take(first, with_sum(kept, &sum)))
    }

    /// One entry for each key, and one for its record that is kept if that is not the first; or `None` if more than `least` would take more than `most` bytes of memory.
    pub(super) fn combined(&self, keep: KeepPolicy, least: usize, most: usize) -> Option<Self> {
        let (mut block, mut count) = (Vec::new(), 0);
        let combined = self.for_each_key(&self.places, keep, |first, kept| {
            // A vector that grows is there twice for a moment, once at double size.
            let needed = 3 * block.len() + count * 8 * size_of::<u64>();
            if count >= least && needed > most {
                // The error only ends the loop, and becomes `None` below.
                return Err(AllocError);
            }
            count += 1;
            match keep {
                KeepPolicy::First => first.append(&mut block),
                KeepPolicy::Tally => SpillEntry { line: kept.line, ..first }.append(&mut block),
                KeepPolicy::Last | KeepPolicy::Greatest => {
                    first.append(&mut block)?;
                    match kept.ordinal == first.ordinal {
                        true => Ok(()),
                        // Its records are counted with the first.
                        false => SpillEntry { count: 0, ..kept }.append(&mut block),
                    }
                }
            }
        });
        let mut new = Self::default();
        combined.and_then(|()| new.take(Arc::new(block), 0)).ok().flatten().map(|()| new)
    }

    /// About `size` keys at even distances.
    pub(super) fn sample(&self, size: usize) -> impl Iterator<Item = &[u8]> {
        let step = self.places.len().div_ceil(size).max(1);
        self.places.iter().step_by(step).map(|place| self.get(*place))
    }

    /// Whether the entry at a place has this key.
    fn holds(&self, place: u64, key: &[u8]) -> bool {
        self.get(place) == key
    }

    fn entry(&self, place: u64) -> SpillEntry<'_> {
        SpillEntry::decode(self.bytes_from(place)).expect("it was decoded before").0
    }

    #[inline]
    fn bytes_from(&self, place: u64) -> &[u8] {
        &self.blocks[(place >> OFFSET) as usize][place as u32 as usize..]
    }
}

/// The entry with the sum of tallies as its line, if several were added up.
fn with_sum<'e>(entry: SpillEntry<'e>, sum: &'e [u8]) -> SpillEntry<'e> {
    SpillEntry { line: if sum.is_empty() { entry.line } else { sum }, ..entry }
}

impl Urls for RangeEntries {
    type Text<'u> = Measured<'u>;

    #[inline]
    fn text(&self, place: u64) -> Measured<'_> {
        let (bytes, mut at) = (self.bytes_from(place), 0);
        let len = decode_number(bytes, &mut at).unwrap_or_default() as usize;
        Measured { bytes: &bytes[at..], len }
    }

    fn fetch(&self, place: u64) {
        self.fetch_from(place, 0);
        self.fetch_from(place, 64);
    }

    #[inline]
    fn fetch_from(&self, place: u64, depth: usize) {
        prefetch(&self.blocks[(place >> OFFSET) as usize], place as u32 as usize + depth);
    }
}
