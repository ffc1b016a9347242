//! Finds the field separators in all lines of a chunk at once.
//!
//! The input is a chunk; the output is one bit for each byte, from which the fields of a line
//! follow. Most fields of logs are a few bytes long, so a search for the end of each field takes as
//! long as a loop over the bytes.

use super::line::Line;
use uniqurl::internal::{BLOCK, Block, Kernel, Vector, VectorOp};

/// The bytes of a chunk that are separators.
pub(super) struct Separators {
    /// Bit `i % 64` of word `i / 64` stands for byte `i`.
    bits: Vec<u64>,
}

impl Separators {
    /// Marks the bytes of a chunk that are among `bytes`.
    pub fn find<const N: usize>(chunk: &[u8], bytes: [u8; N]) -> Self {
        Self { bits: Kernel::best().run(Find { chunk, bytes }) }
    }

    /// The fields of a line, split at the separators.
    #[inline]
    pub fn split<'a>(&'a self, line: Line<'a>) -> impl Iterator<Item = &'a [u8]> {
        let mut from = Some(0);
        std::iter::from_fn(move || {
            let start = from?;
            let end = self.next(line, start);
            from = end.map(|end| end + 1);
            Some(&line.bytes[start..end.unwrap_or(line.bytes.len())])
        })
    }

    /// The number of separators in a line.
    pub fn count(&self, line: Line<'_>) -> usize {
        // An empty line has no last byte.
        let start = line.start as usize;
        let Some(last) = (start + line.bytes.len()).checked_sub(1).filter(|last| *last >= start)
        else {
            return 0;
        };
        let words = &self.bits[start / BLOCK..=last / BLOCK];
        let all: usize = words.iter().map(|word| word.count_ones() as usize).sum();
        let before = words[0] & !(u64::MAX << (start % BLOCK));
        let behind = words[words.len() - 1] & !(u64::MAX >> (BLOCK - 1 - last % BLOCK));
        all - (before.count_ones() + behind.count_ones()) as usize
    }

    /// The first separator of a line at or after `from`.
    #[inline]
    pub fn next(&self, line: Line<'_>, from: usize) -> Option<usize> {
        let start = line.start as usize;
        let end = start + line.bytes.len();
        let from = start + from;
        let mut i = from / BLOCK;
        let mut word = self.bits.get(i)? & (u64::MAX << (from % BLOCK));
        while word == 0 {
            i += 1;
            if i * BLOCK >= end {
                return None;
            }
            word = self.bits[i];
        }
        let at = i * BLOCK + word.trailing_zeros() as usize;
        (at < end).then(|| at - start)
    }
}

struct Find<'a, const N: usize> {
    chunk: &'a [u8],
    bytes: [u8; N],
}

impl<const N: usize> VectorOp for Find<'_, N> {
    type Output = Vec<u64>;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> Vec<u64> {
        let (blocks, rest) = self.chunk.as_chunks::<BLOCK>();
        // Bits of the padding come after the last line, and nobody asks for them.
        let mut last: Block = [0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        let mut bits = Vec::with_capacity(blocks.len() + 1);
        for block in blocks.iter().chain([&last]) {
            let mut found = 0;
            for byte in self.bytes {
                found |= vector.find(block, byte);
            }
            bits.push(found);
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::Separators;
    use crate::record::line::Line;

    #[test]
    fn separator_masks_agree_with_splitting_byte_by_byte() {
        let bytes = b"a\tbc\t\t0123456789012345678901234567890123456789\t ".repeat(9);
        let separators = Separators::find(&bytes, [b'\t', b' ']);
        for start in 0..bytes.len() {
            for end in start..=bytes.len().min(start + 150) {
                let line = Line { bytes: &bytes[start..end], start: start as u32 };
                let fields = line.bytes.split(|byte| matches!(byte, b'\t' | b' '));
                assert!(separators.split(line).eq(fields.clone()), "{start}..{end}");
                assert_eq!(separators.count(line) + 1, fields.count(), "{start}..{end}");
            }
        }
    }
}
