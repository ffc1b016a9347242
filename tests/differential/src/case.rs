//! Blocks of URLs side by side in one buffer, as the lines of a file are.

use uniqurl::internal::Span;

use crate::generator::{self, Rng, Temper};

/// How a URL is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// A line of a list.
    Url,
    /// A request target with an unknown host.
    Target,
}

/// URLs to be checked together, under one profile after the other.
pub struct Block {
    pub way: Way,
    pub bytes: Vec<u8>,
    pub spans: Vec<Span>,
    /// The seed of the random choices of the laws.
    pub seed: u64,
}

/// URLs of a block: more than one word of a mask, and no multiple of it.
const URLS: usize = 150;

impl Block {
    pub fn urls(&self) -> impl Iterator<Item = &[u8]> {
        self.spans.iter().map(|span| span.of(&self.bytes))
    }

    /// A single URL with the bytes around it.
    pub fn single(way: Way, before: &[u8], url: &[u8], after: &[u8], seed: u64) -> Block {
        let (start, end) = (before.len() as u32, (before.len() + url.len()) as u32);
        let bytes = [before, url, after].concat();
        Block { way, bytes, spans: vec![Span { start, end }], seed }
    }

    /// Draws the next block from this generator. `real` are URLs to mutate.
    pub fn draw(rng: &mut Rng, real: &[Vec<u8>]) -> Block {
        let way = if rng.one_in(5) { Way::Target } else { Way::Url };
        // Each maker fills whole blocks, so that a block holds one kind of URL, as files do.
        let maker = rng.below(8);
        let (mut bytes, mut spans) = (Vec::new(), Vec::with_capacity(URLS));
        while spans.len() < URLS {
            let url = match (maker, way) {
                (0, _) => generator::systems::url(rng),
                (1, _) => generator::browser::url(rng),
                (2, _) => generator::habits::url(rng),
                (3, _) => changed(rng, real),
                (4, _) => generator::archive::url(rng),
                (_, Way::Url) => generator::any(rng),
                (_, Way::Target) => {
                    let temper = if rng.one_in(2) { Temper::Tame } else { Temper::Wild };
                    generator::target(rng, temper)
                }
            };
            let url = if way == Way::Target { to_target(rng, url) } else { url };
            let start = bytes.len() as u32;
            bytes.extend_from_slice(&url);
            spans.push(Span { start, end: bytes.len() as u32 });
            // Lines have a byte between them; values of a column do not.
            if maker.is_multiple_of(2) {
                bytes.push(b'\n');
            }
        }
        Block { way, bytes, spans, seed: rng.bits() }
    }
}

/// A real URL, mostly mutated.
fn changed(rng: &mut Rng, real: &[Vec<u8>]) -> Vec<u8> {
    let mut url = real[rng.below(real.len())].clone();
    let donor = &real[rng.below(real.len())];
    for _ in 0..rng.below(4) {
        generator::mutate(rng, &mut url, donor);
    }
    url
}

/// Often without its scheme and host, since targets start with a slash.
fn to_target(rng: &mut Rng, url: Vec<u8>) -> Vec<u8> {
    let front = url.windows(3).position(|window| window == b"://");
    let slash = front.and_then(|at| url[at + 3..].iter().position(|&byte| byte == b'/'));
    match (front, slash) {
        (Some(at), Some(slash)) if !rng.one_in(8) => url[at + 3 + slash..].to_vec(),
        _ => url,
    }
}
