//! Inputs that `auto` reads as lists and that are none. Each hint is followed here.

use super::Place;

/// The format that the hint of a run names, as a shell would pass it on.
fn hinted(err: &str) -> String {
    let (_, rest) = err.split_once("--format ").unwrap_or_else(|| panic!("no hint: {err}"));
    let line = rest.lines().next().unwrap_or_default();
    line.replace(['\'', '\n'], "")
}

/// Reads an input, follows the hint, and compares the URLs.
#[track_caller]
fn leads_to(input: &str, format: &str, urls: &str) {
    let place = Place::with([("in", input.as_bytes())]);
    let run = place.run(["dedup", "in"]);
    assert_eq!(hinted(&run.err), format, "{}", run.err);
    let run = place.run(["dedup", "-f", format, "in"]).exits(0);
    assert_eq!(run.out(), urls, "{}", run.err);
}

#[test]
fn prose_is_rejected_and_its_format_is_named() {
    let uvicorn = "INFO:     10.0.0.9:51000 - \"GET /a?b HTTP/1.1\" 200 OK\n\
        INFO:     10.0.0.9:51001 - \"POST /c HTTP/1.1\" 201 Created\n";
    leads_to(uvicorn, "uvicorn", "/a?b\n/c\n");
    let ltsv = "host:10.0.0.9\tvhost:h.example\treq:GET /a HTTP/2\tstatus:200\n".repeat(2);
    let place = Place::new();
    let run = place.run_on(["dedup"], ltsv.as_str()).exits(0);
    assert_eq!(run.out(), "http://h.example/a\n");
    assert!(run.err.contains("ltsv"), "{}", run.err);
    for prose in ["Host: h.example\nAccept: */*\n", "name: x\nsize: 1\n", "step:1\nstep:2\n"] {
        let run = place.run_on(["dedup"], prose).exits(3);
        assert!(!run.err.contains("--base "), "{}", run.err);
    }
}

#[test]
fn prose_among_urls_is_rejected_with_a_warning() {
    let list = "http://h/a\nnote: see http://h/b\njavascript: void(0)\nmailto:a@h.example\n";
    let place = Place::with([("in", list.as_bytes())]);
    let run = place.run(["dedup", "in"]).exits(0);
    assert_eq!(run.out(), "http://h/a\njavascript:%20void(0)\nmailto:a@h.example\n");
    assert!(run.err.contains("1 of 4 lines begin with a word and a colon"), "{}", run.err);
    // To `string` any bytes are a URL, and one rejected line does not stop the others.
    assert_eq!(place.run(["dedup", "-p", "string", "in"]).exits(0).out(), list);
    let json = place.run(["normalize", "--json", "in"]).exits(0);
    assert!(json.out().contains(r#"{"record":2,"reject":["relative"],"at":0}"#), "{}", json.out());
}

#[test]
fn lines_that_are_said_to_be_urls_are_read_as_urls() {
    let place = Place::with([("in", b"a: foo.com\nHost: h.example\n")]);
    place.run(["dedup", "in"]).exits(3);
    let urls = "a:%20foo.com\nhost:%20h.example\n";
    assert_eq!(place.run(["dedup", "-f", "lines", "in"]).exits(0).out(), urls);
    let run = place.run(["dedup", "-f", "lines", "-p", "whatwg", "in"]).exits(0);
    assert_eq!(run.out(), "a: foo.com\nhost: h.example\n");
}

#[test]
fn named_members_of_json_lead_to_the_urls() {
    leads_to(
        "{\"doc\":{\"page_url\":\"http://h/a\"},\"n\":1}\n{\"doc\":{\"page_url\":\"http://h/b\"}}\n",
        "json:/doc/page_url",
        "http://h/a\nhttp://h/b\n",
    );
    let request = "{\"SiteHost\":\"h.example\",\"Proto\":\"https\",\"ReqPath\":\"/a?b\"}\n";
    let format = "json:scheme=/Proto,host=/SiteHost,target=/ReqPath";
    leads_to(request, format, "https://h.example/a?b\n");
}

#[test]
fn logs_in_unusual_envelopes_lead_to_the_option() {
    let log = r#"10.0.0.9 - - [31/Jan/2026:12:00:00 +0000] \"GET /a?b HTTP/1.1\" 200 5"#;
    let place = Place::new();
    for (line, option) in [
        (format!("{{\"log\":\"{log}\",\"pod\":\"x\"}}\n"), ["--envelope", "docker"]),
        (format!("{{\"_PID\":\"7\",\"MESSAGE\":\"{log}\"}}\n"), ["--envelope", "journald"]),
    ] {
        let run = place.run_on(["dedup"], line.as_str()).exits(3);
        assert!(run.err.contains(&option.join(" ")), "{}", run.err);
        let run = place.run_on([&["dedup"], &option[..]].concat(), line).exits(0);
        assert_eq!(run.out(), "/a?b\n");
    }
}

#[test]
fn columns_are_told_of_whatever_stands_between_them() {
    let urls = "http://h/1\nhttp://h/2\nhttp://h/3\n";
    let rows =
        |row: &str| (1..=3).map(|n| row.replace("{}", &n.to_string()) + "\n").collect::<String>();
    for (row, format) in
        [("http://h/{},200,10%", "csv:1"), ("http://h/{} OK", "ws:1"), ("7\thttp://h/{}", "tsv:2")]
    {
        leads_to(&rows(row), format, urls);
    }
    let place = Place::new();
    // No path holds what follows.
    for (row, format) in
        [("http://h/{} 404", "ws:1"), ("http://h/{} [404]", "ws:1"), ("http://h/{}\t7", "tsv:1")]
    {
        let run = place.run_on(["dedup"], rows(row)).exits(0);
        assert!(run.out() == urls && run.err.contains(&format!("read as {format}")), "{}", run.err);
    }
    let run = place.run_on(["dedup"], "http://h/a,1.html\nhttp://h/b,2.html\n").exits(0);
    assert!(!run.err.contains("hint"), "{}", run.err);
    let run = place.run_on(["dedup"], "http://h/a b\nhttp://h/c d\n").exits(0);
    assert!(run.err.contains("its lines have columns") && run.err.contains("ws:1"), "{}", run.err);
    assert_eq!(run.out(), "http://h/a%20b\nhttp://h/c%20d\n");
    let semicolons = place.run_on(["dedup"], rows("http://h/{};200;Page 1")).exits(0);
    assert!(semicolons.err.contains("--format csv:1 --delimiter ';'"), "{}", semicolons.err);
    // Paths of two sites are two URLs.
    let row = "POST,h.example,/a\nPOST,i.example,/a\n";
    leads_to(row, "csv:host=2,target=3", "http://h.example/a\nhttp://i.example/a\n");
    let log = "log:$request_method $host $request_uri";
    leads_to(&row.replace(',', " "), log, "http://h.example/a\nhttp://i.example/a\n");
    // CloudFront's columns without the header that names them.
    let row = "2026-01-31\t12:00:00\tFRA\t7\t10.0.0.9\tGET\td.cloudfront.net\t/a\t200\t-\tUA\tb=1\t-\t\
        Hit\tid\th.example\thttps\t6\t0.1\n";
    leads_to(row, "cloudfront-rows-2014", "https://h.example/a?b=1\n");
}

#[test]
fn urls_without_a_scheme_in_a_column_lead_to_assume_scheme() {
    let place = Place::new();
    let json = |n: u32| format!("{{\"http\":{{\"requestUrl\":\"a.example/{n}\"}}}}\n");
    for (text, format) in [
        ("url,n\na.example/1,1\na.example/2,2\n".to_owned(), "csv:url"),
        ("1,url,a.example/1\n2,url,a.example/2\n".to_owned(), "csv:3"),
        ((1..=2).map(json).collect(), "json:/http/requestUrl"),
    ] {
        let run = place.run_on(["dedup"], text.as_str()).exits(3);
        let hint = format!("--format {format} --assume-scheme https\n");
        assert!(run.err.contains(&hint), "{}", run.err);
        let with_scheme = ["dedup", "-f", format, "--assume-scheme", "https"];
        let run = place.run_on(with_scheme, text.as_str()).exits(0);
        assert_eq!(run.out(), "https://a.example/1\nhttps://a.example/2\n");
        assert!(!run.err.contains("hint"), "{}", run.err);
    }
    let run =
        place.run_on(["dedup", "--assume-scheme", "https"], "url,n\na.example/1,1\n").exits(0);
    assert!(!run.err.contains("hint"), "{}", run.err);
}

#[test]
fn logs_of_words_are_not_told_to_use_a_base() {
    let proxied =
        "[31/Jan/2026:12:00:00 +0000] - 200 200 - GET https h.example \"/a\" [Client 10.0.0.9]\n";
    leads_to(proxied, "nginx-proxy-manager-other", "https://h.example/a\n");
    let place = Place::new();
    let run = place.run_on(["dedup"], "one two three\nfour five six\n").exits(3);
    assert!(run.err.contains("log:'FORMAT'") && !run.err.contains("--base"), "{}", run.err);
    let run = place.run_on(["dedup"], "app:a\napp:b\n").exits(3);
    assert!(run.err.contains("--format lines") && !run.err.contains("--base"), "{}", run.err);
    assert_eq!(
        place.run_on(["dedup", "-f", "lines"], "app:a\napp:b\n").exits(0).out(),
        "app:a\napp:b\n"
    );
    let run = place.run_on(["dedup"], "a.html\nb.html\n").exits(3);
    assert!(run.err.contains("--base"), "{}", run.err);
}

#[test]
fn sitemap_in_one_line_is_read_in_chunks() {
    let urls: Vec<String> = (0..40_000).map(|n| format!("http://h/?a={n}&b")).collect();
    let locs: String = urls
        .iter()
        .map(|url| format!("<url><loc>{}</loc></url>", url.replace('&', "&amp;")))
        .collect();
    let map = format!("<?xml version='1.0'?><urlset xmlns='http://n/'>{locs}</urlset>");
    assert!(map.len() > 1 << 20, "longer than a record may be");
    let place = Place::with([("in", map.as_bytes())]);
    let expected = urls.join("\n") + "\n";
    for arguments in [&["dedup", "in"][..], &["dedup", "-f", "sitemap", "-j", "3", "in"]] {
        assert_eq!(place.run(arguments).exits(0).out(), expected);
    }
    let run = place.run_on(["dedup"], map.as_str()).exits(0);
    assert!(run.out() == expected && run.err.contains("read as sitemap"), "{}", run.err);
}

#[test]
fn robots_txt_is_read_as_text_and_varnishlog_leads_to_varnishncsa() {
    let robots = "# all\nUser-agent: *\nDisallow: /x\n\nSITEMAP: http://h/s.xml # one\n";
    let varnish = "*   << Request  >> 7\n-   ReqURL         /a\n-   ReqHeader      Host: h.example\n\
        -   End\n\n*   << BeReq    >> 8\n-   BereqURL       /b\n-   End\n\n";
    let place = Place::new();
    let run = place.run_on(["dedup"], robots).exits(0);
    assert!(run.out() == "http://h/s.xml\n" && run.err.contains("read as text"), "{}", run.err);
    for arguments in [&["dedup"][..], &["dedup", "-f", "varnishlog"]] {
        let run = place.run_on(arguments, varnish).exits(2);
        assert!(run.err.contains("varnishncsa"), "{}", run.err);
    }
}
