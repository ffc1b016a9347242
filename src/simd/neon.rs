//! The masks with NEON: a block is four vectors of 16 bytes.
//!
//! NEON has no instruction that gathers the top bits of a vector. Each lane of 0xFF is cut down to
//! one bit of its own, and three rounds of pairwise addition bring 64 lanes into 8 bytes.

use std::arch::aarch64::*;

use super::rules::{Rows, Rules};
use super::vector::{Block, Masks, Survey, Vector, VectorOp};
use crate::bytes::set::{NibbleTable, QUERY, REG_NAME};

/// Only [`run`] makes one; its caller promises that the CPU has the instruction set.
#[derive(Clone, Copy)]
pub(super) struct Neon(());

const QUERY_ROWS: [u8; 16] = QUERY.nibble_rows();
const REG_NAME_ROWS: [u8; 16] = REG_NAME.nibble_rows();
/// For a high nibble its bit in a row; none for 8 and above, since no set holds such a byte.
const BIT: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];
/// The bit that stands for a lane in its byte of the mask.
const LANE: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

/// A block in four vectors.
type Quarters = (uint8x16_t, uint8x16_t, uint8x16_t, uint8x16_t);

#[inline(always)]
unsafe fn load16(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: these are 16 readable bytes, and the load asks for no alignment; the caller promises
    // NEON.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[inline(always)]
unsafe fn load(block: &Block) -> Quarters {
    let (quarters, _) = block.as_chunks::<16>();
    // SAFETY: the caller promises NEON.
    unsafe {
        (load16(&quarters[0]), load16(&quarters[1]), load16(&quarters[2]), load16(&quarters[3]))
    }
}

/// One bit for each of 64 lanes, which are 0x00 or 0xFF.
#[inline(always)]
unsafe fn bits(lanes: Quarters) -> u64 {
    // SAFETY: the caller promises NEON.
    unsafe {
        let bit = load16(&LANE);
        // Each lane has one bit, and the bits of eight lanes differ, so sums are unions and never
        // overflow.
        let low = vpaddq_u8(vandq_u8(lanes.0, bit), vandq_u8(lanes.1, bit));
        let high = vpaddq_u8(vandq_u8(lanes.2, bit), vandq_u8(lanes.3, bit));
        let sum = vpaddq_u8(low, high);
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)))
    }
}

/// The bytes equal to `byte`.
#[inline(always)]
unsafe fn equal(bytes: Quarters, byte: u8) -> u64 {
    // SAFETY: the caller promises NEON.
    unsafe {
        let byte = vdupq_n_u8(byte);
        bits((
            vceqq_u8(bytes.0, byte),
            vceqq_u8(bytes.1, byte),
            vceqq_u8(bytes.2, byte),
            vceqq_u8(bytes.3, byte),
        ))
    }
}

/// Lanes of 0xFF for the bytes in the set of `rows`: the row of the low nibble has the bit of the
/// high one.
#[inline(always)]
unsafe fn member(rows: uint8x16_t, bytes: uint8x16_t) -> uint8x16_t {
    // SAFETY: the caller promises NEON.
    unsafe {
        // A lookup of 16 or above gives 0, so the low nibble is cut out first.
        let row = vqtbl1q_u8(rows, vandq_u8(bytes, vdupq_n_u8(15)));
        vtstq_u8(row, vqtbl1q_u8(load16(&BIT), vshrq_n_u8::<4>(bytes)))
    }
}

/// The bytes outside a set.
#[inline(always)]
unsafe fn outside(row: &[u8; 16], bytes: Quarters) -> u64 {
    // SAFETY: the caller promises NEON.
    unsafe {
        let rows = load16(row);
        !bits((
            member(rows, bytes.0),
            member(rows, bytes.1),
            member(rows, bytes.2),
            member(rows, bytes.3),
        ))
    }
}

/// Question marks and number signs.
#[inline(always)]
unsafe fn ends(bytes: Quarters) -> u64 {
    // SAFETY: the caller promises NEON.
    unsafe { equal(bytes, b'?') | equal(bytes, b'#') }
}

impl Vector for Neon {
    #[inline(always)]
    fn masks<R: Rules>(self, block: &Block) -> Masks {
        // SAFETY: a value of this type proves the instruction set.
        unsafe {
            let bytes = load(block);
            Masks {
                host_bad: outside(Rows::<R>::HOST, bytes),
                bad: outside(Rows::<R>::TAIL, bytes),
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
            Survey {
                slash: equal(bytes, b'/'),
                dot: equal(bytes, b'.'),
                ends: ends(bytes),
                not_query: outside(&QUERY_ROWS, bytes),
                not_reg_name: outside(&REG_NAME_ROWS, bytes),
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
        unsafe { outside(&asked.others, load(block)) }
    }
}

/// Runs `work` with the instruction set enabled.
///
/// # Safety
///
/// The CPU has NEON.
#[target_feature(enable = "neon")]
pub(super) unsafe fn run<W: VectorOp>(work: W) -> W::Output {
    work.run(Neon(()))
}
