//! The masks with AVX-512: a block is one vector, and a test yields its mask at once. VBMI and VBMI2,
//! which Intel has had since Ice Lake and AMD since Zen 4, move bytes about within a block.
//!
//! Rejected: one VBMI lookup in a table of 128 bytes in place of two lookups in 16. It has fewer
//! instructions, but is no faster.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use super::lines::{self, Open, Room};
use super::rules::{Rows, Rules};
use super::vector::{BLOCK, Block, Masks, Normalized, Survey, Vector, VectorOp, up_to};
use super::{spans, triplets};
use crate::bytes::set::{NibbleTable, QUERY, REG_NAME};

/// Only [`run`] makes one; its caller promises that the CPU has the instruction set.
#[derive(Clone, Copy)]
pub(super) struct Avx512(());

/// The same 16 bytes in each of four lanes: a shuffle looks up each lane separately.
pub(super) const fn lanes(row: [u8; 16]) -> [u8; 64] {
    let mut lanes = [0; 64];
    let mut i = 0;
    while i < 64 {
        lanes[i] = row[i % 16];
        i += 1;
    }
    lanes
}

/// The tables of a set of rules in each of four lanes.
struct Wide<R>(PhantomData<R>);

impl<R: Rules> Wide<R> {
    const HOST: &'static Block = &lanes(*Rows::<R>::HOST);
    const TAIL: &'static Block = &lanes(*Rows::<R>::TAIL);
}

const QUERY_ROWS: [u8; 64] = lanes(QUERY.nibble_rows());
const REG_NAME_ROWS: [u8; 64] = lanes(REG_NAME.nibble_rows());
/// For a high nibble its bit in a row; none for 8 and above, since no set holds such a byte.
pub(super) const BIT: [u8; 64] = lanes([1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0]);

#[inline(always)]
pub(super) unsafe fn load(block: &Block) -> __m512i {
    // SAFETY: a block is 64 readable bytes, and the load asks for no alignment; the caller promises
    // AVX-512.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

// No closures here: those would be functions without AVX-512, and perhaps not inlined.

/// The bytes equal to `byte`.
#[inline(always)]
unsafe fn equal(bytes: __m512i, byte: u8) -> u64 {
    // SAFETY: the caller promises AVX-512 F and BW.
    unsafe { _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8)) }
}

/// The bytes outside a set. A shuffle looks at the low nibble, and gives 0 for a byte of 0x80 or
/// above.
#[inline(always)]
unsafe fn outside(rows: &Block, bytes: __m512i, bit: __m512i) -> u64 {
    // SAFETY: the caller promises AVX-512 F and BW.
    unsafe { _mm512_testn_epi8_mask(_mm512_shuffle_epi8(load(rows), bytes), bit) }
}

/// Question marks and number signs.
#[inline(always)]
unsafe fn ends(bytes: __m512i) -> u64 {
    // SAFETY: the caller promises AVX-512 F and BW.
    unsafe { equal(bytes, b'?') | equal(bytes, b'#') }
}

impl Vector for Avx512 {
    #[inline(always)]
    fn masks<R: Rules>(self, block: &Block) -> Masks {
        // SAFETY: a value of this type proves the instruction set.
        unsafe {
            let bytes = load(block);
            let high = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), _mm512_set1_epi8(15));
            let bit = _mm512_shuffle_epi8(load(&BIT), high);
            Masks {
                host_bad: outside(Wide::<R>::HOST, bytes, bit),
                bad: outside(Wide::<R>::TAIL, bytes, bit),
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
            let high = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), _mm512_set1_epi8(15));
            let bit = _mm512_shuffle_epi8(load(&BIT), high);
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

    // Miri does not support the compress instruction.
    const NORMALIZES_TRIPLETS: bool = cfg!(not(miri));

    #[inline(always)]
    fn normalize_triplets(
        self,
        blocks: [&Block; 2],
        percent: u128,
        inside: u128,
    ) -> Option<Normalized> {
        // SAFETY: a value of this type proves the instruction set.
        unsafe { triplets::normalize(blocks, percent, inside) }
    }

    const PADS: bool = true;

    #[inline(always)]
    fn padded(self, text: &[u8]) -> Block {
        assert!(text.len() <= BLOCK);
        let mut block = [0; BLOCK];
        // SAFETY: a value of this type proves the instruction set. The mask has a bit for each byte of the
        // text, and no other byte is read; the store writes a block.
        unsafe {
            let bytes = _mm512_maskz_loadu_epi8(up_to(text.len()), text.as_ptr().cast());
            _mm512_storeu_si512(block.as_mut_ptr().cast(), bytes);
        }
        block
    }

    #[inline(always)]
    fn lines(self, block: &Block, at: u32, open: &mut Open, room: &mut Room) -> usize {
        // SAFETY: a value of this type proves the instruction set.
        unsafe {
            let bytes = load(block);
            let (feeds, returns) = (equal(bytes, b'\n'), equal(bytes, b'\r'));
            if cfg!(miri) || feeds.count_ones() as usize > spans::MOST {
                return lines::by_masks(feeds, returns, at, open, room);
            }
            spans::write(feeds, returns, at, open, room)
        }
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
            let high = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), _mm512_set1_epi8(15));
            let bit = _mm512_shuffle_epi8(load(&BIT), high);
            // SAFETY: these are 16 readable bytes, and the load asks for no alignment.
            let asked = _mm512_broadcast_i32x4(_mm_loadu_si128(asked.others.as_ptr().cast()));
            _mm512_testn_epi8_mask(_mm512_shuffle_epi8(asked, bytes), bit)
        }
    }
}

/// Runs `work` with the instruction set enabled.
///
/// # Safety
///
/// The CPU has AVX-512 F, BW, VBMI and VBMI2, and with them BMI.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn run<W: VectorOp>(work: W) -> W::Output {
    work.run(Avx512(()))
}
