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
    "aux", "/CON.txt", "/nul%20", "com1", "/lpt%C2%B2", "%E2%80%AE", "%D8%9C", "%e2%81%a6", "%25%2541", "?%2541", "%C4%EA%C0%B4",
    "/....", "/http%3A%2F%2Fa%2fb", "=x%3a%2F%2f", "%2F..", "%D0%B0", "%B0%C0%AF", "%E3%81%8B", "%E4%B8%AD",
];

#[rustfmt::skip]
const FRONTS: &[&str] = &[
    "", "/", "/", "/", "//", "http://h/", "http://h/", "https://example.com/a", "http://h", "HTTP://%48:0080", "x://h/",
    "x://", "file://localhost/", "http://u@h/", "http://@h", "http://127.1/", "http://0x7f.0.0.1:22", "http://h:x/",
    "http://2130706433/", "ftp://0177.1:21/", "http://%31.1/", "http://08.1/", "http://0x/", "http://1.2.3.4/",
    "https://256.1/", "ssh://h:80/", "http://[::1]:443/", "http://h:1023/", "http://h:1024/", "http://h:00/", "a%3A/",
    "mailto:", "a:", "*", "?", "1x://h/", "http:/", " /", "http://4294967296/", "http://1.2.3.0400/", "http://h%2Fx/",
    "http://127.1./", "http://127.0.0.1./", "http://1..", "x://h:22/", "gopher://h:70/", "telnet://h:25/", "DICT://h:80/",
    "http://xn--pple-43d.com/", "http://%D0%B0pple/", "http://%D0%B0%CE%B1.b/", "http://%E3%81%8B%E4%B8%ADa/", "imap://h:143",
    "http://xn--80ak6aa92e.com:993/", "http://%D0%B0", "http://p", "//h:25/", "x:aux/", "file:///c:/aux",
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
