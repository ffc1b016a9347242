//! URLs from before a run: `--seen` with lists and stores, and `--save-seen`.

use super::packed::gzip;
use super::{Place, cases, generator, json_lines};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
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
    for threads in ["1", "2"] {
        let arguments = ["dedup", "-j", threads, "--seen", "old", "--seen", "more", "in"];
        let run = place
            .run([&arguments[..], &["--stats", "stats", "--report", "page"]].concat())
            .exits(0);
        assert_eq!(run.out(), "http://d/\n");
        assert!(
            run.err
                .contains("records 8 = unique 1 + duplicates 1 + seen 4 + rejected 1 + blank 1; "),
            "{}",
            run.err
        );
        let stats = place.json("stats");
        assert_eq!((&stats["seen"], &stats["files"][0]["seen"]), (&4.into(), &4.into()));
        assert!(place.text("page").contains("seen</td><td class=\"n\">4</td>"));
    }
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
    let text = place.read("old");
    let mut packed = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    packed.write_all(&text).expect("packed");
    place.write("set.bz2", packed.finish().expect("packed"));
    assert_eq!(place.run(["dedup", "--seen", "set.bz2", "in"]).exits(0).out, plain.out);
    let run = place.run_on(["dedup", "--seen", "-", "in"], text).exits(0);
    assert_eq!(run.out, plain.out);
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
fn seen_works_with_every_key_and_output_form() {
    let place = Place::with([("old", list(0, 900).as_bytes()), ("in", list(500, 900).as_bytes())]);
    for key in ["url", "surt", "ssurt", "hash"] {
        let run = |arguments: &[&str]| {
            let fixed = ["dedup", "--key", key, "in"];
            place.run([&fixed[..], arguments].concat()).exits(0)
        };
        let keys = |name: &str| lines(&place.run(["dedup", "--key", key, name]).exits(0).out);
        let expected: BTreeSet<_> = &keys("in") - &keys("old");
        assert!(!expected.is_empty());
        let store = format!("store-{key}");
        place.run(["dedup", "--key", key, "old", "--save-seen", &store]).exits(0);
        for seen in ["old", &store] {
            let plain = run(&["--seen", seen]);
            assert_eq!(lines(&plain.out), expected);
            let sorted = run(&["--seen", seen, "--order", "sorted"]);
            assert_eq!(lines(&sorted.out), expected);
            let one = run(&["--seen", seen, "--limit", "1", "--count"]);
            assert_eq!(one.out().lines().count(), 1);
            let rows = run(&["--seen", seen, "--fields", "canonical,count,first"]);
            assert_eq!(rows.out().lines().count(), expected.len());
            for term in ["unique", "duplicates", "seen"] {
                assert_eq!(rows.summary(term), plain.summary(term));
            }
        }
    }
}

#[test]
fn seen_does_not_depend_on_the_budget() {
    let place =
        Place::with([("a", list(0, 9_000).as_bytes()), ("b", list(3_000, 12_000).as_bytes())]);
    fs::create_dir(place.path("temp")).expect("made");
    place.write("many", (0..60_000).map(|i| format!("http://m/{i}\n")).collect::<String>());
    for arguments in [
        &["--seen", "a", "b"][..],
        &["--seen", "a", "--seen", "many", "b", "--order", "sorted"],
        &["--seen", "many", "a", "b", "--count"],
        &["--seen", "many", "a", "b", "--order", "count"],
        &["--seen", "a", "--seen", "many", "b", "--fields", "count,canonical,first"],
    ] {
        let run = |memory: &str, threads: &str| {
            let fixed = ["dedup", "-j", threads, "--stats", "stats", "--memory", memory];
            let fixed = [&fixed[..], &["--temp-dir", "temp"]].concat();
            let saving: &[&str] = &["--save-seen", "saved"];
            let _ = fs::remove_dir_all(place.path("saved"));
            let run = place.run([&fixed[..], arguments, saving].concat()).exits(0);
            let mut stats = place.json("stats");
            let spilled = stats["spilled"].as_u64().expect("a number");
            for name in ["seconds", "spilled", "spilling", "threads"] {
                stats.as_object_mut().expect("an object").remove(name);
            }
            (run.out, place.keys_of("saved"), stats, spilled)
        };
        let (out, saved, stats, spilled) = run("1G", "1");
        assert_eq!(spilled, 0);
        assert!(stats["seen"].as_u64() > Some(0) || arguments[1] == "many");
        assert_eq!(saved.lines().count() as u64, stats["unique"].as_u64().expect("a number"));
        for threads in ["1", "2"] {
            let (small_out, small_saved, small_stats, spilled) = run("1M", threads);
            assert!(spilled > 0, "{arguments:?}");
            assert!(small_out == out && small_saved == saved, "{arguments:?}");
            assert_eq!(small_stats, stats, "{arguments:?}");
        }
        assert_eq!(fs::read_dir(place.path("temp")).expect("readable").count(), 0);
    }
}

#[test]
fn store_of_other_rules_is_rejected_with_the_difference() {
    let place = Place::with([
        ("in", b"http://a/\n"),
        ("one", b"http://x/\thttp://y/\n"),
        ("other", b"http://x/\thttp://z/\n"),
    ]);
    place.run(["dedup", "in", "-q", "--save-seen", "set"]).exits(0);
    place.run(["dedup", "in", "-q", "--save-seen", "redirected", "--redirects", "one"]).exits(0);
    for (store, options, words) in [
        ("set", &["-p", "scheme"][..], "`crawl@1`, and those of this run are `scheme@1`"),
        ("set", &["--with", "strip-www", "-p", "aggressive"], "aggressive@2"),
        (
            "set",
            &["--key", "surt"],
            "is surt\nhint: give the options that `uniqurl seen stats` shows",
        ),
        ("redirected", &["--redirects", "other"], "but the redirects differ\nhint: give the lists"),
        ("redirected", &[], "redirects=1"),
    ] {
        for arguments in [&["--seen", store, "--save-seen", "new"][..], &["--save-seen", store]] {
            let fixed = ["dedup", "in", "-o", "out"];
            let run = place.run([&fixed[..], arguments, options].concat()).exits(2);
            assert!(run.err.contains(&format!("{store}: ")), "{}", run.err);
            assert!(run.err.contains(words), "{}", run.err);
            let carried = "to a new store: `uniqurl seen export OLD -o keys.txt`, then";
            assert!(run.err.contains(carried), "{}", run.err);
            assert!(!place.path("out").exists() && !place.path("new").exists());
        }
    }
    place.run(["dedup", "in", "--seen", "redirected", "--redirects", "one"]).exits(0);
    // The base is not one of the rules of a store.
    place.run(["dedup", "in", "--seen", "set", "--base", "http://h/"]).exits(0);
}

#[test]
fn wrong_use_of_seen_is_rejected_before_reading() {
    let place = Place::with([("in", b"http://a/\n"), ("surts", b"com,a)/\ncom,b)/\n")]);
    fs::create_dir(place.path("dir")).expect("made");
    place.write("dir/mine", "mine");
    for (arguments, words) in [
        (&["in", "--save-seen", "s", "-o", "s"][..], "same place"),
        (&["in", "--save-seen", "s", "-o", "s/x"], "s/x: the directory s is missing"),
        (&["in", "--save-seen", "s", "--stats", "s"], "same place"),
        (&["in", "--save-seen", "s", "--report", "s"], "same place"),
        (&["in", "--save-seen", "-"], "--save-seen names a directory"),
        (&["in", "--save-seen", "in"], "in: it is no seen store\nhint: read a list with"),
        (&["in", "--save-seen", "dir"], "dir: it is no seen store\nhint: name the directory"),
        (&["in", "--wait"], "--save-seen"),
        (&["in", "--max-age", "1d"], "--max-age is about the keys of a store"),
        (&["in", "--max-age", "1d", "--seen", "in"], "--seen names lists only"),
        (&["in", "--max-age", "1", "--save-seen", "s"], "like 12h, 30d or 2w"),
        (&["--seen", "-"], "standard input"),
        (&["in", "-", "--seen", "-"], "standard input"),
        (&["in", "--seen", "-", "--seen", "-"], "standard input"),
        (&["in", "--seen", "none"], "No such file or directory (os error 2)\nhint: make a store"),
        (&["in", "--seen", "none", "--keep-going"], "none: missing: "),
        (&["in", "--seen", "none", "--save-seen", "s"], "none: missing: "),
        (&["none", "--save-seen", "s"], "none: missing: "),
        (&["in", "--seen", "dir"], "dir: it is no seen store\nhint: name the directory"),
        (&["in", "--seen", "surts"], "surts: seen: none of its 2 lines is a URL under crawl@1"),
        (&["in", "--save-seen", "no/such"], "no/such"),
    ] {
        let run = place.run([&["dedup"], arguments].concat()).exits(2);
        assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
        assert_eq!(place.names(), ["dir", "in", "surts"], "{arguments:?}");
    }
    assert!(place.run(["normalize", "in", "--seen", "in"]).exits(2).err.contains("--seen"));
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
fn rejected_lines_of_a_seen_list_give_one_warning() {
    let place = Place::with([
        ("in", b"http://a/\nhttp://b/\n"),
        ("old", b"http://a/\nnone\n\nmore\n"),
        ("empty.gz", b""),
    ]);
    for quiet in [&[][..], &["-q"]] {
        let run = place.run([&["dedup", "in", "--seen", "old"], quiet].concat()).exits(0);
        assert_eq!(run.out(), "http://b/\n");
        assert!(
            run.err.starts_with("uniqurl: warning: old: 2 of 3 lines are not URLs"),
            "{}",
            run.err
        );
        assert_eq!(run.err.matches("warning: ").count(), 1, "{}", run.err);
    }
    // The start of a chain of runs.
    let run = place.run(["dedup", "in", "--seen", "empty.gz"]).exits(0);
    assert_eq!((run.out().lines().count(), run.summary("seen")), (2, 0));
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
fn seen_list_has_the_separator_of_the_inputs() {
    let place = Place::with([("in", b"http://a/\0http://b/\0"), ("old", b"http://a/\0\0")]);
    let run = place.run(["dedup", "-0", "in", "--seen", "old"]).exits(0);
    assert_eq!((run.out(), run.summary("seen")), ("http://b/\0", 1));
}

#[test]
fn seen_file_that_is_not_a_list_is_rejected() {
    let place = Place::with([
        ("in", b"http://a/\nhttp://b/\n"),
        ("nul", b"http://a/\0http://b/\0"),
        ("utf16", b"\xFF\xFEh\0"),
    ]);
    place.run(["dedup", "in", "-q", "-o", "t.parquet"]).exits(0);
    for (name, words) in [
        ("nul", "its records end with NUL"),
        ("utf16", "UTF-16 is not read"),
        ("t.parquet", "a table is not a list of URLs"),
    ] {
        for profile in ["crawl", "string"] {
            let run =
                place.run(["dedup", "in", "--seen", name, "-p", profile, "-o", "out"]).exits(2);
            assert!(run.err.starts_with(&format!("uniqurl: {name}: seen: {words}")), "{}", run.err);
            assert!(!place.path("out").exists());
        }
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
