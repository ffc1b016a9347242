//! Validates the claims of a Parquet file before the library trusts them.
//!
//! The library allocates by the claims of a file and recurses as deep as its schema is nested, so a
//! file of a few bytes could abort the process. Input is the footer and the headers of the pages to be
//! read; output is an error if they claim the impossible, or more than memory allows. The footer also
//! tells which columns are encrypted, which the library does not detect.

use std::collections::BTreeSet;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use parquet::basic::Compression;

use super::error::TableError;
use super::file::At;
use super::thrift::{self, Event, I32, I64, Shape, ThriftError};

/// Deepest nesting of columns. Real writers reach a tenth of that.
const NESTED: usize = 100;

/// Approximate memory that the library uses per column of a schema, and per column of a row group.
const COLUMN: usize = 1 << 10;
const CHUNK: usize = 1 << 10;

/// Longest footer, and the memory always granted to one.
const FOOTER: usize = 256 << 20;
const LEAST: usize = 16 << 20;

/// Longest page header; most have less than a hundred bytes.
const HEAD: usize = 16 << 20;
const USUAL_HEAD: usize = 1 << 10;

/// Page sizes: one up to the lower bound is always read, one above the upper bound never.
const PAGE: std::ops::RangeInclusive<usize> = 8 << 20..=1 << 30;

/// Largest expansion per packed byte: deflate has matches of 258 bytes in two bits, and LZ4 adds 255
/// with each byte.
const DEFLATE: u64 = 1032;
const LZ4: u64 = 255;

/// Buffer size for decoding brotli.
const BUFFER: usize = 64 << 10;

// The relevant part of parquet.thrift.
const FILE: &[(i16, Shape)] = &[
    (1, I32),
    (2, Shape::List(&Shape::Struct(COLUMN_OF_SCHEMA))),
    (3, I64),
    (4, Shape::List(&Shape::Struct(ROW_GROUP))),
    (5, Shape::List(&Shape::Struct(&[(1, Shape::Binary), (2, Shape::Binary)]))),
    (6, Shape::Binary),
    (7, Shape::List(&Shape::Struct(&[(1, NOTHING)]))),
];
const COLUMN_OF_SCHEMA: &[(i16, Shape)] = &[
    (1, I32),
    (2, I32),
    (3, I32),
    (NAME, Shape::Binary),
    (CHILDREN, I32),
    (6, I32),
    (7, I32),
    (8, I32),
    (9, I32),
    (10, Shape::Struct(LOGICAL_TYPE)),
];
const NAME: i16 = 4;
const CHILDREN: i16 = 5;
const LOGICAL_TYPE: &[(i16, Shape)] = &[
    (1, NOTHING),
    (2, NOTHING),
    (3, NOTHING),
    (4, NOTHING),
    (5, Shape::Struct(&[(1, I32), (2, I32)])),
    (6, NOTHING),
    (7, TIME),
    (8, TIME),
    (10, Shape::Struct(&[(1, Shape::Byte), (2, Shape::Bool)])),
    (11, NOTHING),
    (12, NOTHING),
    (13, NOTHING),
    (14, NOTHING),
    (15, NOTHING),
    (16, Shape::Struct(&[(1, Shape::Byte)])),
    (17, Shape::Struct(&[(1, Shape::Binary)])),
    (18, Shape::Struct(&[(1, Shape::Binary), (2, I32)])),
];
const NOTHING: Shape = Shape::Struct(&[]);
const TIME: Shape = Shape::Struct(&[
    (1, Shape::Bool),
    (2, Shape::Struct(&[(1, NOTHING), (2, NOTHING), (3, NOTHING)])),
]);
const ROW_GROUP: &[(i16, Shape)] =
    &[(COLUMNS, Shape::List(&Shape::Struct(&[(2, I64), (CRYPTO_METADATA, NOTHING)])))];
const COLUMNS: i16 = 1;
const CRYPTO_METADATA: i16 = 8;
const PAGE_HEAD: &[(i16, Shape)] = &[
    (1, I32),
    (UNPACKED, I32),
    (PACKED, I32),
    (4, I32),
    (DATA, Shape::Struct(&[(VALUES, I32), (ENCODING, I32), (3, I32), (4, I32), (5, STATISTICS)])),
    (DICTIONARY, Shape::Struct(&[(VALUES, I32), (2, I32), (3, Shape::Bool)])),
    (
        DATA_2,
        Shape::Struct(&[
            (VALUES, I32),
            (2, I32),
            (3, I32),
            (ENCODING_2, I32),
            (DEFINITIONS, I32),
            (REPETITIONS, I32),
            (IS_PACKED, Shape::Bool),
            (8, STATISTICS),
        ]),
    ),
];
const UNPACKED: i16 = 2;
const PACKED: i16 = 3;
const DATA: i16 = 5;
const DICTIONARY: i16 = 7;
const VALUES: i16 = 1;
const ENCODING: i16 = 2;
const DATA_2: i16 = 8;
const ENCODING_2: i16 = 4;
const DEFINITIONS: i16 = 5;
const REPETITIONS: i16 = 6;
const IS_PACKED: i16 = 7;
/// `PLAIN_DICTIONARY` and `RLE_DICTIONARY`.
const KEYED: [i64; 2] = [2, 8];
const STATISTICS: Shape = Shape::Struct(&[
    (1, Shape::Binary),
    (2, Shape::Binary),
    (3, I64),
    (4, I64),
    (5, Shape::Binary),
    (6, Shape::Binary),
    (7, Shape::Bool),
    (8, Shape::Bool),
]);

/// Validates the footer of a file, which may take `memory` bytes. Returns the columns that are
/// encrypted in some row group.
///
/// A file without a valid footer is left to the library to reject.
pub(super) fn footer(at: &At, memory: usize) -> Result<BTreeSet<usize>, TableError> {
    let memory = memory.max(LEAST);
    let size = at.size();
    let mut end = [0; 8];
    let Some(place) = size.checked_sub(end.len() as u64) else { return Ok(BTreeSet::new()) };
    at.read_at(&mut end, place)?;
    let [a, b, c, d, magic @ ..] = end;
    let length = u32::from_le_bytes([a, b, c, d]);
    if magic != *b"PAR1" || u64::from(length) > place {
        return Ok(BTreeSet::new());
    }
    if length as usize > FOOTER.min(memory) {
        return Err(TableError::too_much(format_args!("its footer has {length} bytes")));
    }
    let mut bytes = vec![0; length as usize];
    at.read_at(&mut bytes, place - u64::from(length))?;
    let mut schema = Schema::default();
    let mut is_schema = false;
    let mut chunks = 0_usize;
    let (mut column, mut encrypted) = (0, BTreeSet::new());
    let judged = thrift::read(&bytes, FILE, &mut |event| {
        match event {
            Event::List(0, id, count) => {
                is_schema = id == 2;
                if is_schema {
                    schema = Schema { left: count, ..Schema::default() };
                }
            }
            Event::List(1, COLUMNS, count) if !is_schema => {
                chunks = chunks.saturating_add(count as usize);
                column = 0;
            }
            Event::Struct(2, CRYPTO_METADATA) if !is_schema => drop(encrypted.insert(column)),
            Event::Element(1) if !is_schema => column += 1,
            Event::Int(1, CHILDREN, count) if is_schema => schema.children = count,
            Event::Binary(1, NAME, length) if is_schema => schema.name = length as usize,
            Event::Element(0) if is_schema => schema.end_column()?,
            _ => {}
        }
        Ok(())
    });
    judged.map_err(|wrong| match wrong {
        ThriftError::Cut => "its footer ends early".to_owned(),
        ThriftError::Not(words) => format!("its footer: {words}"),
    })?;
    // The library stores the full path of names for every column, twice.
    let columns = schema.columns.saturating_mul(COLUMN).saturating_add(2 * schema.paths);
    let all = columns.saturating_add(chunks.saturating_mul(CHUNK)).saturating_add(2 * bytes.len());
    if all > memory {
        let Schema { columns, .. } = schema;
        return Err(TableError::too_much(format_args!(
            "its footer tells of {columns} columns, and {chunks} in all row groups"
        )));
    }
    Ok(encrypted)
}

/// A schema's columns, in depth-first order.
#[derive(Default)]
struct Schema {
    /// Columns still to come.
    left: u64,
    /// Number of children and name length of the current column.
    children: i64,
    name: usize,
    /// The open parent columns: the number of children still to come in each, and the length of its
    /// path.
    open: Vec<(u64, usize)>,
    columns: usize,
    /// Total length of the paths of all columns.
    paths: usize,
}

impl Schema {
    fn end_column(&mut self) -> Result<(), ThriftError> {
        let (children, name) = (std::mem::take(&mut self.children), std::mem::take(&mut self.name));
        self.left = self.left.saturating_sub(1);
        self.columns += 1;
        while self.open.pop_if(|(more, _)| *more == 0).is_some() {}
        let above = self.open.last_mut().map_or(0, |(more, path)| {
            *more -= 1;
            *path
        });
        let path = above + name + size_of::<String>();
        let children = u64::try_from(children).unwrap_or(u64::MAX);
        if children > self.left {
            return Err(ThriftError::Not("a column has more columns in it than there are"));
        }
        if children > 0 {
            if self.open.len() == NESTED {
                return Err(ThriftError::Not("its columns are nested too deep"));
            }
            self.open.push((children, path));
        } else {
            self.paths = self.paths.saturating_add(path);
        }
        Ok(())
    }
}

/// The claim of a page with values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) rows: u64,
    pub(super) bytes: u64,
    /// True if its values are keys of the preceding dictionary.
    pub(super) keyed: bool,
}

/// Returns the limit for a page if `memory` bytes are available for each.
pub(super) fn room(memory: usize) -> usize {
    memory.clamp(*PAGE.start(), *PAGE.end())
}

/// Validates the headers of the pages in this byte range. A page may take at most `room` bytes, and a
/// dictionary value takes at least `value` bytes. Returns the claims of the pages with values.
pub(super) fn pages(
    at: &At,
    range: std::ops::Range<u64>,
    codec: Compression,
    value: u32,
    room: usize,
) -> Result<Vec<Claim>, TableError> {
    let mut claims = Vec::new();
    let mut place = range.start;
    let mut bytes = Vec::new();
    while place < range.end {
        let there = range.end - place;
        let mut wanted = USUAL_HEAD;
        let page = loop {
            bytes.resize(wanted.min(usize::try_from(there).unwrap_or(usize::MAX)), 0);
            at.read_at(&mut bytes, place)?;
            match page(&bytes, value) {
                Ok(found) => break found,
                Err(ThriftError::Cut) if (bytes.len() as u64) < there && wanted < HEAD => {
                    wanted *= 8
                }
                Err(ThriftError::Cut) => return Err("the head of a page ends early".into()),
                Err(ThriftError::Not(words)) => return Err(words.into()),
            }
        };
        place += page.head as u64;
        let is_too_long = page.packed.max(page.unpacked) > room as u64
            || !page.is_stored && unpacks_to_more(at, place, &page, codec, room as u64)?;
        if is_too_long {
            return Err(TableError::Limit(TOO_LONG.to_owned()));
        }
        place += page.packed;
        if let Some(rows) = page.rows {
            let keyed = KEYED.contains(&page.encoding);
            claims.push(Claim { rows, bytes: page.packed.max(page.unpacked), keyed });
        }
    }
    Ok(claims)
}

/// Returns the largest batch, up to `usual` rows, whose pages never take more than `room` bytes
/// together, except for a single page.
pub(super) fn batch(pages: &[Claim], usual: u64, room: u64) -> u64 {
    let mut most = usual;
    // Pages from the current one up to `next`: their bytes, and the rows of all but the first.
    let (mut next, mut bytes, mut rows) = (0, 0, 0);
    for (i, page) in pages.iter().enumerate() {
        while let Some(more) = pages.get(next)
            && (next == i || bytes + more.bytes <= room)
        {
            bytes += more.bytes;
            rows += if next > i { more.rows } else { 0 };
            next += 1;
        }
        if next < pages.len() {
            // A batch may begin with the last row of the current page.
            most = most.min(1 + rows);
        }
        bytes -= page.bytes;
        rows -= if next > i + 1 { pages[i + 1].rows } else { 0 };
    }
    most
}

/// A parsed page header.
#[derive(Default)]
struct PageHeader {
    /// Length of the header; then the packed and unpacked lengths of the page.
    head: usize,
    packed: u64,
    unpacked: u64,
    /// The first bytes of the page that are not packed: its levels.
    levels: i64,
    /// True if nothing is packed, whatever the codec: some writers store a page that would not shrink.
    is_stored: bool,
    rows: Option<u64>,
    encoding: i64,
}

const TOO_LONG: &str = "a page is longer than there is memory for";

/// Parses the page header at the start of `bytes`.
fn page(bytes: &[u8], value: u32) -> Result<PageHeader, ThriftError> {
    let mut page = PageHeader::default();
    let (mut packed, mut unpacked, mut values) = (0, 0, 0);
    let mut inside = 0;
    let mut rows = i64::MAX;
    page.head = thrift::read(bytes, PAGE_HEAD, &mut |event| {
        match event {
            Event::Int(0, UNPACKED, bytes) => unpacked = bytes,
            Event::Int(0, PACKED, bytes) => packed = bytes,
            Event::Struct(0, id) => {
                inside = id;
                // "optional bool is_compressed = true"
                page.is_stored = false;
            }
            Event::Bool(1, IS_PACKED, is_packed) if inside == DATA_2 => page.is_stored = !is_packed,
            Event::Int(1, VALUES, count) if inside == DICTIONARY => values = count,
            Event::Int(1, VALUES, count) if [DATA, DATA_2].contains(&inside) => {
                rows = rows.min(count)
            }
            Event::Int(1, ENCODING, code) if inside == DATA => page.encoding = code,
            Event::Int(1, ENCODING_2, code) if inside == DATA_2 => page.encoding = code,
            Event::Int(1, DEFINITIONS | REPETITIONS, bytes) if inside == DATA_2 => {
                page.levels += bytes
            }
            _ => {}
        }
        Ok(())
    })?;
    if values > unpacked / i64::from(value) {
        return Err(ThriftError::Not(
            "a dictionary says that it has more values than it has room for",
        ));
    }
    let [packed, unpacked, count, _] = [packed, unpacked, rows, values].map(u64::try_from);
    match (packed, unpacked, count, values >= 0) {
        (Ok(packed), Ok(unpacked), Ok(count), true) => {
            (page.packed, page.unpacked) = (packed, unpacked);
            page.rows = (rows != i64::MAX).then_some(count);
            Ok(page)
        }
        _ => Err(ThriftError::Not("a page has a length that none can have")),
    }
}

/// True if a page could unpack to more than `room` bytes, whatever its header says. With some codecs
/// the library unpacks to the end before it compares the length.
fn unpacks_to_more(
    at: &At,
    place: u64,
    page: &PageHeader,
    codec: Compression,
    room: u64,
) -> std::io::Result<bool> {
    let levels = u64::try_from(page.levels).unwrap_or(0).min(page.packed);
    let packed = page.packed - levels;
    let read = |length: u64| -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![0; length as usize];
        at.read_at(&mut bytes, place + levels).map(|()| bytes)
    };
    match codec {
        Compression::GZIP(_) if packed > room / DEFLATE => {
            Ok(goes_beyond(room, MultiGzDecoder::new(&read(packed)?[..])))
        }
        // Brotli can repeat its window any number of times.
        Compression::BROTLI(_) if packed > 0 => {
            let bytes = read(packed)?;
            let fits = window(bytes[0]).is_some_and(|window| window <= room);
            Ok(!fits || goes_beyond(room, brotli::Decompressor::new(&bytes[..], BUFFER)))
        }
        // LZ4 without a frame is unpacked to the length in the header.
        Compression::LZ4 if packed > room / LZ4 => {
            let magic = read(packed.min(4))?;
            Ok(matches!(
                &magic[..],
                [4, 0x22, 0x4D, 0x18] | [2, 0x21, 0x4C, 0x18] | [0x50..=0x5F, 0x2A, 0x4D, 0x18]
            ))
        }
        _ => Ok(false),
    }
}

/// True if `unpacked` yields more than `room` bytes. Decoding errors are left to the library.
fn goes_beyond(room: u64, unpacked: impl Read) -> bool {
    let mut unpacked = unpacked.take(room + 1);
    let _ = std::io::copy(&mut unpacked, &mut std::io::sink());
    unpacked.limit() == 0
}

/// Returns the size of the brotli window from the first byte (RFC 7932 section 9.1). `None` for "Large
/// Window Brotli" (more than 16 MiB), which the standard does not include.
fn window(first: u8) -> Option<u64> {
    let bits = match (first & 1, first >> 1 & 7, first >> 4 & 7) {
        (0, _, _) => 16,
        (_, 0, 0) => 17,
        (_, 0, 1) => return None,
        (_, 0, more) => 8 + more,
        (_, more, _) => 17 + more,
    };
    Some(1 << bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brotli_window_sizes_match_rfc_7932() {
        // RFC 7932 section 9.1, with the bits from last to first.
        #[rustfmt::skip]
        let table = [
            (0b0, 16), (0b0000001, 17), (0b0011, 18), (0b0101, 19), (0b0111, 20), (0b1001, 21), (0b1011, 22),
            (0b1101, 23), (0b1111, 24), (0b0100001, 10), (0b0110001, 11), (0b1000001, 12), (0b1010001, 13),
            (0b1100001, 14), (0b1110001, 15),
        ];
        for (first, bits) in table {
            assert_eq!(window(first | 0x80), Some(1 << bits), "{first:b}");
        }
        assert_eq!(window(0b0010001), None);
    }

    #[test]
    fn batch_spans_only_pages_that_fit_in_memory() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..2000 {
            let count = random(6);
            let pages: Vec<_> = (0..count)
                .map(|_| Claim { rows: random(5), bytes: random(9), keyed: false })
                .collect();
            let room = 8 + random(20);
            // The slow way: list the page of each row, and try each number of rows at each of them.
            let pages_of_rows: Vec<usize> = (0..pages.len())
                .flat_map(|page| (0..pages[page].rows).map(move |_| page))
                .collect();
            let fits = |rows: usize| {
                pages_of_rows.windows(rows).all(|window| {
                    let (first, last) = (window[0], window[rows - 1]);
                    let bytes: u64 = pages[first..=last].iter().map(|page| page.bytes).sum();
                    first == last || bytes <= room
                })
            };
            let found = batch(&pages, 12, room);
            assert!((1..=12).contains(&found));
            assert!((1..=found as usize).all(fits), "{found} of {pages:?} in {room}");
            let has_empty = pages.iter().any(|page| page.rows == 0);
            assert!(
                has_empty || found == 12 || !fits(found as usize + 1),
                "{found} of {pages:?} in {room}"
            );
        }
    }
}
