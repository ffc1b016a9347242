//! Parquet files whose headers claim impossible sizes, or more than memory holds: each is an error
//! that says so, and none ends the process.

use std::io::Write;

use uniqurl_engine::CHUNK_SIZE;

use crate::runs::{FIRST, Outcome, gzip, limit, plan_of, ran_on};

/// A field of Thrift's compact protocol: its number, its type, and the bytes of its value.
type Field = (i64, u8, Vec<u8>);

const I32: u8 = 5;
const I64: u8 = 6;
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

/// The start of a list of so many elements.
fn elements(kind: u8, count: u64) -> Vec<u8> {
    [vec![0xF0 | kind], varint(count)].concat()
}

fn int(id: i64, number: i64) -> Field {
    (id, I32, zigzag(number))
}

fn long(id: i64, number: i64) -> Field {
    (id, I64, zigzag(number))
}

fn binary(id: i64, bytes: &[u8]) -> Field {
    (id, BINARY, text(bytes))
}

fn list(id: i64, kind: u8, all: &[Vec<u8>]) -> Field {
    (id, LIST, [elements(kind, all.len() as u64), all.concat()].concat())
}

/// The bytes of a struct with its stop.
fn fields(fields: &[Field]) -> Vec<u8> {
    let mut out = Vec::new();
    for (id, kind, value) in fields {
        out.push(*kind);
        out.extend(zigzag(*id));
        out.extend(value);
    }
    out.push(0);
    out
}

fn root(children: i64) -> Vec<u8> {
    fields(&[binary(4, b"root"), int(5, children)])
}

fn group(name: &[u8], children: i64) -> Vec<u8> {
    fields(&[int(3, 0), binary(4, name), int(5, children)])
}

// Types of a column.
const INT32: i64 = 1;
const BYTE_ARRAY: i64 = 6;

fn leaf(name: &[u8]) -> Vec<u8> {
    typed_leaf(name, BYTE_ARRAY)
}

fn typed_leaf(name: &[u8], kind: i64) -> Vec<u8> {
    fields(&[int(1, kind), int(3, 0), binary(4, name)])
}

/// A file of these pages and this footer.
fn file(pages: &[u8], footer: &[Field]) -> Vec<u8> {
    let footer = fields(footer);
    let length = (footer.len() as u32).to_le_bytes();
    [b"PAR1", pages, &footer, &length, b"PAR1"].concat()
}

fn version() -> Field {
    int(1, 2)
}

/// A schema of one column.
fn schema() -> Field {
    list(2, STRUCT, &[root(1), leaf(b"url")])
}

/// A file with this schema and no rows.
fn with_schema(schema: &[Vec<u8>]) -> Vec<u8> {
    file(b"", &[version(), list(2, STRUCT, schema), long(3, 0), list(4, STRUCT, &[])])
}

/// A column of these pages, which start at an offset.
fn chunk(name: &[u8], kind: i64, codec: i64, rows: i64, start: usize, pages: &[u8]) -> Vec<Field> {
    let (start, length) = (start as i64, pages.len() as i64);
    let mut column = vec![
        int(1, kind),
        list(2, I32, &[zigzag(PLAIN), zigzag(RLE_DICTIONARY)]),
        list(3, BINARY, &[text(name)]),
        int(4, codec),
        long(5, rows),
        long(6, length),
        long(7, length),
        long(9, start),
    ];
    if pages.starts_with(&dictionary(0, b"")[..3]) {
        column.push(long(11, start));
    }
    vec![long(2, start), (3, STRUCT, fields(&column))]
}

fn row_group(chunks: &[Vec<u8>], length: usize, rows: i64) -> Vec<u8> {
    fields(&[list(1, STRUCT, chunks), long(2, length as i64), long(3, rows)])
}

/// A file with one row group of one column.
fn with_pages(codec: i64, rows: i64, pages: &[u8]) -> Vec<u8> {
    let chunk = fields(&chunk(b"url", BYTE_ARRAY, codec, rows, 4, pages));
    let group = row_group(&[chunk], pages.len(), rows);
    file(pages, &[version(), schema(), long(3, rows), list(4, STRUCT, &[group])])
}

/// The head of a data page.
fn head(encoding: i64, unpacked: i64, packed: i64, rows: i64, statistics: &[u8]) -> Vec<u8> {
    let statistics = (5, STRUCT, statistics.to_vec());
    let data = fields(&[int(1, rows), int(2, encoding), int(3, 3), int(4, 3), statistics]);
    fields(&[int(1, 0), int(2, unpacked), int(3, packed), (5, STRUCT, data)])
}

fn dictionary(values: i64, bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len() as i64;
    let about = fields(&[int(1, values), int(2, 0)]);
    let head = fields(&[int(1, 2), int(2, length), int(3, length), (7, STRUCT, about)]);
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
    [&head(encoding, length, length, rows, NO_STATISTICS), bytes].concat()
}

/// A page of texts that is compressed.
fn packed_page(unpacked: usize, rows: i64, packed: &[u8]) -> Vec<u8> {
    let head = head(PLAIN, unpacked as i64, packed.len() as i64, rows, NO_STATISTICS);
    [&head, packed].concat()
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
    limit(&mut plan, 2, CHUNK_SIZE, budget);
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
fn encrypted_column_is_an_error() {
    // Without the key the bytes cannot be read as a page: a length, then encrypted bytes.
    let pages = [&95_u32.to_le_bytes()[..], &[0xE5; 95]].concat();
    // Only the column of the second row group tells of a key.
    let with = |key: Field| {
        let mut chunk = chunk(b"url", BYTE_ARRAY, 0, 3, 4, &pages);
        let plain = row_group(&[fields(&chunk)], pages.len(), 3);
        chunk.push(key);
        let encrypted = row_group(&[fields(&chunk)], pages.len(), 3);
        file(&pages, &[version(), schema(), long(3, 3), list(4, STRUCT, &[plain, encrypted])])
    };
    let key_of_footer = fields(&[(1, STRUCT, fields(&[]))]);
    let error = read(&with((8, STRUCT, key_of_footer)), None).error("encrypted");
    assert!(error.contains(": format: its column is encrypted"), "{error}");
    is_refused("another type", &with(int(8, 1)), "a type that it cannot have");
}

#[test]
fn too_deep_or_too_wide_schema_is_rejected() {
    let nested = |depth: usize| {
        let above = (0..depth).map(|_| group(b"g", 1));
        with_schema(&[root(1)].into_iter().chain(above).chain([leaf(b"url")]).collect::<Vec<_>>())
    };
    for depth in [50, 99] {
        read(&nested(depth), None).unwrap();
    }
    is_refused("one too many", &nested(100), "nested too deep");
    is_refused("nested", &nested(300_000), "nested too deep");
    for children in [3, i64::from(i32::MAX), -1] {
        let wide = with_schema(&[root(1), group(b"g", children), leaf(b"a"), leaf(b"b")]);
        is_refused("wide", &wide, "more columns in it than there are");
    }
}

#[test]
fn repeated_column_names_count_against_the_memory_limit() {
    let name = vec![b'n'; 16 << 10];
    let mut schema = vec![root(1)];
    schema.extend((0..90).map(|_| group(&name, 1)));
    schema.push(group(&name, 40_000));
    schema.extend((0..40_000).map(|_| leaf(b"u")));
    is_refused("60 GB", &with_schema(&schema), "more than there is memory for");
}

#[test]
fn footer_with_impossible_fields_is_rejected() {
    let groups = |list: Vec<u8>| [version(), schema(), long(3, 0), (4, LIST, list)];
    let rows = |rows| [version(), schema(), long(3, rows), list(4, STRUCT, &[])];
    let deep = |kind, start: &[u8]| [version(), schema(), (99, kind, start.repeat(100_000))];
    let (type_of_field, type_of_element) =
        ("a type that it cannot have", "a type that it cannot be of");
    for (name, footer, words) in [
        // A reader that goes by numbers alone takes the text for a number and fields.
        (
            "a text for a number",
            &[binary(1, &fields(&[schema()])), schema(), long(3, 0)][..],
            type_of_field,
        ),
        ("texts for columns", &[version(), list(2, BINARY, &[text(b"x")])], type_of_element),
        ("an endless list", &[version(), (2, LIST, elements(STRUCT, 1 << 40))], "ends early"),
        ("lists in lists", &deep(LIST, &elements(LIST, 1)), "nested too deep"),
        ("structs in structs", &deep(STRUCT, &[0x1C]), "nested too deep"),
        (
            "a field before the schema",
            &[version(), binary(6, b"x"), schema()],
            "its schema does not follow its version",
        ),
        ("groups", &groups(elements(STRUCT, u64::from(u32::MAX))), ""),
        ("no columns", &groups(list(4, STRUCT, &vec![fields(&[long(3, 0)]); 1000]).2), ""),
        ("rows", &rows(i64::MAX), ""),
        ("rows below nothing", &rows(-1), ""),
    ] {
        is_refused(name, &file(b"", footer), words);
    }
}

#[test]
fn page_that_claims_more_than_fits_in_memory_is_rejected() {
    let most = i64::from(i32::MAX);
    let of =
        |unpacked, packed| [head(PLAIN, unpacked, packed, 3, NO_STATISTICS), vec![0; 9]].concat();
    let statistics = [vec![0x18], varint(1 << 41)].concat();
    let urls = plain(&["http://a/"]);
    for (name, codec, page, words) in [
        ("unpacked", 6, of(most, 9), "there is memory for"),
        ("packed", 0, of(9, most), "there is memory for"),
        ("below nothing", 6, of(-1, 9), "none can have"),
        ("packed below nothing", 6, of(9, -9), "none can have"),
        ("statistics", 0, head(PLAIN, 9, 9, 3, &statistics), "the head of a page ends early"),
        ("dictionary", 0, dictionary(most, &urls), "more values than it has room for"),
        ("dictionary below nothing", 0, dictionary(-1, b""), "out of range"),
    ] {
        is_refused(name, &with_pages(codec, 3, &page), words);
    }
}

#[test]
fn page_larger_than_the_memory_limit_is_not_decompressed() {
    let data = plain(&["http://a/", &format!("http://b/{}", "b".repeat(64 << 20)), "http://c/"]);
    let packed = zstd::encode_all(&data[..], 1).unwrap();
    assert!(packed.len() < 100 << 10);
    let file = with_pages(6, 3, &packed_page(data.len(), 3, &packed));
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
    // 0, 7, 7 and 9, 2, 2: a difference of 7 or -7, then none.
    let shared = [packed(128, 1, 3, 0), vec![0, 3, 7], vec![0; 47]].concat();
    let ends = [packed(128, 1, 3, 9), vec![13, 3, 0b111_000], vec![0; 47]].concat();
    for (name, encoding, rows, bytes) in [
        ("lengths", DELTA_LENGTH_BYTE_ARRAY, 3, [same(9, 3), all].concat()),
        ("one", DELTA_BYTE_ARRAY, 1, [same(0, 1), suffixes].concat()),
        ("shared", DELTA_BYTE_ARRAY, 3, [shared, ends, b"http://a/b/a/".to_vec()].concat()),
    ] {
        let file = with_pages(0, rows, &page(encoding, rows, &bytes));
        let found = read(&file, Some(64 << 20)).unwrap();
        assert_eq!(found.report.tally.records, rows as u64, "{name}");
        let expected = if rows == 1 { "http://a/\n" } else { "http://a/\nhttp://b/\n" };
        assert_eq!(found.text(), expected, "{name}");
    }
}

#[test]
fn more_values_than_the_page_header_claims_are_rejected() {
    let (most, huge) = ((1 << 31) - 1, 1 << 62);
    let no_size = "a size that none can have";
    // Lengths of texts alone, and of beginnings shared with the text before.
    let (lengths, beginnings) = (DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY);
    let more_ends = [same(0, 3), same(0, most)].concat();
    let wide = [packed(128, 1, 3, 0), vec![0, 200], vec![0; 4000]].concat();
    for (name, encoding, bytes, words) in [
        ("lengths", lengths, same(0, most), "3 values by its head, and 2147483647"),
        ("four", lengths, same(0, 4), "3 values by its head, and 4"),
        ("huge", lengths, packed(128, 4, huge, 0), "more numbers than there can be"),
        ("beginnings", beginnings, same(0, most), "3 values by its head, and 2147483647"),
        ("ends", beginnings, more_ends, "not have as many beginnings as ends"),
        ("below nothing", beginnings, [same(-1, 3), same(3, 3)].concat(), "none can have"),
        ("no end", beginnings, packed(128, 4, 3, 0), "its numbers end early"),
        ("block", lengths, packed(100, 4, 3, 0), no_size),
        ("no block", lengths, packed(0, 1, 3, 0), no_size),
        ("wide block", beginnings, packed(huge, 1, 3, 0), no_size),
        ("miniblocks", beginnings, packed(128, huge, 3, 0), no_size),
        ("no miniblocks", beginnings, packed(128, 0, 3, 0), no_size),
        ("bits", beginnings, wide, "with more bits than they have"),
        ("no number", lengths, vec![0xFF; 40], "is too long"),
    ] {
        let file = with_pages(0, 3, &page(encoding, 3, &bytes));
        is_refused(name, &file, words);
        is_refused(name, &file, "row group 1 of 1: column `url`: a page says");
    }
    let rows = most as i64;
    let words = "column `url`: in a page, it has 2147483647 values, more than there is memory for";
    let of_no_bits = with_pages(0, rows, &page(lengths, rows, &same(0, most)));
    is_refused("of no bits", &of_no_bits, words);
    let keys =
        [dictionary(1, &plain(&["http://a/"])), page(RLE_DICTIONARY, 3, &[33, 6, 0])].concat();
    let words = "row group 1 of 1: Invalid or corrupted RLE bit width 33";
    is_refused("keys", &with_pages(0, 3, &keys), words);
}

#[test]
fn expanded_prefix_encoded_texts_are_not_all_held_at_once() {
    let long = format!("http://a/{}", "a".repeat(1 << 20)).into_bytes();
    let (length, rows) = (long.len() as i64, 1_001);
    // The first is all suffix, the others all prefix: a difference of the length, and then none.
    // Differences count from the least one on, in 22 bits each.
    let step = |first: i64, then: i64| -> Vec<u8> {
        const WIDTH: usize = 22;
        let delta = then - first;
        let least = delta.min(0);
        let mut block = vec![0_u8; 16_384 * WIDTH / 8];
        for i in 0..rows as usize - 1 {
            let number = if i == 0 { delta - least } else { -least };
            for bit in (0..WIDTH).filter(|bit| number >> bit & 1 == 1) {
                let at = i * WIDTH + bit;
                block[at / 8] |= 1 << (at % 8);
            }
        }
        let start = packed(16_384, 1, rows as u64, first);
        [start, zigzag(least), vec![WIDTH as u8], block].concat()
    };
    let bytes = [step(0, length), step(length, 0), long].concat();
    let file = with_pages(0, rows, &page(DELTA_BYTE_ARRAY, rows, &bytes));
    let found = read(&file, Some(64 << 20)).unwrap();
    assert_eq!(found.report.tally.records, rows as u64);
}

#[test]
fn compression_bombs_are_rejected() {
    let packed = gzip(&vec![0; 64 << 20]);
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
        let file = with_pages(codec, 3, &packed_page(100, 3, packed));
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
    let data = [int(1, 2), int(2, 0), int(3, 2), int(4, PLAIN), int(5, 0), int(6, 0)];
    let page = |is_compressed: &[Field]| {
        let data = fields(&[&data[..], is_compressed].concat());
        let head = fields(&[int(1, 3), int(2, length), int(3, length), (8, STRUCT, data)]);
        read(&with_pages(BROTLI, 2, &[&head[..], &bytes].concat()), None)
    };
    let unpacked = page(&[(7, FALSE, Vec::new())]).unwrap();
    assert_eq!(unpacked.text(), "http://a.example/\nhttp://b/\n");
    let error = page(&[]).error("it is packed where nothing is said");
    assert!(error.contains("its brotli window"), "{error}");
}

#[test]
fn more_numbers_than_the_page_header_claims_take_no_memory() {
    let urls = page(PLAIN, 3, &plain(&["http://a/", "http://b/", "http://c/"]));
    let file = |encoding, bytes: &[u8]| {
        let numbers = page(encoding, 3, bytes);
        let chunks = [
            fields(&chunk(b"url", BYTE_ARRAY, 0, 3, 4, &urls)),
            fields(&chunk(b"n", INT32, 0, 3, 4 + urls.len(), &numbers)),
        ];
        let both = [&urls[..], &numbers].concat();
        let schema = list(2, STRUCT, &[root(2), leaf(b"url"), typed_leaf(b"n", INT32)]);
        let group = row_group(&chunks, both.len(), 3);
        self::file(&both, &[version(), schema, long(3, 3), list(4, STRUCT, &[group])])
    };
    let format = "parquet:target=url,status=n";
    let statuses = [200, 0, 0, 200, 0, 0, 0, 0, 0, 0, 0, 0];
    // The library takes no memory for numbers that a page has beyond those of its header.
    for (encoding, bytes) in [
        (BYTE_STREAM_SPLIT, statuses.to_vec()),
        (BYTE_STREAM_SPLIT, vec![0; 16]),
        (BYTE_STREAM_SPLIT, vec![0; 13]),
        (DELTA_BINARY_PACKED, same(200, 3)),
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
    let rows = 400;
    let file = with_pages(6, rows as i64, &packed_page(data.len(), 1, &packed).repeat(rows));
    assert!(file.len() < 1 << 20);
    let found = read(&file, Some(64 << 20)).unwrap();
    assert_eq!(found.report.tally.rejected, rows as u64);
}
