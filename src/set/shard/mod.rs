//! One shard: an open-addressing table over the bytes of its URLs.
//!
//! A slot is eight bytes, tag and place, and eight slots are a cache line. The upper bits of the tag
//! give the first slot of a search, so growing does not read the URLs and goes through both tables from
//! front to back. A search wraps round its first cache line before it touches another, and ends at a
//! free slot. Nothing is ever removed.

mod ahead;
mod arena;
mod table;

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

pub use ahead::{Bytes, Part};
pub(super) use arena::Urls;

use super::hash::Hash;
use super::set_full::SetFull;
use table::{Free, Table, slots_to_grow_to};

/// Whether each URL has a counter in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// The set stores URLs only.
    Off,
    /// The set also counts how often each URL was added.
    On,
}

/// What became of a URL on its way into a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The shard holds it since before, or it was not asked yet.
    Known,
    /// It was added, at this place.
    New(NonZeroU32),
    /// It was only looked up, and the shard does not hold it.
    Absent,
    /// The set shall not hold it: no shard adds or counts it.
    Filtered,
    /// The set of an earlier run holds it: no shard adds or counts it.
    Seen,
}

/// A URL on its way into a shard. `start` and `len` belong to the caller.
///
/// Shards of a set write the outcomes of one list of entries at the same time, each those of its own URLs. So an
/// outcome is an atomic, whose loads and stores cost what those of a number cost.
#[derive(Debug)]
pub struct Entry {
    /// The hash of the URL.
    pub hash: Hash,
    /// Start of the URL in the caller's bytes.
    pub start: u32,
    /// Length of the URL in bytes.
    pub len: u32,
    /// Number of the URL within its chunk.
    pub sequence: u32,
    /// A place, or one of the numbers below.
    outcome: AtomicU32,
}

/// Outcomes without a place. No URL starts at the last three: no arena has the last block.
const KNOWN: u32 = 0;
const ABSENT: u32 = u32::MAX - 2;
const FILTERED: u32 = u32::MAX - 1;
const SEEN: u32 = u32::MAX;

impl Entry {
    /// An entry whose outcome is [`Outcome::Known`].
    #[inline]
    pub fn new(hash: Hash, start: u32, len: u32, sequence: u32) -> Self {
        Self { hash, start, len, sequence, outcome: AtomicU32::new(KNOWN) }
    }

    #[inline]
    fn code(&self) -> u32 {
        // Whoever reads outcomes has got the list from the tasks that wrote them, which orders both.
        self.outcome.load(Ordering::Relaxed)
    }

    /// What became of it.
    #[inline]
    pub fn outcome(&self) -> Outcome {
        match self.code() {
            ABSENT => Outcome::Absent,
            FILTERED => Outcome::Filtered,
            SEEN => Outcome::Seen,
            place => NonZeroU32::new(place).map_or(Outcome::Known, Outcome::New),
        }
    }

    /// Notes what became of it.
    #[inline]
    pub fn settle(&self, outcome: Outcome) {
        let code = match outcome {
            Outcome::Known => KNOWN,
            Outcome::New(place) => place.get(),
            Outcome::Absent => ABSENT,
            Outcome::Filtered => FILTERED,
            Outcome::Seen => SEEN,
        };
        self.outcome.store(code, Ordering::Relaxed);
    }

    /// True if the shard did not hold it before.
    #[inline]
    pub fn is_new(&self) -> bool {
        (KNOWN + 1..=ABSENT).contains(&self.code())
    }

    /// True if the set shall not hold it.
    #[inline]
    pub fn is_filtered(&self) -> bool {
        self.code() == FILTERED
    }

    /// True if the set of an earlier run holds it.
    #[inline]
    pub fn is_seen(&self) -> bool {
        self.code() == SEEN
    }
}

/// The part of a set whose URLs share a shard number.
#[derive(Debug, Clone)]
pub struct Shard {
    table: Table,
    len: usize,
    blocks: Vec<Vec<u8>>,
    /// Bytes of the counter in front of each URL.
    head: usize,
    /// Bytes in all blocks except the last.
    full: usize,
}

/// What the memory of a shard depends on, to be asked while another thread fills the shard.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShardSize {
    /// Number of URLs.
    pub len: usize,
    slots: usize,
    /// Bytes of the URLs.
    urls: usize,
}

impl ShardSize {
    /// As [`Shard::memory`].
    pub fn memory(self, more: usize) -> usize {
        let grown = slots_to_grow_to(self.slots, self.len + more).unwrap_or(0);
        (self.slots + grown) * size_of::<u64>() + self.urls
    }
}

/// The shard is full.
#[derive(Debug, Clone, Copy)]
pub struct Stopped {
    /// The part whose URL did not fit.
    pub part: usize,
    /// Number of entries of that part that were added.
    pub after: usize,
}

impl From<Stopped> for SetFull {
    fn from(_: Stopped) -> Self {
        SetFull(())
    }
}

impl Shard {
    /// An empty shard.
    pub fn new(counting: Counting) -> Self {
        let head = match counting {
            Counting::Off => 0,
            Counting::On => size_of::<u64>(),
        };
        Self { table: Table::default(), len: 0, blocks: Vec::new(), head, full: 0 }
    }

    /// Number of URLs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if the shard holds no URL.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a URL, which holds no line feed; returns the place of a new one.
    pub fn add(&mut self, hash: Hash, url: &[u8]) -> Result<Option<u32>, SetFull> {
        self.reserve(1)?;
        self.insert_reserved(hash, url)
    }

    /// Adds many URLs, in order, and notes which were new.
    ///
    /// If the shard is full, the error says how many URLs were added before.
    pub fn insert_all<'t, B: Bytes<'t>>(&mut self, parts: &[Part<'_, B>]) -> Result<(), Stopped> {
        // Reserves once for all entries, so that no insertion grows the table.
        let more = parts.iter().map(|part| part.entries.len()).sum();
        self.reserve(more).map_err(|_| Stopped { part: 0, after: 0 })?;
        self.each(parts, |shard, candidate, entry, url| {
            let place = match candidate {
                _ if entry.is_seen() => return Ok(()),
                // The first place with the tag nearly always holds the URL.
                Some(place) if shard.holds(place, url) => {
                    shard.change(place, |count| count + 1);
                    None
                }
                _ => shard.insert_reserved(entry.hash, url)?,
            };
            let place = place.and_then(NonZeroU32::new);
            entry.settle(place.map_or(Outcome::Known, Outcome::New));
            Ok(())
        })
    }

    /// Marks the URLs that the shard holds, if it belongs to the set of an earlier run.
    pub fn mark_all<'t, B: Bytes<'t>>(&mut self, parts: &[Part<'_, B>]) {
        self.find_all(parts);
        for entry in parts.iter().flat_map(|part| part.entries) {
            // URLs that were marked before stay marked.
            let is_seen = !entry.is_new();
            entry.settle(if is_seen { Outcome::Seen } else { Outcome::Known });
        }
    }

    /// Counts each of many URLs that the shard holds, and notes which it does not hold. URLs that were
    /// marked as seen in an earlier run do not change.
    pub fn find_all<'t, B: Bytes<'t>>(&mut self, parts: &[Part<'_, B>]) {
        // An empty table has no slots to search.
        if self.table.is_empty() {
            let entries = parts.iter().flat_map(|part| part.entries);
            let not_seen = entries.filter(|entry| !entry.is_seen());
            return not_seen.for_each(|entry| entry.settle(Outcome::Absent));
        }
        let found = self.each(parts, |shard, candidate, entry, url| {
            if entry.is_seen() {
                return Ok(());
            }
            let place = match candidate {
                Some(place) if shard.holds(place, url) => Some(place),
                // Another URL has the same tag, so the search goes on.
                Some(_) => shard.find(entry.hash, url).ok(),
                None => None,
            };
            place.into_iter().for_each(|place| shard.change(place, |count| count + 1));
            entry.settle(if place.is_some() { Outcome::Known } else { Outcome::Absent });
            Ok(())
        });
        debug_assert!(found.is_ok(), "nothing was added");
    }

    /// Counts a URL if the shard holds it; returns whether it does.
    pub fn count_again(&mut self, hash: Hash, url: &[u8]) -> bool {
        let place = self.held(hash, url);
        place.into_iter().for_each(|place| self.change(place, |count| count + 1));
        place.is_some()
    }

    /// The place of a URL, if the shard holds it.
    pub fn place_of(&self, hash: Hash, url: &[u8]) -> Option<NonZeroU32> {
        NonZeroU32::new(self.held(hash, url)?)
    }

    /// Adds `more` to the count of a URL, if the shard holds it.
    pub fn count_more(&mut self, hash: Hash, url: &[u8], more: u64) {
        if let Some(place) = self.held(hash, url) {
            self.change(place, |count| count + more);
        }
    }

    /// Bytes of memory in use, plus the bytes of a bigger table if `more` URLs need one: while a table
    /// grows, the old one still exists. The bytes of those URLs are not included.
    pub fn memory(&self, more: usize) -> usize {
        self.size().memory(more)
    }

    /// What its memory depends on.
    pub fn size(&self) -> ShardSize {
        ShardSize { len: self.len, slots: self.table.len(), urls: self.memory_of_urls() }
    }

    /// True if the shard holds the URL.
    pub fn contains(&self, hash: Hash, url: &[u8]) -> bool {
        self.held(hash, url).is_some()
    }

    /// The place of a URL, if the shard holds it. An empty table has no slots to search.
    #[inline]
    fn held(&self, hash: Hash, url: &[u8]) -> Option<u32> {
        if self.table.is_empty() { None } else { self.find(hash, url).ok() }
    }

    /// The place of a URL, or the free slot for it.
    #[inline]
    fn find(&self, hash: Hash, url: &[u8]) -> Result<u32, Free> {
        self.table.find(hash, |place| self.holds(place, url))
    }

    #[inline]
    fn insert_reserved(&mut self, hash: Hash, url: &[u8]) -> Result<Option<u32>, SetFull> {
        match self.find(hash, url) {
            Ok(place) => {
                self.change(place, |count| count + 1);
                Ok(None)
            }
            Err(free) => {
                // The bytes first: if they do not fit, the table stays unchanged.
                let place = self.push(url)?;
                self.table.fill(free, hash, place);
                self.len += 1;
                Ok(Some(place))
            }
        }
    }

    /// Makes room for `more` URLs.
    fn reserve(&mut self, more: usize) -> Result<(), SetFull> {
        match slots_to_grow_to(self.table.len(), self.len + more) {
            None => Ok(()),
            // A tag cannot select among more than 2^32 slots.
            Some(slots) if slots as u64 > 1 << 32 => Err(SetFull(())),
            Some(slots) => Ok(self.table.grow(slots)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::hash::HashKey;
    use super::*;
    use crate::simd::Kernel;

    /// URLs with many repeats. Miri gets fewer.
    fn urls(count: u32) -> Vec<Vec<u8>> {
        let count = if cfg!(miri) { count / 60 } else { count };
        let number = |i: u32| i.wrapping_mul(2_654_435_761) % (count / 3 + 1);
        (0..count).map(|i| format!("http://h/{}", number(i)).into_bytes()).collect()
    }

    /// The result of a map: URLs in order of first appearance, each with its count.
    fn counted(urls: &[Vec<u8>]) -> Vec<(&[u8], u64)> {
        let mut places = HashMap::new();
        let mut counted: Vec<(&[u8], u64)> = Vec::new();
        for url in urls {
            let place = *places.entry(url.as_slice()).or_insert_with(|| {
                counted.push((url, 0));
                counted.len() - 1
            });
            counted[place].1 += 1;
        }
        counted
    }

    /// From a good hash to a constant.
    const MASKS: [u64; 4] = [u64::MAX, 0xFF, 0xFF00_0000, 0];

    fn hash(url: &[u8], mask: u64) -> Hash {
        let good =
            url.iter().fold(7u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Hash::chosen((good ^ good >> 29) & mask)
    }

    #[test]
    fn shard_is_exact_and_counts_under_any_hash() {
        let urls = urls(3000);
        for mask in MASKS {
            let mut shard = Shard::new(Counting::On);
            let mut new = 0;
            for url in &urls {
                assert_eq!(shard.contains(hash(url, mask), url), {
                    let added = shard.add(hash(url, mask), url).unwrap().is_none();
                    new += usize::from(!added);
                    added
                });
            }
            let found: Vec<_> = shard.places().map(|p| (shard.get(p), shard.count(p))).collect();
            assert_eq!(found, counted(&urls), "{mask:x}");
            assert_eq!((shard.len(), found.len()), (new, new));
        }
    }

    impl<'t> Bytes<'t> for &'t [u8] {
        fn of(&self, entry: &Entry) -> &'t [u8] {
            &self[entry.start as usize..][..entry.len as usize]
        }
    }

    #[test]
    fn batch_insert_agrees_with_single_inserts() {
        let urls = urls(5000);
        let text = urls.concat();
        for mask in MASKS {
            let mut shard = Shard::new(Counting::On);
            let mut start = 0;
            let mut entries: Vec<Entry> = Vec::new();
            for (sequence, url) in (0..).zip(&urls) {
                let (hash, len) = (hash(url, mask), url.len() as u32);
                entries.push(Entry::new(hash, start, len, sequence));
                start += len;
            }
            let bytes = text.as_slice();
            let parts = entries.chunks(70).map(|entries| Part { entries, bytes });
            let mut parts: Vec<_> = parts.collect();
            parts.insert(1, Part { entries: &[], bytes });
            for parts in parts.chunks(10) {
                shard.insert_all(parts).unwrap();
            }
            let place = |entry: &Entry| match entry.outcome() {
                Outcome::New(place) => Some(place.get()),
                _ => None,
            };
            let new: Vec<_> = entries.iter().filter_map(place).collect();
            assert_eq!(new, shard.places().collect::<Vec<_>>());
            let found: Vec<_> = new.iter().map(|p| (shard.get(*p), shard.count(*p))).collect();
            assert_eq!(found, counted(&urls), "{mask:x}");
        }
    }

    #[test]
    fn prefix_of_a_url_is_a_different_url() {
        let mut shard = Shard::new(Counting::Off);
        let hash = Hash::chosen(0);
        for url in [&b"abc"[..], b"ab", b"", b"abcd", b"b"] {
            assert!(!shard.contains(hash, url));
            assert!(shard.add(hash, url).unwrap().is_some());
            assert!(shard.add(hash, url).unwrap().is_none());
        }
        // Without counters the bytes before a URL are never read as a count.
        assert!(shard.places().all(|place| shard.count(place) == 1));
    }

    #[test]
    fn url_longer_than_a_block_is_stored_whole() {
        let mut shard = Shard::new(Counting::On);
        let length = if cfg!(miri) { 70_000 } else { 1 << 20 };
        let long = |byte| vec![byte; length];
        for (i, byte) in (0..).zip(b"abca") {
            let new = shard.add(Hash::chosen(i % 3), &long(*byte)).unwrap();
            assert_eq!(new.is_some(), i < 3);
            shard.add(Hash::chosen(9), b"short").unwrap();
        }
        let lengths: Vec<_> =
            shard.places().map(|p| (shard.get(p).len(), shard.count(p))).collect();
        assert_eq!(lengths, [(length, 2), (5, 4), (length, 1), (length, 1)]);
    }

    /// Slots that a search for a URL reads: the average, and the maximum.
    fn probes(shard: &Shard) -> (f64, usize) {
        let used = || shard.table.probes();
        (used().sum::<usize>() as f64 / shard.len as f64, used().max().unwrap_or(0))
    }

    /// The worst `probes` at several sizes of the growing shard.
    fn worst(urls: &[Vec<u8>], hash: impl Fn(&[u8]) -> Hash) -> (f64, usize) {
        let mut shard = Shard::new(Counting::Off);
        let mut worst = (0.0f64, 0);
        for (i, url) in urls.iter().enumerate() {
            shard.add(hash(url), url).unwrap();
            if (i + 1).is_multiple_of(urls.len() / 16) {
                let (mean, most) = probes(&shard);
                worst = (worst.0.max(mean), worst.1.max(most));
            }
        }
        worst
    }

    /// Keys with fixed seeds, so that every run has the same results. The bounds below are on averages over
    /// them, which chance moves by a few hundredths.
    fn keys(kernel: Kernel) -> impl Iterator<Item = HashKey> {
        (1..=8u64).map(move |i| HashKey::seeded(kernel, i.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    #[cfg_attr(miri, ignore = "averages over thousands of URLs")]
    #[test]
    fn adversarial_urls_do_not_lengthen_searches() {
        assert_searches_stay_short(Kernel::scalar());
        assert_searches_stay_short(Kernel::best());
    }

    fn assert_searches_stay_short(kernel: Kernel) {
        const COUNT: u64 = 6_000;
        let theirs = HashKey::seeded(kernel, 0x7468_6569_7273);
        let scattered = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        let url = |host: u64, path: u64| format!("http://h{host}.example/{path}").into_bytes();
        let benign: Vec<_> = (0..COUNT).map(|i| url(scattered(i), scattered(i + 7))).collect();
        // The URLs of an attacker who knows the key: all searches start in the same 64th of any table.
        let crafted: Vec<_> = (0..)
            .map(|i| url(scattered(i), i))
            .filter(|url| theirs.hash(url).tag() >> 26 == 0)
            .take(COUNT as usize)
            .collect();
        // The output of another run, in the order of its table.
        let mut in_order = benign.clone();
        in_order.sort_by_key(|url| theirs.hash(url).tag());
        let one_host: Vec<_> = (0..COUNT).map(|i| url(1, i)).collect();

        let (_, most) = worst(&crafted, |url| theirs.hash(url));
        assert!(most > 1_000, "the list would be a flood under its own key: {most}");
        // A search that succeeds takes (1 + 1/(1 - a)) / 2 probes on average in a table filled to
        // the part a (Knuth, TAOCP volume 3, section 6.4), and no table is fuller than 3/4.
        let expected = (1.0 + 1.0 / (1.0 - 0.75)) / 2.0;
        for (name, list) in [
            ("benign", &benign),
            ("crafted", &crafted),
            ("ordered", &in_order),
            ("host", &one_host),
        ] {
            let found: Vec<_> = keys(kernel).map(|key| worst(list, |url| key.hash(url))).collect();
            let mean = found.iter().map(|(mean, _)| mean).sum::<f64>() / found.len() as f64;
            let most = found.iter().map(|(_, most)| *most).max().unwrap_or(0);
            assert!(mean < expected * 1.25 && most < 300, "{name}: {mean} on average, {most}");
            // All shards get a fair part.
            let key = HashKey::seeded(kernel, 1);
            let mut of_shard = [0; 16];
            list.iter().for_each(|url| of_shard[key.hash(url).shard(16)] += 1);
            let average = COUNT / 16;
            assert!(
                of_shard.iter().all(|n| (average * 3 / 4..average * 5 / 4).contains(n)),
                "{name}"
            );
        }
    }
}
