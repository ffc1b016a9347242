//! URLs for the profile of web archives.

use super::{Rng, any};

/// Parts that the rules of `ia` act on.
#[rustfmt::skip]
pub const WORDS: &[&str] = &[
    "http://", "https://", "ftp://", "x:", "x://", "filedesc://", "www.", "www2.", "www", "h", "a.b", ".", "..", "/", "/", "//",
    "?", "#", "&", "&", "=", "%", "25", "41", "2", "F", "%2F", "%3F", "%26", "%25", "%2e", "@", ":", "80", "\t", "\n", " ", "\u{fc}",
    "sid=0123456789abcdef0123456789ABCDEF", "jsessionid=0123456789abcdef0123456789ABCDEF", "phpsessid=0123456789abcdef0123456789abcdef",
    "ASPSESSIONIDabcdefgh=abcdefghijklmnopqrstuvwx", "cfid=1", "cfid=", "cftoken=2", "&cftoken=2", "(abcdefghijklmnopqrstuvwx)",
    "/(s(abcdefghijklmnopqrstuvwx))/", "/(a(abcdefghijklmnopqrstuvwx)B(0bcdefghijklmnopqrstuvwx))/", "b.aspx", ".ASPX", "/.aspx",
    "b=2", "B=1", "a", "a=", "%C3%A9", "%09", "%23", "\"<>\\^`{|}", "\u{ff11}", "%00",
];

#[rustfmt::skip]
const FRONTS: &[&str] = &[
    "http://h", "http://h/", "http://h/?", "http://h/a", "https://www.a.b", "HTTP://H:0080/?", "http://http://h/", "https://ht\ttp://h?",
    "http://\nhttps://http://", "http://3232235777", "http://010", "http://www.4294967296:1/", "http://www3.www.", "http://..a..b.", "ftp://u:p@h:21/",
    "x://B%25C3%A9", "file://localhost", "file://u@LOCALHOST:/", "file:/", "http://[2001:DB8:0::1]", "http://[v1.A]:x", "http://a%40b", "http://h%3A80",
    "http://%C3%BC\u{3002}x:8\\", "filedesc:/", "warcinfo://A", "mailto:", "dns:", "/", "//h", "h:80", "?", "",
];

const PAIRS: &[&str] =
    &["b=2", "B=1", "a", "A=", "a=b=c", "", "cfid=1", "cftoken=2", "sid=1", "ab"];

pub fn url(rng: &mut Rng) -> Vec<u8> {
    match rng.below(8) {
        0 => any(rng),
        // Without a byte that the exact code alone reads.
        1 => {
            let pairs: Vec<&str> = (0..rng.below(5)).map(|_| rng.pick(PAIRS)).collect();
            let front = rng.pick(&["http://h/?", "https://www1.a.b/A/?", "http://1.2/x?"]);
            format!("{front}{}", pairs.join("&")).into_bytes()
        }
        _ => {
            let mut url: Vec<u8> = rng.pick(FRONTS).into();
            for _ in 0..rng.below(12) {
                if rng.one_in(30) {
                    url.push(rng.byte());
                }
                url.extend_from_slice(rng.pick(WORDS).as_bytes());
            }
            url
        }
    }
}
