//! Ordered buckets for URLs that are sorted and deduplicated at the end.
//!
//! A hash table costs two cache misses per URL, and sorting its URLs costs two more. Here each URL is
//! appended to its bucket, repetitions included. At the end each bucket is sorted while it is in the
//! cache, which brings equal URLs together.
//!
//! A URL is stored as its length in four bytes, its bytes, and a line feed. If it comes from another
//! input than the preceding URL, `INPUT` in place of a length and the number of the input come first.

use std::fmt;
use std::sync::Mutex;

use uniqurl::SetFull;
use uniqurl::internal::Shard;

use rayon::prelude::*;

use super::sort::{
    BATCH, Bounds, Measured, ShardUrls, Threads, Urls, bounds_of, sort_few, sort_from,
};
use uniqurl::internal::{AllocError, alloc, prefetch};

/// Sizes of the first and of the largest pieces of a bucket. Pieces start small, so that many buckets
/// with few URLs do not waste memory, and grow, so that the allocator has fewer to free.
const SMALLEST: usize = 512;
const LARGEST: usize = 16 << 10;

/// Bytes of a length, or of a number.
const HEAD: usize = size_of::<u32>();

/// Marks, in place of a length, that an input number follows.
const INPUT: u32 = u32::MAX;

const CACHE_LINE: usize = 64;

/// URLs whose write positions are prefetched together.
const FETCHED: usize = 64;

/// Number of buckets sorted to estimate the share of distinct URLs; and the size up to which a bucket
/// never counts as too large, whatever its share of all bytes.
const PROBED: usize = 16;
const LARGE: usize = if cfg!(miri) { 1 << 8 } else { 1 << 20 };

/// URLs in buckets, in the order of arrival within each thread.
pub struct Buckets {
    bounds: Bounds,
    /// One entry per thread.
    local: Vec<Mutex<LocalBuckets>>,
}

/// The buckets of one thread.
struct LocalBuckets {
    /// The last piece of each bucket, which is written to.
    open: Vec<OpenPiece>,
    /// The full pieces of each bucket.
    full: Vec<Vec<Vec<u8>>>,
    /// Bytes of all pieces.
    held: usize,
}

#[derive(Clone)]
struct OpenPiece {
    bytes: Vec<u8>,
    /// The input of the last URL.
    input: u32,
}

/// One bucket of all threads.
#[derive(Debug)]
pub struct Bucket {
    depth: usize,
    pieces: Vec<Vec<u8>>,
}

impl fmt::Debug for Buckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buckets").field("buckets", &self.bounds.len()).finish_non_exhaustive()
    }
}

impl Buckets {
    /// Creates empty buckets whose bounds come from a sample. Fails if memory runs out.
    pub fn new(
        shards: &ShardUrls<'_>,
        sample: &mut [u64],
        threads: usize,
    ) -> Result<Self, SetFull> {
        let bounds = bounds_of(0, sample, shards, Threads::All)?;
        let mut local = Vec::new();
        for _ in 0..threads {
            let (mut open, mut full) = (Vec::new(), Vec::new());
            alloc::try_reserve_exact(&mut open, bounds.len())?;
            open.resize(bounds.len(), OpenPiece { bytes: Vec::new(), input: INPUT });
            alloc::try_reserve_exact(&mut full, bounds.len())?;
            full.resize(bounds.len(), Vec::new());
            local.push(Mutex::new(LocalBuckets { open, full, held: 0 }));
        }
        Ok(Self { bounds, local })
    }

    /// Appends the URLs of an input to their buckets. Threads with different numbers do not wait for
    /// each other.
    pub fn scatter<'t>(
        &self,
        thread: usize,
        input: u32,
        mut urls: impl Iterator<Item = Measured<'t>>,
    ) -> Result<(), AllocError> {
        let local = &self.local[thread % self.local.len()];
        let mut local = local.lock().unwrap_or_else(|e| e.into_inner());
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
                local.prefetch(buckets);
                for (url, bucket) in urls.iter().zip(buckets) {
                    local.push(*bucket as usize, input, url.url())?;
                }
            }
        }
    }

    /// Memory in use, in bytes.
    pub fn memory(&mut self) -> usize {
        let of_buckets =
            self.local.len() * self.bounds.len() * size_of::<(OpenPiece, Vec<Vec<u8>>)>();
        let local =
            self.local.iter_mut().map(|local| local.get_mut().unwrap_or_else(|e| e.into_inner()));
        local.map(|local| local.held).sum::<usize>() + of_buckets
    }

    /// Estimates from some buckets whether at least half of the URLs are distinct. Also returns false
    /// if one bucket holds a large share, as the last one does if the input is sorted.
    pub fn most_are_different(&mut self) -> Result<bool, SetFull> {
        let Self { bounds, local } = self;
        let local: Vec<&LocalBuckets> = local
            .iter_mut()
            .map(|local| &*local.get_mut().unwrap_or_else(|e| e.into_inner()))
            .collect();
        let pieces = |bucket| local.iter().flat_map(move |local| local.pieces(bucket));
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
        // Choose buckets at even distances in bytes, because repeated URLs make a few buckets large.
        let at = (0..PROBED).map(|n| (2 * n + 1) * (all / (2 * PROBED)));
        let probed: Vec<usize> = at.map(|at| ends.partition_point(|end| *end <= at)).collect();
        let different = probed.par_chunk_by(|one, other| one == other).map(|same| {
            let mut urls = BucketUrls::of(pieces(same[0]))?;
            let all = urls.len();
            let different = urls.sort(bounds.depth(same[0]), Threads::One)?.count();
            Ok((same.len() * different) as f64 / all as f64)
        });
        let different: Vec<f64> = different.collect::<Result<_, SetFull>>()?;
        Ok(2.0 * different.iter().sum::<f64>() >= PROBED as f64)
    }

    /// Returns the buckets in ascending order.
    pub fn into_buckets(self) -> Result<Vec<Bucket>, AllocError> {
        let mut buckets = Vec::new();
        alloc::try_reserve_exact(&mut buckets, self.bounds.len())?;
        buckets.extend(
            (0..self.bounds.len())
                .map(|bucket| Bucket { depth: self.bounds.depth(bucket), pieces: Vec::new() }),
        );
        for local in self.local {
            let LocalBuckets { open, full, .. } =
                local.into_inner().unwrap_or_else(|e| e.into_inner());
            for ((bucket, open), mut full) in buckets.iter_mut().zip(open).zip(full) {
                alloc::try_reserve(&mut bucket.pieces, full.len() + 1)?;
                bucket.pieces.append(&mut full);
                if !open.bytes.is_empty() {
                    bucket.pieces.push(open.bytes);
                }
            }
        }
        Ok(buckets)
    }
}

impl LocalBuckets {
    fn pieces(&self, bucket: usize) -> impl Iterator<Item = &[u8]> + Clone {
        self.full[bucket].iter().chain([&self.open[bucket].bytes]).map(Vec::as_slice)
    }

    /// Prefetches the write positions of buckets.
    fn prefetch(&mut self, buckets: &[u32]) {
        buckets.iter().for_each(|bucket| prefetch(&self.open, *bucket as usize));
        for bucket in buckets {
            let room = self.open[*bucket as usize].bytes.spare_capacity_mut();
            prefetch(room, 0);
            prefetch(room, CACHE_LINE);
        }
    }

    #[inline]
    fn push(&mut self, bucket: usize, input: u32, url: &[u8]) -> Result<(), AllocError> {
        let need = HEAD + url.len() + 1;
        let OpenPiece { bytes: piece, input: last } = &self.open[bucket];
        if *last != input || piece.capacity() - piece.len() < need {
            self.make_room(bucket, input, need)?;
        }
        let piece = &mut self.open[bucket].bytes;
        piece.extend_from_slice(&(url.len() as u32).to_le_bytes());
        piece.extend_from_slice(url);
        piece.push(b'\n');
        Ok(())
    }

    /// Makes room for `need` bytes of a URL of `input`.
    #[cold]
    fn make_room(&mut self, bucket: usize, input: u32, need: usize) -> Result<(), AllocError> {
        let OpenPiece { bytes: piece, input: last } = &mut self.open[bucket];
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
    /// Bytes of its URLs, lengths and input numbers.
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(Vec::len).sum()
    }

    /// Its URLs, ready to be sorted.
    pub fn urls(&self) -> Result<BucketUrls<'_>, AllocError> {
        BucketUrls::of(self.pieces.iter().map(Vec::as_slice))
    }

    /// A length up to which all its URLs are equal.
    pub fn depth(&self) -> usize {
        self.depth
    }
}

/// The URLs of a bucket, each placed by its index.
#[derive(Debug, Default)]
pub struct BucketUrls<'b> {
    urls: Vec<Measured<'b>>,
    /// The index of the first URL of an input, and the number of the input.
    inputs: Vec<(usize, u32)>,
    places: Vec<u64>,
}

impl Urls for BucketUrls<'_> {
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

impl<'b> BucketUrls<'b> {
    fn of(pieces: impl Iterator<Item = &'b [u8]> + Clone) -> Result<Self, AllocError> {
        for piece in pieces.clone() {
            for line in (0..piece.len()).step_by(CACHE_LINE) {
                prefetch(piece, line);
            }
        }
        let mut found = Self::default();
        for mut rest in pieces {
            while let Some((head, after)) = rest.split_first_chunk() {
                let length = u32::from_le_bytes(*head);
                if length == INPUT {
                    let Some((number, after)) = after.split_first_chunk() else { break };
                    alloc::try_reserve(&mut found.inputs, 1)?;
                    found.inputs.push((found.urls.len(), u32::from_le_bytes(*number)));
                    rest = after;
                    continue;
                }
                let len = length as usize;
                alloc::try_reserve(&mut found.urls, 1)?;
                found.urls.push(Measured { bytes: after, len });
                rest = after.get(len + 1..).unwrap_or_default();
            }
        }
        Ok(found)
    }

    /// True if it has no URLs.
    pub fn is_empty(&self) -> bool {
        self.urls.is_empty()
    }

    /// Number of its URLs.
    pub fn len(&self) -> usize {
        self.urls.len()
    }

    /// Sorts the URLs. Yields each distinct one with its line feed, and the lowest number of its
    /// inputs. Fails if memory runs out.
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
            let (first, after) = rest.split_first()?;
            let Measured { bytes, len } = urls[*first as usize];
            let mut input = input_of(*first);
            rest = after;
            while let Some((next, after)) = rest.split_first()
                && urls[*next as usize].url() == &bytes[..len]
            {
                input = input.min(input_of(*next));
                rest = after;
            }
            Some((&bytes[..=len], input))
        }))
    }
}

/// Samples the places of about `size` URLs of the shards, at even distances.
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
    use uniqurl::internal::{Counting, HashKey, Kernel};

    /// URLs with many repetitions, some of them longer than a piece.
    fn url(n: u64) -> Vec<u8> {
        let number = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let long = if number.is_multiple_of(97) { 2 * LARGEST } else { number as usize % 60 };
        format!("http://h{}/{}{}", number % 5, "a".repeat(long), number % 4096).into_bytes()
    }

    fn buckets_for(urls: &[Vec<u8>], threads: usize) -> Buckets {
        let key = HashKey::random(Kernel::best());
        let mut shard = Shard::new(Counting::Off);
        for url in urls {
            shard.add(key.hash(url), url).unwrap();
        }
        let shards = [shard];
        let mut sample = sample_of(&shards, 1000).unwrap();
        Buckets::new(&ShardUrls(shards.iter().collect()), &mut sample, threads).unwrap()
    }

    #[test]
    fn each_url_is_returned_once_in_order_with_its_first_input() {
        let urls: Vec<Vec<u8>> = (0..cases(20_000) as u64).map(url).collect();
        for threads in [1, 3] {
            let mut buckets = buckets_for(&urls[..urls.len() / 8], threads);
            let mut expected: BTreeMap<&[u8], u32> = BTreeMap::new();
            for (n, urls) in urls.chunks(501).enumerate() {
                // The threads take the inputs in any order.
                let input = (n as u32).wrapping_mul(7) % 5;
                buckets.scatter(n, input, urls.iter().map(|url| Measured::whole(url))).unwrap();
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
                let mut urls = bucket.urls().unwrap();
                for (line, input) in urls.sort(bucket.depth(), Threads::One).unwrap() {
                    let (feed, url) = line.split_last().unwrap();
                    assert_eq!(*feed, b'\n');
                    found.push((url, input));
                }
            }
            assert!(found == expected.into_iter().collect::<Vec<_>>(), "{threads} threads");
        }
    }

    #[test]
    fn repeated_urls_and_uneven_buckets_are_detected() {
        let urls: Vec<Vec<u8>> = (0..cases(20_000) as u64).map(|n| n.to_string().into()).collect();
        let scatter = |urls: &mut dyn Iterator<Item = &Vec<u8>>, buckets: &mut Buckets| {
            buckets.scatter(0, 0, urls.map(|url| Measured::whole(url))).unwrap();
            buckets.most_are_different().unwrap()
        };
        let mut buckets = buckets_for(&urls, 1);
        assert!(scatter(&mut urls.iter(), &mut buckets));
        assert!(scatter(&mut urls.iter().step_by(2), &mut buckets));
        assert!(!scatter(&mut urls.iter().chain(&urls), &mut buckets));
        // One URL makes one bucket large, and no other.
        let mut buckets = buckets_for(&urls, 1);
        let mut numbers = vec![0; urls.len()];
        buckets.bounds.find(urls.iter().map(|url| Measured::whole(url)), &mut numbers);
        let one = numbers.iter().position(|number| *number == 1).unwrap();
        let again = std::iter::repeat_n(&urls[one], 3 * urls.len());
        assert!(!scatter(&mut urls.iter().chain(again), &mut buckets));
        // All URLs outside the sample come after the last bound.
        let after: Vec<Vec<u8>> = (0..LARGE / 16).map(|n| format!("z{n:015}").into()).collect();
        let mut buckets = buckets_for(&urls, 1);
        assert!(!scatter(&mut after.iter(), &mut buckets));
    }
}
