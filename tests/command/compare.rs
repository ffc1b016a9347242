//! `compare`: at which rung two URLs are the same.

use super::{Place, json_lines};
use serde_json::json;

#[test]
fn compare_prints_the_lowest_profile_that_merges_two_urls() {
    let place = Place::new();
    for (a, b, rung) in [
        ("http://h/", "http://h/", "string"),
        ("relative", "relative", "string"),
        // RFC 3986 section 6.2.2.
        ("example://a/b/c/%7Bfoo%7D", "eXAMPLE://a/./b/../b/%63/%7bfoo%7d", "syntax"),
        ("HTTP://www.EXAMPLE.com/", "http://www.example.com/", "syntax"),
        // Section 6.2.3.
        ("http://example.com", "http://example.com/", "scheme"),
        ("http://example.com:/", "http://example.com:80/", "scheme"),
        ("mailto:Joe@Example.COM", "mailto:Joe@example.com", "scheme"),
        // Section 6.1.
        ("http://example.com/#a", "http://example.com/#b", "crawl"),
        // The sanitizer's question: the first two pairs are the same, the others differ.
        ("http://ex%61mple.com/", "http://example.com/", "syntax"),
        ("http://example.com/ind%65x.html", "http://example.com/index.html", "syntax"),
        ("http://example.com/a/b", "http://example.com/a%2Fb", "different"),
        ("http://example.com/?a", "http://example.com/%3Fa", "different"),
        ("http://example.com/?a+b", "http://example.com/?a%2Bb", "different"),
        ("http://example.com/%41", "http://example.com/%2541", "different"),
        // A rung that rejects either URL is skipped.
        ("http://h/^", "http://h/%5E", "crawl"),
        ("http:/h", "http:/h", "string"),
        ("", "", "string"),
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
    // Two targets, which no rung reads without a base.
    let run = place.run(["compare", "/wiki/A%2fB", "/wiki/A/B"]).exits(1);
    assert_eq!(
        run.err,
        "\
aggressive: passed over, since it rejects A and B

  rejected at byte 0
    /wiki/A%2fB
    ^

  rejected at byte 0
    /wiki/A/B
    ^
  relative: a relative reference, and no base that resolves it.
  --base says what it is relative to; --assume-scheme https reads example.com/x
  as https://example.com/x.

crawl, scheme, syntax: passed over likewise

string: they differ
  A /wiki/A%2fB
           ^^^
  B /wiki/A/B
           ^
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
fn relative_references_are_compared_on_a_base() {
    let place = Place::new();
    place.run(["compare", "../b", "/b"]).exits(1);
    let base = ["--base", "http://h/a/"];
    let run = place.run(["compare", "../b", "/b"].into_iter().chain(base)).exits(0);
    assert_eq!(run.out(), "syntax\n");
}

#[test]
fn compare_warns_about_file_names() {
    let place = Place::with([("a.txt", b"http://h/\n"), ("b.txt", b"http://h/\n")]);
    let told = "uniqurl: warning: a.txt: compared the name of a file\nhint: ";
    let run = place.run(["compare", "-q", "a.txt", "b.txt"]).exits(1);
    assert_eq!(run.out(), "");
    assert!(run.err.starts_with(told) && run.err.lines().count() == 2, "{}", run.err);
    for urls in [["none.txt", "http://h/"], ["http://h/a.txt", "http://h/b.txt"]] {
        let run = place.run(["compare", "-q"].into_iter().chain(urls)).exits(1);
        assert_eq!(run.err, "");
    }
    // With a base they become URLs.
    let based = ["compare", "-q", "--base", "http://h/", "a.txt", "b.txt"];
    assert_eq!(place.run(based).exits(1).err, "");
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
    let switch = ["compare", "http://h/", "http://h/", "--with", "keep-empty-segments"];
    let run = place.run(switch).exits(2);
    assert!(
        run.err.contains("no rung of the ladder has a switch keep-empty-segments"),
        "{}",
        run.err
    );
}

#[test]
fn wrong_usage_exits_with_status_2() {
    let place = Place::with([("in", b"http://h/\n")]);
    for arguments in [
        &["compare"][..],
        &["compare", "a"],
        &["compare", "a", "b", "c"],
        &["compare", "-p", "crawl", "a", "b"],
        &["compare", "--profile-file", "in", "a", "b"],
        &["compare", "--allow", "nul", "a", "b"],
        &["compare", "--ring", "decode=2F", "a", "b"],
        &["compare", "--with", "sort-query", "--without", "sort-query", "a", "b"],
        &["compare", "--key", "surt", "a", "b"],
        &["compare", "--output", "out", "a", "b"],
        &["compare", "--base", "relative", "a", "b"],
    ] {
        assert!(place.run(arguments).exits(2).out.is_empty(), "{arguments:?}");
    }
    assert_eq!(place.names(), ["in"]);
    let help = place.run(["compare", "--help"]).exits(0);
    assert!(!help.out().contains("--profile-file"), "{}", help.out());
}
