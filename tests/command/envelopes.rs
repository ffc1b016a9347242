//! `--envelope`: logs whose lines stand in what collectors write around them.

use super::Place;
use super::packed::gzip;
use serde_json::json;

fn combined(target: &str, status: u16) -> String {
    format!(
        r#"1.2.3.4 - - [01/Jan/2024:00:00:00 +0000] "GET {target} HTTP/1.1" {status} 5 "-" "UA""#
    )
}

fn docker(line: &str) -> String {
    let line = json!(format!("{line}\n"));
    format!(r#"{{"log":{line},"stream":"stdout","time":"2024-01-01T00:00:00Z"}}"#) + "\n"
}

fn cri(stream: &str, tag: &str, line: &str) -> String {
    format!("2024-01-01T00:00:00.000000001+01:00 {stream} {tag} {line}\n")
}

fn journald(line: &str) -> String {
    json!({"MESSAGE": line, "__REALTIME_TIMESTAMP": "1"}).to_string() + "\n"
}

fn syslog(line: &str) -> String {
    format!("<190>Jan  1 00:00:00 web1 nginx[7]: {line}\n")
}

fn modern_syslog(line: &str) -> String {
    format!("<190>1 2024-01-01T00:00:00Z web1 nginx - - [a@1 k=\"\\\"]\"] {line}\n")
}

#[test]
fn envelope_and_format_are_found_and_named() {
    for (wrap, name) in [
        (docker as fn(&str) -> String, "docker"),
        (|line: &str| cri("stdout", "F", line), "cri"),
        (journald, "journald"),
        (syslog, "syslog"),
        (modern_syslog, "syslog"),
    ] {
        let lines = [combined(r#"/x?q=\"a\""#, 200), combined("/y", 404), combined("/x", 200)];
        let log: String = lines.iter().map(|line| wrap(line)).collect();
        let place = Place::with([("a.log", log.as_bytes())]);
        let told = format!("a.log: read as combined in {name}\n");
        let run = place.run(["dedup", "a.log"]).exits(0);
        assert_eq!(run.out(), "/x?q=%22a%22\n/y\n/x\n");
        assert!(run.err.contains(&told), "{}", run.err);
        let named = place.run(["dedup", "-f", "combined", "a.log"]).exits(0);
        assert_eq!(named.out(), run.out());
        assert!(named.err.contains(&told), "{}", named.err);
        let run = place.run(["dedup", "--status", "200", "a.log"]).exits(0);
        assert_eq!(run.out(), "/x?q=%22a%22\n/x\n");
        assert_eq!((run.summary("records"), run.summary("filtered")), (3, 1));
        let both = ["dedup", "-f", "combined", "--envelope", name, "a.log"];
        let both = place.run(both).exits(0);
        assert_eq!(both.summary("unique"), 3);
        assert!(!both.err.contains("read as"), "nothing was guessed: {}", both.err);
        let piped = place.run_on(["dedup", "-f", "combined"], log.clone()).exits(0);
        assert_eq!(piped.summary("unique"), 3);
    }
    let place = Place::with([("a.log", journald(&combined("/x", 200)).as_bytes())]);
    place.run(["dedup", "--envelope", "syslog", "a.log"]).exits(0);
}

#[test]
fn envelope_is_left_on_where_that_is_asked_for() {
    let log = docker(&combined("/x", 200));
    let place = Place::with([("a.log", log.as_bytes())]);
    let run = place.run(["dedup", "--envelope", "none", "a.log"]).exits(3);
    assert_eq!(run.summary("rejected"), 1);
    let of_member = docker("http://h/a");
    let place = Place::with([("a.log", of_member.as_bytes())]);
    let run = place.run(["dedup", "-f", "json:/log", "a.log"]).exits(0);
    assert_eq!(run.out(), "http://h/a\n");
    assert!(!run.err.contains("in docker"), "{}", run.err);
}

#[test]
fn rejected_records_have_their_places_in_the_file() {
    let bare = combined("/bare", 200) + "\n";
    let lines = [
        docker(&combined("/a", 200)),
        bare.clone(),
        docker(""),
        docker(&combined("*", 200)),
        docker(&combined("/b", 200)),
        docker("started"),
    ];
    let log = lines.concat();
    let offset = |n: usize| lines[..n].concat().len();
    let place = Place::with([("a.log", log.as_bytes()), ("a.log.gz", &gzip(log.as_bytes()))]);
    for input in ["a.log", "a.log.gz", "-"] {
        let arguments = ["dedup", "-f", "clf", "--envelope", "docker", "--rejects", "r", input];
        let run = place.run_on(arguments, log.clone()).exits(0);
        assert_eq!(run.out(), "/a\n/b\n");
        let counts = ["records", "unique", "rejected", "blank"].map(|name| run.summary(name));
        assert_eq!(counts, [6, 2, 3, 1]);
        let rejects = place.json_lines("r");
        let expected = [
            (1, "log-syntax", bare.trim_end().to_owned()),
            (3, "asterisk-form", lines[3].trim_end().to_owned()),
            (5, "log-syntax", lines[5].trim_end().to_owned()),
        ];
        for (reject, (n, code, raw)) in rejects.iter().zip(&expected) {
            assert_eq!(reject["record"], n + 1, "{reject}");
            assert_eq!(reject["offset"], offset(*n), "{reject}");
            assert_eq!(reject["codes"], json!([code]), "{reject}");
            assert_eq!(reject["raw"], *raw, "{reject}");
        }
        assert_eq!(rejects.len(), expected.len());
        // Most lines have it, so the others are read as they are.
        let run = place.run_on(["dedup", "-f", "clf", input], log.clone()).exits(0);
        assert_eq!(run.out(), "/a\n/bare\n/b\n");
    }
    let first = ["dedup", "--fields", "canonical,first", "--envelope", "docker", "a.log"];
    let run = place.run([&first[..], &["-f", "clf"]].concat()).exits(0);
    assert_eq!(run.out(), format!("/a\ta.log:1:0\n/b\ta.log:5:{}\n", offset(4)));
    let normalized = place.run(["normalize", "-f", "clf", "a.log"]).exits(0);
    assert_eq!(normalized.out(), "/a\n/bare\n\n\n/b\n\n");
}

#[test]
fn bytes_in_numbers_are_hidden_where_secrets_are() {
    let bytes: Vec<u8> = b"no log \xFF /a?token=secret".to_vec();
    let line = json!({"MESSAGE": bytes, "__REALTIME_TIMESTAMP": "1"}).to_string();
    let log = journald(&combined("/a", 200)) + &line + "\n";
    let place = Place::with([("a.log", log.as_bytes())]);
    for (redact, is_shown) in [(&[][..], true), (&["--redact"][..], false)] {
        let arguments = ["dedup", "-f", "clf", "--envelope", "journald", "--rejects", "r", "a.log"];
        place.run([&arguments[..], redact].concat()).exits(0);
        assert_eq!(place.text("r").contains("115,101,99"), is_shown, "{}", place.text("r"));
    }
}

#[test]
fn carried_columns_are_those_of_the_inner_line() {
    let object = |n: u32| format!(r#"{{"url":"http://h/{n}","n":{n}}}"#);
    let (start, end) = (&object(2)[..9], &object(2)[9..]);
    let parts = [
        cri("stdout", "F", &object(1)),
        cri("stdout", "P", start),
        cri("stderr", "F", &object(3)),
        cri("stdout", "F", end),
    ];
    let place = Place::with([("cri.log", parts.concat().as_bytes())]);
    let run = place.run(["dedup", "--carry", "n", "cri.log"]).exits(0);
    // The object that is cut is whole in neither part.
    assert_eq!(run.out(), "http://h/1\t1\nhttp://h/3\t3\n");
    assert_eq!(run.summary("rejected"), 2);
    let rows = ["n,url", "1,http://h/1", "2,\"http://h/2\"", "3,\"http://h/", "4,http://h/4"];
    let table: String = rows.iter().map(|row| docker(row)).collect();
    place.write("t.log", table);
    let carry = ["dedup", "-f", "csv:url", "--envelope", "docker", "--carry", "n", "t.log"];
    let run = place.run([&carry[..], &["--rejects", "r"]].concat()).exits(0);
    assert_eq!(run.out(), "http://h/1\t1\nhttp://h/2\t2\nhttp://h/4\t4\n");
    assert_eq!(place.json_lines("r")[0]["codes"], json!(["truncated"]));
    let missing = [&carry[..6], &["missing", "t.log"]].concat();
    let missing = place.run(missing).exits(2);
    assert!(missing.err.contains("it has no column `missing`"), "{}", missing.err);
}

#[test]
fn last_part_of_a_line_may_be_missing() {
    let log = cri("stdout", "F", "http://h/a") + &cri("stdout", "P", "http://h/b");
    let place = Place::with([("a.log", log.as_bytes())]);
    let run = place.run(["dedup", "--envelope", "cri", "--rejects", "r", "a.log"]).exits(0);
    assert_eq!(run.out(), "http://h/a\n");
    let rejects = place.json_lines("r");
    assert_eq!((&rejects[0]["codes"], rejects.len()), (&json!(["truncated"]), 1));
}

#[test]
fn long_log_gives_the_same_set_however_it_is_read() {
    let lines: Vec<String> =
        (0..20_000).map(|n| combined(&format!("/{}", n % 7_000), 200)).collect();
    let place = Place::with([("bare.log", (lines.join("\n") + "\n").as_bytes())]);
    let expected = place.run(["dedup", "bare.log"]).exits(0);
    for wrap in [docker as fn(&str) -> String, syslog, |line: &str| cri("stdout", "F", line)] {
        let log: String = lines.iter().map(|line| wrap(line)).collect();
        place.write("a.log", &log);
        place.write("a.log.gz", gzip(log.as_bytes()));
        for (threads, input) in [("1", "a.log"), ("3", "a.log"), ("3", "a.log.gz"), ("3", "-")] {
            let run = place.run_on(["dedup", "-j", threads, input], log.clone()).exits(0);
            assert!(run.out() == expected.out(), "{input} with {threads} threads");
            assert_eq!((run.summary("records"), run.summary("rejected")), (20_000, 0), "{input}");
        }
    }
}
