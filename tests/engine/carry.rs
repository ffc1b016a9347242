//! Carried columns stay with their records: each format against a loop over the rows written into
//! it, for any threads, chunks and memory.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};

use uniqurl_engine::output::{Field, LineForm};
use uniqurl_engine::{CHUNK_SIZE, Dedup, Job, JobPlan, Keep, SetOrder};

use crate::runs::{FIRST, checked, memory, numbers, plan_of, ran, ran_on};
use crate::written::{self, Packed};

/// A record: its URL in one of several spellings, and its other fields.
struct Row {
    page: u64,
    url: String,
    stamp: Option<String>,
    size: Option<i64>,
    note: String,
}

fn rows(count: u64, notes: &[&str]) -> Vec<Row> {
    let mut next = numbers(1);
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
    write: fn(&[Row]) -> Vec<u8>,
}

const PLAIN: &[&str] = &["note", "a%20b", "x\\y", "\u{e9}"];

const FORMATS: &[Written] = &[
    Written {
        name: "cdx",
        format: "cdx",
        columns: ["timestamp", "S", "filename"],
        missing: "-",
        notes: PLAIN,
        write: |rows| {
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
            text.into_bytes()
        },
    },
    Written {
        name: "plain.cdx",
        format: "cdx",
        columns: ["b", "length", "g"],
        missing: "-",
        notes: PLAIN,
        write: |rows| {
            let line = |row: &Row| {
                let (stamp, size) = (stamp(row, "-"), size(row, "-"));
                format!("k {stamp} {} text/html 200 D - - {size} 9 {}\n", row.url, row.note)
            };
            rows.iter().flat_map(|row| line(row).into_bytes()).collect()
        },
    },
    Written {
        name: "cdxj",
        format: "cdxj",
        columns: ["timestamp", "length", "/in/0/n"],
        missing: "",
        notes: &["note", "a\\\\b", "\\u00e9\\\"", "\\t"],
        write: |rows| {
            let line = |row: &Row| {
                let size =
                    row.size.map_or(String::new(), |size| format!(",\"length\": \"{size}\""));
                let stamp = stamp(row, "0");
                let url = &row.url;
                let note = format!("{{\"n\":\"{}\",\"m\":[1,{{}}]}}", row.note);
                format!("k {stamp} {{\"url\": \"{url}\"{size}, \"in\": [{note}, 2]}}\n")
            };
            rows.iter().flat_map(|row| line(row).into_bytes()).collect()
        },
    },
    Written {
        name: "json",
        format: "json:/request/uri",
        columns: ["stamp", "/size", "no~te"],
        missing: "",
        notes: &["note", "a\\\\b", "\\u00e9\\/", "\\n", "{[,:"],
        write: |rows| {
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
            rows.iter().flat_map(|row| line(row).into_bytes()).collect()
        },
    },
    Written {
        name: "csv",
        format: "csv:url",
        columns: ["Stamp", "size", "4"],
        missing: "",
        notes: &["note", "a,b", "say \"\"so\"\"", "two\nlines", "\u{e9}\t"],
        write: |rows| {
            let line = |row: &Row| {
                format!("{},{},{},\"{}\"\n", row.url, stamp(row, ""), size(row, ""), row.note)
            };
            let header = "url,stamp,size,note\n".to_owned();
            (header + &rows.iter().map(line).collect::<String>()).into_bytes()
        },
    },
    Written {
        name: "tsv",
        format: "tsv:2",
        columns: ["1", "3", "4"],
        missing: "",
        notes: &["note", "a\"b", " "],
        write: |rows| {
            let line = |row: &Row| {
                format!("{}\t{}\t{}\t{}\n", stamp(row, ""), row.url, size(row, ""), row.note)
            };
            rows.iter().flat_map(|row| line(row).into_bytes()).collect()
        },
    },
    Written {
        name: "w3c",
        format: "w3c",
        columns: ["x-stamp", "SC-Bytes", "x-note"],
        missing: "-",
        notes: &["note", "a b", "say \"\"so\"\""],
        write: |rows| {
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
            text.into_bytes()
        },
    },
    Written {
        name: "parquet",
        format: "parquet:url",
        columns: ["stamp", "3", "note"],
        missing: "",
        notes: PLAIN,
        write: |rows| {
            let groups = parquet::file::properties::WriterProperties::builder();
            written::parquet(&batch(rows), groups.set_max_row_group_row_count(Some(700)).build())
        },
    },
    Written {
        name: "arrow",
        format: "auto",
        columns: ["stamp", "size", "note"],
        missing: "",
        notes: PLAIN,
        write: |rows| {
            let [file, _] = written::arrow(&batch(rows), rows.len(), Packed::None);
            file
        },
    },
];

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

/// A plan that carries these columns.
fn plan(format: &str, carry: &[&str]) -> JobPlan {
    let mut plan = plan_of(format, FIRST);
    plan.output.carry = carry.iter().map(|name| (*name).to_owned()).collect();
    plan
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
        std::fs::write(&path, (written.write)(&rows)).unwrap();
        let inputs = checked(&[path]);
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
            for (order, threads, chunk_size, budget) in [
                (SetOrder::First, 1, CHUNK_SIZE, None),
                (SetOrder::First, 8, 1 << 12, None),
                (SetOrder::First, 2, 5_000, Some(1 << 16)),
                (SetOrder::Sorted, 3, 1 << 12, Some(1 << 16)),
                (SetOrder::Sorted, 4, 1 << 13, None),
                (SetOrder::Count, 3, 1 << 12, Some(1 << 16)),
                (SetOrder::Count, 4, 1 << 13, None),
            ] {
                let mut plan = plan(written.format, &written.columns);
                plan.job = Job::Dedup(Dedup { order, ..FIRST });
                plan.output.fields =
                    vec![Field::First, Field::Count, Field::Canonical, Field::Original];
                plan.policy.keep = match keep {
                    "first" => Keep::First,
                    "last" => Keep::Last,
                    "stamp" => Keep::Max(written.columns[0].to_owned()),
                    _ => Keep::Max(written.columns[1].to_owned()),
                };
                plan.limits.threads = threads;
                plan.limits.chunk_size = chunk_size;
                plan.limits.memory = budget.map(|budget| memory(budget, directory.path()));
                let found = ran(&plan, &inputs).unwrap();
                let expected = match order {
                    SetOrder::First => &expected,
                    SetOrder::Sorted => &sorted,
                    SetOrder::Count => &by_count,
                };
                let case = format!("{} {keep} {order:?} {threads} {budget:?}", written.name);
                assert_eq!(with_numbers(found.text()), *expected, "{case}");
                assert_eq!(found.report.spilled.written > 0, budget.is_some(), "{case}");
                let tally = &found.report.tally;
                assert_eq!((tally.records, tally.rejected), (rows.len() as u64, 0), "{case}");
                assert_eq!(tally.unique, expected.len() as u64, "{case}");
                assert_eq!(tally.duplicates, tally.records - tally.unique, "{case}");
            }
        }
    }
}

#[test]
fn values_of_any_json_type_are_carried_verbatim() {
    let values = [
        ("1.50e3", "1.50e3"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("true", "true"),
        ("null", ""),
        ("[1, {\"a\":\"]\"}]", "[1, {\"a\":\"]\"}]"),
        ("\"\\x41\\\\x41\\ud83d\\ude00\"", "A\\x5Cx41\\xF0\\x9F\\x98\\x80"),
        ("{}", "{}"),
    ];
    let plan = plan("json:/url", &["v", "/v/1/a", "/v/01/a", "w"]);
    for (value, text) in values {
        let line = format!("{{\"url\":\"http://h/\",\"v\": {value} }}\n");
        let within = if text.starts_with('[') { "]" } else { "" };
        let expected = format!("http://h/\t{text}\t{within}\t\t\n");
        assert_eq!(ran_on(&plan, line.as_bytes()).unwrap().text(), expected);
    }
}

#[test]
fn json_objects_name_fields_and_carried_columns() {
    let table = b"url,a,\"b\"\"c\",none\nhttp://h/,\xE9,,\nhttp://h/,1,2,\n";
    let mut plan = plan("csv:url", &["a", "b\"c", "none"]);
    for (form, keep, expected) in [
        (
            LineForm::Json,
            Keep::First,
            r#"{"canonical":"http://h/","a_base64":"6Q==","b\"c":"","none":""}"#,
        ),
        (LineForm::Json, Keep::Last, r#"{"canonical":"http://h/","a":"1","b\"c":"2","none":""}"#),
        (LineForm::Tabs, Keep::First, "http://h/\t\\xE9\t\t"),
    ] {
        (plan.output.form, plan.policy.keep) = (form, keep);
        assert_eq!(ran_on(&plan, table).unwrap().text(), expected.to_owned() + "\n");
    }
}

#[test]
fn carrying_from_a_format_without_columns_is_an_error() {
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
        let mut keeping = plan(format, &[]);
        keeping.policy.keep = Keep::Max(column.to_owned());
        for mut plan in [plan(format, &[column]), keeping] {
            plan.output.fields = vec![Field::Original];
            let found = ran_on(&plan, b"http://h/\n");
            assert!(found.out.is_empty());
            let error = found.error(format);
            assert!(error.contains(words), "{format} {column}: {error}");
        }
    }
}
