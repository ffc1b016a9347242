//! The words of the generator. `TAME` lists keep to the grammar, `BROKEN` and `WILD` ones do not.
//!
//! Every word is here because some normalizer, this one included, could get it wrong.

// One word a line would hide that these are lists of similar items.
#![cfg_attr(rustfmt, rustfmt_skip)]

pub const SCHEMES: &[&str] = &[
    "http", "http", "http", "https", "https", "ws", "wss", "ftp", "file", "mailto", "ssh", "sftp", "tftp",
    "file", "urn", "urn", "data", "x", "postgresql", "a+b-c.1", "svn+ssh",
];

pub const BROKEN_SCHEMES: &[&str] = &[
    "", "1http", "ht tp", "ht%74p", "-x", "h\u{e9}", "h_t", "example.com", "localhost", "127.0.0.1",
];

pub const BROKEN_DELIMITERS: &[&str] = &[":", ":/", ":///", ":\\\\", ":////", "//", "", ":// "];

pub const PORTS: &[&str] = &[
    "", "80", "0080", "443", "00443", "21", "022", "69", "8080", "0", "00", "65535", "000000065535",
];

pub const BROKEN_PORTS: &[&str] = &[
    "x", "8x", "65536", "0065536", "99999999999999999999", "-1", "+80", "8%30", " 80", "80:80",
];

pub const PLAIN_HOSTS: &[&str] = &[
    "example.com", "www.Example.COM", "localhost", "a", "127.0.0.1", "1", "h_1", "a-b", "xn--bcher-kva.de",
];

pub const TAME_HOSTS: &[&str] = &[
    "[::1]", "[2001:DB8:0:0::1]", "[::FFFF:1.2.3.4]", "[::1.2.3.4]", "[1:0:0:2:0:0:0:3]", "[0:0:0:0:0:0:0:0]",
    "[64:ff9b::192.0.2.1]", "[1:2:3:4:5:6:7::]", "[::2:3:4:5:6:7:8]", "[1:0:3:4:5:6:7:8]", "[v1.a:B]", "[V1F.~]",
    "%45xample.com", "b%c3%bccher.example", "a%2Cb", "%31", "local%68ost", "a.", "a..", ".", "...", ".a", "a,b;c=d!",
    "XN--BCHER-KVA", "1.2.3.4.", "%2E", "a%2e%2E",
];

pub const BROKEN_HOSTS: &[&str] = &[
    "[", "]", "[]", "[::1", "::1]", "[::1]x", "[fe80::1%25en0]", "[1.2.3.4]", "[1:2]", "[:::]", "[1::2::3]",
    "[12345::]", "[::1.2.3.256]", "[::01.2.3.4]", "[1:2:3:4:5:6:7:8:9]", "[1:2:3:4:5:6:7::8]", "[v.a]", "[v1.]",
    "[v1.%41]", "[vg.a]", "a[b", "a]b", "%", "%4", "%zz", "%%34%31", "a%00b", "a%2fb", "a%25b", "a b", "a\\b", "a<b",
    "a^b", "a`b", "a|b", "a\"b", "%2Fvar%2frun", "%C2%AD.", "a\\@b", "\\", "b\u{fc}cher.example", "\u{df}", "a\u{3002}b", "a\u{ff0e}", "\u{ff0e}", "\u{ad}", "%C2%AD",
    "\u{ff25}x", "\u{2100}", "xn--a\u{e9}", "xn--xn---epa.\u{e9}", "xn--%C3%A9", "%C3", "%ff", "xn--zzzzzz%2C", "\u{130}", "a\u{200d}b",
    "%E2%80%8B",
];

pub const SEGMENTS: &[&str] = &[
    "", "", ".", "..", "%2e", "%2E", ".%2e", "%2E.", "%2e%2E", "...", "..;x", ".;", ".a", "a.", "%2e%2f..", "%252e",
    "a", "b", "index.html", "a;b=c", "a:b", ":", "12:30", "%61:b", "@", "..%00", "%2E%2E%2E", "%5c..",
];

/// Paths that may follow `scheme:` without an authority.
pub const OPAQUE_PATHS: &[&str] = &[
    "/..//a", "/.//a", "/%2e//a", "/a/..//b", "/.", "/..", "/", "", ".", "..", "./a", "../a/../b", "a/./b", "a:b",
    "isbn:0451450523", "Joe@Example.COM", "A@B.C,D@E.F", "a%40B@C%2cD", "A@B@C", "@", ",@X,", "%41%2e/..", "/a@B",
    "text/plain,Hi%20A", "//", "ISBN:0451450523", "%49sbn:A", "A-1:a:B", "-A:b", "A:b", "A-:b", "A_B:c", "UUID:",
];

pub const TAME_QUERY: &[&str] = &[
    "/", "?", "&", "=", "+", "a=b", "&&", "/../", "/./", "%26", "%3D", "%2B", "%23", "%3f",
];

pub const WILD_QUERY: &[&str] = &["#", "[]", "{}", "|", "'", "\"", "<>", "\\", "^", "`"];

pub const TAME_ATOMS: &[&str] = &[
    "a", "Z", "0", "-", ".", "_", "~", "!", "$", "&", "'", "(", ")", "*", "+", ",", ";", "=", "%25", "%2525", "%252e",
    "%2541", "%2F", "%2f", "%3A", "%40", "%5B", "%00", "%20", "%7e", "%C3%a9", "%2d", "abc", "AbC", "%255C", "%7F",
];

pub const WILD_ATOMS: &[&str] = &[
    "%", "%4", "%zz", "%g1", "%1g", "%%34%31", "%%41", "%25%34%31", "%%", "%u0041", " ", "\t", "\r\n", "\\", "\"",
    "<", ">", "^", "`", "{", "|", "}", "[", "]", "\u{e9}", "\u{20ac}", "\u{1f600}", "\u{7f}", "\0", "@", ":", "/",
    "?", "#", "//",
];

/// Request targets that are not in origin-form, or look as if they were not.
pub const ODD_TARGETS: &[&str] = &[
    "*", "**", " *", "h:1", "h:", ":1", "a.b:443", "a/b:1", "[::1]:443", "u@h:1", "", " ", "%2A",
];

/// Words of all kinds, for properties that shrink.
pub const MIXED: &[&str] = &[
    "http", "HTTPS", "x", "file", "file:/", "mailto", "urn:", "ISBN:", ":", "://", "//", "/", "?", "#", "@", "[", "]", "[::1]", "[::FFFF:1.2.3.4]",
    "h", "Example.COM", "localhost", ".", "..", "%2e", "%2E", "/.", "/..", "a", "Z", "~", "%41", "%7e", "%2f", "%25",
    "%C3%a9", "%", "%4", "\u{e9}", " ", "\\", "80", ":80", ":0443", ";", "&", "=", "+", ",", "%2B", "%40", "\n", "\0",
];

/// Units to repeat for a long URL.
pub const REPEATED: &[&str] = &[
    "a", "A", "/", "/..", "/.", "/a/..", "//", "%", "%41", "%2e", "/%2e%2e", "%%34%31", "@", ":", "[", "]", "::", ".",
    "0", "9", ",", "A@B,", "\\", " ", "\u{e9}", "%C3%A9", "\u{e9}.", "xn--.", "?", "#", "&", "\0", ";", "a.",
];
