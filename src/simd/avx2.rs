//! The masks with AVX2: a block is two vectors of 32 bytes.

use std::arch::x86_64::*;

use super::rules::{Rows, Rules};
use super::vector::{Block, Masks, Survey, Vector, VectorOp};
use crate::bytes::set::{NibbleTable, QUERY, REG_NAME};

/// Only [`run`] makes one; its caller promises that the CPU has the instruction set.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

const QUERY_ROWS: [u8; 16] = QUERY.nibble_rows();
const REG_NAME_ROWS: [u8; 16] = REG_NAME.nibble_rows();
/// For a high nibble its bit in a row; none for 8 and above, since no set holds such a byte.
const BIT: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];

// No closures and no `array::map` here: those would be functions without AVX2, and not inlined.

/// The same 16 bytes in both lanes: a shuffle looks up each lane separately.
#[inline(always)]
unsafe fn lanes(row: &[u8; 16]) -> __m256i {
    // SAFETY: a row is 16 readable bytes, and the load asks for no alignment; the caller promises
    // AVX2.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(row.as_ptr().cast())) }
}

/// The two halves of a block.
#[inline(always)]
unsafe fn load(block: &Block) -> (__m256i, __m256i) {
    let (halves, _) = block.as_chunks::<32>();
    // SAFETY: a half is 32 readable bytes, and the load asks for no alignment; the caller promises
    // AVX2.
    unsafe {
        (
            _mm256_loadu_si256(halves[0].as_ptr().cast()),
            _mm256_loadu_si256(halves[1].as_ptr().cast()),
        )
    }
}

/// The top bits of 64 bytes.
#[inline(always)]
unsafe fn top_bits(low: __m256i, high: __m256i) -> u64 {
    // SAFETY: the caller promises AVX2.
    let (low, high) =
        unsafe { (_mm256_movemask_epi8(low) as u32, _mm256_movemask_epi8(high) as u32) };
    u64::from(low) | u64::from(high) << 32
}

/// The bytes equal to `byte`.
#[inline(always)]
unsafe fn equal(bytes: (__m256i, __m256i), byte: u8) -> u64 {
    // SAFETY: the caller promises AVX2.
    unsafe {
        let byte = _mm256_set1_epi8(byte as i8);
        top_bits(_mm256_cmpeq_epi8(bytes.0, byte), _mm256_cmpeq_epi8(bytes.1, byte))
    }
}

/// For each byte the bit of its high nibble.
#[inline(always)]
unsafe fn high_bit(bytes: __m256i) -> __m256i {
    // SAFETY: the caller promises AVX2.
    unsafe {
        // Bytes cannot be shifted, only words. The mask removes the bits of the neighbour.
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), _mm256_set1_epi8(15));
        _mm256_shuffle_epi8(lanes(&BIT), high)
    }
}

/// Lanes of 0xFF for the bytes that are not in the set of `rows`. A shuffle looks at the low nibble,
/// and gives 0 for a byte of 0x80 or above.
#[inline(always)]
unsafe fn missing(rows: __m256i, bytes: __m256i, bit: __m256i) -> __m256i {
    // SAFETY: the caller promises AVX2.
    unsafe {
        let hit = _mm256_and_si256(_mm256_shuffle_epi8(rows, bytes), bit);
        // There is only a comparison for equality, so the code finds the misses, not the members.
        _mm256_cmpeq_epi8(hit, _mm256_setzero_si256())
    }
}

/// The bytes outside a set.
#[inline(always)]
unsafe fn outside(row: &[u8; 16], bytes: (__m256i, __m256i), bit: (__m256i, __m256i)) -> u64 {
    // SAFETY: the caller promises AVX2.
    unsafe {
        let rows = lanes(row);
        top_bits(missing(rows, bytes.0, bit.0), missing(rows, bytes.1, bit.1))
    }
}

/// Question marks and number signs.
#[inline(always)]
unsafe fn ends(bytes: (__m256i, __m256i)) -> u64 {
    // SAFETY: the caller promises AVX2.
    unsafe {
        let (question, hash) = (_mm256_set1_epi8(b'?' as i8), _mm256_set1_epi8(b'#' as i8));
        top_bits(
            _mm256_or_si256(_mm256_cmpeq_epi8(bytes.0, question), _mm256_cmpeq_epi8(bytes.0, hash)),
            _mm256_or_si256(_mm256_cmpeq_epi8(bytes.1, question), _mm256_cmpeq_epi8(bytes.1, hash)),
        )
    }
}

impl Vector for Avx2 {
    #[inline(always)]
    fn masks<R: Rules>(self, block: &Block) -> Masks {
        // SAFETY: a value of this type proves the instruction set.
        unsafe {
            let bytes = load(block);
            let bit = (high_bit(bytes.0), high_bit(bytes.1));
            Masks {
                host_bad: outside(Rows::<R>::HOST, bytes, bit),
                bad: outside(Rows::<R>::TAIL, bytes, bit),
                slash: equal(bytes, b'/'),
                dot: equal(bytes, b'.'),
            }
        }
    }

    #[inline(always)]
    fn survey(self, block: &Block) -> Survey {
        // SAFETY: a value of this type proves the instruction set.
        unsafe {
            let bytes = load(block);
            let bit = (high_bit(bytes.0), high_bit(bytes.1));
            Survey {
                slash: equal(bytes, b'/'),
                dot: equal(bytes, b'.'),
                ends: ends(bytes),
                not_query: outside(&QUERY_ROWS, bytes, bit),
                not_reg_name: outside(&REG_NAME_ROWS, bytes, bit),
            }
        }
    }

    #[inline(always)]
    fn find(self, block: &Block, byte: u8) -> u64 {
        // SAFETY: a value of this type proves the instruction set.
        unsafe { equal(load(block), byte) }
    }

    #[inline(always)]
    fn below(self, mask: u64, length: usize) -> u64 {
        debug_assert!(length <= 255);
        // SAFETY: a value of this type proves BMI too.
        unsafe { _bzhi_u64(mask, length as u32) }
    }

    #[inline(always)]
    fn find_in_set(self, block: &Block, asked: &NibbleTable) -> u64 {
        // SAFETY: a value of this type proves the instruction set.
        unsafe {
            let bytes = load(block);
            outside(&asked.others, bytes, (high_bit(bytes.0), high_bit(bytes.1)))
        }
    }
}

/// Runs `work` with the instruction set enabled.
///
/// # Safety
///
/// The CPU has AVX2, and with it BMI.
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn run<W: VectorOp>(work: W) -> W::Output {
    work.run(Avx2(()))
}
