//! The operations of an instruction set, and the masks they produce.

use super::lines::{self, Open, Room};
use super::rules::Rules;
use crate::bytes::set::NibbleTable;

/// Bytes in a block; one bit of a mask each.
pub const BLOCK: usize = 64;
/// The bytes of one block.
pub type Block = [u8; BLOCK];

/// The masks of a block for the proof; bit `i` is about byte `i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Masks {
    /// Bytes outside [`Rules::HOST`].
    pub(super) host_bad: u64,
    /// Bytes outside [`Rules::TAIL`].
    pub(super) bad: u64,
    /// Slashes.
    pub(super) slash: u64,
    /// Full stops.
    pub(super) dot: u64,
}

/// The masks of a block for rewriting a dirty URL; bit `i` is about byte `i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Survey {
    pub(crate) slash: u64,
    pub(crate) dot: u64,
    /// Question marks and number signs.
    pub(crate) ends: u64,
    /// Bytes that the grammar of a query does not allow literally, including percent and number signs.
    pub(crate) not_query: u64,
    /// Bytes that the grammar of a reg-name does not allow literally, including every byte that can
    /// delimit a host.
    pub(crate) not_reg_name: u64,
}

/// A part of two blocks with its triplets in normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Normalized {
    /// The normalized part of each block: a block, and the number of bytes used.
    pub(crate) blocks: [(Block, usize); 2],
    /// Percent signs of the triplets that encoded full stops; bit `i` is about byte `i` of the two
    /// blocks.
    pub(crate) dots: u128,
}

/// An instruction set. A value of it proves that the CPU has it.
///
/// Its functions are inlined into one that has the instruction set enabled ([`VectorOp`]).
pub trait Vector: Copy {
    /// The masks that prove a URL clean.
    fn masks<R: Rules>(self, block: &Block) -> Masks;

    /// The masks that a rewrite of a dirty URL needs.
    fn survey(self, block: &Block) -> Survey;

    /// The bytes equal to `byte`.
    fn find(self, block: &Block, byte: u8) -> u64;

    /// The bytes in `asked`, and all bytes of 0x80 and above.
    fn find_in_set(self, block: &Block, asked: &NibbleTable) -> u64;

    /// True if [`Vector::normalize_triplets`] can return a result.
    const NORMALIZES_TRIPLETS: bool = false;

    /// Normalizes triplets in the bytes of two blocks at the bits of `inside`. Each bit of `percent`, a
    /// subset of `inside`, marks a percent sign. Triplets of unreserved characters are decoded (RFC
    /// 3986 section 6.2.2.2), the digits of all others are put in upper case (section 6.2.2.1). Returns
    /// `None` if one is no triplet, or its digits are not inside.
    #[inline(always)]
    fn normalize_triplets(
        self,
        _blocks: [&Block; 2],
        _percent: u128,
        _inside: u128,
    ) -> Option<Normalized> {
        None
    }

    /// True if [`Vector::padded`] is fast.
    const PADS: bool = false;

    /// A text of at most a block, padded with zeros.
    #[inline(always)]
    fn padded(self, text: &[u8]) -> Block {
        let mut block = [0; BLOCK];
        block[..text.len()].copy_from_slice(text);
        block
    }

    /// Writes the lines that end in a block to the start of the room, and returns their number. A line
    /// has no line feed, and no carriage return before that. `at` is the offset of the block in the
    /// text.
    #[inline(always)]
    fn lines(self, block: &Block, at: u32, open: &mut Open, room: &mut Room) -> usize {
        lines::by_masks(self.find(block, b'\n'), self.find(block, b'\r'), at, open, room)
    }

    /// The bits of a mask below `length`, which is at most 255; all bits if that is a block or more.
    #[inline(always)]
    fn below(self, mask: u64, length: usize) -> u64 {
        mask & up_to(length)
    }
}

/// Work that needs an instruction set. It is compiled once for each.
///
/// `run` must be `#[inline(always)]`, and so must all code in it that uses the vector: each backend
/// calls it from its one function that has the instruction set enabled.
pub trait VectorOp {
    /// The result.
    type Output;

    /// Runs with this instruction set.
    fn run<V: Vector>(self, vector: V) -> Self::Output;
}

/// The bits below `length`; all bits if that is a block or more.
#[inline(always)]
pub fn up_to(length: usize) -> u64 {
    // A shift by 64 would overflow.
    if length >= BLOCK { u64::MAX } else { (1 << length) - 1 }
}
