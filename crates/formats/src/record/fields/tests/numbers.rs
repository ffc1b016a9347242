//! The numbers of one record of each format, then odd values, then cut lines.

use super::super::{FieldReader, Measured, PartSet, RecordPart};
use crate::record::{Format, FormatTable};

const NUMBERS: [RecordPart; 4] =
    [RecordPart::Status, RecordPart::Bytes, RecordPart::Seconds, RecordPart::Time];

/// Reads the numbers of records.
fn reader(format: &Format) -> FieldReader {
    FieldReader::new(format, PartSet::of(&NUMBERS))
}

/// The numbers of the last of these lines; those before it are headers.
fn measured(format: &str, lines: &[&str]) -> Measured {
    let mut reader = reader(&Format::parse(format).unwrap());
    let (line, headers) = lines.split_last().unwrap();
    headers.iter().for_each(|header| reader.pass(header.as_bytes()));
    reader.read(line.as_bytes()).unwrap().numbers
}

/// The numbers, in the order of the fields.
fn numbers(
    status: impl Into<Option<u16>>,
    bytes: impl Into<Option<u64>>,
    duration: impl Into<Option<u64>>,
    time: impl Into<Option<i64>>,
) -> Measured {
    Measured {
        status: status.into(),
        bytes: bytes.into(),
        duration: duration.into(),
        time: time.into(),
    }
}

const TIME: i64 = 971_211_336;

const CLF: &str = r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a?b HTTP/1.1""#;

#[test]
fn status_and_bytes_of_access_logs_follow_the_request() {
    for format in ["clf", "combined", "vhost"] {
        let read = |rest: &str| measured(format, &[&format!("{CLF}{rest}")]);
        assert_eq!(read(" 200 5123"), numbers(200, 5123, None, TIME));
        assert_eq!(read(r#" 404 0 "http://r/" "UA 300 7""#), numbers(404, 0, None, TIME));
        for (rest, status, bytes) in [
            (" 200 -", Some(200), None),
            (" - 7", None, Some(7)),
            (" 000 7", None, Some(7)),
            (" 0.03 200 7", None, None),
            (" 20", None, None),
            (" 200", Some(200), None),
            (" 200 -5", Some(200), None),
            (" 200 5\"", Some(200), None),
            (" 200 99999999999999999999", Some(200), None),
            (" 200 \u{661}", Some(200), None),
            ("", None, None),
        ] {
            assert_eq!(read(rest), numbers(status, bytes, None, TIME), "{rest}");
        }
    }
}

#[test]
fn a_client_cannot_forge_the_numbers_of_an_access_log() {
    let user = r#"1.2.3.4 - [22/Dec/2016:00:00:00 +0000] \"GET /forged\" 500 1 "#;
    let line = format!("{user}{CLF} 200 5");
    assert_eq!(measured("combined", &[&line]), numbers(200, 5, None, TIME));
    let request = CLF.replace("/a?b", r#"/\" 500 1"#);
    let line = format!("{request} 200 5");
    assert_eq!(measured("combined", &[&line]), numbers(200, 5, None, TIME));
}

#[test]
fn access_log_without_a_whole_request_has_only_a_time() {
    for cut in [r#" "GET /a"#, r#" "GET /a\""#, " ", r#" ""#] {
        let line = format!("h - - [10/Oct/2000:13:55:36 -0700]{cut}");
        assert_eq!(measured("combined", &[&line]), numbers(None, None, None, TIME), "{cut}");
    }
    for line in ["", "x", "[", "]", "[10/Oct/2000:13:55:36", r#"h [t] "GET / HTTP/1.1" 200 5"#] {
        let time = measured("combined", &[line]).time;
        assert_eq!(time, None, "{line}");
    }
}

#[test]
fn numbers_of_nginx_logs_are_those_of_their_variables() {
    let format =
        r#"log:$remote_addr [$time_local] "$request" $status $body_bytes_sent $request_time"#;
    let read = |rest: &str| {
        let line = format!(r#"1.2.3.4 [10/Oct/2000:13:55:36 -0700] "GET /a b HTTP/1.1" {rest}"#);
        measured(format, &[&line])
    };
    assert_eq!(read("200 5 0.004"), numbers(200, 5, 4_000, TIME));
    assert_eq!(read("200 5 1.5 more"), numbers(200, 5, 1_500_000, TIME));
    for (rest, expected) in [
        ("000 - -", numbers(None, None, None, TIME)),
        ("200 -1 -0.5", numbers(200, None, None, TIME)),
        ("200", numbers(None, None, None, TIME)),
        ("200 5", numbers(200, None, None, TIME)),
    ] {
        assert_eq!(read(rest), expected, "{rest}");
    }
    let times = r#"log:$msec $time_iso8601 "$request" $bytes_sent"#;
    let line = r#"971211336.250 - "GET / HTTP/1.1" 7"#;
    assert_eq!(measured(times, &[line]), numbers(None, 7, None, TIME));
    let line = r#"- 2000-10-10T13:55:36-07:00 "GET / HTTP/1.1" 7"#;
    assert_eq!(measured(times, &[line]), numbers(None, 7, None, TIME));
    let line = r#"971211336250 x "GET / HTTP/1.1" 7"#;
    assert_eq!(measured(times, &[line]), numbers(None, 7, None, None));
}

#[test]
fn numbers_of_apache_logs_are_those_of_their_directives() {
    let date = "[10/Oct/2000:13:55:36 -0700]";
    for (directives, fields, expected) in [
        ("%t %>s %b %D", format!("{date} 200 5 1234"), numbers(200, 5, 1_234, TIME)),
        ("%t %s %B %T", format!("{date} 200 5 3"), numbers(200, 5, 3_000_000, TIME)),
        ("%t %>s %O %{ms}T", format!("{date} 304 0 12"), numbers(304, 0, 12_000, TIME)),
        ("%t %>s %O %{us}T", format!("{date} 304 - 12"), numbers(304, None, 12, TIME)),
        ("%t %{s}T", format!("{date} 2"), numbers(None, None, 2_000_000, TIME)),
        // Whole seconds are less exact.
        ("%T %D", "0 999".into(), numbers(None, None, 999, None)),
        ("%D %T", "999 0".into(), numbers(None, None, 999, None)),
        ("%{sec}t", "971211336".into(), numbers(None, None, None, TIME)),
        ("%{begin:msec}t", "971211336999".into(), numbers(None, None, None, TIME)),
        ("%{usec}t", "971211336000001".into(), numbers(None, None, None, TIME)),
        ("%{%s}t", "971211336".into(), numbers(None, None, None, TIME)),
        ("%{%S}t", "971211336".into(), numbers(None, None, None, None)),
        ("%{%d/%b/%Y:%T %z}t", date[1..27].into(), numbers(None, None, None, TIME)),
        ("%{%d/%b/%Y:%T}t", "10/Oct/2000:13:55:36".into(), numbers(None, None, None, None)),
        // Nothing separates these, so neither is known.
        ("%b%D", "5123".into(), numbers(None, None, None, None)),
        ("%{X}i%D", "5123".into(), numbers(None, None, None, None)),
    ] {
        let format = format!("log:{directives} \"%r\"");
        let line = format!("{fields} \"GET / HTTP/1.1\"");
        assert_eq!(measured(&format, &[&line]), expected, "{format}");
        // After the request, where reading the URL alone ends.
        let format = format!("log:\"%r\" {directives}");
        let line = format!("\"GET / HTTP/1.1\" {fields}");
        assert_eq!(measured(&format, &[&line]), expected, "{format}");
    }
}

#[test]
fn a_header_moves_the_columns_of_w3c_logs() {
    let iis = "#Software: Microsoft Internet Information Services 10.0";
    let first = "#Fields: date time cs-uri-stem sc-status sc-bytes time-taken";
    let second = "#Fields: time-taken sc-bytes TIME cs-uri-stem DATE sc-status";
    let read = |lines: &[&str]| measured("w3c", lines);
    let all = numbers(200, 5, 15_000, 971_186_136);
    let line = "2000-10-10 13:55:36 /a 200 5 15";
    assert_eq!(read(&[iis, first, line]), all);
    assert_eq!(read(&[first, second, "15 5 13:55:36 /a 2000-10-10 200"]), all);
    assert_eq!(read(&[line]), Measured::default());
    // The draft of W3C has seconds.
    let line = "2000-10-10 13:55:36.25 /a 200 5 0.015";
    assert_eq!(read(&[first, line]), all);
    for (line, expected) in [
        ("2000-10-10 13:55:36 /a - - -", numbers(None, None, None, 971_186_136)),
        ("2000-10-10 13:55:36 /a 200 -5 -1", numbers(200, None, None, 971_186_136)),
        ("2000-10-10 - /a 200 5 15", numbers(200, 5, 15_000, None)),
        ("2000-10-10 13:55:36 /a b 200 5 15", Measured::default()),
        ("2000-10-10 13:55:36 /a 200 5", Measured::default()),
        ("2000-10-10 13:55:36 /a \"200\" 5 15", all),
    ] {
        assert_eq!(read(&[first, line]), expected, "{line}");
    }
    let none = "#Fields: cs-uri-stem c-ip";
    assert_eq!(read(&[none, "/a 1.2.3.4"]), Measured::default());
}

#[test]
fn durations_of_cloudfront_are_seconds() {
    let header = "#Fields: date time x-edge-location sc-bytes cs-uri-stem sc-status time-taken";
    let read = |line: &str| measured("cloudfront", &["#Version: 1.0", header, line]);
    for (status, taken, expected) in [
        ("200", "0.001", numbers(200, 5, 1_000, 971_186_136)),
        ("000", "2", numbers(None, 5, 2_000_000, 971_186_136)),
    ] {
        let line = format!("2000-10-10\t13:55:36\tX\t5\t/a%20b\t{status}\t{taken}");
        assert_eq!(read(&line), expected);
    }
    assert_eq!(read("2000-10-10\t13:55:36\tX\t5\t/a\t20"), Measured::default());
}

#[test]
fn duration_of_a_load_balancer_is_the_sum_of_three() {
    let read = |prefix: &str, times: &str, rest: &str| {
        let start = "2000-10-10T13:55:36.945958Z lb 192.168.131.39:2817 10.0.0.1:80";
        measured("elb", &[&format!("{prefix}{start} {times} {rest} \"GET http://h/ HTTP/1.1\"")])
    };
    let time = 971_186_136;
    let times = "0.000073 0.001048 0.000057";
    for prefix in ["", "https "] {
        assert_eq!(read(prefix, times, "502 200 0 29"), numbers(502, 29, 1_178, time));
        assert_eq!(read(prefix, "-1 -1 -1", "502 - 0 29"), numbers(502, 29, None, time));
        assert_eq!(read(prefix, "0.1 0.2 -1", "- - 0 -"), numbers(None, None, None, time));
        assert_eq!(read(prefix, times, "502 200 0"), Measured::default());
    }
    assert_eq!(read("a b ", times, "502 200 0 29"), Measured::default());
    assert_eq!(measured("alb", &["x"]), Measured::default());
}

#[test]
fn last_timer_of_haproxy_is_the_duration() {
    let time = 1_233_922_454;
    for (middle, expected) in [
        ("10/0/30/69/109 200 2750", numbers(200, 2750, 109_000, time)),
        ("10/0/30/69/+109 200 +2750", numbers(200, None, None, time)),
        ("-1/-1/-1/-1/5 -1 0", numbers(None, 0, 5_000, time)),
        ("10/0/30/69/-1 503 -", numbers(503, None, None, time)),
        // Logs of TCP have other fields.
        ("0/0/5007 212 --", numbers(None, None, None, time)),
        ("1/2/3/4/5/6 200 7", numbers(None, None, None, time)),
        ("10/0/30/69/109 200", numbers(None, None, None, time)),
    ] {
        let line = format!(
            "Feb 6 12:14:14 l haproxy[1]: 1.2.3.4:5 [06/Feb/2009:12:14:14.655] in s/s {middle}"
        );
        let whole = format!("{line} - - ---- 1/1/1/1/0 0/0 {{h}} {{}} \"GET / HTTP/1.1\"");
        if middle.split(' ').count() == 3 {
            assert_eq!(measured("haproxy", &[&whole]), expected, "{middle}");
        } else {
            let cut = format!("{line} \"GET / HTTP/1.1\"");
            assert_eq!(measured("haproxy", &[&cut]), expected, "{middle}");
        }
        assert_eq!(measured("haproxy", &[&line]), numbers(None, None, None, time));
    }
    assert_eq!(measured("haproxy", &["x"]), Measured::default());
}

#[test]
fn json_presets_know_their_numbers() {
    let time = 971_211_336;
    for (format, line, expected) in [
        (
            "json:caddy",
            r#"{"ts":971211336.25,"request":{"status":1},"status":200,"size":5,"duration":0.004}"#,
            numbers(200, 5, 4_000, time),
        ),
        (
            "json:caddy",
            r#"{"ts":"2000-10-10T13:55:36-07:00","status":"x","size":-5,"duration":9.29e-05}"#,
            numbers(None, None, 92, time),
        ),
        (
            "json:cloudflare",
            r#"{"EdgeStartTimestamp":971211336000000000,"EdgeResponseStatus":404,"EdgeResponseBytes":5}"#,
            numbers(404, 5, None, time),
        ),
        (
            "json:nginx-json",
            r#"{"time_iso8601":"2000-10-10T13:55:36-07:00","status":"200","bytes_sent":7,"body_bytes_sent":"5","request_time":"0.004"}"#,
            numbers(200, 5, 4_000, time),
        ),
        (
            "json:nginx-json",
            r#"{"x":"\x41","msec":"971211336.250","time_iso8601":"","status":null,"bytes_sent":7}"#,
            numbers(None, 7, None, time),
        ),
        ("json:nginx-json", r#"{"status":200.5,"bytes_sent":[7],"msec":{}}"#, Measured::default()),
        ("json:nginx-json", r#"{"status":200,"bytes_sent":7"#, numbers(200, 7, None, None)),
        ("json:/url", r#"{"url":"http://h/","status":200}"#, Measured::default()),
        (
            "json:url=/url,status=/r/0/code",
            r#"{"url":"http://h/","r":[{"code":200}]}"#,
            numbers(200, None, None, None),
        ),
    ] {
        assert_eq!(measured(format, &[line]), expected, "{format} {line}");
    }
}

#[test]
fn indexes_of_archives_have_a_status_and_a_time() {
    let all = numbers(200, None, None, 1_390_766_784);
    let line = "k 20140126200624 http://h/ text/html 200 D - - 1 2 f";
    let read = |lines: &[&str]| measured("cdx", lines);
    assert_eq!(read(&[line]), all);
    assert_eq!(read(&["k 2014 http://h/ text/html - D - - 1 2 f"]), Measured::default());
    assert_eq!(read(&["k 20140126200624 http://h/ b text/html 200"]), Measured::default());
    assert_eq!(read(&["\tCDX\ts\ta\tb", "200\thttp://h/\t20140126200624"]), all);
    assert_eq!(read(&[" CDX a", "http://h/"]), Measured::default());
    let cdxj = |line: &str| measured("cdxj", &["!meta {}", line]);
    assert_eq!(cdxj(r#"k 20140126200624 {"url":"http://h/","status":"200","length":"9"}"#), all);
    assert_eq!(cdxj(r#"k 2014 {"status":"-"}"#), Measured::default());
    assert_eq!(cdxj("k"), Measured::default());
}

#[test]
fn records_of_archives_have_a_time() {
    let head = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2014-01-26T20:06:24Z\r\n\r\n";
    let at = numbers(None, None, None, 1_390_766_784);
    assert_eq!(measured("warc", &[head]), at);
    assert_eq!(measured("arc", &["http://h/ 1.2.3.4 20140126200624 text/html 9\n"]), at);
    for format in ["warc", "arc", "wat", "wat:links"] {
        assert_eq!(measured(format, &["x"]), Measured::default());
    }
}

#[test]
fn tables_have_a_status_if_one_is_named() {
    let status = numbers(404, None, None, None);
    assert_eq!(measured("csv:url,status=code", &["code,url", "\"404\",http://h/"]), status);
    assert_eq!(measured("tsv:url,status=code", &["code\turl", "404.0\thttp://h/"]), status);
    assert_eq!(measured("tsv:2,status=1", &["404\thttp://h/"]), status);
    assert_eq!(measured("csv:url", &["code,url", "404,http://h/"]), Measured::default());
    assert_eq!(measured("csv:url,status=code", &["url", "http://h/"]), Measured::default());
    assert_eq!(measured("tsv:2,status=3", &["404\thttp://h/"]), Measured::default());
}

#[test]
fn formats_say_which_numbers_they_have() {
    let names = |format: &str| {
        let parts = reader(&Format::parse(format).unwrap()).parts();
        let named = "sbdt".chars().zip(NUMBERS).filter(|(_, part)| parts.has(*part));
        named.map(|(name, _)| name).collect::<String>()
    };
    for (format, fields) in [
        ("lines", ""),
        ("target", ""),
        ("text", ""),
        ("ws:1", ""),
        ("combined", "sbt"),
        ("w3c", "sbdt"),
        ("elb", "sbdt"),
        ("haproxy", "sbdt"),
        ("log:%r %b", "b"),
        ("log:\"%r\" %>s %D", "sd"),
        ("log:$request", ""),
        ("json:/url", ""),
        ("json:caddy", "sbdt"),
        ("json:cloudflare", "sbt"),
        ("cdxj", "st"),
        ("cdx", "st"),
        ("warc", "t"),
        ("wat", ""),
        ("csv:url", ""),
        ("csv:url,status=s", "s"),
    ] {
        assert_eq!(names(format), fields, "{format}");
    }
}

#[test]
fn cut_lines_have_no_other_status_and_mangled_ones_do_no_harm() {
    let samples = [
        ("combined", format!("{CLF} 200 5123 \"-\" \"UA\"")),
        (
            "elb",
            "2000-10-10T13:55:36.9Z lb c:1 b:2 0.1 0.2 0.3 200 200 0 29 \"GET http://h/ H\"".into(),
        ),
        (
            "haproxy",
            "c [06/Feb/2009:12:14:14.655] in s/s 1/2/3/4/5 200 7 - - \"GET / HTTP/1.1\"".into(),
        ),
        (
            "log:\"%r\" %>s %b %D %t",
            "\"GET / HTTP/1.1\" 200 5 6 [10/Oct/2000:13:55:36 -0700]".into(),
        ),
        ("json:caddy", r#"{"ts":971211336.25,"status":200,"size":5,"duration":0.004}"#.into()),
        (
            "json:nginx-json",
            r#"{"msec":"971211336.25","status":"200","request_time":"\x41"}"#.into(),
        ),
        ("cdx", "k 20140126200624 http://h/ text/html 200 D - - 1 2 f".into()),
        ("cdxj", r#"k 20140126200624 {"url":"http://h/","status":"200"}"#.into()),
        ("warc", "WARC/1.0\r\nWARC-Date: 2014-01-26T20:06:24Z\r\n\r\n".into()),
        ("arc", "http://h/ 1.2.3.4 20140126200624 text/html 9\n".into()),
        ("tsv:1,status=2", "http://h/\t200".into()),
        ("csv:1,status=2", "http://h/,\"200\"".into()),
    ];
    for (format, line) in &samples {
        let format = Format::parse(format).unwrap();
        let mut of_format = reader(&format);
        let mut numbers = |line: &[u8]| of_format.read(line).unwrap().numbers;
        let of_line = numbers(line.as_bytes());
        for at in 0..=line.len() {
            let cut = numbers(&line.as_bytes()[..at]);
            assert!(cut.status.is_none() || cut.status == of_line.status, "{format} {at}");
            for byte in *b"\0 \"\\[]{}-/:.,\t9\xFF" {
                let mut mangled = line.clone().into_bytes();
                if let Some(place) = mangled.get_mut(at) {
                    *place = byte;
                }
                let mut reader = reader(&format);
                reader.read(&mangled).unwrap();
                reader.read(&mangled[at..]).unwrap();
                reader.pass(&mangled);
                reader.read(&mangled).unwrap();
            }
        }
    }
}

#[test]
fn a_date_of_its_own_in_json_belongs_to_the_time_of_day() {
    let entry = r#"
        [[format]]
        name = "shop"
        description = "d"
        json = { url = "/u", date = "/d", time = "/t" }
    "#;
    let table = FormatTable::default().with_file(entry).unwrap();
    let mut reader = reader(table.find("shop").unwrap().format());
    assert!(reader.parts().has(RecordPart::Time));
    for (line, time) in [
        (r#"{"u":"http://h/","d":"2000-10-10","t":"20:55:36"}"#, Some(TIME)),
        (r#"{"u":"http://h/","t":"2000-10-10T20:55:36Z"}"#, Some(TIME)),
        (r#"{"u":"http://h/","d":"2000-10-10"}"#, None),
        (r#"{"u":"http://h/","d":7,"t":"20:55:36"}"#, None),
    ] {
        assert_eq!(reader.read(line.as_bytes()).unwrap().numbers.time, time, "{line}");
    }
}
