//! The same URLs in every format give one set and one accounting, for any chunks, threads and kind
//! of input. Hostile bytes in every format give the same records for all of these.

use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray};
use uniqurl_engine::output::Tally;
use uniqurl_engine::{CHUNK_SIZE, Job, JobPlan, Report, RunError};
use uniqurl_formats::input::{InputError, Trouble};

use crate::runs::{
    FIRST, Outcome, Takes, cases, checked, file, limit, numbers, plan_of, ran_for, stream,
};
use crate::written::{self, Packed};

/// The options of a run.
#[derive(Debug, Clone, Copy)]
struct How {
    chunk_size: usize,
    threads: usize,
    as_stream: bool,
}

const HOWS: &[How] = &[
    How { chunk_size: CHUNK_SIZE, threads: 1, as_stream: false },
    How { chunk_size: CHUNK_SIZE, threads: 2, as_stream: true },
    How { chunk_size: 1, threads: 2, as_stream: false },
    How { chunk_size: 1, threads: 1, as_stream: true },
    How { chunk_size: 37, threads: 3, as_stream: false },
    How { chunk_size: 400, threads: 2, as_stream: true },
];

fn plan(format: &str, job: Job, max_url: usize) -> JobPlan {
    let mut plan = plan_of(format, FIRST);
    plan.job = job;
    plan.limits.max_url = max_url;
    plan
}

fn read(plan: &JobPlan, bytes: &[u8], how: How) -> Outcome {
    let outcome = attempt(plan, bytes, how).unwrap();
    assert_eq!(outcome.report.bytes, bytes.len() as u64);
    outcome
}

fn attempt(plan: &JobPlan, bytes: &[u8], how: How) -> Outcome {
    let mut plan = plan.clone();
    limit(&mut plan, how.threads, how.chunk_size, None);
    let file = file(bytes);
    // A table cannot come through a pipe.
    let inputs =
        if how.as_stream { stream(file.path()) } else { checked(&[file.path().to_owned()]) };
    ran_for(&plan, &inputs, Takes::Rejects)
}

/// URLs that every format can hold: without white space. Some are blank.
fn urls() -> Vec<Vec<u8>> {
    (0..300u32)
        .map(|i| {
            let n = i.wrapping_mul(2_654_435_761) >> 27;
            match i % 10 {
                0 => format!("HTTP://Example.COM:80/%7Ea/../{n}#x").into_bytes(),
                1 => format!("http://example.com/{n}").into_bytes(),
                2 => Vec::new(),
                3 => format!("no-url-{n}").into_bytes(),
                4 => format!("https://example.org/{n}?q=\"a,b\"\\u0041\\x41&r=,").into_bytes(),
                5 => format!("http://h:99999/{n}").into_bytes(),
                6 => [b"http://h/\xff\xc3\xa9/".as_slice(), n.to_string().as_bytes()].concat(),
                7 => format!("\"http://h/{n}").into_bytes(),
                _ => format!("https://www.example.net/a/b/{n}.html").into_bytes(),
            }
        })
        .collect()
}

/// Writes the byte `with` before each byte of `bytes` in `url`.
fn escaped(url: &[u8], bytes: &[u8], with: u8) -> Vec<u8> {
    url.iter()
        .flat_map(|byte| if bytes.contains(byte) { vec![with, *byte] } else { vec![*byte] })
        .collect()
}

/// The URLs as a table; a blank URL is null or empty.
fn table(format: &str, urls: &[Vec<u8>]) -> Vec<u8> {
    let cell = |(i, url): (usize, &Vec<u8>)| (!url.is_empty() || i % 4 == 0).then(|| url.clone());
    let column: BinaryArray = urls.iter().enumerate().map(cell).collect();
    let batch = written::batch([("url", Arc::new(column) as ArrayRef)]);
    if format.starts_with("parquet") {
        let properties = parquet::file::properties::WriterProperties::builder();
        return written::parquet(&batch, properties.set_max_row_group_row_count(Some(70)).build());
    }
    let [file, _] = written::arrow(&batch, 99, Packed::None);
    file
}

/// The header of an archive record up to its target.
const HEAD: &str = "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: ";

/// The URLs as a file of the format.
fn write(format: &str, urls: &[Vec<u8>]) -> Vec<u8> {
    if ["parquet:url", "arrow:url"].contains(&format) {
        return table(format, urls);
    }
    let json = |url: &[u8]| escaped(url, b"\"\\", b'\\');
    let mut file = match format {
        "csv:url" => b"n,\"url\",note\r\n".to_vec(),
        "tsv:url" | "tsv:URL" => b"n\turl\tm\n".to_vec(),
        "cdx" => b" CDX N b a m s k r M S V g\n".to_vec(),
        _ => Vec::new(),
    };
    for (i, url) in urls.iter().enumerate() {
        let (before, url, after): (&str, Vec<u8>, &str) = match format {
            _ if url.is_empty() && format != "warc" => ("", Vec::new(), ""),
            "lines" => ("", url.clone(), ""),
            "csv:url" if i % 3 == 0 && !url.contains(&b'"') && !url.contains(&b',') => {
                ("1,", url.clone(), ",\r")
            }
            "csv:url" => ("1,\"", escaped(url, b"\"", b'"'), "\",\"a\n\n\"\"note\"\",\n\"\r"),
            "csv:2" => ("\"x\ny\",\"", escaped(url, b"\"", b'"'), "\""),
            "tsv:url" | "tsv:URL" => ("1\t", url.clone(), "\t2"),
            "tsv:1" => ("", url.clone(), "\t2"),
            "json:/a/url" => ("{\"b\":[1,{}],\"a\":{\"url\":\"", json(url), "\"}}"),
            "json:/url" => ("{\"url\": \"", json(url), "\"}"),
            "cdx" => ("k 20140126200624 ", url.clone(), " text/html 200 D - - 1 2 f"),
            "cdxj" => ("k 20140126200624 {\"url\": \"", json(url), "\"}"),
            "warc" => (HEAD, url.clone(), "\r\nContent-Length: 3\r\n\r\na\nb\r\n\r"),
            other => panic!("{other}"),
        };
        file.extend([before.as_bytes(), &url, after.as_bytes(), b"\n"].concat());
    }
    file
}

#[rustfmt::skip]
const FORMATS: [&str; 13] = [
    "lines", "csv:url", "csv:2", "tsv:url", "tsv:URL", "tsv:1", "json:/url", "json:/a/url", "cdx",
    "cdxj", "warc", "parquet:url", "arrow:url",
];

#[test]
fn every_format_gives_the_same_set_and_accounting() {
    let urls = urls();
    let dedup = |format| plan(format, Job::Dedup(FIRST), 65536);
    let expected = read(&dedup("lines"), &write("lines", &urls), HOWS[0]);
    assert!(expected.report.tally.unique > 50 && expected.report.tally.rejected > 50);
    let rejects = |outcome: &Outcome| -> Vec<_> {
        let lines = outcome.rejects.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let members = ["record", "codes", "at", "raw", "raw_base64"];
        lines
            .map(|line| serde_json::from_slice::<serde_json::Value>(line).unwrap())
            .map(|object| members.map(|name| object[name].to_string()))
            .collect()
    };
    for format in FORMATS {
        let file = write(format, &urls);
        let is_table = ["parquet:url", "arrow:url"].contains(&format);
        for how in HOWS.iter().filter(|how| !(is_table && how.as_stream)) {
            let found = read(&dedup(format), &file, *how);
            assert!(found.out == expected.out, "{format} {how:?}");
            let tally = record_tally(&found.report);
            assert_eq!(tally, record_tally(&expected.report), "{format} {how:?}");
            assert_eq!(rejects(&found), rejects(&expected), "{format} {how:?}");
        }
        if !["csv:2", "tsv:1", "json:/a/url", "tsv:URL"].contains(&format) {
            let found = read(&dedup("auto"), &file, HOWS[0]);
            assert!(found.out == expected.out, "{format} by itself");
            assert_eq!(*found.report.guessed[0].1, *format);
        }
    }
}

/// The accounting without headers, which are not records.
fn record_tally(report: &Report) -> Tally {
    let mut tally = report.tally.clone();
    tally.skipped = 0;
    tally
}

/// The parts of hostile inputs: every byte sequence with a meaning in some format.
#[rustfmt::skip]
const WORDS: &[&[u8]] = &[
    b"\n", b"\n", b"\n", b"\r\n", b"\"", b"\"\"", b"\",\"", b",", b"\t", b" ", b"http://h/a",
    b"/p?q", b"<http://b/", b">", b"url", b"url,x\n", b"\n#Fields: cs-uri-stem cs-host\n",
    b"\n#Fields: date cs-host s-port cs-uri-query cs-uri-stem\n",
    b"#Software: Microsoft Internet Information Services 10.0\n", b"\n#", b"\n CDX N a\n",
    b" CDX a\n", b"CDX", b"k 20140126200624 http://h/a - 200 - - - - - f\n",
    b"{\"url\":\"http://h/a\"}", b"k 2014 {\"url\":\"http://h/a\"}\n", b"{\"url\":\"", b"\"}\n",
    b"\\", b"\\x41", b"\xff", b"\xEF\xBB\xBF", b"%41%", b"-",
    b"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

/// Formats whose records are lines, or rows of lines.
#[rustfmt::skip]
const OF_LINES: [&str; 10] = [
    "csv:url", "csv:1", "tsv:url", "json:/url", "cdx", "cdxj", "w3c", "cloudfront", "elb", "text",
];

/// The message about a header that lacks the column.
fn missing(attempt: &Outcome) -> Option<&str> {
    match &attempt.result {
        Err(RunError::Input(InputError { trouble: Trouble::Columns(why), .. })) => Some(why),
        _ => None,
    }
}

#[test]
fn hostile_bytes_give_the_same_records_in_every_read_mode() {
    for case in 0..(cases() as u64 / 100).max(8) {
        let mut next = numbers(case.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut file = Vec::new();
        for _ in 0..case % 60 {
            file.extend_from_slice(WORDS[next(WORDS.len() as u64) as usize]);
        }
        for format in OF_LINES {
            let plan = plan(format, Job::Normalize { json: true }, 40);
            // A table without the column ends at its header, so most inputs have the column.
            let named = matches!(format, "csv:url" | "tsv:url");
            let header: &[u8] = if named && case % 8 != 0 { b"url\n" } else { b"" };
            let file = [header, &file[..]].concat();
            let outcomes: Vec<_> = HOWS.iter().map(|how| attempt(&plan, &file, *how)).collect();
            if outcomes.iter().any(|found| found.result.is_err()) {
                let told: Vec<_> = outcomes.iter().filter_map(missing).collect();
                assert_eq!(told.len(), HOWS.len(), "{format} {case}: {}", file.escape_ascii());
                assert!(named && told.windows(2).all(|two| two[0] == two[1]), "{told:?}");
                continue;
            }
            for (found, how) in outcomes.iter().zip(HOWS) {
                let shown = file.escape_ascii();
                assert_eq!(found.report.bytes, file.len() as u64);
                assert!(found.out == outcomes[0].out, "{format} {how:?} {case}: {shown}");
                assert_eq!(
                    found.report.tally, outcomes[0].report.tally,
                    "{format} {how:?}: {shown}"
                );
                // Only the name of the file differs.
                let places = |outcome: &Outcome| -> Vec<String> {
                    let text = String::from_utf8(outcome.rejects.clone()).unwrap();
                    text.lines().map(|l| l[l.find("\"offset\"").unwrap()..].to_owned()).collect()
                };
                assert_eq!(places(found), places(&outcomes[0]), "{format} {how:?}: {shown}");
            }
        }
    }
}

#[test]
fn records_before_damage_are_the_same_in_every_read_mode() {
    // A block of bzip2 of 1.4 million line feeds that ends in the middle of a run.
    const DAMAGED: &[u8] =
        b"BZh91AY\x26SY\x12N\x02B\x00\x00\x06Y\x80\x00\x10\x00\x00\x80\x100@D\x00\x20\
        \x001\x0C\x08\x0A\xA96\x00\x00\x00\xA6\xD2iI\x22WARC\x2F\xDES\x1Ak\xE2\xEEH\
        \xA7\x0A\x12\x02I\xC0H@";
    let mut plan = plan("auto", Job::Dedup(FIRST), 65536);
    plan.input.keep_going = true;
    let tallies = HOWS.iter().map(|how| {
        let report = attempt(&plan, DAMAGED, *how).unwrap().report;
        assert_eq!(report.damaged.len(), 1);
        (report.tally, report.damaged[0].1.at)
    });
    let tallies: Vec<_> = tallies.collect();
    assert!(tallies[0].0.records > 1_000_000, "{tallies:?}");
    assert!(tallies.iter().all(|tally| *tally == tallies[0]), "{tallies:?}");
}
