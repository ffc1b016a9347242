//! `uniqurl set`: union, intersection and difference of sorted sets.

use super::packed::gzip;
use super::{Place, built, cases};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

#[test]
fn set_union_intersect_and_diff_are_exact() {
    let place = Place::with([("a", b"b\nc\nd\n"), ("b", b"a\nb\nd"), ("c", b"d\ne\r\n\n")]);
    for (arguments, expected) in [
        (&["union", "a", "b", "c"][..], "a\nb\nc\nd\ne\n"),
        (&["intersect", "a", "b", "c"], "d\n"),
        (&["intersect", "a", "b"], "b\nd\n"),
        (&["diff", "a", "b"], "c\n"),
        (&["diff", "a", "b", "c"], "c\n"),
        (&["diff", "c", "a"], "e\n"),
        (&["diff", "a", "a"], ""),
        (&["union", "a"], "b\nc\nd\n"),
    ] {
        let run = place.run([&["set"], arguments].concat()).exits(0);
        assert_eq!((run.out(), &*run.err), (expected, ""), "{arguments:?}");
    }
    let run = place.run_on(["set", "diff", "-", "a"], "a\nb\n").exits(0);
    assert_eq!(run.out(), "a\n");
}

#[test]
fn sets_may_be_compressed() {
    let place = Place::with([("a", b"http://a/\nhttp://c/\n"), ("b", b"http://b/\nhttp://c/\n")]);
    for (name, of) in [("a.gz", "a"), ("b.zst", "b")] {
        place.run(["set", "union", of, "-o", name]).exits(0);
        assert_ne!(place.read(name), place.read(of));
    }
    let run = place.run(["set", "union", "a.gz", "b.zst"]).exits(0);
    assert_eq!(run.out(), "http://a/\nhttp://b/\nhttp://c/\n");
    let whole = place.read("a.gz");
    let end = whole.len();
    place.write("cut.gz", &whole[..end - 6]);
    let mut flipped = whole.clone();
    flipped[end - 8] ^= 1;
    place.write("flipped.gz", &flipped);
    place.write("followed.gz", [&whole[..], b"rest"].concat());
    let early = format!("truncated: the gzip data ends early, at byte {}", end - 6);
    for (name, told) in [
        ("cut.gz", &*early),
        ("flipped.gz", "damaged: gzip: the checksum does not match, before byte"),
        ("followed.gz", "damaged: gzip: what follows the last gzip member is none, before byte"),
    ] {
        let told = format!("uniqurl: {name}@20: {told}");
        let run = place.run(["set", "union", "b", name, "-o", "out"]).exits(2);
        assert!(run.err.contains(&told) && !place.path("out").exists(), "{told}: {}", run.err);
        let run = place.run(["dedup", "--files-from", name]).exits(2);
        assert!(run.err.contains(&told), "{told}: {}", run.err);
        let cat = place.run_on(["set", "union", "-"], place.read(name)).exits(2);
        assert!(cat.err.contains(&told.replace(name, "-")), "{told}: {}", cat.err);
    }
}

#[test]
fn table_is_not_accepted_as_a_set() {
    let place = Place::with([("a", b"http://a/\n")]);
    for name in ["t.parquet", "t.arrow"] {
        place.run(["dedup", "a", "-o", name]).exits(0);
        let run = place.run(["set", "union", "a", name, "-o", "out"]).exits(2);
        let told = format!("uniqurl: {name}@0: format: is a table, not a sorted list\nhint: ");
        assert!(run.err.contains(&told) && !place.path("out").exists(), "{}", run.err);
    }
}

#[test]
fn error_for_an_unsorted_set_names_the_line() {
    let place = Place::with([
        ("good", b"http://a/\n"),
        ("bad", b"http://b/\nhttp://c/\n\nhttp://a:secret@a/\x1b[31m?q\nhttp://d/\n"),
        ("counted", b"2\thttp://a/\n1\thttp://b/\n"),
        ("out", b"old"),
    ]);
    for operation in ["union", "intersect", "diff"] {
        for files in [["good", "bad"], ["bad", "good"]] {
            let run = place.run([&["set", operation, "-o", "out"], &files[..]].concat()).exits(2);
            assert!(
                run.err.starts_with("uniqurl: bad@21: order: line 4 is not sorted"),
                "{}",
                run.err
            );
            assert!(run.err.contains("http://***@a/\\x1B[31m?*** comes after http://c/"));
            assert_eq!(place.text("out"), "old");
        }
    }
    let run = place.run(["set", "union", "counted"]).exits(2);
    assert!(run.err.contains("line 2") && run.err.contains("union --count"), "{}", run.err);
    for operation in ["intersect", "diff"] {
        let run = place.run(["set", operation, "counted", "good"]).exits(2);
        assert!(run.err.contains("line 2") && run.err.contains("cut -f 2-"), "{}", run.err);
    }
    let run = place.run(["set", "union", "--count", "counted", "good"]).exits(2);
    assert!(run.err.contains("good@0: count: line 1 is not a count"), "{}", run.err);
}

#[test]
fn union_with_counts_equals_the_counts_of_one_run() {
    let place = Place::with([
        ("a", b"http://a/\nhttp://b/\nHTTP://a/\n"),
        ("b", b"http://c/\nhttp://a/\n"),
    ]);
    let counted = ["dedup", "--count", "--order", "sorted"];
    for name in ["a", "b"] {
        let out = format!("{name}.counts");
        place.run([&counted[..], &[name, "-o", &out]].concat()).exits(0);
    }
    let both = place.run([&counted[..], &["a", "b"]].concat()).exits(0);
    let union = place.run(["set", "union", "--count", "a.counts", "b.counts"]).exits(0);
    assert_eq!(
        (union.out(), union.out.clone()),
        ("3\thttp://a/\n1\thttp://b/\n1\thttp://c/\n", both.out)
    );
}

#[test]
fn equal_lines_of_one_set_are_merged() {
    let place = Place::with([
        ("a", b"a\na\nb\n"),
        ("b", b"b\nb\n"),
        ("counts", b"1\ta\n2\ta\n18446744073709551614\tb\n1\tb\n"),
    ]);
    assert_eq!(place.run(["set", "union", "a", "b"]).exits(0).out(), "a\nb\n");
    assert_eq!(place.run(["set", "intersect", "a", "b"]).exits(0).out(), "b\n");
    assert_eq!(place.run(["set", "diff", "a", "b"]).exits(0).out(), "a\n");
    let run = place.run(["set", "union", "--count", "counts"]).exits(0);
    assert_eq!(run.out(), "3\ta\n18446744073709551615\tb\n");
    place.write("as-text", "1\ta\n2\ta\n");
    assert_eq!(place.run(["set", "union", "as-text"]).exits(0).out(), "1\ta\n2\ta\n");
}

#[test]
fn counts_that_add_up_to_no_number_end_the_union_with_their_line() {
    let most = b"18446744073709551615\thttp://b/\n";
    let place = Place::with([
        ("one", &[b"1\thttp://a/\n", &most[..], b"1\thttp://b/\n"].concat()[..]),
        ("two", &[b"1\thttp://a/\n", &most[..], b"1\thttp://c/\n"].concat()),
        ("three", b"1\thttp://b/\n2\thttp://c/\n"),
    ]);
    let why = "the sum of the counts greater than 18446744073709551615: http://b/";
    for (files, start) in
        [(&["one"][..], "one@43: count: line 3"), (&["two", "three"], "three@0: count: line 1")]
    {
        let arguments = [&["set", "union", "--count", "-o", "out"], files].concat();
        let run = place.run(arguments).exits(2);
        assert_eq!(run.err, format!("uniqurl: {start} makes {why}\n"));
        assert!(!place.path("out").exists());
    }
}

#[test]
fn an_empty_file_is_an_empty_list() {
    let place = Place::with([("a", b"http://a/\nhttp://b/\n"), ("nothing", b"")]);
    for (arguments, keys) in [
        (["union", "nothing", "a"], "http://a/\nhttp://b/\n"),
        (["diff", "nothing", "a"], ""),
        (["diff", "a", "nothing"], "http://a/\nhttp://b/\n"),
        (["intersect", "nothing", "a"], ""),
    ] {
        let run = place.run([&["set"], &arguments[..]].concat()).exits(0);
        assert_eq!(run.out(), keys, "{arguments:?}");
    }
}

#[test]
fn exported_stores_are_sets() {
    let place = Place::with([("a", b"http://b/\nhttp://a/\n"), ("b", b"http://b/\n")]);
    for name in ["a", "b"] {
        place.run(["dedup", "-q", name, "--save-seen", &format!("{name}.seen")]).exits(0);
        let list = format!("{name}.zst");
        place.run(["seen", "export", &format!("{name}.seen"), "-o", &list]).exits(0);
    }
    assert_eq!(place.run(["set", "diff", "a.zst", "b.zst"]).exits(0).out(), "http://a/\n");
}

#[test]
fn wrong_use_of_set_is_rejected() {
    let place = Place::with([("a", b"a\n")]);
    for (arguments, words) in [
        (&["union"][..], "FILE"),
        (&["frob", "a"], "frob"),
        (&["diff", "--count", "a", "a"], "--count works only with `union`"),
        (&["intersect", "--count", "a", "a"], "--count works only with `union`"),
        (&["union", "-", "-"], "standard input"),
        (&["union", "a", "none"], "none: missing: "),
        (&["union", "a", "."], "directory"),
        (&["union", "a", "-o", "no/such"], "no/such"),
    ] {
        let run = place.run([&["set"], arguments].concat()).exits(2);
        assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
    }
    assert_eq!(place.names(), ["a"]);
    let help = place.run(["set", "--help"]).exits(0);
    assert!(help.out().contains("LC_ALL=C sort"), "{}", help.out());
    let words = help.out().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("one URL with two counts is two lines"), "{words}");
    assert!(place.run(["man", "set"]).exits(0).out().contains("uniqurl\\-set"));
    assert!(place.run(["completions", "bash"]).exits(0).out().contains("intersect"));
}

#[test]
fn output_may_replace_a_set_and_an_empty_file_is_a_set() {
    let place = Place::with([("a", b"a\n"), ("b", b"b\n"), ("empty.gz", b"")]);
    place.run(["set", "union", "a", "b", "empty.gz", "-o", "a"]).exits(0);
    assert_eq!(place.text("a"), "a\nb\n");
    assert_eq!(place.run(["set", "intersect", "a", "empty.gz"]).exits(0).out(), "");
}

/// Half of a key may equal that of another URL.
#[test]
fn unfinished_last_line_of_a_set_is_skipped() {
    let place = Place::new();
    place.pipe("pipe");
    let list = b"http://a/\nhttp://h/9";
    for (name, list, more) in
        [("list", list.to_vec(), b"5\n".to_vec()), ("list.gz", gzip(list), gzip(b"5\n"))]
    {
        place.write(name, list);
        let arguments = ["set", "union", "pipe", name];
        let run =
            place.run_meanwhile("pipe", &arguments, Stdio::null(), || place.append(name, &more));
        let run = run.exits(0);
        let told = format!("{name}@10: cut: the last line was still being written and is left out");
        assert!(run.err.contains(&told), "{}", run.err);
        assert_eq!(run.out(), "http://a/\n", "{name}");
        assert_eq!(place.run(["set", "union", name]).exits(0).out(), "http://a/\nhttp://h/95\n");
    }
}

#[test]
fn closed_pipe_ends_set_without_an_error() {
    let place = Place::new();
    let line = |i| format!("http://example.com/a/rather/long/path/to/fill/the/pipe/{i:09}\n");
    place.write("in", (0..50_000).map(line).collect::<String>());
    let mut child = built::process()
        .args(["set", "union", "in"])
        .current_dir(place.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut first = String::new();
    let out = child.stdout.take().expect("piped");
    BufReader::with_capacity(64, out).read_line(&mut first).expect("a line");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_ne!(output.status.code(), Some(101), "a panic");
}

type Keys = BTreeSet<Vec<u8>>;

#[test]
fn set_operations_agree_with_btreemap() {
    cases::for_each_case(80, |rng| {
        let pieces = ["a", "b", "/", "\u{1}", "\u{ff}", "?", "ab", "\t"];
        let place = Place::new();
        let names = ["0", "1", "2.gz", "3.zst"];
        let names = &names[..2 + rng.below(3)];
        let mut sets: Vec<BTreeMap<Vec<u8>, u64>> = Vec::new();
        for name in names {
            let mut set = BTreeMap::new();
            for _ in 0..rng.below(60) {
                let length = 1 + rng.below(4);
                let key: Vec<&str> = (0..length).map(|_| rng.pick(&pieces)).collect();
                *set.entry(key.concat().into_bytes()).or_insert(0) += 1 + rng.below(9) as u64;
            }
            sets.push(set);
            for (form, counted) in [("keys", false), ("counts", true)] {
                let mut text = Vec::new();
                for (key, count) in sets.last().expect("one") {
                    if counted {
                        write!(text, "{count}\t").expect("written");
                    }
                    text.extend([&key[..], b"\n"].concat());
                }
                let packed = match name.rsplit('.').next() {
                    Some("gz") => gzip(&text),
                    Some("zst") => zstd::encode_all(&text[..], 1).expect("packed"),
                    _ => text,
                };
                place.write(format!("{form}.{name}"), packed);
            }
        }
        let keys = |set: &BTreeMap<Vec<u8>, u64>| set.keys().cloned().collect::<Keys>();
        let sets_of_keys: Vec<_> = sets.iter().map(keys).collect();
        let fold = |join: fn(&Keys, &Keys) -> Keys| {
            let (first, others) = sets_of_keys.split_first().expect("two");
            others.iter().fold(first.clone(), |all, set| join(&all, set))
        };
        for (operation, expected) in [
            ("union", fold(|a, b| a | b)),
            ("intersect", fold(|a, b| a & b)),
            ("diff", fold(|a, b| a - b)),
        ] {
            let files = names.iter().map(|name| format!("keys.{name}"));
            let arguments = ["set", operation].map(str::to_owned).into_iter().chain(files);
            let text: Vec<_> = expected.iter().flat_map(|key| [&key[..], b"\n"].concat()).collect();
            assert!(place.run(arguments).exits(0).out == text, "{operation}");
        }
        let mut sums: BTreeMap<&[u8], u64> = BTreeMap::new();
        for (key, count) in sets.iter().flatten() {
            *sums.entry(key).or_default() += count;
        }
        let text: Vec<_> = sums
            .iter()
            .flat_map(|(key, count)| [format!("{count}\t").as_bytes(), key, b"\n"].concat())
            .collect();
        let files = names.iter().map(|name| format!("counts.{name}"));
        let arguments = ["set", "union", "--count"].map(str::to_owned).into_iter().chain(files);
        assert!(place.run(arguments).exits(0).out == text);
    });
}
