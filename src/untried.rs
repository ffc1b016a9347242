//! What the tests of the modules say where something cannot be tried.

use std::io::{self, Write};

/// A line past the test harness, which would swallow what a test that passes prints, and at once, so that
/// tests in other threads do not write into it.
#[allow(dead_code, reason = "some processors and systems leave nothing out")]
pub(crate) fn not_tried(why: &str) {
    let _ = io::stderr().write_all(format!("\nNOT TRIED: {why}\n").as_bytes());
}
