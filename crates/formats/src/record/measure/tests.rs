//! The numbers of one record of each format, then odd values, then cut lines.

use super::super::Format;
use super::{Measured, Measurer};

/// The numbers of the last of these lines; those before it are headers.
fn measured(format: &str, lines: &[&str]) -> Measured {
    let mut measurer = Measurer::new(&Format::parse(format).unwrap());
    let (line, headers) = lines.split_last().unwrap();
    headers.iter().for_each(|header| measurer.pass(header.as_bytes()));
    measurer.measure(line.as_bytes())
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
