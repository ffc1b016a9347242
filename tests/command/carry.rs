//! `--carry`, `--keep` and `--json` of `dedup`.

use super::Place;

const CDX: &[u8] = b" CDX N b a m s k r M S V g\n\
h)/a 20240101000000 http://h/a text/html 200 AAA - - 9 0 one.gz\n\
h)/b 20240101000000 http://h/b text/html 404 BBB - - 9 9 one.gz\n\
h)/a 20240301000000 HTTP://h/a text/html 301 CCC - - 10 0 two.gz\n\
h)/a 20240201000000 http://h:80/a text/html 200 DDD - - 10 9 two.gz\n";

#[test]
fn columns_of_the_record_that_is_kept_stand_behind_the_key() {
    let place = Place::with([("index.cdx", CDX)]);
    for (keep, a) in [
        (&[][..], "20240101000000\t200"),
        (&["--keep", "last"], "20240201000000\t200"),
        (&["--keep", "max:b"], "20240301000000\t301"),
        (&["--keep", "max:length"], "20240301000000\t301"),
    ] {
        let arguments = ["dedup", "index.cdx", "--carry", "timestamp,s"];
        for (more, lines) in [
            (&[][..], format!("http://h/a\t{a}\nhttp://h/b\t20240101000000\t404\n")),
            (&["--count"], format!("3\thttp://h/a\t{a}\n1\thttp://h/b\t20240101000000\t404\n")),
            (&["--key", "surt"], format!("h)/a\t{a}\nh)/b\t20240101000000\t404\n")),
        ] {
            let run = place.run([&arguments[..], keep, more].concat()).exits(0);
            assert_eq!(run.out(), lines, "{keep:?} {more:?}");
            assert_eq!((run.summary("unique"), run.summary("duplicates")), (2, 2));
        }
    }
    let fields = ["dedup", "index.cdx", "--keep", "max:b", "--fields", "canonical,first,original"];
    let first = place.run(fields).exits(0).out().lines().next().map(str::to_owned);
    let offset = CDX.windows(14).position(|bytes| bytes == b"20240301000000").unwrap() - 5;
    assert_eq!(first, Some(format!("http://h/a\tindex.cdx:3:{offset}\tHTTP://h/a")));
}

#[test]
fn objects_and_tables_have_columns_by_their_names() {
    let place = Place::with([("index.cdx", CDX)]);
    let carry = ["dedup", "index.cdx", "--carry", "k,redirect", "--keep", "last"];
    let json = place.run([&carry[..], &["--json", "--count"]].concat()).exits(0);
    let lines = [
        "{\"count\":3,\"canonical\":\"http://h/a\",\"k\":\"DDD\",\"redirect\":\"-\"}\n",
        "{\"count\":1,\"canonical\":\"http://h/b\",\"k\":\"BBB\",\"redirect\":\"-\"}\n",
    ];
    assert_eq!(json.out(), lines.concat());
    for name in ["set.parquet", "set.arrow"] {
        place.run([&carry[..], &["--order", "sorted", "-o", name]].concat()).exits(0);
        let read = place.run(["dedup", name, "--carry", "k"]).exits(0);
        assert_eq!(read.out(), "http://h/a\tDDD\nhttp://h/b\tBBB\n", "{name}");
        let missing = place.run(["dedup", name, "--carry", "nothing"]).exits(2);
        assert!(
            missing.err.contains("it has no column `nothing`; its columns are"),
            "{}",
            missing.err
        );
    }
    let plain = place.run(["dedup", "index.cdx", "--json", "--fields", "host,count"]).exits(0);
    assert_eq!(plain.out().lines().next(), Some("{\"host\":\"h\",\"count\":3}"));
    let list = place.run_on(["dedup", "--json", "-0"], "http://h/\0HTTP://h\0").exits(0);
    assert_eq!(list.out(), "{\"canonical\":\"http://h/\"}\n");
}

#[test]
fn what_is_carried_is_masked_like_the_original() {
    let place = Place::with([("t.tsv", b"url\tfrom\nhttp://h/\thttp://u:p@h/?q=1\n")]);
    let run = place.run(["dedup", "-f", "tsv:url", "--carry", "from", "--redact", "t.tsv"]);
    assert_eq!(run.exits(0).out(), "http://h/\thttp://***@h/?q=***\n");
}

#[test]
fn what_cannot_be_carried_or_kept_is_refused_with_what_to_do() {
    let place = Place::with([("urls", b"http://h/\n")]);
    for (arguments, words) in [
        (&["-f", "lines", "--carry", "a"][..], "lines has no columns with names; the formats"),
        (&["--carry", "a"], "urls: format: column a: lines has no columns with names"),
        (&["-f", "csv:1", "--carry", "a"], "carry the column by its number"),
        (&["--keep", "last"], "--keep chooses what --carry and --fields tell"),
        (
            &["-f", "tsv:1", "--carry", "1", "--keep", "last", "--checkpoint", "d"],
            "--keep last and --keep max:COL do not go with it",
        ),
        (&["--json", "-o", "x.parquet"], "--json writes JSON, and no table"),
    ] {
        let refused = place.run([&["dedup", "urls"][..], arguments].concat()).exits(2);
        assert!(refused.err.replace("\n", " ").contains(words), "{arguments:?}: {}", refused.err);
    }
    assert_eq!(place.names(), ["urls"]);
}
