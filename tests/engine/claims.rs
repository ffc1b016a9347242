//! Parquet files whose headers claim impossible sizes, or more than memory holds: each is an error
//! that says so, and none ends the process.

use std::io::Write;

use crate::runs::{FIRST, Outcome, memory, plan_of, ran_on};

/// Thrift's compact protocol.
#[derive(Clone)]
enum Field {
    I32(i64),
    I64(i64),
    Text(Vec<u8>),
    /// The type of the elements, and the elements.
    List(u8, Vec<Vec<u8>>),
    /// The bytes of the fields with their stop.
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

/// A file of these pages and this footer.
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

/// The bytes and the metadata of a column chunk.
struct Pages {
    codec: i64,
    bytes: Vec<u8>,
    rows: i64,
    dictionary: bool,
}

/// A file with one row group of one column.
fn with_pages(pages: &Pages) -> Vec<u8> {
    with_chunk(pages, Vec::new())
}

/// The same with extra fields of the column in a second row group, if there are any.
fn with_chunk(pages: &Pages, more: Vec<(i64, Field)>) -> Vec<u8> {
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
    let mut chunk = vec![(2, Field::I64(4)), (3, Field::Struct(fields(&column)))];
    let group = |chunk: &[(i64, Field)]| {
        fields(&[
            (1, Field::List(STRUCT, vec![fields(chunk)])),
            (2, Field::I64(length)),
            (3, Field::I64(pages.rows)),
        ])
    };
    let mut groups = vec![group(&chunk)];
    if !more.is_empty() {
        chunk.extend(more);
        groups.push(group(&chunk));
    }
    let schema = vec![group_of_one(), leaf(b"url")];
    let footer = [
        version(),
        (2, Field::List(STRUCT, schema)),
        (3, Field::I64(pages.rows)),
        (4, Field::List(STRUCT, groups)),
    ];
    file(&pages.bytes, &footer)
}

fn group_of_one() -> Vec<u8> {
    fields(&[(4, Field::Text(b"root".to_vec())), (5, Field::I32(1))])
}

/// The head of a data page.
fn head(unpacked: i64, packed: i64, rows: i64, statistics: Vec<u8>) -> Vec<u8> {
    head_of(PLAIN, unpacked, packed, rows, statistics)
}

fn head_of(encoding: i64, unpacked: i64, packed: i64, rows: i64, statistics: Vec<u8>) -> Vec<u8> {
    let data = [
        (1, Field::I32(rows)),
        (2, Field::I32(encoding)),
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

// Encodings of a page.
const PLAIN: i64 = 0;
const DELTA_BINARY_PACKED: i64 = 5;
const DELTA_LENGTH_BYTE_ARRAY: i64 = 6;
const DELTA_BYTE_ARRAY: i64 = 7;
const RLE_DICTIONARY: i64 = 8;
const BYTE_STREAM_SPLIT: i64 = 9;

/// A page that is not compressed, in this encoding.
fn page(encoding: i64, rows: i64, bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len() as i64;
    [head_of(encoding, length, length, rows, NO_STATISTICS.to_vec()), bytes.to_vec()].concat()
}

/// The start of packed numbers: values in a block, miniblocks, numbers, the first one.
fn packed(block: u64, miniblocks: u64, count: u64, first: i64) -> Vec<u8> {
    [varint(block), varint(miniblocks), varint(count), zigzag(first)].concat()
}

/// The same number `count` times.
fn same(number: i64, count: u64) -> Vec<u8> {
    let mut out = packed(1 << 30, 1, count, number);
    let blocks = count.saturating_sub(1).div_ceil(1 << 30);
    // Differences of zero, in no bits.
    out.extend((0..blocks).flat_map(|_| [0, 0]));
    out
}

fn read(bytes: &[u8], budget: Option<u64>) -> Outcome {
    read_as("auto", bytes, budget)
}

pub fn read_as(format: &str, bytes: &[u8], budget: Option<u64>) -> Outcome {
    let mut plan = plan_of(format, FIRST);
    plan.limits.threads = 2;
    plan.limits.memory = budget.map(|budget| memory(budget, &std::env::temp_dir()));
    ran_on(&plan, bytes)
}

#[track_caller]
fn is_refused(name: &str, bytes: &[u8], words: &str) {
    is_refused_as("auto", name, bytes, words);
}

/// With any memory it is an error of these words. A file that takes too much memory may be undamaged.
#[track_caller]
pub fn is_refused_as(format: &str, name: &str, bytes: &[u8], words: &str) {
    for budget in [None, Some(64 << 20)] {
        let found = read_as(format, bytes, budget);
        assert_eq!(found.text(), "", "{name}");
        let error = found.error(name);
        let is_limit = error.contains("there is memory for");
        let kind = if is_limit { ": limit: " } else { ": damaged: " };
        assert!(error.contains(kind) && error.contains(words), "{name}: {error}");
    }
}

#[test]
fn unmodified_test_file_is_readable() {
    let data = plain(&["http://a/", "http://b/", "HTTP://a"]);
    let length = data.len() as i64;
    let bytes = [head(length, length, 3, NO_STATISTICS.to_vec()), data].concat();
    let pages = Pages { codec: 0, bytes, rows: 3, dictionary: false };
    let found = read(&with_pages(&pages), None).unwrap();
    assert_eq!((found.text(), found.report.tally.records), ("http://a/\nhttp://b/\n", 3));
}

#[test]
fn encrypted_column_is_an_error() {
    // Without the key the bytes cannot be read as a page: a length, then encrypted bytes.
    let bytes = [&95_u32.to_le_bytes()[..], &[0xE5; 95]].concat();
    let pages = Pages { codec: 0, bytes, rows: 3, dictionary: false };
    let with_key_of_footer = Field::Struct(fields(&[(1, Field::Struct(fields(&[])))]));
    let bytes = with_chunk(&pages, vec![(8, with_key_of_footer)]);
    let error = read(&bytes, None).error("encrypted");
    assert!(error.contains(": format: its column is encrypted"), "{error}");
    let bytes = with_chunk(&pages, vec![(8, Field::I32(1))]);
    is_refused("another type", &bytes, "a type that it cannot have");
}

#[test]
fn too_deep_or_too_wide_schema_is_rejected() {
    let nested = |depth: usize| {
        let above = (0..depth).map(|_| group(b"g", 1));
        with_schema(std::iter::once(group_of_one()).chain(above).chain([leaf(b"url")]).collect())
    };
    for depth in [50, 99] {
        read(&nested(depth), None).unwrap();
    }
    is_refused("one too many", &nested(100), "nested too deep");
    is_refused("nested", &nested(300_000), "nested too deep");
    for children in [3, i64::from(i32::MAX)] {
        let wide = with_schema(vec![group_of_one(), group(b"g", children), leaf(b"a"), leaf(b"b")]);
        is_refused("wide", &wide, "more columns in it than there are");
    }
    let negative = with_schema(vec![group_of_one(), group(b"g", -1), leaf(b"a")]);
    is_refused("negative", &negative, "more columns in it than there are");
}

#[test]
fn repeated_column_names_count_against_the_memory_limit() {
    let name = vec![b'n'; 16 << 10];
    let mut schema = vec![group_of_one()];
    schema.extend((0..90).map(|_| group(&name, 1)));
    schema.push(group(&name, 40_000));
    schema.extend((0..40_000).map(|_| leaf(b"u")));
    is_refused("60 GB", &with_schema(schema), "more than there is memory for");
}

#[test]
fn footer_with_wrong_field_types_is_rejected() {
    let schema = (2, Field::List(STRUCT, vec![group_of_one(), leaf(b"url")]));
    // A reader that goes by numbers alone takes the text for a number and fields.
    let hidden = fields(std::slice::from_ref(&schema));
    let bytes = file(b"", &[(1, Field::Text(hidden)), schema.clone(), (3, Field::I64(0))]);
    is_refused("a text for a number", &bytes, "a type that it cannot have");
    let bytes = file(b"", &[version(), (2, Field::List(BINARY, vec![text(b"x")]))]);
    is_refused("texts for columns", &bytes, "a type that it cannot be of");
    let bytes = file(b"", &[version(), (2, Field::Raw(LIST, list(STRUCT, 1 << 40)))]);
    is_refused("a list without end", &bytes, "ends early");
    let deep = (0..100_000).flat_map(|_| list(LIST, 1)).collect();
    let bytes = file(b"", &[version(), schema.clone(), (99, Field::Raw(LIST, deep))]);
    is_refused("lists in lists", &bytes, "nested too deep");
    let deep = (0..100_000).flat_map(|_| [0x1C]).collect();
    let bytes = file(b"", &[version(), schema.clone(), (99, Field::Raw(STRUCT, deep))]);
    is_refused("structs in structs", &bytes, "nested too deep");
    let bytes = file(b"", &[version(), (6, Field::Text(b"x".to_vec())), schema]);
    is_refused("a field before the schema", &bytes, "its schema does not follow its version");
}

#[test]
fn impossible_row_and_group_counts_are_errors() {
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
fn page_that_claims_more_than_fits_in_memory_is_rejected() {
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
        ("dictionary below nothing", of(0, dictionary(-1, b""), true), "out of range"),
    ] {
        is_refused(name, &bytes, words);
    }
}

#[test]
fn page_larger_than_the_memory_limit_is_not_decompressed() {
    let data = plain(&["http://a/", &format!("http://b/{}", "b".repeat(64 << 20)), "http://c/"]);
    let packed = zstd::encode_all(&data[..], 1).unwrap();
    assert!(packed.len() < 100 << 10);
    let head = head(data.len() as i64, packed.len() as i64, 3, NO_STATISTICS.to_vec());
    let bytes = [head, packed].concat();
    let file = with_pages(&Pages { codec: 6, bytes, rows: 3, dictionary: false });
    let tally = read(&file, Some(4 << 30)).unwrap().report.tally;
    assert_eq!((tally.unique, tally.rejected), (2, 1));
    let error = read(&file, Some(64 << 20)).error("64 MiB in a page");
    let words =
        ": limit: row group 1 of 1: column `url`: a page is longer than there is memory for";
    assert!(error.contains(words), "{error}");
}

#[test]
fn value_counts_that_agree_with_the_page_header_are_read() {
    let texts = ["http://a/", "http://b/", "http://a/"];
    let all = texts.concat().into_bytes();
    let suffixes = [same(9, 1), b"http://a/".to_vec()].concat();
    for (name, encoding, rows, bytes) in [
        ("lengths", DELTA_LENGTH_BYTE_ARRAY, 3, [same(9, 3), all].concat()),
        ("one", DELTA_BYTE_ARRAY, 1, [same(0, 1), suffixes].concat()),
        (
            "shared",
            DELTA_BYTE_ARRAY,
            3,
            // 0, 7, 7 and 9, 2, 2: a difference of 7 or -7, then none.
            [
                packed(128, 1, 3, 0),
                vec![0, 3, 7],
                vec![0; 47],
                packed(128, 1, 3, 9),
                vec![13, 3, 0b111_000],
                vec![0; 47],
                b"http://a/b/a/".to_vec(),
            ]
            .concat(),
        ),
    ] {
        let pages =
            Pages { codec: 0, bytes: page(encoding, rows, &bytes), rows, dictionary: false };
        let found = read(&with_pages(&pages), Some(64 << 20)).unwrap();
        assert_eq!(found.report.tally.records, rows as u64, "{name}");
        let expected = if rows == 1 { "http://a/\n" } else { "http://a/\nhttp://b/\n" };
        assert_eq!(found.text(), expected, "{name}");
    }
}

#[test]
fn more_values_than_the_page_header_claims_are_rejected() {
    let most = (1 << 31) - 1;
    let huge = 1 << 62;
    for (name, encoding, rows, bytes, words) in [
        (
            "lengths",
            DELTA_LENGTH_BYTE_ARRAY,
            3,
            same(0, most),
            "3 values by its head, and 2147483647",
        ),
        ("four", DELTA_LENGTH_BYTE_ARRAY, 3, same(0, 4), "3 values by its head, and 4"),
        (
            "huge",
            DELTA_LENGTH_BYTE_ARRAY,
            3,
            packed(128, 4, huge, 0),
            "more numbers than there can be",
        ),
        (
            "of no bits",
            DELTA_LENGTH_BYTE_ARRAY,
            most as i64,
            same(0, most),
            "column `url`: in a page, it has 2147483647 values, more than there is memory for",
        ),
        ("beginnings", DELTA_BYTE_ARRAY, 3, same(0, most), "3 values by its head, and 2147483647"),
        (
            "ends",
            DELTA_BYTE_ARRAY,
            3,
            [same(0, 3), same(0, most)].concat(),
            "not have as many beginnings as ends",
        ),
        ("below nothing", DELTA_BYTE_ARRAY, 3, [same(-1, 3), same(3, 3)].concat(), "none can have"),
        ("no end", DELTA_BYTE_ARRAY, 3, packed(128, 4, 3, 0), "its numbers end early"),
        ("block", DELTA_LENGTH_BYTE_ARRAY, 3, packed(100, 4, 3, 0), "a size that none can have"),
        ("no block", DELTA_LENGTH_BYTE_ARRAY, 3, packed(0, 1, 3, 0), "a size that none can have"),
        ("wide block", DELTA_BYTE_ARRAY, 3, packed(huge, 1, 3, 0), "a size that none can have"),
        ("miniblocks", DELTA_BYTE_ARRAY, 3, packed(128, huge, 3, 0), "a size that none can have"),
        ("no miniblocks", DELTA_BYTE_ARRAY, 3, packed(128, 0, 3, 0), "a size that none can have"),
        (
            "bits",
            DELTA_BYTE_ARRAY,
            3,
            [packed(128, 1, 3, 0), vec![0, 200], vec![0; 4000]].concat(),
            "with more bits than they have",
        ),
        ("no number", DELTA_LENGTH_BYTE_ARRAY, 3, vec![0xFF; 40], "is too long"),
    ] {
        let pages =
            Pages { codec: 0, bytes: page(encoding, rows, &bytes), rows, dictionary: false };
        is_refused(name, &with_pages(&pages), words);
        if name != "of no bits" {
            is_refused(name, &with_pages(&pages), "row group 1 of 1: column `url`: a page says");
        }
    }
    let keys =
        [dictionary(1, &plain(&["http://a/"])), page(RLE_DICTIONARY, 3, &[33, 6, 0])].concat();
    let pages = Pages { codec: 0, bytes: keys, rows: 3, dictionary: true };
    is_refused(
        "keys",
        &with_pages(&pages),
        "row group 1 of 1: Invalid or corrupted RLE bit width 33",
    );
}

#[test]
fn expanded_prefix_encoded_texts_are_not_all_held_at_once() {
    let long = format!("http://a/{}", "a".repeat(1 << 20)).into_bytes();
    let (length, rows) = (long.len() as i64, 1_001);
    // The first is all suffix, the others all prefix: a difference of the length, and then none.
    let step = |first: i64, then: i64| -> Vec<u8> {
        let width = 22;
        let delta = then - first;
        let bits = if delta > 0 { delta as u64 } else { 0 };
        // From the least difference on, in 22 bits each.
        let least = delta.min(0);
        let mut out = packed(16_384, 1, rows as u64, first);
        out.extend(zigzag(least));
        out.push(width);
        let mut numbers = vec![-least as u64; rows as usize - 1];
        numbers[0] = if delta > 0 { bits } else { 0 };
        let mut block = vec![0_u8; 16_384 * width as usize / 8];
        for (i, number) in numbers.iter().enumerate() {
            for bit in 0..usize::from(width) {
                let at = i * usize::from(width) + bit;
                block[at / 8] |= ((number >> bit & 1) as u8) << (at % 8);
            }
        }
        out.extend(block);
        out
    };
    let bytes = [step(0, length), step(length, 0), long].concat();
    let file = |rows: i64, bytes: &[u8]| {
        let bytes = page(DELTA_BYTE_ARRAY, rows, bytes);
        with_pages(&Pages { codec: 0, bytes, rows, dictionary: false })
    };
    let found = read(&file(rows, &bytes), Some(64 << 20)).unwrap();
    assert_eq!(found.report.tally.records, rows as u64);
}

#[test]
fn compression_bombs_are_rejected() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(&vec![0; 64 << 20]).unwrap();
    let packed = packer.finish().unwrap();
    // A frame of LZ4, one of its first form, and two that are passed over.
    let [frame, legacy, first, last] = [
        [4, 0x22, 0x4D, 0x18],
        [2, 0x21, 0x4C, 0x18],
        [0x50, 0x2A, 0x4D, 0x18],
        [0x5F, 0x2A, 0x4D, 0x18],
    ]
    .map(|magic| [&magic[..], &[0; 64 << 10]].concat());
    let mut repeated = Vec::new();
    let nothing = &mut &vec![0; 64 << 20][..];
    brotli::BrotliCompress(nothing, &mut repeated, &Default::default()).unwrap();
    // A page that says it keeps more than brotli can.
    let large = [&[0b1_0001][..], &repeated].concat();
    let mut packer = lz4_flex::frame::FrameEncoder::new(Vec::new());
    packer.write_all(&vec![0; 64 << 20]).unwrap();
    let blocks = packer.finish().unwrap();
    for (codec, packed, words) in [
        (2, &packed, "it has 100 bytes by its head, and unpacks to 101"),
        (4, &repeated, "it has 100 bytes by its head, and unpacks to 101"),
        (4, &large, "its brotli window is larger than the standard has"),
        (5, &blocks, "it has 100 bytes by its head, and unpacks to 101"),
        (5, &frame, ""),
        (5, &legacy, ""),
        (5, &first, ""),
        (5, &last, ""),
    ] {
        let head = head(100, packed.len() as i64, 3, NO_STATISTICS.to_vec());
        let bytes = [head, packed.clone()].concat();
        let file = with_pages(&Pages { codec, bytes, rows: 3, dictionary: false });
        let error = read(&file, Some(64 << 20)).error("a bomb");
        let place = ": damaged: row group 1 of 1: column `url`: a page says what cannot be: ";
        assert!(error.contains(place) && error.contains(words), "{codec}: {error}");
    }
}

#[test]
fn uncompressed_page_is_not_checked_as_compressed() {
    const BROTLI: i64 = 4;
    const FALSE: u8 = 2;
    // The first byte is the length of the first URL, and no brotli window begins with it.
    let bytes = plain(&["http://a.example/", "http://b/"]);
    assert_eq!(bytes[0], 0b1_0001);
    let length = bytes.len() as i64;
    let data = [
        (1, Field::I32(2)),
        (2, Field::I32(0)),
        (3, Field::I32(2)),
        (4, Field::I32(PLAIN)),
        (5, Field::I32(0)),
        (6, Field::I32(0)),
    ];
    let page = |is_compressed: &[(i64, Field)]| {
        let data = fields(&[&data[..], is_compressed].concat());
        let head = fields(&[
            (1, Field::I32(3)),
            (2, Field::I32(length)),
            (3, Field::I32(length)),
            (8, Field::Struct(data)),
        ]);
        let bytes = [head, bytes.clone()].concat();
        read(&with_pages(&Pages { codec: BROTLI, bytes, rows: 2, dictionary: false }), None)
    };
    let unpacked = page(&[(7, Field::Raw(FALSE, Vec::new()))]).unwrap();
    assert_eq!(unpacked.text(), "http://a.example/\nhttp://b/\n");
    let error = page(&[]).error("it is packed where nothing is said");
    assert!(error.contains("its brotli window"), "{error}");
}

#[test]
fn more_numbers_than_the_page_header_claims_take_no_memory() {
    const INT32: i64 = 1;
    let urls = page(PLAIN, 3, &plain(&["http://a/", "http://b/", "http://c/"]));
    let file = |encoding, bytes: &[u8]| {
        let numbers = page(encoding, 3, bytes);
        let chunk = |name: &[u8], kind, start: i64, pages: &[u8]| {
            let length = pages.len() as i64;
            let column = fields(&[
                (1, Field::I32(kind)),
                (2, Field::List(I32, vec![zigzag(0)])),
                (3, Field::List(BINARY, vec![text(name)])),
                (4, Field::I32(0)),
                (5, Field::I64(3)),
                (6, Field::I64(length)),
                (7, Field::I64(length)),
                (9, Field::I64(start)),
            ]);
            fields(&[(2, Field::I64(start)), (3, Field::Struct(column))])
        };
        let chunks =
            vec![chunk(b"url", 6, 4, &urls), chunk(b"n", INT32, 4 + urls.len() as i64, &numbers)];
        let both = [&urls[..], &numbers].concat();
        let group = fields(&[
            (1, Field::List(STRUCT, chunks)),
            (2, Field::I64(both.len() as i64)),
            (3, Field::I64(3)),
        ]);
        let number = [(1, Field::I32(INT32)), (3, Field::I32(0)), (4, Field::Text(b"n".to_vec()))];
        let root = fields(&[(4, Field::Text(b"root".to_vec())), (5, Field::I32(2))]);
        let footer = [
            version(),
            (2, Field::List(STRUCT, vec![root, leaf(b"url"), fields(&number)])),
            (3, Field::I64(3)),
            (4, Field::List(STRUCT, vec![group])),
        ];
        self::file(&both, &footer)
    };
    let format = "parquet:target=url,status=n";
    let statuses = [200, 0, 0, 200, 0, 0, 0, 0, 0, 0, 0, 0];
    for (encoding, bytes) in
        [(BYTE_STREAM_SPLIT, &statuses[..]), (DELTA_BINARY_PACKED, &same(200, 3))]
    {
        let found = read_as(format, &file(encoding, bytes), Some(64 << 20)).unwrap();
        assert_eq!(found.text().lines().count(), 3, "{encoding}");
    }
    // The library takes no memory for numbers that a page has beyond those of its header.
    for (encoding, bytes) in [
        (BYTE_STREAM_SPLIT, vec![0; 16]),
        (BYTE_STREAM_SPLIT, vec![0; 13]),
        (DELTA_BINARY_PACKED, same(200, 1 << 31)),
    ] {
        let found = read_as(format, &file(encoding, &bytes), Some(64 << 20)).unwrap();
        assert_eq!(found.text().lines().count(), 3, "{encoding}");
    }
    for (encoding, bytes) in
        [(BYTE_STREAM_SPLIT, vec![0; 8]), (DELTA_BINARY_PACKED, packed(1 << 40, 1, 3, 0))]
    {
        let found = read_as(format, &file(encoding, &bytes), Some(64 << 20));
        let error = found.error("wrong lengths");
        assert!(error.contains(": damaged: row group 1 of 1: "), "{error}");
    }
}

#[test]
fn large_decompressed_pages_are_not_all_held_at_once() {
    // Each page has one row of four megabytes. A batch sized by the footer would hold all of them.
    let url = format!("http://a/{}", "a".repeat(4 << 20));
    let data = plain(&[&url]);
    let packed = zstd::encode_all(&data[..], 1).unwrap();
    let head = head(data.len() as i64, packed.len() as i64, 1, NO_STATISTICS.to_vec());
    let rows = 400;
    let bytes = [head, packed].concat().repeat(rows);
    let file = with_pages(&Pages { codec: 6, bytes, rows: rows as i64, dictionary: false });
    assert!(file.len() < 1 << 20);
    let found = read(&file, Some(64 << 20)).unwrap();
    assert_eq!(found.report.tally.rejected, rows as u64);
}
