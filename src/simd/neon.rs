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
        // SAFETY:
        // - a quarter is 16 readable bytes, and the load asks for no alignment;
        // - a value of this type proves NEON.
        unsafe {
            (
                vld1q_u8(quarters[0].as_ptr()),
                vld1q_u8(quarters[1].as_ptr()),
                vld1q_u8(quarters[2].as_ptr()),
                vld1q_u8(quarters[3].as_ptr()),
            )
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
    fn outside(self, rows: &[u8; 16], bytes: Quarters) -> u64 {
        // SAFETY: a value of this type proves NEON.
        unsafe {
            let rows = row(rows);
            !bits((
                member(rows, bytes.0),
                member(rows, bytes.1),
                member(rows, bytes.2),
                member(rows, bytes.3),
            ))
        }
    }
}

impl Vector for Neon {}

/// A row of a set in a register. Compilers make one load of it.
#[target_feature(enable = "neon")]
#[inline]
fn row(bytes: &[u8; 16]) -> uint8x16_t {
    let bits = u128::from_le_bytes(*bytes);
    vcombine_u8(vcreate_u8(bits as u64), vcreate_u8((bits >> 64) as u64))
}

/// One bit for each of 64 lanes, which are 0x00 or 0xFF.
#[target_feature(enable = "neon")]
#[inline]
fn bits(lanes: Quarters) -> u64 {
    let bit = row(&LANE);
    // Each lane has one bit, and the bits of eight lanes differ, so sums are unions and never overflow.
    let low = vpaddq_u8(vandq_u8(lanes.0, bit), vandq_u8(lanes.1, bit));
    let high = vpaddq_u8(vandq_u8(lanes.2, bit), vandq_u8(lanes.3, bit));
    let sum = vpaddq_u8(low, high);
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)))
}

/// Lanes of 0xFF for the bytes in the set of `rows`.
#[target_feature(enable = "neon")]
#[inline]
fn member(rows: uint8x16_t, bytes: uint8x16_t) -> uint8x16_t {
    // A lookup of 16 or above gives 0, so the low nibble is cut out first.
    let of_low = vqtbl1q_u8(rows, vandq_u8(bytes, vdupq_n_u8(15)));
    vtstq_u8(of_low, vqtbl1q_u8(row(&BIT), vshrq_n_u8::<4>(bytes)))
}

/// Runs `work` with the instruction set enabled.
#[target_feature(enable = "neon")]
pub(super) fn run<W: VectorOp>(work: W) -> W::Output {
    work.run(Neon(()))
}
