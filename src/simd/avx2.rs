//! The registers of AVX2: a block is two of 32 bytes.

use std::arch::x86_64::*;

use super::block::Block;
use super::sse42::row;
use super::vector::{BIT, Lanes, Vector, VectorOp};

/// Only [`run`] makes one; its caller promises that the CPU has the instruction set.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

type Halves = (__m256i, __m256i);

// No closures and no `array::map` here: those would be functions without AVX2, and not inlined.

impl Lanes for Avx2 {
    type Bytes = Halves;

    #[inline(always)]
    fn load(self, block: &Block) -> Halves {
        let (halves, _) = block.as_chunks::<32>();
        // SAFETY:
        // - a half is 32 readable bytes, and the load asks for no alignment;
        // - a value of this type proves AVX2.
        unsafe {
            (
                _mm256_loadu_si256(halves[0].as_ptr().cast()),
                _mm256_loadu_si256(halves[1].as_ptr().cast()),
            )
        }
    }

    #[inline(always)]
    fn equal(self, bytes: Halves, byte: u8) -> u64 {
        // SAFETY: a value of this type proves AVX2.
        unsafe {
            let byte = _mm256_set1_epi8(byte as i8);
            top_bits((_mm256_cmpeq_epi8(bytes.0, byte), _mm256_cmpeq_epi8(bytes.1, byte)))
        }
    }

    #[inline(always)]
    fn outside(self, rows: &[u8; 16], bytes: Halves) -> u64 {
        // SAFETY: a value of this type proves AVX2.
        unsafe {
            let rows = in_both_lanes(rows);
            top_bits((missing(rows, bytes.0), missing(rows, bytes.1)))
        }
    }
}

impl Vector for Avx2 {}

/// The same 16 bytes in both lanes: a shuffle looks up each lane separately.
#[target_feature(enable = "avx2")]
#[inline]
fn in_both_lanes(bytes: &[u8; 16]) -> __m256i {
    _mm256_broadcastsi128_si256(row(bytes))
}

/// The top bits of 64 bytes.
#[target_feature(enable = "avx2")]
#[inline]
fn top_bits(bytes: Halves) -> u64 {
    let (low, high) = (_mm256_movemask_epi8(bytes.0) as u32, _mm256_movemask_epi8(bytes.1) as u32);
    u64::from(low) | u64::from(high) << 32
}

/// Lanes of 0xFF for the bytes that are not in the set of `rows`. A shuffle looks at the low nibble,
/// and gives 0 for a byte of 0x80 or above.
#[target_feature(enable = "avx2")]
#[inline]
fn missing(rows: __m256i, bytes: __m256i) -> __m256i {
    // Bytes cannot be shifted, only words. The mask removes the bits of the neighbour.
    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), _mm256_set1_epi8(15));
    let bits = _mm256_shuffle_epi8(in_both_lanes(&BIT), high);
    let hit = _mm256_and_si256(_mm256_shuffle_epi8(rows, bytes), bits);
    // There is only a comparison for equality, so the code finds the misses, not the members.
    _mm256_cmpeq_epi8(hit, _mm256_setzero_si256())
}

/// Runs `work` with the instruction set enabled. BMI is not part of AVX2, but every CPU with the one
/// has the other.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn run<W: VectorOp>(work: W) -> W::Output {
    work.run(Avx2(()))
}
