//! `--limit-by`: the first URLs of each group.

use super::Place;

const URLS: &[u8] =
    b"http://a.x.com/1?a\nhttp://b.x.com/2\nHTTP://A.x.com/1?a\nhttp://a.x.com:8/1?b\n\
    mailto:a@b\nhttp://y.org/1\nurn:a:b\nhttp://a.x.com/1?b\nmailto:a@b\n";

#[test]
fn each_group_keeps_its_first_urls() {
    let place = Place::with([("in", URLS)]);
    let [a, b, port, mail, y, urn, second] = [
        "http://a.x.com/1?a",
        "http://b.x.com/2",
        "http://a.x.com:8/1?b",
        "mailto:a@b",
        "http://y.org/1",
        "urn:a:b",
        "http://a.x.com/1?b",
    ];
    for (limit, kept) in [
        ("host:1", &[a, b, mail, y][..]),
        ("host:2", &[a, b, port, mail, y, urn]),
        ("domain:1", &[a, mail, y]),
        ("path:1", &[a, b, port, mail, y, urn]),
        ("template:1", &[a, b, port, mail, y, urn, second]),
    ] {
        let run = place.run(["dedup", "in", "-f", "lines", "--limit-by", limit]).exits(0);
        assert!(run.out().lines().eq(kept.iter().copied()), "{limit}: {}", run.out());
        let terms = ["unique", "duplicates", "filtered"].map(|term| run.summary(term));
        assert_eq!((terms[0], terms.iter().sum::<u64>()), (kept.len() as u64, 9), "{limit}");
    }
}

#[test]
fn limit_of_groups_goes_with_the_other_options() {
    let place = Place::with([("in", URLS), ("old", b"http://a.x.com/1?a\n")]);
    let fixed = ["dedup", "in", "-f", "lines", "--limit-by", "host:1"];
    let out = |more: &[&str]| place.run([&fixed[..], more].concat()).exits(0).out().to_owned();
    assert_eq!(out(&["--top", "2"]), "2\thttp://a.x.com/1?a\n2\tmailto:a@b\n");
    // --min-count chooses from the URLs that are kept, and --limit from those.
    assert_eq!(out(&["--min-count", "2", "--limit", "1"]), "http://a.x.com/1?a\n");
    let first = out(&["--fields", "count,host,first", "--keep", "last"]);
    assert!(first.starts_with("2\ta.x.com\tin:3:36\n1\tb.x.com\tin:2:"), "{first}");
    let json = out(&["--json", "--count"]);
    assert!(json.starts_with("{\"count\":2,\"canonical\":\"http://a.x.com/1?a\"}\n"), "{json}");
    out(&["--split-by", "host:3", "-o", "shards"]);
    // URLs that were seen before are none of the first.
    let seen = out(&["--seen", "old", "--stats", "stats", "--report", "page.html"]);
    assert_eq!(seen, "http://b.x.com/2\nhttp://a.x.com:8/1?b\nmailto:a@b\nhttp://y.org/1\n");
    let stats = place.json("stats");
    let counts = ["unique", "duplicates", "seen", "filtered", "rejected", "blank"];
    let counts = counts.map(|name| stats["files"][0][name].as_u64().expect("a count"));
    assert_eq!(counts, [4, 1, 2, 2, 0, 0]);
    // Only keys that are written get into a store.
    let saved = out(&["--save-seen", "store"]);
    let mut keys: Vec<_> = saved.lines().collect();
    keys.sort();
    assert_eq!(place.keys_of("store").lines().collect::<Vec<_>>(), keys);
    let next = out(&["--save-seen", "store"]);
    assert_eq!(next, "http://a.x.com:8/1?b\nurn:a:b\n");
}

#[test]
fn group_that_keeps_more_than_memory_holds_is_status_3_and_leaves_everything_as_it_was() {
    let url =
        |i: u64| format!("http://giant.example/{}\n", i.wrapping_mul(0x9E37_79B9) % 1_000_000);
    let list: String = (0..60_000).map(url).collect();
    let place = Place::with([("in", list.as_bytes()), ("old", b"http://old/\n")]);
    place.run(["dedup", "old", "-o", "out", "--save-seen", "store"]).exits(0);
    let fixed = ["dedup", "in", "--memory", "1M", "-o", "out", "--save-seen", "store"];
    for order in ["first", "sorted"] {
        let run = place.run([&fixed[..], &["--order", order, "--limit-by", "host:99999"]].concat());
        let run = run.exits(3);
        assert!(run.err.contains("URLs to keep of each group"), "{}", run.err);
        let hint = "hint: allow more --memory, or keep fewer URLs with --limit-by";
        assert!(run.err.contains(hint), "{}", run.err);
        assert_eq!(place.text("out"), "http://old/\n");
        assert_eq!(place.keys_of("store"), "http://old/\n");
    }
    place.run([&fixed[..], &["--limit-by", "host:3000"]].concat()).exits(0);
    assert_eq!(place.keys_of("store").lines().count(), 3001);
}

#[test]
fn filtered_records_are_in_no_tally() {
    let line = |path: &str, bytes: u32| {
        format!("192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] \"GET {path} HTTP/1.1\" 200 {bytes}\n")
    };
    let log = [line("/a?1", 1), line("/a?2", 10), line("/a?1", 100), line("/b", 1000)].concat();
    let place = Place::with([("log", log.as_bytes())]);
    let arguments = ["dedup", "log", "--limit-by", "path:1", "--tally", "bytes"];
    for more in [&[][..], &["--memory", "1M"], &["--order", "sorted"]] {
        let run = place.run([&arguments[..], more].concat()).exits(0);
        assert_eq!(run.out(), "2\t/a?1\t101\n1\t/b\t1000\n");
        let counts = ["unique", "duplicates", "filtered"].map(|term| run.summary(term));
        assert_eq!(counts, [2, 1, 1]);
    }
}

#[test]
fn keys_that_tell_no_group_are_wrong_usage() {
    let place = Place::with([("in", URLS)]);
    for (group, keys) in [
        ("template", &["url"][..]),
        ("path", &["url"]),
        ("domain", &["url", "template", "host", "domain"]),
        ("host", &["url", "template", "host"]),
    ] {
        let limit = format!("{group}:1");
        for key in ["url", "template", "host", "domain", "surt", "ssurt", "hash"] {
            let status = if keys.contains(&key) { 0 } else { 2 };
            place.run(["dedup", "in", "--key", key, "--limit-by", &limit]).exits(status);
        }
    }
}
