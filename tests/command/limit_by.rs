//! `--limit-by`: the first URLs of each group.

use std::collections::{HashMap, HashSet};

use super::Place;
use uniqurl::Template;

/// A list as gau and waybackurls print it: many URLs of few pages, some of them more than once.
fn list() -> String {
    let mut lines = String::new();
    for i in 0..3000u64 {
        let number = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        lines += &match number % 7 {
            0 => format!("https://shop.example/item/{}?ref={}\n", number % 900, number % 13),
            1 => format!("https://shop.example/item/{}/reviews\n", number % 300),
            2 => format!("https://cdn{}.shop.example/static/{:032x}.js\n", number % 3, number),
            3 => format!("https://shop.example/blog/2024/{:02}/{:02}/post\n", number % 12 + 1, 7),
            4 => format!("http://www.shop.example:8080/search?q={number}&page={}\n", number % 4),
            5 => format!("https://shop.example/about{}\n", number % 5),
            _ => "https://shop.example/\n".to_owned(),
        };
    }
    lines
}

fn template(url: &str) -> String {
    let mut out = Vec::new();
    Template::of(url.as_bytes(), &mut out);
    String::from_utf8(out).expect("ASCII")
}

#[test]
fn one_url_of_each_template_is_left_of_a_crawl() {
    let list = list();
    let place = Place::with([("in", list.as_bytes())]);
    let mut templates = HashSet::new();
    let wanted: Vec<&str> = list.lines().filter(|url| templates.insert(template(url))).collect();
    assert!((10..100).contains(&wanted.len()), "{}", wanted.len());
    let first = HashMap::<_, _>::from_iter(wanted.iter().map(|url| (template(url), *url)));
    let repeated = list.lines().filter(|url| first[&template(url)] == *url).count();
    for more in
        [&["-j", "1"][..], &["-j", "3"], &["--memory", "1M"], &["--order", "first", "-j", "2"]]
    {
        let fixed = ["dedup", "in", "-f", "lines", "--limit-by", "template:1"];
        let run = place.run([&fixed[..], more].concat()).exits(0);
        let lines: Vec<_> = run.out().lines().collect();
        assert_eq!(lines, wanted, "{more:?}");
        assert_eq!(run.summary("unique"), wanted.len() as u64);
        assert_eq!(run.summary("duplicates"), (repeated - wanted.len()) as u64);
        assert_eq!(run.summary("filtered"), (3000 - repeated) as u64);
    }
}

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
        ("domain:3", &[a, b, port, mail, y, urn]),
        ("path:1", &[a, b, port, mail, y, urn]),
        ("path:2", &[a, b, port, mail, y, urn, second]),
        ("template:1", &[a, b, port, mail, y, urn, second]),
    ] {
        let fixed = ["dedup", "in", "-f", "lines", "--limit-by", limit];
        let run = place.run(fixed).exits(0);
        let lines: Vec<_> = run.out().lines().collect();
        assert_eq!(lines, kept, "{limit}");
        let mut sorted = kept.to_vec();
        sorted.sort();
        let run = place.run([&fixed[..], &["--order", "sorted"]].concat()).exits(0);
        assert_eq!(run.out().lines().collect::<Vec<_>>(), sorted, "{limit}");
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
fn unknown_groups_and_keys_that_tell_none_are_wrong_usage() {
    let place = Place::with([("in", URLS)]);
    for (limit, told) in [
        ("page:1", "expected template:N, domain:N, host:N or path:N"),
        ("host", "N is not a whole number that is 1 or more"),
        ("host:0", "N is not a whole number that is 1 or more"),
        ("host:x", "N is not a whole number that is 1 or more"),
    ] {
        let run = place.run(["dedup", "in", "--limit-by", limit]).exits(2);
        assert!(run.err.contains(told), "{}", run.err);
        assert_eq!(run.err.lines().count(), 2, "{}", run.err);
    }
    for key in ["url", "template", "host", "domain", "surt", "ssurt", "hash"] {
        for group in ["template", "domain", "host", "path"] {
            let is_told = match group {
                "template" | "path" => key == "url",
                "domain" => ["url", "template", "host", "domain"].contains(&key),
                _ => ["url", "template", "host"].contains(&key),
            };
            let limit = format!("{group}:1");
            let run = place.run(["dedup", "in", "--key", key, "--limit-by", &limit]);
            let run = run.exits(if is_told { 0 } else { 2 });
            let message =
                format!("--limit-by {group}:N needs a {group}, which --key {key} does not tell");
            assert_eq!(run.err.contains(&message), !is_told, "{}", run.err);
            assert_eq!(run.err.contains("hint: leave --key out"), !is_told, "{}", run.err);
        }
    }
    let run = place.run(["normalize", "in", "--limit-by", "host:1"]).exits(2);
    assert!(run.err.contains("use it with `uniqurl dedup`"), "{}", run.err);
}
