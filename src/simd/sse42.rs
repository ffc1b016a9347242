//! The masks with SSE4.2 (the byte shuffle is SSSE3's): a block is four vectors of 16 bytes.

use std::arch::x86_64::*;

use super::rules::{Rows, Rules};
use super::vector::{Block, Masks, Survey, Vector, VectorOp};
use crate::bytes::set::{NibbleTable, QUERY, REG_NAME};

/// Only [`run`] makes one; its caller promises that the CPU has the instruction set.
#[derive(Clone, Copy)]
pub(super) struct Sse42(());

const QUERY_ROWS: [u8; 16] = QUERY.nibble_rows();
const REG_NAME_ROWS: [u8; 16] = REG_NAME.nibble_rows();
/// For a high nibble its bit in a row; none for 8 and above, since no set holds such a byte.
const BIT: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];

// No closures and no `array::map` here: those would be functions without SSE4.2, and not inlined.

/// A block in four vectors.
type Quarters = (__m128i, __m128i, __m128i, __m128i);

#[inline(always)]
unsafe fn load16(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: these are 16 readable bytes, and the load asks for no alignment; SSE2 is part of
    // x86-64.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline(always)]
unsafe fn load(block: &Block) -> Quarters {
    let (quarters, _) = block.as_chunks::<16>();
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        (load16(&quarters[0]), load16(&quarters[1]), load16(&quarters[2]), load16(&quarters[3]))
    }
}

/// The top bits of 64 bytes.
#[inline(always)]
unsafe fn top_bits(quarters: Quarters) -> u64 {
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        u64::from(_mm_movemask_epi8(quarters.0) as u32)
            | u64::from(_mm_movemask_epi8(quarters.1) as u32) << 16
            | u64::from(_mm_movemask_epi8(quarters.2) as u32) << 32
            | u64::from(_mm_movemask_epi8(quarters.3) as u32) << 48
    }
}

/// The bytes equal to `byte`.
#[inline(always)]
unsafe fn equal(bytes: Quarters, byte: u8) -> u64 {
    // SAFETY: SSE2 is part of x86-64.
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

/// For each byte the bit of its high nibble.
#[inline(always)]
unsafe fn high_bit(bytes: __m128i) -> __m128i {
    // SAFETY: the caller promises SSE4.2.
    unsafe {
        // Bytes cannot be shifted, only words. The mask removes the bits of the neighbour.
        let high = _mm_and_si128(_mm_srli_epi16::<4>(bytes), _mm_set1_epi8(15));
        _mm_shuffle_epi8(load16(&BIT), high)
    }
}

/// Lanes of 0xFF for the bytes that are not in the set of `rows`. A shuffle looks at the low nibble,
/// and gives 0 for a byte of 0x80 or above.
#[inline(always)]
unsafe fn missing(rows: __m128i, bytes: __m128i, bit: __m128i) -> __m128i {
    // SAFETY: the caller promises SSE4.2.
    unsafe {
        let hit = _mm_and_si128(_mm_shuffle_epi8(rows, bytes), bit);
        // There is only a comparison for equality, so the code finds the misses, not the members.
        _mm_cmpeq_epi8(hit, _mm_setzero_si128())
    }
}

/// The bytes outside a set.
#[inline(always)]
unsafe fn outside(row: &[u8; 16], bytes: Quarters, bit: Quarters) -> u64 {
    // SAFETY: the caller promises SSE4.2.
    unsafe {
        let rows = load16(row);
        top_bits((
            missing(rows, bytes.0, bit.0),
            missing(rows, bytes.1, bit.1),
            missing(rows, bytes.2, bit.2),
            missing(rows, bytes.3, bit.3),
        ))
    }
}

/// Question marks and number signs.
#[inline(always)]
unsafe fn ends(bytes: Quarters) -> u64 {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { equal(bytes, b'?') | equal(bytes, b'#') }
}

impl Vector for Sse42 {
    #[inline(always)]
    fn masks<R: Rules>(self, block: &Block) -> Masks {
        // SAFETY: a value of this type proves the instruction set.
        unsafe {
            let bytes = load(block);
            let bit = (high_bit(bytes.0), high_bit(bytes.1), high_bit(bytes.2), high_bit(bytes.3));
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
            let bit = (high_bit(bytes.0), high_bit(bytes.1), high_bit(bytes.2), high_bit(bytes.3));
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
    fn find_in_set(self, block: &Block, asked: &NibbleTable) -> u64 {
        // SAFETY: a value of this type proves the instruction set.
        unsafe {
            let bytes = load(block);
            let bit = (high_bit(bytes.0), high_bit(bytes.1), high_bit(bytes.2), high_bit(bytes.3));
            outside(&asked.others, bytes, bit)
        }
    }
}

/// Runs `work` with the instruction set enabled.
///
/// # Safety
///
/// The CPU has SSE4.2.
#[target_feature(enable = "sse4.2")]
pub(super) unsafe fn run<W: VectorOp>(work: W) -> W::Output {
    work.run(Sse42(()))
}
