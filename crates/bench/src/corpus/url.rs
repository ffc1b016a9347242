//! URLs by number, and the ways in which people write them.
//!
//! [`Base::write`] makes the canonical URL (under `crawl`) of an index: a pure function of seed and
//! index, so that a repeat needs no memory of the URLs before it. It is injective: the last run
//! of letters and digits that holds a digit, triplets aside, is the index itself. It is either all
//! digits (the index in decimal) or a digit, a letter and the index in base 36.
//! [`Base::write_variant`] writes the same URL with one to three faults that `crawl` repairs.

use super::random::Rng;
use super::words::*;

/// Hosts of the lists; the first ones are far more frequent than the last.
const HOSTS: u64 = 300_000;

/// The shape of the canonical URLs of a corpus.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Of a thousand segments and query values, how many hold triplets.
    pub triplets: u64,
    /// Of a thousand hosts, how many are internationalized.
    pub idn: u64,
}

/// A canonical URL and the positions of its parts.
#[derive(Debug, Default)]
pub struct Base {
    /// The URL, or for a log its target.
    pub bytes: Vec<u8>,
    scheme_end: usize,
    host: usize,
    host_end: usize,
    path: usize,
    query: usize,
    idn: Option<(&'static str, &'static str)>,
}

impl Base {
    /// The canonical URL with the number `index`.
    pub fn write(&mut self, seed: u64, index: u64, style: Style) {
        let mut rng = Rng::of_item(seed, index);
        let out = &mut self.bytes;
        out.clear();
        out.extend_from_slice(if rng.chance(120) { b"http" } else { b"https" });
        self.scheme_end = out.len();
        out.extend_from_slice(b"://");
        self.host = out.len();
        let kind = rng.below(1000);
        let root = kind < 30;
        self.idn = None;
        if root {
            // No path to hold the index: these are the many small hosts seen once.
            text(out, rng.pick(&WORDS));
            out.push(b'-');
            token(out, index, &mut rng);
            text(out, rng.pick(&TLDS));
        } else if kind < 30 + style.idn {
            let label = rng.pick(&IDN_LABELS);
            self.idn = Some(label);
            text(out, label.1);
            text(out, rng.pick(&TLDS));
        } else {
            host(out, rng.rank(HOSTS, 15));
        }
        self.host_end = out.len();
        if !root && rng.chance(10) {
            out.extend_from_slice(b":8080");
        }
        self.path = out.len();
        if root {
            out.push(b'/');
            self.query = out.len();
        } else {
            self.path_and_query(&mut rng, index, style);
        }
    }

    /// The canonical target (path and query) with the number `index`.
    pub fn write_target(&mut self, seed: u64, index: u64, style: Style) {
        let mut rng = Rng::of_item(seed, index);
        self.bytes.clear();
        self.path = 0;
        self.idn = None;
        if rng.chance(2) {
            // Two slashes in front are a path like any other in a target.
            self.bytes.push(b'/');
        }
        self.path_and_query(&mut rng, index, style);
    }

    fn path_and_query(&mut self, rng: &mut Rng, index: u64, style: Style) {
        let out = &mut self.bytes;
        let has_query = rng.chance(350);
        let segments = 1 + rng.pick(&[0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5]);
        for _ in 1..segments {
            out.push(b'/');
            segment(out, rng, style);
        }
        out.push(b'/');
        if has_query {
            if !rng.chance(200) {
                segment(out, rng, style);
                if rng.chance(400) {
                    text(out, rng.pick(&EXTENSIONS));
                }
            }
        } else {
            if rng.chance(600) {
                slug(out, rng, style);
                out.push(b'-');
            }
            token(out, index, rng);
            match rng.below(10) {
                0..=3 => text(out, rng.pick(&EXTENSIONS)),
                4..=5 => out.push(b'/'),
                _ => {}
            }
        }
        self.query = out.len();
        if has_query {
            // A few URLs are far longer than a vector or two.
            let before = if rng.chance(30) { 8 + rng.below(14) } else { rng.below(3) };
            out.push(b'?');
            for _ in 0..before {
                text(out, rng.pick(&PARAMETERS));
                out.push(b'=');
                if rng.chance(300) {
                    decimal(out, rng.below(1000));
                } else {
                    value(out, rng, style);
                }
                out.push(b'&');
            }
            text(out, rng.pick(&PARAMETERS));
            out.push(b'=');
            token(out, index, rng);
            if rng.chance(200) {
                out.push(b'&');
                text(out, rng.pick(&PARAMETERS));
                out.push(b'=');
                text(out, rng.pick(&WORDS));
            }
        }
    }

    /// Appends the URL with one to three faults; never the URL as it is.
    pub fn write_variant(&self, rng: &mut Rng, out: &mut Vec<u8>) {
        let start = out.len();
        let faults = self.faults(rng, &LIST_FAULTS);
        let has = |fault: u32| faults & fault != 0;
        let url = &self.bytes;
        if has(BLANKS_AROUND) && rng.chance(500) {
            out.push(rng.pick(b" \t"));
        }
        let scheme = &url[..self.scheme_end];
        if has(SCHEME_CASE) {
            let all = rng.chance(500);
            out.extend(
                scheme
                    .iter()
                    .enumerate()
                    .map(|(i, b)| if all || i == 0 { b.to_ascii_uppercase() } else { *b }),
            );
        } else {
            out.extend_from_slice(scheme);
        }
        out.extend_from_slice(b"://");
        if has(USERINFO) {
            text(out, rng.pick(&USERINFOS));
        }
        let host_start = out.len();
        match self.idn {
            Some((typed, ascii)) if has(IDN) => {
                text(out, typed);
                out.extend_from_slice(&url[self.host + ascii.len()..self.host_end]);
            }
            _ => out.extend_from_slice(&url[self.host..self.host_end]),
        }
        if has(HOST_CASE) {
            match rng.below(3) {
                0 => out[host_start].make_ascii_uppercase(),
                1 => out[host_start..].make_ascii_uppercase(),
                _ => {
                    let at = host_start + rng.below((out.len() - host_start) as u64) as usize;
                    out[at..].make_ascii_uppercase();
                }
            }
        }
        if has(HOST_ESCAPE) {
            // The last letter of the host, as a triplet of an unreserved byte.
            let last = out.pop().unwrap_or(b'm');
            triplet(out, last, Hex::Upper);
        }
        if has(HOST_DOT) {
            out.push(b'.');
        }
        if self.path > self.host_end {
            out.extend_from_slice(&url[self.host_end..self.path]);
        } else if has(PORT) {
            let default = if scheme.len() == 5 { "443" } else { "80" };
            text(out, rng.pick(&[":", ":", ":", ":0", ":"]));
            // `:0` alone would be another port, so the default follows its zero.
            if rng.chance(900) || out.ends_with(b"0") {
                text(out, default);
            }
        }
        if !(has(EMPTY_PATH) && self.query - self.path == 1) {
            self.write_path(rng, out, faults, false);
        }
        self.write_query(rng, out, faults, false);
        if has(FRAGMENT) {
            text(out, rng.pick(&FRAGMENTS));
        }
        if has(BLANKS_AROUND) {
            out.push(rng.pick(b"  \t"));
        }
        // A fault may do nothing to this URL, and a variant has to differ.
        if &out[start..] == url.as_slice() {
            text(out, rng.pick(&FRAGMENTS));
        }
    }

    /// Appends the target with one to three faults, in the escapes of a log; never as it is.
    pub fn write_target_variant(&self, rng: &mut Rng, out: &mut Vec<u8>) {
        let start = out.len();
        let faults = self.faults(rng, &TARGET_FAULTS);
        self.write_path(rng, out, faults, true);
        self.write_query(rng, out, faults, true);
        if faults & FRAGMENT != 0 || out[start..] == self.bytes {
            text(out, rng.pick(&FRAGMENTS));
        }
    }

    fn faults(&self, rng: &mut Rng, likely: &[u32]) -> u32 {
        let mut faults = 0;
        for _ in 0..rng.pick(&[1, 1, 1, 1, 1, 1, 2, 2, 2, 3]) {
            faults |= rng.pick(likely);
        }
        if self.bytes.contains(&b'%') && rng.chance(600) {
            faults |= rng.pick(&[RAW, LOWER_HEX]);
        }
        if self.query == self.path + 1 && rng.chance(600) {
            faults |= EMPTY_PATH;
        }
        if self.idn.is_some() && rng.chance(500) {
            faults |= IDN;
        }
        faults
    }

    fn write_path(&self, rng: &mut Rng, out: &mut Vec<u8>, faults: u32, in_log: bool) {
        let path = &self.bytes[self.path..self.query];
        if faults & DOTS == 0 {
            return rewrite(path, rng, out, faults, in_log);
        }
        // The faulty text is inserted before a slash of the path and vanishes with its dots. A path that
        // starts with two slashes has an empty first segment, which `..` in front of it would keep.
        let slashes = path.iter().filter(|&&b| b == b'/').count() as u64;
        let chosen = rng.below(slashes);
        let at = path
            .iter()
            .enumerate()
            .filter(|(_, b)| **b == b'/')
            .nth(chosen as usize)
            .map_or(0, |(i, _)| i);
        rewrite(&path[..at], rng, out, faults, in_log);
        match rng.below(6) {
            0 | 1 => out.extend_from_slice(b"/."),
            2 => out.extend_from_slice(b"/%2e"),
            3 if at == 0 => out.extend_from_slice(b"/.."),
            _ => {
                out.push(b'/');
                text(out, rng.pick(&WORDS));
                text(out, rng.pick(&["/..", "/..", "/.%2E", "/%2e%2e"]));
            }
        }
        rewrite(&path[at..], rng, out, faults, in_log);
    }

    fn write_query(&self, rng: &mut Rng, out: &mut Vec<u8>, faults: u32, in_log: bool) {
        rewrite(&self.bytes[self.query..], rng, out, faults, in_log);
    }
}

const SCHEME_CASE: u32 = 1;
const HOST_CASE: u32 = 1 << 1;
const PORT: u32 = 1 << 2;
const UNRESERVED: u32 = 1 << 3;
const LOWER_HEX: u32 = 1 << 4;
const DOTS: u32 = 1 << 5;
const FRAGMENT: u32 = 1 << 6;
const EMPTY_PATH: u32 = 1 << 7;
const RAW: u32 = 1 << 8;
const USERINFO: u32 = 1 << 9;
const BLANKS_AROUND: u32 = 1 << 10;
const HOST_DOT: u32 = 1 << 11;
const HOST_ESCAPE: u32 = 1 << 12;
const IDN: u32 = 1 << 13;

/// Faults of a list by weight; those that need a triplet, an empty path or such a host are added
/// if the URL has one.
const LIST_FAULTS: [u32; 17] = [
    HOST_CASE,
    HOST_CASE,
    HOST_CASE,
    SCHEME_CASE,
    PORT,
    PORT,
    UNRESERVED,
    UNRESERVED,
    UNRESERVED,
    DOTS,
    DOTS,
    FRAGMENT,
    FRAGMENT,
    USERINFO,
    HOST_DOT,
    BLANKS_AROUND,
    HOST_ESCAPE,
];

/// Faults of a log's target.
const TARGET_FAULTS: [u32; 5] = [UNRESERVED, UNRESERVED, DOTS, DOTS, FRAGMENT];

/// Copies a path or query, with the faults that act on its bytes.
fn rewrite(part: &[u8], rng: &mut Rng, out: &mut Vec<u8>, faults: u32, in_log: bool) {
    if faults & (UNRESERVED | LOWER_HEX | RAW) == 0 || part.is_empty() {
        return out.extend_from_slice(part);
    }
    // One letter in 16 becomes a triplet, counted from a random one on.
    let mut until_escape = if faults & UNRESERVED != 0 { 1 + rng.below(8) } else { u64::MAX };
    let mut i = 0;
    while i < part.len() {
        let b = part[i];
        if b == b'%' {
            let value = hex_value(part[i + 1]) << 4 | hex_value(part[i + 2]);
            // A blank at the very end would be trimmed, not encoded, and a `%` must not start a triplet.
            let raw_allowed = match value {
                b'"' | b'<' | b'>' | b'[' | b']' | b'|' | 0x80.. => true,
                b' ' => i + 3 < part.len(),
                b'%' => part.get(i + 3) == Some(&b'-'),
                _ => false,
            };
            if faults & RAW != 0 && raw_allowed {
                if in_log && (value >= 0x80 || value == b'"') {
                    if value == b'"' && rng.chance(500) {
                        out.extend_from_slice(b"\\\"");
                    } else {
                        out.extend_from_slice(b"\\x");
                        hex(out, value, Hex::Upper);
                    }
                } else {
                    out.push(value);
                }
            } else if faults & LOWER_HEX != 0 {
                triplet(out, value, Hex::Lower);
            } else {
                triplet(out, value, Hex::Upper);
            }
            i += 3;
            continue;
        }
        if b.is_ascii_alphabetic() {
            until_escape -= 1;
            if until_escape == 0 {
                until_escape = 16;
                triplet(out, b, if rng.chance(500) { Hex::Lower } else { Hex::Upper });
                i += 1;
                continue;
            }
        }
        out.push(b);
        i += 1;
    }
}

/// The host with the popularity rank `n`. A few ranks share a host, which does no harm: the paths differ.
pub fn host(out: &mut Vec<u8>, n: u64) {
    // An odd factor permutes 20 bits: neighbours in rank share no words.
    let m = n.wrapping_mul(0x9E37_79B1) & 0xF_FFFF;
    let (before, joiner) = HOST_SHAPES[(m >> 14 & 15) as usize];
    text(out, before);
    text(out, WORDS[(m & 127) as usize]);
    text(out, joiner);
    text(out, WORDS[(m >> 7 & 127) as usize]);
    // The two unused bits, and some that are used already.
    text(out, ["", "-online", "hub", "lab"][(m >> 18) as usize]);
    text(out, TLDS[(m.wrapping_mul(0x9E37_79B9) >> 12 & 15) as usize]);
}

fn segment(out: &mut Vec<u8>, rng: &mut Rng, style: Style) {
    match rng.below(16) {
        0..=8 => text(out, rng.pick(&WORDS)),
        9..=12 => slug(out, rng, style),
        13 => decimal(out, 1998 + rng.below(28)),
        14 => {
            out.push(b'0' + rng.below(2) as u8);
            out.push(b'1' + rng.below(2) as u8);
        }
        _ => text(out, rng.pick(&ODD_SEGMENTS)),
    }
}

fn slug(out: &mut Vec<u8>, rng: &mut Rng, style: Style) {
    value(out, rng, style);
    for _ in 0..rng.pick(&[1, 1, 1, 2, 3]) {
        out.push(b'-');
        text(out, rng.pick(&WORDS));
    }
}

fn value(out: &mut Vec<u8>, rng: &mut Rng, style: Style) {
    if style.triplets > 0 && rng.chance(style.triplets) {
        text(out, rng.pick(&TRIPLET_WORDS));
    } else {
        text(out, rng.pick(&WORDS));
    }
}

/// The index, in one of the two forms that no other index has.
fn token(out: &mut Vec<u8>, index: u64, rng: &mut Rng) {
    if rng.chance(500) {
        return decimal(out, index);
    }
    out.push(b'0' + rng.below(10) as u8);
    out.push(b'a' + rng.below(26) as u8);
    base(out, index, 36);
}

#[inline]
fn text(out: &mut Vec<u8>, s: &str) {
    out.extend_from_slice(s.as_bytes());
}

/// Appends `n` in decimal.
pub fn decimal(out: &mut Vec<u8>, n: u64) {
    base(out, n, 10);
}

fn base(out: &mut Vec<u8>, mut n: u64, radix: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b"0123456789abcdefghijklmnopqrstuvwxyz"[(n % radix) as usize];
        n /= radix;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Case of the digits of a triplet.
#[derive(Debug, Clone, Copy)]
pub enum Hex {
    /// As the RFC wants it.
    Upper,
    /// Lower case, which is also common.
    Lower,
}

fn triplet(out: &mut Vec<u8>, b: u8, case: Hex) {
    out.push(b'%');
    hex(out, b, case);
}

/// Appends two hexadecimal digits.
pub fn hex(out: &mut Vec<u8>, b: u8, case: Hex) {
    let digits = match case {
        Hex::Upper => b"0123456789ABCDEF",
        Hex::Lower => b"0123456789abcdef",
    };
    out.push(digits[(b >> 4) as usize]);
    out.push(digits[(b & 15) as usize]);
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b => (b | 0x20) - b'a' + 10,
    }
}
