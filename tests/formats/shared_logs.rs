//! Two real access logs: every line yields a URL or a coded reject.

use std::collections::BTreeMap;

use crate::records::held;
use crate::shared::unpacked;
use uniqurl_formats::record::{Context, Format, detect};

/// Counts records by kind.
fn count(format: &Format, log: &[u8]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for found in held(format, &Context::default(), log) {
        *counts.entry(found.kind()).or_insert(0) += 1;
    }
    counts
}

#[test]
#[ignore = "needs ../shared"]
fn every_line_of_a_combined_log_is_read() {
    let name = "access-combined.log.gz";
    let log = unpacked(name);
    let format = detect(name, &log, true);
    assert_eq!(format, Format::Combined);
    assert_eq!(count(&format, &log), BTreeMap::from([("target", 10_000)]));
}

#[test]
#[ignore = "needs ../shared"]
fn every_line_of_a_log_in_extra_quotes_is_read() {
    let name = "access-scanner.log.gz";
    let log = unpacked(name);
    let format = detect(name, &log, true);
    assert_eq!(format, Format::Combined);
    // The last of 6,539 lines has no line feed. One request is `GET  HTTP/1.1`: no target.
    let expected = BTreeMap::from([("target", 6_536), ("url", 2), ("relative", 1)]);
    assert_eq!(count(&format, &log), expected);
}
