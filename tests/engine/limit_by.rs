//! The limit of URLs for each group, against the plain loop.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use uniqurl::{Key, Normalizer, Profile, Template};
use uniqurl_engine::output::{Field, FileStats};
use uniqurl_engine::{Dedup, Group, JobPlan, Keep, LimitBy, RunError, SetOrder};
use uniqurl_formats::input::Input;

use crate::runs::{self, FIRST, ORDERS, Takes, checked, file, numbers, plan_of, ran, ran_for};

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

/// From too little for the URLs that are kept on.
const BUDGETS: [Option<u64>; 5] =
    [None, Some(700_000), Some(900_000), Some(1_400_000), Some(2_500_000)];

struct Place {
    lists: Vec<Vec<String>>,
    seen: Vec<String>,
    inputs: Vec<Input>,
    seen_input: Vec<Input>,
    _files: Vec<tempfile::NamedTempFile>,
}

impl Place {
    fn new(seed: u64) -> Self {
        let lists = vec![list(seed, 2500), list(seed + 1, 10), list(seed + 2, 2500)];
        let mut seen = list(seed + 3, 900);
        seen.retain(|url| url.contains(':'));
        let files =
            lists.iter().chain([&seen]).map(|lines| file((lines.join("\n") + "\n").as_bytes()));
        let files: Vec<_> = files.collect();
        let paths: Vec<_> = files.iter().map(|file| file.path().to_owned()).collect();
        let mut inputs = checked(&paths);
        let seen_input = inputs.split_off(lists.len());
        Self { lists, seen, inputs, seen_input, _files: files }
    }

    /// A plan for one turn of a test. Threads turn at another pace than budgets and orders.
    fn plan(&self, dedup: Dedup, limit: LimitBy, turn: usize) -> JobPlan {
        let mut plan = plan_of("lines", dedup);
        plan.normalizer = Normalizer::new(Profile::Syntax);
        plan.policy.limit_by = Some(limit);
        let threads = [1, 2, 7][(turn + turn / 3) % 3];
        let chunk_size = [300, 4_000, 50_000][turn / 15 % 3];
        runs::limit(&mut plan, threads, chunk_size, BUDGETS[turn % BUDGETS.len()]);
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

/// Whatever the threads, the memory and the chunks. Lines of kept records may outgrow the memory
/// after the set is full.
#[test]
fn limited_output_and_counts_are_those_of_the_plain_loop() {
    let place = Place::new(5);
    // Of runs without lines of records, and with them.
    let (mut turn, mut fitted, mut refused) = (0, [0; 2], [0; 2]);
    let groups =
        GROUPS.into_iter().flat_map(|group| [1, 3, 250, u64::MAX].map(|most| (group, most)));
    for (group, most) in groups {
        for order in ORDERS {
            for keep in [None, Some(Keep::First), Some(Keep::Last)] {
                turn += 1;
                let (limit, with_seen) = (LimitBy { group, most }, turn / 4 % 2 == 0);
                let seen = place.seen.iter().filter(|_| with_seen).cloned().collect();
                let (kept, counts) = expected(&place.lists, &seen, limit);
                let min_count = 1 + turn as u64 / 5 % 2;
                let most_lines = (turn % 5 == 0).then_some(100);
                let count = keep.is_none() && (turn / 3 % 2 == 0 || order == SetOrder::Count);
                let dedup = Dedup { order, count, min_count, limit: most_lines };
                let mut plan = place.plan(dedup, limit, turn);
                if with_seen {
                    plan.input.seen.clone_from(&place.seen_input);
                }
                if let Some(keep) = &keep {
                    plan.output.fields = vec![Field::Count, Field::Canonical, Field::First];
                    plan.policy.keep = keep.clone();
                }
                let takes = if turn % 4 < 2 { Takes::Keys } else { Takes::Output };
                let found = ran_for(&plan, &place.inputs, takes);
                let case = format!("{limit:?} {with_seen} {dedup:?} {keep:?} {turn}");
                let with_lines = usize::from(keep.is_some());
                assert!(keep.is_some() || found.report.spilled.written == 0, "{case}");
                if !fits(found.result, &kept, &plan, &case) {
                    refused[with_lines] += 1;
                    continue;
                }
                fitted[with_lines] += u32::from(plan.limits.memory.is_some());
                assert_counts(&found.report.files, &counts, &case);
                let mut rows: Vec<_> = kept.iter().filter(|row| row.1 >= min_count).collect();
                match order {
                    SetOrder::First => {}
                    SetOrder::Sorted => rows.sort(),
                    SetOrder::Count => rows.sort_by_key(|row| (Reverse(row.1), &row.0)),
                }
                rows.truncate(most_lines.unwrap_or(u64::MAX) as usize);
                let out = String::from_utf8(found.out).unwrap();
                assert_eq!(out.lines().count(), rows.len(), "{case}");
                for (line, (url, records, last)) in out.lines().zip(&rows) {
                    let columns: Vec<&str> = line.split('\t').collect();
                    let records = records.to_string();
                    let with_count = count || keep.is_some();
                    let expected = if with_count { vec![&*records, url] } else { vec![&**url] };
                    assert_eq!(columns[..expected.len()], expected, "{case}");
                    let record = columns.get(2).map(|first| first.split(':').nth(1).unwrap());
                    let is_last = record.is_some_and(|record| record == last.to_string());
                    assert!(keep != Some(Keep::Last) || is_last, "{case}: {line}");
                }
                if takes == Takes::Keys {
                    let mut wanted: Vec<_> = rows.iter().map(|row| row.0.as_bytes()).collect();
                    wanted.sort();
                    assert!(found.keys.0 == wanted, "{case}");
                }
            }
        }
    }
    let [fewest, least] = [fitted, refused].map(|runs| *runs.iter().min().unwrap());
    assert!(fewest > 5 && least > 0, "{fitted:?} {refused:?}");
}

/// Keys of other forms than the URL divide as the URLs do.
#[test]
fn groups_of_other_keys_are_limited_alike() {
    let place = Place::new(29);
    for (key, group) in
        [(Key::Template, Group::Host), (Key::Template, Group::Domain), (Key::Domain, Group::Domain)]
    {
        let mut first = None;
        for (threads, budget) in [(1, None), (2, Some(900_000)), (7, Some(1_400_000))] {
            let mut plan = place.plan(FIRST, LimitBy { group, most: 2 }, 0);
            plan.policy.key = key;
            runs::limit(&mut plan, threads, 3_000, budget);
            let found = ran(&plan, &place.inputs).unwrap();
            let tally = &found.report.tally;
            assert!(tally.unique > 100, "{key}");
            assert!(tally.filtered > 100 || key == Key::Domain, "{key}");
            if let Some(first) = &first {
                found.assert_same(first, &key);
            }
            first = Some(found);
        }
    }
}
