//! The registers of WebAssembly's `simd128`: a block is four of 16 bytes.
//!
//! A module is validated before it runs, and an engine without these instructions refuses it whole. So
//! nothing is detected: the backend exists where the library is compiled with `-C target-feature=+simd128`.

use std::arch::wasm32::*;

use super::block::Block;
use super::vector::{BIT, Lanes, Vector, VectorOp};

/// Only [`run`] makes one.
#[derive(Clone, Copy)]
pub(super) struct Wasm(());

impl Lanes for Wasm {
    type Bytes = [v128; 4];

    #[inline(always)]
    fn load(self, block: &Block) -> [v128; 4] {
        let (quarters, _) = block.as_chunks::<16>();
        [row(&quarters[0]), row(&quarters[1]), row(&quarters[2]), row(&quarters[3])]
    }

    #[inline(always)]
    fn equal(self, bytes: [v128; 4], byte: u8) -> u64 {
        let byte = u8x16_splat(byte);
        bits(bytes.map(|quarter| u8x16_eq(quarter, byte)))
    }

    #[inline(always)]
    fn outside(self, rows: &[u8; 16], bytes: [v128; 4]) -> u64 {
        let (rows, bit) = (row(rows), row(&BIT));
        bits(bytes.map(|quarter| {
            // A lookup of 16 or above gives 0, so the low nibble is cut out first.
            let of_low = u8x16_swizzle(rows, v128_and(quarter, u8x16_splat(15)));
            let of_high = u8x16_swizzle(bit, u8x16_shr(quarter, 4));
            u8x16_eq(v128_and(of_low, of_high), u8x16_splat(0))
        }))
    }
}

impl Vector for Wasm {
    // Engines put each lookup in a check of its index. Without the second block of short URLs, a list of real
    // ones takes 0.92 of the time.
    const BLOCKS_ARE_CHEAP: bool = false;
}

/// 16 bytes in a register.
#[inline(always)]
fn row(bytes: &[u8; 16]) -> v128 {
    // SAFETY: the reference is to 16 readable bytes, and the load asks for no alignment.
    unsafe { v128_load(bytes.as_ptr().cast()) }
}

/// One bit for each of 64 lanes, which are 0x00 or 0xFF.
#[inline(always)]
fn bits(lanes: [v128; 4]) -> u64 {
    let [a, b, c, d] = lanes.map(|quarter| u64::from(u8x16_bitmask(quarter)));
    a | b << 16 | c << 32 | d << 48
}

/// Runs `work` with the instruction set, which all of the module has.
pub(super) fn run<W: VectorOp>(work: W) -> W::Output {
    work.run(Wasm(()))
}
