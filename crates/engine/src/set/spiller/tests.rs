//! Runs that spill against runs that do not, and runs out of memory.

use super::*;
use crate::job::{Dedup, SetOrder};
use crate::output::{Field, Tally};
use crate::run::run_with;
use crate::{CHUNK_SIZE, Job, JobPlan, Sinks, Watch};
use uniqurl::internal::HashKey;
use uniqurl::internal::alloc::failing::{self, Plan};
use uniqurl::{Normalizer, Profile};
use uniqurl_formats::input;

/// The output, the counts and the spilled bytes of a run.
type Ran = (Vec<u8>, Tally, u64);

fn ran(width: u32, order: SetOrder, budget: Option<u64>) -> Ran {
    let dedup = Dedup { order, count: true, min_count: 1, limit: None };
    let (ran, result) = try_ran(2, width, dedup, Vec::new(), budget, 2000);
    result.unwrap();
    ran
}

fn try_ran(
    threads: usize,
    width: u32,
    dedup: Dedup,
    fields: Vec<Field>,
    budget: Option<u64>,
    lines: u64,
) -> (Ran, Result<(), RunError>) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("list");
    // Every other line has a URL that came before.
    let number =
        |i: u64| if i.is_multiple_of(2) { i } else { (i.wrapping_mul(0x9E37_79B9) % i) & !1 };
    let line = |i| format!("HTTP://h/{}\n", number(i));
    std::fs::write(&path, (0..lines).map(line).collect::<String>()).unwrap();
    let (inputs, _) = input::check(&[path]);
    let memory = budget.map(|budget| Memory {
        budget,
        directory: directory.path().to_owned(),
        tell: |_| {},
    });
    let watch = Watch::default();
    let mut job_plan = JobPlan::new(Normalizer::new(Profile::Crawl), Job::Dedup(dedup));
    job_plan.limits.threads = threads;
    job_plan.limits.chunk_size = if dedup.count && lines < 1000 { 128 } else { CHUNK_SIZE / 64 };
    job_plan.limits.memory = memory;
    job_plan.output.fields = fields;
    let mut out = Vec::new();
    let hasher = HashKey::narrow(width);
    let (report, result) = run_with(&job_plan, &inputs, Sinks::to(&mut out), &watch, hasher);
    ((out, report.tally, report.spilled.bytes), result)
}

#[test]
fn colliding_hashes_do_not_change_the_output() {
    for order in [SetOrder::First, SetOrder::Sorted, SetOrder::Count] {
        let (out, tally, _) = ran(64, order, None);
        assert_eq!((tally.unique, tally.records), (1000, 2000));
        for width in [8, 0] {
            for budget in [None, Some(0), Some(1 << 20)] {
                let (now, counted, spilled) = ran(width, order, budget);
                assert!(now == out && counted == tally, "{width} bits, {budget:?}");
                assert!(spilled > 0 || budget != Some(0));
            }
        }
    }
}

#[test]
fn spilled_output_does_not_depend_on_the_number_of_threads() {
    let spilled = |threads| {
        let ((out, tally, spilled), result) =
            try_ran(threads, 64, Dedup::default(), Vec::new(), Some(1 << 20), 100_000);
        result.unwrap();
        (out, tally, spilled)
    };
    let (out, tally, by_few) = spilled(1);
    let (out_of_many, tally_of_many, by_many) = spilled(64);
    assert!(out == out_of_many && tally == tally_of_many);
    // How much is spilled does depend on it: batches on their way take room from the set.
    assert!(by_few > 0 && by_many > 0, "{by_few} and {by_many} bytes");
}

#[test]
fn failed_allocation_ends_the_run() {
    let mut refused = 0;
    let order = |order| Dedup { order, ..Dedup::default() };
    let counted = Dedup { count: true, ..Dedup::default() };
    for (dedup, fields, budget, stays) in [
        (order(SetOrder::First), vec![], Some(1 << 30), false),
        (order(SetOrder::Sorted), vec![], None, false),
        (Dedup { limit: Some(9), ..order(SetOrder::Count) }, vec![], Some(1 << 20), false),
        (counted, vec![], Some(1 << 30), false),
        (order(SetOrder::First), vec![Field::Count, Field::Original], Some(1 << 30), true),
        (order(SetOrder::Sorted), vec![Field::Canonical], Some(1 << 20), false),
    ] {
        let run = || try_ran(2, 64, dedup, fields.clone(), budget, 500);
        let (whole, result) = run();
        result.unwrap();
        for k in 0.. {
            let plan = Plan::at(k, stays);
            failing::follow(Some(Arc::clone(&plan)));
            let (ran, result) = run();
            failing::follow(None);
            if !plan.has_failed() {
                break;
            }
            match result {
                Ok(()) => assert!(ran.0 == whole.0 && ran.1 == whole.1, "{dedup:?} {k}"),
                Err(RunError::Set(_) | RunError::Memory) => refused += 1,
                Err(RunError::Output(error)) => {
                    assert_eq!(error.kind(), std::io::ErrorKind::OutOfMemory, "{k}");
                    refused += 1;
                }
                Err(error) => panic!("{dedup:?} {k}: {error}"),
            }
        }
    }
    assert!(refused > 100, "{refused}");
}
