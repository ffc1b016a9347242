//! Carried columns stay with their records: each format against a loop over the rows written into
//! it, for any threads, chunks and memory.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use parquet::arrow::ArrowWriter;

use uniqurl::{Normalizer, Profile};
use uniqurl_engine::output::{Field, LineForm};
use uniqurl_engine::{
    CHUNK_SIZE, Dedup, InputFormat, Job, JobPlan, Keep, Memory, Report, RunError, SetOrder, Sinks,
    Watch, run,
};
use uniqurl_formats::input;
use uniqurl_formats::record;

/// A record: its URL in one of several spellings, and its other fields.
struct Row {
    page: u64,
    url: String,
    stamp: Option<String>,
    size: Option<i64>,
    note: String,
}

fn rows(count: u64, notes: &[&str]) -> Vec<Row> {
    let mut state = 1u64;
    let mut next = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let row = |_| {
        let page = next(count / 6 + 1);
        let url = match next(3) {
            0 => format!("http://h/{page}"),
            1 => format!("HTTP://H:80/{page}"),
            _ => format!("http://h/a/../{page}"),
        };
        Row {
            page,
            url,
            // Few distinct values, so that some are equal.
            stamp: (next(5) > 0).then(|| format!("2024{:010}", next(9) * 1_000_000)),
            size: (next(5) > 0).then(|| 1 << next(12)),
            note: format!("{}{}", notes[next(notes.len() as u64) as usize], next(1000)),
        }
    };
    (0..count).map(row).collect()
}

/// A way to write the rows to a file, and the options to read it.
struct Written {
    name: &'static str,
    format: &'static str,
    /// The names of the columns: stamp, size and note.
    columns: [&'static str; 3],
    /// The text written for a missing value.
    missing: &'static str,
    notes: &'static [&'static str],
    write: fn(&[Row], &Path),
}

const PLAIN: &[&str] = &["note", "a%20b", "x\\y", "\u{e9}"];

const FORMATS: &[Written] = &[
    Written {
        name: "cdx",
        format: "cdx",
        columns: ["timestamp", "S", "filename"],
        missing: "-",
        notes: PLAIN,
        write: |rows, path| {
            // The legend changes within the file.
            let mut text = String::from(" CDX a b S g\n");
            for (i, row) in rows.iter().enumerate() {
                let (stamp, size) = (stamp(row, "-"), size(row, "-"));
                if i == rows.len() / 2 {
                    text.push_str("\tCDX\tg\tS\tb\ta\n");
                }
                let columns = [&row.url, &stamp, &size, &row.note].map(String::as_str);
                text += &match i < rows.len() / 2 {
                    true => columns.join(" "),
                    false => columns.into_iter().rev().collect::<Vec<_>>().join("\t"),
                };
                text.push('\n');
            }
            write(path, text);
        },
    },
    Written {
        name: "plain.cdx",
        format: "cdx",
        columns: ["b", "length", "g"],
        missing: "-",
        notes: PLAIN,
        write: |rows, path| {
            let line = |row: &Row| {
                let (stamp, size) = (stamp(row, "-"), size(row, "-"));
                format!("k {stamp} {} text/html 200 D - - {size} 9 {}\n", row.url, row.note)
            };
            write(path, rows.iter().map(line).collect::<String>());
        },
    },
    Written {
        name: "cdxj",
        format: "cdxj",
        columns: ["timestamp", "length", "/in/0/n"],
        missing: "",
        notes: &["note", "a\\\\b", "\\u00e9\\\"", "\\t"],
        write: |rows, path| {
            let line = |row: &Row| {
                let size =
                    row.size.map_or(String::new(), |size| format!(",\"length\": \"{size}\""));
                let stamp = stamp(row, "0");
                let url = &row.url;
                let note = format!("{{\"n\":\"{}\",\"m\":[1,{{}}]}}", row.note);
                format!("k {stamp} {{\"url\": \"{url}\"{size}, \"in\": [{note}, 2]}}\n")
            };
            write(path, rows.iter().map(line).collect::<String>());
        },
    },
    Written {
        name: "json",
        format: "json:/request/uri",
        columns: ["stamp", "/size", "no~te"],
        missing: "",
        notes: &["note", "a\\\\b", "\\u00e9\\/", "\\n", "{[,:"],
        write: |rows, path| {
            let line = |row: &Row| {
                let stamp =
                    row.stamp.as_ref().map_or("null".into(), |stamp| format!("\"{stamp}\""));
                let size = size(row, "null");
                let (url, note) = (&row.url, &row.note);
                format!(
                    "{{\"stamp\":7,\"request\":{{\"uri\":\"{url}\",\"stamp\":1}},\"stamp\":{stamp},\
                     \"size\" : {size} ,\"no~te\":\"{note}\"}}\n"
                )
            };
            write(path, rows.iter().map(line).collect::<String>());
        },
    },
    Written {
        name: "csv",
        format: "csv:url",
        columns: ["Stamp", "size", "4"],
        missing: "",
        notes: &["note", "a,b", "say \"\"so\"\"", "two\nlines", "\u{e9}\t"],
        write: |rows, path| {
            let line = |row: &Row| {
                format!("{},{},{},\"{}\"\n", row.url, stamp(row, ""), size(row, ""), row.note)
            };
            let header = "url,stamp,size,note\n".to_owned();
            write(path, header + &rows.iter().map(line).collect::<String>());
        },
    },
    Written {
        name: "tsv",
        format: "tsv:2",
        columns: ["1", "3", "4"],
        missing: "",
        notes: &["note", "a\"b", " "],
        write: |rows, path| {
            let line = |row: &Row| {
                format!("{}\t{}\t{}\t{}\n", stamp(row, ""), row.url, size(row, ""), row.note)
            };
            write(path, rows.iter().map(line).collect::<String>());
        },
    },
    Written {
        name: "w3c",
        format: "w3c",
        columns: ["x-stamp", "SC-Bytes", "x-note"],
        missing: "-",
        notes: &["note", "a b", "say \"\"so\"\""],
        write: |rows, path| {
            let mut text = String::from("#Version: 1.0\n#Fields: x-stamp cs-uri sc-bytes x-note\n");
            for (i, row) in rows.iter().enumerate() {
                let (stamp, size) = (stamp(row, "-"), size(row, "-"));
                if i == rows.len() / 2 {
                    text.push_str("#Fields: x-note sc-bytes x-stamp cs-uri\n");
                }
                let (url, note) = (&row.url, &row.note);
                text += &match i < rows.len() / 2 {
                    true => format!("{stamp} {url} {size} \"{note}\"\n"),
                    false => format!("\"{note}\"  {size} {stamp} {url}\n"),
                };
            }
            write(path, text);
        },
    },
    Written {
        name: "parquet",
        format: "parquet:url",
        columns: ["stamp", "3", "note"],
        missing: "",
        notes: PLAIN,
        write: |rows, path| {
            let file = std::fs::File::create(path).unwrap();
            let batch = batch(rows);
            let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
            for start in (0..rows.len()).step_by(700) {
                writer.write(&batch.slice(start, 700.min(rows.len() - start))).unwrap();
                writer.flush().unwrap();
            }
            writer.close().unwrap();
        },
    },
    Written {
        name: "arrow",
        format: "auto",
        columns: ["stamp", "size", "note"],
        missing: "",
        notes: PLAIN,
        write: |rows, path| {
            let file = std::fs::File::create(path).unwrap();
            let batch = batch(rows);
            let mut writer = FileWriter::try_new(file, &batch.schema()).unwrap();
            writer.write(&batch).unwrap();
            writer.finish().unwrap();
        },
    },
];

fn write(path: &Path, text: String) {
    std::fs::write(path, text).unwrap();
}

fn stamp(row: &Row, missing: &str) -> String {
    row.stamp.clone().unwrap_or(missing.to_owned())
}

fn size(row: &Row, missing: &str) -> String {
    row.size.map_or(missing.to_owned(), |size| size.to_string())
}

fn batch(rows: &[Row]) -> RecordBatch {
    let text = |column: &dyn Fn(&Row) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(column).collect::<StringArray>())
    };
    RecordBatch::try_from_iter_with_nullable([
        ("url", text(&|row| Some(row.url.clone())), true),
        ("stamp", text(&|row| row.stamp.clone()), true),
        ("size", Arc::new(rows.iter().map(|row| row.size).collect::<Int64Array>()) as _, true),
        ("note", text(&|row| Some(row.note.clone())), true),
    ])
    .unwrap()
}

/// Text as a column shows it.
fn escaped(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'\\' => "\\x5C".to_owned(),
        0x20..=0x7E => char::from(byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// The number and the row of the record that survives for each page, by first occurrence, and the
/// number of the page's records.
fn survivors<'r>(rows: &'r [Row], keep: &str) -> Vec<(usize, &'r Row, u64)> {
    let mut found: Vec<(usize, &Row, u64)> = Vec::new();
    let mut places: HashMap<u64, usize> = HashMap::new();
    for (number, row) in (1..).zip(rows) {
        let Some(place) = places.get(&row.page) else {
            places.insert(row.page, found.len());
            found.push((number, row, 1));
            continue;
        };
        let kept = &mut found[*place];
        kept.2 += 1;
        let number_of = |row: &Row| match keep {
            "stamp" => row.stamp.as_ref().map(|stamp| stamp.parse::<i64>().unwrap()),
            _ => row.size,
        };
        if keep == "last" || (keep != "first" && number_of(row) > number_of(kept.1)) {
            (kept.0, kept.1) = (number, row);
        }
    }
    found
}

struct How<'h> {
    format: &'h str,
    fields: &'h [Field],
    carry: &'h [&'h str],
    keep: Keep,
    order: SetOrder,
    threads: usize,
    chunk_size: usize,
    memory: Option<u64>,
    form: LineForm,
}

impl Default for How<'_> {
    fn default() -> Self {
        Self {
            format: "auto",
            fields: &[],
            carry: &[],
            keep: Keep::First,
            order: SetOrder::First,
            threads: 1,
            chunk_size: CHUNK_SIZE,
            memory: None,
            form: LineForm::Tabs,
        }
    }
}

fn dedup(path: &Path, how: How<'_>) -> (String, Report, Result<(), RunError>) {
    let inputs = input::check(&[PathBuf::from(path)]).0;
    let format = match how.format {
        "auto" => InputFormat::Auto,
        name => InputFormat::Fixed(Arc::new(record::Format::parse(name).unwrap())),
    };
    let directory = path.parent().unwrap().to_owned();
    let watch = Watch::default();
    let job = Job::Dedup(Dedup { order: how.order, ..Dedup::default() });
    let mut plan = JobPlan::new(Normalizer::new(Profile::Crawl), job);
    plan.input.format = format;
    plan.output.fields = how.fields.to_vec();
    plan.output.carry = how.carry.iter().map(|name| (*name).to_owned()).collect();
    plan.policy.keep = how.keep;
    plan.output.form = how.form;
    plan.limits.threads = how.threads;
    plan.limits.chunk_size = how.chunk_size;
    plan.limits.memory = how.memory.map(|budget| Memory { budget, directory, tell: |_| {} });
    let mut out = Vec::new();
    let (report, result) = run(&plan, &inputs, Sinks::to(&mut out), &watch);
    (String::from_utf8(out).unwrap(), report, result)
}

/// The lines with the number of the record in place of its origin.
fn with_numbers(out: &str) -> Vec<String> {
    let line = |line: &str| {
        let (first, rest) = line.split_once('\t').unwrap();
        let number = first.rsplit(':').nth(1).unwrap();
        format!("{number}\t{rest}")
    };
    out.lines().map(line).collect()
}

#[test]
fn each_format_carries_columns_of_the_kept_record() {
    let directory = tempfile::tempdir().unwrap();
    for written in FORMATS {
        let path = directory.path().join(written.name);
        let rows = rows(2_000, written.notes);
        (written.write)(&rows, &path);
        let meant = |row: &Row| match written.name {
            "cdxj" | "json" => serde_json::from_str(&format!("\"{}\"", row.note)).unwrap(),
            "csv" | "w3c" => row.note.replace("\"\"", "\""),
            _ => row.note.clone(),
        };
        // This index has a time in every line.
        let no_stamp = if written.name == "cdxj" { "0" } else { written.missing };
        for keep in ["first", "last", "stamp", "size"] {
            let line = |(number, row, count): &(usize, &Row, u64)| {
                let carried =
                    [stamp(row, no_stamp), size(row, written.missing), escaped(&meant(row))];
                let (original, page) = (escaped(&row.url), row.page);
                format!("{number}\t{count}\thttp://h/{page}\t{original}\t{}", carried.join("\t"))
            };
            let expected: Vec<String> = survivors(&rows, keep).iter().map(line).collect();
            let mut sorted = expected.clone();
            sorted.sort_by_key(|line| line.split('\t').nth(2).unwrap().to_owned());
            let mut by_count = sorted.clone();
            by_count
                .sort_by_key(|line| Reverse(line.split('\t').nth(1).unwrap().parse::<u64>().ok()));
            for (order, threads, chunk_size, memory) in [
                (SetOrder::First, 1, CHUNK_SIZE, None),
                (SetOrder::First, 8, 1 << 12, None),
                (SetOrder::First, 2, 5_000, Some(1 << 16)),
                (SetOrder::Sorted, 3, 1 << 12, Some(1 << 16)),
                (SetOrder::Sorted, 4, 1 << 13, None),
                (SetOrder::Count, 3, 1 << 12, Some(1 << 16)),
                (SetOrder::Count, 4, 1 << 13, None),
            ] {
                let how = How {
                    format: written.format,
                    fields: &[Field::First, Field::Count, Field::Canonical, Field::Original],
                    carry: &written.columns,
                    keep: match keep {
                        "first" => Keep::First,
                        "last" => Keep::Last,
                        "stamp" => Keep::Max(written.columns[0].to_owned()),
                        _ => Keep::Max(written.columns[1].to_owned()),
                    },
                    order,
                    threads,
                    chunk_size,
                    memory,
                    ..How::default()
                };
                let (out, report, result) = dedup(&path, how);
                result.unwrap_or_else(|error| panic!("{}: {error}", written.name));
                let expected = match order {
                    SetOrder::First => &expected,
                    SetOrder::Sorted => &sorted,
                    SetOrder::Count => &by_count,
                };
                let case = format!("{} {keep} {order:?} {threads} {memory:?}", written.name);
                for (line, expected) in with_numbers(&out).iter().zip(expected) {
                    assert_eq!(line, expected, "{case}");
                }
                assert_eq!(out.lines().count(), expected.len(), "{case}");
                assert_eq!(report.spilled.written > 0, memory.is_some(), "{case}");
                let tally = &report.tally;
                assert_eq!((tally.records, tally.rejected), (rows.len() as u64, 0), "{case}");
                assert_eq!(tally.unique, expected.len() as u64, "{case}");
                assert_eq!(tally.duplicates, tally.records - tally.unique, "{case}");
            }
        }
    }
}

#[test]
fn carried_columns_do_not_change_the_set() {
    let directory = tempfile::tempdir().unwrap();
    for written in FORMATS {
        let path = directory.path().join(written.name);
        (written.write)(&rows(500, written.notes), &path);
        let keys = |carry: &[&str], keep| {
            let how = How { format: written.format, carry, keep, ..How::default() };
            let (out, report, result) = dedup(&path, how);
            result.unwrap();
            let keys = out.lines().map(|line| line.split('\t').next().unwrap().to_owned());
            (keys.collect::<Vec<_>>(), report.tally)
        };
        let plain = keys(&[], Keep::First);
        assert_eq!(keys(&written.columns, Keep::First), plain, "{}", written.name);
        assert_eq!(keys(&written.columns, Keep::Last), plain, "{}", written.name);
    }
}

#[test]
fn values_of_any_json_type_are_carried_verbatim() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("in");
    let line = |(i, (value, _)): (usize, &(&str, &str))| {
        format!("{{\"url\":\"http://h/{i}\",\"v\": {value} }}\n")
    };
    let values = [
        ("1.50e3", "1.50e3"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("true", "true"),
        ("null", ""),
        ("[1, {\"a\":\"]\"}]", "[1, {\"a\":\"]\"}]"),
        ("\"\\x41\\\\x41\\ud83d\\ude00\"", "A\\x5Cx41\\xF0\\x9F\\x98\\x80"),
        ("{}", "{}"),
    ];
    write(&path, values.iter().enumerate().map(line).collect());
    let how =
        How { format: "json:/url", carry: &["v", "/v/1/a", "/v/01/a", "w"], ..How::default() };
    let (out, _, result) = dedup(&path, how);
    result.unwrap();
    let found: Vec<&str> = out.lines().map(|line| line.split_once('\t').unwrap().1).collect();
    let expected: Vec<String> = values
        .iter()
        .map(|(_, text)| format!("{text}\t{}\t\t", if text.starts_with('[') { "]" } else { "" }))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn json_objects_name_fields_and_carried_columns() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("in.csv");
    std::fs::write(&path, b"url,a,\"b\"\"c\",none\nhttp://h/,\xE9,,\nhttp://h/,1,2,\n").unwrap();
    let how = |form, keep| How {
        format: "csv:url",
        carry: &["a", "b\"c", "none"],
        keep,
        form,
        ..How::default()
    };
    let (out, _, result) = dedup(&path, how(LineForm::Json, Keep::First));
    result.unwrap();
    let first =
        "{\"canonical\":\"http://h/\",\"a_base64\":\"6Q==\",\"b\\\"c\":\"\",\"none\":\"\"}\n";
    assert_eq!(out, first);
    let (out, _, result) = dedup(&path, how(LineForm::Json, Keep::Last));
    result.unwrap();
    let last = "{\"canonical\":\"http://h/\",\"a\":\"1\",\"b\\\"c\":\"2\",\"none\":\"\"}\n";
    assert_eq!(out, last);
    let (out, _, result) = dedup(&path, how(LineForm::Tabs, Keep::First));
    result.unwrap();
    assert_eq!(out, "http://h/\t\\xE9\t\t\n");
}

#[test]
fn carrying_from_a_format_without_columns_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("in");
    write(&path, "http://h/\n".into());
    for (format, column, words) in [
        ("auto", "a", "lines has no columns with names, as csv:COL"),
        ("combined", "a", "its columns are client, time, method"),
        ("warc", "a", "warc has no such column: its columns are time"),
        ("sitemap", "a", "sitemap has no columns"),
        ("csv:1", "a", "so columns have only numbers"),
        ("tsv:1", "0", "counted from 1"),
        ("cdx", "stamp", "urlkey, timestamp"),
        ("json:/a", "/a~", "~0"),
        ("json:/a", "", "a name or a number"),
    ] {
        for keep in [Keep::First, Keep::Max(column.to_owned())] {
            let carry: &[&str] = if keep == Keep::First { &[column] } else { &[] };
            let fields = &[Field::Original];
            let (out, _, result) =
                dedup(&path, How { format, fields, carry, keep, ..How::default() });
            let error = result.expect_err(format).to_string();
            assert!(error.contains(words) && out.is_empty(), "{format} {column}: {error}");
        }
    }
}
