//! The order in which a set is written, and the fields before each URL.

use super::Place;

const A: &[u8] = b"http://c/\nhttp://a/\nHTTP://C\nhttp://b/\n";
const B: &[u8] = b"http://b/\nhttp://B/\nhttp://0/\n";

#[test]
fn orders_counts_and_limits_choose_the_lines() {
    let place = Place::with([("a", A), ("b", B), ("seen", b"http://c/\n")]);
    let counted = ["3\thttp://b/\n", "2\thttp://c/\n", "1\thttp://0/\n", "1\thttp://a/\n"];
    let [b, c, zero, a] = ["http://b/\n", "http://c/\n", "http://0/\n", "http://a/\n"];
    let columns = "http://b/\t3\nhttp://c/\t2\nhttp://0/\t1\nhttp://a/\t1\n";
    let objects = "{\"count\":3,\"canonical\":\"http://b/\"}\n";
    for (arguments, expected) in [
        (&[][..], [c, a, b, zero].concat()),
        (&["--order", "first"], [c, a, b, zero].concat()),
        (&["--order", "sorted"], [zero, a, b, c].concat()),
        (&["--count"], [counted[1], counted[3], counted[0], counted[2]].concat()),
        (
            &["--count", "--order", "sorted"],
            [counted[2], counted[3], counted[0], counted[1]].concat(),
        ),
        (&["--min-count", "2"], [c, b].concat()),
        (&["--min-count", "3", "--count"], counted[0].to_owned()),
        (&["--limit", "3"], [c, a, b].concat()),
        (&["--limit", "1", "--order", "sorted"], zero.to_owned()),
        (&["--limit", "1", "--min-count", "3"], b.to_owned()),
        (&["--order", "count"], counted.concat()),
        (&["--order", "count", "--count"], counted.concat()),
        (&["--order", "count", "--min-count", "2"], counted[..2].concat()),
        (&["--order", "count", "--limit", "3"], counted[..3].concat()),
        (&["--top", "3"], counted[..3].concat()),
        (&["--top", "3", "--order", "count"], counted[..3].concat()),
        (&["--top", "9"], counted.concat()),
        (&["--top", "0"], String::new()),
        (&["--top", "3", "--seen", "seen"], [counted[0], counted[2], counted[3]].concat()),
        (&["--order", "count", "--fields", "canonical,count"], columns.to_owned()),
        (&["--top", "1", "--json"], objects.to_owned()),
    ] {
        let run = place.run([&["dedup", "a", "b"], arguments].concat()).exits(0);
        assert_eq!(run.out(), expected, "{arguments:?}");
        // What was found is counted, whatever is written.
        assert!(arguments.contains(&"--seen") || run.summary("unique") == 4, "{}", run.err);
    }
}

/// By bytes, not letters, and a prefix comes before longer lines.
#[test]
fn sorted_order_is_bytewise() {
    let list = "b\na\x01\na\nB\na!\n\u{e9}\na\n";
    let run = Place::new().run_on(["dedup", "-p", "string", "--order", "sorted"], list);
    assert_eq!(run.exits(0).out(), "B\na\na\x01\na!\nb\n\u{e9}\n");
}
