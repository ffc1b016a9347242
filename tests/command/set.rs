//! `uniqurl set`: union, intersection and difference of sorted sets.

use super::packed::gzip;
use super::{Place, cases};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::Stdio;

#[test]
fn set_union_intersect_and_diff_are_exact() {
    let place = Place::with([
        ("a", b"b\nc\nd\n".as_slice()),
        ("b", b"a\nb\nd"),
        ("c", b"d\ne\r\n\n"),
        ("nothing", b""),
        // Equal lines of one set are merged.
        ("twice", b"a\na\nb\n"),
        ("counts", b"1\ta\n2\ta\n18446744073709551614\tb\n1\tb\n"),
    ]);
    for (arguments, expected) in [
        (&["union", "a", "b", "c"][..], "a\nb\nc\nd\ne\n"),
        (&["intersect", "a", "b", "c"], "d\n"),
        (&["diff", "a", "b", "c"], "c\n"),
        (&["diff", "c", "a"], "e\n"),
        (&["diff", "a", "a"], ""),
        (&["union", "nothing", "a"], "b\nc\nd\n"),
        (&["diff", "a", "nothing"], "b\nc\nd\n"),
        (&["intersect", "nothing", "a"], ""),
        (&["union", "twice", "twice"], "a\nb\n"),
        (&["diff", "twice", "a"], "a\n"),
        (&["union", "--count", "counts"], "3\ta\n18446744073709551615\tb\n"),
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
    let flipped: Vec<u8> =
        whole.iter().enumerate().map(|(at, byte)| byte ^ u8::from(at == end - 8)).collect();
    let early = format!("truncated: the gzip data ends early, at byte {}", end - 6);
    for (packed, told) in [
        (&whole[..end - 6], &*early),
        (&flipped, "damaged: gzip: the checksum does not match, before byte"),
        (
            &[&whole[..], b"rest"].concat(),
            "damaged: gzip: what follows the last gzip member is none, before byte",
        ),
    ] {
        place.write("bad.gz", packed);
        let told = format!("uniqurl: bad.gz@20: {told}");
        let run = place.run(["set", "union", "b", "bad.gz", "-o", "out"]).exits(2);
        assert!(run.err.contains(&told) && !place.path("out").exists(), "{told}: {}", run.err);
        let cat = place.run_on(["set", "union", "-"], packed).exits(2);
        assert!(cat.err.contains(&told.replace("bad.gz", "-")), "{told}: {}", cat.err);
    }
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
