//! The registers of AVX-512: a block is one, and a test yields its mask at once. VBMI and VBMI2, which
//! Intel has had since Ice Lake and AMD since Zen 4, move bytes about within a block.
//!
//! Rejected: one VBMI lookup in a table of 128 bytes in place of two lookups in 16. It has fewer
//! instructions, but is no faster.

use std::arch::x86_64::*;

use super::lines::{self, Open, Room};
use super::vector::{BIT, BLOCK, Block, Lanes, Normalized, Vector, VectorOp};
use super::{spans, triplets};

/// Only [`run`] makes one; its caller promises that the CPU has the instruction set.
#[derive(Clone, Copy)]
pub(super) struct Avx512(());

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
    fn high_bits(self, bytes: __m512i) -> __m512i {
        // SAFETY: a value of this type proves AVX-512.
        unsafe { high_bits(bytes) }
    }

    #[inline(always)]
    fn outside(self, rows: &[u8; 16], bytes: __m512i, high_bits: __m512i) -> u64 {
        // A shuffle looks at the low nibble, and gives 0 for a byte of 0x80 or above.
        // SAFETY: a value of this type proves AVX-512.
        unsafe {
            _mm512_testn_epi8_mask(_mm512_shuffle_epi8(in_four_lanes(rows), bytes), high_bits)
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
            return lines::by_masks(feeds, returns, at, open, room);
        }
        // SAFETY: a value of this type proves AVX-512, and BMI too.
        unsafe { spans::write(feeds, returns, at, open, room) }
    }

    #[inline(always)]
    fn below(self, mask: u64, length: usize) -> u64 {
        debug_assert!(length <= 255);
        // SAFETY: a value of this type proves BMI too.
        unsafe { _bzhi_u64(mask, length as u32) }
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn load(block: &Block) -> __m512i {
    // SAFETY: a block is 64 readable bytes, and the load asks for no alignment.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

/// The first 64 bytes of a text, padded with zeros.
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
#[inline]
pub(super) fn load_padded(text: &[u8]) -> __m512i {
    let there = _bzhi_u64(u64::MAX, text.len().min(BLOCK) as u32);
    // SAFETY: a masked load reads only bytes whose bits are set, and those belong to the text.
    unsafe { _mm512_maskz_loadu_epi8(there, text.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn stored(bytes: __m512i) -> Block {
    let mut block = [0; BLOCK];
    // SAFETY: a block is 64 writable bytes, and the store asks for no alignment.
    unsafe { _mm512_storeu_si512(block.as_mut_ptr().cast(), bytes) };
    block
}

/// The same 16 bytes in each of four lanes: a shuffle looks up each lane separately.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn in_four_lanes(row: &[u8; 16]) -> __m512i {
    // SAFETY: a row is 16 readable bytes, and the load asks for no alignment.
    _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(row.as_ptr().cast()) })
}

/// See [`Lanes::high_bits`].
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn high_bits(bytes: __m512i) -> __m512i {
    // Bytes cannot be shifted, only words. The mask removes the bits of the neighbour.
    let high = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), _mm512_set1_epi8(15));
    _mm512_shuffle_epi8(in_four_lanes(&BIT), high)
}

/// Runs `work` with the instruction set enabled. BMI is not part of AVX-512, but every CPU with the one
/// has the other.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn run<W: VectorOp>(work: W) -> W::Output {
    work.run(Avx512(()))
}
