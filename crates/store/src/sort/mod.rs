//! Sorts URLs by bytes when the bytes are far away in memory.
//!
//! A comparison sort would fetch two URLs from memory per comparison, and most URLs start alike. Here
//! each URL is fetched twice. The first time it is scattered to one of many ordered buckets, whose
//! bounds come from a sorted sample. The second time it is fetched with its whole bucket, which fits
//! the second-level cache and is sorted there: by the next bytes of each URL, with its number in the
//! bucket in the low bits. Only URLs that are still equal go on to the following bytes (a
//! most-significant-digit radix sort whose digit is thirteen bytes).

mod bounds;
mod by_count;
mod digit;

use std::hash::{BuildHasher, RandomState};

use rayon::prelude::*;

pub(crate) use self::bounds::{BATCH, Bounds};
pub use self::by_count::sort_by_count;
pub use self::digit::Measured;
pub use self::digit::Text;
use uniqurl::SetFull;
use uniqurl::internal::{AllocError, Shard, alloc};

/// From this number on, URLs are scattered to buckets. Fewer are sorted directly, with their numbers
/// below their digits.
const MANY: usize = 1 << 14;
const _: () = assert!(MANY as u128 <= digit::BELOW);

/// One of this many URLs is sampled.
const SAMPLED: usize = 128;

/// Prefetch distance in URLs, at three cache lines each. At twice the distance, prefetches wait for
/// free slots in the cache's queue.
const AHEAD: usize = 16;

/// The threads that sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// All threads of the pool.
    All,
    /// The calling thread only. A thread of the pool that waits for others may be given another task
    /// meanwhile, and then holds the memory of both.
    One,
}

/// Random access to URLs in memory.
pub trait Urls: Sync {
    /// What digits of a URL are taken from.
    type Text<'u>: Text<'u>
    where
        Self: 'u;

    /// Returns the URL at a place.
    fn text(&self, place: u64) -> Self::Text<'_>;
    /// Prefetches the URL for a later call of `text`.
    fn fetch(&self, place: u64);
    /// Prefetches the bytes of some digits from `depth` on.
    fn fetch_from(&self, place: u64, depth: usize);

    /// Returns the URL at a place.
    fn get(&self, place: u64) -> &[u8] {
        self.text(place).rest(0)
    }
}

/// Shards as one collection. The upper half of a place is the number of the shard.
#[derive(Debug)]
pub struct ShardUrls<'a>(pub Vec<&'a Shard>);

impl ShardUrls<'_> {
    /// Returns how often the URL was added.
    pub fn count(&self, place: u64) -> u64 {
        self.0[(place >> 32) as usize].count(place as u32)
    }
}

impl Urls for ShardUrls<'_> {
    type Text<'u>
        = &'u [u8]
    where
        Self: 'u;

    #[inline]
    fn text(&self, place: u64) -> &[u8] {
        self.0[(place >> 32) as usize].text(place as u32)
    }

    fn fetch(&self, place: u64) {
        self.0[(place >> 32) as usize].fetch(place as u32);
    }

    #[inline]
    fn fetch_from(&self, place: u64, depth: usize) {
        self.0[(place >> 32) as usize].fetch_from(place as u32, depth);
    }
}

/// Yields each place, prefetching the URLs of later places.
pub fn in_turn<'p>(places: &'p [u64], urls: &'p impl Urls) -> impl Iterator<Item = u64> + 'p {
    with_ahead(places).map(|(place, ahead)| {
        ahead.into_iter().for_each(|ahead| urls.fetch(ahead));
        place
    })
}

/// Yields the URLs at places, prefetching the digits of later ones from `depth` on.
fn texts_from<'p, U: Urls>(
    depth: usize,
    places: &'p [u64],
    urls: &'p U,
) -> impl Iterator<Item = U::Text<'p>> {
    with_ahead(places).map(move |(place, ahead)| {
        ahead.into_iter().for_each(|ahead| urls.fetch_from(ahead, depth));
        urls.text(place)
    })
}

/// Yields each place with the one to prefetch.
fn with_ahead(places: &[u64]) -> impl Iterator<Item = (u64, Option<u64>)> {
    places.iter().enumerate().map(|(n, place)| (*place, places.get(n + AHEAD).copied()))
}

/// Memory in bytes for sorting this many places: for each place its bucket and a copy of the place; for
/// one bucket also the digits and another copy of the places.
pub fn sort_memory(places: usize) -> usize {
    places * (size_of::<u32>() + size_of::<u64>())
        + places.min(MANY) * (size_of::<u128>() + size_of::<u64>())
}

/// The digits that a bucket is sorted by, and its places in original order.
#[derive(Default)]
struct Digits {
    digits: Vec<u128>,
    places: Vec<u64>,
}

/// Sorts places by the bytes of their URLs. Fails if memory runs out.
pub fn sort(places: &mut [u64], urls: &impl Urls, threads: Threads) -> Result<(), SetFull> {
    sort_from(0, places, urls, threads)
}

/// Like `sort`, for URLs that are equal up to `depth`.
pub(crate) fn sort_from(
    depth: usize,
    places: &mut [u64],
    urls: &impl Urls,
    threads: Threads,
) -> Result<(), SetFull> {
    // A list in place of recursion, which URLs with long common beginnings would make deep.
    let mut unsorted = vec![(depth, places)];
    while let Some((depth, places)) = unsorted.pop() {
        match places.len() < MANY {
            true => sort_bucket(depth, places, urls, &mut Digits::default())?,
            false => unsorted.extend(sort_many(depth, places, urls, threads)?),
        }
    }
    Ok(())
}

/// Sorts URLs that are equal up to `depth`. Buckets that are still large are returned unsorted with
/// their depth: the sample did not represent them, or their URLs share long prefixes.
fn sort_many<'p>(
    depth: usize,
    places: &'p mut [u64],
    urls: &impl Urls,
    threads: Threads,
) -> Result<Vec<(usize, &'p mut [u64])>, SetFull> {
    let bounds = sample(depth, places, urls, threads)?;
    if bounds.len() == 1 {
        // A single bucket means that nearly all URLs are repetitions of a few.
        places.sort_unstable_by_key(|place| urls.get(*place));
        return Ok(Vec::new());
    }
    let scatter = |part: &[u64]| Scattered::new(depth, part, &bounds, urls);
    let parts: Vec<Scattered> = match threads {
        Threads::All => {
            let share = places.len().div_ceil(4 * rayon::current_num_threads());
            places.par_chunks(share).map(scatter).collect::<Result<_, _>>()?
        }
        Threads::One => vec![scatter(places)?],
    };
    let mut rest = places;
    let mut buckets: Vec<(usize, &mut [u64])> = Vec::new();
    alloc::try_reserve_exact(&mut buckets, bounds.len())?;
    for bucket in 0..bounds.len() {
        let size = parts.iter().map(|part| part.bucket(bucket).len()).sum();
        buckets.push((bucket, rest.split_off_mut(..size).unwrap_or_default()));
    }
    // The task that sorts a bucket gathers its places too, so that they are in its cache.
    let sort_one = |keyed: &mut Digits, (bucket, places): &mut (usize, &mut [u64])| {
        let mut rest = &mut **places;
        for part in parts.iter().map(|part| part.bucket(*bucket)) {
            rest.split_off_mut(..part.len()).unwrap_or_default().copy_from_slice(part);
        }
        match places.len() < MANY {
            true => sort_bucket(bounds.depth(*bucket), places, urls, keyed),
            false => Ok(()),
        }
    };
    match threads {
        Threads::All => buckets.par_iter_mut().try_for_each_init(Digits::default, sort_one)?,
        Threads::One => {
            let mut keyed = Digits::default();
            buckets.iter_mut().try_for_each(|bucket| sort_one(&mut keyed, bucket))?;
        }
    }
    let large = buckets.into_iter().filter(|(_, places)| places.len() >= MANY);
    Ok(large.map(|(bucket, places)| (bounds.depth(bucket), places)).collect())
}

/// Computes bucket bounds for URLs that are equal up to `depth`. The sample is random, so that no
/// crafted input can predict it.
fn sample(
    depth: usize,
    places: &[u64],
    urls: &impl Urls,
    threads: Threads,
) -> Result<Bounds, SetFull> {
    let random = RandomState::new();
    let mut sample = Vec::new();
    alloc::try_reserve_exact(&mut sample, places.len().div_ceil(SAMPLED))?;
    for (n, some) in places.chunks(SAMPLED).enumerate() {
        // One of each stretch of neighbours, so that every part of the input is in the sample.
        sample.push(some[random.hash_one(n) as usize % some.len()]);
    }
    bounds_of(depth, &mut sample, urls, threads)
}

/// Computes bucket bounds from a sample of URLs that are equal up to `depth`.
pub(crate) fn bounds_of(
    depth: usize,
    sample: &mut [u64],
    urls: &impl Urls,
    threads: Threads,
) -> Result<Bounds, SetFull> {
    sort_from(depth, sample, urls, threads)?;
    let mut texts: Vec<&[u8]> = Vec::new();
    alloc::try_reserve_exact(&mut texts, sample.len())?;
    texts.extend(sample.iter().map(|place| urls.get(*place)));
    // Equal texts would bound a bucket that no URL can get into.
    texts.dedup();
    Ok(Bounds::new(&texts, depth))
}

/// A part of the places, grouped by bucket.
struct Scattered {
    places: Vec<u64>,
    /// The end of each bucket.
    ends: Vec<usize>,
}

impl Scattered {
    fn new(
        depth: usize,
        part: &[u64],
        bounds: &Bounds,
        urls: &impl Urls,
    ) -> Result<Self, AllocError> {
        let mut ends = vec![0; bounds.len()];
        let mut buckets: Vec<u32> = Vec::new();
        alloc::try_reserve_exact(&mut buckets, part.len())?;
        buckets.resize(part.len(), 0);
        bounds.find(texts_from(depth, part, urls), &mut buckets);
        // Counted before they are placed, so that one vector of the right length holds all buckets.
        for bucket in &buckets {
            ends[*bucket as usize] += 1;
        }
        // First turn the counts into starts; the loop below advances each start to the end.
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut places = Vec::new();
        alloc::try_reserve_exact(&mut places, part.len())?;
        places.resize(part.len(), 0);
        for (place, bucket) in part.iter().zip(buckets) {
            let at = &mut ends[bucket as usize];
            places[*at] = *place;
            *at += 1;
        }
        Ok(Self { places, ends })
    }

    fn bucket(&self, bucket: usize) -> &[u64] {
        let start = bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.places[start..self.ends[bucket]]
    }
}

/// Sorts a few places whose URLs are equal up to `depth`, using the memory of `keyed`.
fn sort_bucket(
    depth: usize,
    places: &mut [u64],
    urls: &impl Urls,
    keyed: &mut Digits,
) -> Result<(), AllocError> {
    let Digits { digits, places: unsorted } = keyed;
    digits.clear();
    unsorted.clear();
    alloc::try_reserve_exact(digits, places.len())?;
    alloc::try_reserve_exact(unsorted, places.len())?;
    unsorted.extend_from_slice(places);
    let texts = (0u128..).zip(texts_from(depth, unsorted, urls));
    digits.extend(texts.map(|(number, text)| text.digit(depth) | number));
    sort_digits(depth, digits, &|number| urls.text(unsorted[number]));
    for (place, digit) in places.iter_mut().zip(digits) {
        *place = unsorted[number(*digit)];
    }
    Ok(())
}

/// Returns the number of a place, stored in the bits below its digit.
fn number(digit: u128) -> usize {
    (digit & digit::BELOW) as usize
}

/// Sorts the digits of URLs that are equal up to `depth`. Groups that remain equal get their next
/// digits and are sorted again.
fn sort_digits<'t, T: Text<'t>>(
    mut depth: usize,
    mut digits: &mut [u128],
    text: &impl Fn(usize) -> T,
) {
    while !digits.is_empty() {
        // The number below each digit makes all of them different, so an unstable sort loses no
        // order.
        digits.sort_unstable();
        depth += digit::BYTES;
        // Iterate on the largest group and recurse only into the others. Those have at most half of the
        // digits each, so the stack stays shallow for any length of common prefixes.
        let mut largest = &mut [][..];
        for group in still_equal(digits) {
            if group.len() <= T::FEW {
                let rest = |digit: &u128| text(number(*digit)).rest(depth);
                group.sort_unstable_by(|a, b| rest(a).cmp(rest(b)));
                continue;
            }
            for at in &mut *group {
                let number = number(*at);
                *at = text(number).digit(depth) | number as u128;
            }
            let smaller = match group.len() > largest.len() {
                true => std::mem::replace(&mut largest, group),
                false => group,
            };
            sort_digits(depth, smaller, text);
        }
        digits = largest;
    }
}

/// Yields the groups of more than one equal digit. A digit that is not full reaches the ends of its
/// URLs, so these are identical and need no more sorting.
fn still_equal(digits: &mut [u128]) -> impl Iterator<Item = &mut [u128]> {
    let goes_on = |group: &&mut [u128]| group.len() > 1 && digit::length(group[0]) == digit::BYTES;
    digits.chunk_by_mut(|a, b| a ^ b <= digit::BELOW).filter(goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_util::cases;

    impl Urls for Vec<Vec<u8>> {
        type Text<'u> = &'u [u8];

        fn text(&self, place: u64) -> &[u8] {
            &self[place as usize]
        }

        fn fetch(&self, _: u64) {}

        fn fetch_from(&self, _: u64, _: usize) {}
    }

    fn assert_sorts(urls: &Vec<Vec<u8>>) {
        for threads in [Threads::All, Threads::One] {
            let mut places: Vec<u64> = (0..urls.len() as u64).collect();
            sort(&mut places, urls, threads).unwrap();
            let sorted: Vec<_> = places.iter().map(|place| &urls[*place as usize]).collect();
            assert_eq!(sorted.len(), urls.len(), "{threads:?}");
            assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]), "{threads:?}");
        }
    }

    #[test]
    fn sort_orders_places_by_their_bytes() {
        let mut urls: Vec<Vec<u8>> = vec![Vec::new(), vec![0], vec![0, 0], vec![0xFF]];
        let mut state = 1u64;
        for i in 0..cases(40_000) as u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let host = "a-long-common-prefix.".repeat((state >> 60) as usize % 4);
            urls.push(format!("https://{host}/{}/{i}", state >> 48 & 7).into_bytes());
        }
        for length in 0..64 {
            urls.push(vec![b'a'; length + 1]);
        }
        assert_sorts(&urls);
    }

    #[test]
    fn urls_with_long_common_prefixes_are_scattered_again() {
        let start = "a".repeat(1_000);
        let many = if cfg!(miri) { 100 } else { MANY + MANY / 8 };
        let mut urls: Vec<Vec<u8>> = (0..many)
            .map(|n| format!("{start}{}", (n as u32).wrapping_mul(2_654_435_761)).into_bytes())
            .collect();
        urls.extend([start.into_bytes(), b"a".to_vec(), b"b".to_vec()]);
        assert_sorts(&urls);
    }

    #[test]
    fn equal_urls_are_adjacent_after_sorting() {
        let many = if cfg!(miri) { 300 } else { 3 * MANY };
        for different in [1, 3, 40, 2_000, 2 * MANY as u32] {
            let number = |n: usize| (n as u32).wrapping_mul(2_654_435_761) % different;
            let urls: Vec<Vec<u8>> =
                (0..many).map(|n| format!("http://h/{:020}", number(n)).into_bytes()).collect();
            let mut expected = urls.clone();
            expected.sort_unstable();
            for threads in [Threads::All, Threads::One] {
                let mut places: Vec<u64> = (0..urls.len() as u64).collect();
                sort(&mut places, &urls, threads).unwrap();
                let sorted = places.iter().map(|place| &urls[*place as usize]);
                assert!(sorted.eq(&expected), "{different} {threads:?}");
            }
        }
    }

    #[test]
    fn long_common_prefixes_do_not_grow_the_stack() {
        let start = "a".repeat(1 << 20);
        let pair = ["b", "a"].map(|end| format!("{start}{end}").into_bytes());
        // Each of these URLs leaves the common prefix at another digit.
        let stairs = (0..2_000).map(|n| format!("{}b", &start[..n * digit::BYTES]).into_bytes());
        assert_sorts(&pair.into_iter().chain(stairs).collect());
    }
}
