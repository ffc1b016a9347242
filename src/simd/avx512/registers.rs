//! A block in one register.

use std::arch::x86_64::*;

use crate::simd::block::{BLOCK, Block};
use crate::simd::sse42::row;
use crate::simd::vector::BIT;

/// Only [`run`](super::run) makes one; its caller promises that the CPU has the instruction set.
#[derive(Clone, Copy)]
pub(in crate::simd) struct Avx512(());

impl Avx512 {
    /// The caller has the instruction set enabled, so the CPU has it.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2")]
    #[inline]
    pub(super) fn new() -> Self {
        Self(())
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
pub(in crate::simd) fn load(block: &Block) -> __m512i {
    // SAFETY: a block is 64 readable bytes, and the load asks for no alignment.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

/// The first 64 bytes of a text, padded with zeros.
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
#[inline]
pub(in crate::simd) fn load_padded(text: &[u8]) -> __m512i {
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
pub(super) fn in_four_lanes(bytes: &[u8; 16]) -> __m512i {
    _mm512_broadcast_i32x4(row(bytes))
}

/// For each byte the bit of its high nibble ([`BIT`]).
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn high_bits(bytes: __m512i) -> __m512i {
    // Bytes cannot be shifted, only words. The mask removes the bits of the neighbour.
    let high = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), _mm512_set1_epi8(15));
    _mm512_shuffle_epi8(in_four_lanes(&BIT), high)
}
