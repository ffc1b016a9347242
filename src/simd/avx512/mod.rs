//! The registers of AVX-512: a block is one, and a test yields its mask at once. VBMI and VBMI2, which
//! Intel has had since Ice Lake and AMD since Zen 4, move bytes about within a block.
//!
//! Rejected: one VBMI lookup in a table of 128 bytes in place of two lookups in 16. It has fewer
//! instructions, but is no faster.

pub(super) mod registers;
mod spans;
mod triplets;

use std::arch::x86_64::*;

use super::block::{BLOCK, Block};
use super::line_ends::{self, Open, Room};
use super::vector::{Lanes, Normalized, Vector, VectorOp};
use registers::{Avx512, high_bits, in_four_lanes, load, load_padded, stored};

// No closures here: those would be functions without AVX-512, and perhaps not inlined.

impl Lanes for Avx512 {
    type Bytes = __m512i;

    #[inline(always)]
    fn load(self, block: &Block) -> __m512i {
        // SAFETY: a value of this type proves AVX-512.
        unsafe { load(block) }
    }

    #[inline(always)]
    fn equal(self, bytes: __m512i, byte: u8) -> u64 {
        // SAFETY: a value of this type proves AVX-512.
        unsafe { _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8)) }
    }

    #[inline(always)]
    fn outside(self, rows: &[u8; 16], bytes: __m512i) -> u64 {
        // A shuffle looks at the low nibble, and gives 0 for a byte of 0x80 or above.
        // SAFETY: a value of this type proves AVX-512.
        unsafe {
            let row = _mm512_shuffle_epi8(in_four_lanes(rows), bytes);
            _mm512_testn_epi8_mask(row, high_bits(bytes))
        }
    }
}

impl Vector for Avx512 {
    // Miri does not support the compress instruction.
    const NORMALIZES_TRIPLETS: bool = cfg!(not(miri));

    #[inline(always)]
    fn normalize_triplets(
        self,
        blocks: [&Block; 2],
        percent: u128,
        inside: u128,
    ) -> Option<Normalized> {
        triplets::normalize(self, blocks, percent, inside)
    }

    const PADS: bool = true;

    #[inline(always)]
    fn padded(self, text: &[u8]) -> Block {
        assert!(text.len() <= BLOCK);
        // SAFETY: a value of this type proves AVX-512, and BMI too.
        unsafe { stored(load_padded(text)) }
    }

    #[inline(always)]
    fn lines(self, block: &Block, at: u32, open: &mut Open, room: &mut Room) -> usize {
        let (feeds, returns) = (self.find(block, b'\n'), self.find(block, b'\r'));
        if cfg!(miri) || feeds.count_ones() as usize > spans::MOST {
            return line_ends::by_masks(feeds, returns, at, open, room);
        }
        // SAFETY: a value of this type proves AVX-512, and BMI too.
        unsafe { spans::write(feeds, returns, at, open, room) }
    }
}
/// Runs `work` with the instruction set enabled. BMI is not part of AVX-512, but every CPU with the one
/// has the other.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn run<W: VectorOp>(work: W) -> W::Output {
    work.run(Avx512::new())
}
