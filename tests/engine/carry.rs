//! Carried columns stay with their records: each format against a loop over the rows written into
//! it, for any threads, chunks and memory.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};

use uniqurl_engine::output::{Field, LineForm};
use uniqurl_engine::{CHUNK_SIZE, Dedup, Job, JobPlan, Keep, SetOrder};

use crate::runs::{FIRST, checked, limit, numbers, plan_of, ran, ran_on};
use crate::written::{self, Packed};

/// A record: its URL in one of several spellings, and its other fields.
struct Row {
    page: u64,
    url: String,
    stamp: Option<String>,
    size: Option<String>,
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
            size: (next(5) > 0).then(|| (1 << next(12)).to_string()),
            note: format!("{}{}", notes[next(notes.len() as u64) as usize], next(1000)),
        }
    };
    (0..count).map(row).collect()
}

/// How a missing stamp or size is written: a part of the line, the text in its place, and the text
/// that is carried.
type Missing = [&'static str; 3];

const DASHES: [Missing; 2] = [["STAMP", "-", "-"], ["SIZE", "-", "-"]];
const NOTHING: [Missing; 2] = [["STAMP", "", ""], ["SIZE", "", ""]];
const NULLS: [Missing; 2] = [["\"STAMP\"", "null", ""], ["SIZE", "null", ""]];
/// An index that has a time in every line.
const NO_MEMBER: [Missing; 2] = [["STAMP", "0", "0"], [",\"length\": \"SIZE\"", "", ""]];

/// A header and a line of each part of the file.
type Parts = &'static [[&'static str; 2]];

/// The legend changes within the file.
const CDX: Parts = &[
    [" CDX a b S g\n", "URL STAMP SIZE NOTE\n"],
    ["\tCDX\tg\tS\tb\ta\n", "NOTE\tSIZE\tSTAMP\tURL\n"],
];
const CDX_OF_11: Parts = &[["", "k STAMP URL text/html 200 D - - SIZE 9 NOTE\n"]];
const CDXJ: Parts = &[[
    "",
    "k STAMP {\"url\": \"URL\",\"length\": \"SIZE\", \
     \"in\": [{\"n\":\"NOTE\",\"m\":[1,{}]}, 2]}\n",
]];
const JSON: Parts = &[[
    "",
    "{\"stamp\":7,\"request\":{\"uri\":\"URL\",\"stamp\":1},\"stamp\":\"STAMP\",\
     \"size\" : SIZE ,\"no~te\":\"NOTE\"}\n",
]];
const CSV: Parts = &[["url,stamp,size,note\n", "URL,STAMP,SIZE,\"NOTE\"\n"]];
const TSV: Parts = &[["", "STAMP\tURL\tSIZE\tNOTE\n"]];
const W3C: Parts = &[
    ["#Fields: x-stamp cs-uri sc-bytes x-note\n", "STAMP URL SIZE \"NOTE\"\n"],
    ["#Fields: x-note sc-bytes x-stamp cs-uri\n", "\"NOTE\"  SIZE STAMP URL\n"],
];
const TABLE: Parts = &[];

/// Notes as each format writes them.
type Notes = &'static [&'static str];

const PLAIN: Notes = &["note", "a%20b", "x\\y", "\u{e9}"];
const OF_CDXJ: Notes = &["note", "a\\\\b", "\\u00e9\\\"", "\\t"];
const OF_JSON: Notes = &["note", "a\\\\b", "\\u00e9\\/", "\\n", "{[,:"];
const OF_CSV: Notes = &["note", "a,b", "say \"\"so\"\"", "two\nlines", "\u{e9}\t"];
const OF_TSV: Notes = &["note", "a\"b", " "];
const OF_W3C: Notes = &["note", "a b", "say \"\"so\"\""];

/// A format, the names of its columns stamp, size and note, what stands where one is missing, notes, and its lines.
type Case = (&'static str, [&'static str; 3], [Missing; 2], Notes, Parts);

const FORMATS: [Case; 9] = [
    ("cdx", ["timestamp", "S", "filename"], DASHES, PLAIN, CDX),
    ("cdx", ["b", "length", "g"], DASHES, PLAIN, CDX_OF_11),
    ("cdxj", ["timestamp", "length", "/in/0/n"], NO_MEMBER, OF_CDXJ, CDXJ),
    ("json:/request/uri", ["stamp", "/size", "no~te"], NULLS, OF_JSON, JSON),
    ("csv:url", ["Stamp", "size", "4"], NOTHING, OF_CSV, CSV),
    ("tsv:2", ["1", "3", "4"], NOTHING, OF_TSV, TSV),
    ("w3c", ["x-stamp", "SC-Bytes", "x-note"], DASHES, OF_W3C, W3C),
    ("parquet:url", ["stamp", "3", "note"], NOTHING, PLAIN, TABLE),
    ("auto", ["stamp", "size", "note"], NOTHING, PLAIN, TABLE),
];

/// The rows as a file of this format; Arrow where it is detected.
fn write(rows: &[Row], format: &str, missing: [Missing; 2], parts: Parts) -> Vec<u8> {
    if format == "parquet:url" {
        let groups = parquet::file::properties::WriterProperties::builder();
        let groups = groups.set_max_row_group_row_count(Some(700));
        return written::parquet(&batch(rows), groups.build());
    }
    if format == "auto" {
        let [file, _] = written::arrow(&batch(rows), rows.len(), Packed::None);
        return file;
    }
    let mut text = String::new();
    for (rows, [header, line]) in rows.chunks(rows.len().div_ceil(parts.len())).zip(parts) {
        text += header;
        for row in rows {
            let mut line = (*line).to_owned();
            for (name, value, [part, other, _]) in
                [("STAMP", &row.stamp, missing[0]), ("SIZE", &row.size, missing[1])]
            {
                line = match value {
                    Some(value) => line.replace(name, value),
                    None => line.replace(part, other),
                };
            }
            text += &line.replace("URL", &row.url).replace("NOTE", &row.note);
        }
    }
    text.into_bytes()
}

fn batch(rows: &[Row]) -> RecordBatch {
    let text = |column: &dyn Fn(&Row) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(column).collect::<StringArray>())
    };
    let size = |row: &Row| row.size.as_ref().map(|size| size.parse().unwrap());
    written::batch([
        ("url", text(&|row| Some(row.url.clone()))),
        ("stamp", text(&|row| row.stamp.clone())),
        ("size", Arc::new(rows.iter().map(size).collect::<Int64Array>()) as _),
        ("note", text(&|row| Some(row.note.clone()))),
    ])
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
        let number_of = |row: &Row| {
            let text = if keep == "stamp" { &row.stamp } else { &row.size };
            text.as_ref().map(|number| number.parse::<i64>().unwrap())
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
    for (format, columns, missing, notes, parts) in FORMATS {
        let path = directory.path().join("in");
        let rows = rows(2_000, notes);
        std::fs::write(&path, write(&rows, format, missing, parts)).unwrap();
        let inputs = checked(&[path]);
        let meant = |row: &Row| match format {
            "cdxj" | "json:/request/uri" => {
                serde_json::from_str(&format!("\"{}\"", row.note)).unwrap()
            }
            "csv:url" | "w3c" => row.note.replace("\"\"", "\""),
            _ => row.note.clone(),
        };
        for keep in ["first", "last", "stamp", "size"] {
            let line = |(number, row, count): &(usize, &Row, u64)| {
                let [no_stamp, no_size] = missing.map(|[.., carried]| carried);
                let stamp = row.stamp.as_deref().unwrap_or(no_stamp);
                let size = row.size.as_deref().unwrap_or(no_size);
                let (original, note) = (escaped(&row.url), escaped(&meant(row)));
                let kept = format!("{number}\t{count}\thttp://h/{}", row.page);
                format!("{kept}\t{original}\t{stamp}\t{size}\t{note}")
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
                let mut plan = plan(format, &columns);
                plan.job = Job::Dedup(Dedup { order, ..FIRST });
                plan.output.fields =
                    vec![Field::First, Field::Count, Field::Canonical, Field::Original];
                plan.policy.keep = match keep {
                    "first" => Keep::First,
                    "last" => Keep::Last,
                    "stamp" => Keep::Max(columns[0].to_owned()),
                    _ => Keep::Max(columns[1].to_owned()),
                };
                limit(&mut plan, threads, chunk_size, budget);
                let found = ran(&plan, &inputs).unwrap();
                let expected = match order {
                    SetOrder::First => &expected,
                    SetOrder::Sorted => &sorted,
                    SetOrder::Count => &by_count,
                };
                let case = format!("{format} {} {keep} {order:?} {threads} {budget:?}", columns[0]);
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
