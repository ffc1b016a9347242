//! URLs from before a run: `--seen` with lists and stores, and `--save-seen`.

use super::packed::{bzip2, gzip};
use super::{Place, cases, generator, json_lines};
use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

fn lines(text: &[u8]) -> BTreeSet<Vec<u8>> {
    text.split(|&b| b == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
}

/// URLs that come again, others in between, from a number on.
fn list(from: u32, count: u32) -> String {
    let line = |i: u32| match i % 11 {
        9 => "relative\n".to_owned(),
        10 => "\n".to_owned(),
        _ => format!("HTTP://H{}.example:80/{}\n", i % 300, i.wrapping_mul(7919) % 5_000),
    };
    (from..from + count).map(line).collect()
}

#[test]
fn seen_urls_are_not_written_again() {
    let place = Place::with([
        ("old", b"HTTP://a:80\nhttp://b/\n"),
        ("more", b"http://c/\n"),
        ("in", b"http://b\nhttp://d/\nhttp://a/\nhttp://d/\nx\n\nhttp://b/\nhttp://c\n"),
    ]);
    let arguments = ["dedup", "--seen", "old", "--seen", "more", "in", "--stats", "stats"];
    let run = place.run([&arguments[..], &["--report", "page"]].concat()).exits(0);
    assert_eq!(run.out(), "http://d/\n");
    let terms = "records 8 = unique 1 + duplicates 1 + seen 4 + rejected 1 + blank 1; ";
    assert!(run.err.contains(terms), "{}", run.err);
    let stats = place.json("stats");
    assert_eq!((&stats["seen"], &stats["files"][0]["seen"]), (&4.into(), &4.into()));
    assert!(place.text("page").contains("seen</td><td class=\"n\">4</td>"));
    let without = place.run(["dedup", "in", "--stats", "stats"]).exits(0);
    assert!(!without.err.contains("seen") && place.json("stats").get("seen").is_none());
}

#[test]
fn seen_list_may_have_any_compression() {
    let place =
        Place::with([("old", list(0, 2000).as_bytes()), ("in", list(1500, 2000).as_bytes())]);
    let plain = place.run(["dedup", "--seen", "old", "in"]).exits(0);
    for name in ["set", "set.gz", "set.zst"] {
        place.run(["dedup", "old", "-q", "-o", name]).exits(0);
        assert_eq!(place.run(["dedup", "--seen", name, "in"]).exits(0).out, plain.out);
    }
    place.write("old.bz2", bzip2(&place.read("old")));
    let piped = place.run_on(["dedup", "--seen", "-", "in"], place.read("old.bz2")).exits(0);
    assert_eq!(piped.out, plain.out);
    // The start of a chain of runs is an empty list.
    place.write("empty.gz", "");
    assert_eq!(place.run(["dedup", "--seen", "empty.gz", "in"]).exits(0).summary("seen"), 0);
}

#[test]
fn seen_url_longer_than_max_url_is_recognized() {
    // With the default limit, and with one as short as the URL.
    let long = [&b"http://h/"[..], &[0xE9; 60 << 10], b"\n"].concat();
    let place = Place::with([("long", &long[..]), ("short", b"http://h/\xE9\xE9\n")]);
    for (input, more) in [("long", &[][..]), ("short", &["--max-url", "11"])] {
        for name in ["old", "old.zst"] {
            let run = |beside: &[&str]| {
                place.run([&["dedup", input][..], more, beside].concat()).exits(0)
            };
            run(&["-o", name]);
            let again = run(&["--seen", name]);
            assert_eq!(again.out, b"", "{input} {name}");
            assert!(again.err.contains("seen 1 "), "{input} {name}: {}", again.err);
            assert!(!again.err.contains("no URL"), "{input} {name}: {}", again.err);
        }
    }
}

#[test]
fn store_grows_by_what_is_written_and_its_export_is_sorted() {
    let place = Place::new();
    let mut new = Vec::new();
    for day in 0..4 {
        place.write("in", list(day * 700, 2000));
        place.run(["dedup", "in", "-q", "-o", "new", "--save-seen", "seen"]).exits(0);
        new.extend(place.read("new"));
    }
    let all: String = (0..4).map(|day| list(day * 700, 2000)).collect();
    place.write("all", all);
    let whole = place.run(["dedup", "all", "--save-seen", "whole"]).exits(0);
    assert_eq!(new, whole.out, "each URL came out once, on its first day");
    let keys = place.keys_of("seen");
    assert!(keys == place.keys_of("whole"), "however it came to be");
    let keys: Vec<_> = keys.lines().collect();
    assert!(keys.is_sorted() && keys.len() == lines(&new).len());
    // A store may also be named by --seen, before it is there too.
    for status in [1, 0] {
        let arguments = ["dedup", "in", "--seen", "more", "--save-seen", "./more"];
        let run = place.run(arguments).exits(0);
        assert_eq!(run.out.is_empty(), status == 0);
    }
}

#[test]
fn store_of_other_rules_is_rejected() {
    let place = Place::with([("in", b"http://a/\n"), ("moved", b"http://x/\thttp://y/\n")]);
    let redirects = ["--redirects", "moved"];
    let run = |more: &[&str], status| place.run([&["dedup", "in"], more].concat()).exits(status);
    run(&["--save-seen", "set"], 0);
    run(&[&["--save-seen", "redirected"], &redirects[..]].concat(), 0);
    for (store, rules) in [
        ("set", &["-p", "scheme"][..]),
        ("set", &["--with", "strip-www", "-p", "aggressive"]),
        ("set", &["--key", "surt"]),
        ("redirected", &[]),
    ] {
        for seen in [&["--seen", store, "--save-seen", "new"][..], &["--save-seen", store]] {
            let refused = run(&[&["-o", "out"], seen, rules].concat(), 2);
            assert!(refused.err.starts_with(&format!("uniqurl: {store}: ")), "{}", refused.err);
            assert!(!place.path("out").exists() && !place.path("new").exists());
        }
    }
    run(&[&["--seen", "redirected"], &redirects[..]].concat(), 0);
    // The base is not one of the rules of a store.
    run(&["--seen", "set", "--base", "http://h/"], 0);
}

#[test]
fn damaged_store_ends_the_run_and_keeps_old_files() {
    let place = Place::with([("in", b"http://a/\n"), ("out", b"old")]);
    place.write("big", list(0, 5_000));
    place.run(["dedup", "big", "-q", "-o", "x", "--save-seen", "seen"]).exits(0);
    let keys = place.keys_of("seen");
    // All outputs or none, also if another output fails.
    place.run(["dedup", "in", "--save-seen", "seen", "-o", "/dev/full"]).exits(2);
    assert!(place.keys_of("seen") == keys);
    let run =
        fs::read_dir(place.path("seen")).expect("a directory").map(|it| it.expect("an entry"));
    let run = run.map(|it| it.path()).find(|it| it.to_string_lossy().contains("run-"));
    let run = run.expect("a run");
    let mut bytes = fs::read(&run).expect("readable");
    bytes.truncate(bytes.len() - 5);
    fs::write(&run, &bytes).expect("written");
    for option in ["--seen", "--save-seen"] {
        let told = place.run(["dedup", "in", option, "seen", "-o", "out"]).exits(2);
        assert!(told.err.starts_with("uniqurl: seen/run-"), "{}", told.err);
        assert_eq!(place.text("out"), "old");
        assert_eq!(fs::read(&run).expect("readable"), bytes);
    }
}

/// A cut line is not counted as seen, plain or compressed.
#[test]
fn unfinished_last_line_of_a_seen_list_is_ignored() {
    let place = Place::with([("in", b"http://h/9\nhttp://h/95\n")]);
    place.pipe("pipe");
    let list = b"http://a/\nhttp://h/9";
    for (name, list, more) in
        [("list", list.to_vec(), b"5\n".to_vec()), ("list.gz", gzip(list), gzip(b"5\n"))]
    {
        place.write(name, list);
        // With one thread, the compressed list is not decoded before its turn, when it has not grown yet.
        let arguments = ["dedup", "-j", "1", "--seen", "pipe", "--seen", name, "in"];
        let run =
            place.run_meanwhile("pipe", &arguments, Stdio::null(), || place.append(name, &more));
        assert_eq!(run.exits(0).out(), "http://h/9\nhttp://h/95\n", "{name}");
    }
}

#[test]
fn rejects_hold_records_of_inputs_only() {
    let place = Place::with([("old", b"bad\nhttp://a/\n"), ("in", b"http://b/\nworse\n")]);
    place.run(["dedup", "in", "--seen", "old", "--rejects", "rejects"]).exits(0);
    let rejects = json_lines(&place.read("rejects"));
    assert_eq!(rejects.len(), 1);
    assert_eq!((&rejects[0]["raw"], &rejects[0]["record"]), (&"worse".into(), &2.into()));
}

/// dedup(A ++ B) is dedup(A) and then dedup --seen dedup(A) B: as lists and as stores, and
/// every record is counted.
#[test]
fn two_runs_with_seen_equal_one_run() {
    cases::for_each_case(30, |rng| {
        let mut urls = |count: usize| {
            let urls = (0..count).map(|_| generator::any(rng));
            let urls: Vec<_> = urls.filter(|url| !url.contains(&b'\n')).collect();
            urls
        };
        let (shared, a, b) = (urls(40), urls(60), urls(60));
        let (small, many) = (rng.one_in(2), rng.one_in(2));
        let join = |own: &[Vec<u8>], host: &str| {
            let urls = shared.iter().chain(own).flat_map(|url| [&url[..], b"\n"].concat());
            let urls: Vec<u8> = urls.collect();
            let more = (0..if many { 7_000 } else { 1 }).map(|i| format!("http://{host}/{i}\n"));
            [urls, more.collect::<String>().into_bytes()].concat()
        };
        let place = Place::new();
        place.write("a", join(&a, "a.example"));
        place.write("b", join(&b, "b.example"));
        let how: &[&str] = if small { &["--memory", "1M"] } else { &["-j", "2"] };
        let run = |arguments: &[&str]| {
            place.run([&["dedup", "-f", "lines"], arguments, how].concat()).exits(0)
        };
        let both = run(&["a", "b", "--save-seen", "both"]);
        let first = run(&["a", "-o", "first", "--save-seen", "saved"]);
        for seen in [["--seen", "first"], ["--save-seen", "saved"]] {
            let second = run(&["b", seen[0], seen[1]]);
            let old = place.read("first");
            assert!([&old[..], &second.out].concat() == both.out, "{seen:?}");
            let sum = |name| first.summary(name) + second.summary(name);
            for term in ["records", "unique", "rejected", "blank"] {
                assert_eq!(sum(term), both.summary(term), "{term}");
            }
            let again = sum("duplicates") + second.summary("seen");
            assert_eq!(again, both.summary("duplicates"));
        }
        assert!(place.keys_of("saved") == place.keys_of("both"));
    });
}

#[test]
fn byte_order_mark_of_a_seen_list_is_read_as_that_of_an_input() {
    let place = Place::with([("in", b"\xEF\xBB\xBFhttp://a/\nhttp://b/\n")]);
    for profile in ["string", "crawl"] {
        place.run(["dedup", "-p", profile, "in", "-o", "out", "--save-seen", profile]).exits(0);
        for seen in ["in", "out", profile] {
            let run = place.run(["dedup", "-p", profile, "--seen", seen, "in"]).exits(0);
            assert_eq!((run.out(), run.summary("seen")), ("", 2), "{profile} {seen}");
        }
    }
}

#[test]
fn each_line_of_a_seen_list_is_one_url() {
    let place = Place::with([
        ("in", &b"http://h/a\tb\nhttp://h/\xE9\nfirst:1:0\n1\thttp://h/\n"[..]),
        ("ends", b"http://h/a\tb\r\n\r\nhttp://h/\xE9\r\nfirst:1:0\r\n1\thttp://h/\r\n"),
    ]);
    for seen in ["in", "ends"] {
        let run = place.run(["dedup", "-p", "string", "in", "--seen", seen]).exits(0);
        assert_eq!((run.summary("seen"), run.out()), (4, ""), "{seen}");
    }
}

#[test]
fn a_list_may_begin_with_any_bytes_where_the_user_says_that_records_are_lines() {
    for start in [&b"\xFF\xFE"[..], b"\xFE\xFF", b"\xFF\xFE\0\0"] {
        let place = Place::with([("in", &[start, b"\nhttp://a/\n"].concat()[..])]);
        place.write("old", [start, b"\n"].concat());
        let fixed = ["dedup", "in", "-p", "string", "--seen", "old"];
        let run = place.run([&fixed[..], &["-f", "lines"]].concat()).exits(0);
        assert_eq!((run.out(), run.summary("seen")), ("http://a/\n", 1));
    }
}
