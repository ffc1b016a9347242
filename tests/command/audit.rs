//! Which rules acted, and which made one URL of several.

use super::Place;
use serde_json::json;

/// By hand, under `crawl`:
///
/// ```text
/// 1 HTTP://a/#x   drop-fragment, scheme-case
/// 2 http://a/#y   drop-fragment
/// 3 http://a/     none
/// 4 http://a      empty-path
/// 5 http://a:80/%7e   decode-unreserved, default-port
/// 6 http://A/~    host-case
/// 7 http://a/~    none
/// 8 http://a/~    the same original again
/// 9 http://b:x/   rejected
/// ```
///
/// 1 to 4 are one: drop-fragment makes 2 and 3 equal, scheme-case 1 and those, empty-path 4 and those.
/// 5 to 8 are one: host-case makes 6 and 7 equal, default-port 5 and those.
const URLS: &[u8] = b"HTTP://a/#x\nhttp://a/#y\nhttp://a/\nhttp://a\nhttp://a:80/%7e\nhttp://A/~\n\
                      http://a/~\nhttp://a/~\nhttp://b:x/\n";

#[test]
fn rules_are_counted_by_the_urls_they_changed() {
    let place = Place::with([("in", URLS), ("more", b"http://C/\nHTTP://c/\n")]);
    let rules = json!({
        "drop-fragment": 2, "scheme-case": 2, "empty-path": 1, "decode-unreserved": 1,
        "default-port": 1, "host-case": 2,
    });
    for command in ["dedup", "normalize"] {
        for threads in ["-j1", "-j3"] {
            place.run([command, threads, "in", "more", "--stats", "stats"]).exits(0);
            let stats = place.json("stats");
            assert_eq!(stats["rules"], rules, "{command} {threads}");
            let of_file = json!({"scheme-case": 1, "host-case": 1});
            assert_eq!(stats["files"][1]["rules"], of_file);
            assert_eq!(stats.get("audit"), None);
        }
    }
}

#[test]
fn merges_are_counted_by_the_rule_that_caused_them() {
    let place = Place::with([("in", URLS)]);
    for options in [&["-j1"][..], &["-j3"], &["--order", "sorted"], &["--backend", "scalar"]] {
        let arguments = ["dedup", "in", "--stats", "stats", "--audit"];
        let run = place.run(arguments.iter().chain(options)).exits(0);
        assert_eq!(run.summary("unique"), 2);
        assert_eq!(
            place.json("stats")["audit"],
            json!({
                "originals": 7, "canonical": 2, "key_merges": 0,
                "merges": {"drop-fragment": 1, "scheme-case": 1, "empty-path": 1,
                           "host-case": 1, "default-port": 1},
            }),
            "{options:?}"
        );
    }
}

#[test]
fn what_a_key_joins_is_no_merge_of_a_rule() {
    let place = Place::with([("in", b"http://a/\nhttps://a/\nhttps://A/\nhttp://b/\n")]);
    place.run(["dedup", "--key", "surt", "in", "--stats", "stats", "--audit"]).exits(0);
    let stats = place.json("stats");
    assert_eq!((&stats["key"], &stats["unique"]), (&json!("surt"), &json!(2)));
    assert_eq!(
        stats["audit"],
        json!({"originals": 4, "canonical": 3, "merges": {"host-case": 1}, "key_merges": 1})
    );
}

#[test]
fn originals_of_logs_have_the_host_they_were_joined_to() {
    let log = b"a:80 h - - [10/Oct/2000:13:55:36 +0000] \"GET /x HTTP/1.1\" 200 1\n\
                b:80 h - - [10/Oct/2000:13:55:36 +0000] \"GET /x HTTP/1.1\" 200 1\n\
                A:80 h - - [10/Oct/2000:13:55:36 +0000] \"GET /%78 HTTP/1.1\" 200 1\n";
    let place = Place::with([("log", log)]);
    place.run(["dedup", "-f", "vhost", "log", "--stats", "stats", "--audit"]).exits(0);
    let audit = &place.json("stats")["audit"];
    assert_eq!((&audit["originals"], &audit["canonical"]), (&json!(3), &json!(2)));
    assert_eq!(audit["merges"], json!({"host-case": 1}));
}

#[test]
fn a_target_of_a_list_that_no_log_would_hold_has_its_canonical_form() {
    let place = Place::with([("in", b"a/%61\na/a\n/b\n")]);
    place.run(["dedup", "-p", "upload", "in", "--stats", "stats", "--audit"]).exits(0);
    let stats = place.json("stats");
    assert_eq!(stats["unique"], json!(2));
    assert_eq!(
        stats["audit"],
        json!({"originals": 3, "canonical": 2, "merges": {"decode-unreserved": 1}, "key_merges": 0})
    );
}

#[test]
fn a_line_feed_in_a_field_parts_no_original() {
    let table = b"u\n\"http://h/a#\nhttp://b/\"\nhttp://h/a\nhttp://h/a#\nhttp://b/\n";
    let place = Place::with([("in.csv", table)]);
    place.run(["dedup", "-f", "csv:u", "in.csv", "--stats", "stats", "--audit"]).exits(0);
    let stats = place.json("stats");
    assert_eq!((&stats["records"], &stats["unique"]), (&json!(4), &json!(2)));
    assert_eq!(
        stats["audit"],
        json!({"originals": 4, "canonical": 2, "merges": {"drop-fragment": 2}, "key_merges": 0})
    );
}

#[test]
fn an_audit_goes_into_the_accounting() {
    let run = Place::with([("in", URLS)]).run(["dedup", "in", "--audit"]).exits(2);
    assert!(run.err.contains("--stats"), "{}", run.err);
}
