//! The masks in plain Rust: the definition that all vector code is tested against.

use super::block::Block;
use super::rules::Rules;
use super::vector::{Lanes, Masks, Survey, Vector, VectorOp};
use crate::bytes::set::{NibbleTable, QUERY, REG_NAME};

#[derive(Clone, Copy)]
pub(super) struct Scalar;

/// The bits of each byte in the four masks.
const fn bits_of_masks<R: Rules>() -> [u8; 256] {
    let mut bits = [0; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        bits[i] = !R::HOST.contains(byte) as u8
            | (!R::TAIL.contains(byte) as u8) << 1
            | ((byte == b'/') as u8) << 2
            | ((byte == b'.') as u8) << 3;
        i += 1;
    }
    bits
}

/// The bits of each byte in the five masks of a survey.
const BITS_OF_SURVEY: [u8; 256] = {
    let mut bits = [0; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        bits[i] = (byte == b'/') as u8
            | ((byte == b'.') as u8) << 1
            | (matches!(byte, b'?' | b'#') as u8) << 2
            | (!QUERY.contains(byte) as u8) << 3
            | (!REG_NAME.contains(byte) as u8) << 4;
        i += 1;
    }
    bits
};

impl Lanes for Scalar {
    type Bytes = Block;

    #[inline(always)]
    fn load(self, block: &Block) -> Block {
        *block
    }

    fn equal(self, bytes: Block, byte: u8) -> u64 {
        let [found] = gather(&bytes, |other| u8::from(other == byte));
        found
    }

    fn outside(self, rows: &[u8; 16], bytes: Block) -> u64 {
        let asked = NibbleTable { others: *rows };
        let [found] = gather(&bytes, |byte| u8::from(asked.contains(byte)));
        found
    }
}

/// The masks of several sets come from one table: by rows each set takes a lookup of its own.
impl Vector for Scalar {
    fn masks<R: Rules>(self, block: &Block) -> Masks {
        let bits = const { &bits_of_masks::<R>() };
        let [host_bad, bad, slash, dot] = gather(block, |byte| bits[usize::from(byte)]);
        Masks { host_bad, bad, slash, dot }
    }

    fn survey(self, block: &Block) -> Survey {
        let bits = |byte| BITS_OF_SURVEY[usize::from(byte)];
        let [slash, dot, ends, not_query, not_reg_name] = gather(block, bits);
        Survey { slash, dot, ends, not_query, not_reg_name }
    }
}

/// Builds the masks from `bits`, which holds one bit per mask for each byte. It works on eight bytes at
/// once: shifting each bit into place separately is four times as slow.
#[inline(always)]
fn gather<const N: usize>(block: &Block, bits: impl Fn(u8) -> u8) -> [u64; N] {
    let mut masks = [0; N];
    for (i, eight) in block.as_chunks::<8>().0.iter().enumerate() {
        let eight = u64::from_le_bytes(eight.map(&bits));
        for (n, mask) in masks.iter_mut().enumerate() {
            *mask |= lowest_bits(eight >> n) << (8 * i);
        }
    }
    masks
}

/// Packs the lowest bit of each of eight bytes. The product adds shifted copies, and no two bits meet
/// in its top byte.
fn lowest_bits(eight: u64) -> u64 {
    (eight & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Runs `work` in plain Rust.
// Not inlined, like the `run` of other backends, so that `Kernel::run` is only a jump.
#[inline(never)]
pub(super) fn run<W: VectorOp>(work: W) -> W::Output {
    work.run(Scalar)
}

#[cfg(test)]
mod tests {
    use super::super::rules::Rfc3986;
    use super::*;

    /// The bits of the bytes for which `is_it` holds.
    fn fold(block: &Block, is_it: impl Fn(u8) -> bool) -> u64 {
        block.iter().enumerate().fold(0, |bits, (i, byte)| bits | u64::from(is_it(*byte)) << i)
    }

    #[test]
    fn scalar_masks_have_a_bit_for_each_matching_byte() {
        let asked = NibbleTable::new(QUERY.without(REG_NAME));
        // Every byte at every position.
        for first in 0..=255u8 {
            let block: Block =
                std::array::from_fn(|i| first.wrapping_add(37u8.wrapping_mul(i as u8)));
            let block = &block;
            let masks = Masks {
                host_bad: fold(block, |byte| !Rfc3986::HOST.contains(byte)),
                bad: fold(block, |byte| !Rfc3986::TAIL.contains(byte)),
                slash: fold(block, |byte| byte == b'/'),
                dot: fold(block, |byte| byte == b'.'),
            };
            assert_eq!(Scalar.masks::<Rfc3986>(block), masks);
            let survey = Survey {
                slash: masks.slash,
                dot: masks.dot,
                ends: fold(block, |byte| matches!(byte, b'?' | b'#')),
                not_query: fold(block, |byte| !QUERY.contains(byte)),
                not_reg_name: fold(block, |byte| !REG_NAME.contains(byte)),
            };
            assert_eq!(Scalar.survey(block), survey);
            assert_eq!(Scalar.find(block, 0xE9), fold(block, |byte| byte == 0xE9));
            assert_eq!(Scalar.find_in_set(block, &asked), fold(block, |byte| asked.contains(byte)));
        }
    }
}
