//! The registers of SSE4.2 (the byte shuffle is SSSE3's): a block is four of 16 bytes.

use std::arch::x86_64::*;

use super::block::Block;
use super::vector::{BIT, Lanes, Vector, VectorOp};

/// Only [`run`] makes one; its caller promises that the CPU has the instruction set.
#[derive(Clone, Copy)]
pub(super) struct Sse42(());

type Quarters = (__m128i, __m128i, __m128i, __m128i);

// No closures and no `array::map` here: those would be functions without SSE4.2, and not inlined.

impl Lanes for Sse42 {
    type Bytes = Quarters;

    #[inline(always)]
    fn load(self, block: &Block) -> Quarters {
        let (quarters, _) = block.as_chunks::<16>();
        // SAFETY:
        // - a quarter is 16 readable bytes, and the load asks for no alignment;
        // - a value of this type proves SSE4.2.
        unsafe {
            (
                _mm_loadu_si128(quarters[0].as_ptr().cast()),
                _mm_loadu_si128(quarters[1].as_ptr().cast()),
                _mm_loadu_si128(quarters[2].as_ptr().cast()),
                _mm_loadu_si128(quarters[3].as_ptr().cast()),
            )
        }
    }

    #[inline(always)]
    fn equal(self, bytes: Quarters, byte: u8) -> u64 {
        // SAFETY: a value of this type proves SSE4.2.
        unsafe {
            let byte = _mm_set1_epi8(byte as i8);
            top_bits((
                _mm_cmpeq_epi8(bytes.0, byte),
                _mm_cmpeq_epi8(bytes.1, byte),
                _mm_cmpeq_epi8(bytes.2, byte),
                _mm_cmpeq_epi8(bytes.3, byte),
            ))
        }
    }

    #[inline(always)]
    fn outside(self, rows: &[u8; 16], bytes: Quarters) -> u64 {
        // SAFETY: a value of this type proves SSE4.2.
        unsafe {
            let rows = row(rows);
            top_bits((
                missing(rows, bytes.0),
                missing(rows, bytes.1),
                missing(rows, bytes.2),
                missing(rows, bytes.3),
            ))
        }
    }
}

impl Vector for Sse42 {}

/// A row of a set in a register. Compilers make one load of it.
#[target_feature(enable = "sse2")]
#[inline]
pub(super) fn row(bytes: &[u8; 16]) -> __m128i {
    let bits = u128::from_le_bytes(*bytes);
    _mm_set_epi64x((bits >> 64) as i64, bits as i64)
}

/// The top bits of 64 bytes.
#[target_feature(enable = "sse2")]
#[inline]
fn top_bits(bytes: Quarters) -> u64 {
    u64::from(_mm_movemask_epi8(bytes.0) as u32)
        | u64::from(_mm_movemask_epi8(bytes.1) as u32) << 16
        | u64::from(_mm_movemask_epi8(bytes.2) as u32) << 32
        | u64::from(_mm_movemask_epi8(bytes.3) as u32) << 48
}

/// Lanes of 0xFF for the bytes that are not in the set of `rows`. A shuffle looks at the low nibble,
/// and gives 0 for a byte of 0x80 or above.
#[target_feature(enable = "ssse3")]
#[inline]
fn missing(rows: __m128i, bytes: __m128i) -> __m128i {
    // Bytes cannot be shifted, only words. The mask removes the bits of the neighbour.
    let high = _mm_and_si128(_mm_srli_epi16::<4>(bytes), _mm_set1_epi8(15));
    let bits = _mm_shuffle_epi8(row(&BIT), high);
    let hit = _mm_and_si128(_mm_shuffle_epi8(rows, bytes), bits);
    // There is only a comparison for equality, so the code finds the misses, not the members.
    _mm_cmpeq_epi8(hit, _mm_setzero_si128())
}

/// Runs `work` with the instruction set enabled.
#[target_feature(enable = "sse4.2")]
pub(super) fn run<W: VectorOp>(work: W) -> W::Output {
    work.run(Sse42(()))
}
