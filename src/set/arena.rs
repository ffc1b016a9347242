//! Stores the URLs of a shard, each followed by a line feed, in blocks that never move.

use super::set_full::SetFull;
use crate::bytes::alloc;
use crate::simd::prefetch;

/// Bytes of a block. Its unused end costs address space, not memory.
const BLOCK: usize = 1 << BLOCK_BITS;
const BLOCK_BITS: u32 = 16;
/// The first block has a [`BLOCK`] divided by two so many times, and each further one twice as much, up to a
/// whole [`BLOCK`]: the 64 shards of a small [`UrlSet`](super::UrlSet) would reserve 4 MiB.
const DOUBLINGS: usize = 6;
/// Number of blocks that a 32-bit place can address, without the last: the greatest places are marks of
/// entries.
const MAX_BLOCKS: usize = (1 << (32 - BLOCK_BITS)) - 1;

/// Bytes that sorting usually reads from one offset on: four digits.
const LOOKED_AT: usize = 4 * 13;

/// Where a URL starts: block and offset. Never 0, which marks a free slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ArenaOffset(pub(super) u32);

/// Whether each URL has a counter in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// The set stores URLs only.
    Off,
    /// The set also counts how often each URL was added.
    On,
}

/// The size of an arena at some time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ArenaMark {
    blocks: usize,
    /// Bytes used of the last block.
    last: usize,
}

/// URLs back to back. No length is stored: a URL holds no line feed, so the line feed ends it.
#[derive(Debug, Clone)]
pub(super) struct Arena {
    blocks: Vec<Vec<u8>>,
    head: usize,
    /// Bytes in all blocks except the last.
    full: usize,
}

impl Arena {
    pub(super) fn new(counting: Counting) -> Self {
        let head = match counting {
            Counting::Off => 0,
            Counting::On => size_of::<u64>(),
        };
        Self { blocks: Vec::new(), head, full: 0 }
    }

    /// Stores a URL, which holds no line feed, with its counter at 1.
    pub(super) fn push(&mut self, url: &[u8]) -> Result<ArenaOffset, SetFull> {
        debug_assert!(!url.contains(&b'\n'), "a line feed ends the URL: {}", url.escape_ascii());
        let need = self.head + url.len() + 1;
        // An offset must stay below BLOCK to fit into a place. A block of one long URL may end after
        // that.
        let fits = |block: &Vec<u8>| block.len() < BLOCK && block.capacity() - block.len() >= need;
        if !self.blocks.last().is_some_and(fits) {
            self.add_block(need)?;
        }
        let index = self.blocks.len() - 1;
        let block = &mut self.blocks[index];
        if self.head > 0 {
            block.extend_from_slice(&1u64.to_le_bytes());
        }
        let offset = block.len();
        block.extend_from_slice(url);
        block.push(b'\n');
        // The next URLs will be written there.
        for line in [128, 192] {
            prefetch(block.spare_capacity_mut(), line);
        }
        Ok(ArenaOffset((index as u32) << BLOCK_BITS | offset as u32))
    }

    /// Adds a block. A URL longer than a block gets its own.
    #[cold]
    fn add_block(&mut self, need: usize) -> Result<(), SetFull> {
        if self.blocks.len() == MAX_BLOCKS {
            return Err(SetFull(()));
        }
        // `Vec::push` would abort when memory runs out, so the list doubles by a fallible reservation.
        if self.blocks.len() == self.blocks.capacity() {
            let more = self.blocks.len().max(4);
            alloc::try_reserve_exact(&mut self.blocks, more)?;
        }
        let mut block = Vec::new();
        // The first byte of the first block stays unused, so that no place is 0.
        let unused = usize::from(self.blocks.is_empty());
        let size = BLOCK >> DOUBLINGS.saturating_sub(self.blocks.len());
        alloc::try_reserve_exact(&mut block, size.max(need + unused))?;
        if unused == 1 {
            block.push(b'\n');
        }
        self.full += self.blocks.last().map_or(0, Vec::len);
        self.blocks.push(block);
        Ok(())
    }

    /// Bytes of memory in use. Reserved pages that were never written are not counted.
    pub(super) fn memory(&self) -> usize {
        // The system provides memory by pages, so the last block counts up to its next page.
        const PAGE: usize = 4096;
        let last = self.blocks.last().map_or(0, |block| block.len().next_multiple_of(PAGE));
        self.full + last + self.blocks.capacity() * size_of::<Vec<u8>>()
    }

    #[inline]
    fn at(&self, place: ArenaOffset) -> (&[u8], usize) {
        (&self.blocks[(place.0 >> BLOCK_BITS) as usize], place.0 as usize & (BLOCK - 1))
    }

    /// True if the URL at `place` is `url`.
    #[inline]
    pub(super) fn holds(&self, place: ArenaOffset, url: &[u8]) -> bool {
        let (block, at) = self.at(place);
        // Without a line feed after it, `url` would only be the start of a longer URL.
        match block[at..].split_at_checked(url.len()) {
            Some((bytes, [b'\n', ..])) => bytes == url,
            _ => false,
        }
    }

    #[inline]
    pub(super) fn prefetch(&self, place: ArenaOffset, len: usize) {
        let (block, at) = self.at(place);
        // The first and the last byte, and the second cache line: no branch on the length.
        prefetch(block, at);
        prefetch(block, at + len);
        prefetch(block, at + len.min(64));
    }

    /// Prefetches the bytes from `depth` bytes after `place` on, as many as sorting usually reads.
    #[inline]
    pub(super) fn prefetch_from(&self, place: ArenaOffset, depth: usize) {
        let (block, at) = self.at(place);
        prefetch(block, at + depth);
        prefetch(block, at + depth + LOOKED_AT);
    }

    /// The URL at `place`.
    pub(super) fn get(&self, place: ArenaOffset) -> &[u8] {
        let text = self.text(place);
        &text[..memchr::memchr(b'\n', text).unwrap_or_default()]
    }

    /// The URL at `place`, its line feed, and the bytes after it.
    #[inline]
    pub(super) fn text(&self, place: ArenaOffset) -> &[u8] {
        let (block, at) = self.at(place);
        &block[at..]
    }

    /// The counter of the URL at `place`; 1 if the arena has no counters.
    #[inline]
    pub(super) fn count(&self, place: ArenaOffset) -> u64 {
        if self.head == 0 {
            return 1;
        }
        let (block, at) = self.at(place);
        block[..at].last_chunk().map_or(0, |count| u64::from_le_bytes(*count))
    }

    /// Adds 1 to the counter of the URL at `place`, if there are counters.
    #[inline]
    pub(super) fn add_one(&mut self, place: ArenaOffset) {
        self.change(place, |count| count + 1);
    }

    #[inline]
    fn change(&mut self, place: ArenaOffset, change: impl FnOnce(u64) -> u64) {
        if self.head == 0 {
            return;
        }
        let block = &mut self.blocks[(place.0 >> BLOCK_BITS) as usize];
        if let Some(count) = block[..place.0 as usize & (BLOCK - 1)].last_chunk_mut() {
            *count = change(u64::from_le_bytes(*count)).to_le_bytes();
        }
    }

    /// The current size.
    pub(super) fn mark(&self) -> ArenaMark {
        ArenaMark { blocks: self.blocks.len(), last: self.blocks.last().map_or(0, Vec::len) }
    }

    /// Removes the URLs that were stored after `mark`.
    pub(super) fn truncate(&mut self, mark: ArenaMark) {
        self.blocks.truncate(mark.blocks);
        if let Some((last, full)) = self.blocks.split_last_mut() {
            last.truncate(mark.last);
            self.full = full.iter().map(Vec::len).sum();
        }
    }

    /// Subtracts 1 from the counter of the URL at `place`, if there are counters.
    pub(super) fn take_one(&mut self, place: ArenaOffset) {
        self.change(place, |count| count - 1);
    }

    /// Sets the counter of the URL at `place`, if there are counters.
    pub(super) fn set_count(&mut self, place: ArenaOffset, count: u64) {
        self.change(place, |_| count);
    }

    /// Every place, in insertion order.
    pub(super) fn places(&self) -> impl Iterator<Item = ArenaOffset> + '_ {
        self.urls().map(|(place, _)| place)
    }

    /// Every URL and its place, in insertion order.
    pub(super) fn urls(&self) -> Urls<'_> {
        // The first byte of the first block is unused.
        Urls { arena: self, block: 0, at: 1 }
    }
}

/// The iterator of [`Arena::urls`].
#[derive(Debug, Clone)]
pub(super) struct Urls<'a> {
    arena: &'a Arena,
    block: usize,
    /// Where the next URL, or its counter, starts in its block.
    at: usize,
}

impl<'a> Iterator for Urls<'a> {
    type Item = (ArenaOffset, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let block = self.arena.blocks.get(self.block)?;
            let start = self.at + self.arena.head;
            let text = block.get(start..).unwrap_or_default();
            if let Some(length) = memchr::memchr(b'\n', text) {
                self.at = start + length + 1;
                let place = ArenaOffset((self.block as u32) << BLOCK_BITS | start as u32);
                return Some((place, &text[..length]));
            }
            self.block += 1;
            self.at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_begin_small_and_double_up_to_their_limit() {
        let mut arena = Arena::new(Counting::Off);
        let url = [b'a'; 99];
        let mut places = Vec::new();
        while arena.blocks.len() < DOUBLINGS + 3 {
            places.push(arena.push(&url).unwrap());
        }
        let sizes: Vec<_> = arena.blocks.iter().map(Vec::capacity).collect();
        assert_eq!(sizes[..DOUBLINGS], [1024, 2048, 4096, 8192, 16_384, 32_768]);
        assert_eq!(sizes[DOUBLINGS..], [BLOCK; 3]);
        assert!(arena.places().eq(places.iter().copied()));
        assert!(places.iter().all(|place| arena.holds(*place, &url)));
    }

    #[cfg(debug_assertions)]
    #[test]
    #[should_panic(expected = "a line feed ends the URL")]
    fn url_with_a_line_feed_is_refused_by_tests() {
        let _ = Arena::new(Counting::Off).push(b"a\nb");
    }
}
