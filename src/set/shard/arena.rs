//! The bytes of a shard's URLs, back to back in blocks that never move. No length is stored: a URL holds no
//! line feed, so the line feed after it ends it.
//!
//! A place is where a URL starts: the number of its block and its offset in it. It is never 0, which marks a
//! free slot.

use super::super::set_full::SetFull;
use super::Shard;
use crate::bytes::alloc;
use crate::simd::prefetch;

/// Bytes of a block. Its unused end costs address space, not memory.
const BLOCK: usize = 1 << BLOCK_BITS;
const BLOCK_BITS: u32 = 16;
/// The first block has a [`BLOCK`] divided by two so many times, and each further one twice as much, up to a
/// whole [`BLOCK`]: the 64 shards of a small [`UrlSet`](crate::UrlSet) would reserve 4 MiB.
const DOUBLINGS: usize = 6;
/// Number of blocks that a 32-bit place can address, without the last: the greatest places are marks of
/// entries.
const MAX_BLOCKS: usize = (1 << (32 - BLOCK_BITS)) - 1;

/// Bytes that sorting usually reads from one offset on: four digits.
const LOOKED_AT: usize = 4 * 13;

/// Nearly all URLs have at most this many bytes.
const USUAL: usize = 127;

impl Shard {
    /// Stores a URL, which holds no line feed, with its counter at 1.
    pub(super) fn push(&mut self, url: &[u8]) -> Result<u32, SetFull> {
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
        Ok((index as u32) << BLOCK_BITS | offset as u32)
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

    /// True if the shard can take only an eighth more of its most bytes, whatever memory there is.
    pub fn is_nearly_full(&self) -> bool {
        self.blocks.len() > MAX_BLOCKS - MAX_BLOCKS / 8
    }

    /// Bytes of memory that the URLs use. Reserved pages that were never written are not counted.
    pub(super) fn memory_of_urls(&self) -> usize {
        // The system provides memory by pages, so the last block counts up to its next page.
        const PAGE: usize = 4096;
        let last = self.blocks.last().map_or(0, |block| block.len().next_multiple_of(PAGE));
        self.full + last + self.blocks.capacity() * size_of::<Vec<u8>>()
    }

    #[inline]
    fn at(&self, place: u32) -> (&[u8], usize) {
        (&self.blocks[(place >> BLOCK_BITS) as usize], place as usize & (BLOCK - 1))
    }

    /// True if the URL at `place` is `url`.
    #[inline]
    pub(super) fn holds(&self, place: u32, url: &[u8]) -> bool {
        let (block, at) = self.at(place);
        // Without a line feed after it, `url` would only be the start of a longer URL.
        match block[at..].split_at_checked(url.len()) {
            Some((bytes, [b'\n', ..])) => bytes == url,
            _ => false,
        }
    }

    /// Prefetches the URL at `place`, for a later [`get`](Self::get).
    pub fn fetch(&self, place: u32) {
        self.prefetch(place, USUAL);
    }

    #[inline]
    pub(super) fn prefetch(&self, place: u32, len: usize) {
        let (block, at) = self.at(place);
        // The first and the last byte, and the second cache line: no branch on the length.
        prefetch(block, at);
        prefetch(block, at + len);
        prefetch(block, at + len.min(64));
    }

    /// Prefetches the bytes from `depth` bytes after `place` on, as many as sorting usually reads.
    #[inline]
    pub fn fetch_from(&self, place: u32, depth: usize) {
        let (block, at) = self.at(place);
        prefetch(block, at + depth);
        prefetch(block, at + depth + LOOKED_AT);
    }

    /// The URL at a place that [`Entry::new`](super::Entry::new) holds.
    pub fn get(&self, place: u32) -> &[u8] {
        let text = self.text(place);
        &text[..memchr::memchr(b'\n', text).unwrap_or_default()]
    }

    /// The URL at `place`, its line feed, and the bytes after it.
    #[inline]
    pub fn text(&self, place: u32) -> &[u8] {
        let (block, at) = self.at(place);
        &block[at..]
    }

    /// How often the URL at `place` was added; 1 if the shard does not count.
    #[inline]
    pub fn count(&self, place: u32) -> u64 {
        if self.head == 0 {
            return 1;
        }
        let (block, at) = self.at(place);
        block[..at].last_chunk().map_or(0, |count| u64::from_le_bytes(*count))
    }

    /// Changes the counter of the URL at `place`, if there are counters.
    #[inline]
    pub(super) fn change(&mut self, place: u32, change: impl FnOnce(u64) -> u64) {
        if self.head == 0 {
            return;
        }
        let block = &mut self.blocks[(place >> BLOCK_BITS) as usize];
        if let Some(count) = block[..place as usize & (BLOCK - 1)].last_chunk_mut() {
            *count = change(u64::from_le_bytes(*count)).to_le_bytes();
        }
    }

    /// Sets the count of the URL at `place`, if the shard counts.
    pub fn set_count(&mut self, place: u32, count: u64) {
        self.change(place, |_| count);
    }

    /// The place of each URL, in insertion order.
    pub fn places(&self) -> impl Iterator<Item = u32> + '_ {
        self.urls().map(|(place, _)| place)
    }

    /// Each URL and its place, in insertion order.
    pub(in crate::set) fn urls(&self) -> Urls<'_> {
        // The first byte of the first block is unused.
        Urls { shard: self, block: 0, at: 1 }
    }
}

/// The iterator of [`Shard::urls`].
#[derive(Debug, Clone)]
pub(in crate::set) struct Urls<'a> {
    shard: &'a Shard,
    block: usize,
    /// Where the next URL, or its counter, starts in its block.
    at: usize,
}

impl<'a> Iterator for Urls<'a> {
    type Item = (u32, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let block = self.shard.blocks.get(self.block)?;
            let start = self.at + self.shard.head;
            let text = block.get(start..).unwrap_or_default();
            if let Some(length) = memchr::memchr(b'\n', text) {
                self.at = start + length + 1;
                let place = (self.block as u32) << BLOCK_BITS | start as u32;
                return Some((place, &text[..length]));
            }
            self.block += 1;
            self.at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Counting;
    use super::*;

    #[test]
    fn blocks_begin_small_and_double_up_to_their_limit() {
        let mut shard = Shard::new(Counting::Off);
        let url = [b'a'; 99];
        let mut places = Vec::new();
        while shard.blocks.len() < DOUBLINGS + 3 {
            places.push(shard.push(&url).unwrap());
        }
        let sizes: Vec<_> = shard.blocks.iter().map(Vec::capacity).collect();
        assert_eq!(sizes[..DOUBLINGS], [1024, 2048, 4096, 8192, 16_384, 32_768]);
        assert_eq!(sizes[DOUBLINGS..], [BLOCK; 3]);
        assert!(shard.places().eq(places.iter().copied()));
        assert!(places.iter().all(|place| shard.holds(*place, &url)));
    }

    #[cfg(debug_assertions)]
    #[test]
    #[should_panic(expected = "a line feed ends the URL")]
    fn url_with_a_line_feed_is_refused_by_tests() {
        let _ = Shard::new(Counting::Off).push(b"a\nb");
    }
}
