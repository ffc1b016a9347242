//! `compare`: at which rung two URLs are the same.

use super::{Place, json_lines};
use serde_json::json;

#[test]
fn compare_prints_the_lowest_profile_that_merges_two_urls() {
    let place = Place::new();
    // The library's vectors say which URLs are equal under which profile.
    for (a, b, rung) in [
        ("relative", "relative", "string"),
        ("HTTP://www.EXAMPLE.com/", "http://www.example.com/", "syntax"),
        ("http://example.com", "http://example.com/", "scheme"),
        ("http://example.com/#a", "http://example.com/#b", "crawl"),
        ("http://example.com/a/b", "http://example.com/a%2Fb", "different"),
        // A rung that rejects either URL is skipped.
        ("http://h/^", "http://h/%5E", "crawl"),
        ("http:/h", "http:/h", "string"),
        ("", "http://h/", "different"),
    ] {
        let status = i32::from(rung == "different");
        let run = place.run(["compare", a, b]).exits(status);
        assert_eq!(run.out(), format!("{rung}\n"), "{a} {b}");
        assert!(run.err.lines().all(|line| line.len() <= 80), "{}", run.err);
        let quiet = place.run(["compare", "-q", b, a]).exits(status);
        assert_eq!((quiet.out(), &*quiet.err), ("", ""), "{b} {a}");
        assert_eq!(place.run(["compare", b, a]).exits(status).out(), run.out(), "{b} {a}");
    }
    let based = ["compare", "../b", "/b", "--base", "http://h/a/"];
    assert_eq!(place.run(based).exits(0).out(), "syntax\n");
}

#[test]
fn compare_explains_why_lower_profiles_differ() {
    let place = Place::new();
    let run =
        place.run(["compare", "http://example.com:80/%7Ea", "http://example.com/~A/"]).exits(1);
    assert_eq!(
        run.err,
        "\
aggressive: they differ
  A http://example.com/~a
                        ^
  B http://example.com/~A
                        ^
"
    );
    // Erlang's guide: the first of these is no URI.
    let run = place.run(["compare", "https://local host", "https://local%20host"]).exits(1);
    assert_eq!(
        run.err,
        "\
aggressive: passed over, since it rejects A and B

  rejected at byte 8
    https://local host
            ^

  rejected at byte 8
    https://local%20host
            ^
  idna: a host that UTS 46 ToASCII refuses.
  A host is letters, digits, hyphens and dots, in any script IDNA allows.

crawl: passed over likewise

scheme: passed over, since it rejects A

  rejected at byte 13
    https://local host
                 ^
  byte: a byte that the grammar does not allow here.
  Write the byte as a triplet, or use the profile crawl, which does so; a host
  takes neither.

syntax: passed over likewise

string: they differ
  A https://local host
                 ^
  B https://local%20host
                 ^^^
"
    );
}

#[test]
fn json_output_holds_every_profile() {
    let run = Place::new().run(["compare", "--json", "http://h", "http://h/^"]).exits(1);
    assert!(run.err.is_empty());
    let rung = |profile: &str, a: &str| json!({"profile": profile, "a": a, "b_reject": ["byte"], "b_at": 9});
    assert_eq!(
        json_lines(&run.out),
        [json!({
            "rung": "different", "a": "http://h", "b": "http://h/^",
            "rungs": [
                {"profile": "string@1", "a": "http://h", "b": "http://h/^"},
                rung("syntax@1", "http://h"),
                rung("scheme@1", "http://h/"),
                {"profile": "crawl@1", "a": "http://h/", "b": "http://h/%5E"},
                {"profile": "aggressive@2", "a": "http://h/", "b": "http://h/%5E"},
            ],
        })]
    );
}

#[test]
fn redirects_from_a_pipe_apply_to_every_profile() {
    let place = Place::new();
    let list = "http://h/a\thttp://h/b\n";
    let compare = ["compare", "--redirects", "/dev/stdin", "HTTP://h/a", "http://h/b"];
    assert_eq!(place.run_on(compare, list).exits(0).out(), "syntax\n");
    let explain = ["explain", "-p", "all", "--redirects", "/dev/stdin", "http://h/a"];
    let run = place.run_on(explain, list).exits(0);
    assert!(!run.out().contains("redirects=0"), "{}", run.out());
}

#[test]
fn options_apply_only_to_profiles_that_have_them() {
    let place = Place::with([("list", b"http://a/\thttp://b/\n")]);
    let rules = "compare -q --json http://a/ http://b/ --redirects list --with sort-query \
                 --drop-param x --base http://h/ --assume-scheme http --transcode latin1";
    place.run(rules.split_whitespace()).exits(0);
}
