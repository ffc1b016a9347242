//! `-0`: records of lists that end with NUL.

use super::{Place, cases, generator};

#[test]
fn null_option_ends_input_and_output_records_with_nul() {
    let place = Place::with([("in", b"http://b/\0HTTP://A/x\ny\0\0http://b\0no\0http://c/")]);
    for (arguments, out) in [
        (&["dedup", "-0"][..], "http://b/\0http://a/x%0Ay\0http://c/\0"),
        (&["dedup", "--null", "-j", "2"], "http://b/\0http://a/x%0Ay\0http://c/\0"),
        (&["normalize", "-0"], "http://b/\0http://a/x%0Ay\0\0http://b/\0\0http://c/\0"),
        (
            &["dedup", "-0", "--count", "--order", "sorted"],
            "1\thttp://a/x%0Ay\x002\thttp://b/\x001\thttp://c/\0",
        ),
        (&["dedup", "-0", "--fields", "canonical,first", "--limit", "1"], "http://b/\tin:1:0\0"),
    ] {
        let run = place.run([arguments, &["in"]].concat()).exits(0);
        assert_eq!(run.out(), out, "{arguments:?}");
        assert_eq!((run.summary("records"), run.summary("blank")), (6, 1));
    }
    place.run(["dedup", "-0", "in", "-q", "-o", "out.zst"]).exits(0);
    let run = place.run(["dedup", "-0", "out.zst"]).exits(0);
    assert_eq!((run.summary("records"), run.summary("unique")), (3, 3));
}

#[test]
fn json_output_ends_with_line_feeds_under_null() {
    let place = Place::with([("in", b"http://b/\0x\ny\0")]);
    let run = place.run(["normalize", "-0", "--json", "--rejects", "rejects", "in"]).exits(0);
    assert_eq!(run.out().lines().count(), 2);
    let rejects = place.json_lines("rejects");
    assert_eq!((&rejects[0]["raw"], &rejects[0]["offset"]), (&"x\ny".into(), &10.into()));
}

#[test]
fn line_feed_in_a_url_is_rejected_under_string() {
    let place = Place::with([("in", b"a\nb\0c\r\0d\0")]);
    let run = place.run(["normalize", "-0", "-p", "string", "--json", "in"]).exits(0);
    assert!(run.out().starts_with("{\"record\":1,\"reject\":[\"newline\"]"), "{}", run.out());
    let run = place.run(["dedup", "-0", "-p", "string", "in"]).exits(0);
    assert_eq!((run.out(), run.summary("rejected")), ("d\0", 2));
}

#[test]
fn null_option_applies_to_seen_lists_and_not_to_stores() {
    let place =
        Place::with([("old", b"http://a/\0http://x\ny/\0"), ("in", b"http://a/\0http://b/\0")]);
    let run = place.run(["dedup", "-0", "--seen", "old", "in", "--save-seen", "set"]).exits(0);
    assert_eq!((run.out(), run.summary("seen")), ("http://b/\0", 1));
    assert_eq!(place.keys_of("set"), "http://b/\n");
    assert_eq!(place.run(["dedup", "-0", "--seen", "set", "in"]).exits(0).out(), "http://a/\0");
}

#[test]
fn lines_and_nul_records_give_the_same_set() {
    cases::for_each_case(200, |rng| {
        let urls = (0..400).map(|_| generator::any(rng)).filter(|url| {
            // Leaves out URLs that only one of the two kinds of list can hold.
            !url.contains(&0) && !url.contains(&b'\n') && !url.ends_with(b"\r")
        });
        let urls: Vec<_> = urls.collect();
        let place = Place::new();
        place.write("lines", urls.join(&b'\n'));
        place.write("nuls", urls.join(&0));
        for arguments in [&["normalize"][..], &["dedup", "--count"], &["dedup", "--memory", "1M"]] {
            let run = |more: &[&str]| place.run([arguments, more].concat()).exits(0);
            let lines = run(&["-f", "lines", "lines", "--rejects", "a"]).out;
            let nuls = run(&["-0", "nuls", "--rejects", "b"]).out;
            let with_nul = |byte: &u8| if *byte == b'\n' { 0 } else { *byte };
            assert!(nuls == lines.iter().map(with_nul).collect::<Vec<_>>());
            assert_eq!(
                place.read("a").len(),
                place.text("b").replace("\"nuls\"", "\"lines\"").len()
            );
        }
    });
}
