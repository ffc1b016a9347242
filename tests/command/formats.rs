//! Logs: the position of the URL, and the lines that hold none.

use serde_json::json;

use super::packed::{bzip2, gzip, xz, zstd};
use super::{Place, json_lines};

const LOG: &str = r#"1.2.3.4 - - [10/Oct/2025:13:55:36 +0000] "GET /a/../b?q=%7e HTTP/1.1" 200 5 "-" "x"
1.2.3.4 - - [10/Oct/2025:13:55:36 +0000] "GET //evil/x HTTP/1.1" 200 5 "-" "x"
1.2.3.4 - - [10/Oct/2025:13:55:36 +0000] "GET http://Other.example/%7e HTTP/1.1" 200 5 "-" "x"
1.2.3.4 - - [10/Oct/2025:13:55:36 +0000] "OPTIONS * HTTP/1.1" 200 5 "-" "x"
1.2.3.4 - - [10/Oct/2025:13:55:36 +0000] "CONNECT h:443 HTTP/1.1" 200 5 "-" "x"
1.2.3.4 - - [10/Oct/2025:13:55:36 +0000] "\x16\x03\x01" 400 5 "-" "-"
1.2.3.4 - - [10/Oct/2025:13:55:36 +0000] "GET /q\x22q HTTP/1.1" 200 5 "-" "x"
1.2.3.4 - - [10/Oct/2025:13:55:36 +0000] "GET /cut
"#;

fn codes(out: &[u8]) -> Vec<String> {
    let code = |o: &serde_json::Value| o["reject"][0].as_str().map(str::to_owned);
    json_lines(out).iter().map(|o| code(o).unwrap_or_default()).collect()
}

#[test]
fn a_log_without_a_host_gives_paths_and_with_a_base_urls() {
    let place = Place::with([("access.log", LOG.as_bytes())]);
    let log = ["normalize", "-f", "combined", "access.log"];
    let paths = "/b?q=~\n//evil/x\nhttp://other.example/~\n\n\n\n/q%22q\n\n";
    assert_eq!(place.run(log).exits(0).out(), paths);
    let based = place.run([&log[..], &["--base", "https://e.org/x/y"]].concat()).exits(0);
    let urls = "https://e.org/b?q=~\nhttps://e.org//evil/x\nhttp://other.example/~\n\n\n\n\
                https://e.org/q%22q\n\n";
    assert_eq!(based.out(), urls);
    // Forms of requests without a resource have codes of their own.
    let run = place.run([&log[..], &["--json"]].concat()).exits(0);
    let expected = ["", "", "", "asterisk-form", "authority-form", "log-syntax", "", "truncated"];
    assert_eq!(codes(&run.out), expected);
}

#[test]
fn blank_before_a_target_is_dropped_only_by_trimming_profiles() {
    let place = Place::new();
    for (profiles, target) in [
        (["crawl", "whatwg", "ia"], json!({"out": "/x"})),
        (["string", "syntax", "scheme"], json!({"reject": ["relative"], "at": 0})),
        (["sanitize"; 3], json!({"reject": ["relative"], "at": 0})),
        // Where the format alone says that it is a target, it need not start with a slash.
        (["mediawiki", "upload", "restbase"], json!({"out": "%20/x"})),
    ] {
        for profile in profiles {
            let arguments = ["normalize", "--json", "-p", profile, "-f", "target"];
            let mut object = json_lines(&place.run_on(arguments, " /x\n").exits(0).out).remove(0);
            object.as_object_mut().expect("an object").remove("record");
            assert_eq!(object, target, "{profile}");
        }
    }
}

#[test]
fn empty_port_of_a_host_field_is_kept_or_dropped_by_profile() {
    for (profile, url) in [("syntax", "http://h:/x\n"), ("scheme", "http://h/x\n")] {
        let vhost = "h: - - - [10/Oct/2025:13:55:36 +0000] \"GET /x HTTP/1.1\" 200 5\n";
        for (format, record) in [
            ("json:host=/h,target=/t", r#"{"h":"h:","t":"/x"}"#),
            ("vhost", vhost),
            ("log:$host $request_uri", "h: /x\n"),
            ("w3c", "#Fields: cs-host s-port cs-uri-stem\nh: - /x\n"),
        ] {
            let run = Place::new().run_on(["normalize", "-f", format, "-p", profile], record);
            assert_eq!(run.exits(0).out(), url, "{profile} {format}");
        }
    }
}

#[test]
fn auto_detects_a_log_and_a_list_in_one_run() {
    let place = Place::with([("x", LOG.as_bytes()), ("y", b"http://y/\nhttp://z/\n")]);
    let run = place.run(["dedup", "x", "y", "-f", "auto"]).exits(0);
    assert!(run.out().starts_with("/b?q=~\n"), "{}", run.out());
    assert!(run.out().ends_with("http://y/\nhttp://z/\n"), "{}", run.out());
}

#[test]
fn escaped_line_feed_does_not_end_a_record() {
    let line = "h - - [10/Oct/2025:13:55:36 +0000] \"GET /a\\x0ab HTTP/1.1\" 200 5\n";
    let place = Place::with([("log", line.as_bytes())]);
    let run = place.run(["normalize", "--json", "-f", "clf", "-p", "string", "log"]).exits(0);
    assert_eq!(codes(&run.out), ["newline"]);
    let run = place.run(["normalize", "-f", "clf", "log"]).exits(0);
    assert_eq!(run.out(), "/a%0Ab\n");
}

/// Some of them; the tests of the formats have a sample of each.
#[test]
fn tables_and_logs_are_detected_by_their_headers() {
    let cloudfront = "#Version: 1.0\n#Fields: date x-edge-location cs-uri-stem x-host-header cs-protocol cs-uri-query\n\
                      d\tFRA\t/a%2520b\te.org\thttps\t-\nd\tFRA\t/a\te.org\thttps\tq=%2526\n";
    let urls = "https://e.org/a%20b\nhttps://e.org/a?q=%26\n";
    let w3c = "#Software: Microsoft Internet Information Services 10.0\n#Fields: cs-host s-port cs-uri-stem cs-uri-query\ne.org 443 /a%20b?c#d -\n\
               #Fields: cs-uri-stem cs-host\n/x e.net\n";
    let caddy = r#"{"request":{"method":"GET","host":"e.org","uri":"/a","tls":{}},"status":200}"#;
    let cdxj = r#"org,e)/ 20240101000000 {"url": "http://e.org/", "mime": "text/html", "status": "200", "digest": "A"}"#;
    let outbackcdx = "@alias http://b/ http://a/\n\
        a)/ 20240101000000 http://a/ warc/revisit 200 D - - 5 6 b.warc.gz 7 8 a.warc.gz\n";
    let place = Place::new();
    for (format, input, out) in [
        ("w3c", w3c, "https://e.org/a%2520b%3Fc%23d\nhttp://e.net/x\n"),
        ("cloudfront", cloudfront, urls),
        ("cloudfront", &cloudfront.replace("x-edge-location", "c-ip"), urls),
        ("caddy", caddy, "https://e.org/a\n"),
        ("json:/url", "{\"id\":1,\"url\":\"http://h/\"}\n", "http://h/\n"),
        ("csv:url", "id,URL\n1,\"http://h/\"\n", "http://h/\n"),
        ("tsv:url", "url\tid\nhttp://h/\t1\n", "http://h/\n"),
        ("cdx", " CDX a\nhttp://h/\n", "http://h/\n"),
        // Without a legend, as the Wayback Machine and OutbackCDX write them.
        ("cdx", "a)/ 20240101000000 http://a/ text/html 200 DIGEST 1234\n", "http://a/\n"),
        ("cdx", outbackcdx, "http://a/\n"),
        // With as many spaces as a line of a CDX.
        ("cdxj", cdxj, "http://e.org/\n"),
    ] {
        let run = place.run_on(["dedup"], input).exits(0);
        assert_eq!(run.out(), out, "{format}");
        assert!(run.err.contains(&format!("-: read as {format}")), "{}", run.err);
        let run = place.run_on(["dedup", "-f", format], input).exits(0);
        assert_eq!(run.out(), out, "{format}");
        // A wrong guess can be overridden.
        let run = place.run_on(["normalize", "-f", "lines"], input).exits(0);
        assert!(!run.err.contains("read as"), "{}", run.err);
    }
    let text = "See <http://h/a> and http://h/b, or (http://h/c).\nNothing here.\n";
    let run = place.run_on(["normalize", "-f", "text"], text).exits(0);
    assert_eq!(run.out(), "http://h/a\nhttp://h/b\nhttp://h/c\n");
    assert_eq!((run.summary("records"), run.summary("skipped")), (3, 1));
}

#[test]
fn quotation_marks_in_an_iis_log_are_data() {
    let fields = "#Fields: cs-uri-stem cs-uri-query cs(Host) s-port\n";
    for (software, line, url) in [
        ("Microsoft Internet Information Services 10.0", "/q \"a\" h 80", "http://h/q?%22a%22"),
        ("IIS Advanced Logging Module", "/%\t\"a\"\t\"h\"\t80", "http://h/%25?a"),
        ("SGOS 6.7", "/%25 \"a\" \"h\" 80", "http://h/%25?a"),
    ] {
        let log = format!("#Software: {software}\n{fields}{line}\n");
        let run = Place::new().run_on(["normalize"], &log[..]).exits(0);
        assert_eq!(run.out(), format!("{url}\n"), "{log}");
    }
}

/// `/e??x` is logged as `?x` if the format drops the dividing mark, and as `??x` if not.
#[test]
fn a_query_that_begins_with_a_question_mark_keeps_it() {
    let w3c = |software: &str| {
        let fields = "#Fields: cs-uri-stem cs-uri-query cs-host s-port";
        format!("#Software: {software}\n{fields}\n/e x h 80\n/e ?x h 80\n/e ??x h 80\n/e ? h 80\n")
    };
    let cloudfront = "#Fields: cs-uri-stem\tcs-uri-query\tx-host-header\tcs-protocol\n\
        /e\tx\th\thttp\n/e\t?x\th\thttp\n/e\t%3F?x\th\thttp\n/e\t%3F\th\thttp\n";
    let nginx = ["x", "?x", "??x", "?"].map(|args| {
        format!("{{\"host\":\"h\",\"uri\":\"/e\",\"args\":\"{args}\",\"status\":200}}\n")
    });
    let data = ["x", "?x", "??x", "?"];
    let mark = ["x", "x", "?x", ""];
    for (format, log, queries) in [
        ("w3c", w3c("Microsoft Internet Information Services 10.0"), data),
        ("w3c", w3c("IIS Advanced Logging Module"), data),
        ("w3c", w3c("SGOS 6.7"), mark),
        ("cloudfront", cloudfront.to_owned(), data),
        ("json:nginx-json", nginx.concat(), data),
    ] {
        let run = Place::new().run_on(["normalize", "-f", format], &log[..]).exits(0);
        let urls: String = queries.map(|query| format!("http://h/e?{query}\n")).concat();
        assert_eq!(run.out(), urls, "{log}");
    }
}

#[test]
fn unsupported_file_types_are_rejected() {
    let list = b"http://a/\nhttp://b/\n";
    let behind = |head: &[u8]| [head, list].concat();
    for input in [
        behind(&[0, 0, 0xFE, 0xFF]),
        [&b"list"[..], &[0; 253], b"ustar  \0", &[0; 247], list].concat(),
        behind(&[0x04, 0x22, 0x4D, 0x18]),
        behind(&[0x02, 0x21, 0x4C, 0x18]),
        gzip(&zstd(list)),
        gzip(&behind(&[0x54, 0x2A, 0x4D, 0x18, 0, 0, 0, 0])),
        gzip(&xz(list)),
        gzip(&bzip2(list)),
        gzip(&bzip2(b"")),
        behind(b"LZIP\x01\x0C"),
        behind(b"\x5D\0\0\x80\0"),
        behind(b"PARE\x15\0\x15\xA0"),
        behind(b"FEA1\0\0\0\0"),
        behind(b"Obj\x01\x04"),
        behind(b"\xA4\0\0\0\x10\0\0\0\0\0\x0A\0"),
        behind(b"SQLite format 3\0"),
        behind(b"sep=;\r\nid;url\r\n"),
        behind(b"[[\"urlkey\",\"original\"],\n"),
    ] {
        let place = Place::with([("x", &input[..]), ("y", b"http://y/\n")]);
        let run = place.run(["dedup", "x", "y", "-oout"]).exits(2);
        assert!(run.err.contains("x: format: "), "{}", run.err);
        assert_eq!((run.summary("refused"), place.path("out").exists()), (1, false));
        let run = place.run(["dedup", "--keep-going", "x", "y"]).exits(1);
        assert_eq!(run.out(), "http://y/\n");
        // A named format is not guessed again.
        place.run(["normalize", "--format", "lines", "x"]).exits(0);
    }
}

#[test]
fn columns_between_semicolons_tabs_and_bars_are_read() {
    let crawl = "\u{FEFF}\"Address\";\"Content Type\";\"Title, long\"\n\
        \"http://h/a\";\"text/html; charset=UTF-8\";\"A, b\"\n\
        http://h/b;text/html;\"say \"\"x\"\"; end\"\n";
    for delimiter in [";", "|", "\t"] {
        let place = Place::with([("in", crawl.replace(';', delimiter).as_bytes())]);
        // A column by number reads the header, too.
        for (format, rows) in [("csv:Address", 2), ("csv:1", 3)] {
            let piped = place.run_on(["dedup", "-f", format, "-"], place.read("in"));
            for run in [place.run(["dedup", "-f", format, "in"]), piped] {
                let run = run.exits(0);
                assert_eq!((run.out(), run.summary("records")), ("http://h/a\nhttp://h/b\n", rows));
                assert!(run.err.contains("its columns stand between"), "{}", run.err);
            }
        }
        let carry = ["dedup", "-q", "-f", "csv:Address", "--carry", "Content Type", "in"];
        assert!(place.run(carry).exits(0).out().contains("http://h/b\ttext/html\n"));
    }
    for head in ["id;URL;x\n1;http://h/;2\n", "\u{FEFF}\"uri\"|\"id\"\r\nhttp://h/|1\r\n"] {
        assert_eq!(Place::new().run_on(["dedup"], head).exits(0).out(), "http://h/\n");
    }
}

#[test]
fn rows_that_may_be_urls_or_columns_are_refused_until_the_delimiter_is_named() {
    let list = "http://h/a;200;Home\nhttp://h/b;404;\"No; such\"\n";
    for (delimiter, urls) in [(";", "http://h/a\nhttp://h/b\n"), (",", "http://h/a;200;Home\n")] {
        let place =
            Place::with([("in", list.as_bytes()), ("bars", list.replace(';', "|").as_bytes())]);
        for input in ["in", "bars"] {
            let run = place.run(["dedup", "-f", "csv:1", input]).exits(2);
            assert!(
                run.err.contains("\nhint: name the byte between columns with --delimiter"),
                "{}",
                run.err
            );
        }
        let run = place.run(["dedup", "-q", "-f", "csv:1", "--delimiter", delimiter, "in"]);
        assert!(run.exits(0).out().starts_with(urls));
    }
    // One row shows nothing, rows of different lengths are no table, and no URL holds a tab.
    for (list, urls) in [
        ("http://h/a;b\n", "http://h/a;b\n"),
        ("http://h/a;b\nhttp://h/c\n", "http://h/a;b\nhttp://h/c\n"),
        ("http://h/a\t1\nhttp://h/c\t2\n", "http://h/a\nhttp://h/c\n"),
    ] {
        assert_eq!(Place::new().run_on(["dedup", "-f", "csv:1"], list).exits(0).out(), urls);
    }
}

#[test]
fn list_that_resembles_another_format_is_read() {
    for first in [
        "http://h/;url",
        "/a;url",
        "http://h/|url",
        "a;b",
        "sep=x",
        "[::1]",
        "[a](http://h/)",
        "[[http://h/]]",
        "[",
        "LZIP",
        "#uniqurl",
        "PARENTS.example.com/a",
        "FEA1.example.com/a",
        "PAR1.example.com/a",
        "ARROW1.example.com/a",
        &format!("http://h/{}ustar", "a".repeat(248)),
    ] {
        let run = Place::new().run_on(["dedup"], format!("{first}\nhttp://a/\n")).exits(0);
        assert!(run.out().ends_with("http://a/\n"), "{first}: {}", run.out());
    }
}

#[test]
fn list_with_other_line_endings_is_rejected() {
    let packed = gzip(b"http://a/\0http://b/\0");
    for input in [&packed[..], b"id,url\r1,http://a/\r2,http://b/\r"] {
        let place = Place::with([("x", input), ("y", b"http://y/\n")]);
        let run = place.run_on(["normalize"], input).exits(2);
        assert!(run.err.contains("-: format: its "), "{}", run.err);
        assert_eq!(place.run(["dedup", "y", "x", "--keep-going"]).exits(1).out(), "http://y/\n");
        place.run(["dedup", "y", "--seen", "x"]).exits(2);
        let run = place.run(["normalize", "-f", "lines", "x"]).exits(0);
        assert_eq!(run.summary("records"), 1);
    }
    // If line feeds end the lines, these bytes are part of a line.
    for input in ["http://a/\rhttp://b/\n", "http://a/\0http://b/\n", "http://a/\0", "http://a/\r"]
    {
        assert_eq!(Place::new().run_on(["dedup"], input).exits(0).summary("unique"), 1);
    }
}

#[test]
fn blanks_around_header_names_are_ignored() {
    let table = b"id, url ,\tSTATUS\n1,http://a/,200\n2,http://b/,404\n";
    let place = Place::with([("x", table)]);
    let run = place.run(["dedup", "x"]).exits(0);
    assert!(run.out() == "http://a/\nhttp://b/\n" && run.err.contains("csv:url"), "{}", run.err);
    let filter = ["dedup", "x", "-f", "csv:url,status=status", "--status", "200"];
    assert_eq!(place.run(filter).exits(0).out(), "http://a/\n");
    // With the space, ` url` is another name.
    place.write("y", " url,url\nhttp://a/,http://b/\n");
    assert_eq!(place.run(["dedup", "y", "-f", "csv:url"]).exits(0).out(), "http://b/\n");
    assert_eq!(place.run(["dedup", "y", "-f", "csv: url"]).exits(0).out(), "http://a/\n");
}

#[test]
fn overlong_header_is_rejected_and_ignored() {
    let long = "x".repeat(2 << 20);
    let letters = " a".repeat(1 << 20);
    for (format, input) in [
        ("csv:url", format!("url,{long}\nid,url\n1,http://h/\n")),
        ("tsv:url", format!("url\t{long}\nid\turl\n1\thttp://h/\n")),
        ("w3c", format!("#Fields: x cs-uri\n#Fields: cs-uri {long}\n1 http://h/\n")),
        ("cdx", format!(" CDX N a\n CDX{letters}\n1 http://h/\n")),
    ] {
        let place = Place::with([("x", input.as_bytes()), ("x.gz", &gzip(input.as_bytes()))]);
        for file in ["x", "x.gz"] {
            let run = place.run(["dedup", "-f", format, "--max-record", "1M", file]).exits(0);
            let told = (run.out(), run.summary("rejected"), run.summary("skipped"));
            assert_eq!(told, ("http://h/\n", 1, 1), "{format}: {}", run.err);
        }
    }
}

#[test]
fn byte_order_mark_before_json_is_skipped() {
    let json = "\u{FEFF}{\"url\":\"http://a/\"}\n{\"url\":\"http://b/\"}\n";
    let cdxj = "\u{FEFF}a)/ 20240101000000 {\"url\":\"http://a/\"}\n";
    let place = Place::with([("json", json.as_bytes()), ("cdxj", cdxj.as_bytes())]);
    for profile in ["string", "scheme", "crawl"] {
        let run = place.run(["dedup", "-p", profile, "json"]).exits(0);
        assert_eq!((run.out(), run.summary("rejected")), ("http://a/\nhttp://b/\n", 0));
        let run = place.run(["dedup", "-p", profile, "--carry", "urlkey", "cdxj"]).exits(0);
        assert_eq!(run.out(), "http://a/\ta)/\n");
    }
}

#[test]
fn a_file_of_formats_adds_to_those_with_a_name() {
    let own = "[[format]]\nname = \"shop\"\naliases = [\"store\"]\ndescription = \"d\"\n\
               log = '$host|$request_method|$request_uri|$status'\n";
    let place = Place::with([
        ("own.toml", own.as_bytes()),
        ("in", b"a.test|GET|/x|200\nb.test|GET|/x|404\n"),
        ("wrong.toml", b"[[format]]\nname = \"shop\"\nlag = ''\n"),
    ]);
    let run = |more: &[&str]| place.run([&["dedup", "in", "--format-file"], more].concat());
    let urls = "http://a.test/x\nhttp://b.test/x\n";
    let guessed = run(&["own.toml"]).exits(0);
    assert!(guessed.out() == urls && guessed.err.contains("in: read as shop"), "{}", guessed.err);
    for name in ["shop", "store"] {
        let kept = run(&["own.toml", "-f", name, "--status", "404"]).exits(0);
        assert_eq!(kept.out(), "http://b.test/x\n");
    }
    place.run(["dedup", "in", "-f", "shop"]).exits(2);
    let unknown = run(&["own.toml", "-f", "shp"]).exits(2);
    assert!(unknown.err.starts_with("uniqurl: unknown format `shp`"), "{}", unknown.err);
    let wrong = run(&["wrong.toml"]).exits(2);
    assert!(wrong.err.contains("wrong.toml: line 3: unknown key `lag`"), "{}", wrong.err);
    // An entry replaces the one that comes with the program.
    place.write("own.toml", own.replace("\"shop\"", "\"envoy\""));
    assert_eq!(run(&["own.toml", "-f", "envoy"]).exits(0).out(), urls);
}

#[test]
fn formats_with_a_name_are_listed_and_printed() {
    let place = Place::new();
    let run = place.run(["formats"]).exits(0);
    for name in ["s3", "envoy", "nginx-json", "iis"] {
        assert!(run.out().lines().any(|line| line.starts_with(name)), "{}", run.out());
    }
    let entry = place.run(["formats", "npm"]).exits(0);
    assert!(entry.out().starts_with("[[format]]\nname = \"nginx-proxy-manager\"\n"));
    assert!(entry.out().contains("\nsample = '''\n"), "{}", entry.out());
}

#[test]
fn a_guess_that_would_drop_hosts_stops_with_the_format_that_reads_them() {
    let line = |host: &str| {
        let time = "[10/Oct/2025:13:55:36 +0000]";
        format!("1.2.3.4 - - {time} \"GET /x HTTP/1.1\" 200 5 \"-\" \"x\" {host}\n")
    };
    let member = |host: &str| format!("{{\"url\":\"/x\",\"tenant\":\"{host}\"}}\n");
    let log = "log:$remote_addr $x $x [$time_local] \"$request\" $status $body_bytes_sent \"$x\" \"$x\" $host";
    let place = Place::new();
    let sites = ["a.test", "b.test"];
    for (lines, hint, format) in [
        (sites.map(line), "read field 10 too,", log),
        (sites.map(member), "read the URLs", "json:host=/tenant,target=/url"),
    ] {
        let run = place.run_on(["dedup"], lines.concat()).exits(3);
        assert!(run.err.contains(&format!("hint: {hint}")), "{}", run.err);
        assert!(run.err.replace('\'', "").contains(format), "{}", run.err);
        let run = place.run_on(["dedup", "-f", format], lines.concat()).exits(0);
        assert_eq!(run.out(), "http://a.test/x\nhttp://b.test/x\n");
        // No base makes URLs of these lines.
        place.run_on(["dedup", "--base", "http://h/"], lines.concat()).exits(3);
        place.run_on(["dedup", "--assume-scheme", "http"], lines.concat()).exits(3);
    }
    let run = place.run_on(["dedup"], [line("a.test"), line("a.test")].concat()).exits(0);
    assert!(!run.err.contains("warning"), "{}", run.err);
    // No format of a user's names the request of JSON, so this is read and warned of.
    let request = |host: &str| format!("{{\"request\":\"GET /x HTTP/1.1\",\"zone\":\"{host}\"}}\n");
    let run = place.run_on(["dedup"], sites.map(request).concat()).exits(0);
    assert!(run.err.contains("nginx-json does not read /zone, which names hosts"), "{}", run.err);
}
