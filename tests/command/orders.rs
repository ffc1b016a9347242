//! The order in which a set is written, and the fields before each URL.

use super::Place;

const A: &[u8] = b"http://c/\nhttp://a/\nHTTP://C\nhttp://b/\n";
const B: &[u8] = b"http://b/\nhttp://B/\nhttp://0/\n";

#[test]
fn default_order_is_first_occurrence() {
    let place = Place::with([("a", A), ("b", B)]);
    for arguments in [&["dedup", "a", "b"][..], &["dedup", "a", "b", "--order", "first"]] {
        let run = place.run(arguments).exits(0);
        assert_eq!(run.out(), "http://c/\nhttp://a/\nhttp://b/\nhttp://0/\n");
    }
    let run = place.run(["dedup", "b", "a"]).exits(0);
    assert_eq!(run.out(), "http://b/\nhttp://0/\nhttp://c/\nhttp://a/\n");
}

#[test]
fn sorted_order_is_bytewise() {
    let place = Place::with([("a", A), ("b", B)]);
    let sorted = "http://0/\nhttp://a/\nhttp://b/\nhttp://c/\n";
    assert_eq!(place.run(["dedup", "a", "b", "--order", "sorted"]).exits(0).out(), sorted);
    // Order is by bytes, not letters, and a prefix comes before longer lines.
    let run = place
        .run_on(["dedup", "-p", "string", "--order", "sorted"], "b\na\x01\na\nB\na!\n\u{e9}\na\n");
    assert_eq!(run.exits(0).out(), "B\na\na\x01\na!\nb\n\u{e9}\n");
}

#[test]
fn counts_precede_the_url_in_every_order() {
    let place = Place::with([("a", A), ("b", B)]);
    let run = place.run(["dedup", "a", "b", "--count"]).exits(0);
    assert_eq!(run.out(), "2\thttp://c/\n1\thttp://a/\n3\thttp://b/\n1\thttp://0/\n");
    let run = place.run(["dedup", "a", "b", "--count", "--order", "sorted"]).exits(0);
    assert_eq!(run.out(), "1\thttp://0/\n1\thttp://a/\n3\thttp://b/\n2\thttp://c/\n");
}

#[test]
fn order_count_puts_the_most_frequent_first_and_top_limits_it() {
    let place = Place::with([("a", A), ("b", B), ("seen", b"http://c/\n")]);
    let lines = ["3\thttp://b/\n", "2\thttp://c/\n", "1\thttp://0/\n", "1\thttp://a/\n"];
    let columns = "http://b/\t3\nhttp://c/\t2\nhttp://0/\t1\nhttp://a/\t1\n";
    let objects = "{\"count\":3,\"canonical\":\"http://b/\"}\n";
    for (arguments, expected) in [
        (&["--order", "count"][..], lines.concat()),
        (&["--order", "count", "--count"], lines.concat()),
        (&["--order", "count", "--min-count", "2"], lines[..2].concat()),
        (&["--order", "count", "--limit", "3"], lines[..3].concat()),
        (&["--top", "3"], lines[..3].concat()),
        (&["--top", "3", "--order", "count"], lines[..3].concat()),
        (&["--top", "9"], lines.concat()),
        (&["--top", "0"], String::new()),
        (&["--top", "3", "--seen", "seen"], [lines[0], lines[2], lines[3]].concat()),
        (&["--order", "count", "--fields", "canonical,count"], columns.to_owned()),
        (&["--top", "1", "--json"], objects.to_owned()),
    ] {
        let run = place.run([&["dedup", "a", "b"], arguments].concat());
        assert_eq!(run.exits(0).out(), expected, "{arguments:?}");
    }
    for other in [&["--limit", "3"][..], &["--order", "first"], &["--order", "sorted"]] {
        place.run([&["dedup", "a", "--top", "3"], other].concat()).exits(2);
    }
}

#[test]
fn min_count_and_limit_shorten_the_output() {
    let place = Place::with([("a", A), ("b", B)]);
    let run = place.run(["dedup", "a", "b", "--min-count", "2"]).exits(0);
    assert_eq!(run.out(), "http://c/\nhttp://b/\n");
    assert_eq!(
        (run.summary("records"), run.summary("unique")),
        (7, 4),
        "what was found is counted"
    );
    let run = place.run(["dedup", "a", "b", "--min-count", "3", "--count"]).exits(0);
    assert_eq!(run.out(), "3\thttp://b/\n");
    let run = place.run(["dedup", "a", "b", "--limit", "3"]).exits(0);
    assert_eq!(run.out(), "http://c/\nhttp://a/\nhttp://b/\n");
    let run = place.run(["dedup", "a", "b", "--limit", "1", "--order", "sorted"]).exits(0);
    assert_eq!(run.out(), "http://0/\n");
    let run = place.run(["dedup", "a", "b", "--limit", "1", "--min-count", "3"]).exits(0);
    assert_eq!(run.out(), "http://b/\n");
}

#[test]
fn a_limit_of_counted_urls_says_which_ones_it_writes() {
    let place = Place::with([("list", b"http://a/\nhttp://b/\nhttp://b/\n")]);
    let told = |arguments: &[&str]| {
        let run = place.run([&["dedup", "-q", "list", "--limit", "1"], arguments].concat());
        run.exits(0).err
    };
    let first = "uniqurl: warning: --limit writes the first 1 URLs, not the most frequent ones\n\
                 hint: write those with --top 1\n";
    assert_eq!(told(&["--count"]), first);
    for arguments in [&[][..], &["--count", "--order", "count"], &["--count", "--order", "sorted"]]
    {
        assert_eq!(told(arguments), "", "{arguments:?}");
    }
}

#[test]
fn order_none_is_refused_with_a_hint_at_first() {
    let run = Place::new().run(["dedup", "--order", "none"]).exits(2);
    let expected = "uniqurl: invalid value 'none' for '--order <ORDER>' \
                    (expected one of first, sorted, count)\n\
                    hint: leave --order out; the order is then `first`, which is as fast as any\n";
    assert_eq!(run.err, expected);
    let run = Place::new().run(["dedup", "--order", "errors"]).exits(2);
    assert!(
        run.err.contains("\nhint: sort the output by its column: --tally errors"),
        "{}",
        run.err
    );
}
