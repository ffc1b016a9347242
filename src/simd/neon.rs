//! The registers of NEON: a block is four of 16 bytes.
//!
//! NEON has no instruction that gathers the top bits of a vector. Each lane of 0xFF is cut down to
//! one bit of its own, and three rounds of pairwise addition bring 64 lanes into 8 bytes.

use std::arch::aarch64::*;

use super::block::Block;
use super::vector::{BIT, Lanes, Vector, VectorOp};

/// Only [`run`] makes one; its caller promises that the CPU has the instruction set.
#[derive(Clone, Copy)]
pub(super) struct Neon(());

/// The bit that stands for a lane in its byte of the mask.
const LANE: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

type Quarters = (uint8x16_t, uint8x16_t, uint8x16_t, uint8x16_t);

impl Lanes for Neon {
    type Bytes = Quarters;

    #[inline(always)]
    fn load(self, block: &Block) -> Quarters {
        let (quarters, _) = block.as_chunks::<16>();
        // SAFETY: a value of this type proves NEON.
        unsafe {
            (load16(&quarters[0]), load16(&quarters[1]), load16(&quarters[2]), load16(&quarters[3]))
        }
    }

    #[inline(always)]
    fn equal(self, bytes: Quarters, byte: u8) -> u64 {
        // SAFETY: a value of this type proves NEON.
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

    #[inline(always)]
    fn high_bits(self, bytes: Quarters) -> Quarters {
        // SAFETY: a value of this type proves NEON.
        unsafe { (high_bits(bytes.0), high_bits(bytes.1), high_bits(bytes.2), high_bits(bytes.3)) }
    }

    #[inline(always)]
    fn outside(self, rows: &[u8; 16], bytes: Quarters, high_bits: Quarters) -> u64 {
        // SAFETY: a value of this type proves NEON.
        unsafe {
            let rows = load16(rows);
            !bits((
                member(rows, bytes.0, high_bits.0),
                member(rows, bytes.1, high_bits.1),
                member(rows, bytes.2, high_bits.2),
                member(rows, bytes.3, high_bits.3),
            ))
        }
    }
}

impl Vector for Neon {}

#[target_feature(enable = "neon")]
#[inline]
fn load16(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: these are 16 readable bytes, and the load asks for no alignment.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// One bit for each of 64 lanes, which are 0x00 or 0xFF.
#[target_feature(enable = "neon")]
#[inline]
fn bits(lanes: Quarters) -> u64 {
    let bit = load16(&LANE);
    // Each lane has one bit, and the bits of eight lanes differ, so sums are unions and never overflow.
    let low = vpaddq_u8(vandq_u8(lanes.0, bit), vandq_u8(lanes.1, bit));
    let high = vpaddq_u8(vandq_u8(lanes.2, bit), vandq_u8(lanes.3, bit));
    let sum = vpaddq_u8(low, high);
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)))
}

#[target_feature(enable = "neon")]
#[inline]
fn high_bits(bytes: uint8x16_t) -> uint8x16_t {
    vqtbl1q_u8(load16(&BIT), vshrq_n_u8::<4>(bytes))
}

/// Lanes of 0xFF for the bytes in the set of `rows`.
#[target_feature(enable = "neon")]
#[inline]
fn member(rows: uint8x16_t, bytes: uint8x16_t, high_bits: uint8x16_t) -> uint8x16_t {
    // A lookup of 16 or above gives 0, so the low nibble is cut out first.
    let row = vqtbl1q_u8(rows, vandq_u8(bytes, vdupq_n_u8(15)));
    vtstq_u8(row, high_bits)
}

/// Runs `work` with the instruction set enabled.
#[target_feature(enable = "neon")]
pub(super) fn run<W: VectorOp>(work: W) -> W::Output {
    work.run(Neon(()))
}
