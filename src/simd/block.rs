//! A block of bytes, and masks with a bit for each of them.

/// Bytes in a block; one bit of a mask each.
pub const BLOCK: usize = 64;
/// The bytes of one block.
pub type Block = [u8; BLOCK];

/// The bits below `length`; all bits if that is a block or more.
#[inline(always)]
pub fn up_to(length: usize) -> u64 {
    // A shift by 64 would overflow.
    if length >= BLOCK { u64::MAX } else { (1 << length) - 1 }
}
