//! Sets from before a run: `--seen` and `--save-seen`.

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
fn only_what_is_not_in_an_earlier_output_comes_out() {
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
        assert!(place.text("page").contains("seen before</td><td class=\"n\">4</td>"));
    }
    let without = place.run(["dedup", "in", "--stats", "stats"]).exits(0);
    assert!(!without.err.contains("seen") && place.json("stats").get("seen").is_none());
}

#[test]
fn an_earlier_output_may_have_counts_and_any_compression() {
    let place =
        Place::with([("old", list(0, 2000).as_bytes()), ("in", list(1500, 2000).as_bytes())]);
    let plain = place.run(["dedup", "--seen", "old", "in"]).exits(0);
    for name in ["set", "set.gz", "set.zst"] {
        place.run(["dedup", "old", "-q", "-o", name]).exits(0);
        assert_eq!(place.run(["dedup", "--seen", name, "in"]).exits(0).out, plain.out);
        place.run(["dedup", "old", "-q", "--count", "-o", name]).exits(0);
        assert_eq!(place.run(["dedup", "--seen", name, "in"]).exits(0).out, plain.out);
        place.run(["dedup", "old", "-q", "-o", "out", "--save-seen", name]).exits(0);
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
fn an_earlier_output_is_known_also_where_encoding_made_a_url_longer_than_max_url() {
    // By default, and as short as can be.
    let long = [&b"http://h/"[..], &[0xE9; 60 << 10], b"\n"].concat();
    let place = Place::with([("long", &long[..]), ("short", b"http://h/\xE9\xE9\n")]);
    for (input, more) in [("long", &[][..]), ("short", &["--max-url", "11"])] {
        for name in ["old", "old.zst", "old.parquet"] {
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
fn a_saved_set_grows_from_run_to_run_and_is_sorted() {
    let place = Place::new();
    let mut new = Vec::new();
    for day in 0..4 {
        place.write("in", list(day * 700, 2000));
        let mut arguments = vec!["dedup", "in", "-q", "-o", "new", "--save-seen", "seen.zst"];
        if day > 0 {
            arguments.extend(["--seen", "seen.zst"]);
        }
        place.run(arguments).exits(0);
        new.extend(place.read("new"));
    }
    let all: String = (0..4).map(|day| list(day * 700, 2000)).collect();
    place.write("all", all);
    let whole = place.run(["dedup", "all", "--save-seen", "whole"]).exits(0);
    assert_eq!(new, whole.out, "each URL came out once, on its first day");
    let saved = zstd::decode_all(&place.read("seen.zst")[..]).expect("zstd");
    assert!(saved == place.read("whole"), "however it came to be");
    let text = String::from_utf8(saved).expect("text");
    let (header, keys) = text.split_once('\n').expect("a header");
    assert!(header.starts_with("#uniqurl-set {") && header.contains("crawl@1"), "{header}");
    let keys: Vec<_> = keys.lines().collect();
    assert!(keys.is_sorted() && keys.len() == lines(&new).len());
}

#[test]
fn every_key_and_form_of_output_knows_what_was_seen() {
    let place = Place::with([("old", list(0, 900).as_bytes()), ("in", list(500, 900).as_bytes())]);
    for key in ["url", "surt", "ssurt", "hash"] {
        let run = |arguments: &[&str]| {
            let fixed = ["dedup", "--key", key, "in"];
            place.run([&fixed[..], arguments].concat()).exits(0)
        };
        let keys = |name: &str| lines(&place.run(["dedup", "--key", key, name]).exits(0).out);
        let expected: BTreeSet<_> = &keys("in") - &keys("old");
        assert!(!expected.is_empty());
        place.run(["dedup", "--key", key, "old", "--save-seen", "set"]).exits(0);
        for seen in ["old", "set"] {
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
fn no_budget_changes_what_was_seen() {
    let place =
        Place::with([("a", list(0, 9_000).as_bytes()), ("b", list(3_000, 12_000).as_bytes())]);
    fs::create_dir(place.path("temp")).expect("made");
    place.write("many", (0..60_000).map(|i| format!("http://m/{i}\n")).collect::<String>());
    for arguments in [
        &["--seen", "a", "b"][..],
        &["--seen", "a", "--seen", "many", "b", "--order", "sorted"],
        &["--seen", "many", "a", "b", "--count"],
        &["--seen", "a", "--seen", "many", "b", "--fields", "count,canonical,first"],
    ] {
        let run = |memory: &str, threads: &str| {
            let fixed = ["dedup", "-j", threads, "--stats", "stats", "--memory", memory];
            let fixed = [&fixed[..], &["--temp-dir", "temp"]].concat();
            let saving: &[&str] = &["--save-seen", "saved"];
            let run = place.run([&fixed[..], arguments, saving].concat()).exits(0);
            let mut stats = place.json("stats");
            let spilled = stats["spilled"].as_u64().expect("a number");
            for name in ["seconds", "spilled", "threads"] {
                stats.as_object_mut().expect("an object").remove(name);
            }
            (run.out, place.read("saved"), stats, spilled)
        };
        let (out, saved, stats, spilled) = run("1G", "1");
        assert_eq!(spilled, 0);
        assert!(stats["seen"].as_u64() > Some(0) || arguments[1] == "many");
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
fn a_set_of_other_rules_is_refused_and_the_difference_named() {
    let place = Place::with([
        ("in", b"http://a/\n"),
        ("one", b"http://x/\thttp://y/\n"),
        ("other", b"http://x/\thttp://z/\n"),
    ]);
    place.run(["dedup", "in", "-q", "--save-seen", "set"]).exits(0);
    place.run(["dedup", "in", "-q", "--save-seen", "redirected", "--redirects", "one"]).exits(0);
    for (arguments, words) in [
        (&["--seen", "set", "-p", "scheme"][..], "`crawl@1`, and those of this run are `scheme@1`"),
        (&["--seen", "set", "--with", "strip-www"], "with=strip-www"),
        (&["--seen", "set", "--key", "surt"], "its key is url, and that of this run is surt"),
        (&["--seen", "redirected", "--redirects", "other"], "redirects"),
        (&["--seen", "redirected"], "redirects=1"),
    ] {
        let fixed = ["dedup", "in", "-o", "out", "--save-seen", "new"];
        let run = place.run([&fixed[..], arguments].concat()).exits(2);
        assert!(run.err.contains(words), "{}", run.err);
        assert!(!place.path("out").exists() && !place.path("new").exists());
    }
    place.run(["dedup", "in", "--seen", "redirected", "--redirects", "one"]).exits(0);
    // How a reference is read is no rule of a set.
    place.run(["dedup", "in", "--seen", "set", "--base", "http://h/"]).exits(0);
    let changed = place.text("set").replace("\"version\":1", "\"version\":7");
    place.write("set", changed);
    let run = place.run(["dedup", "in", "--seen", "set"]).exits(2);
    assert!(run.err.contains("set: seen: it is of version 7"), "{}", run.err);
}

#[test]
fn wrong_use_is_refused_up_front() {
    let place = Place::with([("in", b"http://a/\n"), ("surts", b"com,a)/\ncom,b)/\n")]);
    for (arguments, words) in [
        (&["in", "--save-seen", "s", "--limit", "3"][..], "--limit"),
        (&["in", "--save-seen", "s", "--min-count", "2"], "--min-count"),
        (&["in", "--save-seen", "s", "-o", "s"], "same place"),
        (&["in", "--save-seen", "s", "--stats", "s"], "same place"),
        (&["in", "--save-seen", "s", "--report", "s"], "same place"),
        (&["--seen", "-"], "standard input"),
        (&["in", "-", "--seen", "-"], "standard input"),
        (&["in", "--seen", "-", "--seen", "-"], "standard input"),
        (&["in", "--seen", "none"], "none: missing: "),
        (&["in", "--seen", "none", "--keep-going"], "none: missing: "),
        (&["in", "--seen", "."], "directory"),
        (&["in", "--seen", "surts"], "surts: seen: none of its 2 lines is a URL under crawl@1"),
        (&["in", "--save-seen", "no/such"], "no/such"),
    ] {
        let run = place.run([&["dedup"], arguments].concat()).exits(2);
        assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
        assert_eq!(place.names(), ["in", "surts"].map(str::to_owned).to_vec(), "{arguments:?}");
    }
    assert!(place.run(["normalize", "in", "--seen", "in"]).exits(2).err.contains("--seen"));
}

#[test]
fn a_list_that_is_not_only_urls_is_doubted() {
    let place = Place::with([
        ("in", b"http://a/\nhttp://b/\n"),
        ("old", b"http://a/\nnone\n\n"),
        ("table", b"http://a/\t12\nhttp://c/\n"),
        ("empty.gz", b""),
    ]);
    let run = place.run(["dedup", "in", "--seen", "old", "--seen", "table"]).exits(0);
    assert_eq!(run.out(), "http://b/\n");
    assert!(run.err.contains("old: warning: 1 of 2 lines are no URLs"), "{}", run.err);
    assert!(run.err.contains("table: warning: 1 of 2 lines hold a tab"), "{}", run.err);
    let run = place.run(["dedup", "-q", "in", "--seen", "old"]).exits(0);
    assert!(run.err.starts_with("uniqurl: old: warning: "), "{}", run.err);
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    // How a chain of runs begins.
    let run = place.run(["dedup", "in", "--seen", "empty.gz"]).exits(0);
    assert_eq!((run.out().lines().count(), run.summary("seen")), (2, 0));
}

#[test]
fn a_damaged_set_ends_the_run_and_keeps_what_was_there() {
    let place = Place::with([("in", b"http://a/\n"), ("out", b"old")]);
    place.write("big", list(0, 5_000));
    place.run(["dedup", "big", "-q", "-o", "x", "--save-seen", "set.zst"]).exits(0);
    let whole = place.read("set.zst");
    place.write("set.zst", &whole[..whole.len() - 5]);
    let run =
        place.run(["dedup", "in", "--seen", "set.zst", "--save-seen", "set.zst", "-o", "out"]);
    let run = run.exits(2);
    assert!(run.err.contains("set.zst@") && run.err.contains("truncated"), "{}", run.err);
    assert_eq!(place.text("out"), "old");
    assert_eq!(place.read("set.zst"), &whole[..whole.len() - 5]);
    // All of it or nothing also where another output fails.
    place.write("set", "");
    place.run(["dedup", "in", "--save-seen", "set", "-o", "/dev/full"]).exits(2);
    assert_eq!(place.text("set"), "");
    place.run(["dedup", "in", "--save-seen", "/dev/full", "-o", "out"]).exits(2);
    assert_eq!(place.text("out"), "old");
}

/// Half a key may be another one: here that of a URL that nobody saw.
#[test]
fn a_saved_set_that_breaks_off_in_a_line_is_refused() {
    let place = Place::with([("in", b"http://a/\nhttp://b/x\n"), ("new", b"http://b/\n")]);
    place.run(["dedup", "in", "--save-seen", "set"]).exits(0);
    let whole = place.read("set");
    let header = whole.len() - "http://a/\nhttp://b/x\n".len();
    for (left, at) in [(1, header + 10), (2, header + 10), (20, header), (22, 0)] {
        place.write("cut", &whole[..whole.len() - left]);
        let told = format!("cut@{at}: damaged: the saved set breaks off in this line");
        for arguments in [
            &["dedup", "new", "--seen", "cut"][..],
            &["dedup", "new", "-j1", "--seen", "cut"],
            &["dedup", "new", "-0", "--seen", "cut"],
            &["set", "diff", "cut", "new"],
        ] {
            let run = place.run([arguments, &["-o", "out"]].concat()).exits(2);
            assert!(run.err.contains(&told), "{arguments:?} {left}: {}", run.err);
            assert!(!place.path("out").exists());
        }
        let piped = place.run_on(["dedup", "new", "--seen", "-"], place.read("cut")).exits(2);
        assert!(piped.err.contains(&told.replace("cut@", "-@")), "{left}: {}", piped.err);
    }
    // Between two lines nobody can tell.
    place.write("cut", &whole[..header]);
    place.run(["dedup", "new", "--seen", "cut"]).exits(0);
}

/// What was seen of a line that was cut is not known, plain or compressed.
#[test]
fn the_last_line_of_a_list_that_grows_was_not_seen() {
    let place = Place::with([("in", b"http://h/9\nhttp://h/95\n")]);
    place.pipe("pipe");
    let list = b"http://a/\nhttp://h/9";
    for (name, list, more) in
        [("list", list.to_vec(), b"5\n".to_vec()), ("list.gz", gzip(list), gzip(b"5\n"))]
    {
        place.write(name, list);
        let arguments = ["dedup", "--seen", "pipe", "--seen", name, "in"];
        let run = place.run_behind("pipe", &arguments, Stdio::null(), || place.append(name, &more));
        assert_eq!(run.exits(0).out(), "http://h/9\nhttp://h/95\n", "{name}");
    }
}

#[test]
fn rejects_are_those_of_the_inputs_alone() {
    let place = Place::with([("old", b"bad\nhttp://a/\n"), ("in", b"http://b/\nworse\n")]);
    place.run(["dedup", "in", "--seen", "old", "--rejects", "rejects"]).exits(0);
    let rejects = json_lines(&place.read("rejects"));
    assert_eq!(rejects.len(), 1);
    assert_eq!((&rejects[0]["raw"], &rejects[0]["record"]), (&"worse".into(), &2.into()));
}

/// dedup(A ++ B) is dedup(A) and then dedup --seen dedup(A) B: as lists, as saved sets, and every record
/// has its place in the accounting.
#[test]
fn two_runs_are_one() {
    cases::for_each_case(10_000, |rng| {
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
        for seen in ["first", "saved"] {
            let second = run(&["b", "--seen", seen, "--save-seen", "grown"]);
            let old = place.read("first");
            assert!([&old[..], &second.out].concat() == both.out, "{seen}");
            assert!(place.read("grown") == place.read("both"), "{seen}");
            let sum = |name| first.summary(name) + second.summary(name);
            for term in ["records", "unique", "rejected", "blank"] {
                assert_eq!(sum(term), both.summary(term), "{term}");
            }
            let again = sum("duplicates") + second.summary("seen");
            assert_eq!(again, both.summary("duplicates"));
        }
    });
}

#[test]
fn an_earlier_output_may_be_a_table_or_have_columns() {
    let place =
        Place::with([("old", list(0, 2000).as_bytes()), ("in", list(1500, 2000).as_bytes())]);
    let plain = place.run(["dedup", "--seen", "old", "in"]).exits(0);
    assert!(plain.summary("seen") > 0);
    for (name, arguments) in [
        ("set.parquet", &[][..]),
        ("set.arrow", &[]),
        ("set.arrow", &["--count"]),
        ("set.parquet", &["--fields", "original,count,canonical"]),
        ("set", &["--fields", "canonical,count"]),
        ("set.gz", &["--fields", "canonical,first"]),
        ("set", &["--fields", "first,canonical,original"]),
        ("set", &["--fields", "original,host,path,canonical"]),
        ("set.zst", &["--fields", "count,canonical,surt"]),
        ("set", &["-f", "tsv:1", "--carry", "1"]),
    ] {
        place.run([&["dedup", "old", "-q", "-o", name], arguments].concat()).exits(0);
        for how in [&["-j", "1"][..], &["-j", "2", "--memory", "1M"]] {
            let run = place.run([&["dedup", "--seen", name, "in"], how].concat()).exits(0);
            assert_eq!(run.out, plain.out, "{name} {arguments:?}");
            assert_eq!(run.summary("seen"), plain.summary("seen"));
            assert!(!run.err.contains("warning: "), "{}", run.err);
        }
    }
    place.run(["normalize", "old", "-q", "-o", "all.parquet"]).exits(0);
    assert_eq!(place.run(["dedup", "--seen", "all.parquet", "in"]).exits(0).out, plain.out);
}

#[test]
fn a_carriage_return_belongs_to_the_end_of_a_line_with_columns_too() {
    let place = Place::with([
        ("in", b"http://a/\nhttp://b/\nhttp://new/\n".as_slice()),
        ("first", b"http://a/\tx\r\n\r\nhttp://b/\ty\r\n"),
        ("last", b"x\thttp://a/\r\ny\thttp://b/\r\n"),
        ("counted", b"1\thttp://a/\r\n\r\n2\thttp://b/\r\n"),
        ("list", b"http://a/\r\n\r\nhttp://b/\r\n"),
    ]);
    for (profile, lists) in
        [("crawl", &["first", "last", "counted", "list"][..]), ("string", &["list"])]
    {
        for seen in lists {
            let run = place.run(["dedup", "-p", profile, "in", "--seen", seen]).exits(0);
            assert_eq!(run.out(), "http://new/\n", "{profile} {seen}");
            assert!(!run.err.contains("warning: "), "{}", run.err);
        }
    }
}

#[test]
fn a_file_of_which_it_is_not_clear_what_was_seen_is_refused() {
    let place = Place::with([
        ("in", b"http://a/\nhttp://b/\n"),
        ("hosts", b"a\t1\nb\t2\n"),
        ("raw", b"HTTP://A\t1\nHTTP://B\t2\n"),
        ("nul", b"http://a/\0http://b/\0"),
        ("objects", b"{\"canonical\":\"http://a/\"}\n"),
    ]);
    let rows = (0..40_000).map(|i| format!("http://h/{i}\t{i}\n")).collect::<String>();
    place.write("uneven", rows + "http://a/\n");
    place.run(["dedup", "in", "-q", "-o", "t.parquet"]).exits(0);
    place.write("t.parquet.gz", gzip(&place.read("t.parquet")));
    place.run(["dedup", "in", "-q", "--key", "surt", "-o", "surt.arrow"]).exits(0);
    for (name, words) in [
        ("hosts", "none of these holds canonical URLs of crawl@1"),
        ("raw", "none of these holds canonical URLs of crawl@1"),
        ("nul", "end with NUL; -0 reads such lists"),
        ("objects", "JSON objects"),
        ("uneven", "1 of its 40001 lines have another number of columns"),
        ("t.parquet.gz", "a table is read from its end"),
        ("surt.arrow", "its URLs would be in the column surt"),
    ] {
        for profile in ["crawl", "string"] {
            let for_both = ["nul", "objects", "t.parquet.gz", "surt.arrow"];
            if profile == "string" && !for_both.contains(&name) {
                continue;
            }
            let run =
                place.run(["dedup", "in", "--seen", name, "-p", profile, "-o", "out"]).exits(2);
            assert!(run.err.contains(&format!("uniqurl: {name}: seen: ")), "{}", run.err);
            assert!(run.err.contains(words), "{}", run.err);
        }
    }
    let run = place.run(["dedup", "-0", "nul", "--seen", "in"]).exits(2);
    assert!(run.err.contains("do not end with NUL"), "{}", run.err);
}

#[test]
fn a_mark_is_a_part_of_a_list_where_it_is_one_of_an_input() {
    let place = Place::with([("in", b"\xEF\xBB\xBFhttp://a/\nhttp://b/\n")]);
    for profile in ["string", "crawl"] {
        place.run(["dedup", "-p", profile, "in", "-o", "out", "--save-seen", "set"]).exits(0);
        let marked = [b"\xEF\xBB\xBF", &place.read("set")[..]].concat();
        place.write("marked", marked);
        for seen in ["in", "out", "set", "marked"] {
            let run = place.run(["dedup", "-p", profile, "--seen", seen, "in"]).exits(0);
            assert_eq!((run.out(), run.summary("seen")), ("", 2), "{profile} {seen}");
        }
    }
}

#[test]
fn an_output_that_can_be_read_in_two_ways_is_refused() {
    let place = Place::with([
        ("c.csv", &b"url,ref\nhttp://h/c,http://z/1\nhttp://h/d,http://z/2\n"[..]),
        ("in", b"http://h/c\nhttp://z/1\n"),
        ("query", b"http://h/?a=1\n"),
        ("path", b"http://h/w/x://y\n"),
        ("mixed", b"http://h/1\nhttp://h/2\nmailto:a@b.c\nmailto:d@b.c\nmailto:e@b.c\n"),
        ("most", b"http://h/1\nhttp://h/2\nmailto:a@b.c\n"),
        ("targets", b"/wiki/A\n/wiki/B\n/wiki/C\nhttp://h/wiki/A\n"),
        ("local", b"http://localhost:81/a\n"),
        ("bytes", b"HTTP://h/\xE9\n"),
    ]);
    let of_rows = "columns between tabs, which may hold keys";
    let of_keys = "look like keys (";
    for (name, first, second, words) in [
        ("c.csv", "-f csv:url --key surt --carry ref", "--key surt", of_rows),
        ("c.csv", "-f csv:url --key hash --carry ref", "--key hash", of_rows),
        ("c.csv", "-f csv:url --key surt --carry ref --count", "--key surt", of_rows),
        ("in", "--key surt --count", "--key surt", of_rows),
        ("in", "--fields canonical,count", "--key hash", of_rows),
        ("c.csv", "-f csv:url --key surt --carry ref -o o.parquet", "--key surt", "is a table"),
        (
            "in",
            "-o o.arrow",
            "--key hash",
            "dedup -f arrow:COL makes a set of a column with --save-seen",
        ),
        ("c.csv", "-f csv:url --carry ref", "", "several of these hold canonical URLs: 1, 2;"),
        ("in", "--fields count,original,canonical", "", "canonical URLs: 2, 3;"),
        ("path", "-p mediawiki --fields path,canonical", "-p mediawiki", "URLs: 1, 2;"),
        ("query", "--redact --fields original,canonical", "", "URLs: 1, 2;"),
        ("query", "--redact --fields original,first", "", "masked (***)"),
        ("query", "--redact --fields original", "", "masked (***)"),
        ("query", "--redact --fields count,original", "", "masked (***)"),
        ("query", "--redact --fields original,count -o o.parquet", "", "masked (***)"),
        ("in", "--key surt", "--key surt", of_keys),
        ("in", "--key surt", "--key surt --base http://h/", of_keys),
        ("in", "--key hash", "--key hash --base http://h/", of_keys),
        ("in", "--key ssurt", "--key ssurt", of_keys),
        ("mixed", "--key surt", "--key surt", "2 of its 5 lines look like keys (surt), and"),
        ("local", "--key surt", "--key surt", of_keys),
        ("local", "--key surt", "", "look like keys, or like places"),
        ("in", "-p mediawiki --key hash", "-p mediawiki --key hash", of_keys),
        ("in", "-p upload --key hash", "-p upload --key hash", of_keys),
        ("in", "-p string --key hash", "-p string --key hash", of_keys),
        ("in", "-p upload --key hash", "-p upload", "look like keys, or like places"),
        ("targets", "-p mediawiki --key surt", "-p mediawiki --key surt", "1 of its 4 lines look"),
        ("most", "-p mediawiki --key surt", "-p mediawiki", "2 of its 3 lines look like keys"),
        ("in", "--fields first", "", "look like keys, or like places in a file"),
        ("in", "--fields count,first", "", "look like keys, or like places in a file"),
        ("in", "--key hash -o o.parquet", "", "in the column hash"),
        ("in", "-p upload --key ssurt -o o.parquet", "-p upload", "in the column ssurt"),
        ("in", "-p string --fields first -o o.arrow", "-p string", "in the column first"),
        ("in", "--fields path", "", "none of its 2 lines is a URL"),
        ("bytes", "--fields count,original", "", "1 of its 1 URLs hold \\xHH"),
        ("bytes", "--fields original,count -o o.arrow", "", "1 of its 1 URLs hold \\xHH"),
    ] {
        let output = first.split(' ').skip_while(|word| *word != "-o").nth(1);
        let default: &[&str] = if output.is_some() { &[] } else { &["-o", "o"] };
        let output = output.unwrap_or("o");
        let words_of = |text: &'static str| text.split(' ').filter(|word| !word.is_empty());
        let made = ["dedup", "-q", name].into_iter().chain(words_of(first));
        place.run(made.chain(default.iter().copied())).exits(0);
        let again = ["dedup", name, "--seen", output, "-o", "out"].into_iter();
        let run = place.run(again.chain(words_of(second))).exits(2);
        assert!(run.err.contains(words), "{name} {first}: {}", run.err);
        assert!(run.err.starts_with(&format!("uniqurl: {output}: seen: ")), "{}", run.err);
        // The way out that is named.
        let way = ["dedup", "-q", name, "-o", "o", "--save-seen", "set"].into_iter();
        let second = || words_of(second);
        let format = || words_of(if name == "c.csv" { "-f csv:url" } else { "" });
        place.run(way.chain(second()).chain(format())).exits(0);
        let run =
            place.run(["dedup", name, "--seen", "set"].into_iter().chain(second()).chain(format()));
        assert_eq!(run.exits(0).summary("unique"), 0, "{name} {first}");
    }
}

#[test]
fn a_list_with_masks_or_escapes_among_other_urls_is_a_list() {
    let place = Place::with([
        ("masks", &b"http://h/?a=***\nhttp://h/?a=1\n"[..]),
        ("stars", b"http://h/***\n"),
        ("lower", b"http://h/\\xe9\n"),
        ("query", b"http://h/?\\xE9\n"),
        ("urn", b"urn:a:1:2\nurn:b:c\n"),
        ("parens", b"http://h/a)/b\nmailto:a)/b\n"),
    ]);
    for (name, arguments) in [
        ("masks", &[][..]),
        ("stars", &[]),
        ("lower", &[]),
        ("query", &["-p", "whatwg"]),
        ("query", &["-p", "mediawiki"]),
        ("urn", &[]),
        ("parens", &[]),
    ] {
        let run = place.run([&["dedup", name, "--seen", name], arguments].concat()).exits(0);
        assert_eq!((run.summary("unique"), run.out()), (0, ""), "{name}");
        assert!(!run.err.contains("warning: "), "{}", run.err);
    }
}

#[test]
fn a_list_of_urls_that_may_be_escaped_is_read_as_it_stands_with_a_warning() {
    let place = Place::with([("log", b"http://h/\\xE9\nhttp://h/\n")]);
    let run = place.run(["dedup", "log", "--seen", "log"]).exits(0);
    assert_eq!((run.summary("unique"), run.out()), (0, ""));
    assert!(run.err.contains("log: warning: 1 of 2 lines hold \\xHH, which"), "{}", run.err);
}

#[test]
fn a_list_most_of_whose_lines_are_no_urls_is_refused() {
    let place = Place::with([("in", b"http://a/\n"), ("old", b"http://a/\nx\ny\n")]);
    let run = place.run(["dedup", "in", "--seen", "old", "-o", "out"]).exits(2);
    assert!(
        run.err.contains("old: seen: 2 of its 3 lines are no URLs under crawl@1"),
        "{}",
        run.err
    );
    assert!(!place.path("out").exists());
}

#[test]
fn columns_that_are_escaped_for_one_host_are_not_read_as_they_stand() {
    let profile = "name = \"s\"\nversion = 1\nbase = \"crawl\"\n[host.\"h\"]\nbase = \"string\"\n";
    let place =
        Place::with([("p.toml", profile.as_bytes()), ("in", b"http://h/a\tb\nhttp://a/\n")]);
    let run = |arguments: &[&'static str]| {
        place.run([&["dedup", "--profile-file", "p.toml", "in"], arguments].concat())
    };
    for output in ["o.tsv", "o.parquet"] {
        run(&["-q", "--fields", "canonical,count", "-o", output]).exits(0);
        let again = run(&["--seen", output]).exits(2);
        assert!(again.err.contains("1 of its 2 URLs hold \\xHH"), "{}", again.err);
    }
    run(&["-q", "-o", "out"]).exits(0);
    assert_eq!(run(&["--seen", "out"]).exits(0).summary("seen"), 2);
}

/// A row would be a URL with the other cells behind it, and nothing would have been seen.
#[test]
fn a_table_with_a_header_is_no_list_of_what_was_seen() {
    let place = Place::with([
        ("comma", &b"url,st\nhttp://a/4,200\nhttp://a/5,200\n"[..]),
        ("quoted", b"\xEF\xBB\xBF\"id\",\"URI\"\r\n\"1\",\"http://a/4\"\r\n"),
        ("tab", b"url\tst\nhttp://a/4\t200\nhttp://a/5\n"),
        ("list", b"http://a/url,uri\nurl\nhttp://a/4,url\n"),
        ("in", b"http://a/4\nhttp://a/5\n"),
    ]);
    place.write("packed", gzip(&place.read("comma")));
    for profile in ["crawl", "string"] {
        for (name, format) in
            [("comma", "csv:url"), ("quoted", "csv:uri"), ("tab", "tsv:url"), ("packed", "csv:url")]
        {
            let run = place.run(["dedup", "-p", profile, "--seen", name, "in"]).exits(2);
            let told = format!(
                "{name}: seen: it is a table with a header; uniqurl dedup -f {format} makes"
            );
            assert!(run.err.contains(&told) && run.out.is_empty(), "{}", run.err);
            if name != "packed" {
                place.run(["dedup", "-p", profile, "-f", format, name, "-o", "out"]).exits(0);
                place.run(["dedup", "-p", profile, "--seen", "out", "in"]).exits(0);
            }
        }
        place.run(["dedup", "-p", profile, "--seen", "list", "in"]).exits(0);
    }
}

#[test]
fn under_string_the_lines_of_a_list_are_taken_whole() {
    let place = Place::with([
        ("tabs", &b"http://h/a\tb\nhttp://h/c\td\n"[..]),
        ("bytes", b"http://h/\xE9\nhttp://h/a\\b\nhttp://h/\\xE9\nfirst:1:0\nhttp://h/?***\n"),
        ("counts", b"1\tx\n2\ty\n"),
    ]);
    let run =
        |arguments: &[&'static str]| place.run([&["dedup", "-p", "string"], arguments].concat());
    for (name, output, arguments) in
        [("tabs", "out", &[][..]), ("bytes", "out", &[]), ("tabs", "out.parquet", &["--count"])]
    {
        run(&[&[name, "-q", "-o", output], arguments].concat()).exits(0);
        let again = run(&[name, "--seen", output]).exits(0);
        assert_eq!((again.summary("unique"), again.out()), (0, ""), "{name} {output}");
    }
    // What the columns of a table hold may be escaped there.
    run(&["bytes", "-q", "--fields", "canonical,count", "-o", "t.parquet"]).exits(0);
    let again = run(&["bytes", "--seen", "t.parquet"]).exits(2);
    assert!(again.err.contains("of its 5 URLs hold \\xHH"), "{}", again.err);
    // Of columns and URLs that hold tabs a warning tells, and of counts more.
    run(&["bytes", "-q", "--fields", "canonical,count", "-o", "rows"]).exits(0);
    assert!(run(&["bytes", "--seen", "rows"]).exits(0).err.contains("5 of 5 lines hold a tab"));
    let refused = run(&["counts", "--seen", "counts"]).exits(2);
    assert!(refused.err.contains("counts: seen: its lines begin with a count"), "{}", refused.err);
    run(&["counts", "-q", "-o", "out", "--save-seen", "set"]).exits(0);
    assert_eq!(run(&["counts", "--seen", "set"]).exits(0).summary("seen"), 2);
}
