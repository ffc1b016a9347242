//! Law 7 over memory: every budget gives the same result to the byte.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use uniqurl::Key;
use uniqurl_engine::output::Field;
use uniqurl_engine::{Dedup, JobPlan, Keep, SetOrder};

use crate::runs::{FIRST, ORDERS, Outcome, Takes, checked, memory, numbers, plan_of, ran, ran_for};

/// Lists that share URLs with the next one, with blank lines and nonsense between them.
fn lists() -> Vec<Vec<u8>> {
    let mut next = numbers(11);
    let list = |_| {
        let mut list = Vec::new();
        for _ in 0..1000 {
            let line = match next(12) {
                0 => " \t".to_owned(),
                1 => format!("no url {}", next(9)),
                2 => format!("HTTP://H{}.Example:80/%7Ea/../{}", next(40), next(90)),
                3 => format!("http://often.example/{}", next(20)),
                4 => format!("http://h/{}/{}", "long/".repeat(next(60) as usize), next(50)),
                _ => format!("http://h{}.example/{}", next(40), next(90)),
            };
            list.extend(line.into_bytes());
            list.push(b'\n');
        }
        list
    };
    (0..3).map(list).collect()
}

/// A directory with the lists, and paths to them.
struct Place {
    directory: tempfile::TempDir,
    paths: Vec<PathBuf>,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("spill")).unwrap();
        let mut paths = Vec::new();
        for (i, list) in lists().into_iter().enumerate() {
            let path = directory.path().join(format!("list {i}"));
            std::fs::write(&path, list).unwrap();
            paths.push(path);
        }
        // A file without a record, and a file given twice.
        let empty = directory.path().join("empty");
        std::fs::write(&empty, "").unwrap();
        paths.splice(1..1, [empty, paths[0].clone()]);
        Self { directory, paths }
    }

    fn spill(&self) -> PathBuf {
        self.directory.path().join("spill")
    }
}

/// The options of a run.
#[derive(Debug, Clone)]
struct Case {
    dedup: Dedup,
    key: Key,
    fields: Vec<Field>,
    threads: usize,
    chunk_size: usize,
}

/// A run with a list of rejected records.
fn ran_case(case: &Case, paths: &[PathBuf], limit: Option<(u64, &Path)>) -> Outcome {
    let mut plan = plan_of("lines", case.dedup);
    plan.policy.key = case.key;
    plan.output.fields = case.fields.clone();
    plan.limits.threads = case.threads;
    plan.limits.chunk_size = case.chunk_size;
    plan.limits.memory = limit.map(|(budget, directory)| memory(budget, directory));
    ran_for(&plan, &checked(paths), Takes::Rejects)
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for order in ORDERS {
        for (count, min_count, limit) in [
            (false, 1, None),
            (true, 1, None),
            (false, 2, None),
            (true, 3, Some(100)),
            (false, 1, Some(700)),
            (false, 1, Some(0)),
        ] {
            let dedup = Dedup { order, count, min_count, limit };
            let columns = [
                vec![],
                vec![Field::Canonical, Field::First, Field::Original],
                vec![Field::Count, Field::Host, Field::Count, Field::First],
            ];
            for fields in columns {
                if !count || fields.is_empty() {
                    // The test takes the budgets in turn, so nothing else may go round with them.
                    let (turn, round) = (cases.len(), cases.len() / BUDGETS.len());
                    let key = Key::ALL[(turn + round) % Key::ALL.len()];
                    let threads = THREADS[(turn + round) % THREADS.len()];
                    let chunk_size = [300, 5_000, 20_000][round / 3 % 3];
                    cases.push(Case { dedup, key, fields, threads, chunk_size });
                }
            }
        }
    }
    cases
}

/// From nothing to almost enough.
const BUDGETS: [u64; 6] = [0, 1 << 16, 600_000, 1_200_000, 2_500_000, 5_000_000];

const THREADS: [usize; 3] = [1, 2, 5];

/// Each of the first four budgets was too small at least once with each number of threads.
fn assert_small_budgets_spilled(spilled: &HashSet<(u64, usize)>) {
    for budget in &BUDGETS[..4] {
        for threads in THREADS {
            assert!(spilled.contains(&(*budget, threads)), "{budget} {threads}: {spilled:?}");
        }
    }
}

#[test]
fn output_and_counts_do_not_depend_on_the_budget() {
    let place = Place::new();
    let mut spilled = HashSet::new();
    for (i, case) in cases().into_iter().enumerate() {
        let free = ran_case(&case, &place.paths, None).unwrap();
        assert_eq!(free.report.spilled.written, 0);
        let budget = BUDGETS[i % BUDGETS.len()];
        let found = ran_case(&case, &place.paths, Some((budget, &place.spill()))).unwrap();
        assert!(found.out == free.out, "{budget}: {case:?}");
        assert!(found.rejects == free.rejects, "{budget}: {case:?}");
        let accounts = [&found, &free].map(|run| (&run.report.tally, &run.report.files));
        assert_eq!(accounts[0], accounts[1], "{budget}: {case:?}");
        if found.report.spilled.written > 0 {
            spilled.insert((budget, case.threads));
        }
    }
    assert_small_budgets_spilled(&spilled);
    assert_eq!(std::fs::read_dir(place.spill()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_set_that_just_fits_is_not_spilled() {
    let place = Place::new();
    let mut plan = plan_of("lines", FIRST);
    plan.limits.memory = Some(memory(1 << 30, Path::new("/no/such")));
    let found = ran(&plan, &checked(&place.paths)).unwrap();
    assert_eq!(found.report.spilled.written, 0);
}

/// Law 7 with `--seen` and `--save-seen`: output, written keys and accounting are the same whichever
/// part does not fit, the seen URLs or the new ones.
#[test]
fn seen_lists_and_written_keys_do_not_depend_on_the_budget() {
    let place = Place::new();
    let inputs = checked(&place.paths);
    let ran = |plan: &JobPlan, takes| {
        let found = ran_for(plan, &inputs, takes).unwrap();
        let tally = &found.report.tally;
        let of_set = tally.unique + tally.duplicates + tally.seen;
        assert_eq!(tally.records, of_set + tally.rejected + tally.blank);
        assert!(tally.seen > 0 && tally.unique > 0);
        assert!(takes == Takes::Output || found.keys.0.len() as u64 == tally.unique);
        found
    };
    let (mut turn, mut spilled) = (0, HashSet::new());
    for order in ORDERS {
        for (count, takes) in [(false, Takes::Keys), (true, Takes::Keys), (false, Takes::Output)] {
            let mut plan = plan_of("lines", Dedup { order, count, ..FIRST });
            plan.input.seen = checked(&[place.paths[2].clone(), place.paths[1].clone()]);
            if !count {
                plan.output.fields = vec![Field::Canonical, Field::First];
            }
            plan.limits.chunk_size = 5_000;
            let free = ran(&plan, takes);
            turn += 1;
            for (at, budget) in BUDGETS.into_iter().enumerate() {
                let threads = THREADS[(at + turn) % THREADS.len()];
                plan.limits.threads = threads;
                plan.limits.chunk_size = [300, 5_000][(at + turn / 3) % 2];
                plan.limits.memory = Some(memory(budget, &place.spill()));
                let found = ran(&plan, takes);
                let case = format!("{budget} {order:?} {count}");
                assert!(found.out == free.out && found.keys == free.keys, "{case}");
                let accounts = [&found, &free].map(|run| (&run.report.tally, &run.report.files));
                assert_eq!(accounts[0], accounts[1], "{case}");
                if found.report.spilled.written > 0 {
                    spilled.insert((budget, threads));
                }
            }
        }
    }
    assert_small_budgets_spilled(&spilled);
    assert_eq!(std::fs::read_dir(place.spill()).unwrap().count(), 0, "nothing is left behind");
}

/// A record: the number of its key, how it is spelled, and how long it is.
fn line_of((key, spelling, length): (u16, u8, usize)) -> String {
    let scheme = ["http", "HTTP", "Http"][spelling as usize % 3];
    let host = ["h", "H"][spelling as usize / 3 % 2];
    // Some keys are longer than a block.
    let length = if length == 59 { 9_000 } else { length };
    format!("{scheme}://{host}/{key}{}\n", "/long".repeat(length * usize::from(key % 7) / 7))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Law 7: order, counts, lines, kept records and accounting are those of a run in memory.
    #[test]
    fn a_run_beyond_memory_is_the_same_as_one_in_memory(
        records in prop::collection::vec((0u16..900, 0u8..6, 0usize..60), 1..2000),
        keys in 1u16..900,
        order in prop::sample::select(&ORDERS[..]),
        (count, min_count) in (any::<bool>(), 1u64..4),
        limit in prop::option::weighted(0.3, 0u64..900),
        keep in prop::sample::select(vec![Keep::First, Keep::Last]),
        with_fields in any::<bool>(),
        budget in prop::sample::select(vec![0, 100_000, 400_000, 800_000, 1_500_000, 3_000_000]),
        threads in 1usize..5,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("list");
        let text = records.into_iter().map(|(key, by, length)| line_of((key % keys, by, length)));
        std::fs::write(&path, text.collect::<String>()).unwrap();
        let inputs = checked(&[path.clone(), path]);
        let dedup = Dedup { order, count: count && !with_fields, min_count, limit };
        let mut plan = plan_of("lines", dedup);
        if with_fields {
            plan.policy.keep = keep;
            plan.output.fields = vec![Field::Canonical, Field::Original];
            plan.output.fields.extend(count.then_some(Field::Count));
        }
        plan.limits.chunk_size = 4_000;
        plan.limits.threads = 1;
        let within = ran(&plan, &inputs).unwrap();
        plan.limits.threads = threads;
        plan.limits.memory = Some(memory(budget, directory.path()));
        let beyond = ran(&plan, &inputs).unwrap();
        prop_assert!(beyond.report.spilled.written > 0 || budget > 0);
        prop_assert!(beyond.out == within.out);
        prop_assert_eq!(beyond.report.tally, within.report.tally);
        prop_assert_eq!(beyond.report.files, within.report.files);
    }
}

/// The orders that are not those of the input, against a plain sort of counted lines.
#[test]
fn sorted_and_counted_output_equal_a_plain_sort_for_any_input_and_budget() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("list");
    let many = 12_000u64;
    let number = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let prefix = "a".repeat(500);
    let inputs: [&dyn Fn(u64) -> String; 6] = [
        &|n| format!("http://h{}.example/{}", number(n) % 9, number(n) % 7000),
        &|n| format!("http://h.example/{:09}", n - n % 3),
        &|n| format!("http://h.example/{:09}", many - n),
        &|n| format!("http://h.example/{prefix}/{}", number(n) % 900),
        // One URL in nearly all records, and few before the set is full.
        &|n| format!("http://h.example/{}", if n < 999 || n % 9 == 0 { number(n) } else { 1 }),
        // Few different counts, and many URLs with each.
        &|n| format!("http://h.example/{}", number(n % (many / 4) + n % 2)),
    ];
    let mut spilled = 0;
    for (i, url) in inputs.iter().enumerate() {
        let list: Vec<String> = (0..many).map(url).collect();
        std::fs::write(&path, list.join("\n")).unwrap();
        let mut counts = BTreeMap::new();
        list.iter().for_each(|url| *counts.entry(url).or_insert(0u64) += 1);
        let sorted: Vec<(&String, u64)> = counts.into_iter().collect();
        let mut counted = sorted.clone();
        counted.sort_by_key(|(_, count)| Reverse(*count));
        for (turn, budget) in BUDGETS.into_iter().enumerate() {
            for (order, rows) in [(SetOrder::Sorted, &sorted), (SetOrder::Count, &counted)] {
                for (min_count, limit) in
                    [(1, None), (1, Some(20)), (2, Some(3_000)), (1, Some(u64::MAX))]
                {
                    let dedup = Dedup { order, count: true, min_count, limit };
                    let mut plan = plan_of("lines", dedup);
                    plan.limits.threads = 1 + (i + turn) % 3;
                    plan.limits.chunk_size = 9_000;
                    plan.limits.memory = Some(memory(budget, directory.path()));
                    let found = ran(&plan, &checked(std::slice::from_ref(&path))).unwrap();
                    let wanted = rows.iter().filter(|(_, count)| *count >= min_count);
                    let limit = limit.map_or(usize::MAX, |limit| limit as usize);
                    let line = |(url, count): &(&String, u64)| format!("{count}\t{url}\n");
                    let expected: String = wanted.take(limit).map(line).collect();
                    assert!(found.out == expected.into_bytes(), "{i} {budget} {dedup:?}");
                    let unique = sorted.len() as u64;
                    let counts = (found.report.tally.unique, found.report.tally.duplicates);
                    assert_eq!(counts, (unique, many - unique), "{i} {budget} {dedup:?}");
                    spilled += u64::from(found.report.spilled.written > 0);
                }
            }
        }
    }
    assert!(spilled > 100, "{spilled}");
}

/// Long URLs first and short ones later: what the first records tell about the sizes of ranges is wrong for the rest.
#[test]
fn sorting_long_urls_before_short_ones_spills_at_most_three_times_the_input() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("list");
    let number = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 30;
    let line = |n: u64| {
        let long = if n < 2_500 { "long/".repeat(80) } else { String::new() };
        format!("http://h{}.example/{long}{}\n", number(n) % 50, number(n))
    };
    let text: String = (0..50_000).map(line).collect();
    std::fs::write(&path, &text).unwrap();
    let mut expected: Vec<&str> = text.lines().collect();
    expected.sort_unstable();
    expected.dedup();
    for threads in [1, 2, 8] {
        let mut plan = plan_of("lines", Dedup { order: SetOrder::Sorted, ..FIRST });
        plan.limits.threads = threads;
        plan.limits.chunk_size = 50_000;
        plan.limits.memory = Some(memory(1_200_000, directory.path()));
        let found = ran(&plan, &checked(std::slice::from_ref(&path))).unwrap();
        assert!(found.text().lines().eq(expected.iter().copied()), "{threads}");
        let (spilled, input) = (found.report.spilled.bytes, text.len() as u64);
        assert!(spilled > 0 && spilled < 3 * input, "{threads}: {spilled} of {input} bytes");
    }
}
