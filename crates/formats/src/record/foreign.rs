//! Tells beginnings of files that hold their lines in another form, and that nothing here reads: by
//! their first bytes, by a header whose columns stand between other bytes than commas or tabs, and by
//! what ends their lines.
//!
//! Taken for lists, most of them would come out as a few URLs that nobody wrote and many rejected
//! lines, and only the accounting would tell.

use std::fmt;

use memchr::{memchr, memmem};

use super::Archive;
use super::detect::is_record;
use super::line::{MARK, without_mark};
use crate::record::SetHeader;

/// What an input is that is nothing to read. It is written in words that follow a colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A saved set, which says what was seen before a run.
    SavedSet,
    /// A list whose records end with NUL, and are to end with a line feed.
    EndsWithNul,
    /// What these words say.
    Other(&'static str),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::SavedSet => "a saved set is no list; tail -n +2 leaves one of it",
            Refusal::EndsWithNul => "its records end with NUL",
            Refusal::Other(why) => why,
        })
    }
}

/// What a file is whose bytes at an offset are these, in such words. Of two that fit the first counts.
const BEGINNINGS: [(usize, &[u8], &str); 16] = [
    (0, &[0xFF, 0xFE, 0, 0], UTF_32),
    (0, &[0, 0, 0xFE, 0xFF], UTF_32),
    (0, &[0xFF, 0xFE], UTF_16),
    (0, &[0xFE, 0xFF], UTF_16),
    (0, b"PK\x03\x04", "a zip archive is not read; unzip -p writes what is in it"),
    (0, b"7z\xBC\xAF\x27\x1C", "a 7z archive is not read; 7z x -so writes what is in it"),
    (257, b"ustar\0", TAR),
    // As GNU tar has it, with its version in front of the end.
    (257, b"ustar  \0", TAR),
    (0, &[0x04, 0x22, 0x4D, 0x18], LZ4),
    // "Legacy frame" of lz4's frame format.
    (0, &[0x02, 0x21, 0x4C, 0x18], LZ4),
    (0, &[0x1F, 0x9D], "what compress packed is not read; gzip -dc unpacks it"),
    (0, b"LZIP\x01", "what lzip packed is not read; lzip -dc unpacks it"),
    // No magic number: properties, and a dictionary's size, which is a multiple of 64 KiB.
    (0, b"\x5D\0\0", "what lzma packed is not read; xz -dc unpacks it"),
    // Its letters, filled up to a multiple of 8.
    (
        0,
        b"FEA1\0\0\0\0",
        "version 1 of Feather is not read; write it anew as version 2, which is Arrow IPC",
    ),
    (0, b"Obj\x01", "Avro is not read; DuckDB and others make Parquet of it"),
    (
        0,
        b"SQLite format 3\0",
        "a database of SQLite is not read; sqlite3 -csv writes what a query finds",
    ),
];

const UTF_16: &str = "UTF-16 is not read; iconv -f UTF-16 -t UTF-8 makes UTF-8 of it";
const UTF_32: &str = "UTF-32 is not read; iconv -f UTF-32 -t UTF-8 makes UTF-8 of it";
const LZ4: &str = "what lz4 packed is not read; lz4 -dc unpacks it";
const TAR: &str = "a tar archive is not read; tar -xO writes what is in it";
const TWICE: &str = "what is unpacked is compressed once more; unpack it once before";

/// What a file that begins with `head` is, where that is nothing that is read.
pub(super) fn refusal(head: &[u8]) -> Option<Refusal> {
    match head.starts_with(SetHeader::MAGIC.as_bytes()) {
        true => Some(Refusal::SavedSet),
        false => other(head).map(Refusal::Other),
    }
}

/// The same, but for saved sets.
fn other(head: &[u8]) -> Option<&'static str> {
    let begins = |(at, magic, _): &&(usize, &[u8], &str)| {
        head.get(*at..).is_some_and(|rest| rest.starts_with(magic))
    };
    if let Some((.., why)) = BEGINNINGS.iter().find(begins) {
        return Some(why);
    }
    // The first layer is off when this is asked.
    if is_packed(head) {
        return Some(TWICE);
    }
    if is_old_arrow(head) {
        return Some(OLD_ARROW);
    }
    if is_encrypted_parquet(head) {
        return Some(ENCRYPTED);
    }
    if head.starts_with(MARK) && Archive::detect(without_mark(head)).is_some() {
        return Some(MARKED);
    }
    let text = without_mark(head).trim_ascii_start();
    let opens = |byte: &&u8| **byte == b'[' || byte.is_ascii_whitespace();
    if text.starts_with(b"[") && matches!(text.iter().find(|b| !opens(b)), Some(b'{' | b'"')) {
        return Some(ARRAY);
    }
    let first = text.split(|byte| *byte == b'\n').next()?.trim_ascii_end();
    match first {
        [b's', b'e', b'p', b'=', delimiter] if !delimiter.is_ascii_alphanumeric() => {
            Some(SEPARATOR)
        }
        _ if names_url(first, b';') => Some(SEMICOLONS),
        _ if names_url(first, b'|') => Some(BARS),
        _ => None,
    }
}

/// The same of one with this header: where other bytes separate them, all of its names stand in one.
pub(super) fn refusal_of_header(head: &[u8], header: &[Vec<u8>]) -> Option<Refusal> {
    refusal(head).or_else(|| match header {
        [name] if name.contains(&b';') => Some(Refusal::Other(SEMICOLONS)),
        [name] if name.contains(&b'|') => Some(Refusal::Other(BARS)),
        _ => None,
    })
}

/// Whether gzip, zstd, bzip2 or xz write such a beginning: of bzip2 the size of its blocks, and pi for a
/// block or the square root of it for the end; of zstd a frame or one that is passed over.
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

/// Whether a stream of Arrow begins like this as they did before version 0.15, without the "32-bit
/// continuation indicator": with a length, which ends the message at a multiple of 8, and the place of
/// the root in a flatbuffer.
fn is_old_arrow(head: &[u8]) -> bool {
    let number = |at: usize| {
        let bytes = head.get(at..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes))
    };
    let is_length = |length: u32| length < 1 << 24 && length % 8 == 4;
    let is_root = |root: u32| (4..64).contains(&root) && root.is_multiple_of(4);
    number(0).is_some_and(is_length) && number(4).is_some_and(is_root)
}

/// Whether Parquet with an encrypted footer begins like this. Its letters may be those of a list, which
/// has no control characters; heads of pages and what is encrypted are full of them.
fn is_encrypted_parquet(head: &[u8]) -> bool {
    head.starts_with(b"PARE") && head.iter().any(|byte| matches!(byte, 1..=8 | 0x0E..=0x1F))
}

const MARKED: &str = "a byte-order mark stands before its first record; tail -c +4 leaves it out";
const ENCRYPTED: &str =
    "Parquet with an encrypted footer is not read; write it anew without encryption";
const OLD_ARROW: &str = "a stream of Arrow of before version 0.15 is not read; \
                         pyarrow.ipc reads it and writes it anew";
const ARRAY: &str =
    "an array of JSON is not read; jq -c '.[]' writes each of its elements on a line";
const SEPARATOR: &str = "its first line is for spreadsheets alone; tail -n +2 leaves it out";
const SEMICOLONS: &str = "its columns stand between semicolons, which csv does not read; \
                          mlr --icsv --ifs ';' --ocsv cat puts commas there";
const CARRIAGE_RETURNS: &str =
    "its lines end with a carriage return alone; tr '\\r' '\\n' makes line feeds of them";
const BARS: &str = "its columns stand between bars, which csv does not read; \
                    mlr --icsv --ifs '|' --ocsv cat puts commas there";

/// Whether a line is a header with columns between these bytes, one of which is called `url` or `uri`. A
/// URL may hold the word as well (`http://h/a;url`), and so may a line of a log.
fn names_url(line: &[u8], delimiter: u8) -> bool {
    let is_url = |name: &[u8]| {
        let name = name.trim_ascii();
        let quoted = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\""));
        let name = quoted.unwrap_or(name);
        name.eq_ignore_ascii_case(b"url") || name.eq_ignore_ascii_case(b"uri")
    };
    let mut names = line.split(|byte| *byte == delimiter);
    line.contains(&delimiter)
        && names.any(is_url)
        && memmem::find(line, b"://").is_none()
        && !is_record(line)
}

/// What a file that begins with `head` has in place of line feeds: where there are none, all of it would
/// be one URL.
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
        Some(Refusal::Other(CARRIAGE_RETURNS))
    } else {
        None
    }
}
