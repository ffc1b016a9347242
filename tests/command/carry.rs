//! `--carry`, `--keep` and `--json` of `dedup`.

use super::Place;
use super::packed::gzip;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

const CDX: &[u8] = b" CDX N b a m s k r M S V g\n\
h)/a 20240101000000 http://h/a text/html 200 AAA - - 9 0 one.gz\n\
h)/b 20240101000000 http://h/b text/html 404 BBB - - 9 9 one.gz\n\
h)/a 20240301000000 HTTP://h/a text/html 301 CCC - - 10 0 two.gz\n\
h)/a 20240201000000 http://h:80/a text/html 200 DDD - - 10 9 two.gz\n";

#[test]
fn carried_columns_of_the_kept_record_follow_the_key() {
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
fn json_and_tables_name_carried_columns() {
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
    }
    let plain = place.run(["dedup", "index.cdx", "--json", "--fields", "host,count"]).exits(0);
    assert_eq!(plain.out().lines().next(), Some("{\"host\":\"h\",\"count\":3}"));
    let list = place.run_on(["dedup", "--json", "-0"], "http://h/\0HTTP://h\0").exits(0);
    assert_eq!(list.out(), "{\"canonical\":\"http://h/\"}\n");
}

#[test]
fn carried_json_column_after_an_unescaped_string_is_exact() {
    let lines = b"{\"v\":{\"w\":\"\\\"}\"},\"url\":\"http://h/\ta\",\"from\":[1, {}],\"n\": -5 }\n";
    let place = Place::with([("t.jsonl", lines)]);
    let run = place.run(["dedup", "-f", "json:/url", "--carry", "from,v,/v/w,n", "t.jsonl"]);
    assert_eq!(run.exits(0).out(), "http://h/%09a\t[1, {}]\t{\"w\":\"\\x5C\"}\"}\t\"}\t-5\n");
}

#[test]
fn tables_hold_carried_values_without_escapes() {
    let value = "caf\u{E9}\ttab \\ \\x41 \"q\"\nline";
    let json = serde_json::to_string(value).unwrap();
    let jsonl = format!(
        "{{\"url\":\"http://h/1\",\"v\":{json}}}\n{{\"url\":\"http://h/2\",\"v\":[1.50, \"\\\\\"]}}\n\
         {{\"url\":\"http://h/3\",\"v\":-5}}\n{{\"url\":\"http://h/4\",\"v\":null}}\n\
         {{\"url\":\"http://h/5\",\"v\":true}}\n{{\"url\":\"http://h/6\"}}\n"
    );
    let quoted = format!("\"{}\"", value.replace('"', "\"\""));
    let csv = format!("url,v\nhttp://h/1,{quoted}\nhttp://h/2,").into_bytes();
    let csv = [csv, b"\xE9\\\n".to_vec()].concat();
    let log = "1.2.3.4 - - [01/Jan/2026:00:00:00 +0000] \"GET http://h/1 HTTP/1.1\" 200 1 \"-\" \
               \"a\\\"b \\xC3\\xA9 \\\\\"\n";
    let place = Place::with([
        ("t.jsonl", jsonl.as_bytes()),
        ("t.csv", csv.as_slice()),
        ("t.log", log.as_bytes()),
    ]);
    let of_json = [Some(value), Some("[1.50, \"\\\\\"]"), Some("-5"), None, Some("true"), None];
    for (format, file, column, expected) in [
        ("json:/url", "t.jsonl", "v", &of_json[..]),
        // A value that is not UTF-8 stays escaped.
        ("csv:url", "t.csv", "v", &[Some(value), Some("\\xE9\\x5C")]),
        ("combined", "t.log", "agent", &[Some("a\"b \u{E9} \\")]),
    ] {
        for table in ["t.parquet", "t.arrow"] {
            let carry = ["dedup", "-f", format, "--carry", column, file];
            place.run([&carry[..], &["-o", table]].concat()).exits(0);
            // A table is carried from as it is into JSON.
            let run = place.run(["dedup", "--json", "--carry", column, table]).exits(0);
            let found: Vec<serde_json::Value> =
                run.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                assert_eq!(found[column].as_str(), *expected, "{file} {table}");
            }
        }
    }
}

#[test]
fn redact_masks_carried_columns() {
    let w3c = "#Fields: x cs-uri-stem cs-uri-query\na=b /a t=SECRET\n";
    let json = "{\"r\":{\"p\":\"/a\",\"q\":\"SECRET\"},\"s\":[\"t=SECRET\"]}\n";
    for (format, columns, input, shown) in [
        ("tsv:1", "2", "http://h/\thttp://u:p@h/?q=1\n", "http://***@h/?q=***"),
        ("w3c", "cs-uri-query,x", w3c, "t=***\ta=b"),
        ("cloudfront", "cs-uri-query", "#Fields: cs-uri-stem cs-uri-query\n/a\tSECRET\n", "***"),
        ("csv:path=p,query=q", "q,2,P", "p,q\n/a,SECRET\n", "***\t***\t/a"),
        ("tsv:path=1,query=2", "2,1", "/a\t?t=SECRET\n", "?t=***\t/a"),
        ("json:path=/r/p,query=/r/q", "/r/q,r,s", json, "***\t***\t[\"t=***"),
        ("json:/u", "v", "{\"u\":\"/a\",\"v\":{\"u\":\"/a?SECRET\"}}\n", "{\"u\":\"/a?***"),
    ] {
        let fields = ["dedup", "-p", "string", "-f", format, "--carry", columns, "--redact"];
        let run = Place::new().run_on(fields, input).exits(0);
        let (_, carried) = run.out().trim_end().split_once('\t').expect("columns");
        assert_eq!(carried, shown, "{format}");
    }
    // A table is read by its schema.
    let place = Place::new();
    let table = ["dedup", "-p", "string", "-f", "csv:p", "--carry", "q", "-o", "t.parquet"];
    place.run_on(table, "p,q\n/a,SECRET\n").exits(0);
    let format = "parquet:path=canonical,query=q";
    let run = place.run(["dedup", "-f", format, "--carry", "q", "--redact", "t.parquet"]).exits(0);
    assert_eq!(run.out(), "/a?SECRET\t***\n");
}

#[test]
fn error_for_a_missing_column_lists_the_header() {
    let w3c = "#Software: x\n#Fields: date cs-uri-stem sc-status\n2026-01-01 /a 200\n";
    let later = format!("{w3c}#Fields: date cs-uri-stem\n2026-01-01 /b\n{w3c}");
    let cloudfront = "#Version: 1.0\n#Fields: date x-edge-location cs-uri-stem x-host-header\n\
                      2026-01-01\tE\t/a\th\n";
    for (format, carry, text, listed) in [
        ("csv:url", "id,nope", "\u{FEFF}id,url\n1,http://h/", "id, url"),
        ("csv:url", "nope", "id,url", "id, url"),
        ("tsv:url", "9", "id\turl", "id, url"),
        ("w3c", "time", w3c, "date, cs-uri-stem, sc-status"),
        ("w3c", "sc-status", &later, "date, cs-uri-stem"),
        ("cloudfront", "nope", cloudfront, "date, x-edge-location, cs-uri-stem, x-host-header"),
    ] {
        let column = carry.rsplit(',').next().unwrap();
        let expected = format!("format: it has no column `{column}`: its columns are {listed}");
        let place = Place::with([("in", text.as_bytes()), ("gz", &gzip(text.as_bytes()))]);
        for input in ["in", "gz", "-"] {
            let arguments = ["dedup", "-f", format, "--carry", carry, "-o", "out", input];
            let run = place.run_on(arguments, text).exits(2);
            assert!(run.err.contains(&expected), "{format} {carry} {input}: {}", run.err);
        }
        assert_eq!(place.names(), ["gz", "in"]);
    }
    let named = ["dedup", "-f", "cloudfront", "--carry", "X-Edge-Location"];
    assert_eq!(Place::new().run_on(named, cloudfront).exits(0).out(), "http://h/a\tE\n");
    // A row that ends before the column may have been cut in its URL.
    let csv = "url,id\nhttp://h/\nhttp://h/a,\n";
    let run = Place::new().run_on(["dedup", "-f", "csv:url", "--carry", "id"], csv).exits(0);
    assert_eq!(run.out(), "http://h/a\t\n");
}

#[test]
fn empty_input_lacks_no_column() {
    let place = Place::with([("index.cdx", CDX), ("empty", b""), ("empty.gz", &gzip(b""))]);
    for empty in ["empty", "empty.gz", "-"] {
        for keep in [&["--carry", "timestamp"][..], &["--keep", "max:b", "--fields", "host"]] {
            let run = place.run([&["dedup", empty, "index.cdx"][..], keep].concat()).exits(0);
            assert_eq!((run.summary("ok"), run.summary("unique")), (2, 2), "{}", run.err);
        }
        let run = place.run(["dedup", empty, "index.cdx", "--status", "200"]).exits(0);
        assert!(!run.err.contains("warning"), "{}", run.err);
    }
}

#[test]
fn column_name_must_not_collide_with_a_base64_name() {
    let place = Place::with([("t.tsv", b"url\tx\tx_base64\thost_base64\nhttp://h/\t\xE9\tb\tc\n")]);
    for (carry, fields) in [("x_base64,x", "canonical"), ("host_base64", "host")] {
        let arguments = ["dedup", "-f", "tsv:url", "t.tsv", "--carry", carry, "--fields", fields];
        let refused = place.run([&arguments[..], &["--json"]].concat()).exits(2);
        assert!(refused.err.contains("under --json it could have the name"), "{}", refused.err);
        place.run([&arguments[..], &["-o", "x.arrow"]].concat()).exits(0);
    }
    let one = ["dedup", "-f", "tsv:url", "t.tsv", "--carry", "x", "--json"];
    let expected = "{\"canonical\":\"http://h/\",\"x_base64\":\"6Q==\"}\n";
    assert_eq!(place.run(one).exits(0).out(), expected);
}

#[test]
fn an_object_names_its_file_as_the_rejects_do() {
    let place = Place::with([("w\u{E9}", b"http://h/\nx\n")]);
    place.write(OsStr::from_bytes(b"w\xE9"), "http://h/b\nx\n");
    let fields = ["dedup", "--fields", "first", "--json", "--rejects", "rejects", "-o", "out"];
    let names = [OsStr::from_bytes(b"w\xC3\xA9"), OsStr::from_bytes(b"w\xE9")];
    place.run(fields.iter().map(OsStr::new).chain(names)).exits(0);
    let (kept, rejected) = (place.json_lines("out"), place.json_lines("rejects"));
    assert_eq!(
        (&kept[0]["first"], &rejected[0]["file"]),
        (&"w\u{E9}:1:0".into(), &"w\u{E9}".into())
    );
    assert_eq!(kept[1]["first_base64"], "d+k6MTow", "of w\\xE9:1:0");
    assert_eq!(rejected[1]["file_base64"], "d+k=");
    let lines = place.run(fields[..3].iter().map(OsStr::new).chain(names)).exits(0);
    assert_eq!(lines.out(), "w\\xC3\\xA9:1:0\nw\\xE9:1:0\n");
}

#[test]
fn signed_numbers_compare_by_value() {
    let table = "url,n\nhttp://h/,9\nhttp://h/,-20\nhttp://h/,+11\nhttp://h/,+2\n";
    let place = Place::with([("t.csv", table.as_bytes())]);
    let run = place.run(["dedup", "-f", "csv:url", "--carry", "n", "--keep", "max:n", "t.csv"]);
    assert_eq!(run.exits(0).out(), "http://h/\t+11\n");
}

#[test]
fn logs_have_columns_with_names_in_common() {
    let line = |at: &str, status: &str| {
        format!(
            "h1 - - [{at} +0000] \"GET /a HTTP/1.1\" {status} 5 \"http://u:p@r/?q=1\" \"UA \\\"x\\\"\"\n"
        )
    };
    let log = [line("02/Oct/2025:00:00:00", "200"), line("10/Oct/2024:00:00:00", "404")].concat();
    let place = Place::with([("log", log.as_bytes())]);
    let all = "client,time,method,status,bytes,referrer,agent";
    for (options, out) in [
        (
            &["--carry", all][..],
            "h1\t2025-10-02T00:00:00Z\tGET\t200\t5\thttp://u:p@r/?q=1\tUA \"x\"",
        ),
        // Times are compared as times, though the log writes the day first.
        (&["--carry", "status", "--keep", "max:time"], "200"),
        (&["--carry", "status", "--keep", "max:status"], "404"),
        (&["--carry", "status", "--keep", "last"], "404"),
        (&["--carry", "referrer", "--redact"], "http://***@r/?q=***"),
    ] {
        let run = place.run([&["dedup", "log"], options].concat()).exits(0);
        assert_eq!(run.out(), format!("/a\t{out}\n"), "{options:?}");
    }
    let json = place.run(["dedup", "log", "--carry", "agent,client", "--json"]).exits(0);
    assert_eq!(json.out(), "{\"canonical\":\"/a\",\"agent\":\"UA \\\"x\\\"\",\"client\":\"h1\"}\n");
}
