//! Tells beginnings of files that hold their lines in another form, and that nothing here reads.
//!
//! Taken for lists, most of them would come out as a few URLs that nobody wrote and many rejected
//! lines, and only the accounting would tell.

/// What a file is whose bytes at an offset are these, in words that follow a colon. Of two that fit
/// the first counts.
const BEGINNINGS: [(usize, &[u8], &str); 13] = [
    (0, &[0xFF, 0xFE, 0, 0], UTF_32),
    (0, &[0, 0, 0xFE, 0xFF], UTF_32),
    (0, &[0xFF, 0xFE], UTF_16),
    (0, &[0xFE, 0xFF], UTF_16),
    (0, b"PK\x03\x04", "a zip archive is not read; unzip -p writes what is in it"),
    (0, b"7z\xBC\xAF\x27\x1C", "a 7z archive is not read; 7z x -so writes what is in it"),
    (257, b"ustar", "a tar archive is not read; tar -xO writes what is in it"),
    (0, &[0x04, 0x22, 0x4D, 0x18], "what lz4 packed is not read; lz4 -dc unpacks it"),
    (0, &[0x1F, 0x9D], "what compress packed is not read; gzip -dc unpacks it"),
    // The first layer is off when this is asked.
    (0, &[0x1F, 0x8B, 0x08], TWICE),
    (0, &[0x28, 0xB5, 0x2F, 0xFD], TWICE),
    (0, b"BZh91AY&SY", TWICE),
    (0, b"\xFD7zXZ\0", TWICE),
];

const UTF_16: &str = "UTF-16 is not read; iconv -f UTF-16 -t UTF-8 makes UTF-8 of it";
const UTF_32: &str = "UTF-32 is not read; iconv -f UTF-32 -t UTF-8 makes UTF-8 of it";
const TWICE: &str = "what is unpacked is compressed once more; unpack it once before";

/// What a file that begins with `head` is, where that is nothing that is read.
pub(super) fn refusal(head: &[u8]) -> Option<&'static str> {
    let begins = |(at, magic, _): &&(usize, &[u8], &str)| {
        head.get(*at..).is_some_and(|rest| rest.starts_with(magic))
    };
    BEGINNINGS.iter().find(begins).map(|(.., why)| *why)
}
