//! The four supported compression formats, recognized by their first bytes and never by file name.

use std::fmt;
use std::path::Path;

/// Returns the extension of a file name in lower case.
pub fn ending(name: &Path) -> Option<String> {
    Some(name.extension()?.to_str()?.to_ascii_lowercase())
}

/// How an input is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// gzip (RFC 1952): concatenated members.
    Gzip,
    /// Zstandard (RFC 8878): concatenated frames.
    Zstd,
    /// bzip2: concatenated streams.
    Bzip2,
    /// xz: concatenated streams, with padding between them.
    Xz,
}

/// This many bytes identify each format.
pub(super) const HEAD: usize = 10;

const GZIP: &[u8] = &[0x1F, 0x8B];
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
const XZ: &[u8] = &[0xFD, b'7', b'z', b'X', b'Z', 0];
/// After `BZh` and the block size: pi for a block, or its square root for the end of the stream. The
/// first four bytes alone may also start a URL.
const BZIP2: [&[u8]; 2] =
    [&[0x31, 0x41, 0x59, 0x26, 0x53, 0x59], &[0x17, 0x72, 0x45, 0x38, 0x50, 0x90]];

impl Compression {
    /// Recognizes the compression from the first [`HEAD`] bytes of an input. A shorter bzip2 head
    /// matches if its bytes agree with the magic number as far as they go.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(GZIP) {
            Some(Compression::Gzip)
        } else if head.starts_with(ZSTD) || is_skippable(head) {
            Some(Compression::Zstd)
        } else if head.starts_with(XZ) {
            Some(Compression::Xz)
        // `BZh9` alone may be a line of a list, so at least one byte of the next magic number has
        // to agree.
        } else if head.len() > 4
            && head.starts_with(b"BZh")
            && (b'1'..=b'9').contains(&head[3])
            && BZIP2.iter().any(|magic| begins_alike(&head[4..], magic))
        {
            Some(Compression::Bzip2)
        } else {
            None
        }
    }

    /// Returns the compression that an empty file's extension implies. A compressed file is never
    /// empty, so such a file was truncated.
    pub fn meant_by(path: &Path) -> Option<Self> {
        match ending(path)?.as_str() {
            "gz" => Some(Compression::Gzip),
            "zst" => Some(Compression::Zstd),
            "bz2" => Some(Compression::Bzip2),
            "xz" => Some(Compression::Xz),
            _ => None,
        }
    }

    /// True if more bytes could turn `head` into the start of a compressed input.
    pub(super) fn could_be(head: &[u8]) -> bool {
        head.len() < HEAD
            && ([GZIP, ZSTD, XZ, b"BZh"].iter().any(|magic| begins_alike(head, magic))
                || is_skippable(&[head, &[0x50, 0x2A, 0x4D, 0x18][head.len().min(4)..]].concat()))
    }

    /// True if a member may begin with `byte`.
    pub(super) fn begins_with(self, byte: u8) -> bool {
        match self {
            Compression::Gzip => byte == GZIP[0],
            Compression::Zstd => byte == ZSTD[0] || byte & 0xF0 == 0x50,
            Compression::Bzip2 => byte == b'B',
            Compression::Xz => byte == XZ[0],
        }
    }

    /// Guesses where a member starts in `bytes` at or after `from`. The guess may be wrong.
    pub(super) fn guess_start(self, bytes: &[u8], from: usize) -> Option<usize> {
        let magic: &[u8] = match self {
            // The method stands in the pattern (8 is deflate): two bytes alone turn up about once
            // in 64 KiB of packed data.
            Compression::Gzip => &[0x1F, 0x8B, 8],
            Compression::Zstd => ZSTD,
            Compression::Bzip2 | Compression::Xz => return None,
        };
        // Even three bytes turn up by chance once in 16 MiB, and each wrong guess is a segment
        // decoded in vain.
        let fits = |head: &[u8]| self != Compression::Gzip || gzip_header_fits(head);
        let found = memchr::memmem::find_iter(bytes.get(from..)?, magic).map(|at| from + at);
        found.into_iter().find(|at| fits(&bytes[*at..]))
    }

    /// The name of the format's unit: member, frame or stream.
    pub(super) const fn part(self) -> &'static str {
        match self {
            Compression::Gzip => "member",
            Compression::Zstd => "frame",
            Compression::Bzip2 | Compression::Xz => "stream",
        }
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
        })
    }
}

/// True if one slice is a prefix of the other.
fn begins_alike(a: &[u8], b: &[u8]) -> bool {
    let length = a.len().min(b.len());
    a[..length] == b[..length]
}

/// Tests for a skippable frame: magic number 0x184D2A5?, little-endian (RFC 8878 3.1.2).
fn is_skippable(head: &[u8]) -> bool {
    matches!(head, [first, 0x2A, 0x4D, 0x18, ..] if first & 0xF0 == 0x50)
}

/// True if flags, extra flags and operating system have values that real compressors write.
fn gzip_header_fits(header: &[u8]) -> bool {
    // A header that the end of the bytes cuts off may still be one. A wrong guess costs time, never
    // output.
    header.len() < HEAD
        // RFC 1952 section 2.3.1 reserves three flags, has 2 and 4 as deflate's extra flags, and
        // numbers systems from 0 to 13, with 255 for an unknown one.
        || (header[3] & 0xE0 == 0
            && matches!(header[8], 0 | 2 | 4)
            && matches!(header[9], 0..=13 | 255))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compression_is_detected_by_its_magic_number() {
        for (head, compression) in [
            (&b"\x1F\x8B\x08\0\0\0\0\0\0\x03"[..], Some(Compression::Gzip)),
            (b"\x1F\x8B", Some(Compression::Gzip)),
            (b"\x28\xB5\x2F\xFD\x24", Some(Compression::Zstd)),
            (b"\x5D\x2A\x4D\x18\0\0\0\0", Some(Compression::Zstd)),
            (b"\xFD7zXZ\0\0\x04", Some(Compression::Xz)),
            (b"BZh91AY&SY", Some(Compression::Bzip2)),
            (b"BZh9\x17\x72\x45\x38\x50\x90", Some(Compression::Bzip2)),
            (b"BZh91AY", Some(Compression::Bzip2)),
            (b"BZh91/index.html", None),
            (b"BZh9", None),
            (b"http://h/\n", None),
            (b"P*M", None),
            (b"", None),
        ] {
            assert_eq!(Compression::of(head), compression, "{}", head.escape_ascii());
        }
    }

    #[test]
    fn detection_stops_once_the_first_bytes_decide() {
        for open in [&b""[..], b"\x1F", b"P*", b"B", b"BZh9", b"\xFD7z", b"\x28\xB5"] {
            assert!(Compression::could_be(open), "{}", open.escape_ascii());
        }
        for settled in [&b"h"[..], b"P/", b"Ba", b"(x", b"BZh91AY&SY"] {
            assert!(!Compression::could_be(settled), "{}", settled.escape_ascii());
        }
    }
}
