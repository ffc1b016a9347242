//! How many cases the tests of the modules draw, and a line for tests that cannot run here.

use std::io::{self, Write};

/// `most`, and fewer on other processors than x86-64, which are emulated as a rule, and in an interpreter;
/// never more than ten times what `UNIQURL_CASES` says, which is 2,000 unless it is set.
#[allow(dead_code, reason = "not every crate that includes this file draws cases")]
pub(crate) fn cases(most: usize) -> usize {
    if cfg!(miri) {
        return (most / 4000).max(8);
    }
    let asked = std::env::var("UNIQURL_CASES").map_or(2_000, |n| n.parse().expect("a number"));
    let most = if cfg!(target_arch = "x86_64") { most } else { most.min(5_000) };
    most.min(asked * 10)
}

/// A line past the test harness, which would swallow what a test that passes prints, and at once, so that
/// tests in other threads do not write into it.
#[allow(dead_code, reason = "some processors and systems leave nothing out")]
pub(crate) fn not_tried(why: &str) {
    let _ = io::stderr().write_all(format!("\nNOT TRIED: {why}\n").as_bytes());
}
