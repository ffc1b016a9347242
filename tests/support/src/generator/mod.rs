//! Makes hostile URLs: each part is drawn from text that has broken normalizers before.
//!
//! Everything follows from one seed, so that a failure can be run again. A URL drawn as `Tame`
//! keeps to the grammar, so that the strict rungs accept it and their rules get work; a `Wild` one
//! may hold anything anywhere.

pub mod archive;
pub mod browser;
pub mod habits;
pub mod systems;
pub mod words;

use words::*;

/// The SplitMix64 generator: small, fast, and good enough to draw test cases.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is at least 1.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn byte(&mut self) -> u8 {
        self.bits() as u8
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// How far a URL may leave the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temper {
    Tame,
    Wild,
}

/// The widths of vector registers and of the masks made from them; errors occur at their edges.
const BOUNDARIES: [usize; 5] = [16, 32, 64, 128, 192];

/// Any URL, reference or garbage.
pub fn any(rng: &mut Rng) -> Vec<u8> {
    match rng.below(20) {
        0 => bytes(rng),
        1..=3 => reference(rng, Temper::Wild),
        4..=9 => url(rng, Temper::Tame),
        10..=14 => url(rng, Temper::Wild),
        _ => {
            let (mut mutant, donor) = (url(rng, Temper::Tame), url(rng, Temper::Wild));
            for _ in 0..=rng.below(3) {
                mutate(rng, &mut mutant, &donor);
            }
            mutant
        }
    }
}

/// A URL with a scheme (a wild one may have lost it).
pub fn url(rng: &mut Rng, temper: Temper) -> Vec<u8> {
    let mut out = scheme(rng, temper);
    if rng.one_in(8) {
        out.push(b':');
        out.extend(opaque(rng, temper));
    } else {
        let broken = temper == Temper::Wild && rng.one_in(10);
        let delimiter = if broken { rng.pick(BROKEN_DELIMITERS) } else { "://" };
        out.extend_from_slice(delimiter.as_bytes());
        out.extend(authority(rng, temper));
        out.extend(path(rng, temper));
    }
    query_and_fragment(rng, temper, &mut out);
    if rng.one_in(5) {
        stretch(rng, &mut out);
    }
    if temper == Temper::Wild && rng.one_in(10) {
        surround(rng, &mut out);
    }
    out
}

/// A text without a scheme: `//host`, `/path`, `path`, `host:port/path`, `?query`, `#fragment`.
pub fn reference(rng: &mut Rng, temper: Temper) -> Vec<u8> {
    let mut out = Vec::new();
    match rng.below(5) {
        0 => {
            out.extend_from_slice(b"//");
            out.extend(authority(rng, temper));
            out.extend(path(rng, temper));
        }
        1 => out.extend(path(rng, temper)),
        2 => out.extend(path(rng, temper).into_iter().skip(1)),
        3 => {
            out.extend(authority(rng, temper));
            out.extend(path(rng, temper));
        }
        _ => {}
    }
    query_and_fragment(rng, temper, &mut out);
    out
}

/// The target of a request line: mostly a path and a query, sometimes one of the other forms.
pub fn target(rng: &mut Rng, temper: Temper) -> Vec<u8> {
    match rng.below(12) {
        0 => url(rng, temper),
        1 => reference(rng, temper),
        2 => rng.pick(ODD_TARGETS).into(),
        _ => {
            let mut out: Vec<u8> = rng.pick(&["", "", "", "/", "//"]).into();
            out.extend(path(rng, temper));
            query_and_fragment(rng, temper, &mut out);
            if rng.one_in(5) {
                stretch(rng, &mut out);
            }
            out
        }
    }
}

/// Flips, inserts, deletes, doubles or splices bytes somewhere in `url`.
pub fn mutate(rng: &mut Rng, url: &mut Vec<u8>, donor: &[u8]) {
    let at = rng.below(url.len() + 1);
    let end = (at + rng.below(8)).min(url.len());
    match rng.below(7) {
        0 if at < url.len() => url[at] ^= 1 << rng.below(8),
        1 if at < url.len() => url[at] = rng.byte(),
        2 => url.insert(at, hostile_byte(rng)),
        3 => drop(url.drain(at..end)),
        4 => {
            let again = url[at..end].to_vec();
            url.splice(at..at, again);
        }
        5 => {
            let from = rng.below(donor.len() + 1);
            let to = (from + rng.below(12)).min(donor.len());
            url.splice(at..end, donor[from..to].iter().copied());
        }
        _ => {
            let inserted = atom(rng, Temper::Wild);
            url.splice(at..at, inserted);
        }
    }
}

fn scheme(rng: &mut Rng, temper: Temper) -> Vec<u8> {
    let broken = temper == Temper::Wild && rng.one_in(12);
    let name = rng.pick(if broken { BROKEN_SCHEMES } else { SCHEMES });
    odd_case(rng, name.as_bytes())
}

fn authority(rng: &mut Rng, temper: Temper) -> Vec<u8> {
    let mut out = Vec::new();
    if rng.one_in(6) {
        for _ in 0..rng.below(4) {
            out.extend(match rng.below(4) {
                0 => b":".to_vec(),
                1 if temper == Temper::Wild => b"@".to_vec(),
                _ => atom(rng, temper),
            });
        }
        out.push(b'@');
    }
    out.extend(host(rng, temper));
    if rng.one_in(4) {
        let broken = temper == Temper::Wild && rng.one_in(4);
        out.push(b':');
        out.extend_from_slice(rng.pick(if broken { BROKEN_PORTS } else { PORTS }).as_bytes());
    }
    out
}

fn host(rng: &mut Rng, temper: Temper) -> Vec<u8> {
    let mut out = match rng.below(10) {
        0 => Vec::new(),
        1..=4 => {
            let name = rng.pick(PLAIN_HOSTS);
            odd_case(rng, name.as_bytes())
        }
        5..=7 => rng.pick(TAME_HOSTS).into(),
        8 if temper == Temper::Wild => rng.pick(BROKEN_HOSTS).into(),
        _ => (0..=rng.below(4)).flat_map(|_| atom(rng, temper)).collect(),
    };
    if temper == Temper::Wild && rng.one_in(20) {
        out.push(rng.byte());
    }
    out
}

/// A path: empty, or starting with a slash.
fn path(rng: &mut Rng, temper: Temper) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..rng.below(8) {
        let segment = if rng.one_in(3) {
            (0..=rng.below(3)).flat_map(|_| atom(rng, temper)).collect()
        } else {
            rng.pick(SEGMENTS).as_bytes().to_vec()
        };
        out.extend([b"/".to_vec(), segment].concat());
    }
    out
}

/// The part after `mailto:`, `urn:` and their like; also paths with a slash but no authority.
fn opaque(rng: &mut Rng, temper: Temper) -> Vec<u8> {
    match rng.below(4) {
        0 => path(rng, temper),
        1 => (0..=rng.below(4)).flat_map(|_| atom(rng, temper)).collect(),
        _ => rng.pick(OPAQUE_PATHS).into(),
    }
}

fn query_and_fragment(rng: &mut Rng, temper: Temper, out: &mut Vec<u8>) {
    for (delimiter, seldom) in [(b'?', 3), (b'#', 5)] {
        if !rng.one_in(seldom) {
            continue;
        }
        out.push(delimiter);
        for _ in 0..rng.below(5) {
            out.extend(match rng.below(6) {
                0 => rng.pick(TAME_QUERY).into(),
                1 if temper == Temper::Wild => rng.pick(WILD_QUERY).into(),
                _ => atom(rng, temper),
            });
        }
    }
}

/// A few bytes that belong together.
fn atom(rng: &mut Rng, temper: Temper) -> Vec<u8> {
    match rng.below(8) {
        0 => {
            let value = rng.byte();
            triplet(rng, value)
        }
        1 => {
            let value = unreserved(rng);
            triplet(rng, value)
        }
        2 => (0..=rng.below(12)).map(|_| unreserved(rng)).collect(),
        3 if temper == Temper::Wild => vec![rng.byte()],
        4 if temper == Temper::Wild => rng.pick(WILD_ATOMS).into(),
        _ => rng.pick(TAME_ATOMS).into(),
    }
}

fn unreserved(rng: &mut Rng) -> u8 {
    let all = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    all[rng.below(all.len())]
}

/// A byte with a meaning in some place, or any byte.
fn hostile_byte(rng: &mut Rng) -> u8 {
    let telling = b"%%%/..?#@:[];\\ \t\r\n\0\x7f\x80\xff2eE5AaZz0";
    if rng.one_in(3) { rng.byte() } else { telling[rng.below(telling.len())] }
}

/// `%XX` with each digit in either case.
pub fn triplet(rng: &mut Rng, value: u8) -> Vec<u8> {
    let digits = format!("{value:02x}");
    let mut out = vec![b'%'];
    out.extend(odd_case(rng, digits.as_bytes()));
    out
}

/// Each letter in either case, or all unchanged.
fn odd_case(rng: &mut Rng, text: &[u8]) -> Vec<u8> {
    if rng.one_in(2) {
        return text.to_vec();
    }
    text.iter()
        .map(
            |byte| {
                if rng.one_in(2) { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() }
            },
        )
        .collect()
}

/// Any bytes, of a length near a boundary or up to 300.
fn bytes(rng: &mut Rng) -> Vec<u8> {
    let length = if rng.one_in(2) { near_boundary(rng) } else { rng.below(300) };
    (0..length).map(|_| if rng.one_in(2) { hostile_byte(rng) } else { unreserved(rng) }).collect()
}

fn near_boundary(rng: &mut Rng) -> usize {
    BOUNDARIES[rng.below(BOUNDARIES.len())] + rng.below(7) - 3
}

/// Lengthens the URL so that its end, or some place in it, meets a boundary.
fn stretch(rng: &mut Rng, out: &mut Vec<u8>) {
    let goal = near_boundary(rng) + if rng.one_in(4) { rng.below(200) } else { 0 };
    let at = if rng.one_in(2) { out.len() } else { rng.below(out.len() + 1) };
    let missing = goal.saturating_sub(out.len());
    let filling: Vec<u8> = (0..missing).map(|_| unreserved(rng)).collect();
    out.splice(at..at, filling);
}

/// Adds bytes around the URL that `crawl` trims, and some that look like them but stay.
fn surround(rng: &mut Rng, out: &mut Vec<u8>) {
    for front in [true, false] {
        for _ in 0..rng.below(3) {
            let byte = b" \t\r\n\0\x1f \x7f\xa0"[rng.below(9)];
            if front { out.insert(0, byte) } else { out.push(byte) }
        }
    }
}
