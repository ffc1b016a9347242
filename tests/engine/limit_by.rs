//! The limit of URLs for each group, against the plain loop.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use uniqurl::{Key, Normalizer, Profile, Template};
use uniqurl_engine::output::{Field, FileStats};
use uniqurl_engine::{Dedup, Group, JobPlan, Keep, LimitBy, RunError, SetOrder};

use crate::runs::{FIRST, ORDERS, Takes, checked, memory, numbers, plan_of, ran, ran_for};

/// Records of a list: URLs with many groups and with few, blank lines and nonsense.
fn list(seed: u64, lines: u64) -> Vec<String> {
    let mut next = numbers(seed);
    let line = |_| match next(14) {
        0 => " ".to_owned(),
        1 => "no url".to_owned(),
        2 => format!("mailto:user{}@h.example", next(200)),
        3 => format!("http://h{}.example/item/{}", next(400), next(3)),
        4 => format!("http://h{}.example/item/{}?page={}", next(400), next(3), next(2)),
        5 => format!("http://a{}.b{}.co.uk:{}/{}", next(3), next(100), 8000 + next(2), next(9)),
        // Long URLs of few groups, so that little memory is full soon.
        6 => format!("http://h/{}/{}", "long/".repeat(next(60) as usize), next(90)),
        _ => format!("http://giant.example/item/{}?q={}", next(700), next(3)),
    };
    (0..lines).map(line).collect()
}

/// The number of new, repeated, seen and filtered records.
type Counts = [u64; 4];

/// The plain loop: the keys that are kept, by first occurrence, each with the number of its records and the
/// number of the last one, and the counts of each list.
fn expected(
    lists: &[Vec<String>],
    seen: &HashSet<String>,
    limit: LimitBy,
) -> (Vec<(String, u64, u64)>, Vec<Counts>) {
    let (mut groups, mut places) = (HashMap::new(), HashMap::new());
    let (mut kept, mut counts) = (Vec::<(String, u64, u64)>::new(), Vec::new());
    for list in lists {
        let mut of_list = Counts::default();
        for (record, url) in (1..).zip(list).filter(|(_, url)| url.contains(':')) {
            let count = groups.entry(group_of(url, limit.group)).or_insert(0u64);
            let outcome = if seen.contains(url) {
                2
            } else if let Some(place) = places.get(url) {
                let (_, records, last): &mut (_, u64, u64) = &mut kept[*place];
                (*records, *last) = (*records + 1, record);
                1
            } else if *count == limit.most {
                3
            } else {
                *count += 1;
                places.insert(url.clone(), kept.len());
                kept.push((url.clone(), 1, record));
                0
            };
            of_list[outcome] += 1;
        }
        counts.push(of_list);
    }
    (kept, counts)
}

fn group_of(url: &str, group: Group) -> String {
    let host = || url.strip_prefix("http://")?.split('/').next()?.split(':').next();
    match group {
        Group::Template => {
            let mut out = Vec::new();
            Template::of(url.as_bytes(), &mut out);
            String::from_utf8(out).unwrap()
        }
        Group::Host => host().unwrap_or_default().to_owned(),
        // No private suffix occurs here.
        Group::Domain | Group::DomainIcann => {
            let host = host().unwrap_or_default();
            let labels: Vec<_> = host.split('.').collect();
            let own = if host.ends_with("co.uk") { 3 } else { 2 };
            labels[labels.len().saturating_sub(own)..].join(".")
        }
        Group::Path => url.split('?').next().unwrap_or_default().to_owned(),
    }
}

const GROUPS: [Group; 5] = Group::ALL;

/// From too little for the URLs that are kept to enough for all.
const BUDGETS: [Option<u64>; 5] =
    [None, Some(900_000), Some(1_400_000), Some(2_500_000), Some(5_000_000)];

/// Runs each number of threads with each budget. There are three orders, so threads turn at another pace.
fn threads_and_budget(turn: usize) -> (usize, Option<u64>) {
    ([1, 2, 7][(turn + turn / 3) % 3], BUDGETS[turn % BUDGETS.len()])
}

struct Place {
    directory: tempfile::TempDir,
    lists: Vec<Vec<String>>,
    paths: Vec<PathBuf>,
    seen: Vec<String>,
    seen_path: PathBuf,
}

impl Place {
    fn new(seed: u64) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, lines: &[String]| {
            let path = directory.path().join(name);
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            path
        };
        let lists = vec![list(seed, 2500), list(seed + 1, 10), list(seed + 2, 2500)];
        let paths = lists.iter().zip(["a", "b", "c"]).map(|(list, name)| write(name, list));
        let paths = paths.collect();
        let mut seen = list(seed + 3, 900);
        seen.retain(|url| url.contains(':'));
        let seen_path = write("seen", &seen);
        Self { directory, lists, paths, seen, seen_path }
    }

    /// A plan for one turn of a test.
    fn plan(&self, dedup: Dedup, limit: LimitBy, turn: usize) -> JobPlan {
        let (threads, budget) = threads_and_budget(turn);
        let mut plan = plan_of("lines", dedup);
        plan.normalizer = Normalizer::new(Profile::Syntax);
        plan.policy.limit_by = Some(limit);
        plan.limits.threads = threads;
        plan.limits.chunk_size = [300, 4_000, 50_000][turn / 15 % 3];
        plan.limits.memory = budget.map(|budget| memory(budget, self.directory.path()));
        plan
    }
}

/// Whether these URLs fit into the memory of a run; if not, it must have had little, and say so.
fn fits(
    result: Result<(), RunError>,
    kept: &[(String, u64, u64)],
    plan: &JobPlan,
    case: &str,
) -> bool {
    let Err(error) = result else { return true };
    assert!(matches!(error, RunError::Groups), "{case}: {error}");
    let bytes: usize = kept.iter().map(|(url, ..)| url.len() + 1).sum();
    // Empty shards take memory too.
    let memory = plan.limits.memory.as_ref();
    assert!(memory.is_some_and(|memory| 800_000 + 8 * bytes as u64 > memory.budget), "{case}");
    false
}

fn assert_counts(files: &[FileStats], counts: &[Counts], case: &str) {
    assert_eq!(files.len(), counts.len(), "{case}");
    for (file, counts) in files.iter().zip(counts) {
        let tally = &file.tally;
        let found = [tally.unique, tally.duplicates, tally.seen, tally.filtered];
        assert_eq!(found, *counts, "{case}: {}", file.path.display());
        let sum = found.iter().sum::<u64>() + tally.rejected + tally.blank;
        assert_eq!(tally.records, sum, "{case}");
        assert_eq!(tally.canonical, counts[..3].iter().sum::<u64>(), "{case}");
    }
}

/// The output of each order, whatever the threads, the memory and the chunks.
#[test]
fn limited_output_and_counts_are_those_of_the_plain_loop() {
    let place = Place::new(5);
    let inputs = checked(&place.paths);
    let (mut turn, mut fitted, mut refused) = (0, 0, 0);
    for group in GROUPS {
        for most in [1, 3, 250, u64::MAX] {
            for order in ORDERS {
                turn += 1;
                let (limit, with_seen) = (LimitBy { group, most }, turn / 4 % 2 == 0);
                let seen = place.seen.iter().filter(|_| with_seen).cloned().collect();
                let (kept, counts) = expected(&place.lists, &seen, limit);
                let min_count = 1 + turn as u64 / 5 % 2;
                let most_lines = (turn % 5 == 0).then_some(100);
                let count = turn / 3 % 2 == 0 || order == SetOrder::Count;
                let dedup = Dedup { order, count, min_count, limit: most_lines };
                let mut plan = place.plan(dedup, limit, turn);
                if with_seen {
                    plan.input.seen = checked(std::slice::from_ref(&place.seen_path));
                }
                let takes = if turn % 4 < 2 { Takes::Keys } else { Takes::Output };
                let found = ran_for(&plan, &inputs, takes);
                let case = format!("{limit:?} {with_seen} {dedup:?} {turn}");
                assert_eq!(found.report.spilled.written, 0, "{case}");
                if !fits(found.result, &kept, &plan, &case) {
                    refused += 1;
                    continue;
                }
                fitted += u32::from(plan.limits.memory.is_some());
                assert_counts(&found.report.files, &counts, &case);
                let mut rows: Vec<_> = kept.iter().filter(|row| row.1 >= min_count).collect();
                match order {
                    SetOrder::First => {}
                    SetOrder::Sorted => rows.sort(),
                    SetOrder::Count => rows.sort_by_key(|row| (Reverse(row.1), &row.0)),
                }
                rows.truncate(most_lines.unwrap_or(u64::MAX) as usize);
                let line = |(url, records, _): &&(String, u64, u64)| match count {
                    true => format!("{records}\t{url}\n"),
                    false => format!("{url}\n"),
                };
                let lines: String = rows.iter().map(line).collect();
                assert!(found.out == lines.as_bytes(), "{case}");
                if takes == Takes::Keys {
                    let mut wanted: Vec<_> = rows.iter().map(|row| row.0.as_bytes()).collect();
                    wanted.sort();
                    assert!(found.keys.0 == wanted, "{case}");
                }
            }
        }
    }
    assert!(fitted > 5 && refused > 0, "{fitted} {refused}");
}

/// Lines of kept records, which may outgrow the memory after the set is full.
#[test]
fn limited_columns_are_those_of_the_plain_loop() {
    let place = Place::new(17);
    let inputs = checked(&place.paths);
    let (mut turn, mut fitted, mut refused) = (0, 0, 0);
    for group in GROUPS {
        for most in [1, 4, 300] {
            let limit = LimitBy { group, most };
            let (kept, counts) = expected(&place.lists, &HashSet::new(), limit);
            for keep in [Keep::First, Keep::Last] {
                for order in [SetOrder::First, SetOrder::Sorted] {
                    turn += 1;
                    let mut plan = place.plan(Dedup { order, ..FIRST }, limit, turn);
                    plan.output.fields = vec![Field::Canonical, Field::Count, Field::First];
                    plan.policy.keep = keep.clone();
                    let found = ran(&plan, &inputs);
                    let case = format!("{limit:?} {keep:?} {order:?} {turn}");
                    if !fits(found.result, &kept, &plan, &case) {
                        refused += 1;
                        continue;
                    }
                    fitted += u32::from(plan.limits.memory.is_some());
                    assert_counts(&found.report.files, &counts, &case);
                    let mut rows = kept.clone();
                    if order == SetOrder::Sorted {
                        rows.sort();
                    }
                    let out = String::from_utf8(found.out).unwrap();
                    assert_eq!(out.lines().count(), rows.len(), "{case}");
                    for (line, (url, records, last)) in out.lines().zip(&rows) {
                        let columns: Vec<&str> = line.split('\t').collect();
                        assert_eq!((columns[0], columns[1]), (&**url, &*records.to_string()));
                        let record = columns[2].split(':').nth(1).unwrap();
                        assert!(keep == Keep::First || record == last.to_string(), "{case}");
                    }
                }
            }
        }
    }
    assert!(fitted > 5 && refused > 0, "{fitted} {refused}");
}

/// Keys of other forms than the URL divide as the URLs do.
#[test]
fn groups_of_other_keys_are_limited_alike() {
    let place = Place::new(29);
    let inputs = checked(&place.paths);
    for (key, group) in
        [(Key::Template, Group::Host), (Key::Template, Group::Domain), (Key::Domain, Group::Domain)]
    {
        let outputs =
            [(1, None), (2, Some(900_000)), (7, Some(1_400_000))].map(|(threads, budget)| {
                let mut plan = place.plan(FIRST, LimitBy { group, most: 2 }, 0);
                plan.policy.key = key;
                plan.limits.threads = threads;
                plan.limits.chunk_size = 3_000;
                plan.limits.memory = budget.map(|budget| memory(budget, place.directory.path()));
                let found = ran(&plan, &inputs).unwrap();
                let tally = found.report.tally;
                assert!(tally.unique > 100, "{key}");
                assert!(tally.filtered > 100 || key == Key::Domain, "{key}");
                (found.out, tally, found.report.files)
            });
        assert!(outputs.iter().all(|output| *output == outputs[0]), "{key}");
    }
}
