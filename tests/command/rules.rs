//! How many URLs each rule changed.

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
const URLS: &[u8] = b"HTTP://a/#x\nhttp://a/#y\nhttp://a/\nhttp://a\nhttp://a:80/%7e\nhttp://A/~\n\
                      http://a/~\nhttp://a/~\nhttp://b:x/\n";

#[test]
fn stats_count_changed_urls_per_rule() {
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
        }
    }
}
