//! `--tally`: figures worked out by hand, in the columns that route profilers print.

use super::Place;

/// Path, status, bytes and microseconds of requests. `-` is no number.
const REQUESTS: [(&str, &str, &str, &str); 12] = [
    ("/user/1", "200", "100", "30000"),
    ("/user/2", "200", "250", "10000"),
    ("/user/3", "304", "-", "20000"),
    ("/user/4", "404", "50", "1500000"),
    ("/user/1", "500", "0", "40000"),
    ("/", "200", "1000", "5"),
    ("/", "301", "20", "7"),
    ("/", "200", "1000", "6"),
    ("/", "101", "-", "9"),
    ("/late", "503", "7", "61000001"),
    ("/late", "-", "3", "2000000"),
    ("/none", "-", "-", "-"),
];

/// The log format of these requests.
const FORMAT: &str = "log:%h %l %u %t \"%r\" %>s %b %D";

fn log() -> String {
    let line = |(path, status, bytes, time): &(&str, &str, &str, &str)| {
        format!(
            "192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] \"GET {path} HTTP/1.1\" {status} {bytes} {time}\n"
        )
    };
    REQUESTS.iter().map(line).collect()
}

/// What alp prints of these requests, grouped by route, as COUNT, URI, 1XX to 5XX, SUM(BODY), P50, P99 and
/// MAX.
const LINES: [&str; 4] = [
    "5\t/user/{int}\t0\t2\t1\t1\t1\t400\t0.030000\t1.500000\t1.500000\n",
    "4\t/\t1\t2\t1\t0\t0\t2020\t0.000006\t0.000009\t0.000009\n",
    "2\t/late\t0\t0\t0\t0\t1\t10\t2.000000\t61.000001\t61.000001\n",
    "1\t/none\t0\t0\t0\t0\t0\t0\t\t\t\n",
];

#[test]
fn columns_are_those_of_a_route_profiler() {
    let place = Place::with([("log", log().as_bytes())]);
    let fixed = ["dedup", "log", "-f", FORMAT, "--key", "template"];
    let run = |more: &[&str]| place.run([&fixed[..], more].concat()).exits(0).out().to_owned();
    let all = ["--tally", "status,bytes,time"];
    assert_eq!(run(&all), LINES.concat());
    assert_eq!(run(&["--tally", "time", "--tally", "bytes,status"]), LINES.concat());
    assert_eq!(run(&[&all[..], &["--top", "2"]].concat()), LINES[..2].concat());
    let sorted = [LINES[1], LINES[2], LINES[3], LINES[0]].concat();
    assert_eq!(run(&[&all[..], &["--order", "sorted"]].concat()), sorted);
    assert_eq!(
        run(&["--tally", "bytes", "--min-count", "2"]),
        "5\t/user/{int}\t400\n4\t/\t2020\n2\t/late\t10\n"
    );
    let objects = [
        r#"{"count":2,"template":"/late","status_1xx":0,"status_2xx":0,"status_3xx":0,"status_4xx":0,"#,
        r#""status_5xx":1,"bytes":10,"time_p50":2.000000,"time_p99":61.000001,"time_max":61.000001}"#,
        "\n",
        r#"{"count":1,"template":"/none","status_1xx":0,"status_2xx":0,"status_3xx":0,"status_4xx":0,"#,
        r#""status_5xx":0,"bytes":0,"time_p50":null,"time_p99":null,"time_max":null}"#,
        "\n",
    ];
    let json = run(&[&all[..], &["--json"]].concat());
    assert!(json.ends_with(&objects.concat()), "{json}");
    assert_eq!(json.lines().count(), LINES.len());
}

#[test]
fn table_has_the_same_columns() {
    let place = Place::with([("log", log().as_bytes())]);
    let arguments = ["dedup", "log", "-f", FORMAT, "--key", "template", "-o", "log.parquet"];
    place.run([&arguments[..], &["--tally", "time,bytes,status"]].concat()).exits(0);
    let columns = "count,status_1xx,status_2xx,status_5xx,bytes,time_p50,time_max";
    let read = ["dedup", "log.parquet", "-f", "parquet:target=template", "-p", "string"];
    let run = place.run([&read[..], &["--carry", columns]].concat()).exits(0);
    assert_eq!(
        run.out(),
        "/user/{int}\t5\t0\t2\t1\t400\t0.03\t1.5\n/\t4\t1\t2\t0\t2020\t0.000006\t0.000009\n\
         /late\t2\t0\t0\t1\t10\t2\t61.000001\n/none\t1\t0\t0\t0\t0\t\t\n"
    );
}

#[test]
fn column_that_no_input_has_is_empty() {
    let combined =
        b"192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 5 \"-\" \"-\"\n";
    let place = Place::with([("log", &combined[..]), ("list", b"http://h/b\n")]);
    let all = ["--tally", "status,bytes,time"];
    let run = place.run([&["dedup", "log"], &all[..]].concat()).exits(0);
    assert_eq!(run.out(), "1\t/a\t0\t1\t0\t0\t0\t5\t\t\t\n");
    let run = place.run([&["dedup", "log", "--json"], &all[..]].concat()).exits(0);
    assert!(run.out().contains(r#""bytes":5,"time_p50":null,"#), "{}", run.out());
    // A list has none of them, and a log beside it has some.
    let run = place.run([&["dedup", "list", "log"], &all[..]].concat()).exits(0);
    assert_eq!(run.out(), "1\thttp://h/b\t0\t0\t0\t0\t0\t0\t\t\t\n1\t/a\t0\t1\t0\t0\t0\t5\t\t\t\n");
    let warning = "list: --tally added nothing up, since lines has no such field";
    assert!(run.err.contains(warning), "{}", run.err);
    assert!(!run.err.contains("log: --tally"), "{}", run.err);
    let run = place.run([&["dedup", "list"], &all[..]].concat()).exits(0);
    assert_eq!(run.out(), "1\thttp://h/b\t\t\t\t\t\t\t\t\t\n");
    // One fact is told once, however many inputs it is about.
    let run = place.run([&["dedup", "list", "log", "list"], &all[..]].concat()).exits(0);
    let warnings = run.err.matches("--tally added nothing up").count();
    assert!(warnings == 1 && run.err.contains("list and 1 more: --tally"), "{}", run.err);
}

#[test]
fn key_with_any_bytes_keeps_its_column() {
    let place = Place::with([("log", log().replace("/late", "/a\u{e9}\\x09b").as_bytes())]);
    let arguments = ["dedup", "log", "-f", FORMAT, "-p", "string", "--tally", "bytes"];
    let run = place.run([&arguments[..], &["--order", "count"]].concat()).exits(0);
    assert_eq!(run.out().lines().nth(1), Some("2\t/a\\xC3\\xA9\\x09b\t10"), "{}", run.out());
    assert!(run.out().lines().all(|line| line.matches('\t').count() == 2), "{}", run.out());
}

#[test]
fn bytes_beyond_64_bits_are_added_up_and_fit_no_table() {
    let line = |bytes: &str| {
        format!("192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 {bytes} 1\n")
    };
    let most = "18446744073709551615";
    let log = [line(most), line("2"), line(most)].concat();
    let place = Place::with([("log", log.as_bytes())]);
    let fixed = ["dedup", "log", "-f", FORMAT, "--key", "template", "--tally", "bytes"];
    for memory in ["1G", "1M"] {
        let run = place.run([&fixed[..], &["--memory", memory]].concat()).exits(0);
        assert_eq!(run.out(), "3\t/\t36893488147419103232\n");
    }
    let run = place.run([&fixed[..], &["-o", "log.parquet"]].concat()).exits(2);
    let why = "log.parquet: 36893488147419103232 is too great for a column of 64 bits";
    assert!(run.err.contains(why), "{}", run.err);
    assert!(!place.path("log.parquet").exists());
}

#[test]
fn a_file_of_tallies_names_its_columns() {
    let line = |status: u32| {
        format!("1.2.3.4 - - [10/Oct/2025:13:55:36 +0000] \"GET /a HTTP/1.1\" {status} 5\n")
    };
    let log = [200, 404, 500, 200].map(line).concat();
    let place = Place::with([("log", log.as_bytes())]);
    let tally = ["dedup", "-q", "--tally", "status,errors,bytes", "log"];
    let row = "4\t/a\t0\t2\t0\t1\t1\t0.5000\t20\n";
    // A pipe leads to a program.
    assert_eq!(place.run(tally).exits(0).out(), row);
    // The share is made of statuses, whether their columns are asked for or not.
    let alone = ["dedup", "-q", "--tally", "errors", "log"];
    assert_eq!(place.run(alone).exits(0).out(), "4\t/a\t0.5000\n");
    place.run([&tally[..], &["-o", "out"]].concat()).exits(0);
    let header =
        "count\turl\tstatus_1xx\tstatus_2xx\tstatus_3xx\tstatus_4xx\tstatus_5xx\terrors\tbytes\n";
    assert_eq!(place.text("out"), format!("{header}{row}"));
    let run = place.run([&tally[..], &["--json"]].concat()).exits(0);
    assert!(run.out().contains(r#""errors":0.5000,"#), "{}", run.out());
}
