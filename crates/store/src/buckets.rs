//! A set that is only wanted sorted, and in which most URLs are new.
//!
//! A table that tells each of them at once whether it is new costs two cache misses a URL, and sorting what
//! the table holds costs two more. Here URLs are dealt as they come, and as often as they come, to
//! buckets that follow each other in order. At the end each bucket is sorted by itself, while it is in
//! the cache, and then equal URLs stand next to each other.
//!
//! In a bucket a URL is its length in four bytes, its bytes, and a line feed. Where the input is another
//! than that of the URL before, [`INPUT`] in place of a length and the input's number come first.

use std::sync::Mutex;

use rayon::prelude::*;

use super::sort::{BATCH, Bounds, Measured, Shards, Threads, Urls, bounds_of, sort_few, sort_from};
use uniqurl::SetFull;
use uniqurl::bytes::AllocError;
use uniqurl::bytes::alloc;
use uniqurl::set::Shard;
use uniqurl::simd::prefetch;

/// Bytes of the first piece of a bucket and of its largest ones, so that neither many buckets with a few
/// URLs nor few with many leave much of them free.
const SMALLEST: usize = 512;
const LARGEST: usize = 16 << 10;

/// Bytes of a length, or of a number.
const HEAD: usize = size_of::<u32>();

/// Stands in place of a length.
const INPUT: u32 = u32::MAX;

const CACHE_LINE: usize = 64;

/// URLs whose places are fetched together.
const FETCHED: usize = 64;

/// Buckets that are looked into for a share of all, and bytes of one that is no matter whatever its share.
const LOOKED_INTO: usize = 16;
const LARGE: usize = if cfg!(miri) { 1 << 8 } else { 1 << 20 };

/// URLs in buckets, as they came.
pub struct Buckets {
    bounds: Bounds,
    /// What each thread dealt.
    hands: Vec<Mutex<Hand>>,
}

/// What one thread dealt.
struct Hand {
    /// By bucket.
    open: Vec<Open>,
    /// The pieces before, which are full.
    full: Vec<Vec<Vec<u8>>>,
    /// Bytes of all pieces.
    held: usize,
}

/// The piece of a bucket that is written to.
#[derive(Clone)]
struct Open {
    piece: Vec<u8>,
    /// The input of the last URL.
    input: u32,
}

/// One bucket, by itself.
pub struct Bucket {
    depth: usize,
    pieces: Vec<Vec<u8>>,
}

impl Buckets {
    /// Empty ones for URLs like those of a sample, dealt by so many threads.
    pub fn new(shards: &Shards<'_>, sample: &mut [u64], threads: usize) -> Result<Self, SetFull> {
        let bounds = bounds_of(0, sample, shards, Threads::All)?;
        let mut hands = Vec::new();
        for _ in 0..threads {
            let (mut open, mut full) = (Vec::new(), Vec::new());
            alloc::try_reserve_exact(&mut open, bounds.len())?;
            open.resize(bounds.len(), Open { piece: Vec::new(), input: INPUT });
            alloc::try_reserve_exact(&mut full, bounds.len())?;
            full.resize(bounds.len(), Vec::new());
            hands.push(Mutex::new(Hand { open, full, held: 0 }));
        }
        Ok(Self { bounds, hands })
    }

    /// Deals URLs of an input. Threads with different numbers do not wait for each other.
    pub fn deal<'t>(
        &self,
        thread: usize,
        input: u32,
        mut urls: impl Iterator<Item = Measured<'t>>,
    ) -> Result<(), AllocError> {
        let hand = &self.hands[thread % self.hands.len()];
        let mut hand = hand.lock().unwrap_or_else(|e| e.into_inner());
        let mut batch = [Measured::default(); BATCH];
        let mut buckets = [0; BATCH];
        loop {
            let mut count = 0;
            for (url, next) in batch.iter_mut().zip(&mut urls) {
                *url = next;
                count += 1;
            }
            if count == 0 {
                return Ok(());
            }
            let (batch, buckets) = (&batch[..count], &mut buckets[..count]);
            self.bounds.find(batch.iter().copied(), buckets);
            for (urls, buckets) in batch.chunks(FETCHED).zip(buckets.chunks(FETCHED)) {
                hand.fetch(buckets);
                for (url, bucket) in urls.iter().zip(buckets) {
                    hand.push(*bucket as usize, input, url.url())?;
                }
            }
        }
    }

    /// Bytes of memory.
    pub fn memory(&mut self) -> usize {
        let of_buckets = self.hands.len() * self.bounds.len() * size_of::<(Open, Vec<Vec<u8>>)>();
        let hands =
            self.hands.iter_mut().map(|hand| hand.get_mut().unwrap_or_else(|e| e.into_inner()));
        hands.map(|hand| hand.held).sum::<usize>() + of_buckets
    }

    /// Whether at least half of the URLs are different, as far as some of the buckets tell, and no bucket has
    /// most of them, as the last one has where the input is sorted.
    pub fn most_are_different(&mut self) -> Result<bool, SetFull> {
        let Self { bounds, hands } = self;
        let hands: Vec<&Hand> = hands
            .iter_mut()
            .map(|hand| &*hand.get_mut().unwrap_or_else(|e| e.into_inner()))
            .collect();
        let pieces = |bucket| hands.iter().flat_map(move |hand| hand.pieces(bucket));
        let mut ends: Vec<usize> = Vec::new();
        alloc::try_reserve_exact(&mut ends, bounds.len())?;
        let mut all = 0;
        for bucket in 0..bounds.len() {
            all += pieces(bucket).map(<[u8]>::len).sum::<usize>();
            ends.push(all);
        }
        let starts = std::iter::once(&0).chain(&ends);
        if ends.iter().zip(starts).any(|(end, start)| end - start > LARGE.max(all / 8)) {
            return Ok(false);
        }
        // At even distances among the bytes: URLs that come again and again make few buckets large.
        let at = (0..LOOKED_INTO).map(|n| (2 * n + 1) * (all / (2 * LOOKED_INTO)));
        let looked_into: Vec<usize> = at.map(|at| ends.partition_point(|end| *end <= at)).collect();
        let different = looked_into.par_chunk_by(|one, other| one == other).map(|same| {
            let mut records = Records::of(pieces(same[0]))?;
            let urls = records.len();
            let different = records.sort(bounds.depth(same[0]), Threads::One)?.count();
            Ok((same.len() * different) as f64 / urls as f64)
        });
        let different: Vec<f64> = different.collect::<Result<_, SetFull>>()?;
        Ok(2.0 * different.iter().sum::<f64>() >= LOOKED_INTO as f64)
    }

    /// The buckets, in ascending order.
    pub fn into_buckets(self) -> Result<Vec<Bucket>, AllocError> {
        let mut buckets = Vec::new();
        alloc::try_reserve_exact(&mut buckets, self.bounds.len())?;
        buckets.extend(
            (0..self.bounds.len())
                .map(|bucket| Bucket { depth: self.bounds.depth(bucket), pieces: Vec::new() }),
        );
        for hand in self.hands {
            let Hand { open, full, .. } = hand.into_inner().unwrap_or_else(|e| e.into_inner());
            for ((bucket, open), mut full) in buckets.iter_mut().zip(open).zip(full) {
                alloc::try_reserve(&mut bucket.pieces, full.len() + 1)?;
                bucket.pieces.append(&mut full);
                if !open.piece.is_empty() {
                    bucket.pieces.push(open.piece);
                }
            }
        }
        Ok(buckets)
    }
}

impl Hand {
    fn pieces(&self, bucket: usize) -> impl Iterator<Item = &[u8]> + Clone {
        self.full[bucket].iter().chain([&self.open[bucket].piece]).map(Vec::as_slice)
    }

    /// Has what is written to fetched.
    fn fetch(&mut self, buckets: &[u32]) {
        buckets.iter().for_each(|bucket| prefetch(&self.open, *bucket as usize));
        for bucket in buckets {
            let room = self.open[*bucket as usize].piece.spare_capacity_mut();
            prefetch(room, 0);
            prefetch(room, CACHE_LINE);
        }
    }

    #[inline]
    fn push(&mut self, bucket: usize, input: u32, url: &[u8]) -> Result<(), AllocError> {
        let need = HEAD + url.len() + 1;
        let Open { piece, input: last } = &self.open[bucket];
        if *last != input || piece.capacity() - piece.len() < need {
            self.make_room(bucket, input, need)?;
        }
        let piece = &mut self.open[bucket].piece;
        piece.extend_from_slice(&(url.len() as u32).to_le_bytes());
        piece.extend_from_slice(url);
        piece.push(b'\n');
        Ok(())
    }

    /// Room for `need` bytes of a URL of `input`.
    #[cold]
    fn make_room(&mut self, bucket: usize, input: u32, need: usize) -> Result<(), AllocError> {
        let Open { piece, input: last } = &mut self.open[bucket];
        let with_input = need + 2 * HEAD;
        if piece.capacity() - piece.len() < with_input {
            let mut next = Vec::new();
            let size = (piece.capacity() + piece.capacity() / 4).clamp(SMALLEST, LARGEST);
            alloc::try_reserve_exact(&mut next, size.max(with_input))?;
            self.held += next.capacity();
            if !piece.is_empty() {
                let full = &mut self.full[bucket];
                alloc::try_reserve(full, 1)?;
                full.push(std::mem::take(piece));
            }
            *piece = next;
        }
        if *last != input {
            piece.extend_from_slice(&INPUT.to_le_bytes());
            piece.extend_from_slice(&input.to_le_bytes());
            *last = input;
        }
        Ok(())
    }
}

impl Bucket {
    /// Bytes of its URLs, and of what is beside them.
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(Vec::len).sum()
    }

    pub fn records(&self) -> Result<Records<'_>, AllocError> {
        Records::of(self.pieces.iter().map(Vec::as_slice))
    }

    pub fn depth(&self) -> usize {
        self.depth
    }
}

/// The URLs of a bucket, by their place among them.
#[derive(Default)]
pub struct Records<'b> {
    urls: Vec<Measured<'b>>,
    /// How many URLs there are before those of an input, and its number.
    inputs: Vec<(usize, u32)>,
    places: Vec<u64>,
}

impl Urls for Records<'_> {
    #[inline]
    fn text(&self, place: u64) -> &[u8] {
        self.urls[place as usize].bytes
    }

    fn fetch(&self, _: u64) {}

    #[inline]
    fn fetch_from(&self, _: u64, _: usize) {}

    fn get(&self, place: u64) -> &[u8] {
        self.urls[place as usize].url()
    }
}

impl<'b> Records<'b> {
    fn of(pieces: impl Iterator<Item = &'b [u8]> + Clone) -> Result<Self, AllocError> {
        for piece in pieces.clone() {
            for line in (0..piece.len()).step_by(CACHE_LINE) {
                prefetch(piece, line);
            }
        }
        let mut records = Self::default();
        for mut rest in pieces {
            while let Some((head, behind)) = rest.split_first_chunk() {
                let length = u32::from_le_bytes(*head);
                if length == INPUT {
                    let Some((number, behind)) = behind.split_first_chunk() else { break };
                    alloc::try_reserve(&mut records.inputs, 1)?;
                    records.inputs.push((records.urls.len(), u32::from_le_bytes(*number)));
                    rest = behind;
                    continue;
                }
                let len = length as usize;
                alloc::try_reserve(&mut records.urls, 1)?;
                records.urls.push(Measured { bytes: behind, len });
                rest = behind.get(len + 1..).unwrap_or_default();
            }
        }
        Ok(records)
    }

    pub fn len(&self) -> usize {
        self.urls.len()
    }

    /// Each different URL with the line feed behind it, in ascending order, and the lowest number of an
    /// input that it is from.
    pub fn sort(
        &mut self,
        depth: usize,
        threads: Threads,
    ) -> Result<impl Iterator<Item = (&'b [u8], u32)>, SetFull> {
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        alloc::try_reserve_exact(&mut places, self.urls.len())?;
        if !sort_few(depth, &self.urls, &mut places)? {
            places.extend(0..self.urls.len() as u64);
            sort_from(depth, &mut places, self, threads)?;
        }
        self.places = places;
        let Self { urls, inputs, places } = &*self;
        let input_of = |place: u64| {
            let after = inputs.partition_point(|(start, _)| *start <= place as usize);
            after.checked_sub(1).map_or(INPUT, |at| inputs[at].1)
        };
        let mut rest = places.as_slice();
        Ok(std::iter::from_fn(move || {
            let (first, behind) = rest.split_first()?;
            let Measured { bytes, len } = urls[*first as usize];
            let mut input = input_of(*first);
            rest = behind;
            while let Some((next, behind)) = rest.split_first()
                && urls[*next as usize].url() == &bytes[..len]
            {
                input = input.min(input_of(*next));
                rest = behind;
            }
            Some((&bytes[..=len], input))
        }))
    }
}

/// A sample of the URLs of shards, about so many.
pub fn sample_of(shards: &[Shard], size: usize) -> Result<Vec<u64>, AllocError> {
    let all: usize = shards.iter().map(Shard::len).sum();
    let mut sample = Vec::new();
    let step = (all / size.max(1)).max(1);
    alloc::try_reserve_exact(&mut sample, all / step + 1)?;
    let places = (0u64..).zip(shards).flat_map(|(number, shard)| {
        shard.places().map(move |place| number << 32 | u64::from(place))
    });
    sample.extend(places.step_by(step));
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::test_util::cases;
    use uniqurl::set::Counting;
    use uniqurl::set::Key;
    use uniqurl::simd::Kernel;

    /// URLs of which many come more than once, some of them longer than a piece.
    fn url(n: u64) -> Vec<u8> {
        let number = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let long = if number.is_multiple_of(97) { 2 * LARGEST } else { number as usize % 60 };
        format!("http://h{}/{}{}", number % 5, "a".repeat(long), number % 4096).into_bytes()
    }

    fn buckets_for(urls: &[Vec<u8>], threads: usize) -> Buckets {
        let key = Key::random(Kernel::best());
        let mut shard = Shard::new(Counting::Off);
        for url in urls {
            shard.add(key.hash(url), url).unwrap();
        }
        let shards = [shard];
        let mut sample = sample_of(&shards, 1000).unwrap();
        Buckets::new(&Shards(shards.iter().collect()), &mut sample, threads).unwrap()
    }

    #[test]
    fn each_url_comes_out_once_in_order_with_its_first_input() {
        let urls: Vec<Vec<u8>> = (0..cases(20_000) as u64).map(url).collect();
        for threads in [1, 3] {
            let mut buckets = buckets_for(&urls[..urls.len() / 8], threads);
            let mut expected: BTreeMap<&[u8], u32> = BTreeMap::new();
            for (n, urls) in urls.chunks(501).enumerate() {
                // The threads come to inputs in any order.
                let input = (n as u32).wrapping_mul(7) % 5;
                buckets.deal(n, input, urls.iter().map(|url| Measured::whole(url))).unwrap();
                for url in urls {
                    let first = expected.entry(url).or_insert(input);
                    *first = input.min(*first);
                }
            }
            assert!(buckets.memory() > urls.iter().map(|url| url.len() + 1).sum());
            let mut found = Vec::new();
            let buckets = buckets.into_buckets().unwrap();
            assert!(cfg!(miri) || buckets.len() > 8);
            for bucket in &buckets {
                let mut records = bucket.records().unwrap();
                for (line, input) in records.sort(bucket.depth(), Threads::One).unwrap() {
                    let (feed, url) = line.split_last().unwrap();
                    assert_eq!(*feed, b'\n');
                    found.push((url, input));
                }
            }
            assert!(found == expected.into_iter().collect::<Vec<_>>(), "{threads} threads");
        }
    }

    #[test]
    fn what_is_dealt_again_and_again_and_what_is_all_alike_is_told() {
        let urls: Vec<Vec<u8>> = (0..cases(20_000) as u64).map(|n| n.to_string().into()).collect();
        let deal = |urls: &mut dyn Iterator<Item = &Vec<u8>>, buckets: &mut Buckets| {
            buckets.deal(0, 0, urls.map(|url| Measured::whole(url))).unwrap();
            buckets.most_are_different().unwrap()
        };
        let mut buckets = buckets_for(&urls, 1);
        assert!(deal(&mut urls.iter(), &mut buckets));
        assert!(deal(&mut urls.iter().step_by(2), &mut buckets));
        assert!(!deal(&mut urls.iter().chain(&urls), &mut buckets));
        // One of them makes one bucket large, and no other.
        let mut buckets = buckets_for(&urls, 1);
        let mut numbers = vec![0; urls.len()];
        buckets.bounds.find(urls.iter().map(|url| Measured::whole(url)), &mut numbers);
        let one = numbers.iter().position(|number| *number == 1).unwrap();
        let again = std::iter::repeat_n(&urls[one], 3 * urls.len());
        assert!(!deal(&mut urls.iter().chain(again), &mut buckets));
        // All but the sample stand behind the last bound.
        let behind: Vec<Vec<u8>> = (0..LARGE / 16).map(|n| format!("z{n:015}").into()).collect();
        let mut buckets = buckets_for(&urls, 1);
        assert!(!deal(&mut behind.iter(), &mut buckets));
    }
}
