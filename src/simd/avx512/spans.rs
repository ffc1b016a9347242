//! Writes all lines that end in a block at once, with AVX-512 VBMI2.

use std::arch::x86_64::*;

use super::registers::load;
use crate::simd::block::{BLOCK, Block};
use crate::simd::line_ends::{Open, Room};

/// Most lines that can be written at once.
pub(super) const MOST: usize = 8;

/// The position of each byte in its block.
const PLACES: Block = {
    let mut places = [0; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        places[i] = i as u8;
        i += 1;
    }
    places
};

/// Same as [`by_masks`](crate::simd::line_ends::by_masks), for at most [`MOST`] line feeds.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2")]
#[inline]
pub(super) fn write(feeds: u64, returns: u64, at: u32, open: &mut Open, room: &mut Room) -> usize {
    let cut = returns << 1 | u64::from(open.carriage_return);
    // The offsets of the line feeds, packed to the front.
    let places = _mm512_maskz_compress_epi8(feeds, load(&PLACES));
    let places = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(places));
    let feeds_at = _mm512_add_epi32(places, _mm512_set1_epi32(at as i32));
    let behind = _mm512_add_epi32(feeds_at, _mm512_set1_epi32(1));
    // A line starts after the line feed before it; the first one goes on from an earlier block.
    let starts = _mm512_alignr_epi32::<15>(behind, _mm512_set1_epi32(open.start as i32));
    // One bit per line: whether a carriage return precedes its line feed.
    let cut = _pext_u64(cut, feeds) as u16;
    let ends = _mm512_mask_sub_epi32(feeds_at, cut, feeds_at, _mm512_set1_epi32(1));
    // Interleaves starts (0 to 15) with ends (16 to 31).
    let in_turn = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    let spans = _mm512_permutex2var_epi32(starts, in_turn, ends);
    const { assert!(MOST * size_of::<crate::bytes::Span>() == size_of::<__m512i>()) };
    // Always stores all spans of a register. The caller counts the real ones.
    // SAFETY:
    // - the store writes as many bytes as the room's first MOST spans have (`assert` above), and asks
    //   for no alignment;
    // - a span is two 32-bit numbers, its start first (`repr(C)`), and any such numbers are a span.
    unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), spans) };
    // The next line starts after the last line feed.
    let behind = at.wrapping_add(BLOCK as u32 - feeds.leading_zeros());
    open.start = if feeds == 0 { open.start } else { behind };
    open.carriage_return = returns >> (BLOCK - 1) != 0;
    feeds.count_ones() as usize
}
