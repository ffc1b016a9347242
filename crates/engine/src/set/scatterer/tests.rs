//! Runs that scatter against runs that do not.

use std::path::PathBuf;

use super::*;
use crate::run::run_with;
use crate::{CHUNK_SIZE, Dedup, Job, JobPlan, Memory, Report, SetOrder, Sinks, SplitBy, Watch};
use uniqurl::internal::{
    Kernel,
    alloc::failing::{self, Plan},
};
use uniqurl::key::Key as Written;
use uniqurl::{Normalizer, Profile, Redirects};
use uniqurl_formats::input;

const SORTED: Dedup = Dedup { order: SetOrder::Sorted, count: false, min_count: 1, limit: None };

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
        change: impl FnOnce(&mut JobPlan),
    ) -> (Vec<u8>, Report, Result<(), RunError>) {
        let (inputs, errors) = input::check(&self.paths);
        assert!(errors.is_empty());
        let watch = Watch::default();
        let normalizer = Normalizer::new(Profile::Crawl);
        let mut plan = JobPlan::new(normalizer, Job::Dedup(dedup));
        plan.limits.threads = 2;
        plan.limits.chunk_size = CHUNK_SIZE / 128;
        change(&mut plan);
        let mut out = Vec::new();
        let hasher = HashKey::random(Kernel::best());
        let (report, result) = run_with(&plan, &inputs, Sinks::to(&mut out), &watch, hasher);
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
    report.files.iter().map(|file| file.tally.clone()).collect()
}

/// Numbers with repeats, in the same list and in others.
fn numbers(from: u64, count: u64) -> Vec<u64> {
    (from..from + count).map(|n| n.wrapping_mul(0x9E37_79B9) % 20_000).collect()
}

/// Ends the run early with a damaged file after the lists: scattered URLs are still undecided then.
fn undecided(lists: &mut Lists, change: impl FnOnce(&mut JobPlan)) -> u64 {
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
        let (out, report, result) = lists.run(SORTED, |plan| plan.limits.threads = threads);
        result.unwrap();
        assert!(out == expected, "{threads} threads");
        assert_eq!(tallies(&report), tallies(&counted), "{threads} threads");
    }
    assert!(undecided(&mut lists, |_| {}) > 1000);
}

#[test]
fn scattered_shards_and_keys_equal_those_of_a_set() {
    let lists = Lists::of([numbers(0, 5000)]);
    let split = Split { by: SplitBy::Host, shards: 3, key: Written::Surt };
    let change = |plan: &mut JobPlan| {
        plan.policy.key = Written::Surt;
        plan.output.split = Some(split);
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
        let (out, report, result) = much.run(SORTED, |plan| plan.limits.memory = memory);
        result.unwrap();
        assert!(out == expected && tallies(&report) == tallies(&counted), "{budget} bytes");
        spilled.push(report.spilled.written > 0);
    }
    assert!(spilled[0] && !spilled[spilled.len() - 1], "{spilled:?}");
}

#[test]
fn more_urls_than_expected_are_gathered_into_a_set() {
    // First most records are rejected. In `others` all later ones are, too, with about as many bytes.
    let rejected: Vec<u64> = (0..40_000).map(|n| if n % 128 > 0 { 4 * n + 2 } else { n }).collect();
    let lists = Lists::of([rejected.clone(), (0..20_000).map(|n| 4 * n + 3).collect()]);
    let mut others = Lists::of([rejected, (0..63_000).map(|n| 4 * n + 2).collect()]);
    let (expected, counted) = lists.expected();
    // With one thread the same buffers are filled in the same order each time.
    let within =
        |memory| move |plan: &mut JobPlan| (plan.limits.threads, plan.limits.memory) = (1, memory);
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
        gathered +=
            usize::from(report.spilled.written > 0 && other.spilled.written == 0 && are_scattered);
    }
    assert!(gathered > 0);
}

#[test]
fn batches_queued_after_a_long_chunk_are_gathered() {
    let mut lists = Lists::of((0..600).map(|n| numbers(n * 10, 10)));
    // One list repeats a few long URLs, so that it takes many rounds.
    let long = |n| format!("http://r/{n}\thttp://long/{n}/{}\n", "x".repeat(50_000));
    let redirects = Redirects::parse((0..40).map(long).collect::<String>().as_bytes()).unwrap();
    let short = (0..1000).map(|n| format!("http://r/{}\n", n % 40)).collect::<String>();
    std::fs::write(&lists.paths[550], short).unwrap();
    let redirected = |plan: &mut JobPlan| {
        plan.limits.chunk_size = CHUNK_SIZE;
        plan.normalizer = Normalizer::new(Profile::Crawl).with_redirects(&redirects).unwrap();
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
fn failed_allocation_while_scattering_ends_the_run_or_changes_nothing() {
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
