//! URLs for the profiles that follow one system each.

use super::{Rng, Temper, any, target};

/// Parts of URLs that some system has rules for.
#[rustfmt::skip]
pub const WORDS: &[&str] = &[
    "/", "/", "/", "//", "a", "b", ".", "..", "/.", "/..", "/../", "%2e", "%2E", "/%2e%2E", "/.%2e/", ";", ";x", "/;/",
    "..;", ".;p", "%2f", "%2F", "%5c", "%5C", "\\", "%00", "%0d", "%1f", "%7f", "\x01", "\x7f", "%", "%4", "%zz", "%%",
    "%25", "%2541", "%25%34%31", "%254%31", "%252F", "%41", "%7e", "%3b", "%3B", "%3f", "%23", "%3a", ":", "@", "%40",
    "[", "]", "!", "$", "&", "'", "(", ")", "*", "+", ",", "=", "%21", "%5b", "%2a", "%27", "%c3%a9", "%C3", "%A9",
    "%e2%82%ac", "%E2", "\u{e9}", "%c0%af", "%C1%81", "%e0%80%af", "%F0%80", "%f8%87%80", "%fc%84", "%20", " ", "|",
    "?", "?q", "#", "#f", "&x=%2F", "http:", "://", "x", "\t", "\0", "\u{20ac}", "...", "%2e%2e;", ".%2E",
];

#[rustfmt::skip]
const FRONTS: &[&str] = &[
    "", "/", "/", "/", "//", "http://h/", "http://h/", "https://example.com/a", "http://h", "HTTP://%48:0080", "x://h/",
    "x://", "file://localhost/", "http://u@h/", "http://@h", "http://127.1/", "http://0x7f.0.0.1:22", "http://h:x/",
    "http://2130706433/", "ftp://0177.1:21/", "http://%31.1/", "http://08.1/", "http://0x/", "http://1.2.3.4/",
    "https://256.1/", "ssh://h:80/", "http://[::1]:443/", "http://h:1023/", "http://h:1024/", "http://h:00/", "a%3A/",
    "mailto:", "a:", "*", "?", "1x://h/", "http:/", " /", "http://4294967296/", "http://1.2.3.0400/", "http://h%2Fx/",
];

pub fn url(rng: &mut Rng) -> Vec<u8> {
    match rng.below(8) {
        0 => any(rng),
        1 => target(rng, Temper::Wild),
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
