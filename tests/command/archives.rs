//! Web archives: which records count, what of them is read, and what is wrong with them.

use super::packed::gzip;
use super::{Place, json_lines};

/// A record with these fields and this body.
fn record(fields: &[(&str, &str)], body: &str) -> String {
    let mut text = String::from("WARC/1.0\r\n");
    for (name, value) in fields {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    format!("{text}Content-Length: {}\r\n\r\n{body}\r\n\r\n", body.len())
}

fn of_kind(kind: &str, target: &str) -> String {
    record(
        &[("WARC-Type", kind), ("WARC-Target-URI", target)],
        "HTTP/1.1 200 OK\r\n\r\nWARC/1.0\r\n",
    )
}

#[test]
fn targets_of_what_a_url_led_to_are_taken_and_other_records_are_skipped() {
    let archive = [
        record(&[("WARC-Type", "warcinfo")], "software: x\r\n"),
        of_kind("request", "http://request/"),
        of_kind("response", "http://response/"),
        of_kind("revisit", "<http://revisit/>"),
        of_kind("resource", "dns:example.com"),
        of_kind("conversion", "http://conversion/"),
        of_kind("metadata", "http://metadata/"),
        record(&[("warc-TYPE", "Response"), ("warc-target-uri", "  http://case/  ")], ""),
    ];
    let expected =
        "http://response/\nhttp://revisit/\ndns:example.com\nhttp://conversion/\nhttp://case/\n";
    let place = Place::with([("plain", archive.concat().as_bytes())]);
    let members: Vec<u8> = archive.iter().flat_map(|record| gzip(record.as_bytes())).collect();
    place.write("members", &members);
    place.write("one", gzip(archive.concat().as_bytes()));
    place.write("feeds", archive.concat().replace("\r\n", "\n").replace(": 27", ": 23"));
    for name in ["plain", "members", "one"] {
        let run = place.run(["dedup", name]).exits(0);
        assert_eq!(run.out(), expected, "{name}");
        assert_eq!((run.summary("records"), run.summary("skipped")), (5, 3), "{name}");
        assert!(run.err.contains(&format!("{name}: read as warc")), "{}", run.err);
        let piped = place.run_on(["dedup", "-f", "warc"], place.read(name)).exits(0);
        assert_eq!(piped.out(), expected);
    }
    let arguments = ["dedup", "plain", "--record-types", "request,metadata"];
    assert_eq!(place.run(arguments).exits(0).out(), "http://request/\nhttp://metadata/\n");
    place.run(["dedup", "plain", "--record-types", "reply"]).exits(2);
}

#[test]
fn offsets_are_those_of_records_in_the_input() {
    let first = of_kind("response", "http://h:99999/");
    let second = of_kind("response", "http://ok/");
    let place = Place::with([("in", format!("{first}{second}{first}").as_bytes())]);
    let run = place.run(["dedup", "in", "--rejects", "rejects", "--fields", "first"]).exits(0);
    assert_eq!(run.out(), format!("in:2:{}\n", first.len()));
    let rejects = place.json_lines("rejects");
    let offsets: Vec<_> = rejects.iter().map(|reject| reject["offset"].as_u64()).collect();
    assert_eq!(offsets, [Some(0), Some((first.len() + second.len()) as u64)]);
}

#[test]
fn a_malformed_record_is_rejected_and_the_next_one_is_found() {
    let good = of_kind("response", "http://good/");
    for (bad, codes) in [
        ("garbage\r\n", &["log-syntax"][..]),
        ("WARC/1.0\r\nWARC-Type: response\r\n\r\n", &["log-syntax"]),
        ("WARC/1.0\r\nContent-Length: -1\r\n\r\nbody\r\n", &["log-syntax"]),
        ("WARC/1.0\r\nContent-Length: 2\r\n\r\nbb\r\n\r\n", &["log-syntax"]),
        ("WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n\r\n\r\n", &["log-syntax"]),
        // Its length is wrong, so behind it there is something that is no record.
        (
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h:x/\r\nContent-Length: 2\r\n\r\nlonger\r\n",
            &["port", "log-syntax"],
        ),
    ] {
        let place = Place::with([("in", format!("{good}{bad}{good}").as_bytes())]);
        let arguments = ["dedup", "in", "--rejects", "rejects"];
        let run = place.run(arguments).exits(0);
        assert_eq!((run.out(), run.summary("duplicates")), ("http://good/\n", 1), "{bad}");
        let rejects = place.json_lines("rejects");
        let found: Vec<_> = rejects.iter().map(|reject| reject["codes"][0].as_str()).collect();
        assert_eq!(found, codes.iter().map(|code| Some(*code)).collect::<Vec<_>>(), "{bad}");
        assert_eq!(rejects[0]["offset"], good.len() as u64);
    }
    for cut in [4, 20, good.len() - 10] {
        let input = format!("{good}{}", &good[..cut]);
        let run = Place::new().run_on(["normalize", "--json", "-f", "warc"], input).exits(0);
        assert_eq!(json_lines(&run.out)[1]["reject"][0], "truncated", "{cut}");
    }
}

/// What a WAT file tells of one response.
fn told(kind: &str, target: &str, page: &str) -> String {
    let json = format!(
        r#"{{"Container":{{}},"Envelope":{{"Payload-Metadata":{{"HTTP-Response-Metadata":{{"HTML-Metadata":{page}}}}},"WARC-Header-Metadata":{{"WARC-Type":"{kind}","WARC-Target-URI":"{target}"}}}}}}"#
    );
    record(
        &[
            ("WARC-Type", "metadata"),
            ("WARC-Target-URI", target),
            ("Content-Type", "application/json"),
        ],
        &json,
    )
}

#[test]
fn a_wat_file_gives_responses_or_the_links_of_their_pages() {
    let page = r#"{"Head":{"Link":[{"url":"s.css","rel":"stylesheet"}],"Scripts":[{"url":"//cdn/x.js"}]},"Links":[{"path":"A@/href","url":"../up"},{"url":" \u0068ttp://abs/ "},{"text":"none"},{"url":""}]}"#;
    let based = r##"{"Head":{"Base":"/base/"},"Links":[{"url":"a"},{"url":"#f"}]}"##;
    let archive = [
        record(&[("WARC-Type", "warcinfo")], ""),
        told("request", "http://h/d/p", "null"),
        told("response", "http://h/d/p", page),
        told("response", "http://b/d/p", based),
        told("response", "http://n/", "null"),
        record(
            &[("WARC-Type", "metadata"), ("Content-Type", "application/json")],
            "{\"Envelope\":",
        ),
    ]
    .concat();
    let place = Place::with([("in", &gzip(archive.as_bytes()))]);
    let run = place.run(["dedup", "in"]).exits(0);
    assert_eq!(run.out(), "http://h/d/p\nhttp://b/d/p\nhttp://n/\n");
    assert_eq!((run.summary("rejected"), run.summary("skipped")), (1, 2));
    assert!(run.err.contains("in: read as wat"), "{}", run.err);
    let run = place.run(["normalize", "in", "-f", "wat:links"]).exits(0);
    let links =
        ["http://h/d/s.css", "http://cdn/x.js", "http://h/up", "http://abs/", "http://h/d/p"];
    let links = [&links[..], &["http://b/base/a", "http://b/base/", ""]].concat();
    assert_eq!(run.out().lines().collect::<Vec<_>>(), links);
}

#[test]
fn an_arc_file_is_read_by_its_heads() {
    let body = "HTTP/1.0 200 OK\n\nhttp://no/ 1.2.3.4 20010101000000 text/html 3\n";
    let head = |url: &str, body: &str| {
        format!("{url} 192.0.2.1 20010101000000 text/html {}\n{body}\n", body.len())
    };
    let about = "1 0 Archive\nURL IP-address Archive-date Content-type Archive-length\n";
    let archive = [
        head("filedesc://a.arc", about),
        head("http://a/", body),
        head("http://b/with space", ""),
        "no head\n".to_owned(),
        head("http://a/", body),
    ]
    .concat();
    let place = Place::with([("plain", archive.as_bytes()), ("packed", &gzip(archive.as_bytes()))]);
    for name in ["plain", "packed"] {
        let run = place.run(["dedup", name]).exits(0);
        assert_eq!(run.out(), "http://a/\nhttp://b/with%20space\n");
        assert_eq!((run.summary("duplicates"), run.summary("rejected")), (1, 1));
        assert!(run.err.contains(&format!("{name}: read as arc")), "{}", run.err);
    }
}
