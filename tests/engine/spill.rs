//! Sets that outgrow their memory, against a plain sort. That no budget changes a result is a
//! property of `seen.rs`.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use uniqurl_engine::{Dedup, SetOrder};

use crate::runs::{FIRST, checked, file, limit, memory, plan_of, ran, ran_on};

/// From nothing to almost enough.
const BUDGETS: [u64; 6] = [0, 1 << 16, 600_000, 1_200_000, 2_500_000, 5_000_000];

#[test]
fn a_set_that_just_fits_is_not_spilled() {
    let list: String = (0..5_000).map(|n| format!("http://h/{n}\n")).collect();
    let mut plan = plan_of("lines", FIRST);
    plan.limits.memory = Some(memory(1 << 30, Path::new("/no/such")));
    assert_eq!(ran_on(&plan, list.as_bytes()).unwrap().report.spilled.written, 0);
}

/// Each order, against a plain sort of counted lines.
#[test]
fn output_of_each_order_equals_a_plain_sort_for_any_input_and_budget() {
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
    let mut spilled = HashSet::new();
    for (i, url) in inputs.iter().enumerate() {
        let list: Vec<String> = (0..many).map(url).collect();
        let file = file(list.join("\n").as_bytes());
        let paths = checked(&[file.path().to_owned()]);
        let mut counts = HashMap::new();
        list.iter().for_each(|url| *counts.entry(url).or_insert(0u64) += 1);
        let mut seen = HashSet::new();
        let first = list.iter().filter(|url| seen.insert(*url)).map(|url| (url, counts[url]));
        let first: Vec<(&String, u64)> = first.collect();
        let (mut sorted, unique) = (first.clone(), first.len() as u64);
        sorted.sort();
        let mut counted = sorted.clone();
        counted.sort_by_key(|(_, count)| Reverse(*count));
        for (turn, budget) in BUDGETS.into_iter().enumerate() {
            for (order, rows) in [
                (SetOrder::First, &first),
                (SetOrder::Sorted, &sorted),
                (SetOrder::Count, &counted),
            ] {
                // Two budgets are enough for the order of the input: it is the same set.
                let some: &[(u64, Option<u64>)] = match (order, turn % 3) {
                    (SetOrder::First, 0) => &[(1, Some(20)), (2, Some(3_000)), (1, Some(0))],
                    (SetOrder::First, _) => &[],
                    _ => &[(1, None), (1, Some(20)), (2, Some(3_000)), (1, Some(u64::MAX))],
                };
                for &(min_count, most) in some {
                    let count = order != SetOrder::First;
                    let dedup = Dedup { order, count, min_count, limit: most };
                    let mut plan = plan_of("lines", dedup);
                    let threads = 1 + (i + turn) % 3;
                    limit(&mut plan, threads, 9_000, Some(budget));
                    let found = ran(&plan, &paths).unwrap();
                    let wanted = rows.iter().filter(|(_, count)| *count >= min_count);
                    let line = |(url, number): &(&String, u64)| match count {
                        true => format!("{number}\t{url}\n"),
                        false => format!("{url}\n"),
                    };
                    let most = most.map_or(usize::MAX, |most| most as usize);
                    let expected: String = wanted.take(most).map(line).collect();
                    assert!(found.text() == expected, "{i} {budget} {dedup:?}");
                    let counts = (found.report.tally.unique, found.report.tally.duplicates);
                    assert_eq!(counts, (unique, many - unique), "{i} {budget} {dedup:?}");
                    if found.report.spilled.written > 0 {
                        spilled.insert((budget, threads));
                    }
                }
            }
        }
    }
    for budget in &BUDGETS[..4] {
        let all = (1..4).all(|threads| spilled.contains(&(*budget, threads)));
        assert!(all, "{budget} was too small with any number of threads: {spilled:?}");
    }
}

/// Long URLs first and short ones later: what the first records tell about the sizes of ranges is wrong for the rest.
#[test]
fn sorting_long_urls_before_short_ones_spills_at_most_three_times_the_input() {
    let number = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 30;
    let line = |n: u64| {
        let long = if n < 2_500 { "long/".repeat(80) } else { String::new() };
        format!("http://h{}.example/{long}{}\n", number(n) % 50, number(n))
    };
    let text: String = (0..50_000).map(line).collect();
    let mut expected: Vec<&str> = text.lines().collect();
    expected.sort_unstable();
    expected.dedup();
    for threads in [1, 2, 8] {
        let mut plan = plan_of("lines", Dedup { order: SetOrder::Sorted, ..FIRST });
        limit(&mut plan, threads, 50_000, Some(1_200_000));
        let found = ran_on(&plan, text.as_bytes()).unwrap();
        assert!(found.text().lines().eq(expected.iter().copied()), "{threads}");
        let (spilled, input) = (found.report.spilled.bytes, text.len() as u64);
        assert!(spilled > 0 && spilled < 3 * input, "{threads}: {spilled} of {input} bytes");
    }
}
