//! A set that is only wanted sorted, and in which most URLs are new: they are dealt to buckets as they
//! come, in place of a table, and sorted and told apart at the end.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering as Atomic};

use rayon::prelude::*;

use super::batches::Reading;
use super::job::{Dedup, Job, Order};
use super::report::RunError;
use super::run::{Run, Turn};
use super::sheet::Sheet;
use super::split::{self, Split};
use crate::output::{Tally, vectored};
use uniqurl::bytes::alloc;
use uniqurl::set::{Hash, SetFull, Shard};
use uniqurl_store::buckets::{Bucket, Buckets, Records, sample_of};
use uniqurl_store::sort::{Measured, Shards, Threads};

/// URLs of a set before it is dealt: they are the sample, and tell whether most are new. A unit test has few.
const MANY: usize = if cfg!(test) { 256 } else { 1 << 18 };

/// Where fewer are expected, pieces that are not full cost more memory than the rest saves time.
const WORTH_WHILE: u64 = if cfg!(test) { 256 } else { 1 << 21 };

/// How many times as long as it is so far a stream is taken to be, and how long where that costs nothing.
const LIKELY: u64 = 4;
const AT_MOST: u64 = 32;

/// Of so many URLs one is in the sample, as far as the set has so many.
const SAMPLED: u64 = if cfg!(test) { 2 } else { 256 };

/// The number of an input for what the set held before, which is counted already.
const COUNTED: u32 = 0;

/// Bytes of the buckets that are sorted while those before them are written.
const AT_ONCE: usize = 8 << 20;

/// Bytes of a bucket that all threads sort together.
const LARGE: usize = 8 << 20;

/// What was dealt so far.
pub(super) struct Dealing {
    buckets: Buckets,
    /// From so many bytes on it is to be looked whether to go on.
    look_at: usize,
}

impl Dealing {
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
                if self.buckets.deal(this_thread(), input, sheet.canonical_urls()).is_err() {
                    no_room.store(true, Atomic::Relaxed);
                }
            });
        }
    }
}

fn this_thread() -> usize {
    rayon::current_thread_index().unwrap_or_default()
}

impl Run<'_> {
    /// Whether nothing is asked of the set but its URLs in ascending order, and how many they are.
    pub(super) fn only_sorts(&self) -> bool {
        let Job::Dedup(dedup) = self.setup.job else { return false };
        matches!(dedup, Dedup { order: Order::Sorted, count: false, min_count: ..=1, limit: None })
            && self.takes_first_records()
            && self.header.is_none()
            && u32::try_from(self.inputs.len()).is_ok_and(|inputs| inputs < u32::MAX - 1)
    }

    /// What is to become of the set before more is read.
    pub(super) fn due(&mut self, batches: [&[Sheet]; 3]) -> Result<Option<Turn>, RunError> {
        match self.turn {
            Some(Turn::Insert) => return Ok(self.turn),
            Some(Turn::Deal) if self.overflow.is_none() => return Ok(self.turn),
            Some(Turn::Deal | Turn::MoveOut) | None => {}
        }
        if self.has_outgrown(batches) {
            return Ok(Some(Turn::MoveOut));
        }
        if self.dealing.is_none() && (!self.may_deal || self.overflow.is_some()) {
            return Ok(None);
        }
        let buffers = batches.into_iter().flatten().map(Sheet::memory).sum::<usize>() as u64;
        let budget = self.setup.memory.as_ref().map_or(u64::MAX, |memory| memory.budget);
        // Where they become a set again, that is there beside them for a while.
        let is_too_much = |held: u64| held.saturating_mul(2).saturating_add(buffers) > budget;
        if let Some(Dealing { buckets, look_at }) = &mut self.dealing {
            let held = buckets.memory();
            let mut goes_on = !is_too_much(held as u64);
            if goes_on && held > *look_at {
                *look_at = 2 * held;
                goes_on = buckets.most_are_different()?;
            }
            return Ok((!goes_on).then_some(Turn::Insert));
        }
        if self.places.len() < MANY || self.expected(LIKELY) < WORTH_WHILE {
            return Ok(None);
        }
        self.may_deal = false;
        let Tally { unique, canonical, .. } = self.counted_so_far();
        let set: usize = self.shards.iter().map(|shard| shard.memory(0)).sum();
        let held = u128::from(self.expected(LIKELY)) * set as u128 / self.places.len() as u128;
        let held = held * u128::from(canonical) / u128::from(unique);
        let deals =
            2 * unique >= canonical && !is_too_much(u64::try_from(held).unwrap_or(u64::MAX));
        Ok(deals.then_some(Turn::Deal))
    }

    /// About how many URLs the set will hold if the rest of the inputs is like what was read. A stream is taken
    /// to be `factor` times as long as it is so far.
    fn expected(&self, factor: u64) -> u64 {
        let read = self.setup.watch.bytes.load(Atomic::Relaxed).max(1);
        let all = self.size_of_inputs.unwrap_or(factor.saturating_mul(read)).max(read);
        let urls = u128::from(all) * self.places.len() as u128 / u128::from(read);
        u64::try_from(urls).unwrap_or(u64::MAX)
    }

    /// From now on URLs are dealt to buckets, and those of the set before them. Nothing may be on its way.
    pub(super) fn begin_to_deal(&mut self) -> Result<(), RunError> {
        let size = usize::try_from(self.expected(AT_MOST) / SAMPLED).unwrap_or(usize::MAX);
        let mut sample = sample_of(&self.shards, size)?;
        let shards = Shards(self.shards.iter().collect());
        let mut buckets = Buckets::new(&shards, &mut sample, self.setup.threads)?;
        self.shards.par_iter().try_for_each(|shard| {
            let urls = shard.places().map(|place| Measured::whole(shard.get(place)));
            buckets.deal(this_thread(), COUNTED, urls)
        })?;
        self.shards.iter_mut().for_each(|shard| *shard = Shard::new(self.counting));
        self.places = Vec::new();
        let look_at = 2 * buckets.memory();
        self.dealing = Some(Dealing { buckets, look_at });
        self.rules.deals = true;
        Ok(())
    }

    /// Puts what was dealt into the set, which takes what comes from now on. Nothing may be on its way.
    pub(super) fn insert_dealt(&mut self) -> Result<(), RunError> {
        let Some(Dealing { buckets, .. }) = self.dealing.take() else { return Ok(()) };
        self.rules.deals = false;
        let first = Firsts::new(self.inputs.len());
        for group in groups(buckets.into_buckets()?) {
            let urls = group.par_iter().with_max_len(1).map(|bucket| {
                let mut urls = Vec::new();
                let mut records = bucket.records()?;
                alloc::try_reserve_exact(&mut urls, records.len())?;
                for (line, input) in sorted(bucket, &mut records)? {
                    let url = &line[..line.len() - 1];
                    let hash = self.rules.key.hash(url);
                    urls.push((hash.shard(self.shards.len()), hash, url));
                    first.count(input, 1);
                }
                urls.sort_unstable_by_key(|(shard, ..)| *shard);
                Ok(urls)
            });
            let urls: Vec<Vec<(usize, Hash, &[u8])>> = urls.collect::<Result<_, RunError>>()?;
            let places = self.shards.par_iter_mut().enumerate().map(|(number, shard)| {
                let mut places = Vec::new();
                for urls in &urls {
                    let start = urls.partition_point(|(shard, ..)| *shard < number);
                    let of_shard = urls[start..].iter().take_while(|(shard, ..)| *shard == number);
                    for (_, hash, url) in of_shard {
                        alloc::try_reserve(&mut places, 1)?;
                        let place = shard.add(*hash, url)?;
                        places.extend(place.map(|at| (number as u64) << 32 | u64::from(at)));
                    }
                }
                Ok(places)
            });
            for places in places.collect::<Result<Vec<Vec<u64>>, SetFull>>()? {
                alloc::try_reserve(&mut self.places, places.len())?;
                self.places.extend(places);
            }
        }
        // What was read behind a long chunk was to be dealt as well.
        let read = self.waiting.iter_mut().filter(|reading| reading.is_read());
        for Reading { sheet, .. } in read {
            sheet.partition(&self.rules)?;
        }
        self.decide(&first);
        Ok(())
    }

    /// Writes what was dealt, if anything was.
    pub(super) fn write_dealt(&mut self, out: &mut (dyn Write + Send)) -> Result<(), RunError> {
        let Some(Dealing { buckets, .. }) = self.dealing.take() else { return Ok(()) };
        let first = Firsts::new(self.inputs.len());
        write(buckets.into_buckets()?, self.setup.split, &first, out)?;
        self.decide(&first);
        Ok(())
    }

    /// Counts which of the records that were dealt were the first of their URL, and which were not.
    fn decide(&mut self, first: &Firsts) {
        for (file, unique) in self.report.files.iter_mut().zip(first.by_input()) {
            file.tally.unique += unique;
            file.tally.duplicates += file.tally.undecided - unique;
            file.tally.undecided = 0;
        }
        let counted = self.counted_so_far();
        self.setup.watch.count(|tally, _| *tally = counted);
    }

    fn counted_so_far(&self) -> Tally {
        let mut counted = Tally::default();
        self.report.files.iter().for_each(|file| counted.merge(&file.tally));
        counted
    }
}

/// In how many records of each input a URL came first, behind those that were counted before.
struct Firsts(Vec<AtomicU64>);

impl Firsts {
    fn new(inputs: usize) -> Self {
        Self((0..=inputs).map(|_| AtomicU64::new(0)).collect())
    }

    fn count(&self, input: u32, urls: u64) {
        self.0[input as usize].fetch_add(urls, Atomic::Relaxed);
    }

    fn by_input(&self) -> impl Iterator<Item = u64> {
        self.0[COUNTED as usize + 1..].iter().map(|count| count.load(Atomic::Relaxed))
    }
}

/// Buckets next to each other, one at least, and of more [`AT_ONCE`] bytes at most.
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

/// The different URLs of a bucket, as [`Records::sort`] has them.
fn sorted<'b>(
    bucket: &'b Bucket,
    records: &mut Records<'b>,
) -> Result<impl Iterator<Item = (&'b [u8], u32)>, SetFull> {
    let threads = if bucket.bytes() > LARGE { Threads::All } else { Threads::One };
    records.sort(bucket.depth(), threads)
}

/// Writes each URL of the buckets once. All threads sort what comes next while one writes.
fn write(
    buckets: Vec<Bucket>,
    split: Option<Split>,
    first: &Firsts,
    out: &mut (dyn Write + Send),
) -> Result<(), RunError> {
    let text = |bucket: Bucket| {
        let mut text = Vec::new();
        let mut records = bucket.records()?;
        alloc::try_reserve_exact(&mut text, bucket.bytes())?;
        let (mut last, mut count) = (COUNTED, 0);
        for (line, input) in sorted(&bucket, &mut records)? {
            if input != last {
                first.count(last, count);
                (last, count) = (input, 0);
            }
            count += 1;
            alloc::try_reserve(&mut text, split::MARK + line.len())?;
            split::mark(split, &line[..line.len() - 1], &mut text);
            text.extend_from_slice(line);
        }
        first.count(last, count);
        Ok(text)
    };
    let mut put = |texts: &[Vec<u8>]| {
        vectored::write_all(texts.iter().map(Vec::as_slice), |parts| out.write_vectored(parts))
    };
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for group in groups(buckets) {
        let (written, next) = rayon::join(
            || put(&texts),
            || group.into_par_iter().with_max_len(1).map(text).collect::<Result<_, RunError>>(),
        );
        written.map_err(RunError::Output)?;
        texts = next?;
    }
    put(&texts).map_err(RunError::Output)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::job::{Job, Setup};
    use super::super::report::Report;
    use super::super::run::{Sinks, run_with};
    use super::super::{CHUNK_SIZE, Memory, SplitBy, Watch};
    use super::*;
    use uniqurl::bytes::alloc::failing::{self, Plan};
    use uniqurl::key::Key;
    use uniqurl::set::Key as HashKey;
    use uniqurl::simd::Kernel;
    use uniqurl::{Normalizer, Profile, Redirects};
    use uniqurl_formats::input;

    const SORTED: Dedup = Dedup { order: Order::Sorted, count: false, min_count: 1, limit: None };

    /// Lists, and whoever sorts them.
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

        /// What comes out, by a way that deals nothing.
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

    /// The lists, behind which one is damaged: what was dealt is not decided when the run ends there.
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
    fn what_was_dealt_is_told_apart_and_counted_for_the_input_it_came_first_in() {
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
        // The rules that act are counted before.
        let (_, counted, result) = lists.run(Dedup::default(), |setup| setup.count_rules = true);
        result.unwrap();
        let (out, report, result) = lists.run(SORTED, |setup| setup.count_rules = true);
        result.unwrap();
        assert!(out == expected && tallies(&report) == tallies(&counted));
        assert!(undecided(&mut lists, |setup| setup.count_rules = true) > 1000);
    }

    #[test]
    fn shards_and_keys_are_written_as_of_a_set() {
        let lists = Lists::of([numbers(0, 5000)]);
        let split = Split { by: SplitBy::Host, shards: 3, key: Key::Surt };
        let change = |setup: &mut Setup<'_>| {
            setup.key = Key::Surt;
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
    fn what_comes_again_and_again_and_what_is_too_much_becomes_a_set() {
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
    fn more_than_was_expected_becomes_a_set_too() {
        // At first most records are rejected, and in `others` all that come then, of about as many bytes.
        let rejected: Vec<u64> =
            (0..40_000).map(|n| if n % 128 > 0 { 4 * n + 2 } else { n }).collect();
        let lists = Lists::of([rejected.clone(), (0..20_000).map(|n| 4 * n + 3).collect()]);
        let mut others = Lists::of([rejected, (0..63_000).map(|n| 4 * n + 2).collect()]);
        let (expected, counted) = lists.expected();
        // With one thread the same buffers are filled in the same order each time.
        let within =
            |memory| move |setup: &mut Setup<'_>| (setup.threads, setup.memory) = (1, memory);
        let mut became_sets = 0;
        for budget in (20..34).step_by(2).map(|n| n << 17) {
            let [memory, same, again] = std::array::from_fn(|_| lists.budget(budget));
            let (out, report, result) = lists.run(SORTED, within(memory));
            result.unwrap();
            assert!(out == expected && tallies(&report) == tallies(&counted), "{budget} bytes");
            // Nothing is spilled while URLs are dealt, as those of the others are to the end.
            let (_, other, result) = others.run(SORTED, within(same));
            result.unwrap();
            let are_dealt = undecided(&mut others, within(again)) > 0;
            became_sets += usize::from(report.spilled > 0 && other.spilled == 0 && are_dealt);
        }
        assert!(became_sets > 0);
    }

    #[test]
    fn what_waits_behind_a_long_chunk_while_it_becomes_a_set_is_in_it() {
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
    fn memory_that_runs_out_while_urls_are_dealt_ends_the_run_or_changes_nothing() {
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
