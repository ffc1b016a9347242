//! Web archives: which records count, which of their parts are read, and which faults are reported.

use super::packed::gzip;
use super::{Place, json_lines};

/// A record with these header fields and this body.
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
fn only_response_like_warc_records_give_targets() {
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
fn input_without_a_record_of_the_kind_that_is_read_is_named() {
    let fields = [
        ("WARC-Type", "metadata"),
        ("WARC-Target-URI", "http://h/"),
        ("Content-Type", "application/json"),
    ];
    // As Common Crawl writes them of requests.
    let json = r#"{"Envelope":{"WARC-Header-Metadata":{"WARC-Type":"request","WARC-Target-URI":"http://h/"}}}"#;
    let place = Place::with([
        ("requests", of_kind("request", "http://request/").repeat(2).as_bytes()),
        ("robots.txt", b"User-agent: *\nDisallow: /x\n"),
        ("header", b"id,url\n"),
        ("wat", record(&fields, json).as_bytes()),
        ("list", b"http://h/\n\n"),
        ("blank", b"\n"),
        ("empty", b""),
    ]);
    let files = ["dedup", "requests", "robots.txt", "header", "list", "blank", "empty", "wat"];
    let run = place.run(files).exits(0);
    let told = run.err.lines().filter(|line| line.contains("holds no record")).collect::<Vec<_>>();
    let expected = [
        ("requests", "warc", 2),
        ("robots.txt", "text", 2),
        ("header", "csv:url", 1),
        ("wat", "wat", 1),
    ];
    assert_eq!(told.len(), expected.len(), "{}", run.err);
    for (told, (file, format, others)) in told.into_iter().zip(expected) {
        let kind =
            format!("no record of the kind that {format} reads, and {others} of other kinds");
        assert!(told.contains(&format!("{file}: it holds {kind}")), "{}", run.err);
    }
    // The hints are followed.
    assert!(run.err.contains("--format warc --record-types metadata"), "{}", run.err);
    let metadata = ["dedup", "-f", "warc", "--record-types", "metadata", "wat"];
    assert_eq!(place.run(metadata).exits(0).out(), "http://h/\n");
    let run = place.run(["dedup", "--record-types", "request", "requests"]).exits(0);
    assert!(run.out() == "http://request/\n" && !run.err.contains("warning"), "{}", run.err);
}

#[test]
fn folded_header_value_may_begin_and_continue_on_later_lines() {
    let begun = "WARC/1.0\r\nX:\r\n WARC-Type: request\r\nWARC-Type:\r\n response\r\n\
                 WARC-Target-URI: \r\n\t<http://a/>\r\nContent-Length:\r\n  4\r\n\r\nbody\r\n\r\n";
    let continued = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: <http://a/b\r\n c\r\n \r\n\t d>\r\n\
                     Content-Length: 4\r\n\r\nbody\r\n\r\n";
    for (folded, url) in [(begun, "http://a/"), (continued, "http://a/b%20c%20d")] {
        for folded in [folded.to_owned(), folded.replace("\r\n", "\n")] {
            let run = Place::new().run_on(["dedup"], folded + &of_kind("response", "http://b/"));
            assert_eq!(run.exits(0).out(), format!("{url}\nhttp://b/\n"));
        }
    }
}

#[test]
fn offsets_point_at_records_of_the_input() {
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
fn reading_resumes_after_a_malformed_record() {
    let good = of_kind("response", "http://good/");
    for (bad, codes) in [
        ("garbage\r\n", &["log-syntax"][..]),
        ("WARC/1.0\r\nWARC-Type: response\r\n\r\n", &["log-syntax"]),
        ("WARC/1.0\r\nContent-Length: -1\r\n\r\nbody\r\n", &["log-syntax"]),
        ("WARC/1.0\r\nContent-Length: 2\r\n\r\nbb\r\n\r\n", &["log-syntax"]),
        ("WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n\r\n\r\n", &["log-syntax"]),
        // The length is wrong, so the bytes after the record are not a record.
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
        assert_ne!(bad.starts_with("garbage"), rejects[0]["raw"] != "garbage", "{rejects:?}");
    }
    for cut in [4, 20, good.len() - 10] {
        let input = format!("{good}{}", &good[..cut]);
        let run = Place::new().run_on(["normalize", "--json", "-f", "warc"], input).exits(0);
        assert_eq!(json_lines(&run.out)[1]["reject"][0], "truncated", "{cut}");
    }
}

/// The metadata record of a WAT file for one response.
pub(super) fn wat_record(kind: &str, target: &str, page: &str) -> String {
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
fn wat_file_gives_responses_or_links() {
    let page = r#"{"Head":{"Link":[{"url":"s.css","rel":"stylesheet"}],"Scripts":[{"url":"//cdn/x.js"}]},"Links":[{"path":"A@/href","url":"../up"},{"url":" \u0068ttp://abs/ "},{"text":"none"},{"url":""}]}"#;
    let based = r##"{"Head":{"Base":"/base/"},"Links":[{"url":"a"},{"url":" "},{"url":"#f"}]}"##;
    let archive = [
        record(&[("WARC-Type", "warcinfo")], ""),
        wat_record("request", "http://h/d/p", "null"),
        wat_record("response", "http://h/d/p", page),
        wat_record("response", "http://b/d/p", based),
        wat_record("response", "http://n/", "null"),
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
    let links = [&links[..], &["http://b/base/a", "http://b/base/", "http://b/base/", ""]].concat();
    assert_eq!(run.out().lines().collect::<Vec<_>>(), links, "the last is rejected");
}

#[test]
fn archive_after_blank_lines_is_detected() {
    let warc = [target(1), target(2)].concat();
    let arc = "filedesc://x.arc 0.0.0.0 20200101000000 text/plain 3\nabc\n\
        http://a/ 1.2.3.4 20200101000000 text/html 2\nab\n";
    let wat = wat_record("response", "http://h/d/p", "null");
    for (archive, format) in [(&warc[..], "warc"), (arc, "arc"), (&wat, "wat")] {
        let plain = Place::new().run_on(["dedup"], archive).exits(0);
        for blank in ["\n", "\r\n", "\r\n\r\n\n", "   \n", "\n \t\r\n"] {
            let text = format!("{blank}{archive}");
            let place = Place::with([("in", text.as_bytes())]);
            for run in [place.run(["dedup", "in"]), place.run_on(["dedup"], &text[..])] {
                let run = run.exits(0);
                assert_eq!(run.out(), plain.out(), "{format}");
                assert!(run.err.contains(&format!("read as {format}")), "{}", run.err);
                assert_eq!(run.summary("rejected"), plain.summary("rejected"), "{format}");
            }
        }
        let text = format!("\u{FEFF}{archive}");
        let place = Place::with([("in", text.as_bytes())]);
        for run in [place.run(["dedup", "in"]), place.run_on(["dedup"], &text[..])] {
            let run = run.exits(2);
            let told = "a byte-order mark stands before its first record\nhint: remove it with tail -c +4\n";
            assert!(run.err.contains(told), "{}", run.err);
        }
        // Naming the format makes the command read it.
        assert!(!place.run(["normalize", "in", "-f", format]).err.contains("mark"), "{format}");
    }
}

#[test]
fn json_metadata_record_does_not_make_a_wat_file() {
    let note = record(
        &[
            ("WARC-Type", "metadata"),
            ("WARC-Target-URI", "urn:note"),
            ("Content-Type", "application/json"),
        ],
        "{}",
    );
    let about = record(&[("WARC-Type", "warcinfo")], "");
    for archive in [
        [&about, &note, &target(1)].map(String::as_str).concat(),
        [&about, &target(1), &note].map(String::as_str).concat(),
        about,
    ] {
        let run = Place::new().run_on(["normalize"], &archive[..]).exits(0);
        assert!(run.err.contains("-: read as warc"), "{}", run.err);
        assert_eq!(run.out().lines().count(), archive.matches("response").count());
    }
}

#[test]
fn odd_wat_values_do_not_drop_the_page() {
    for (page, links) in [
        (r#"{"Head":{"Base":"/no/","Base":"/b/"},"Links":[{"url":"a"}]}"#, "http://h/b/a\n"),
        (r#"{"Head":{"Base":5},"Links":[{"url":"a"}]}"#, "http://h/d/a\n"),
        (r#"{"Head":{"Link":{},"Scripts":[{"url":"s"}]},"Links":null}"#, "http://h/d/s\n"),
        (
            r#"{"Links":[{"url":5},{"url":[],"href":"b"},7,{"url":"a","url":"c"}]}"#,
            "http://h/d/b\nhttp://h/d/c\n",
        ),
        (r#"{"Links":[{"url":"no"}],"Links":[]}"#, ""),
        // Those of a style sheet are links.
        (r#"{"Links":[{"path":"STYLE/#text","href":"/bg.png"}]}"#, "http://h/bg.png\n"),
        (
            r#"{"Links":[{"href":"x","url":"a"},{"url":null,"href":"b"}]}"#,
            "http://h/d/a\nhttp://h/d/b\n",
        ),
        (r#"{"Head":[],"Links":"a"}"#, ""),
        ("[1]", ""),
    ] {
        let place = Place::with([("in", wat_record("response", "http://h/d/p", page).as_bytes())]);
        let run = place.run(["normalize", "in", "-f", "wat"]).exits(0);
        assert_eq!(run.out(), "http://h/d/p\n", "{page}");
        let run = place.run(["normalize", "in", "-f", "wat:links"]).exits(0);
        assert_eq!((run.out(), run.summary("rejected")), (links, 0), "{page}");
    }
    let twice = wat_record("response", "http://h/", "null")
        .replace(r#""WARC-Target-URI":"#, r#""WARC-Target-URI":5,"WARC-Target-URI":"#);
    let length = twice.find("\r\n\r\n").unwrap();
    let body = twice[length..].trim();
    let again = record(&[("WARC-Type", "metadata"), ("Content-Type", "application/json")], body);
    let place = Place::with([("in", again.as_bytes())]);
    assert_eq!(place.run(["normalize", "in", "-f", "wat"]).exits(0).out(), "http://h/\n");
}

#[test]
fn wat_record_over_16_mib_is_too_long_and_the_next_is_read() {
    let page = format!("{}null", " ".repeat(16 << 20));
    let both = wat_record("response", "http://h/long", &page)
        + &wat_record("response", "http://h/", "null");
    let place = Place::with([("in", both.as_bytes())]);
    let run = place.run(["dedup", "in", "-f", "wat", "--stats", "stats"]).exits(0);
    assert_eq!(run.out(), "http://h/\n");
    assert_eq!(place.json("stats")["codes"]["too-long"], 1);
}

#[test]
fn wat_strings_need_not_be_utf8() {
    let page = r#"{"Head":{"Base":"/~/"},"Links":[{"url":"~"},{"url":"\udce9"},{"url":"z"}]}"#;
    let mut archive = wat_record("response", "http://h/~", page).into_bytes();
    archive.iter_mut().filter(|byte| **byte == b'~').for_each(|byte| *byte = 0xE9);
    let place = Place::with([("in", &archive[..])]);
    assert_eq!(place.run(["normalize", "in"]).exits(0).out(), "http://h/%E9\n");
    let run = place.run(["normalize", "in", "-f", "wat:links"]).exits(0);
    let links = ["http://h/%E9/%E9", "http://h/%E9/%ED%B3%A9", "http://h/%E9/z"];
    assert_eq!(run.out().lines().collect::<Vec<_>>(), links);
}

#[test]
fn arc_file_is_read_by_its_record_headers() {
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

#[test]
fn arc_records_are_filtered_by_mime_type() {
    let head = |url: &str, mime: &str| format!("{url} 192.0.2.1 20010101000000 {mime} 1\nx\n");
    let archive = [
        head("filedesc://a.arc", "text/plain"),
        head("http://a/", "text/html"),
        head("http://b/", "image/png"),
        head("http://c/ text/html", "-"),
        "no head\n".to_owned(),
        head("http://d/", "TEXT/html;charset=x"),
    ]
    .concat();
    let place = Place::with([("in", archive.as_bytes())]);
    let run = place.run(["dedup", "in", "--mime", "text/*"]).exits(0);
    assert_eq!(run.out(), "http://a/\nhttp://d/\n");
    assert_eq!((run.summary("filtered"), run.summary("rejected")), (2, 1));
    assert_eq!(run.summary("skipped"), 1);
    assert!(!run.err.contains("warning"), "{}", run.err);
    place.run(["dedup", "in", "-f", "arc", "--mime", "image/*"]).exits(0);
    place.run(["dedup", "in", "-f", "arc", "--status", "200"]).exits(2);
}

/// A WARC response for the `n`th URL. Crawlers compress each as its own gzip member.
fn target(n: usize) -> String {
    let fields = [("WARC-Type", "response"), ("WARC-Target-URI", &*format!("http://h/{n}"))];
    record(&fields, "HTTP/1.1 200 OK\r\n\r\nthe body")
}

#[test]
fn warc_reading_resumes_at_the_next_gzip_member() {
    let length = |record: String, length: &str| {
        let (head, body) = record.split_once("Content-Length: 27").expect("such a body");
        format!("{head}Content-Length: {length}{body}")
    };
    let cut = |record: String, behind: &str| {
        let at = record.find(behind).expect("it is there") + behind.len();
        record[..at].to_owned()
    };
    let around = AROUND.map(|numbers| packed_alone(numbers.map(target)));
    // Name, bad record, the URLs it gives, and the codes reported for it or for the bytes after it.
    let (kept, lost) = (&["http://h/1"][..], &[][..]);
    for (name, bad, urls, codes) in [
        ("too long by one", length(target(1), "32"), lost, &["log-syntax"][..]),
        ("too long", length(target(1), "1000"), lost, &["log-syntax"]),
        ("endless", length(target(1), "18446744073709551615"), lost, &["log-syntax"]),
        ("too short", length(target(1), "2"), kept, &["log-syntax"]),
        ("nothing", length(target(1), "0"), kept, &["log-syntax"]),
        ("no length", length(target(1), "x"), lost, &["log-syntax"]),
        ("no end of the head", cut(target(1), "WARC-Type: resp"), lost, &["log-syntax"]),
        ("no body", cut(target(1), "27\r\n\r\n"), lost, &["log-syntax"]),
        ("half a body", cut(target(1), "HTTP/1.1 200"), lost, &["log-syntax"]),
        ("no line endings", target(1).trim_end().to_owned(), kept, &[]),
        ("no archive", "<html>".repeat(9), lost, &["log-syntax"]),
        ("nothing at all", String::new(), lost, &[]),
    ] {
        assert_reading_resumes("warc", name, &around, bad, urls, codes);
    }
}

/// An ARC record of one response, compressed as its own member.
fn arc_target(n: usize) -> String {
    format!("http://h/{n} 192.0.2.1 20010101000000 text/html 27\nHTTP/1.1 200 OK\r\n\r\nthe body\n")
}

#[test]
fn arc_reading_resumes_at_the_next_gzip_member() {
    let around = AROUND.map(|numbers| packed_alone(numbers.map(arc_target)));
    let (kept, lost) = (&["http://h/1"][..], &[][..]);
    let length = |length: &str| arc_target(1).replace(" 27\n", &format!(" {length}\n"));
    let cut = |at: usize| arc_target(1)[..at].to_owned();
    for (name, bad, urls, codes) in [
        ("too long by one", length("29"), lost, &["log-syntax"][..]),
        ("too long", length("1000"), lost, &["log-syntax"]),
        ("endless", length("18446744073709551615"), lost, &["log-syntax"]),
        ("too short", length("2"), kept, &["log-syntax"]),
        ("no length", length("x"), lost, &["log-syntax"]),
        ("no end of the head", cut(20), lost, &["log-syntax"]),
        ("no body", cut(52), lost, &["log-syntax"]),
        ("no line ending", arc_target(1).trim_end().to_owned(), kept, &[]),
        ("no archive", "<html>".repeat(9), lost, &["log-syntax"]),
    ] {
        assert_reading_resumes("arc", name, &around, bad, urls, codes);
    }
}

/// The numbers of the records before and after another: enough for several threads, and more than
/// one read takes.
const AROUND: [std::ops::Range<usize>; 2] = [2..1202, 9000..10_200];

/// Compresses each record as its own gzip member, and as its own zstd frame.
fn packed_alone(records: impl Iterator<Item = String>) -> [Vec<u8>; 2] {
    let (mut gz, mut zst) = (Vec::new(), Vec::new());
    for record in records {
        gz.extend(gzip(record.as_bytes()));
        zst.extend(zstd::encode_all(record.as_bytes(), 1).unwrap());
    }
    [gz, zst]
}

/// Asserts that `bad`, placed among records compressed as members of their own, gives these URLs
/// and codes, and that every other record still gives its URL.
fn assert_reading_resumes(
    format: &str,
    name: &str,
    [before, after]: &[[Vec<u8>; 2]; 2],
    bad: String,
    urls: &[&str],
    codes: &[&str],
) {
    let others = AROUND.into_iter().flatten().map(|n| format!("http://h/{n}"));
    let mut expected: Vec<String> = others.chain(urls.iter().map(|url| (*url).into())).collect();
    expected.sort();
    let bad = packed_alone([bad].into_iter());
    let [gz, zst] = [0, 1].map(|i| [&before[i][..], &bad[i], &after[i]].concat());
    let place = Place::with([("gz", &gz[..]), ("zst", &zst[..])]);
    for input in ["gz", "zst"] {
        let arguments =
            ["dedup", "-f", format, input, "-j", "2", "--order", "sorted", "--rejects", "rejects"];
        let run = place.run(arguments).exits(0);
        assert!(run.out().lines().eq(expected.iter()), "{name} {input}");
        let rejects = place.json_lines("rejects");
        let told: Vec<_> = rejects.iter().map(|reject| &reject["codes"][0]).collect();
        assert_eq!(told, codes, "{name} {input}");
        assert_eq!(run.summary("rejected"), codes.len() as u64, "{name} {input}");
        // From front to back.
        let arguments = ["dedup", "-f", format, "--order", "sorted"];
        let piped = place.run_on(arguments, place.read(input)).exits(0);
        assert!(piped.out().lines().eq(expected.iter()), "{name} {input} in a pipe");
    }
}

#[test]
fn member_inside_a_record_belongs_to_it_unless_it_begins_with_a_header() {
    // As bgzip packs: a member may begin anywhere in a record.
    let archive: String = (0..3000).map(target).collect();
    let packed: Vec<u8> = archive.as_bytes().chunks(1000).flat_map(gzip).collect();
    let place = Place::with([("in", &packed[..])]);
    let run = place.run(["dedup", "in"]).exits(0);
    assert_eq!((run.out().lines().count(), run.summary("rejected")), (3000, 0));
    // A record of a WAT file, whose bodies are read.
    let page = r#"{"Links":[{"url":"up"}]}"#;
    let good = wat_record("response", "http://h/", page);
    let bad = good.replacen("Content-Length: ", "Content-Length: 9", 1);
    let packed = [&good, &bad, &good].map(|record| gzip(record.as_bytes())).concat();
    let place = Place::with([("in", &packed[..])]);
    let run = place.run(["normalize", "in", "-f", "wat:links"]).exits(0);
    assert_eq!((run.out(), run.summary("rejected")), ("http://h/up\n\nhttp://h/up\n", 1));
}
