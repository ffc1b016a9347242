//! Filters: the records they keep, the records they drop, and the counts of both.

use super::Place;
use super::packed::gzip;
use serde_json::json;
use std::fs;
use std::process::Stdio;

const LOG: &str = r#"e.org:443 1.2.3.4 - - [10/Oct/2025:13:55:36 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"
e.org:443 1.2.3.4 - - [10/Oct/2025:13:55:36 +0000] "GET /b HTTP/1.1" 404 5 "-" "x"
e.org:443 1.2.3.4 - - [10/Oct/2025:13:55:36 +0000] "POST /c HTTP/1.1" 201 5 "-" "x"
e.org:443 1.2.3.4 - - [10/Oct/2025:13:55:36 +0000] "GET /a HTTP/1.1" 304 5 "-" "x"
no log line
"#;

/// A format of each way to find fields. The tests of the formats try every one.
#[test]
fn status_and_method_are_read_where_the_format_says() {
    let place = Place::new();
    let combined: String =
        LOG.lines().map(|line| line.trim_start_matches("e.org:443 ").to_owned() + "\n").collect();
    let w3c = "#Fields: cs-method cs-uri-stem sc-status\nGET /a 200\nGET /b 404\n";
    let json = "{\"u\":\"http://e.org/a\",\"s\":200,\"m\":\"GET\"}\n{\"u\":\"http://e.org/b\",\"s\":\"404\",\"m\":\"GET\"}\n";
    let csv = "u,s,m\nhttp://e.org/a,200,GET\nhttp://e.org/b,404,GET\nhttp://e.org/c,200,PUT\n";
    for (format, input, out) in [
        ("combined", combined.as_str(), "/a\n"),
        ("log:%h %l %u %t \"%r\" %>s", &combined, "/a\n"),
        ("w3c", w3c, "/a\n"),
        ("json:url=/u,status=/s,method=/m", json, "http://e.org/a\n"),
        ("csv:url=u,status=s,method=m", csv, "http://e.org/a\n"),
    ] {
        let filters = ["--status", "200", "--method", "GET"];
        let run = place.run_on([&["dedup", "-f", format], &filters[..]].concat(), input);
        assert_eq!(run.exits(0).out(), out, "{format}");
    }
}

/// Requests of two agents, at different times of a day.
const VISITS: &str = r#"h1 - - [10/Oct/2025:23:59:59 +0000] "GET /a.html HTTP/1.1" 200 5 "http://r/" "Mozilla/5.0 (X11)"
h2 - - [11/Oct/2025:02:00:00 +0200] "GET /b.css?v HTTP/1.1" 200 7 "-" "Googlebot/2.1 (\"x\")"
h3 - - [11/Oct/2025:12:00:00 +0000] "GET /c HTTP/1.1" 404 - "-" "-"
h4 - - [12/Oct/2025:00:00:00 +0000] "GET /d.tar.gz HTTP/1.1" 200 9
h5 - - [noon] "GET /e HTTP/1.1" 200 9 "-" "curl/8"
no log line
"#;

#[test]
fn a_filter_applies_to_some_record_if_there_is_one() {
    let warc = "WARC/1.0\r\nWARC-Type: request\r\nWARC-Target-URI: http://b/\r\n\
                WARC-Date: 2025-10-10T00:00:00Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    let place = Place::with([
        ("list", b"http://a/\n".as_slice()),
        ("log", VISITS.as_bytes()),
        ("in.warc", warc.as_bytes()),
        ("empty", b""),
    ]);
    for [option, value] in [
        ["--status", "200"],
        ["--method", "GET"],
        ["--mime", "text/*"],
        ["--agent", "bot"],
        ["--not-agent", "bot"],
        ["--since", "2025-10-10"],
        ["--until", "2025-10-10"],
        ["--record-types", "request"],
    ] {
        place.run(["normalize", option, value, "list"]).exits(2);
        place.run_on(["dedup", option, value], "http://a/\n").exits(2);
        // Without a record there is nothing that lacks a field.
        place.run(["dedup", option, value, "empty"]).exits(0);
        place.run_on(["dedup", option, value], "").exits(0);
    }
    // It applies to one of them.
    for (filters, file, out) in [
        (&["--agent", "Mozilla"][..], "log", "http://a/\n/a.html\n"),
        (&["--record-types", "request"], "in.warc", "http://a/\nhttp://b/\n"),
        (&["--record-types", "request", "--since", "2025-10-11"], "in.warc", "http://a/\n"),
    ] {
        let run = place.run([&["dedup", "list", file], filters].concat()).exits(0);
        assert_eq!(run.out(), out, "{filters:?}");
        let told = format!(
            "warning: list: {} dropped no records, since lines has no such field",
            filters[0]
        );
        assert!(run.err.contains(&told), "{}", run.err);
    }
}

#[test]
fn too_many_rejected_records_stop_the_run_and_write_nothing() {
    let place =
        Place::with([("list", b"http://a/\nbad1\nhttp://b/\nbad2\nbad3\n"), ("out", b"old")]);
    for (limit, told) in [
        ("1", "list@25: record 4: more than 1 record is rejected"),
        ("59.9%", "3 of 5 records are rejected, which is more than 59.9 %"),
    ] {
        let run =
            place.run(["dedup", "list", "-o", "out", "--max-rejected", limit, "--stats", "s"]);
        let run = run.exits(3);
        assert!(run.err.contains(told), "{}", run.err);
        assert_eq!((place.text("out").as_str(), &place.json("s")["status"]), ("old", &json!(3)));
    }
    place.run(["dedup", "list", "--max-rejected", "3"]).exits(0);
    place.run(["normalize", "list", "--max-rejected", "60%"]).exits(0);
    // Far into a large input, on any thread.
    place.write("large", b"http://a/\n".repeat(200_000));
    place.append("large", b"bad\n");
    let run = place.run(["dedup", "large", "--max-rejected", "0", "-j", "2"]).exits(3);
    assert!(run.err.contains("large@2000000: record 200001:"), "{}", run.err);
}

/// The number of threads decides how far a run reads past the record that ends it.
#[test]
fn inputs_after_the_failing_record_are_not_reported() {
    let padded = [gzip(b"http://a/\n"), vec![0; 512]].concat();
    let place = Place::with([
        ("bad", &b"bad\n"[..]),
        ("in.csv", b"url,n\nhttp://b/,1\n"),
        ("padded", &padded),
        ("list", b"http://a/\nhttp://h"),
        ("zip", b"PK\x03\x04 and more"),
    ]);
    place.pipe("pipe");
    let told = ["read as csv", "512 zeros", "list@10: cut: ", "zip: "];
    let run = |files: &[&str], options: &[&str]| {
        place.write("list", b"http://a/\nhttp://h");
        let arguments = [&["dedup", "--keep-going", "--seen", "pipe"], options, files].concat();
        place.run_meanwhile("pipe", &arguments, Stdio::null(), || place.append("list", b"/\n"))
    };
    // Inputs after an unreadable one are still read.
    for files in
        [["bad", "in.csv", "padded", "list", "zip"], ["bad", "zip", "in.csv", "padded", "list"]]
    {
        let all = run(&files, &[]).exits(1);
        assert!(told.iter().all(|told| all.err.contains(told)), "{}", all.err);
        for threads in ["1", "2"] {
            let ended = run(&files, &["--max-rejected", "0", "-j", threads]).exits(3);
            assert!(!told.iter().any(|told| ended.err.contains(told)), "{}", ended.err);
        }
    }
}

#[test]
fn rejecting_all_records_is_allowed_by_max_rejected() {
    let place = Place::with([("list", b"bad1\n\nbad2\n")]);
    for (arguments, status) in [
        (&[][..], 3),
        (&["--max-rejected", "1"], 3),
        (&["--max-rejected", "50%"], 3),
        (&["--max-rejected", "2"], 0),
        (&["--max-rejected", "100%"], 0),
    ] {
        let files = ["dedup", "list", "-o", "out", "--rejects", "rejects"];
        place.run([&files, arguments].concat()).exits(status);
        let written = place.names().contains(&"out".into());
        assert_eq!(written, status == 0, "{arguments:?}");
    }
    assert_eq!((place.text("out").as_str(), place.text("rejects").lines().count()), ("", 2));
}

#[test]
fn error_names_the_bytes_already_on_standard_output() {
    let urls: String = (0..200_000).map(|n| format!("http://h/{n}\n")).collect();
    let place =
        Place::with([("large", (urls + "bad\n").as_bytes()), ("small", b"http://a/\nbad\n")]);
    for command in ["dedup", "normalize"] {
        let run =
            |more: &[&str]| place.run([&[command, "--max-rejected", "0"], more].concat()).exits(3);
        let stopped = run(&["large"]);
        let told = format!("when {} bytes had gone to standard output\n", stopped.out.len());
        assert!(!stopped.out.is_empty() && stopped.err.contains(&told), "{}", stopped.err);
        for written in [&["small"][..], &["large", "-o", "out"]] {
            let stopped = run(written);
            let told = "--max-rejected stopped the run and nothing was written\n";
            assert!(stopped.out.is_empty() && stopped.err.contains(told), "{}", stopped.err);
        }
        assert!(!place.path("out").exists());
    }
}

#[test]
fn redact_masks_secrets_in_every_output() {
    let list = b"http://u:SECRET@h:x/?a=SECRET#SECRET\nhttp://u:SECRET@h/?a=b\n";
    let place = Place::with([("list", list)]);
    let arguments = ["dedup", "list", "--redact", "--rejects", "r", "--fields", "host,original"];
    let run = place.run(arguments).exits(0);
    assert_eq!(run.out(), "h\thttp://***@h/?a=***\n");
    assert_eq!(place.json_lines("r")[0]["raw"], "http://***@h:x/?a=***#***");
    place.run(["dedup", "list", "--rejects", "r"]).exits(0);
    assert!(place.text("r").contains("SECRET"));
}

#[test]
fn redact_masks_records_without_a_url() {
    let clf =
        |request: &str| format!("h - - [x] \"{request}\" 200 \"http://r/?x=SECRET\" \"UA\"\n");
    let w3c = "- SECRET h\n#Fields: cs-uri-stem cs-uri-query cs-host\n- tok=SECRET h\nfoo SECRET h\n\
               /z SECRET a/b\n";
    let cloudfront = "#Fields: cs-uri-stem cs-uri-query x-host-header\nfoo\tSECRET\th\n";
    let json = "{\"p\":\"foo\",\"q\":\"SECRET\"}\n{\"q\":\"SECRET\"}\n";
    for (format, input, shown) in [
        ("combined", &clf("GET foo?SECRET HTTP/1.1")[..], "h - - [x] \"GET foo?***"),
        ("combined", &clf("\\x16\\x03"), "h - - [x] \"\\x16\\x03\" 200 \"http://***"),
        ("clf", "h - - [x] \"GET /a\\x3ft=SECRET\n", "h - - [x] \"GET /a\\x3f***"),
        ("clf", &clf("CONNECT u:SECRET@h:1"), "***@h:1\" 200 \"http://***"),
        ("w3c", w3c, "***"),
        ("cloudfront", cloudfront, "***"),
        ("csv:path=1,query=2", "foo,SECRET\n\"x,SECRET\n", "***"),
        ("tsv:path=p,query=q", "p\tq\nfoo\tSECRET\n", "***"),
        ("json:path=/p,query=/q", json, "***"),
        ("json:nginx-json", "{\"uri\":5,\"args\":\"SECRET\"}\n", "***"),
        ("json:target=/t", "{\"t\":\"x\\u003fSECRET\"}\n", "{\"t\":\"x\\u003f***"),
        ("json:/u", "{\"args\":\"t=SECRET\"}\n", "{\"args\":\"t=***"),
        ("log:\"%U\" \"%q\"", "\"foo\" \"?SECRET\"\n", "\"foo\" \"?***"),
        ("log:\"$uri\" \"$args\"", "\"foo\" \"SECRET\"\n", "***"),
        ("target", "foo?SECRET\n", "foo?***"),
        ("haproxy", "h [x] a \"GET foo#3FSECRET\"\n", "h [x] a \"GET foo#***"),
    ] {
        let place = Place::with([("in", input.as_bytes())]);
        let outputs = ["--rejects", "r", "--report", "r.html", "-o", "t.parquet"];
        let arguments = ["normalize", "-f", format, "--redact", "in"];
        place.run([&arguments[..], &outputs].concat()).exits(0);
        let rejects = place.json_lines("r");
        assert!(!rejects.is_empty(), "{format}");
        for reject in &rejects {
            assert_eq!(reject["raw"], shown, "{format}");
        }
        assert!(!place.text("r.html").contains("SECRET"), "{format}");
        let table = ["dedup", "-f", "parquet:original", "-p", "string", "t.parquet"];
        let run = place.run(table).exits(0);
        assert_eq!(run.out().lines().next(), Some(shown), "{format}");
    }
}

/// Records of each format, with secrets wherever a URL can hold them.
const SECRETIVE: &[(&str, &str, &str)] = &[
    ("lines", "", "http://u:SECRET@h/a?t=SECRET&SECRET#SECRET"),
    ("lines", "", "GET a?SECRET HTTP/1.1 http://u:SECRET@h/?t=SECRET"),
    ("target", "", "/a?t=SECRET&SECRET#SECRET"),
    ("target", "", "a?SECRET&t=SECRET#SECRET"),
    ("target", "", "http://u:SECRET@h:x/a?SECRET#t=SECRET"),
    (
        "combined",
        "",
        r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET http://u:SECRET@h/a?SECRET&t=SECRET HTTP/1.1" 200 5 "http://u:SECRET@r/?SECRET#SECRET" "UA""#,
    ),
    ("combined", "", r#"h - - [x] "GET a?SECRET" 200 "http://u:SECRET@r/?x=SECRET""#),
    ("clf", "", r#"h - - [x] "GET a\x3fSECRET\x26t=SECRET HTTP/1.1" 200"#),
    ("vhost", "", r#"h:80 1.2.3.4 - - [x] "GET /a?SECRET#SECRET HTTP/1.1" 200"#),
    ("haproxy", "", r#"h [x] f b {http://u:SECRET@r/?SECRET} "GET /a#3FSECRET&t=SECRET HTTP/1.1""#),
    ("log:%h \"%U\" \"%q\" %>s", "", r#"h "a" "?SECRET&t=SECRET" 200"#),
    ("log:\"$uri\" \"$args\" $status", "", r#""a" "SECRET&t=SECRET" 200"#),
    ("w3c", "#Fields: cs-uri-stem cs-uri-query cs-host", "/a SECRET&t=SECRET h/"),
    ("w3c", "", "/a SECRET&t=SECRET h"),
    ("cloudfront", "#Fields: cs-uri-stem\tcs-uri-query\tx-host-header", "a\tSECRET&t=SECRET\th"),
    (
        "elb",
        "",
        r#"2015-05-13T23:39:43.945958Z lb 192.168.131.39:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://u:SECRET@h:x/?SECRET#SECRET HTTP/1.1" "curl/7.38.0" - -"#,
    ),
    ("ltsv", "", "query:SECRET&t=SECRET\turi:a\treferer:http://u:SECRET@r/?SECRET"),
    ("ltsv", "", r"req:GET a\x3fSECRET\x26t=SECRET HTTP/1.1"),
    ("ws:2", "", "a http://u:SECRET@h:x/?SECRET&t=SECRET#SECRET b"),
    ("csv:u", "n,u", r#""x","http://u:SECRET@h:x/?SECRET&t=SECRET#SECRET""#),
    ("csv:path=p,query=q", "p,q,h", r#"a,"SECRET&t=SECRET",h"#),
    ("tsv:target=t", "h\tt", "http://u:SECRET@r/?SECRET\ta?SECRET&t=SECRET#SECRET"),
    ("json:/u", "", r#"{"u":"http:\/\/u:SECRET@h:x/\u003fSECRET\u0026t=SECRET#SECRET"}"#),
    ("json:target=/t", "", r#"{"r":"http://u:SECRET@r/?SECRET","t":"a?SECRET&t=SECRET#SECRET"}"#),
    ("json:path=/p,query=/q", "", r#"{"p":"a","q":"SECRET&t=SECRET"}"#),
    ("json:nginx-json", "", r#"{"uri":"a","args":"SECRET&t=SECRET"}"#),
    (
        "cdx",
        "",
        "com,h)/ 20200101000000 http://u:SECRET@h:x/?SECRET&t=SECRET#SECRET text/html 200 AAAA - - 1 2 f",
    ),
    ("cdxj", "", r#"com,h)/ 20200101 {"url": "http://u:SECRET@h:x/?SECRET&t=SECRET#SECRET"}"#),
    ("text", "", "see <http://u:SECRET@h:x/?SECRET&t=SECRET#SECRET> and so on"),
];

#[test]
fn redact_masks_truncated_records() {
    for (format, header, record) in SECRETIVE {
        let mut lines = format!("{header}\n");
        for end in (1..=record.len()).rev() {
            lines += &record[..end];
            lines += "\n";
        }
        let place = Place::with([("in", lines.as_bytes())]);
        for profile in ["syntax", "crawl", "servlet"] {
            let arguments =
                ["dedup", "-p", profile, "-f", format, "--redact", "--fields", "original"];
            let files = ["--rejects", "r", "--report", "r.html", "--max-rejected", "100%", "in"];
            let run = place.run([&arguments[..], &files[..]].concat()).exits(0);
            for told in [run.out(), &run.err, &place.text("r"), &place.text("r.html")] {
                let line = told.lines().find(|line| line.contains("SECR"));
                assert_eq!(line, None, "{format} {profile}");
            }
        }
    }
}

#[test]
fn directories_are_read_in_name_order() {
    let place = Place::new();
    for directory in ["d", "d/b", "d/.hidden", "d/B"] {
        fs::create_dir(place.path(directory)).expect("made");
    }
    for (name, url) in [
        ("d/z", "z"),
        ("d/b/1", "b1"),
        ("d/.x", "no"),
        ("d/.hidden/x", "no"),
        ("d/B/2", "B2"),
        ("first", "f"),
    ] {
        place.write(name, format!("http://h/{url}\n"));
    }
    std::os::unix::fs::symlink("../first", place.path("d/link")).expect("linked");
    let run = place.run(["dedup", "-r", "first", "d"]).exits(0);
    assert_eq!(run.out(), "http://h/f\nhttp://h/B2\nhttp://h/b1\nhttp://h/z\n");
    assert_eq!(run.summary("ok"), 4);
    assert_eq!(place.run(["dedup", "-r", "d/.x"]).exits(0).out(), "http://h/no\n");
    assert_eq!(place.run_on(["dedup", "-r", "-"], "http://h/\n").exits(0).out(), "http://h/\n");
}

#[test]
fn warning_for_directories_without_files() {
    let place = Place::new();
    fs::create_dir(place.path("d")).expect("made");
    place.write("d/.hidden", "http://h/\n");
    std::os::unix::fs::symlink("/dev/null", place.path("d/link")).expect("linked");
    let run = place.run(["dedup", "-q", "-r", "d"]).exits(0);
    let told = "uniqurl: warning: -r found no file to read\n\
                hint: name files that begin with a dot, and links, one by one\n";
    assert_eq!(run.err, told);
    place.write("file", "http://h/\n");
    assert_eq!(place.run(["dedup", "-q", "-r", "d", "file"]).exits(0).err, "");
    assert_eq!(place.run_on(["dedup", "-q", "-r", "--files-from", "-"], "").exits(0).err, "");
}

#[test]
fn warning_for_outputs_read_as_inputs_of_a_directory() {
    let place = Place::new();
    fs::create_dir(place.path("d")).expect("made");
    place.write("d/a", "http://h/\nrelative\n");
    let run = ["dedup", "-q", "-r", "d", "-o", "d/out", "--rejects", "d/rejects"];
    assert_eq!(place.run(run).exits(0).err, "");
    let again = place.run(run).exits(0);
    for (file, option) in [("d/out", "--output"), ("d/rejects", "--rejects")] {
        let told = format!(
            "uniqurl: warning: {file}: -r found this file as an input, and {option} replaces it\nhint: "
        );
        assert!(again.err.contains(&told), "{}", again.err);
    }
    // An input that is named is read in any case.
    let named = place.run(["dedup", "-q", "-r", "d/out", "-o", "d/out"]).exits(0);
    assert_eq!(named.err, "");
    assert_eq!(place.run(["dedup", "-q", "-r", "d/a", "-o", "other"]).exits(0).err, "");
}
