//! Sorting by bytes, where the bytes are far away.
//!
//! A comparison sort would fetch two URLs from memory at each comparison, and most of them start
//! alike. Here each URL is fetched twice. Once to be dealt to one of many buckets, which follow each
//! other in order: a sorted sample says where they begin. Then with all of its bucket, which fits the
//! second level of the cache and is sorted there: the next bytes of each URL are brought beside its
//! place, the places are sorted by them, and only those that are still equal go on to the bytes behind
//! (a most-significant-digit radix sort whose digit is fifteen bytes).

mod bounds;

use std::hash::{BuildHasher, RandomState};

use rayon::prelude::*;

use self::bounds::Bounds;
use super::set::SetFull;
use super::shard::Shard;
use crate::room::{self, NoRoom};

/// Bytes of a digit; the one behind them says how many there were.
const DIGIT: usize = 15;

/// As many are dealt to buckets. Fewer are sorted at once.
const MANY: usize = 1 << 14;

/// Of so many URLs one is in the sample.
const SAMPLED: usize = 128;

/// URLs that are fetched ahead of the one whose turn it is.
const AHEAD: usize = 32;

/// Who sorts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// All threads of the pool.
    All,
    /// The thread that asks. One that waits for others may be given another task meanwhile, and then
    /// holds the memory of both.
    One,
}

/// URLs that are far away.
pub(crate) trait Urls: Sync {
    /// The URL at a place, a line feed, and whatever comes behind it.
    fn text(&self, place: u64) -> &[u8];
    /// Has it fetched, for a `text` that comes later.
    fn fetch(&self, place: u64);

    /// The URL at a place.
    fn get(&self, place: u64) -> &[u8] {
        let text = self.text(place);
        &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())]
    }
}

/// Shards whose places have the number of the shard in their upper half.
pub(crate) struct Shards<'a>(pub(crate) Vec<&'a Shard>);

impl Shards<'_> {
    /// How often the URL there was added.
    pub(crate) fn count(&self, place: u64) -> u64 {
        self.0[(place >> 32) as usize].count(place as u32)
    }
}

impl Urls for Shards<'_> {
    #[inline]
    fn text(&self, place: u64) -> &[u8] {
        self.0[(place >> 32) as usize].text(place as u32)
    }

    fn fetch(&self, place: u64) {
        self.0[(place >> 32) as usize].fetch(place as u32);
    }
}

/// Each place in its turn, while the URLs of those behind it are fetched.
pub(crate) fn in_turn<'p>(
    places: &'p [u64],
    urls: &'p impl Urls,
) -> impl Iterator<Item = u64> + 'p {
    places.iter().enumerate().map(move |(n, place)| {
        if let Some(ahead) = places.get(n + AHEAD) {
            urls.fetch(*ahead);
        }
        *place
    })
}

/// Memory that sorting so many places takes: for each its bucket, and a second place, by bucket; for
/// those of one bucket a digit and a place again.
pub(crate) fn sort_memory(places: usize) -> usize {
    places * (size_of::<u32>() + size_of::<u64>()) + places.min(MANY) * size_of::<(u128, u64)>()
}

/// Places beside digits.
type Keyed = [(u128, u64)];

/// Sorts places by the bytes there, which are all different. Fails where there is no memory for it.
pub(crate) fn sort(places: &mut [u64], urls: &impl Urls, threads: Threads) -> Result<(), SetFull> {
    let mut unsorted = vec![(0, places)];
    while let Some((depth, places)) = unsorted.pop() {
        match places.len() < MANY {
            true => sort_bucket(depth, places, urls, &mut Vec::new())?,
            false => unsorted.extend(sort_many(depth, places, urls, threads)?),
        }
    }
    Ok(())
}

/// Sorts URLs that are equal up to `depth`, but for buckets that have many still: the sample said
/// little of those, or they are equal for long. They come back, each with its depth.
fn sort_many<'p>(
    depth: usize,
    places: &'p mut [u64],
    urls: &impl Urls,
    threads: Threads,
) -> Result<Vec<(usize, &'p mut [u64])>, SetFull> {
    let bounds = sample(depth, places, urls, threads)?;
    let deal = |part: &[u64]| Dealt::new(part, &bounds, urls);
    let parts: Vec<Dealt> = match threads {
        Threads::All => {
            let share = places.len().div_ceil(4 * rayon::current_num_threads());
            places.par_chunks(share).map(deal).collect::<Result<_, _>>()?
        }
        Threads::One => vec![deal(places)?],
    };
    let mut rest = places;
    let mut buckets: Vec<(usize, &mut [u64])> = Vec::new();
    room::reserve_exact(&mut buckets, bounds.len())?;
    for bucket in 0..bounds.len() {
        let size = parts.iter().map(|part| part.bucket(bucket).len()).sum();
        buckets.push((bucket, rest.split_off_mut(..size).unwrap_or_default()));
    }
    let sort_one = |keyed: &mut Vec<_>, (bucket, places): &mut (usize, &mut [u64])| {
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
        Threads::All => buckets.par_iter_mut().try_for_each_init(Vec::new, sort_one)?,
        Threads::One => {
            let mut keyed = Vec::new();
            buckets.iter_mut().try_for_each(|bucket| sort_one(&mut keyed, bucket))?;
        }
    }
    let large = buckets.into_iter().filter(|(_, places)| places.len() >= MANY);
    Ok(large.map(|(bucket, places)| (bounds.depth(bucket), places)).collect())
}

/// Bounds of buckets for URLs that are equal up to `depth`. Nobody who writes an input can know which
/// are taken.
fn sample(
    depth: usize,
    places: &[u64],
    urls: &impl Urls,
    threads: Threads,
) -> Result<Bounds, SetFull> {
    let random = RandomState::new();
    let mut sample = Vec::new();
    room::reserve_exact(&mut sample, places.len().div_ceil(SAMPLED))?;
    for (n, some) in places.chunks(SAMPLED).enumerate() {
        sample.push(some[random.hash_one(n) as usize % some.len()]);
    }
    sort(&mut sample, urls, threads)?;
    let mut texts: Vec<&[u8]> = Vec::new();
    room::reserve_exact(&mut texts, sample.len())?;
    texts.extend(sample.iter().map(|place| urls.text(*place)));
    Ok(Bounds::new(&texts, depth))
}

/// A part of the places, by bucket.
struct Dealt {
    places: Vec<u64>,
    /// Where each bucket ends.
    ends: Vec<usize>,
}

impl Dealt {
    fn new(part: &[u64], bounds: &Bounds, urls: &impl Urls) -> Result<Self, NoRoom> {
        let mut ends = vec![0; bounds.len()];
        let mut buckets: Vec<u32> = Vec::new();
        room::reserve_exact(&mut buckets, part.len())?;
        for place in in_turn(part, urls) {
            let bucket = bounds.bucket(urls.text(place));
            ends[bucket as usize] += 1;
            buckets.push(bucket);
        }
        // Where each starts first.
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut places = Vec::new();
        room::reserve_exact(&mut places, part.len())?;
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

/// Sorts a few places, whose URLs are equal up to `depth`, beside digits in `keyed`.
fn sort_bucket(
    depth: usize,
    places: &mut [u64],
    urls: &impl Urls,
    keyed: &mut Vec<(u128, u64)>,
) -> Result<(), NoRoom> {
    places.iter().for_each(|place| urls.fetch(*place));
    keyed.clear();
    room::reserve_exact(keyed, places.len())?;
    keyed.extend(places.iter().map(|place| (0, *place)));
    sort_digits(depth, keyed, urls);
    for (place, (_, sorted)) in places.iter_mut().zip(keyed) {
        *place = *sorted;
    }
    Ok(())
}

/// Sorts URLs that are equal up to `depth`.
fn sort_digits(mut depth: usize, mut keyed: &mut Keyed, urls: &impl Urls) {
    while !keyed.is_empty() {
        for (key, place) in keyed.iter_mut() {
            *key = digit(urls.text(*place), depth);
        }
        keyed.sort_unstable_by_key(|(digit, _)| *digit);
        depth += DIGIT;
        // The largest group goes on here. The others are no more than half of all, so that the stack holds
        // few of them, however far long URLs are equal.
        let mut largest = &mut [][..];
        for group in still_equal(keyed) {
            let smaller = match group.len() > largest.len() {
                true => std::mem::replace(&mut largest, group),
                false => group,
            };
            sort_digits(depth, smaller, urls);
        }
        keyed = largest;
    }
}

/// The groups that their digit does not tell apart. One that is not full is the end of its URL, and no other
/// URL is equal to it.
fn still_equal(keyed: &mut Keyed) -> impl Iterator<Item = &mut Keyed> {
    let goes_on = |group: &&mut Keyed| group.len() > 1 && group[0].0 as u8 as usize == DIGIT;
    keyed.chunk_by_mut(|a, b| a.0 == b.0).filter(goes_on)
}

/// The bytes from `depth` on of a URL that a line feed ends, so that digits compare as the bytes do: a
/// shorter one first. The end is looked for in these bytes alone.
#[inline]
fn digit(text: &[u8], depth: usize) -> u128 {
    const FIRST_BITS: u128 = u128::MAX / 0xFF;
    let rest = text.get(depth..).unwrap_or_default();
    let mut short = [b'\n'; 16];
    let bytes = rest.first_chunk().unwrap_or_else(|| {
        short[..rest.len()].copy_from_slice(rest);
        &short
    });
    // The first byte that is zero here has its top bit set, and none before it has.
    let feeds = u128::from_le_bytes(*bytes) ^ (FIRST_BITS * u128::from(b'\n'));
    let zeros = feeds.wrapping_sub(FIRST_BITS) & !feeds & (FIRST_BITS << 7);
    let length = DIGIT.min(zeros.trailing_zeros() as usize / 8);
    u128::from_be_bytes(*bytes) & !(u128::MAX >> (8 * length)) | length as u128
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::cases;

    impl Urls for Vec<Vec<u8>> {
        fn text(&self, place: u64) -> &[u8] {
            &self[place as usize]
        }

        fn fetch(&self, _: u64) {}
    }

    fn assert_sorts(urls: &Vec<Vec<u8>>) {
        for threads in [Threads::All, Threads::One] {
            let mut places: Vec<u64> = (0..urls.len() as u64).collect();
            sort(&mut places, urls, threads).unwrap();
            let sorted: Vec<_> = places.iter().map(|place| &urls[*place as usize]).collect();
            assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]), "{threads:?}");
        }
    }

    #[test]
    fn places_come_out_in_the_order_of_their_bytes() {
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
    fn many_urls_that_are_equal_for_long_are_dealt_again() {
        let start = "a".repeat(1_000);
        let many = if cfg!(miri) { 100 } else { MANY + MANY / 8 };
        let mut urls: Vec<Vec<u8>> = (0..many)
            .map(|n| format!("{start}{}", (n as u32).wrapping_mul(2_654_435_761)).into_bytes())
            .collect();
        urls.extend([start.into_bytes(), b"a".to_vec(), b"b".to_vec()]);
        assert_sorts(&urls);
    }

    #[test]
    fn urls_that_are_equal_for_long_take_no_more_stack() {
        let start = "a".repeat(1 << 20);
        let pair = ["b", "a"].map(|end| format!("{start}{end}").into_bytes());
        // One goes its own way at each digit.
        let stairs = (0..2_000).map(|n| format!("{}b", &start[..n * DIGIT]).into_bytes());
        assert_sorts(&pair.into_iter().chain(stairs).collect());
    }
}
