//! A suite of published examples that is not whole fails the tests that read it.

use std::panic::catch_unwind;

use crate::shared::whole;

#[test]
#[cfg_attr(target_family = "wasm", ignore = "a panic ends the process there")]
fn a_missing_empty_or_short_suite_fails() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("surt.jsonl");
    let fails = || catch_unwind(|| whole(&path, "surt.jsonl")).is_err();
    assert!(fails(), "missing");
    for (rows, is_short) in [(0, true), (1, true), (31, true), (32, false), (33, false)] {
        std::fs::write(&path, "{}\n".repeat(rows)).unwrap();
        assert_eq!(fails(), is_short, "{rows} rows");
    }
}
