//! Parquet files that claim what cannot be, or more than there is memory for: each is an error that
//! says so, and none ends the process.

use std::io::Write;

use uniqurl::input;
use uniqurl::pipeline::{Dedup, Job, Memory, Report, RunError, Setup, Watch, run};
use uniqurl::{Normalizer, Profile};

/// Thrift's compact protocol.
#[derive(Clone)]
enum Field {
    I32(i64),
    I64(i64),
    Text(Vec<u8>),
    /// Elements of a type.
    List(u8, Vec<Vec<u8>>),
    /// Fields with their stop.
    Struct(Vec<u8>),
    /// A type, and the bytes of the value.
    Raw(u8, Vec<u8>),
}

const I32: u8 = 5;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

fn varint(mut number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
    out
}

fn zigzag(number: i64) -> Vec<u8> {
    varint((number << 1 ^ number >> 63) as u64)
}

fn text(text: &[u8]) -> Vec<u8> {
    [varint(text.len() as u64), text.to_vec()].concat()
}

fn list(kind: u8, count: u64) -> Vec<u8> {
    [vec![0xF0 | kind], varint(count)].concat()
}

fn fields(fields: &[(i64, Field)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (id, field) in fields {
        let (kind, value) = match field {
            Field::I32(number) => (I32, zigzag(*number)),
            Field::I64(number) => (6, zigzag(*number)),
            Field::Text(bytes) => (BINARY, text(bytes)),
            Field::List(kind, elements) => {
                (LIST, [list(*kind, elements.len() as u64), elements.concat()].concat())
            }
            Field::Struct(bytes) => (STRUCT, bytes.clone()),
            Field::Raw(kind, bytes) => (*kind, bytes.clone()),
        };
        out.push(kind);
        out.extend(zigzag(*id));
        out.extend(value);
    }
    out.push(0);
    out
}

fn group(name: &[u8], children: i64) -> Vec<u8> {
    fields(&[(3, Field::I32(0)), (4, Field::Text(name.to_vec())), (5, Field::I32(children))])
}

fn leaf(name: &[u8]) -> Vec<u8> {
    fields(&[(1, Field::I32(6)), (3, Field::I32(0)), (4, Field::Text(name.to_vec()))])
}

/// A file of these bytes and a footer.
fn file(pages: &[u8], footer: &[(i64, Field)]) -> Vec<u8> {
    let footer = fields(footer);
    let length = (footer.len() as u32).to_le_bytes();
    [b"PAR1", pages, &footer, &length, b"PAR1"].concat()
}

fn version() -> (i64, Field) {
    (1, Field::I32(2))
}

/// A file with this schema and no rows.
fn with_schema(schema: Vec<Vec<u8>>) -> Vec<u8> {
    let nothing = (4, Field::List(STRUCT, Vec::new()));
    file(b"", &[version(), (2, Field::List(STRUCT, schema)), (3, Field::I64(0)), nothing])
}

/// What a column chunk is like.
struct Pages {
    codec: i64,
    bytes: Vec<u8>,
    rows: i64,
    dictionary: bool,
}

/// A file with one column of a row group.
fn with_pages(pages: &Pages) -> Vec<u8> {
    let length = pages.bytes.len() as i64;
    let mut column = vec![
        (1, Field::I32(6)),
        (2, Field::List(I32, vec![zigzag(0), zigzag(8)])),
        (3, Field::List(BINARY, vec![text(b"url")])),
        (4, Field::I32(pages.codec)),
        (5, Field::I64(pages.rows)),
        (6, Field::I64(length)),
        (7, Field::I64(length)),
        (9, Field::I64(4)),
    ];
    if pages.dictionary {
        column.push((11, Field::I64(4)));
    }
    let chunk = fields(&[(2, Field::I64(4)), (3, Field::Struct(fields(&column)))]);
    let group = fields(&[
        (1, Field::List(STRUCT, vec![chunk])),
        (2, Field::I64(length)),
        (3, Field::I64(pages.rows)),
    ]);
    let schema = vec![group_of_one(), leaf(b"url")];
    let footer = [
        version(),
        (2, Field::List(STRUCT, schema)),
        (3, Field::I64(pages.rows)),
        (4, Field::List(STRUCT, vec![group])),
    ];
    file(&pages.bytes, &footer)
}

fn group_of_one() -> Vec<u8> {
    fields(&[(4, Field::Text(b"root".to_vec())), (5, Field::I32(1))])
}

/// The head of a data page.
fn head(unpacked: i64, packed: i64, rows: i64, statistics: Vec<u8>) -> Vec<u8> {
    let data = [
        (1, Field::I32(rows)),
        (2, Field::I32(0)),
        (3, Field::I32(3)),
        (4, Field::I32(3)),
        (5, Field::Struct(statistics)),
    ];
    fields(&[
        (1, Field::I32(0)),
        (2, Field::I32(unpacked)),
        (3, Field::I32(packed)),
        (5, Field::Struct(fields(&data))),
    ])
}

fn dictionary(values: i64, bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len() as i64;
    let head = fields(&[
        (1, Field::I32(2)),
        (2, Field::I32(length)),
        (3, Field::I32(length)),
        (7, Field::Struct(fields(&[(1, Field::I32(values)), (2, Field::I32(0))]))),
    ]);
    [head, bytes.to_vec()].concat()
}

fn plain(urls: &[&str]) -> Vec<u8> {
    urls.iter()
        .flat_map(|url| [&(url.len() as u32).to_le_bytes(), url.as_bytes()].concat())
        .collect()
}

const NO_STATISTICS: &[u8] = &[0];

fn read(bytes: &[u8], memory: Option<u64>) -> (String, Report, Result<(), RunError>) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let inputs = input::check(&[file.path().to_owned()]).0;
    let directory = std::env::temp_dir();
    let watch = Watch::default();
    let setup = Setup {
        threads: 2,
        memory: memory.map(|budget| Memory { budget, directory, tell: |_| {} }),
        ..Setup::new(Normalizer::new(&Profile::CRAWL), Job::Dedup(Dedup::default()), &watch)
    };
    let mut out = Vec::new();
    let (report, result) = run(&setup, &inputs, &mut out, None);
    (String::from_utf8(out).unwrap(), report, result)
}

#[track_caller]
fn is_refused(name: &str, bytes: &[u8], words: &str) {
    for memory in [None, Some(64 << 20)] {
        let (out, _, result) = read(bytes, memory);
        let error = result.expect_err(name).to_string();
        assert!(error.contains(": damaged: ") && error.contains(words), "{name}: {error}");
        assert_eq!(out, "", "{name}");
    }
}

#[test]
fn what_is_built_here_is_a_file_where_nothing_is_wrong_with_it() {
    let data = plain(&["http://a/", "http://b/", "HTTP://a"]);
    let length = data.len() as i64;
    let bytes = [head(length, length, 3, NO_STATISTICS.to_vec()), data].concat();
    let pages = Pages { codec: 0, bytes, rows: 3, dictionary: false };
    let (out, report, result) = read(&with_pages(&pages), None);
    result.unwrap();
    assert_eq!((out.as_str(), report.tally.records), ("http://a/\nhttp://b/\n", 3));
}

#[test]
fn a_schema_is_not_believed_to_be_deeper_or_wider_than_it_can_be() {
    let nested = |depth: usize| {
        let above = (0..depth).map(|_| group(b"g", 1));
        with_schema(std::iter::once(group_of_one()).chain(above).chain([leaf(b"url")]).collect())
    };
    let (_, _, result) = read(&nested(50), None);
    result.unwrap();
    is_refused("nested", &nested(300_000), "nested too deep");
    for children in [3, i64::from(i32::MAX)] {
        let wide = with_schema(vec![group_of_one(), group(b"g", children), leaf(b"a"), leaf(b"b")]);
        is_refused("wide", &wide, "more columns in it than there are");
    }
    let negative = with_schema(vec![group_of_one(), group(b"g", -1), leaf(b"a")]);
    is_refused("negative", &negative, "more columns in it than there are");
}

#[test]
fn names_that_repeat_in_every_column_are_counted_before_they_are_kept() {
    let name = vec![b'n'; 16 << 10];
    let mut schema = vec![group_of_one()];
    schema.extend((0..90).map(|_| group(&name, 1)));
    schema.push(group(&name, 40_000));
    schema.extend((0..40_000).map(|_| leaf(b"u")));
    let (_, _, result) = read(&with_schema(schema), Some(1 << 30));
    let error = result.expect_err("60 GB of names").to_string();
    assert!(error.contains("more than there is memory for; give more with --memory"), "{error}");
}

#[test]
fn a_footer_that_hides_its_schema_behind_other_types_is_no_footer() {
    let schema = (2, Field::List(STRUCT, vec![group_of_one(), leaf(b"url")]));
    // To whoever goes by numbers alone, the text is a number and then fields.
    let hidden = fields(std::slice::from_ref(&schema));
    let bytes = file(b"", &[(1, Field::Text(hidden)), schema.clone(), (3, Field::I64(0))]);
    is_refused("a text for a number", &bytes, "a type that it cannot have");
    let bytes = file(b"", &[version(), (2, Field::List(BINARY, vec![text(b"x")]))]);
    is_refused("texts for columns", &bytes, "a type that it cannot be of");
    let bytes = file(b"", &[version(), (2, Field::Raw(LIST, list(STRUCT, 1 << 40)))]);
    is_refused("a list without end", &bytes, "ends early");
    let deep = (0..100_000).flat_map(|_| list(LIST, 1)).collect();
    let bytes = file(b"", &[version(), (99, Field::Raw(LIST, deep)), schema.clone()]);
    is_refused("lists in lists", &bytes, "nested too deep");
    let deep = (0..100_000).flat_map(|_| [0x1C]).collect();
    let bytes = file(b"", &[version(), (99, Field::Raw(STRUCT, deep)), schema]);
    is_refused("structs in structs", &bytes, "nested too deep");
}

#[test]
fn counts_of_rows_and_groups_that_cannot_be_are_errors() {
    let schema = (2, Field::List(STRUCT, vec![group_of_one(), leaf(b"url")]));
    for (name, rows, groups) in [
        ("groups", 0, Field::Raw(LIST, list(STRUCT, u64::from(u32::MAX)))),
        ("no columns", 0, Field::List(STRUCT, vec![fields(&[(3, Field::I64(0))]); 1000])),
        ("rows", i64::MAX, Field::List(STRUCT, Vec::new())),
        ("rows below nothing", -1, Field::List(STRUCT, Vec::new())),
    ] {
        let bytes = file(b"", &[version(), schema.clone(), (3, Field::I64(rows)), (4, groups)]);
        is_refused(name, &bytes, "");
    }
}

#[test]
fn pages_are_not_believed_to_hold_more_than_there_is_room_for() {
    let of = |codec, bytes, dictionary| with_pages(&Pages { codec, bytes, rows: 3, dictionary });
    let most = i64::from(i32::MAX);
    let statistics = |length: u64| [vec![0x18], varint(length)].concat();
    for (name, bytes, words) in [
        (
            "unpacked",
            of(6, [head(most, 9, 3, NO_STATISTICS.to_vec()), vec![0; 9]].concat(), false),
            "there is memory for",
        ),
        (
            "packed",
            of(0, [head(9, most, 3, NO_STATISTICS.to_vec()), vec![0; 9]].concat(), false),
            "there is memory for",
        ),
        ("below nothing", of(6, head(-1, 9, 3, NO_STATISTICS.to_vec()), false), "none can have"),
        (
            "packed below nothing",
            of(6, head(9, -9, 3, NO_STATISTICS.to_vec()), false),
            "none can have",
        ),
        (
            "statistics",
            of(0, head(9, 9, 3, statistics(1 << 41)), false),
            "the head of a page ends early",
        ),
        (
            "dictionary",
            of(0, dictionary(most, &plain(&["http://a/"])), true),
            "more values than it has room for",
        ),
        ("dictionary below nothing", of(0, dictionary(-1, b""), true), "none can have"),
    ] {
        is_refused(name, &bytes, words);
    }
}

#[test]
fn a_page_that_unpacks_to_more_than_there_is_memory_for_is_not_unpacked() {
    let data = plain(&["http://a/", &format!("http://b/{}", "b".repeat(64 << 20)), "http://c/"]);
    let packed = zstd::encode_all(&data[..], 1).unwrap();
    assert!(packed.len() < 100 << 10);
    let head = head(data.len() as i64, packed.len() as i64, 3, NO_STATISTICS.to_vec());
    let bytes = [head, packed].concat();
    let file = with_pages(&Pages { codec: 6, bytes, rows: 3, dictionary: false });
    let (_, report, result) = read(&file, Some(4 << 30));
    result.unwrap();
    assert_eq!((report.tally.unique, report.tally.rejected), (2, 1));
    let (_, _, result) = read(&file, Some(64 << 20));
    let error = result.expect_err("64 MiB in a page").to_string();
    assert!(
        error.contains("row group 1 of 1: a page is longer than there is memory for"),
        "{error}"
    );
}
