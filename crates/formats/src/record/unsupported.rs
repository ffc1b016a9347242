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
pub struct Refusal {
    what: &'static str,
    remedy: &'static str,
}

// What an input is and what to do with it, a row each.
#[rustfmt::skip]
impl Refusal {
    const ENDS_WITH_NUL: Refusal = Self::of("its records end with NUL", "use -0 to read such lists");
    const ENDS_WITH_RETURN: Refusal = Self::of("its lines end with a carriage return alone",
        "make line feeds of them with tr '\\r' '\\n'");
    const UTF16: Refusal = Self::of("UTF-16 is not read", "convert it with iconv -f UTF-16 -t UTF-8");
    const UTF32: Refusal = Self::of("UTF-32 is not read", "convert it with iconv -f UTF-32 -t UTF-8");
    const ZIP: Refusal = Self::of("a zip archive is not read", "unpack it with unzip -p");
    const WACZ: Refusal = Self::of("a WACZ file is a zip archive, which is not read",
        "read its archives with unzip -p FILE 'archive/*'");
    const SEVEN_ZIP: Refusal = Self::of("a 7z archive is not read", "unpack it with 7z x -so");
    const TAR: Refusal = Self::of("a tar archive is not read", "unpack it with tar -xO");
    const LZ4: Refusal = Self::of("what lz4 packed is not read", "unpack it with lz4 -dc");
    const COMPRESS: Refusal = Self::of("what compress packed is not read", "unpack it with gzip -dc");
    const LZIP: Refusal = Self::of("what lzip packed is not read", "unpack it with lzip -dc");
    const LZMA: Refusal = Self::of("what lzma packed is not read", "unpack it with xz -dc");
    /// Seen from outside, what a file with one layer of compression looks like as well.
    pub const PACKED_TWICE: Refusal = Self::of("what is unpacked is compressed once more", "unpack it once before");
    const FEATHER1: Refusal = Self::of("version 1 of Feather is not read",
        "write it as version 2, which is Arrow IPC");
    const OLD_ARROW: Refusal = Self::of("a stream of Arrow of before version 0.15 is not read",
        "read it with pyarrow.ipc and write it again");
    const ENCRYPTED_PARQUET: Refusal = Self::of("Parquet with an encrypted footer is not read",
        "write it without encryption");
    const AVRO: Refusal = Self::of("Avro is not read", "convert it to Parquet, as DuckDB does");
    const SQLITE: Refusal = Self::of("a database of SQLite is not read",
        "write the result of a query with sqlite3 -csv");
    const MARK_BEFORE_ARCHIVE: Refusal = Self::of("a byte-order mark stands before its first record",
        "remove it with tail -c +4");
    const JSON_ARRAY: Refusal = Self::of("an array of JSON is not read",
        "write each element on a line with jq -c '.[]'");
    const SEPARATOR_LINE: Refusal = Self::of("its first line is for spreadsheets alone", "remove it with tail -n +2");
    pub(super) const VARNISHLOG: Refusal = Self::of("the text of varnishlog is not read",
        "write the requests with varnishncsa, which is read as combined");
    pub(super) const CLUSTER_INDEX: Refusal = Self::of(
        "a cluster.idx holds keys only",
        "name the files that it lists, cdx-00000.gz and so on",
    );
    pub(super) const NO_TABLES: Refusal = Self::of(
        "a table is not read here",
        "read its columns with an Arrow library",
    );
    /// Rows of `csv` that semicolons or bars divide, or that are URLs with such bytes.
    pub const AMBIGUOUS_ROWS: Refusal = Self::of(
        "its rows begin with URLs that hold semicolons or bars, or columns between them",
        "name the byte between columns with --delimiter, as in --delimiter ';' or --delimiter ,",
    );
    /// Parquet or Arrow in a pipe, or compressed as a whole.
    pub const TABLE: Refusal = Self::of(
        "a table is read from its end, so that it can be neither piped nor compressed as a whole",
        "write it to a file, and name that",
    );
    /// A format whose records cannot be copied one by one.
    pub const NO_WHOLE_RECORDS: Refusal = Self::of(
        "its records do not stand by themselves",
        "write columns of them with --fields and --carry",
    );
    /// A table whose rows would be written as text.
    pub const ROWS: Refusal = Self::of(
        "rows of a table go to a table",
        "end the names of --output and --dropped in .parquet or .arrow",
    );
    /// Records that would be written as rows.
    pub const NO_ROWS: Refusal = Self::of(
        "its records are no rows of a table",
        "end the names of --output and --dropped otherwise, as in .jsonl",
    );
    /// A table with other columns than those before it.
    pub const OTHER_COLUMNS: Refusal = Self::of(
        "its columns differ from those of the tables before it",
        "write the rows of each kind of table by themselves",
    );
}

impl Refusal {
    const fn of(what: &'static str, remedy: &'static str) -> Self {
        Self { what, remedy }
    }

    /// What to do with the input, in the words of the command.
    pub fn remedy(self) -> &'static str {
        self.remedy
    }

    /// True for text in units of two or four bytes.
    pub fn is_wide_text(self) -> bool {
        self == Refusal::UTF16 || self == Refusal::UTF32
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }
}

/// Files by offset and magic number. If two match, the first counts.
const BEGINNINGS: [(usize, &[u8], Refusal); 16] = [
    // UTF-32 before UTF-16, with whose mark its own begins.
    (0, &[0xFF, 0xFE, 0, 0], Refusal::UTF32),
    (0, &[0, 0, 0xFE, 0xFF], Refusal::UTF32),
    (0, &[0xFF, 0xFE], Refusal::UTF16),
    (0, &[0xFE, 0xFF], Refusal::UTF16),
    (0, b"PK\x03\x04", Refusal::ZIP),
    (0, b"7z\xBC\xAF\x27\x1C", Refusal::SEVEN_ZIP),
    (257, b"ustar\0", Refusal::TAR),
    // GNU tar writes its version before the NUL.
    (257, b"ustar  \0", Refusal::TAR),
    (0, &[0x04, 0x22, 0x4D, 0x18], Refusal::LZ4),
    // "Legacy frame" of lz4's frame format.
    (0, &[0x02, 0x21, 0x4C, 0x18], Refusal::LZ4),
    (0, &[0x1F, 0x9D], Refusal::COMPRESS),
    (0, b"LZIP\x01", Refusal::LZIP),
    // lzma has no magic number: it starts with properties and a dictionary's size, a multiple of 64 KiB.
    (0, b"\x5D\0\0", Refusal::LZMA),
    // The magic letters, padded to a multiple of 8.
    (0, b"FEA1\0\0\0\0", Refusal::FEATHER1),
    (0, b"Obj\x01", Refusal::AVRO),
    (0, b"SQLite format 3\0", Refusal::SQLITE),
];

/// The reason to reject a file that begins with `head`, if it is unsupported.
pub(super) fn refusal(head: &[u8]) -> Option<Refusal> {
    let begins = |(at, magic, _): &&(usize, &[u8], Refusal)| {
        head.get(*at..).is_some_and(|rest| rest.starts_with(magic))
    };
    match BEGINNINGS.iter().find(begins) {
        Some((.., why)) if *why == Refusal::ZIP && is_wacz(head) => return Some(Refusal::WACZ),
        Some((.., why)) => return Some(*why),
        None => {}
    }
    // The input's first layer of compression has been removed by now.
    if is_packed(head) {
        return Some(Refusal::PACKED_TWICE);
    }
    if is_old_arrow(head) {
        return Some(Refusal::OLD_ARROW);
    }
    if is_encrypted_parquet(head) {
        return Some(Refusal::ENCRYPTED_PARQUET);
    }
    if head.starts_with(MARK) && Archive::detect(without_mark(head)).is_some() {
        return Some(Refusal::MARK_BEFORE_ARCHIVE);
    }
    let text = without_mark(head).trim_ascii_start();
    let opens = |byte: &&u8| **byte == b'[' || byte.is_ascii_whitespace();
    if text.starts_with(b"[") && matches!(text.iter().find(|b| !opens(b)), Some(b'{' | b'"')) {
        return Some(Refusal::JSON_ARRAY);
    }
    let first = text.split(|byte| *byte == b'\n').next()?.trim_ascii_end();
    match first {
        [b's', b'e', b'p', b'=', delimiter] if !delimiter.is_ascii_alphanumeric() => {
            Some(Refusal::SEPARATOR_LINE)
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
        // A single record would have no terminator that could be seen.
        records.filter(|record| memmem::find(record, b"://").is_some()).nth(1).is_some()
    };
    if are_urls(0) {
        Some(Refusal::ENDS_WITH_NUL)
    } else if are_urls(b'\r') {
        Some(Refusal::ENDS_WITH_RETURN)
    } else {
        None
    }
}
