//! URLs for the profile of browsers.

use super::{Rng, Temper, any};

/// Parts of URLs that the standard has rules for.
#[rustfmt::skip]
pub const WORDS: &[&str] = &[
    "/", "/", "/", "//", "///", "\\", "\\\\", "/\\", "a", "b", ".", "..", "/.", "/..", "/../", "%2e", "/%2E%2e/", ".%2e",
    "%2e%2e%2e", "?", "?", "#", "#", "@", ":", ":@", "u:p@", ":80", ":443", ":0080", ":65536", ":x", ":", " ", "  ", "\t",
    "\n", "\r", "\0", "\x1f", "\x7f", "\u{e9}", "\u{df}", "\u{1f4a9}", "\u{3002}", "\u{ad}", "\u{3d001}", "'", "\"", "<",
    ">", "`", "{", "}", "|", "^", "[", "]", "%", "%4", "%zz", "%41", "%c3%a9", "%C3", "%25", "%2f", "C:", "C|", "c|/",
    "/D:", "/D|/", "localhost", "1", "0x7f", "0177", "256", "1.2.3", ".4", "4294967296", "08", "0x", "xn--", "XN--A", "xn--xn---epa",
    "xn--bcher-kva", "example.com", "[::1]", "[1:2::1.2.3.4]", "[::FFFF:1.2.3.4]", "[1:0:0:2::0]", "[::1", "[1::2::3]",
    "\u{ff11}.2", "<\u{338}", "http:", "file:", "x:", "?'", "#`", "a?b#c", "\u{200d}", "q=\u{e9}",
];

#[rustfmt::skip]
const FRONTS: &[&str] = &[
    "", "/", "//", "http://", "http://h/", "https://example.com", "http:", "HTTPS:\\\\", "ws:/", "wss:///", "ftp://u@h",
    "file:", "file:/", "file://", "file:///", "file:///C:/", "file:///C|", "FILE://localhost/", "x:", "x:/", "x://",
    "x:///", "x://h", "x:/.//", "data:", "javascript:", "mailto:", " http://h", "ht\ttp://h", "1x:", "a+b-.1:", "?", "#",
];

/// Canonical and not, of each kind of scheme, with and without authority, path and query.
#[rustfmt::skip]
pub const BASES: &[&str] = &[
    "http://u:p@h:81/a/b?q#f", "https://h", "ws:h/..", "file:///", "file:///C:/a/b?q", "file://h/D:/", "file://h", "x:",
    "x:opaque ?q", "x:/", "x:/a/b", "x:/..//a", "x://h", "x://h/a/b?q", "x://", "about:blank", "file:///a/C:/",
];

pub fn url(rng: &mut Rng) -> Vec<u8> {
    match rng.below(8) {
        0 => any(rng),
        1 => super::url(rng, Temper::Tame),
        _ => {
            let mut url: Vec<u8> = rng.pick(FRONTS).into();
            for _ in 0..rng.below(8) {
                if rng.one_in(20) {
                    url.push(rng.byte());
                }
                url.extend_from_slice(rng.pick(WORDS).as_bytes());
            }
            if rng.one_in(10) {
                url.extend(vec![b'a'; rng.below(200)]);
                url.extend_from_slice(rng.pick(WORDS).as_bytes());
            }
            url
        }
    }
}
