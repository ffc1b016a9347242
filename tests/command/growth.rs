//! URLs that grow to many times their length: none is lost or mixed up at any chunk size.
//!
//! Only the length differs. So each run is compared with a run on short text, in whose output the
//! long text replaces the short one.

use super::archives::wat_record;
use super::packed::gzip;
use super::{Place, Run};

/// The short text, and the length of the long text that replaces it.
const SHORT: &str = "uSHORTu";
const LENGTH: usize = 60_000;

fn long() -> String {
    "u".repeat(LENGTH)
}

/// Runs with the short and the long text, and asserts that both give the same.
fn assert_same(arguments: &str, run: impl Fn(&str) -> Run) {
    let (short, long_run) = (run(SHORT).exits(0), run(&long()).exits(0));
    let expected = short.out().replace(SHORT, &long());
    assert!(long_run.out() == expected, "{arguments}: {}", short.err);
    for name in ["records", "unique", "canonical", "duplicates", "rejected", "skipped", "blank"] {
        if short.err.contains(name) {
            assert_eq!(long_run.summary(name), short.summary(name), "{arguments}: {name}");
        }
    }
}

#[test]
fn targets_joined_to_a_long_base_stay_in_order() {
    let target = |i: u32| match i % 13 {
        5 => "relative\n".to_owned(),
        7 => "\n".to_owned(),
        _ => format!("/{}\n", i * 7919 % 500),
    };
    let targets: String = (0..350).map(target).collect();
    let lines: String = targets.lines().map(|line| format!("{line},c{}\n", line.len())).collect();
    let table = format!("\npath,column\n{lines}");
    let fields: String = targets.lines().map(|line| format!("{line} c\n")).collect();
    let (one, other) = fields.split_at(fields.len() / 2);
    let log = format!(
        "#Fields: cs-uri-stem sc-status\n{one}\n#Fields: sc-status cs-uri-stem\n{}",
        other.lines().skip(1).map(|line| format!("200 {line}\n")).collect::<String>()
    );
    let place = Place::with([
        ("targets", targets.as_bytes()),
        ("table", table.as_bytes()),
        ("log", log.as_bytes()),
        ("targets.gz", &gzip(targets.as_bytes())),
    ]);
    let rows = "normalize targets -f lines -p string -q -o rows.parquet";
    place.run(rows.split(' ')).exits(0);
    for arguments in [
        "dedup targets -f target -j 1",
        "dedup targets targets.gz -f target -j 3 --count",
        "dedup targets -f target --fields first,canonical,count --memory 1M --temp-dir .",
        "dedup targets -f target --key ssurt --match 1",
        "normalize targets -f target",
        "normalize targets -f target --json",
        "dedup table -f csv:target=path --carry column --fields first,canonical,original",
        "dedup log -f w3c --carry sc-status --keep last --fields first,canonical",
        "dedup targets -f lines --fields first,canonical",
        "normalize targets -f lines",
        "normalize rows.parquet -f parquet:original",
        "normalize rows.parquet -f parquet:target=original --json",
        "dedup rows.parquet -f parquet:target=original --carry record --fields first,count,canonical",
    ] {
        assert_same(arguments, |base| {
            let base = format!("http://{base}@h/");
            place.run(arguments.split(' ').chain(["--profile", "scheme", "--base", &base]))
        });
    }
}

#[test]
fn every_link_of_a_page_with_a_long_url_is_read() {
    let links: String = (0..300).map(|i| format!(r#"{{"url":"{}"}},"#, i * 7919 % 500)).collect();
    let page = format!(r#"{{"Links":[{links}{{"url":"last"}}]}}"#);
    let archive = |address: &str| {
        let page = wat_record("response", &format!("http://h/{address}/"), &page);
        [
            wat_record("request", "http://h/", "null"),
            page,
            wat_record("response", "http://n/", "null"),
        ]
        .concat()
    };
    let place = Place::new();
    for arguments in [
        "normalize in -f wat:links",
        "dedup in -f wat:links --count",
        "dedup in -f wat:links --fields first,canonical",
    ] {
        assert_same(arguments, |address| {
            place.write("in", archive(address));
            place.run(arguments.split(' '))
        });
    }
}

#[test]
fn urls_lengthened_by_redirects_are_counted_exactly() {
    let line = |i: u32| match i % 3 {
        0 => "HTTP://h/old\n".to_owned(),
        1 => format!("HTTP://h/{}\n", i % 50),
        _ => format!("http://h/clean/{}\n", i % 70),
    };
    let list: String = (0..1_200).map(line).collect();
    let place = Place::with([("list", list.as_bytes()), ("more", b"http://h/old\nhttp://new/\n")]);
    for arguments in [
        "dedup list --count",
        "dedup list -j 1 --fields first,count,canonical --key surt",
        "normalize list --json",
        "dedup more --seen list",
        "dedup more --seen list --memory 1M --temp-dir .",
    ] {
        assert_same(arguments, |end| {
            place.write("redirects", format!("http://h/old\thttp://t/{end}\n"));
            place.run(arguments.split(' ').chain(["--redirects", "redirects"]))
        });
    }
}
