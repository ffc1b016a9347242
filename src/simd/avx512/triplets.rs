//! Normalizes all triplets of two blocks at once, with AVX-512 VBMI and VBMI2.
//!
//! The values of the two digits are moved to the position of their percent sign and combined. If the
//! result is an unreserved character, it replaces the percent sign, and the digits are dropped.

use std::arch::x86_64::*;

use super::registers::{Avx512, high_bits, in_four_lanes, load, stored};
use crate::bytes::set::UNRESERVED;
use crate::simd::block::{BLOCK, Block};
use crate::simd::vector::Normalized;

const UNRESERVED_ROWS: [u8; 16] = UNRESERVED.nibble_rows();

/// Marks a byte that is no hexadecimal digit.
const NO_DIGIT: u8 = 0x80;

/// The digit values of the 64 bytes from `first` on, or [`NO_DIGIT`].
const fn digits_from(first: u8) -> Block {
    let mut digits = [NO_DIGIT; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        let byte = first + i as u8;
        digits[i] = match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'F' => byte - b'A' + 10,
            b'a'..=b'f' => byte - b'a' + 10,
            _ => NO_DIGIT,
        };
        i += 1;
    }
    digits
}
const DIGITS: [Block; 2] = [digits_from(0), digits_from(64)];

/// The numbers from `first` on, as indices of the bytes `first` positions later.
const fn numbers_from(first: u8) -> Block {
    let mut numbers = [0; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        numbers[i] = first + i as u8;
        i += 1;
    }
    numbers
}
const ONE_BEHIND: Block = numbers_from(1);
const TWO_BEHIND: Block = numbers_from(2);

/// See [`Vector::normalize_triplets`](crate::simd::Vector::normalize_triplets).
// `inline(always)`, which excludes `target_feature`: compilers think it too large to inline, and a
// call moves all blocks through memory.
#[inline(always)]
pub(super) fn normalize(
    _: Avx512,
    [low, high]: [&Block; 2],
    percent: u128,
    inside: u128,
) -> Option<Normalized> {
    // SAFETY: a value of `Avx512` proves the instruction set.
    unsafe {
        let (low, high) = (load(low), load(high));
        let (low_digits, high_digits) = (digits(low), digits(high));
        let none = _mm512_set1_epi8(NO_DIGIT as i8);
        let is_digit = inside
            & both(
                _mm512_cmpneq_epi8_mask(low_digits, none),
                _mm512_cmpneq_epi8_mask(high_digits, none),
            );
        // Both bytes after each percent sign must be digits.
        if percent & is_digit >> 1 & is_digit >> 2 != percent {
            return None;
        }
        // Digits may lie in the next block. Nothing follows the second: its last triplet ends inside.
        let (low_values, high_values) =
            (values(low_digits, high_digits), values(high_digits, none));
        let decoded = percent & both(unreserved(low_values), unreserved(high_values));
        let dot = _mm512_set1_epi8(b'.' as i8);
        let dots = percent
            & both(
                _mm512_cmpeq_epi8_mask(low_values, dot),
                _mm512_cmpeq_epi8_mask(high_values, dot),
            );
        // Triplets that stay encoded keep their digits in upper case; decoded ones lose theirs.
        let encoded = percent & !decoded;
        let digits = encoded << 1 | encoded << 2;
        let keep = inside & !(decoded << 1 | decoded << 2);
        let blocks = [
            normal(low, low_values, decoded as u64, digits as u64, keep as u64),
            normal(
                high,
                high_values,
                (decoded >> BLOCK) as u64,
                (digits >> BLOCK) as u64,
                (keep >> BLOCK) as u64,
            ),
        ];
        Some(Normalized { blocks, dots })
    }
}

/// Joins the masks of two blocks.
#[inline(always)]
fn both(low: u64, high: u64) -> u128 {
    u128::from(low) | u128::from(high) << BLOCK
}

/// The values of hexadecimal digits, and [`NO_DIGIT`] for all other bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn digits(bytes: __m512i) -> __m512i {
    // The lookup ignores the top bit of a byte.
    let ascii = _mm512_testn_epi8_mask(bytes, _mm512_set1_epi8(0x80_u8 as i8));
    let found = _mm512_permutex2var_epi8(load(&DIGITS[0]), bytes, load(&DIGITS[1]));
    _mm512_mask_mov_epi8(_mm512_set1_epi8(NO_DIGIT as i8), ascii, found)
}

/// For each byte the value of the two digits after it. `next` holds the digits of the next block.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn values(digits: __m512i, next: __m512i) -> __m512i {
    let first = _mm512_permutex2var_epi8(digits, load(&ONE_BEHIND), next);
    let second = _mm512_permutex2var_epi8(digits, load(&TWO_BEHIND), next);
    // AVX-512 has no shift of bytes. This one shifts words; the mask removes bits of the
    // neighbouring byte.
    let first = _mm512_and_si512(_mm512_slli_epi16::<4>(first), _mm512_set1_epi8(0xF0_u8 as i8));
    _mm512_or_si512(first, second)
}

/// The positions whose values are unreserved characters.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn unreserved(values: __m512i) -> u64 {
    let row = _mm512_shuffle_epi8(in_four_lanes(&UNRESERVED_ROWS), values);
    _mm512_test_epi8_mask(row, high_bits(values))
}

/// A block with the value at each `decoded` position and letters at `digits` in upper case, reduced to
/// the bytes in `keep`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
#[inline]
fn normal(bytes: __m512i, values: __m512i, decoded: u64, digits: u64, keep: u64) -> (Block, usize) {
    // The comparison is signed: bytes of 0x80 and above are negative. Digits above `F` are `a` to
    // `f`.
    let lower = _mm512_cmpgt_epi8_mask(bytes, _mm512_set1_epi8(b'F' as i8)) & digits;
    // Flipping bit 5 makes them upper case.
    let bytes = _mm512_xor_si512(bytes, _mm512_maskz_set1_epi8(lower, 0x20));
    let bytes = _mm512_mask_mov_epi8(bytes, decoded, values);
    let kept = _mm512_maskz_compress_epi8(keep, bytes);
    (stored(kept), keep.count_ones() as usize)
}
