//! Formats in envelopes: against the formats by themselves, and against a slow second reader.

use crate::envelope_oracle::Envelopes;
use crate::record_oracle::{Holds, Known};
use crate::records::{Random, cases, context, held, known, read, read_in_chunks};
use uniqurl::internal::Origin;
use uniqurl_formats::record::{Context, EnvelopeChoice, Format, FormatTable, wrap};

const ENVELOPES: [&str; 4] = ["docker", "cri", "syslog", "journald"];

#[rustfmt::skip]
const FORMATS: [&str; 16] = [
    "lines", "target", "clf", "combined", "vhost", "haproxy", "ws:3", "log:%v %t \"%r\"",
    "json:/url", "elb", "csv:2", "csv:url", "tsv:url", "tsv:2", "w3c", "text",
];

const SYSLOG_HEADERS: [&str; 7] = [
    "Jan  1 00:00:00 web1 nginx: ",
    "<190>Dec 31 23:59:59 nginx[1]: ",
    "<6>Feb 3 2024 01:02:03.5 2001:db8::1 a/b[]: ",
    "2024-01-01T00:00:00.123456+05:30 web1 nginx: ",
    "<191>1 - - - - - - ",
    "<34>1 2003-10-11T22:14:15.003Z h su - ID47 - \u{feff}",
    r#"<165>1 2003-10-11T22:14:15-07:00 h app 1 ID [a@1 k="\"]\\" l="["][b] "#,
];

/// The format in an envelope whose absence is an error.
fn within(envelope: &str, format: &Format) -> Format {
    let choice = EnvelopeChoice::named(envelope).expect("a name");
    wrap(choice, format, b"", true).expect("it is taken for granted")
}

/// A string of JSON, in one of the ways in which it can be written.
fn json_string(text: &[u8], random: &mut Random) -> Vec<u8> {
    let mut json = vec![b'"'];
    for byte in text {
        match byte {
            b'"' | b'\\' => json.extend([b'\\', *byte]),
            b'\t' if random.below(2) == 0 => json.extend(b"\\t"),
            0..0x20 => json.extend(format!("\\u{byte:04x}").bytes()),
            b'/' if random.below(4) == 0 => json.extend(b"\\/"),
            0x20..0x7F if random.below(20) == 0 => json.extend(format!("\\u{byte:04X}").bytes()),
            _ => json.push(*byte),
        }
    }
    json.push(b'"');
    json
}

/// A line in an envelope, with its end.
fn put_in(envelope: &str, stream: &str, tag: &str, text: &[u8], random: &mut Random) -> Vec<u8> {
    let mut line = match envelope {
        "docker" => {
            let end: &[u8] = if tag == "P" { b"" } else { b"\n" };
            let log = json_string(&[text, end].concat(), random);
            let members =
                format!(r#","stream":"{stream}","time":"2021-08-24T09:52:13.2Z"}}"#).into_bytes();
            [b"{\"log\":".to_vec(), log, members].concat()
        }
        "cri" => {
            let time =
                random.one_of(&["2025-12-31T17:37:40.493035218+01:00", "2025-12-31T17:37:40Z"]);
            [format!("{time} {stream} {tag} ").into_bytes(), text.to_vec()].concat()
        }
        "syslog" => [random.one_of(&SYSLOG_HEADERS).as_bytes(), text].concat(),
        _ => {
            let is_text = std::str::from_utf8(text).is_ok();
            let message = match is_text && random.below(2) == 0 {
                true => json_string(text, random),
                false => format!("{text:?}").into_bytes(),
            };
            let before = b"{\"__REALTIME_TIMESTAMP\":\"1\",\"MESSAGE\":".to_vec();
            [before, message, b",\"_PID\":\"1\"}".to_vec()].concat()
        }
    };
    line.extend_from_slice(if random.below(4) == 0 { b"\r\n" } else { b"\n" });
    line
}

/// A line of a program.
fn inner_line(format: &str, random: &mut Random) -> Vec<u8> {
    let mut line = match random.below(2) {
        0 => random.line(),
        _ => random.table(8),
    };
    let is_csv = format.starts_with("csv");
    // A quotation in csv must not run on into the next line, and marks may be skipped.
    line.retain(|byte| !(matches!(byte, b'\r' | b'\n' | 0xEF) || is_csv && *byte == b'"'));
    line
}

/// Lines in their envelopes.
#[derive(Default)]
struct WrappedLines {
    /// The file.
    outer: Vec<u8>,
    /// The lines.
    inner: Vec<u8>,
    /// The bytes of each in the file.
    places: Vec<Vec<u8>>,
}

fn wrapped_lines(envelope: &str, lines: &[Vec<u8>], random: &mut Random) -> WrappedLines {
    let mut made = WrappedLines::default();
    for line in lines {
        let stream = random.one_of(&["stdout", "stderr"]);
        let outer = put_in(envelope, stream, "F", line, random);
        made.outer.extend_from_slice(&outer);
        made.inner.extend_from_slice(line);
        made.inner.push(b'\n');
        let ending = if outer.ends_with(b"\r\n") { 2 } else { 1 };
        made.places.push(outer[..outer.len() - ending].to_vec());
    }
    made
}

fn without_limits(case: u64) -> Context {
    Context { max_record: 1 << 20, ..context(&known(case)) }
}

#[test]
fn lines_in_envelopes_give_the_records_of_bare_lines() {
    for envelope in ENVELOPES {
        for name in FORMATS {
            let bare = Format::parse(name).unwrap();
            let format = within(envelope, &bare);
            assert_eq!(format.name(), format!("{name} in {envelope}"));
            for case in 0..cases() / 50 {
                let mut random = Random(case);
                let lines: Vec<Vec<u8>> =
                    (0..random.below(9)).map(|_| inner_line(name, &mut random)).collect();
                let made = wrapped_lines(envelope, &lines, &mut random);
                let ctx = without_limits(case);
                let expected = held(&bare, &ctx, &made.inner);
                let found = held(&format, &ctx, &made.outer);
                let shown = made.outer.escape_ascii();
                assert_eq!(found, expected, "{name} in {envelope}, case {case}: {shown}");
                if name != "text" {
                    let out = read(&format, &ctx, &made.outer);
                    let places: Vec<&[u8]> =
                        out.records.iter().map(|record| record.line.of(&made.outer)).collect();
                    assert_eq!(places, made.places, "{name} in {envelope}, case {case}: {shown}");
                }
                let cut = read_in_chunks(&format, &ctx, &made.outer, &mut random);
                assert_eq!(cut, expected, "{name} in {envelope}, case {case}, in chunks: {shown}");
            }
        }
    }
}

#[test]
fn damaged_envelopes_agree_with_the_oracle() {
    const DAMAGE: &[u8] = b" :[]\"\\{}<>1PF-Txn";
    for envelope in ENVELOPES {
        let oracle = Envelopes::new(envelope);
        for name in ["lines", "combined", "ws:3"] {
            let format = within(envelope, &Format::parse(name).unwrap());
            let mut kinds = std::collections::BTreeSet::new();
            for case in 0..cases() / 20 {
                let mut random = Random(case);
                let mut input = Vec::new();
                for _ in 0..random.below(6) {
                    let mut text = random.line();
                    text.retain(|byte| byte.is_ascii() && !matches!(byte, b'\r' | b'\n'));
                    let stream = random.one_of(&["stdout", "stderr"]);
                    let tag = if envelope == "cri" { random.one_of(&["F", "F", "P"]) } else { "F" };
                    let mut line = put_in(envelope, stream, tag, &text, &mut random);
                    line.retain(|byte| !matches!(byte, b'\r' | b'\n'));
                    for _ in 0..random.below(3) {
                        let at = random.below(line.len().min(90));
                        match random.below(3) {
                            0 => line[at] = DAMAGE[random.below(DAMAGE.len())],
                            1 => line.insert(at, DAMAGE[random.below(DAMAGE.len())]),
                            _ => line.truncate(line.len() - 1),
                        }
                    }
                    input.extend_from_slice(&line);
                    input.push(b'\n');
                }
                let known = Known { max_record: 1 << 20, ..known(case) };
                let ctx = context(&known);
                let expected = oracle.read_all(name, &known, &input);
                let found = held(&format, &ctx, &input);
                let shown = input.escape_ascii();
                assert_eq!(found, expected, "{name} in {envelope}, case {case}: {shown}");
                let cut = read_in_chunks(&format, &ctx, &input, &mut random);
                assert_eq!(cut, expected, "{name} in {envelope}, case {case}, in chunks: {shown}");
                kinds.extend(found.iter().map(Holds::kind));
            }
            assert!(kinds.contains("log-syntax") && kinds.contains("url"), "{kinds:?}");
            assert!(envelope != "cri" || kinds.contains("truncated"), "{kinds:?}");
        }
    }
}

/// The records of an input, also in chunks.
fn records(format: &Format, ctx: &Context, input: &[u8], random: &mut Random) -> Vec<Holds> {
    let found = held(format, ctx, input);
    assert_eq!(read_in_chunks(format, ctx, input, random), found);
    found
}

#[test]
fn part_of_a_line_whose_url_touches_the_cut_is_truncated() {
    const PART: usize = 16 << 10;
    let mut random = Random(7);
    let format = within("docker", &Format::parse("lines").unwrap());
    let ctx = Context { max_url: 1 << 20, ..Context::default() };
    for length in [PART - 1, PART, PART + 1, 3 * PART + 5] {
        let url = [b"http://h/".to_vec(), vec![b'x'; length - 9]].concat();
        let mut input = Vec::new();
        let mut expected = Vec::new();
        for part in url.chunks(PART) {
            let is_last = part.len() < PART;
            let tag = if is_last { "F" } else { "P" };
            input.extend(put_in("docker", "stdout", tag, part, &mut random));
            input.extend(put_in("docker", "stderr", "F", b"http://e/", &mut random));
            expected.push(match is_last {
                true => Holds::Url(part.to_vec()),
                false => Holds::Reject("truncated", 0),
            });
            expected.push(Holds::Url(b"http://e/".to_vec()));
        }
        assert_eq!(records(&format, &ctx, &input, &mut random), expected, "{length}");
    }
}

#[test]
fn part_of_a_line_with_a_whole_url_is_read() {
    let mut random = Random(1);
    let base = Origin { scheme: b"http".to_vec(), authority: b"b.example".to_vec() };
    let ctx = Context { base: Some(base), ..Context::default() };
    let header = "id,url,x";
    for (format, part, expected) in [
        (
            "combined",
            r#"h - - [17/May/2015:10:05:03 +0000] "GET /a\x22 HTTP/1.1" 200 5 "long"#,
            "/a\"",
        ),
        ("combined", r#"h - - [17/May/2015:10:05:03 +0000] "GET /a"#, ""),
        ("vhost", r#"h:443 h - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200"#, "/a"),
        ("ws:1", "/a ", "/a"),
        ("ws:2", "x /a", ""),
        ("text", "see http://h/a and", "http://h/a"),
        ("text", "see http://h/a and http://h/b.", ""),
        ("csv:url", "1,http://h/a,x", "http://h/a"),
        ("csv:2", "1,\"http://h/a\"", ""),
        ("json:/url", r#"{"url":"http://h/a","x":"y"#, ""),
    ] {
        let format = within("cri", &Format::parse(format).unwrap());
        let mut input = Vec::new();
        if format.name().starts_with("csv") {
            input.extend(put_in("cri", "stdout", "F", header.as_bytes(), &mut random));
        }
        input.extend(put_in("cri", "stdout", "P", part.as_bytes(), &mut random));
        let found = records(&format, &ctx, &input, &mut random);
        match found.last().unwrap() {
            Holds::Reject(code, _) => assert_eq!((*code, expected), ("truncated", ""), "{part}"),
            Holds::Url(url) => assert_eq!(url, expected.as_bytes(), "{part}"),
            Holds::Joined(url, added) => assert_eq!(&url[*added..], expected.as_bytes(), "{part}"),
            other => panic!("{part}: {other:?}"),
        }
    }
}

const COMBINED: &str =
    r#"1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 5 "-" "UA""#;

#[test]
fn format_is_detected_within_the_envelope_of_most_lines() {
    let mut random = Random(3);
    for (line, name) in [
        (COMBINED, "combined"),
        (&format!("h.example:443 {COMBINED}"), "vhost"),
        (r#"{"host":"h","request_uri":"/a","status":200}"#, "nginx-json"),
        ("http://h/a", "lines"),
        ("/a", "target"),
    ] {
        assert_eq!(detect_in(EnvelopeChoice::Auto, "x", line.as_bytes(), true).name(), name);
        for envelope in ENVELOPES {
            let mut log = Vec::new();
            for lines in 1..4 {
                log.extend(put_in(envelope, "stdout", "F", line.as_bytes(), &mut random));
                let found = detect_in(EnvelopeChoice::Auto, "x", &log, true);
                assert_eq!(found.name(), format!("{name} in {envelope}"), "{lines} lines");
                let bare = detect_in(EnvelopeChoice::None, "x", &log, true);
                assert!(!matches!(bare, Format::Wrapped(_)), "{envelope}");
            }
            let (mut mixed, bare) = (log.clone(), format!("{line}\n").into_bytes());
            mixed.extend_from_slice(&bare);
            let found = detect_in(EnvelopeChoice::Auto, "x", &mixed, true);
            assert_eq!(found.name(), format!("{name} in {envelope}"), "most have it");
            mixed.extend(bare.repeat(3));
            let found = detect_in(EnvelopeChoice::Auto, "x", &mixed, true);
            assert_eq!(found.name(), name, "few of {envelope}");
        }
    }
}

#[test]
fn what_is_no_envelope_is_read_as_before() {
    let elb = "2015-05-13T23:39:43.945958Z lb 1.2.3.4:1 10.0.0.1:80 0 0 0 200 200 0 29 \
               \"GET https://e.org:443/a HTTP/1.1\" \"curl\" - -";
    let haproxy = "Feb  6 12:14:14 h haproxy[1]: 1.2.3.4:5 [06/Feb/2009:12:14:14.655] in static/srv1 \
                   10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {} {} \"GET /a HTTP/1.1\"";
    for (line, name) in [
        (elb, "elb"),
        (haproxy, "haproxy"),
        (r#"{"log":"started\n","stream":"stdout","url":"http://h/"}"#, "json:/url"),
        (r#"{"log":"http://h/","url":"http://h/"}"#, "json:/url"),
        (r#"{"MESSAGE":"http://h/","url":"http://h/"}"#, "json:/url"),
        ("Jan  1 00:00:00 h sshd[1]: session opened", "lines"),
        ("Jan  1 00:00:00 h gate: Rule:3051 Port:1 denied", "lines"),
        ("Jan  1 00:00:00 h php[1]: /index.php: login failed", "lines"),
    ] {
        assert_eq!(
            detect_in(EnvelopeChoice::Auto, "x", line.as_bytes(), true).name(),
            name,
            "{line}"
        );
    }
}

#[test]
fn envelope_of_a_named_format_is_taken_off_only_where_it_reads_better() {
    let is_wrapped = |format: &str, line: &str| {
        let format = Format::parse(format).unwrap();
        wrap(EnvelopeChoice::Auto, &format, line.as_bytes(), true).is_some()
    };
    let log = |text: &str| format!(r#"{{"log":{},"stream":"stdout"}}"#, serde_json::json!(text));
    let cri = |text: &str| format!("2024-01-01T00:00:00Z stdout F {text}");
    assert!(is_wrapped("combined", &log(COMBINED)));
    assert!(is_wrapped("combined", &cri(COMBINED)));
    assert!(is_wrapped("lines", &log("http://h/\n")));
    assert!(is_wrapped("text", &log("see http://h/?a&b\n")));
    assert!(is_wrapped("json:/url", &cri(r#"{"url":"http://h/"}"#)));
    assert!(is_wrapped("json:/u", &log(r#"{"u":"http://h/"}"#)));
    assert!(!is_wrapped("json:/log", &log("http://h/")), "the member of the outer object");
    assert!(!is_wrapped("combined", COMBINED));
    assert!(!is_wrapped("lines", &log("started\n")));
    // Fields are counted from the start of the line.
    assert!(!is_wrapped("ws:4", &cri("http://h/")));
    assert!(is_wrapped("ws:1", &cri("http://h/")));
    for format in ["warc", "cdx", "cdxj"] {
        assert!(!is_wrapped(format, &cri("http://h/")), "{format}");
    }
}

fn detect_in(choice: EnvelopeChoice, name: &str, head: &[u8], is_whole: bool) -> Format {
    FormatTable::shipped().detect_in(choice, name, head, is_whole).format
}
