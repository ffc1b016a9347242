//! Scatters the URLs of a large set to buckets instead of inserting them.
//!
//! A table tells at once whether a URL is new, and each look-up costs two cache misses. If only the sorted
//! URLs are wanted, nobody asks before the end. So once the set holds a sample, and most URLs were new, the
//! URLs of the set and all later ones are appended to buckets that follow each other in order, as often
//! as they come. At the end each bucket is sorted and deduplicated while it is in the cache.
//!
//! If the URLs turn out to repeat, or would outgrow the memory budget, they are gathered into the set
//! again. The counts of unique URLs and duplicates are known only after writing or gathering.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering as Atomic};

use rayon::prelude::*;

use super::report::RunError;
use super::sheet::Sheet;
use super::split::{self, Split};
use crate::output::{FileStats, Tally, vectored};
use uniqurl::bytes::alloc;
use uniqurl::set::{Hash, HashKey, SetFull, Shard};
use uniqurl_store::buckets::{Bucket, BucketUrls, Buckets, sample_of};
use uniqurl_store::sort::{Measured, ShardUrls, Threads};

/// URLs that the set holds before the run decides. They are the sample. Small in unit tests.
const SAMPLE_FROM: usize = if cfg!(test) { 256 } else { 1 << 18 };

/// Expected URLs below which partly filled pieces cost more memory than scattering saves time.
const WORTH_WHILE: u64 = if cfg!(test) { 256 } else { 1 << 21 };

/// A stream of unknown length is taken to be this many times as long as what was read of it: for the decision,
/// and for the size of the sample, where a guess that is too high costs nothing.
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

/// Where the URLs of a run go.
#[derive(Default)]
pub(super) enum Scatter {
    /// Into the set, to the end of the run.
    #[default]
    Never,
    /// Into the set, until it is large enough to decide.
    Possible,
    /// To buckets.
    Active(Scattering),
}

/// A change of the set that has to wait until no batch is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SetChange {
    /// Move the set to the temporary file.
    MoveOut,
    /// Scatter the URLs of the set, and all later ones.
    Scatter,
    /// Gather the scattered URLs into the set.
    Gather,
}

/// How far a run has come.
pub(super) struct Progress<'r> {
    pub(super) shards: &'r [Shard],
    /// URLs in the set.
    pub(super) distinct: usize,
    pub(super) files: &'r [FileStats],
    /// Bytes read so far.
    pub(super) read: u64,
    /// Bytes of all inputs, if none is a stream.
    pub(super) size: Option<u64>,
}

impl Progress<'_> {
    /// About how many URLs the set will hold if the rest of the inputs is like what was read. A stream is
    /// taken to be `factor` times as long as it is so far.
    fn expected(&self, factor: u64) -> u64 {
        let read = self.read.max(1);
        let all = self.size.unwrap_or(factor.saturating_mul(read)).max(read);
        let urls = u128::from(all) * self.distinct as u128 / u128::from(read);
        u64::try_from(urls).unwrap_or(u64::MAX)
    }

    /// True if most URLs were new so far and their buckets will fit into `free` bytes.
    fn is_worth_scattering(&self, free: u64) -> bool {
        let Tally { unique, canonical, .. } = total(self.files);
        let set: usize = self.shards.iter().map(|shard| shard.memory(0)).sum();
        let held = u128::from(self.expected(LIKELY)) * set as u128 / self.distinct as u128;
        let held = held * u128::from(canonical) / u128::from(unique);
        2 * unique >= canonical && fits(u64::try_from(held).unwrap_or(u64::MAX), free)
    }
}

/// Whether so many bytes of buckets fit, and beside them, for a while, the set that they are gathered into.
fn fits(held: u64, free: u64) -> bool {
    held.saturating_mul(2) <= free
}

/// The counts of all files.
pub(super) fn total(files: &[FileStats]) -> Tally {
    let mut total = Tally::default();
    files.iter().for_each(|file| total.merge(&file.tally));
    total
}

impl Scatter {
    /// The change to make next. Buckets and set may take `free` bytes.
    pub(super) fn next_change(
        &mut self,
        progress: &Progress<'_>,
        free: u64,
    ) -> Result<Option<SetChange>, RunError> {
        match self {
            Scatter::Never => Ok(None),
            Scatter::Possible => {
                if progress.distinct < SAMPLE_FROM || progress.expected(LIKELY) < WORTH_WHILE {
                    return Ok(None);
                }
                *self = Scatter::Never;
                Ok(progress.is_worth_scattering(free).then_some(SetChange::Scatter))
            }
            Scatter::Active(scattering) => {
                Ok((!scattering.goes_on(free)?).then_some(SetChange::Gather))
            }
        }
    }

    pub(super) fn active(&self) -> Option<&Scattering> {
        match self {
            Scatter::Active(scattering) => Some(scattering),
            Scatter::Never | Scatter::Possible => None,
        }
    }

    /// Ends scattering.
    pub(super) fn take_active(&mut self) -> Option<Scattering> {
        match std::mem::take(self) {
            Scatter::Active(scattering) => Some(scattering),
            Scatter::Never | Scatter::Possible => None,
        }
    }
}

/// The scattered URLs.
pub(super) struct Scattering {
    buckets: Buckets,
    /// Bytes of buckets from which on the next check is due.
    check_from: usize,
    firsts: Firsts,
}

impl Scattering {
    /// Scatters the URLs of the set.
    pub(super) fn begin(progress: &Progress<'_>, threads: usize) -> Result<Self, RunError> {
        let size = usize::try_from(progress.expected(AT_MOST) / SAMPLED).unwrap_or(usize::MAX);
        let mut sample = sample_of(progress.shards, size)?;
        let shards = ShardUrls(progress.shards.iter().collect());
        let mut buckets = Buckets::new(&shards, &mut sample, threads)?;
        progress.shards.par_iter().try_for_each(|shard| {
            let urls = shard.places().map(|place| Measured::whole(shard.get(place)));
            buckets.scatter(this_thread(), COUNTED, urls)
        })?;
        let check_from = 2 * buckets.memory();
        Ok(Self { buckets, check_from, firsts: Firsts::new(progress.files.len()) })
    }

    /// Stage *insert*: a task for each sheet.
    pub(super) fn insert<'s>(
        &'s self,
        scope: &rayon::Scope<'s>,
        sheets: &'s [Sheet],
        no_room: &'s AtomicBool,
    ) {
        for sheet in sheets {
            scope.spawn(move |_| {
                let input = sheet.input as u32 + 1;
                if self.buckets.scatter(this_thread(), input, sheet.canonical_urls()).is_err() {
                    no_room.store(true, Atomic::Relaxed);
                }
            });
        }
    }

    /// Checks that the buckets fit and, each time they have doubled, that most URLs are still different.
    fn goes_on(&mut self, free: u64) -> Result<bool, SetFull> {
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
    pub(super) fn gather(
        self,
        key: &HashKey,
        shards: &mut [Shard],
        places: &mut Vec<u64>,
    ) -> Result<Firsts, RunError> {
        let Self { buckets, firsts, .. } = self;
        let count = shards.len();
        for group in groups(buckets.into_buckets()?) {
            let urls = group.par_iter().with_max_len(1).map(|bucket| {
                let mut urls = Vec::new();
                let mut of_bucket = bucket.urls()?;
                alloc::try_reserve_exact(&mut urls, of_bucket.len())?;
                for (line, input) in sorted(bucket, &mut of_bucket)? {
                    let url = &line[..line.len() - 1];
                    let hash = key.hash(url);
                    urls.push((hash.shard(count), hash, url));
                    firsts.count(input, 1);
                }
                urls.sort_unstable_by_key(|(shard, ..)| *shard);
                Ok(urls)
            });
            let urls: Vec<Vec<(usize, Hash, &[u8])>> = urls.collect::<Result<_, RunError>>()?;
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
    pub(super) fn write(
        self,
        split: Option<Split>,
        out: &mut (dyn Write + Send),
    ) -> Result<Firsts, RunError> {
        let Self { buckets, firsts, .. } = self;
        let text = |bucket: Bucket| {
            let mut text = Vec::new();
            let mut urls = bucket.urls()?;
            alloc::try_reserve_exact(&mut text, bucket.bytes())?;
            let (mut last, mut count) = (COUNTED, 0);
            for (line, input) in sorted(&bucket, &mut urls)? {
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
pub(super) struct Firsts(Vec<AtomicU64>);

impl Firsts {
    fn new(inputs: usize) -> Self {
        Self((0..=inputs).map(|_| AtomicU64::new(0)).collect())
    }

    fn count(&self, input: u32, urls: u64) {
        self.0[input as usize].fetch_add(urls, Atomic::Relaxed);
    }

    /// Counts the undecided records of each input as unique or as duplicates.
    pub(super) fn settle(&self, files: &mut [FileStats]) {
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
mod tests {
    use std::path::PathBuf;

    use super::super::job::{Dedup, Job, Order, Setup};
    use super::super::report::Report;
    use super::super::run::{Sinks, run_with};
    use super::super::{CHUNK_SIZE, Memory, SplitBy, Watch};
    use super::*;
    use uniqurl::bytes::alloc::failing::{self, Plan};
    use uniqurl::key::Key as Written;
    use uniqurl::simd::Kernel;
    use uniqurl::{Normalizer, Profile, Redirects};
    use uniqurl_formats::input;

    const SORTED: Dedup = Dedup { order: Order::Sorted, count: false, min_count: 1, limit: None };

    /// Lists of URLs in a directory.
    struct Lists {
        directory: tempfile::TempDir,
        paths: Vec<PathBuf>,
    }

    impl Lists {
        fn of(lists: impl IntoIterator<Item = Vec<u64>>) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let line = |number: u64| match number % 4 {
                0 => format!("HTTP://h{}.example/%7E{number}\n", number % 7),
                1 => format!("http://h{}.example/~{}\n", number % 7, number - 1),
                2 => format!("no url {number}\n"),
                _ => format!("https://www.example.com/a/long/way/to/{number}\n"),
            };
            let paths = lists.into_iter().enumerate().map(|(n, numbers)| {
                let path = directory.path().join(n.to_string());
                std::fs::write(&path, numbers.into_iter().map(line).collect::<String>()).unwrap();
                path
            });
            let paths = paths.collect();
            Self { directory, paths }
        }

        fn run(
            &self,
            dedup: Dedup,
            change: impl FnOnce(&mut Setup<'_>),
        ) -> (Vec<u8>, Report, Result<(), RunError>) {
            let (inputs, errors) = input::check(&self.paths);
            assert!(errors.is_empty());
            let watch = Watch::default();
            let normalizer = Normalizer::new(&Profile::CRAWL);
            let mut setup = Setup {
                threads: 2,
                chunk_size: CHUNK_SIZE / 128,
                ..Setup::new(normalizer, Job::Dedup(dedup), &watch)
            };
            change(&mut setup);
            let mut out = Vec::new();
            let sinks = Sinks { out: &mut out, rejects: None, seen: None };
            let key = HashKey::random(Kernel::best());
            let (report, result) = run_with(&setup, &inputs, sinks, key);
            (out, report, result)
        }

        fn budget(&self, budget: u64) -> Option<Memory> {
            Some(Memory { budget, directory: self.directory.path().to_owned(), tell: |_| {} })
        }

        /// The expected output, made without scattering.
        fn expected(&self) -> (Vec<u8>, Report) {
            let (out, report, result) = self.run(Dedup::default(), |_| {});
            result.unwrap();
            let mut lines: Vec<&[u8]> = out.split_inclusive(|byte| *byte == b'\n').collect();
            lines.sort_unstable();
            (lines.concat(), report)
        }
    }

    fn tallies(report: &Report) -> Vec<Tally> {
        report.files.iter().map(|file| file.tally).collect()
    }

    /// Numbers of which some come again, in the same list and in others.
    fn numbers(from: u64, count: u64) -> Vec<u64> {
        (from..from + count).map(|n| n.wrapping_mul(0x9E37_79B9) % 20_000).collect()
    }

    /// Ends the run early with a damaged file after the lists: scattered URLs are still undecided then.
    fn undecided(lists: &mut Lists, change: impl FnOnce(&mut Setup<'_>)) -> u64 {
        let damaged = lists.directory.path().join("damaged");
        std::fs::write(&damaged, b"\x1F\x8B\x08damaged").unwrap();
        lists.paths.push(damaged);
        let (_, report, result) = lists.run(SORTED, change);
        lists.paths.pop();
        assert!(matches!(result, Err(RunError::Input(_))), "{result:?}");
        report.tally.undecided
    }

    #[test]
    fn scattered_urls_are_deduplicated_and_counted_for_their_first_input() {
        let parts = (0..9).map(|n| numbers(n * 1500, 2000));
        let mut lists = Lists::of(parts.chain([numbers(0, 3)]));
        let (expected, counted) = lists.expected();
        for threads in [1, 2, 5] {
            let (out, report, result) = lists.run(SORTED, |setup| setup.threads = threads);
            result.unwrap();
            assert!(out == expected, "{threads} threads");
            assert_eq!(tallies(&report), tallies(&counted), "{threads} threads");
        }
        assert!(undecided(&mut lists, |_| {}) > 1000);
        // Counts of rules do not wait for the end.
        let (_, counted, result) = lists.run(Dedup::default(), |setup| setup.count_rules = true);
        result.unwrap();
        let (out, report, result) = lists.run(SORTED, |setup| setup.count_rules = true);
        result.unwrap();
        assert!(out == expected && tallies(&report) == tallies(&counted));
        assert!(undecided(&mut lists, |setup| setup.count_rules = true) > 1000);
    }

    #[test]
    fn shards_and_keys_are_written_as_from_a_set() {
        let lists = Lists::of([numbers(0, 5000)]);
        let split = Split { by: SplitBy::Host, shards: 3, key: Written::Surt };
        let change = |setup: &mut Setup<'_>| {
            setup.key = Written::Surt;
            setup.split = Some(split);
        };
        let (out, report, result) = lists.run(SORTED, change);
        result.unwrap();
        let all = Dedup { limit: Some(u64::MAX), ..SORTED };
        let (expected, counted, result) = lists.run(all, change);
        result.unwrap();
        assert!(out == expected && tallies(&report) == tallies(&counted));
        assert!(!out.is_empty());
    }

    #[test]
    fn repeated_urls_and_urls_over_budget_are_gathered_into_a_set() {
        let mut again = Lists::of((0..12).map(|_| numbers(0, 3000)));
        let (expected, counted) = again.expected();
        let (out, report, result) = again.run(SORTED, |_| {});
        result.unwrap();
        assert!(out == expected && tallies(&report) == tallies(&counted));
        assert_eq!(undecided(&mut again, |_| {}), 0);
        let much = Lists::of([numbers(0, 20_000)]);
        let (expected, counted) = much.expected();
        let mut spilled = Vec::new();
        for budget in (10..=26).map(|bits| 1 << bits) {
            let memory = much.budget(budget);
            let (out, report, result) = much.run(SORTED, |setup| setup.memory = memory);
            result.unwrap();
            assert!(out == expected && tallies(&report) == tallies(&counted), "{budget} bytes");
            spilled.push(report.spilled > 0);
        }
        assert!(spilled[0] && !spilled[spilled.len() - 1], "{spilled:?}");
    }

    #[test]
    fn more_urls_than_expected_are_gathered_into_a_set() {
        // At first most records are rejected, and in `others` all that come then, of about as many bytes.
        let rejected: Vec<u64> =
            (0..40_000).map(|n| if n % 128 > 0 { 4 * n + 2 } else { n }).collect();
        let lists = Lists::of([rejected.clone(), (0..20_000).map(|n| 4 * n + 3).collect()]);
        let mut others = Lists::of([rejected, (0..63_000).map(|n| 4 * n + 2).collect()]);
        let (expected, counted) = lists.expected();
        // With one thread the same buffers are filled in the same order each time.
        let within =
            |memory| move |setup: &mut Setup<'_>| (setup.threads, setup.memory) = (1, memory);
        let mut gathered = 0;
        for budget in (20..34).step_by(2).map(|n| n << 17) {
            let [memory, same, again] = std::array::from_fn(|_| lists.budget(budget));
            let (out, report, result) = lists.run(SORTED, within(memory));
            result.unwrap();
            assert!(out == expected && tallies(&report) == tallies(&counted), "{budget} bytes");
            // Nothing is spilled while URLs are scattered, and those of `others` are to the end.
            let (_, other, result) = others.run(SORTED, within(same));
            result.unwrap();
            let are_scattered = undecided(&mut others, within(again)) > 0;
            gathered += usize::from(report.spilled > 0 && other.spilled == 0 && are_scattered);
        }
        assert!(gathered > 0);
    }

    #[test]
    fn batches_waiting_after_a_long_chunk_are_gathered_too() {
        let mut lists = Lists::of((0..600).map(|n| numbers(n * 10, 10)));
        // The few URLs of one list are long, so that it takes many rounds, and come again and again.
        let long = |n| format!("http://r/{n}\thttp://long/{n}/{}\n", "x".repeat(50_000));
        let redirects = Redirects::parse((0..40).map(long).collect::<String>().as_bytes()).unwrap();
        let short = (0..1000).map(|n| format!("http://r/{}\n", n % 40)).collect::<String>();
        std::fs::write(&lists.paths[550], short).unwrap();
        let redirected = |setup: &mut Setup<'_>| {
            setup.chunk_size = CHUNK_SIZE;
            setup.normalizer = Normalizer::new(&Profile::CRAWL).with_redirects(&redirects).unwrap();
        };
        let (out, report, result) = lists.run(SORTED, redirected);
        result.unwrap();
        let all = Dedup { limit: Some(u64::MAX), ..SORTED };
        let (expected, counted, result) = lists.run(all, redirected);
        result.unwrap();
        assert!(out == expected && tallies(&report) == tallies(&counted));
        assert_eq!(undecided(&mut lists, redirected), 0);
    }

    #[test]
    fn failed_allocations_while_scattering_end_the_run_or_change_nothing() {
        let lists = Lists::of([numbers(0, 900), numbers(400, 900)]);
        let (expected, counted) = lists.expected();
        let (mut survived, mut refused) = (0, 0);
        for k in 0.. {
            let plan = Plan::at(k, false);
            failing::follow(Some(std::sync::Arc::clone(&plan)));
            let (out, report, result) = lists.run(SORTED, |_| {});
            failing::follow(None);
            if !plan.has_failed() {
                break;
            }
            match result {
                Ok(()) => {
                    assert!(out == expected && tallies(&report) == tallies(&counted), "{k}");
                    survived += 1;
                }
                Err(RunError::Set(_) | RunError::Memory) => refused += 1,
                Err(error) => panic!("{k}: {error}"),
            }
        }
        assert!(refused > 50, "{survived} survived, {refused} refused");
    }
}
