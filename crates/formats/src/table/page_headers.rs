//! Reads the headers of the pages of a Parquet column, before memory is taken for the pages.
//!
//! Input is the byte range of a column in a row group; output is the headers, or an error if one claims the
//! impossible, or more than memory allows.

use std::ops::{Range, RangeInclusive};

use super::error::TableError;
use super::file::At;
use super::thrift::{ThriftError, ThriftReader};

/// Longest page header; most have less than a hundred bytes.
const HEAD: usize = 16 << 20;
const USUAL_HEAD: usize = 1 << 10;

/// Page sizes: one up to the lower bound is always read, one above the upper bound never.
const PAGE: RangeInclusive<usize> = 8 << 20..=1 << 30;

// The fields of parquet.thrift.
const PAGE_TYPE: i16 = 1;
const UNPACKED: i16 = 2;
const PACKED: i16 = 3;
const DATA: i16 = 5;
const DATA_2: i16 = 8;
const ENCODING: i16 = 2;
const ENCODING_2: i16 = 4;

/// A type of page that the library passes over.
const INDEX: i32 = 1;
const DICTIONARY: i32 = 2;

/// `PLAIN_DICTIONARY` and `RLE_DICTIONARY`.
const KEYED: [i32; 2] = [2, 8];

/// A page header.
#[derive(Debug, Default)]
pub(super) struct PageHeader {
    kind: i32,
    encoding: i32,
    packed: usize,
    pub(super) unpacked: usize,
}

impl PageHeader {
    /// True unless it holds values that are no keys of the preceding dictionary.
    pub(super) fn is_keyed(&self) -> bool {
        self.kind == DICTIONARY || KEYED.contains(&self.encoding)
    }

    /// Parses the header at the start of `bytes`, and returns its length.
    fn parse(bytes: &[u8]) -> Result<(Self, usize), ThriftError> {
        let mut reader = ThriftReader::new(bytes);
        let mut page = Self::default();
        reader.fields(&mut |reader, id, kind| {
            match id {
                PAGE_TYPE => page.kind = reader.int(kind)?,
                UNPACKED => page.unpacked = length(reader.int(kind)?)?,
                PACKED => page.packed = length(reader.int(kind)?)?,
                DATA | DATA_2 => {
                    let encoding = if id == DATA { ENCODING } else { ENCODING_2 };
                    reader.structure(kind, &mut |reader, id, kind| {
                        if id != encoding {
                            return reader.skip(kind);
                        }
                        page.encoding = reader.int(kind)?;
                        Ok(())
                    })?;
                }
                _ => reader.skip(kind)?,
            }
            Ok(())
        })?;
        Ok((page, reader.at()))
    }
}

fn length(number: i32) -> Result<usize, ThriftError> {
    number.try_into().map_err(|_| ThriftError::Not("a page has a length that none can have"))
}

/// Reads the headers of the pages in a range of the file. A page may take at most `room` bytes.
pub(super) fn read(
    at: &At,
    mut range: Range<u64>,
    room: usize,
) -> Result<Vec<PageHeader>, TableError> {
    let (mut headers, mut bytes) = (Vec::new(), Vec::new());
    while !range.is_empty() {
        let (page, length) = next(at, &range, &mut bytes)?;
        if page.packed.max(page.unpacked) > room {
            return Err(TableError::Limit("a page is longer than there is memory for".to_owned()));
        }
        // A header takes at least one byte, so the loop ends for any lengths.
        range.start += (length + page.packed) as u64;
        if page.kind != INDEX {
            headers.push(page);
        }
    }
    Ok(headers)
}

/// Reads the header at the start of a range and returns its length.
fn next(
    at: &At,
    range: &Range<u64>,
    bytes: &mut Vec<u8>,
) -> Result<(PageHeader, usize), TableError> {
    let there = range.end - range.start;
    let mut wanted = USUAL_HEAD;
    loop {
        let length = wanted.min(usize::try_from(there).unwrap_or(usize::MAX));
        bytes.resize(length, 0);
        at.read_at(bytes, range.start)?;
        match PageHeader::parse(bytes) {
            Ok(found) => return Ok(found),
            // Statistics of long texts stand in the header. The window grows by eights, to keep the
            // reads few.
            Err(ThriftError::Cut) if (length as u64) < there && wanted < HEAD => wanted *= 8,
            Err(ThriftError::Cut) => return Err("the head of a page ends early".into()),
            Err(ThriftError::Not(words)) => return Err(words.into()),
        }
    }
}

/// Returns the limit for a page if `memory` bytes are available for each.
pub(super) fn room(memory: usize) -> usize {
    memory.clamp(*PAGE.start(), *PAGE.end())
}
