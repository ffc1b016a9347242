//! The number of random cases in tests, and a report for tests that cannot run here.

use std::io::{self, Write};

/// The number of cases: `most`, but fewer on processors other than x86-64, which are usually emulated,
/// and under Miri. Never more than ten times `UNIQURL_CASES`, which defaults to 2,000.
#[allow(dead_code, reason = "not every crate that includes this file draws cases")]
pub(crate) fn cases(most: usize) -> usize {
    if cfg!(miri) {
        return (most / 4000).max(8);
    }
    let asked = std::env::var("UNIQURL_CASES").map_or(2_000, |n| n.parse().expect("a number"));
    let most = if cfg!(target_arch = "x86_64") { most } else { most.min(5_000) };
    most.min(asked * 10)
}

/// Reports a skipped test, bypassing the test harness, which hides the output of passing tests. It is a
/// single write, so that other threads cannot interleave with it.
#[allow(dead_code, reason = "some processors and systems leave nothing out")]
pub(crate) fn not_tried(why: &str) {
    let _ = io::stderr().write_all(format!("\nNOT TRIED: {why}\n").as_bytes());
}
