//! Finds the parameters of a query by masks, each with a key for sorting.

use crate::profile::starts::Starts;
use crate::simd::{BLOCK, Block, MaskedUrl, Vector, up_to};

/// A query parameter (the text between two `&`), as offsets in the URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::normalize) struct Parameter {
    pub(in crate::normalize) start: usize,
    pub(in crate::normalize) end: usize,
    /// Length of the name, which ends at the first `=`; `BLOCK` for a name of at least that length.
    name: usize,
    /// The first bytes of the parameter and of the text after it, the first one lowest.
    word: u64,
}

impl Parameter {
    /// Whether it has no name.
    #[inline(always)]
    pub(in crate::normalize) fn is_nameless(self) -> bool {
        self.name == 0
    }

    /// Length of the name in the parameter's text.
    #[inline(always)]
    pub(in crate::normalize) fn name_in(self, text: &[u8]) -> usize {
        // For a long name it is only known that it has at least a block.
        if self.name < BLOCK { self.name } else { memchr::memchr(b'=', text).unwrap_or(text.len()) }
    }

    /// The name alone, in the same URL.
    #[inline(always)]
    pub(in crate::normalize) fn without_value(self, url: &[u8]) -> Self {
        let name = self.name_in(&url[self.start..self.end]);
        Self { end: self.start + name, ..self }
    }

    /// Whether the parameter may have one of these starts.
    #[inline(always)]
    pub(in crate::normalize) fn may_be_one_of(self, starts: &Starts) -> bool {
        starts.hold(self.word as u32)
    }

    /// The first eight bytes of the name, padded with zeros. Names with different keys are ordered like
    /// their keys. Two names with the same key are equal if its lowest byte is zero, because no name of a
    /// clean URL holds a zero.
    #[inline(always)]
    pub(in crate::normalize) fn key(self) -> u64 {
        key(self.word, self.name)
    }

    /// The same key for the name in lower case.
    #[inline(always)]
    pub(in crate::normalize) fn lower_key(self) -> u64 {
        let all = |byte: u8| u64::from_ne_bytes([byte; 8]);
        let key = self.key();
        // In a clean URL no byte has its highest bit set, so that bit can take the result of two comparisons:
        // with `A`, and with the byte after `Z`.
        let upper = (key + all(0x80 - b'A')) & !(key + all(0x80 - b'[')) & all(0x80);
        key | upper >> 2
    }
}

/// The first eight bytes of a name of this length, ordered like the names. `word` has its first byte
/// lowest.
#[inline(always)]
fn key(word: u64, name: usize) -> u64 {
    let bits = 8 * name;
    let inside = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    (word & inside).swap_bytes()
}

/// Most queries have at most this many parameters, and are checked without a branch on their number.
const FEW: usize = 4;

/// Whether the names of the short query at `query` are in order, none is empty, no two share their first
/// eight bytes, and none has one of `starts`. `false` may only mean that a closer check is needed.
#[inline(always)]
pub(in crate::normalize) fn are_in_order<V: Vector, const N: usize>(
    masked: &MaskedUrl<'_, V, N>,
    query: usize,
    starts: &Starts,
) -> bool {
    let source = masked.source().get(query..);
    let Some(room) = source.and_then(<[u8]>::first_chunk::<{ BLOCK + 16 }>) else { return false };
    let Some(block) = room.first_chunk() else { return false };
    let rest = masked.length - query;
    if rest >= BLOCK {
        return false;
    }
    let vector = masked.vector();
    let mut ends = vector.find(block, b'&') & up_to(rest) | 1 << rest;
    let names = vector.find(block, b'=') | ends;
    let (mut start, mut before) = (0, 0);
    let (mut in_order, mut held) = (true, false);
    for _ in 0..FEW {
        let is_there = ends != 0;
        let word = room[start..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let name = (names >> (start % BLOCK)).trailing_zeros() as usize;
        let key = key(word, name);
        in_order &= (key > before) | !is_there;
        held |= starts.hold(word as u32) & is_there;
        before = key;
        start = ends.trailing_zeros() as usize + 1;
        ends &= ends.wrapping_sub(1);
    }
    in_order & !held & (ends == 0)
}

/// Calls `visit` with each parameter of the query at `query`, in order, until it returns false. Returns
/// whether it never did.
#[inline(always)]
pub(in crate::normalize) fn each_parameter<V: Vector, const N: usize>(
    masked: &MaskedUrl<'_, V, N>,
    query: usize,
    mut visit: impl FnMut(Parameter) -> bool,
) -> bool {
    // Each block starts at the start of a parameter.
    let mut at = query;
    loop {
        let room: Block;
        let block = match masked.source().get(at..).and_then(<[u8]>::first_chunk) {
            Some(block) => block,
            None => {
                room = masked.bytes(at);
                &room
            }
        };
        let rest = masked.length - at;
        // The end of the URL ends its last parameter.
        let last = u64::from(rest < BLOCK) << (rest % BLOCK);
        let mut ends = masked.vector().find(block, b'&') & up_to(rest) | last;
        let delimiters = masked.vector().find(block, b'=') & up_to(rest) | ends;
        let mut far = None;
        if ends == 0 {
            far = Some(end_beyond(masked.url(), at + BLOCK));
            // Any single bit: the loop runs once, up to the end that was found.
            ends = 1;
        }
        let mut start = 0;
        while ends != 0 {
            let end = far.unwrap_or(at + ends.trailing_zeros() as usize);
            let parameter = Parameter {
                start: at + start,
                end,
                name: (delimiters >> (start % BLOCK)).trailing_zeros() as usize,
                word: u64::from_le_bytes(masked.bytes(at + start)),
            };
            if !visit(parameter) {
                return false;
            }
            start = end + 1 - at;
            ends &= ends - 1;
        }
        at += start;
        // No `&` follows the last parameter.
        if at > masked.length {
            return true;
        }
    }
}

/// The end of a parameter that does not end before `from`.
#[cold]
#[inline(never)]
fn end_beyond(url: &[u8], from: usize) -> usize {
    memchr::memchr(b'&', &url[from..]).map_or(url.len(), |at| from + at)
}

/// Bytes reserved for each byte of a URL that the fast path writes. The result needs fewer, but it is
/// copied in blocks of fixed size; every caller that rewrites URLs reserves this much.
pub(in crate::normalize) const ROOM: usize = 5;

/// The most parameters that the fast path sorts.
const MOST: usize = 32;

/// Parameters to be sorted, each with its key.
pub(in crate::normalize) struct Parameters {
    parameters: [(u64, u32, u32); MOST],
    length: usize,
}

impl Parameters {
    #[inline(always)]
    pub(in crate::normalize) fn new() -> Self {
        Self { parameters: [(0, 0, 0); MOST], length: 0 }
    }

    /// Adds a parameter; returns false if there is no room.
    #[inline(always)]
    pub(in crate::normalize) fn push(
        &mut self,
        key: u64,
        Parameter { start, end, .. }: Parameter,
    ) -> bool {
        let Some(place) = self.parameters.get_mut(self.length) else { return false };
        *place = (key, start as u32, end as u32);
        self.length += 1;
        true
    }

    /// The ranges of the parameters, sorted by key. `precedes` decides between equal keys. The sort is
    /// stable.
    #[inline(always)]
    pub(in crate::normalize) fn sorted(
        &mut self,
        precedes: impl Fn((usize, usize), (usize, usize)) -> bool,
    ) -> impl Iterator<Item = (usize, usize)> {
        let place = |(_, start, end): (u64, u32, u32)| (start as usize, end as usize);
        // For at most 32 parameters an insertion sort needs no memory and no call.
        for i in 1..self.length {
            let one = self.parameters[i];
            let mut at = i;
            while at > 0 {
                let before = self.parameters[at - 1];
                let is_before =
                    one.0 < before.0 || (one.0 == before.0 && precedes(place(one), place(before)));
                if !is_before {
                    break;
                }
                self.parameters[at] = before;
                at -= 1;
            }
            self.parameters[at] = one;
        }
        self.parameters[..self.length].iter().map(move |one| place(*one))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(text: &[u8]) -> Parameter {
        let mut first = [b'&'; 8];
        let length = text.len().min(8);
        first[..length].copy_from_slice(&text[..length]);
        let name = text.iter().position(|byte| *byte == b'=').unwrap_or(text.len());
        Parameter { start: 0, end: text.len(), name, word: u64::from_le_bytes(first) }
    }

    #[test]
    fn sort_key_holds_the_first_bytes_of_a_name() {
        let mut name = Vec::new();
        let step = if cfg!(miri) { 9 } else { 1 };
        for length in 0..12 {
            for byte in (0x21..0x7F).step_by(step).filter(|byte| !b"&=#%".contains(byte)) {
                for at in 0..length {
                    name.clear();
                    name.extend((0..length).map(|i| b'@' + (7 * i + byte) % 60));
                    name[at as usize] = byte;
                    name.retain(|byte| *byte != b'=');
                    let expected = |name: &[u8]| {
                        let mut first = [0; 8];
                        let length = name.len().min(8);
                        first[..length].copy_from_slice(&name[..length]);
                        u64::from_be_bytes(first)
                    };
                    for behind in ["", "=", "=Value&B", "=@[`{"] {
                        let parameter = parameter(&[&name, behind.as_bytes()].concat());
                        assert_eq!(parameter.key(), expected(&name));
                        assert_eq!(parameter.lower_key(), expected(&name.to_ascii_lowercase()));
                        assert_eq!(parameter.is_nameless(), name.is_empty());
                    }
                }
            }
        }
    }
}
