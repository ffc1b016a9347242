//! Batches that wait until their keys are looked up in stores from before the run.
//!
//! A store is asked for many keys at a time and in order: each of its blocks is then read once, however many of
//! the keys are near it. So parsed batches are gathered until they and their look-up take a share of the
//! memory, or until there is nothing more to read. Then their distinct keys are copied to shards of their
//! own, sorted and looked up, and the entries of the keys that a store holds are marked as seen, as those of a
//! list are. After that the batches go on, and nothing of the look-up is kept.

use std::collections::VecDeque;
use std::mem::take;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::batch::{TextBuffers, WorkBatch};
use crate::error::RunError;
use crate::plan::{JobPlan, SeenBefore};
use crate::reader::{CHUNKS, batch_share};
use crate::set::RunSet;
use crate::stages::insert::parts_of;
use uniqurl::SetFull;
use uniqurl::internal::{AllocError, Bytes as _, Counting, Outcome, Part, Shard, alloc};
use uniqurl_store::seen::SortedKeys;
use uniqurl_store::sort::{ShardUrls, Threads, Urls as _, in_turn, sort};

/// Eighths of the memory that a window with its look-up may take in any case, and together with the set of the
/// run. The rest is for buffers.
const LEAST_EIGHTHS: usize = 2;
const MOST_EIGHTHS: usize = 6;

/// The same if the memory is not limited, and at most in any case. Small in unit tests.
const LARGEST: usize = if cfg!(test) { 8 << 10 } else { 512 << 20 };

/// Bytes that a look-up takes for each key, besides its own: a count, a line feed and slots in a shard; its place,
/// twice once it is found; the end of its copy; and 13 in `SeenStore::look_up`. Sorting takes fewer than those, and before them.
const AROUND_KEY: usize = 9 + 3 * size_of::<u64>() + 3 * size_of::<u64>() + 13;

/// Longest time that records of a pipe wait for others, so that more of them are looked up together.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Batches on their way from *read* to *insert*.
pub(crate) struct Window {
    stores: Vec<SeenBefore>,
    budget: usize,
    /// Bytes of chunks, and of memory, that go on together.
    room: (usize, usize),
    /// Batches whose keys are not looked up yet.
    waiting: Vec<WorkBatch>,
    /// Batches whose keys are looked up.
    ready: VecDeque<WorkBatch>,
    /// Bytes of memory of both, and of the look-up of the former.
    memory: usize,
    /// When the next look-up of a window that is not full is due.
    due: Option<Instant>,
}

impl Window {
    /// A window for the stores of the plan and for one more. None if there are no stores to look into.
    pub(crate) fn new(plan: &JobPlan, one: Option<SeenBefore>) -> Option<Self> {
        let stores: Vec<_> = plan.input.stores.iter().cloned().chain(one).collect();
        if stores.is_empty() || plan.dedup().is_none() {
            return None;
        }
        let limits = &plan.limits;
        Some(Self {
            stores,
            budget: plan.budget(),
            room: (limits.workers() * CHUNKS * limits.chunk_size, batch_share(plan) / 4),
            waiting: Vec::new(),
            ready: VecDeque::new(),
            memory: 0,
            due: None,
        })
    }

    /// Whether batches wait to be looked up.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Adds a parsed batch.
    pub(crate) fn add(&mut self, batch: WorkBatch) {
        let keys = batch.entries.all.len();
        // Keys are copied twice: into shards of the look-up, and from there in order (`SortedCopies`).
        self.memory += batch.memory() + 2 * batch.text.canonical_bytes() + keys * AROUND_KEY;
        self.waiting.push(batch);
    }

    /// Bytes of memory that it may take beside this set.
    pub(crate) fn most_beside(&self, set: &RunSet<'_>) -> usize {
        let eighth = self.budget / 8;
        let beside_set = (MOST_EIGHTHS * eighth).saturating_sub(set.memory(&[]));
        beside_set.max(LEAST_EIGHTHS * eighth).min(LARGEST)
    }

    /// Whether it is looked up though it is not full. A few keys touch nearly as many blocks as many keys do, so
    /// a look-up is due after as much time as the last one took: then a fast pipe fills most of the window
    /// meanwhile, and records of a slow one hardly wait.
    pub(crate) fn is_due(&self) -> bool {
        self.due.is_none_or(|due| Instant::now() >= due)
    }

    /// Bytes of memory of the batches, and of their look-up.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// The batches that go on next.
    pub(crate) fn take_ready(&mut self) -> Vec<WorkBatch> {
        let mut batches = Vec::new();
        let (mut chunks, mut memory) = self.room;
        // The first batch goes however large it is, or none would ever go.
        while chunks > 0
            && memory > 0
            && let Some(batch) = self.ready.pop_front()
        {
            chunks = chunks.saturating_sub(batch.text.chunk().len());
            memory = memory.saturating_sub(batch.memory());
            self.memory = self.memory.saturating_sub(batch.memory());
            batches.push(batch);
        }
        batches
    }

    /// Looks up the keys of the waiting batches, and marks those that a store holds. The keys that the set
    /// holds are known to be in none.
    pub(crate) fn look_up(&mut self, set: &RunSet<'_>) -> Result<(), RunError> {
        let start = Instant::now();
        // Shards differ in size, so each is a task.
        let shards = (0..set.shards()).into_par_iter().with_max_len(1);
        let waiting: Vec<&WorkBatch> = self.waiting.iter().collect();
        let parts = |number| parts_of(&waiting, number);
        let keys = shards.clone().map(|number| distinct_keys(&parts(number), set, number));
        let mut keys = keys.collect::<Result<Vec<Shard>, SetFull>>()?;
        let found = find(&keys, &self.stores)?;
        for place in found {
            keys[(place >> 32) as usize].set_count(place as u32, FOUND);
        }
        shards.for_each(|number| mark(&parts(number), &keys[number]));
        self.ready.extend(take(&mut self.waiting));
        // Nothing of the look-up is kept.
        self.memory = self.ready.iter().map(WorkBatch::memory).sum();
        let now = Instant::now();
        self.due = Some(now + (now - start).min(LONGEST_WAIT));
        Ok(())
    }
}

/// The count of a key that a store holds. No key is counted so often.
const FOUND: u64 = u64::MAX;

/// The distinct keys of a shard that the set of the run does not hold. Each entry gets the place of its key.
fn distinct_keys(
    parts: &[Part<'_, TextBuffers<'_>>],
    set: &RunSet<'_>,
    number: usize,
) -> Result<Shard, SetFull> {
    let mut keys = Shard::new(Counting::On);
    for part in parts {
        for entry in part.entries {
            let key = part.bytes.of(entry);
            if !set.holds(number, entry.hash, key) {
                keys.add(entry.hash, key)?;
                let place = keys.place_of(entry.hash, key);
                // Until `mark`, the outcome holds the place of the key in the shard of the look-up.
                entry.settle(place.map_or(Outcome::Known, Outcome::New));
            }
        }
    }
    Ok(keys)
}

/// Shard and place of each key that a store holds.
fn find(keys: &[Shard], stores: &[SeenBefore]) -> Result<Vec<u64>, RunError> {
    let mut places = Vec::new();
    alloc::try_reserve_exact(&mut places, keys.iter().map(Shard::len).sum())?;
    for (number, shard) in (0u64..).zip(keys) {
        places.extend(shard.places().map(|place| number << 32 | u64::from(place)));
    }
    // One order for the keys of all shards: a store then reads each of its blocks once.
    let urls = ShardUrls(keys.iter().collect());
    sort(&mut places, &urls, Threads::All)?;
    let mut found = Vec::new();
    alloc::try_reserve_exact(&mut found, places.len())?;
    for SeenBefore { store, since } in stores.iter().rev() {
        if places.is_empty() {
            break;
        }
        let are_found = store.look_up(&SortedCopies::of(&places, &urls)?, *since)?;
        let mut are_found = are_found.into_iter();
        // The next store is only asked for the others.
        places.retain(|place| {
            let is_found = are_found.next().unwrap_or_default();
            if is_found {
                found.push(*place);
            }
            !is_found
        });
    }
    Ok(found)
}

/// Copies of the keys at sorted places. A look-up reads each key several times, and its first copy is far away
/// from those before and after it: with copies in order, look-ups took 0.8 of the CPU time.
struct SortedCopies(Vec<KeyCopies>);

/// Copies of [`COPIED`] keys: the bytes, and where each ends.
#[derive(Default)]
struct KeyCopies {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Keys that a task copies.
const COPIED: usize = 1 << 12;

impl SortedCopies {
    fn of(places: &[u64], urls: &ShardUrls<'_>) -> Result<Self, AllocError> {
        let copy = |places: &[u64]| {
            let mut copies = KeyCopies::default();
            alloc::try_reserve_exact(&mut copies.ends, places.len())?;
            for place in in_turn(places, urls) {
                let key = urls.get(place);
                alloc::try_reserve(&mut copies.bytes, key.len())?;
                copies.bytes.extend_from_slice(key);
                copies.ends.push(copies.bytes.len());
            }
            Ok(copies)
        };
        Ok(Self(places.par_chunks(COPIED).map(copy).collect::<Result<_, AllocError>>()?))
    }
}

impl SortedKeys for SortedCopies {
    fn len(&self) -> usize {
        self.0.iter().map(|copies| copies.ends.len()).sum()
    }

    fn get(&self, index: usize) -> &[u8] {
        let KeyCopies { bytes, ends } = &self.0[index / COPIED];
        let at = index % COPIED;
        let start = at.checked_sub(1).map_or(0, |before| ends[before]);
        &bytes[start..ends[at]]
    }
}

/// Marks the entries whose keys were found.
fn mark(parts: &[Part<'_, TextBuffers<'_>>], keys: &Shard) {
    for entry in parts.iter().flat_map(|part| part.entries) {
        if let Outcome::New(place) = entry.outcome() {
            let is_found = keys.count(place.get()) == FOUND;
            entry.settle(if is_found { Outcome::Seen } else { Outcome::Known });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::job::{Dedup, SetOrder};
    use crate::{Job, Report, RunError, Sinks, Watch, run};
    use uniqurl::internal::alloc::failing::{self, Plan};
    use uniqurl::key::Key;
    use uniqurl::{Normalizer, Profile};
    use uniqurl_formats::input::{self, Input};
    use uniqurl_store::seen::{
        KeySink as _, Novelty, SeenStore, SeenWriter, StoreRules, UnixTime, WhenBusy,
    };

    const LINES: u64 = 6_000;

    /// A directory with a list of URLs, a store and a list that hold half of them.
    struct Place {
        directory: tempfile::TempDir,
        inputs: Vec<Input>,
    }

    impl Place {
        fn new(lines: u64) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let url = |n: u64| format!("http://h{}.example/{n}", n % 7);
            let number = |n: u64| n * 7 % (lines / 2);
            let list: String = (0..lines).map(|n| url(number(n)) + "\n").collect();
            std::fs::write(directory.path().join("list"), list).unwrap();
            let mut keys: Vec<_> = (0..lines / 2).step_by(2).map(url).collect();
            std::fs::write(directory.path().join("seen"), keys.join("\n")).unwrap();
            keys.sort();
            let rules = StoreRules::of(&Normalizer::new(Profile::Crawl), Key::Url, None);
            let store = directory.path().join("store");
            let mut writer = SeenWriter::create_or_open(&store, &rules, WhenBusy::Fail).unwrap();
            let mut run = writer.begin_add(UnixTime(1), Novelty::AllNew).unwrap();
            keys.iter().for_each(|key| run.push(key.as_bytes()).unwrap());
            let run = run.finish().unwrap();
            assert_eq!(writer.commit(run, 1 << 20).unwrap().warning, None);
            let inputs = input::check(&[directory.path().join("list")]).0;
            Self { directory, inputs }
        }

        fn plan(&self, order: SetOrder) -> JobPlan {
            let dedup = Dedup { order, count: true, ..Dedup::default() };
            let mut plan = JobPlan::new(Normalizer::new(Profile::Crawl), Job::Dedup(dedup));
            plan.limits.chunk_size = 700;
            plan
        }

        fn store(&self) -> SeenBefore {
            let store = Arc::new(SeenStore::open(&self.directory.path().join("store")).unwrap());
            SeenBefore { store, since: None }
        }

        fn ran(&self, plan: &JobPlan) -> (Vec<u8>, Report, Result<(), RunError>) {
            let mut out = Vec::new();
            let (report, result) = run(plan, &self.inputs, Sinks::to(&mut out), &Watch::default());
            (out, report, result)
        }
    }

    #[test]
    fn results_do_not_depend_on_the_size_of_windows() {
        let place = Place::new(LINES);
        // A fraction of the list.
        assert!(LARGEST < std::fs::metadata(&place.inputs[0].path).unwrap().len() as usize / 8);
        for order in [SetOrder::First, SetOrder::Sorted, SetOrder::Count] {
            let mut plan = place.plan(order);
            plan.input.seen = input::check(&[place.directory.path().join("seen")]).0;
            let (expected, of_list, result) = place.ran(&plan);
            result.unwrap();
            assert!(of_list.tally.seen > LINES / 3 && of_list.tally.unique > LINES / 5);
            plan.input.seen.clear();
            plan.input.stores = vec![place.store()];
            for threads in [1, 2, 5] {
                plan.limits.threads = threads;
                let (out, report, result) = place.ran(&plan);
                result.unwrap();
                assert!(out == expected, "{order:?} {threads}");
                assert_eq!((&report.tally, &report.files), (&of_list.tally, &of_list.files));
            }
        }
    }

    #[test]
    fn failed_allocation_during_a_look_up_ends_the_run_or_changes_nothing() {
        let place = Place::new(200);
        let mut plan = place.plan(SetOrder::First);
        plan.input.stores = vec![place.store()];
        let (expected, ..) = place.ran(&plan);
        let mut refused = 0;
        for k in 0.. {
            let failing_plan = Plan::at(k, false);
            failing::follow(Some(Arc::clone(&failing_plan)));
            let (out, _, result) = place.ran(&plan);
            failing::follow(None);
            if !failing_plan.has_failed() {
                break;
            }
            match result {
                Ok(()) => assert!(out == expected, "{k}"),
                Err(RunError::Set(_) | RunError::Memory | RunError::Store(_)) => refused += 1,
                Err(RunError::Output(error)) => {
                    assert_eq!(error.kind(), std::io::ErrorKind::OutOfMemory, "{k}");
                }
                Err(error) => panic!("{k}: {error}"),
            }
        }
        assert!(refused > 20, "{refused}");
    }
}
