//! Each record is accounted for: by `normalize`, by `--rejects` and by `--stats`.

use super::{Place, json_lines};
use serde_json::{Value, json};

const MIXED: &[u8] = b"HTTP://Example.COM:80/%7Ea#f\n\
    \n\
    /relative\n\
    http://h:99999/\n\
    http://example.com/~a\r\n\
    \t \n\
    http://[::1/\n";

#[test]
fn normalize_writes_a_line_or_an_object_for_each_record() {
    let place = Place::with([("in", MIXED)]);
    let run = place.run(["normalize", "in"]).exits(0);
    assert_eq!(run.out(), "http://example.com/~a\n\n\n\nhttp://example.com/~a\n\n\n");
    for (name, number) in [("records", 7), ("canonical", 2), ("rejected", 3), ("blank", 2)] {
        assert_eq!(run.summary(name), number, "{}", run.err);
    }
    let run = place.run(["normalize", "--json", "in"]).exits(0);
    assert_eq!(
        json_lines(&run.out),
        [
            json!({"record": 1, "out": "http://example.com/~a"}),
            json!({"record": 2, "blank": true}),
            json!({"record": 3, "reject": ["relative"], "at": 0}),
            json!({"record": 4, "reject": ["port-range"], "at": 9}),
            json!({"record": 5, "out": "http://example.com/~a"}),
            json!({"record": 6, "blank": true}),
            json!({"record": 7, "reject": ["host"], "at": 7}),
        ]
    );
}

#[test]
fn bytes_that_are_not_utf8_are_written_as_base64() {
    let place = Place::with([("in", b"http://h/\xFF\"\\\nhttp://h/\xC3\xA9\"\\\n")]);
    let run = place.run(["normalize", "--json", "-p", "string", "in"]).exits(0);
    let bytes = "aHR0cDovL2gv/yJc";
    let text = "http://h/\u{e9}\"\\";
    let objects = [json!({"record": 1, "out_base64": bytes}), json!({"record": 2, "out": text})];
    assert_eq!(json_lines(&run.out), objects);
    place.run(["normalize", "-p", "syntax", "in", "--rejects", "rejects", "-o", "out"]).exits(0);
    let rejects = place.json_lines("rejects");
    assert_eq!((&rejects[0]["raw_base64"], &rejects[1]["raw"]), (&bytes.into(), &text.into()));
    assert!(rejects[0].get("raw").is_none() && rejects[1].get("raw_base64").is_none());
}

#[test]
fn members_of_json_lines_keep_their_order() {
    let place = Place::with([("in", b"http://h/a%20b\n\nhttp://b/\nhttp://h:x/\n")]);
    let arguments = ["normalize", "--json", "-p", "servlet", "-f", "lines", "--not-host", "b"];
    let run = place.run(arguments.iter().chain(&["in", "--rejects", "rejects"])).exits(0);
    let lines: Vec<_> = run.out().lines().collect();
    assert_eq!(
        lines,
        [
            "{\"record\":1,\"out\":\"http://h/a%20b\",\"decoded\":\"/a b\"}",
            "{\"record\":2,\"blank\":true}",
            "{\"record\":3,\"filtered\":true}",
            "{\"record\":4,\"reject\":[\"port\"],\"at\":9}",
        ]
    );
    assert_eq!(
        place.text("rejects"),
        "{\"file\":\"in\",\"offset\":26,\"record\":4,\"codes\":[\"port\"],\"at\":9,\
         \"raw\":\"http://h:x/\"}\n"
    );
}

#[test]
fn rejects_hold_the_position_of_every_rejected_record() {
    let place = Place::with([("a", MIXED), ("b", b"http://h:x/\n")]);
    for command in ["dedup", "normalize"] {
        let arguments = [command, "a", "b", "--rejects", "rejects", "-o", "out"];
        place.run(arguments).exits(0);
        let mut rejects = place.json_lines("rejects");
        // Threads report rejects in no fixed order.
        rejects.sort_by_key(|r| (r["file"].to_string(), r["offset"].as_u64()));
        assert_eq!(
            rejects,
            [
                json!({"file": "a", "offset": 30, "record": 3, "codes": ["relative"], "at": 0, "raw": "/relative"}),
                json!({"file": "a", "offset": 40, "record": 4, "codes": ["port-range"], "at": 9, "raw": "http://h:99999/"}),
                json!({"file": "a", "offset": 82, "record": 7, "codes": ["host"], "at": 7, "raw": "http://[::1/"}),
                json!({"file": "b", "offset": 0, "record": 1, "codes": ["port"], "at": 9, "raw": "http://h:x/"}),
            ],
            "{command}"
        );
    }
}

#[test]
fn reject_positions_refer_to_the_original_url() {
    let place = Place::new();
    let run = place.run_on(["normalize", "--json"], "  http://h:x/\n\x01\n").exits(0);
    let at: Vec<_> = json_lines(&run.out).iter().map(|o| o["at"].clone()).collect();
    assert_eq!(at, [11, 0]);
    let run = place.run_on(["normalize", "--json", "--assume-scheme", "http"], "h.x:y/\n").exits(0);
    assert_eq!(json_lines(&run.out), [json!({"record": 1, "reject": ["port"], "at": 4})]);
}

/// Records of formats that name a host, each with one fault, and the URL that each makes.
const BAD_HOSTS: &[(&str, &str, &str)] = &[
    ("json:host=/h,target=/t", r#"{"h":"h:99999","t":"/a"}"#, "http://h:99999/a"),
    ("json:host=/h,target=/t", r#"{"h":"a b.c:443","t":"/a?t=1"}"#, "https://a b.c:443/a?t=1"),
    ("json:host=/h,target=/t", r#"{"h":"h:99999","t":"  \u0001/a"}"#, "  \u{1}http://h:99999/a"),
    ("json:scheme=/s,host=/h,path=/p", r#"{"s":"ftp","h":"[::1","p":"/%zz"}"#, "ftp://[::1/%zz"),
    ("csv:host=1,path=2,query=3", "h:x,/a,t=1", "http://h:x/a?t=1"),
    ("tsv:host=1,target=2", "[::z]\t/a b", "http://[::z]/a b"),
    ("vhost", r#"h:99999 c - - [x] "GET /a HTTP/1.1" 200 1"#, "http://h:99999/a"),
    ("log:$host $uri $status", "... /a 200", "http://.../a"),
    ("w3c", "#Fields: cs-host cs-uri-stem cs-uri-query\n] /a t=1", "http://]/a?t=1"),
    ("cloudfront", "#Fields: x-host-header cs-protocol cs-uri-stem\n..\thttps\t/a", "https://../a"),
];

#[test]
fn rejected_host_of_a_log_is_shown_as_a_whole_url() {
    for (format, record, url) in BAD_HOSTS {
        let place = Place::with([("in", record.as_bytes()), ("list", url.as_bytes())]);
        let told = |command: &str, format: &str, input: &str| {
            let outputs = ["--rejects", "r", "-o", "out.parquet"];
            let arguments = [command, "-f", format, input, "--max-rejected", "100%"];
            place.run([&arguments[..], &outputs].concat()).exits(0);
            let [reject] = &place.json_lines("r")[..] else { panic!("{format}: one is rejected") };
            ["codes", "at", "raw"].map(|name| reject[name].clone())
        };
        let expected = told("normalize", "lines", "list");
        let [codes, at, raw] = &expected;
        assert_eq!(raw, url);
        for command in ["dedup", "normalize"] {
            assert_eq!(told(command, format, "in"), expected, "{command} {record}");
        }
        let table = ["normalize", "-p", "string", "-f", "parquet:original", "out.parquet"];
        assert_eq!(place.run(table).exits(0).out(), format!("{url}\n"));
        let run = place.run(["normalize", "-f", format, "--json", "in"]).exits(0);
        assert_eq!(json_lines(&run.out), [json!({"record": 1, "reject": codes, "at": at})]);
    }
}

#[test]
fn rejected_target_is_shown_without_its_host() {
    let records = "{\"h\":\"h\",\"t\":\"/%zz\"}\n{\"h\":\"h:x\",\"t\":\"/%zz\"}\n";
    let place = Place::with([("in", records.as_bytes())]);
    let format = "json:host=/h,target=/t";
    let arguments =
        ["normalize", "-p", "syntax", "-f", format, "in", "--rejects", "r", "-o", "out"];
    place.run(arguments).exits(0);
    let told = place.json_lines("r");
    let told = told.iter().map(|r| (&r["codes"][0], &r["at"], &r["raw"]));
    let target = (&json!("escape"), &json!(1), &json!("/%zz"));
    let url = (&json!("port"), &json!(9), &json!("http://h:x/%zz"));
    assert_eq!(told.collect::<Vec<_>>(), [target, url]);
}

#[test]
fn original_keeps_blanks_before_a_target() {
    let place = Place::with([("in", b"h.example,  /a b\nh.example,/c\n")]);
    let format = ["-f", "csv:host=1,target=2", "in"];
    let originals = "  /a b\n/c\n";
    let run = place.run(["dedup", "--fields", "original"].into_iter().chain(format)).exits(0);
    assert_eq!(run.out(), originals);
    let masked = ["dedup", "--fields", "original", "--redact"];
    assert_eq!(place.run(masked.into_iter().chain(format)).exits(0).out(), originals);
    place.run(["normalize", "-o", "out.parquet"].into_iter().chain(format)).exits(0);
    let table = ["normalize", "-p", "string", "-f", "parquet:original", "out.parquet"];
    assert_eq!(place.run(table).exits(0).out(), originals);
}

#[test]
fn redact_masks_what_is_rejected_and_names_of_inputs_on_pages() {
    // Here a name is for programs, which find the file by it.
    let name = "http:u:SECRET@h";
    let place = Place::with([
        ("table", b"h:99999,/a,t=SECRET\n".as_slice()),
        // A password that reads like a port and a path.
        ("list", b"https://u:20247777/SECRET@h:bad/\nhttp://u:2024#SECRET@h\n"),
        (name, b"http://a/\nbad\n"),
    ]);
    for (arguments, file, raw, out) in [
        (&["-f", "csv:host=1,path=2,query=3"][..], "table", "http://h:99999/a?t=***", ""),
        (&["--fields", "original"], "list", "https://***@h:bad/", "http://***\n"),
        (&[], name, "bad", "http://a/\n"),
    ] {
        let outputs = ["--max-rejected", "9", "--rejects", "r", "--report", "page", file];
        let run = place.run([&["dedup", "--redact"], arguments, &outputs].concat()).exits(0);
        let reject = &place.json_lines("r")[0];
        assert_eq!((&reject["raw"], &reject["file"], run.out()), (&raw.into(), &file.into(), out));
        let page = place.text("page");
        assert!(!page.contains("SECRET") && !run.err.contains("SECRET"), "{page}");
    }
}

#[test]
fn accounting_adds_up_in_total_and_per_file() {
    let place = Place::with([("a", MIXED), ("b", b"http://h:x/\nhttp://example.com/%7ea\n")]);
    let run = place.run(["dedup", "a", "b", "--stats", "stats", "-j", "2"]).exits(0);
    let stats = place.json("stats");
    for (name, number) in
        [("records", 9), ("unique", 1), ("duplicates", 2), ("rejected", 4), ("blank", 2)]
    {
        assert_eq!(stats[name], number, "{stats}");
        assert_eq!(run.summary(name), number, "{}", run.err);
    }
    assert_eq!(stats["codes"], json!({"relative": 1, "port-range": 1, "host": 1, "port": 1}));
    assert_eq!((&stats["command"], &stats["profile"]), (&json!("dedup"), &json!("crawl@1")));
    assert_eq!((&stats["threads"], &stats["status"]), (&json!(2), &json!(0)));
    assert_eq!(stats["inputs"], json!({"ok": 2, "damaged": 0, "missing": 0}));
    assert_eq!(stats["bytes"], MIXED.len() + 36);
    assert!(stats["seconds"].is_number() && stats["version"].is_string());
    let files = stats["files"].as_array().expect("a list");
    let of = |file: &Value, name: &str| file[name].as_u64().unwrap_or(0);
    assert_eq!(files.iter().map(|f| f["file"].clone()).collect::<Vec<_>>(), ["a", "b"]);
    for (file, records) in files.iter().zip([7, 2]) {
        assert_eq!((of(file, "records"), &file["state"]), (records, &json!("ok")));
        let urls = of(file, "canonical") + of(file, "unique") + of(file, "duplicates");
        assert_eq!(urls + of(file, "rejected") + of(file, "blank"), records, "{file}");
    }
    assert_eq!(files[1]["codes"], json!({"port": 1}));

    place.run(["normalize", "a", "b", "--stats", "stats", "-q", "-o", "out"]).exits(0);
    let stats = place.json("stats");
    assert_eq!((&stats["canonical"], &stats["command"]), (&json!(3), &json!("normalize")));
    assert!(stats.get("unique").is_none());
}

#[test]
fn base_of_host_and_port_needs_an_assumed_scheme() {
    let place = Place::with([("in", b"/a\n")]);
    for base in ["localhost:3000", "example.com:8080/x"] {
        let assumed = ["normalize", "in", "--assume-scheme", "http", "-f", "lines", "--base", base];
        assert!(place.run(assumed).exits(0).out().starts_with("http://"));
    }
    for base in ["mailto:a@example.com", "com.example:/a"] {
        place.run(["normalize", "in", "--base", base]).exits(0);
    }
}

#[test]
fn base_and_assumed_scheme_complete_relative_urls() {
    let place = Place::with([("in", b"../x\n/y?q\n//h/z\nexample.com:80/w\nhttp://a/\n")]);
    let run = place.run(["normalize", "in", "--base", "https://e.org/a/b/c#f"]).exits(0);
    let joined = "https://e.org/a/x\nhttps://e.org/y?q\nhttps://h/z\nexample.com:80/w\nhttp://a/\n";
    assert_eq!(run.out(), joined);
    let run = place.run(["normalize", "in", "--assume-scheme", "http"]).exits(0);
    assert_eq!(run.out(), "\n\nhttp://h/z\nhttp://example.com/w\nhttp://a/\n");
}

#[test]
fn list_with_an_assumed_scheme_is_not_detected_as_targets() {
    let list = "//h/x\n//H/x\n/y\n";
    let place = Place::with([("in", list.as_bytes())]);
    let run = place.run(["dedup", "in", "--assume-scheme", "https"]).exits(0);
    assert_eq!((run.out(), run.summary("rejected")), ("https://h/x\n", 1), "{}", run.err);
    assert!(!run.err.contains("read as"), "{}", run.err);
    let piped = place.run_on(["dedup", "--assume-scheme", "https"], list).exits(0);
    assert_eq!(piped.out(), run.out());
    let arguments = ["dedup", "in", "--assume-scheme", "https", "--base", "http://b/"];
    assert_eq!(place.run(arguments).exits(0).out(), "https://h/x\nhttp://b/y\n");
    // Without the option, no host is read from a path.
    assert_eq!(place.run(["dedup", "in"]).exits(0).out(), "//h/x\n//H/x\n/y\n");
}

#[test]
fn url_of_spaces_and_tabs_is_blank_in_every_format() {
    let place = Place::new();
    let gaps = |blank: &str| {
        let json = blank.replace('\t', "\\t");
        let head = |target: &str| {
            format!(
                "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {target}\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
            )
        };
        [
            ("lines", format!("http://a/\n{blank}\n")),
            ("csv:url", format!("id,url\n1,http://a/\n2,\"{blank}\"\n3,{blank}\n")),
            ("csv:2", format!("1,http://a/\n2,{blank}\n")),
            ("tsv:2", format!("1\thttp://a/\n2\t{}\n", blank.replace('\t', " "))),
            ("json:/u", format!("{{\"u\":\"http://a/\"}}\n{{\"u\":\"{json}\"}}\n")),
            ("cdx", format!(";CDX;N;a\nk;http://a/\nk;{blank}\n")),
            ("cdxj", format!("k 1 {{\"url\":\"http://a/\"}}\nk 1 {{\"url\":\"{json}\"}}\n")),
            ("warc", head("http://a/") + &head(blank)),
        ]
    };
    for blank in ["", " ", " \t "] {
        for (format, input) in gaps(blank) {
            let run = place.run_on(["dedup", "-f", format], input).exits(0);
            assert_eq!(run.out(), "http://a/\n", "{format}");
            let counts = ["unique", "rejected"].map(|name| run.summary(name));
            assert_eq!(counts, [1, 0], "{format}, {blank:?}: {}", run.err);
            assert_eq!(run.summary("blank"), run.summary("records") - 1, "{format}");
        }
    }
    // At any length.
    for format in ["lines", "target", "ws:1", "text"] {
        let input = format!("/a\n{}\n", " ".repeat(70_000));
        let run = place.run_on(["dedup", "-f", format, "--base", "http://h"], input);
        assert_eq!(run.summary("rejected"), 0, "{format}: {}", run.err);
    }
}
