//! The profile `whatwg`: the behaviour of browsers, on lists and on logs.

use super::{Place, json_lines};
use serde_json::json;

const LIST: &[u8] = b"HTTP://u:@EXAMPLE.com:80/a/../%7e b?it's#f\nhttp:\\\\0x7f.1\\a|b\ndata:a b  ?q\n\
    http://b\xC3\xBCcher.example/\xFF\nhttp://a\xFFb/\n/a\nhttp://h:65536/\nfile:///C|/..\nhttp://a%00/\n\
    http://[::1/\n\x01\nhttp://%C2%AD/\n";

#[test]
fn whatwg_profile_writes_urls_as_browsers_do() {
    let place = Place::with([("in", LIST)]);
    let run = place.run(["normalize", "--json", "-p", "whatwg", "in"]).exits(0);
    let objects = json_lines(&run.out);
    let expected = [
        json!({"record": 1, "out": "http://u@example.com/%7e%20b?it%27s#f"}),
        json!({"record": 2, "out": "http://127.0.0.1/a|b"}),
        json!({"record": 3, "out": "data:a b %20?q"}),
        json!({"record": 4, "out": "http://xn--bcher-kva.example/%FF"}),
        json!({"record": 5, "reject": ["byte"], "at": 8}),
        json!({"record": 6, "reject": ["relative"], "at": 0}),
        json!({"record": 7, "reject": ["port-range"], "at": 9}),
        json!({"record": 8, "out": "file:///C:/"}),
        json!({"record": 9, "reject": ["byte"], "at": 8}),
        json!({"record": 10, "reject": ["host"], "at": 7}),
        json!({"record": 11, "reject": ["empty"], "at": 0}),
        json!({"record": 12, "reject": ["idna"], "at": 7}),
    ];
    assert_eq!(objects, expected);
}

#[test]
fn dedup_is_idempotent_under_whatwg() {
    let place = Place::with([("in", LIST)]);
    let arguments = ["dedup", "-p", "whatwg", "in", "-o", "out", "--stats", "stats"];
    place.run(arguments).exits(0);
    assert_eq!(place.json("stats")["profile"], "whatwg@1");
    let first = place.read("out");
    assert_eq!(place.run(["dedup", "-p", "whatwg@1", "out"]).exits(0).out, first);
    let backends = ["scalar", "auto"];
    for backend in backends {
        let run = place.run(["dedup", "-p", "whatwg", "--backend", backend, "in"]).exits(0);
        assert_eq!(run.out, first, "{backend}");
    }
}

#[test]
fn references_resolve_against_the_base_as_in_browsers() {
    let place = Place::with([("in", b"..\\c\n//H:443\nhttps:d\n#f\n?q\nmailto:a@B\n")]);
    let arguments = ["normalize", "-p", "whatwg", "--base", "https://h/a/b/?x#y", "in"];
    assert_eq!(
        place.run(arguments).exits(0).out(),
        "https://h/a/c\nhttps://h/\nhttps://h/a/b/d\nhttps://h/a/b/?x#f\nhttps://h/a/b/?q\nmailto:a@B\n"
    );
    for (base, told) in [
        ("/a", "--base is not an absolute URL, as https://example.com/ is: relative at byte 0"),
        ("http://h:99999/", "--base is rejected by the profile: port-range at byte 9"),
    ] {
        let run = place.run(["normalize", "-p", "whatwg", "--base", base, "in"]).exits(2);
        assert!(run.err.contains(told), "{}", run.err);
    }
}

#[test]
fn log_target_never_becomes_a_host_under_whatwg() {
    let log =
        br#"h - - [10/Oct/2000:13:55:36 +0000] "GET //evil.example\\a/../b?it's HTTP/1.1" 200 1
h - - [10/Oct/2000:13:55:36 +0000] "GET /%2e%2E/a|b#f HTTP/1.1" 200 1
h - - [10/Oct/2000:13:55:36 +0000] "GET http:\\\\H/a HTTP/1.1" 200 1
h - - [10/Oct/2000:13:55:36 +0000] "OPTIONS * HTTP/1.1" 200 1
"#;
    let place = Place::with([("log", log)]);
    let arguments = ["normalize", "--json", "-p", "whatwg", "log"];
    let objects = json_lines(&place.run(arguments).exits(0).out);
    assert_eq!(objects[0]["out"], "//evil.example/b?it%27s");
    assert_eq!(objects[1]["out"], "/a|b#f");
    assert_eq!(objects[2]["out"], "http://h/a");
    assert_eq!(objects[3]["reject"], json!(["asterisk-form"]));
    let based = arguments.into_iter().chain(["--base", "https://B:443"]);
    let objects = json_lines(&place.run(based).exits(0).out);
    assert_eq!(objects[0]["out"], "https://b//evil.example/b?it%27s");
    assert_eq!(objects[1]["out"], "https://b/a|b#f");
    assert_eq!(objects[2]["out"], "http://h/a");
}
