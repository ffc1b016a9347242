//! URLs for the switches: differences that by experience do not matter.

use super::{Rng, any};

#[rustfmt::skip]
const FRONTS: &[&str] = &[
    "http://h", "http://h", "https://h", "https://h:443", "https://h:8443", "http://www.h.x", "https://www.www.example.com",
    "http://www.com", "http://WWW.a.b.:80", "http://www.www.com", "http://www.", "http://u@www.a.b", "ftp://www.a.b", "",
    "x://www.a.b:1", "x:", "x:", "x:/.", "file://", "mailto:", "http://[::1]", "https://[::1]:8", "wss://www..a", "x://u@www.a.b",
    "http://example.com", "http://example.com", "http://www.1.2.3.4",
];

#[rustfmt::skip]
const PATHS: &[&str] = &[
    "/", "/", "/", "//", "a", "B", "index.html", "index.html", "Index.PHP", "default.aspx", "index", "xindex.html", "/index.htm/",
    ";jsessionid=1", ";JSESSIONID=", ";jsessionid", ";a=b", ";sid=0123456789abcdef0123456789ABCDEF", ";sid=0", ";phpsessid=x",
    "(S(a1))", "(s(a1))", "/(S(a1))", "/(S(a1))/", "(S())", "(S(%41))", "(S(-))", "/.", "..", "/..", "/../", "/..;jsessionid=1",
    "/.;jsessionid=1;jsessionid=2", "%2F", "%c3%A9", "%2e", ";", "/;jsessionid=1/", "é", "*", "+", ":", ",",
];

#[rustfmt::skip]
const QUERIES: &[&str] = &[
    "?", "?", "&", "&", "&", "&&", "=", "&=", "&=&", "a", "a=1", "b=2", "c", "A=3", "aa", "a%3D=1", "f%5Ba%5D=1", "f[b]=2", "utm_source=x",
    "UTM_x", "fbclid=1", "gclid", "_ga=", "utm=1", "sid=0123456789abcdef0123456789abcdef", "sid=1", "SID=0123456789abcdef0123456789abcdeg",
    "PHPSESSID=1", "jsessionid", "ASPSESSIONIDABCDEFGH=X", "aspsession=1", "a=b=c", "%c3%a9=1", "?", "/", "%", "%zz", "+", ";", "é",
];

pub const GLOBS: &[&str] =
    &["a", "a*", "*", "?", "f[*]", "*=*", "utm_*", "b?", "", "A", "??", "\u{e9}", "**c", "*a*b*"];

pub fn url(rng: &mut Rng) -> Vec<u8> {
    if rng.one_in(8) {
        return any(rng);
    }
    let mut url: String = rng.pick(FRONTS).into();
    for _ in 0..rng.below(7) {
        url += rng.pick(PATHS);
    }
    if rng.one_in(2) {
        url += "?";
        for _ in 0..rng.below(9) {
            url += rng.pick(QUERIES);
        }
    }
    if rng.one_in(6) {
        url += rng.pick(&["#", "#f", "#%41 ?"]);
    }
    if rng.one_in(10) {
        url.insert_str(rng.below(2) * url.len(), rng.pick(&[" ", "\t", "\n "]));
    }
    if rng.one_in(12) {
        let rest = "/a".repeat(rng.below(100));
        url += &rest;
        url += rng.pick(PATHS);
    }
    url.into_bytes()
}
