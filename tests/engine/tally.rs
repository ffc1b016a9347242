//! Tallies of responses against a map of all observations, for any threads, chunks and memory.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use uniqurl_engine::output::TallyColumns;
use uniqurl_engine::{CHUNK_SIZE, Dedup, SetOrder};

use crate::runs::{ORDERS, checked, limit, numbers, plan_of, ran};

const FORMAT: &str = "log:%h %l %u %t \"%r\" %>s %b %D";
const ALL: TallyColumns = TallyColumns { status: true, errors: false, bytes: true, time: true };

/// A request; a number that the log does not know is `None`.
#[derive(Clone, Copy)]
struct Request {
    page: u64,
    status: Option<u64>,
    bytes: Option<u64>,
    time: Option<u64>,
}

/// Requests to about `pages` pages. A few pages get most of them.
fn requests(count: u64, pages: u64) -> Vec<Request> {
    let mut next = numbers(5);
    let request = |_| {
        let (most, longest) = (1 + next(pages), 1 + (1 << next(31)));
        Request {
            page: if next(3) == 0 { next(4) } else { next(most) },
            status: (next(20) > 0).then(|| 100 * (1 + next(5)) + next(100)),
            bytes: (next(4) > 0).then(|| 1 << next(40)),
            time: (next(9) > 0).then(|| next(longest)),
        }
    };
    (0..count).map(request).collect()
}

fn log(requests: &[Request]) -> String {
    let text = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let line = |(i, request): (usize, &Request)| {
        let Request { page, status, bytes, time } = *request;
        let path = format!("{}{page}", ["/", "/a/../", "/%2e/"][i % 3]);
        let numbers = [text(status), text(bytes), text(time)].join(" ");
        format!("h - - [01/Jan/2026:00:00:00 +0000] \"GET {path} HTTP/1.1\" {numbers}\n")
    };
    requests.iter().enumerate().map(line).collect()
}

fn tallied(
    path: &Path,
    dedup: Dedup,
    threads: usize,
    chunk_size: usize,
    budget: Option<u64>,
) -> (String, u64) {
    let mut plan = plan_of(FORMAT, dedup);
    plan.output.tally = ALL;
    limit(&mut plan, threads, chunk_size, budget);
    let found = ran(&plan, &checked(&[path.to_owned()])).unwrap();
    (found.text().to_owned(), found.report.spilled.bytes)
}

/// Everything that was observed of a page.
#[derive(Default)]
struct Page {
    first: usize,
    count: u64,
    statuses: [u64; 5],
    bytes: u64,
    times: Vec<u64>,
}

fn pages(requests: &[Request]) -> HashMap<u64, Page> {
    let mut pages: HashMap<u64, Page> = HashMap::new();
    for (first, request) in requests.iter().enumerate() {
        let new = || Page { first, ..Page::default() };
        let page = pages.entry(request.page).or_insert_with(new);
        page.count += 1;
        request.status.iter().for_each(|status| page.statuses[*status as usize / 100 - 1] += 1);
        page.bytes += request.bytes.unwrap_or_default();
        page.times.extend(request.time);
    }
    pages.values_mut().for_each(|page| page.times.sort());
    pages
}

/// Checks a line against a page.
fn check(line: &str, page: &Page) {
    let cells: Vec<&str> = line.split('\t').collect();
    let numbers = [page.count].into_iter().chain(page.statuses).chain([page.bytes]);
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    assert_eq!(cells[..1], numbers[..1], "{line}");
    assert_eq!(cells[2..8], numbers[1..], "{line}");
    let Some(greatest) = page.times.last() else {
        return assert_eq!(cells[8..], ["", "", ""], "{line}");
    };
    let seconds = |time: u64| format!("{}.{:06}", time / 1_000_000, time % 1_000_000);
    assert_eq!(cells[10], seconds(*greatest), "{line}");
    for (cell, percent) in [(cells[8], 50), (cells[9], 99)] {
        let exact = page.times[(page.times.len() * percent).div_ceil(100) - 1];
        if page.times.len() <= 16 {
            assert_eq!(cell, seconds(exact), "{line}");
        }
        let found: u64 = cell.replace('.', "").parse().unwrap();
        assert!(found.abs_diff(exact) as f64 <= 0.01 * exact as f64, "{line}: {exact}");
    }
}

#[test]
fn tallies_are_those_of_a_map_for_any_order_threads_and_memory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let (mut turn, mut spilled) = (0, HashSet::new());
    for (count, few) in [(5_000, 50), (5_000, 2_000), (900, 40_000), (0, 1)] {
        let requests = requests(count, few);
        std::fs::write(&path, log(&requests)).unwrap();
        let pages = pages(&requests);
        let key = |page: u64| format!("/{page}");
        for order in ORDERS {
            let mut expected: Vec<(&u64, &Page)> = pages.iter().collect();
            match order {
                SetOrder::Sorted => expected.sort_by_key(|(page, _)| key(**page)),
                SetOrder::Count => {
                    expected.sort_by_key(|(page, of_page)| (Reverse(of_page.count), key(**page)));
                }
                _ => expected.sort_by_key(|(_, of_page)| of_page.first),
            }
            let dedup = Dedup { order, count: true, ..Dedup::default() };
            let (out, _) = tallied(&path, dedup, 1, CHUNK_SIZE, None);
            assert_eq!(out.lines().count(), expected.len());
            for (line, (page, of_page)) in out.lines().zip(&expected) {
                assert_eq!(line.split('\t').nth(1), Some(&*key(**page)));
                check(line, of_page);
            }
            turn += 1;
            for (at, budget) in
                [None, Some(0), Some(1 << 17), Some(1 << 20)].into_iter().enumerate()
            {
                let threads = [1, 2, 7][(at + turn) % 3];
                let chunk_size = [1 << 12, 1 << 13, 1 << 14][(at + turn / 3) % 3];
                let (same, bytes) = tallied(&path, dedup, threads, chunk_size, budget);
                assert!(same == out, "{count} {few} {order:?} {threads} {budget:?}");
                if bytes > 0 {
                    spilled.insert((threads, budget));
                }
            }
            let dedup = Dedup { limit: Some(9), min_count: 2, ..dedup };
            let frequent = out.lines().filter(|line| !line.starts_with("1\t"));
            let frequent: String = frequent.take(9).map(|line| format!("{line}\n")).collect();
            for budget in [None, Some(1 << 17)] {
                let (same, _) = tallied(&path, dedup, 2, 1 << 13, budget);
                assert!(same == frequent, "{count} {few} {order:?} {budget:?}");
            }
        }
    }
    let each = |budget| spilled.iter().filter(|(_, of)| *of == Some(budget)).count();
    assert_eq!((each(0), each(1 << 17)), (3, 3), "{spilled:?}");
}
