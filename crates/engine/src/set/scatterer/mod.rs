//! Scatters the URLs of a large set to buckets instead of inserting them.
//!
//! A table shows at once whether a URL is new, and each look-up costs two cache misses. If only the sorted
//! URLs are wanted, this shows early enough at the end. So once the set holds a sample, and most URLs were
//! new, the URLs of the set and all later ones are appended to buckets that follow each other in order,
//! duplicates included. At the end each bucket is sorted and deduplicated while it is in the cache.
//!
//! If the URLs turn out to repeat, or would outgrow the memory budget, they are gathered into the set
//! again. The counts of unique URLs and duplicates are known only after writing or gathering.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering as Atomic};

use rayon::prelude::*;

use crate::batch::WorkBatch;
use crate::output::{FileStats, Tally, vectored};
use crate::error::RunError;
use crate::split::{self, Split};
use crate::trace::{Trace, TraceStage};
use uniqurl::SetFull;
use uniqurl::internal::{Hash, HashKey, Shard, alloc};
use uniqurl_store::buckets::{Bucket, BucketUrls, Buckets, sample_of};
use uniqurl_store::sort::{Measured, ShardUrls, Threads};

/// URLs that the set holds before the run decides. They are the sample. Small in unit tests.
const SAMPLE_FROM: usize = if cfg!(test) { 256 } else { 1 << 18 };

/// Expected URLs below which partly filled pieces cost more memory than scattering saves time.
const WORTH_WHILE: u64 = if cfg!(test) { 256 } else { 1 << 21 };

/// A stream of unknown length is assumed to be this many times as long as the part already read: `LIKELY`
/// for the decision, and `AT_MOST` for the size of the sample, where too high a guess costs nothing.
const LIKELY: u64 = 4;
const AT_MOST: u64 = 32;

/// One of this many expected URLs is in the sample, if the set holds enough.
const SAMPLED: u64 = if cfg!(test) { 2 } else { 256 };

/// The input number of URLs from the set, which are counted already. Inputs are numbered from 1.
const COUNTED: u32 = 0;

/// Bytes of the buckets that are sorted while the ones before them are written.
const AT_ONCE: usize = 8 << 20;

/// Buckets of more bytes are sorted by all threads together.
const LARGE: usize = 8 << 20;

/// How far a run has come.
pub(crate) struct Progress {
    /// URLs in the set, and its bytes of memory.
    pub(crate) distinct: usize,
    pub(crate) memory: usize,
    /// Bytes read so far.
    pub(crate) read: u64,
    /// Bytes of all inputs, if none is a stream.
    pub(crate) size: Option<u64>,
}

impl Progress {
    /// The estimated number of URLs in the set if the rest of the inputs is like the part already read. A
    /// stream is assumed to be `factor` times as long as that part.
    fn expected(&self, factor: u64) -> u64 {
        let read = self.read.max(1);
        let all = self.size.unwrap_or(factor.saturating_mul(read)).max(read);
        let urls = u128::from(all) * self.distinct as u128 / u128::from(read);
        u64::try_from(urls).unwrap_or(u64::MAX)
    }

    /// True if there are enough URLs for a sample, and enough more are expected that it is time to decide.
    pub(crate) fn decides(&self) -> bool {
        self.distinct >= SAMPLE_FROM && self.expected(LIKELY) >= WORTH_WHILE
    }

    /// True if most URLs were new so far, by the counts of all inputs, and their buckets will fit into
    /// `free` bytes.
    pub(crate) fn is_worth_scattering(&self, tally: &Tally, free: u64) -> bool {
        let Tally { unique, canonical, .. } = *tally;
        let expected = u128::from(self.expected(LIKELY));
        let held = expected * self.memory as u128 / self.distinct as u128;
        // Buckets hold duplicates too, unlike the set.
        let held = held * u128::from(canonical) / u128::from(unique);
        2 * unique >= canonical && fits(u64::try_from(held).unwrap_or(u64::MAX), free)
    }
}

/// Whether `held` bytes of buckets fit, together with the set that they may be gathered into.
fn fits(held: u64, free: u64) -> bool {
    held.saturating_mul(2) <= free
}

/// The scattered URLs.
pub(crate) struct Scatterer {
    buckets: Buckets,
    /// Bytes of buckets from which the next check is due.
    check_from: usize,
    firsts: FirstCounts,
}

impl Scatterer {
    /// Scatters the URLs of a set, for a run over `inputs` inputs.
    pub(crate) fn begin(
        set: &[Shard],
        progress: &Progress,
        threads: usize,
        inputs: usize,
    ) -> Result<Self, RunError> {
        let size = usize::try_from(progress.expected(AT_MOST) / SAMPLED).unwrap_or(usize::MAX);
        let mut sample = sample_of(set, size)?;
        let shards = ShardUrls(set.iter().collect());
        let mut buckets = Buckets::new(&shards, &mut sample, threads)?;
        set.par_iter().try_for_each(|shard| {
            let urls = shard.places().map(|place| Measured::whole(shard.get(place)));
            buckets.scatter(this_thread(), COUNTED, urls)
        })?;
        let check_from = 2 * buckets.memory();
        Ok(Self { buckets, check_from, firsts: FirstCounts::new(inputs) })
    }

    /// Stage *insert*: a task for each batch.
    pub(crate) fn spawn_inserts<'s>(
        &'s self,
        scope: &rayon::Scope<'s>,
        batches: &'s [WorkBatch],
        out_of_memory: &'s AtomicBool,
        trace: Option<&'s Trace>,
    ) {
        for (number, batch) in batches.iter().enumerate() {
            scope.spawn(move |_| {
                let timer = Trace::begin(trace);
                // Number 0 is `COUNTED`. `RunSet::new` makes sure that the others fit.
                let input = batch.input as u32 + 1;
                if self.buckets.scatter(this_thread(), input, batch.key_bytes()).is_err() {
                    out_of_memory.store(true, Atomic::Relaxed);
                }
                timer.end(TraceStage::Insert, number, || batch.text.canonical_bytes());
            });
        }
    }

    /// Checks that the buckets fit and, each time they have doubled, that most URLs are still different.
    pub(crate) fn goes_on(&mut self, free: u64) -> Result<bool, SetFull> {
        let held = self.buckets.memory();
        if !fits(held as u64, free) {
            return Ok(false);
        }
        if held <= self.check_from {
            return Ok(true);
        }
        self.check_from = 2 * held;
        self.buckets.most_are_different()
    }

    /// Adds the URLs to the empty shards of a set, and where each is to `places`.
    pub(crate) fn gather(
        self,
        hasher: &HashKey,
        shards: &mut [Shard],
        places: &mut Vec<u64>,
    ) -> Result<FirstCounts, RunError> {
        let Self { buckets, firsts, .. } = self;
        let count = shards.len();
        for group in groups(buckets.into_buckets()?) {
            let urls = group.par_iter().with_max_len(1).map(|bucket| {
                let mut urls = Vec::new();
                let mut of_bucket = bucket.urls()?;
                alloc::try_reserve_exact(&mut urls, of_bucket.len())?;
                for (line, input) in sorted(bucket, &mut of_bucket)? {
                    let url = &line[..line.len() - 1];
                    let hash = hasher.hash(url);
                    urls.push((hash.shard(count), hash, url));
                    firsts.count(input, 1);
                }
                // By shard, so that the task of each shard finds its part by binary search.
                urls.sort_unstable_by_key(|(shard, ..)| *shard);
                Ok(urls)
            });
            let urls: Vec<Vec<(usize, Hash, &[u8])>> = urls.collect::<Result<_, RunError>>()?;
            // One task for each shard, so that shards need no lock.
            let added = shards.par_iter_mut().enumerate().map(|(number, shard)| {
                let mut added = Vec::new();
                for urls in &urls {
                    let start = urls.partition_point(|(shard, ..)| *shard < number);
                    let of_shard = urls[start..].iter().take_while(|(shard, ..)| *shard == number);
                    for (_, hash, url) in of_shard {
                        alloc::try_reserve(&mut added, 1)?;
                        let place = shard.add(*hash, url)?;
                        added.extend(place.map(|at| (number as u64) << 32 | u64::from(at)));
                    }
                }
                Ok(added)
            });
            for added in added.collect::<Result<Vec<Vec<u64>>, SetFull>>()? {
                alloc::try_reserve(places, added.len())?;
                places.extend(added);
            }
        }
        Ok(firsts)
    }

    /// Writes each URL once, in ascending order. All threads sort the next buckets while one writes.
    pub(crate) fn write(
        self,
        split: Option<Split>,
        out: &mut (dyn Write + Send),
    ) -> Result<FirstCounts, RunError> {
        let Self { buckets, firsts, .. } = self;
        let text = |bucket: Bucket| {
            let mut text = Vec::new();
            let mut urls = bucket.urls()?;
            alloc::try_reserve_exact(&mut text, bucket.bytes())?;
            let (mut last, mut count) = (COUNTED, 0);
            for (line, input) in sorted(&bucket, &mut urls)? {
                // Neighbours from the same input are added up first, to touch the shared counter less
                // often.
                if input != last {
                    firsts.count(last, count);
                    (last, count) = (input, 0);
                }
                count += 1;
                alloc::try_reserve(&mut text, split::MARK + line.len())?;
                split::mark(split, &line[..line.len() - 1], &mut text);
                text.extend_from_slice(line);
            }
            firsts.count(last, count);
            Ok(text)
        };
        let mut put = |texts: &[Vec<u8>]| {
            vectored::write_all(texts.iter().map(Vec::as_slice), |parts| out.write_vectored(parts))
        };
        let mut texts: Vec<Vec<u8>> = Vec::new();
        for group in groups(buckets.into_buckets()?) {
            let (written, next) = rayon::join(
                || put(&texts),
                || group.into_par_iter().with_max_len(1).map(text).collect::<Result<_, RunError>>(),
            );
            written.map_err(RunError::Output)?;
            texts = next?;
        }
        put(&texts).map_err(RunError::Output)?;
        Ok(firsts)
    }
}

fn this_thread() -> usize {
    rayon::current_thread_index().unwrap_or_default()
}

/// How many URLs came first in each input, except those that were counted before scattering.
pub(crate) struct FirstCounts(Vec<AtomicU64>);

impl FirstCounts {
    fn new(inputs: usize) -> Self {
        Self((0..=inputs).map(|_| AtomicU64::new(0)).collect())
    }

    fn count(&self, input: u32, urls: u64) {
        self.0[input as usize].fetch_add(urls, Atomic::Relaxed);
    }

    /// Counts the undecided records of each input as unique or as duplicates.
    pub(crate) fn settle(&self, files: &mut [FileStats]) {
        for (file, unique) in files.iter_mut().zip(&self.0[COUNTED as usize + 1..]) {
            let unique = unique.load(Atomic::Relaxed);
            file.tally.unique += unique;
            file.tally.duplicates += file.tally.undecided - unique;
            file.tally.undecided = 0;
        }
    }
}

/// Groups neighbouring buckets: at least one, and at most [`AT_ONCE`] bytes if more.
fn groups(buckets: Vec<Bucket>) -> impl Iterator<Item = Vec<Bucket>> {
    let mut buckets = buckets.into_iter().peekable();
    std::iter::from_fn(move || {
        let mut group = vec![buckets.next()?];
        let mut bytes = group[0].bytes();
        while let Some(next) = buckets.next_if(|next| bytes + next.bytes() <= AT_ONCE) {
            bytes += next.bytes();
            group.push(next);
        }
        Some(group)
    })
}

/// The different URLs of a bucket, as [`BucketUrls::sort`] returns them.
fn sorted<'b>(
    bucket: &'b Bucket,
    urls: &mut BucketUrls<'b>,
) -> Result<impl Iterator<Item = (&'b [u8], u32)>, SetFull> {
    let threads = if bucket.bytes() > LARGE { Threads::All } else { Threads::One };
    urls.sort(bucket.depth(), threads)
}

#[cfg(test)]
mod tests;
