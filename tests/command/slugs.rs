//! `--slugs`: segments with many values in templates.

use std::collections::BTreeMap;

use super::{Place, Run};

const URLS: &[u8] = b"http://h.example/news/one?page=1\nhttp://h.example/news/two?page=1\n\
                      http://h.example/news/17\nhttp://h.example/about\nhttp://h.example/news/three.html\n\
                      http://h.example/news/one?page=2\nhttp://g.example/news/one\n";

#[track_caller]
fn run(place: &Place, more: &[&str]) -> Run {
    place.run([&["dedup", "--key", "template"], more].concat()).exits(0)
}

#[test]
fn segments_with_more_values_than_n_are_named() {
    let place = Place::with([("in", URLS)]);
    let plain = "http://h.example/news/one?page\nhttp://h.example/news/two?page\nhttp://h.example/news/{int}\n\
                 http://h.example/about\nhttp://h.example/news/three.html\nhttp://g.example/news/one\n";
    assert_eq!(run(&place, &["in", "--slugs", "3"]).out(), plain);
    let named = "http://h.example/news/{slug}?page\nhttp://h.example/news/{int}\nhttp://h.example/about\n\
                 http://h.example/news/{slug}.html\nhttp://g.example/news/one\n";
    let result = run(&place, &["in", "--slugs", "2"]);
    assert_eq!(result.out(), named);
    assert_eq!((result.summary("unique"), result.summary("duplicates")), (5, 2));
    // What is named stays, whatever comes to it, and is a list of routes.
    place.write("named", named);
    assert_eq!(run(&place, &["named", "--slugs", "2"]).out(), named);
    let routed = run(&place, &["-q", "in", "--routes", "named"]);
    assert!(routed.out().starts_with("http://h.example/news/{slug}?page\n"), "{}", routed.out());
}

#[test]
fn every_output_of_templates_has_slugs() {
    let place = Place::with([("in", URLS)]);
    let out = |more: &[&str]| {
        run(&place, &[&["-q", "in", "--slugs", "2"], more].concat()).out().to_owned()
    };
    assert_eq!(
        out(&["--top", "2"]),
        "3\thttp://h.example/news/{slug}?page\n1\thttp://g.example/news/one\n"
    );
    assert_eq!(out(&["--count", "--min-count", "2"]), "3\thttp://h.example/news/{slug}?page\n");
    assert!(
        out(&["--order", "sorted"])
            .starts_with("http://g.example/news/one\nhttp://h.example/about\n")
    );
    assert_eq!(out(&["--limit", "1"]), "http://h.example/news/{slug}?page\n");
    assert_eq!(
        out(&["--json", "--count", "--limit", "1"]),
        "{\"count\":3,\"template\":\"http://h.example/news/{slug}?page\"}\n"
    );
    let fields = ["--fields", "template,count,first,original,path,template"];
    let template = "http://h.example/news/{slug}?page";
    assert!(
        out(&fields).starts_with(&format!(
            "{template}\t3\tin:1:0\thttp://h.example/news/one?page=1\t/news/one\t{template}\nhttp://h.example/news/{{int}}\t1\tin:3:"
        )),
        "{}",
        out(&fields)
    );
    out(&["--fields", "count,template", "-o", "out.csv"]);
    assert!(
        place.text("out.csv").starts_with("count,template\n3,http://h.example/news/{slug}?page\n")
    );
    out(&["--split-by", "host:2", "-o", "shards"]);
    let shards = place.text("shards/shard-00000") + &place.text("shards/shard-00001");
    assert_eq!(shards.lines().count(), 5);
    assert!(shards.contains("http://h.example/news/{slug}.html\n"));
    out(&["--report", "page.html", "-o", "urls"]);
    assert_eq!(place.text("urls").lines().count(), 5);
}

#[test]
fn counts_of_each_input_are_those_of_the_named_templates() {
    let place = Place::with([
        ("a", b"/n/a\n/n/b\n"),
        ("b", b"/n/c\n/n/c\n/x\n"),
        ("c", b"no url\n/n/d\n/y\n/n/{slug}\n"),
    ]);
    let result =
        run(&place, &["-f", "target", "a", "b", "c", "--slugs", "3", "--count", "--stats", "s"]);
    assert_eq!(result.out(), "6\t/n/{slug}\n1\t/x\n1\t/y\n");
    let stats = place.json("s");
    let count = |file: usize, name: &str| stats["files"][file][name].as_u64().expect("a count");
    let counts: Vec<_> = (0..3)
        .map(|file| ["unique", "duplicates", "rejected"].map(|name| count(file, name)))
        .collect();
    assert_eq!(counts, [[1, 1, 0], [1, 2, 0], [1, 2, 1]]);
    assert_eq!((result.summary("unique"), result.summary("duplicates")), (3, 5));
}

#[test]
fn the_kept_record_is_that_of_all_records_of_a_named_template() {
    // The first key has the last record, and a later key the first of the greatest values.
    let table = b"url,v\nhttp://h/n/a,1\nhttp://h/n/b,9\nhttp://h/n/a,9\nhttp://h/n/b,2\nhttp://h/n/a,3\nhttp://h/n/c,\n\
                  http://h/m,5\nhttp://h/n/c,4\nhttp://h/n/a,3\n";
    let place = Place::with([("t.csv", table)]);
    for (keep, expected) in [("first", "1:"), ("last", "9:"), ("max:v", "2:")] {
        for threads in ["1", "4"] {
            let arguments =
                ["-q", "-f", "csv:url", "t.csv", "--slugs", "2", "--keep", keep, "-j", threads];
            let result = run(
                &place,
                &[&arguments[..], &["--carry", "v", "--fields", "count,template,first"]].concat(),
            );
            let (first, second) = result.out().split_once('\n').unwrap();
            assert!(
                first.starts_with(&format!("8\thttp://h/n/{{slug}}\tt.csv:{expected}")),
                "{keep}: {first}"
            );
            assert!(second.starts_with("1\thttp://h/m\t"), "{second}");
        }
    }
}

#[test]
fn responses_of_named_templates_are_added_up() {
    let line = |path: &str, status: u32, bytes: u32| {
        format!(
            "192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] \"GET {path} HTTP/1.1\" {status} {bytes}\n"
        )
    };
    let log = [
        line("/n/a", 200, 1),
        line("/n/b", 404, 10),
        line("/x", 200, 7),
        line("/n/a", 200, 100),
        line("/n/c", 500, 1000),
    ];
    let place = Place::with([("log", log.concat().as_bytes())]);
    let result = run(&place, &["-q", "log", "--slugs", "2", "--tally", "status,bytes"]);
    assert_eq!(result.out(), "4\t/n/{slug}\t0\t2\t0\t1\t1\t1111\n1\t/x\t0\t1\t0\t0\t0\t7\n");
}

/// Paths of many values below few parents.
fn lines() -> Vec<String> {
    let line = |n: u64| {
        let n = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        match n % 4 {
            0 => format!("http://h{}.example/blog/title-{}\n", n % 3, n % 61),
            1 => format!("http://h{}.example/u/name{}/p{}.html?q={n}\n", n % 3, n % 7, n % 23),
            2 => format!("http://h{}.example/{}/{n}\n", n % 3, ["a", "b", "c"][n as usize % 5 % 3]),
            _ => format!("http://h.example/deep/{}/x\n", n % 5),
        }
    };
    (0..6000).map(line).collect()
}

#[test]
fn the_result_does_not_depend_on_order_and_threads() {
    let lines = lines();
    let reversed: String = lines.iter().rev().map(String::as_str).collect();
    let place = Place::with([("in", lines.concat().as_bytes()), ("reversed", reversed.as_bytes())]);
    for most in ["1", "5", "20", "1000"] {
        let of = |file: &str, more: &[&str]| {
            run(&place, &[&["-q", "--count", "--slugs", most, file], more].concat())
                .out()
                .to_owned()
        };
        let once = of("in", &["-j", "1"]);
        assert_eq!(of("in", &["-j", "4"]), once);
        let sorted = of("in", &["--order", "sorted"]);
        assert_eq!(of("reversed", &["--order", "sorted", "-j", "4"]), sorted);
        // The same templates, and where each is told by one of its records.
        let fields = ["--fields", "count,template,path", "--keep", "last"];
        let columns = run(&place, &[&["-q", "--slugs", most, "in"][..], &fields].concat());
        let cut =
            columns.out().lines().map(|line| line.rsplit_once('\t').unwrap().0.to_owned() + "\n");
        assert_eq!(cut.collect::<String>(), once);
    }
}

#[test]
fn counts_are_those_of_the_templates_that_became_one() {
    let place = Place::with([("in", lines().concat().as_bytes())]);
    let count = |more: &[&str]| -> BTreeMap<String, u64> {
        let result = run(&place, &[&["-q", "--count", "in"], more].concat());
        let pairs = result.out().lines().map(|line| line.split_once('\t').unwrap());
        pairs.map(|(count, template)| (template.to_owned(), count.parse().unwrap())).collect()
    };
    let (plain, named) = (count(&[]), count(&["--slugs", "20"]));
    assert_eq!(named.values().sum::<u64>(), 6000);
    // Titles are many everywhere, pages below a name only once the names are few enough to stay.
    for (host, template) in (0..3).map(|n| (format!("http://h{n}.example"), "/blog/{slug}")) {
        let blog =
            plain.iter().filter(|(template, _)| template.starts_with(&format!("{host}/blog/")));
        assert_eq!(named[&(host.clone() + template)], blog.map(|(_, count)| count).sum::<u64>());
        assert!(
            named.contains_key(&format!("{host}/u/name1/{{slug}}.html?q"))
                || plain.keys().filter(|t| t.starts_with(&format!("{host}/u/name1/"))).count()
                    <= 20
        );
    }
    assert!(named.contains_key("http://h.example/deep/{int}/x"));
}

#[test]
fn declared_routes_stay_beside_slugs() {
    let place = Place::with([
        ("in", b"/shop/cart\n/shop/a\n/shop/b\n/shop/c\n/user/ann\n".as_slice()),
        ("routes", b"/shop/cart\n/user/{name}\n"),
    ]);
    let result = run(&place, &["-q", "-f", "target", "in", "--routes", "routes", "--slugs", "2"]);
    assert_eq!(result.out(), "/shop/cart\n/shop/{slug}\n/user/{name}\n");
    let result = run(&place, &["-q", "-f", "target", "in", "--routes", "routes", "--slugs", "3"]);
    assert_eq!(result.out().lines().count(), 5);
}

#[test]
fn templates_beyond_memory_are_status_3_and_leave_everything_as_it_was() {
    // Words, since numbers are of a type.
    let word = |n: u32| -> String {
        (0..6)
            .map(|at| char::from(b'a' + (n.wrapping_mul(0x9E37_79B9) >> (4 * at) & 15) as u8))
            .collect()
    };
    let list: String = (0..60_000).map(|n| format!("http://h.example/{}\n", word(n))).collect();
    let place = Place::with([("in", list.as_bytes()), ("out", b"before\n")]);
    let fixed = ["dedup", "--key", "template", "in", "--slugs", "50", "-o", "out"];
    let failed = place.run([&fixed[..], &["--memory", "1M"]].concat()).exits(3);
    assert!(failed.err.contains("templates take more memory than allowed"), "{}", failed.err);
    assert!(
        failed.err.contains("hint: allow more --memory, or leave --slugs out"),
        "{}",
        failed.err
    );
    assert_eq!(place.text("out"), "before\n");
    assert_eq!(place.names(), ["in", "out"]);
    place.run([&fixed[..], &["--memory", "64M"]].concat()).exits(0);
    assert_eq!(place.text("out"), "http://h.example/{slug}\n");
}

#[test]
fn what_needs_the_templates_earlier_is_wrong_usage() {
    let place = Place::with([("in", URLS)]);
    for (arguments, told) in [
        (&["--slugs", "9"][..], "--slugs names segments of templates, and --key makes none"),
        (&["--slugs", "9", "--fields", "template"], "hint: add --key template"),
        (&["--slugs", "9", "--key", "template", "--seen", "in"], "another run cannot compare them"),
        (
            &["--slugs", "9", "--key", "template", "--save-seen", "s"],
            "another run cannot compare them",
        ),
        (
            &["--slugs", "9", "--key", "template", "--limit-by", "host:1"],
            "--limit-by counts templates as they come",
        ),
        (&["--slugs", "0", "--key", "template"], "--slugs"),
        (&["--slugs", "-1", "--key", "template"], "--slugs"),
    ] {
        let failed = place.run([&["dedup", "in"], arguments].concat()).exits(2);
        assert!(failed.err.contains(told), "{}", failed.err);
    }
    let failed = place.run(["normalize", "in", "--slugs", "3"]).exits(2);
    assert!(failed.err.contains("--slugs"), "{}", failed.err);
}
