//! The result does not depend on the scanner, the number of threads, files or pipes, and equals the
//! result of a loop over the lines with a set of the standard library.

use super::packed::gzip;
use super::{Place, built};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile};

/// Lines of every kind, with each URL in several spellings.
fn mixed(lines: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = |below: u64| {
        // splitmix64, with a fixed start.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % below
    };
    let mut text = Vec::new();
    for _ in 0..lines {
        let (host, page) = (next(500), next(200));
        let line = match next(20) {
            0..=7 => format!("http://host{host}.example/path/{page}?q=~x"),
            8 => format!("HTTP://HOST{host}.Example:80/path/./{page}?q=%7ex"),
            9 => format!("http://host{host}.example/a/../path/{page}?q=~x#frag{page}"),
            10 => format!("  http://user:pw@host{host}.example/path/{page}?q=~x\t"),
            11 => format!("http://host{host}.example./p%61th/{page}?q=~x\r"),
            12 => format!("https://b\u{fc}cher{host}.example/{page} {page}"),
            13 => format!("http://[2001:DB8:0::{host:x}]:0{page}/"),
            14 => format!("http://host{host}.example:{}/", 65_000 + page * 10),
            15 => format!("/relative/{page}"),
            16 => format!("mailto:User{host}@Host{page}.Example"),
            17 => String::from(if page % 2 == 0 { "" } else { " \t" }),
            18 => format!("http://h/{}", "long/".repeat(page as usize)),
            _ => format!("http:host{host}"),
        };
        text.extend_from_slice(line.as_bytes());
        if page == 77 {
            text.extend_from_slice(b"\xFF\xFE%zz");
        }
        text.push(b'\n');
    }
    // No line feed at the end, and one line that no buffer holds whole.
    text.extend_from_slice(b"http://h/");
    text.resize(text.len() + 3_000_000, b'x');
    text.extend_from_slice(b"\nhttp://last/");
    text
}

/// The output the command should write, found the slow and obvious way.
struct Expected {
    lines: Vec<u8>,
    first: Vec<u8>,
    sorted: Vec<u8>,
    counts: BTreeMap<&'static str, u64>,
}

fn expected(text: &[u8]) -> Expected {
    let crawl = Normalizer::new(Profile::Crawl).with_backend(Backend::Scalar);
    let (mut lines, mut first, mut set) = (Vec::new(), Vec::new(), HashSet::new());
    let mut counts = BTreeMap::new();
    let mut count = |name| *counts.entry(name).or_default() += 1;
    for line in text.split(|&b| b == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut url = Vec::new();
        count("records");
        if line.iter().all(|b| b" \t".contains(b)) {
            count("blank");
        } else if line.len() > 65_536 || crawl.append(line, &mut url) != Ok(()) {
            count("rejected");
        } else if set.insert(url.clone()) {
            count("unique");
            first.extend_from_slice(&url);
            first.push(b'\n');
        } else {
            count("duplicates");
        }
        lines.extend_from_slice(&url);
        lines.push(b'\n');
    }
    let mut sorted: Vec<_> = set.into_iter().collect();
    sorted.sort();
    let sorted = sorted.into_iter().flat_map(|url| [url, b"\n".to_vec()].concat()).collect();
    Expected { lines, first, sorted, counts }
}

fn sorted_lines(text: &[u8]) -> Vec<u8> {
    let mut lines: Vec<_> = text.split_inclusive(|&b| b == b'\n').collect();
    lines.sort();
    lines.concat()
}

/// The accounting without the fields that may differ between two runs.
fn accounting(stats: &Value) -> Value {
    let mut stats = stats.clone();
    for name in ["seconds", "threads", "backend", "files"] {
        stats.as_object_mut().expect("an object").remove(name);
    }
    stats
}

#[test]
fn output_does_not_depend_on_threads_backend_or_pipes() {
    let place = Place::new();
    let text = mixed(200_000);
    let expected = expected(&text);
    assert!(expected.counts.values().all(|&n| n > 1_000), "{:?}", expected.counts);
    place.write("in", &text);
    let scanners = built::scanners();
    let (best, others) = scanners.split_first().expect("scalar at least");
    let mut runs: Vec<_> = ["1", "2", "3", "8"].map(|threads| (best, threads)).into();
    runs.extend(others.iter().map(|backend| (backend, "2")));
    let mut account: Option<Value> = None;
    let mut rejects: Option<Vec<u8>> = None;
    for (backend, threads) in &runs {
        for input in ["in", "-"] {
            let with = format!("{backend}, {threads} threads, {input}");
            let run = |extra: &[&str]| {
                let fixed = ["--backend", backend, "-j", threads, "-f", "lines", input];
                let bytes = if input == "-" { text.clone() } else { Vec::new() };
                place.run_on([extra, &fixed].concat(), bytes).exits(0)
            };
            let out = run(&["dedup", "--stats", "stats", "--rejects", "rejects"]);
            assert!(out.out == expected.first, "first: {with}");
            let stats = place.json("stats");
            for (name, number) in &expected.counts {
                assert_eq!(stats[name], *number, "{name}: {with}");
            }
            let now = accounting(&stats);
            assert_eq!(*account.get_or_insert_with(|| now.clone()), now, "{with}");
            if input == "in" {
                assert!(run(&["normalize"]).out == expected.lines, "normalize: {with}");
                if *backend == best {
                    let sorted = run(&["dedup", "--order", "sorted"]).out;
                    assert!(sorted == expected.sorted, "sorted: {with}");
                }
                let now = sorted_lines(&place.read("rejects"));
                assert!(*rejects.get_or_insert_with(|| now.clone()) == now, "rejects: {with}");
            }
        }
    }
}

#[test]
fn failed_runs_report_the_same_with_any_number_of_threads() {
    let lines: String = (0..40_000).map(|i| format!("http://host{i}.example/path/\n")).collect();
    let packed = gzip(lines.as_bytes());
    let place = Place::with([
        ("first", format!("http://a:b/\n{lines}").as_bytes()),
        ("zip", b"PK\x03\x04 and more"),
        ("cut", &packed[..packed.len() * 2 / 3]),
        ("last", b"http://last/\n"),
    ]);
    let limit = &["--max-rejected", "0"][..];
    for (bad, options, status) in [
        ("zip", &[][..], 2),
        ("cut", &[], 2),
        ("zip", limit, 3),
        ("cut", limit, 3),
        ("zip", &["--keep-going"], 1),
        ("cut", &["--keep-going"], 1),
        ("zip", &["--keep-going", "--max-rejected", "0"], 3),
        ("cut", &["--keep-going", "--max-rejected", "0"], 3),
    ] {
        let mut expected = None;
        for threads in ["1", "2", "3", "6"] {
            let fixed = ["dedup", "first", bad, "last", "-j", threads, "--stats", "stats"];
            let run = place.run([&fixed, options].concat()).exits(status);
            let stats = place.json("stats");
            let (told, _) = run.err.rsplit_once("records ").expect("an accounting");
            let told = told.to_owned();
            // With a limit a run ends at the end of a chunk.
            let found = match status {
                3 => (told, stats["inputs"].clone(), Value::Null, Vec::new()),
                _ => (told, accounting(&stats), stats["files"].clone(), run.out),
            };
            let expected = expected.get_or_insert_with(|| found.clone());
            assert!(found == *expected, "{bad} {options:?} -j {threads}: {}", run.err);
        }
        let (told, _, files, out) = expected.expect("runs");
        let (trouble, limit) = (format!("{bad}@"), "first@0: record 1: more than 0 records");
        assert_eq!(told.contains(limit), status == 3, "{told}");
        let is_told = told.contains(&trouble) || told.contains("zip: format");
        assert_eq!(is_told, status != 3, "{told}");
        if status == 2 {
            assert_eq!(
                (files[0]["state"].as_str(), files.as_array().unwrap().len()),
                (Some("ok"), 2)
            );
            assert!(out.starts_with(lines.as_bytes()), "all that was read before is written");
        }
    }
}
