//! Detects inputs that no format reads: by their first bytes, and by their line endings.
//!
//! Read as lists, most of them would yield a few bogus URLs and many rejected lines, and only the
//! accounting would show it.

use std::fmt;

use memchr::{memchr, memmem};

use super::Archive;
use super::line::{MARK, without_mark};

/// The reason to reject an input. It displays as text that follows a colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A list of records that end with NUL, read with line feeds as separators.
    EndsWithNul,
    /// A list whose lines end with only a carriage return.
    EndsWithCarriageReturn,
    /// Text in UTF-16.
    Utf16,
    /// Text in UTF-32.
    Utf32,
    /// A zip archive.
    Zip,
    /// A zip archive with web archives in it.
    Wacz,
    /// A 7z archive.
    SevenZip,
    /// A tar archive.
    Tar,
    /// Compressed by lz4.
    Lz4,
    /// Compressed by compress.
    Compress,
    /// Compressed by lzip.
    Lzip,
    /// Compressed by lzma.
    Lzma,
    /// Compressed twice.
    PackedTwice,
    /// Version 1 of Feather.
    Feather1,
    /// An Arrow stream from before version 0.15.
    OldArrow,
    /// Parquet with an encrypted footer.
    EncryptedParquet,
    /// Avro.
    Avro,
    /// An SQLite database.
    Sqlite,
    /// An archive after a byte-order mark.
    MarkBeforeArchive,
    /// A JSON array.
    JsonArray,
    /// A table that begins with a line `sep=`.
    SeparatorLine,
    /// The index of a CDX cluster.
    ClusterIndex,
    /// What varnishlog prints.
    Varnishlog,
    /// Rows of `csv` that semicolons or bars divide, or that are URLs with such bytes.
    AmbiguousRows,
    /// Parquet or Arrow in a pipe, or compressed as a whole.
    Table,
    /// Parquet or Arrow in a build without tables.
    NoTables,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::EndsWithNul => "its records end with NUL",
            Refusal::EndsWithCarriageReturn => "its lines end with a carriage return alone",
            Refusal::Utf16 => "UTF-16 is not read",
            Refusal::Utf32 => "UTF-32 is not read",
            Refusal::Zip => "a zip archive is not read",
            Refusal::Wacz => "a WACZ file is a zip archive, which is not read",
            Refusal::SevenZip => "a 7z archive is not read",
            Refusal::Tar => "a tar archive is not read",
            Refusal::Lz4 => "what lz4 packed is not read",
            Refusal::Compress => "what compress packed is not read",
            Refusal::Lzip => "what lzip packed is not read",
            Refusal::Lzma => "what lzma packed is not read",
            Refusal::PackedTwice => "what is unpacked is compressed once more",
            Refusal::Feather1 => "version 1 of Feather is not read",
            Refusal::OldArrow => "a stream of Arrow of before version 0.15 is not read",
            Refusal::EncryptedParquet => "Parquet with an encrypted footer is not read",
            Refusal::Avro => "Avro is not read",
            Refusal::Sqlite => "a database of SQLite is not read",
            Refusal::MarkBeforeArchive => "a byte-order mark stands before its first record",
            Refusal::JsonArray => "an array of JSON is not read",
            Refusal::SeparatorLine => "its first line is for spreadsheets alone",
            Refusal::ClusterIndex => "a cluster.idx holds keys only",
            Refusal::Varnishlog => "the text of varnishlog is not read",
            Refusal::AmbiguousRows => "its rows begin with URLs that hold semicolons or bars, or columns between them",
            Refusal::Table => "a table is read from its end, so that it can be neither piped nor compressed as a whole",
            Refusal::NoTables => "a table is not read here",
        })
    }
}

/// Files by offset and magic number. If two match, the first counts.
const BEGINNINGS: [(usize, &[u8], Refusal); 16] = [
    (0, &[0xFF, 0xFE, 0, 0], Refusal::Utf32),
    (0, &[0, 0, 0xFE, 0xFF], Refusal::Utf32),
    (0, &[0xFF, 0xFE], Refusal::Utf16),
    (0, &[0xFE, 0xFF], Refusal::Utf16),
    (0, b"PK\x03\x04", Refusal::Zip),
    (0, b"7z\xBC\xAF\x27\x1C", Refusal::SevenZip),
    (257, b"ustar\0", Refusal::Tar),
    // GNU tar writes its version before the NUL.
    (257, b"ustar  \0", Refusal::Tar),
    (0, &[0x04, 0x22, 0x4D, 0x18], Refusal::Lz4),
    // "Legacy frame" of lz4's frame format.
    (0, &[0x02, 0x21, 0x4C, 0x18], Refusal::Lz4),
    (0, &[0x1F, 0x9D], Refusal::Compress),
    (0, b"LZIP\x01", Refusal::Lzip),
    // lzma has no magic number: it starts with properties and a dictionary's size, a multiple of 64 KiB.
    (0, b"\x5D\0\0", Refusal::Lzma),
    // The magic letters, padded to a multiple of 8.
    (0, b"FEA1\0\0\0\0", Refusal::Feather1),
    (0, b"Obj\x01", Refusal::Avro),
    (0, b"SQLite format 3\0", Refusal::Sqlite),
];

/// The reason to reject a file that begins with `head`, if it is unsupported.
pub(super) fn refusal(head: &[u8]) -> Option<Refusal> {
    let begins = |(at, magic, _): &&(usize, &[u8], Refusal)| {
        head.get(*at..).is_some_and(|rest| rest.starts_with(magic))
    };
    match BEGINNINGS.iter().find(begins) {
        Some((.., Refusal::Zip)) if is_wacz(head) => return Some(Refusal::Wacz),
        Some((.., why)) => return Some(*why),
        None => {}
    }
    // The input's first layer of compression has been removed by now.
    if is_packed(head) {
        return Some(Refusal::PackedTwice);
    }
    if is_old_arrow(head) {
        return Some(Refusal::OldArrow);
    }
    if is_encrypted_parquet(head) {
        return Some(Refusal::EncryptedParquet);
    }
    if head.starts_with(MARK) && Archive::detect(without_mark(head)).is_some() {
        return Some(Refusal::MarkBeforeArchive);
    }
    let text = without_mark(head).trim_ascii_start();
    let opens = |byte: &&u8| **byte == b'[' || byte.is_ascii_whitespace();
    if text.starts_with(b"[") && matches!(text.iter().find(|b| !opens(b)), Some(b'{' | b'"')) {
        return Some(Refusal::JsonArray);
    }
    let first = text.split(|byte| *byte == b'\n').next()?.trim_ascii_end();
    match first {
        [b's', b'e', b'p', b'=', delimiter] if !delimiter.is_ascii_alphanumeric() => {
            Some(Refusal::SeparatorLine)
        }
        _ => None,
    }
}

/// Files of a zip archive whose names are looked at.
const NAMES: usize = 1_000;

/// True if the files of a zip archive that show have names as in WACZ (version 1.1.1, section 3).
fn is_wacz(head: &[u8]) -> bool {
    let names = memmem::find_iter(head, b"PK\x03\x04").filter_map(|at| {
        let header = head.get(at..at + 30)?;
        let length = usize::from(u16::from_le_bytes([header[26], header[27]]));
        head.get(at + 30..at + 30 + length)
    });
    // Names may overlap, so that all of them together are longer than the head.
    names.take(NAMES).any(|name| {
        let is_in = |folder: &[u8], part: &[u8]| {
            name.starts_with(folder) && memmem::find(name, part).is_some()
        };
        name == b"datapackage.json" || is_in(b"archive/", b".warc") || is_in(b"indexes/", b".cdx")
    })
}

/// True if gzip, zstd, bzip2 or xz write such a beginning. For bzip2: the size of its blocks, then
/// pi for a block or its square root for the end. For zstd: a frame or a skippable frame.
fn is_packed(head: &[u8]) -> bool {
    match head {
        [0x1F, 0x8B, 0x08, ..]
        | [0x28, 0xB5, 0x2F, 0xFD, ..]
        | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..]
        | [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => true,
        [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..] => {
            rest.starts_with(b"1AY&SY") || rest.starts_with(&[0x17, 0x72, 0x45, 0x38, 0x50, 0x90])
        }
        _ => false,
    }
}

/// True if an Arrow stream from before version 0.15 begins like this, without the "32-bit
/// continuation indicator". It starts with a length, which ends the message at a multiple of 8, and
/// the offset of the root in a flatbuffer.
fn is_old_arrow(head: &[u8]) -> bool {
    let number = |at: usize| {
        let bytes = head.get(at..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    };
    let is_length = |length: u32| length < 1 << 24 && length % 8 == 4;
    let is_root = |root: u32| (4..64).contains(&root) && root.is_multiple_of(4);
    number(0).is_some_and(is_length) && number(4).is_some_and(is_root)
}

/// True if Parquet with an encrypted footer begins like this. A list may begin with the same
/// letters but has no control characters; page headers and encrypted data are full of them.
fn is_encrypted_parquet(head: &[u8]) -> bool {
    head.starts_with(b"PARE") && head.iter().any(|byte| matches!(byte, 1..=8 | 0x0E..=0x1F))
}

/// True if the text of varnishlog begins like this: `*   << Request  >> 123` is the header of a transaction.
pub(super) fn is_of_varnish(head: &[u8]) -> bool {
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let name = first.strip_prefix(b"*").map(<[u8]>::trim_ascii_start);
    name.is_some_and(|name| name.starts_with(b"<< ") && memmem::find(name, b" >> ").is_some())
}

/// The line terminator of a file that begins with `head`, if it is not the line feed: without line
/// feeds, the whole file would be one URL.
pub(super) fn ends_otherwise(head: &[u8]) -> Option<Refusal> {
    if memchr(b'\n', head).is_some() {
        return None;
    }
    let are_urls = |end: u8| {
        let records = head.split(|byte| *byte == end);
        records.filter(|record| memmem::find(record, b"://").is_some()).nth(1).is_some()
    };
    if are_urls(0) {
        Some(Refusal::EndsWithNul)
    } else if are_urls(b'\r') {
        Some(Refusal::EndsWithCarriageReturn)
    } else {
        None
    }
}
