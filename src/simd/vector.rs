//! What an instruction set has to offer, and what is made of it.

use super::lines::{self, Open, Room};
use super::rules::Rules;
use crate::bytes::set::NibbleTable;

/// Bytes in a block; one bit of a mask each.
pub const BLOCK: usize = 64;
/// The bytes of one block.
pub type Block = [u8; BLOCK];

/// What is known of a block; bit `i` is about byte `i`.
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

/// What a dirty URL is rewritten by; bit `i` is about byte `i` of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Survey {
    pub(crate) slash: u64,
    pub(crate) dot: u64,
    /// Question marks and number signs.
    pub(crate) ends: u64,
    /// Bytes that the grammar of a query does not allow as themselves; percent and number signs are
    /// among them.
    pub(crate) not_query: u64,
    /// Bytes that the grammar of a reg-name does not allow as themselves; all that can stand before
    /// or behind a host is among them.
    pub(crate) not_reg_name: u64,
}

/// A part of two blocks with its triplets in normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Normalized {
    /// What became of the part of each block: so many bytes of a block.
    pub(crate) blocks: [(Block, usize); 2],
    /// Percent signs of the triplets that were full stops; bit `i` is about byte `i` of the two blocks.
    pub(crate) dots: u128,
}

/// An instruction set. Whoever has a value of it knows that the CPU has it.
///
/// Its functions are inlined into one that has the instruction set enabled ([`VectorOp`]).
pub trait Vector: Copy {
    /// What tells whether a URL is clean.
    fn masks<R: Rules>(self, block: &Block) -> Masks;

    /// What a URL is rewritten by.
    fn survey(self, block: &Block) -> Survey;

    /// The bytes that are this one.
    fn find(self, block: &Block, byte: u8) -> u64;

    /// The bytes that are asked for, and those of 0x80 and above.
    fn find_in_set(self, block: &Block, asked: &NibbleTable) -> u64;

    /// Whether [`Vector::normalize_triplets`] ever does.
    const NORMALIZES_TRIPLETS: bool = false;

    /// The bytes of two blocks that are `inside`, where a triplet starts at each bit of `percent`, which
    /// are inside too: those of unreserved characters decoded (RFC 3986 section 6.2.2.2), the digits of
    /// all others in upper case (section 6.2.2.1). Nothing, where one of them is no triplet, or its
    /// digits are not inside.
    #[inline(always)]
    fn normalize_triplets(
        self,
        _blocks: [&Block; 2],
        _percent: u128,
        _inside: u128,
    ) -> Option<Normalized> {
        None
    }

    /// Writes the lines that end in a block to the start of the room, and says how many: each without its
    /// line feed, and a carriage return before that. The block stands `at` in a text.
    #[inline(always)]
    fn lines(self, block: &Block, at: u32, open: &mut Open, room: &mut Room) -> usize {
        lines::by_masks(self.find(block, b'\n'), self.find(block, b'\r'), at, open, room)
    }

    /// The bits of a mask below `length`, which is 255 at most; all, where that is a block or more.
    #[inline(always)]
    fn below(self, mask: u64, length: usize) -> u64 {
        mask & up_to(length)
    }
}

/// What is to be done with an instruction set: translated once for each of them.
///
/// `run` has to be `#[inline(always)]`, and so has all in it that uses the vector: each backend calls
/// it from its one function that has the instruction set enabled.
pub trait VectorOp {
    /// The result.
    type Output;

    /// Does the work with this instruction set.
    fn run<V: Vector>(self, vector: V) -> Self::Output;
}

/// The bits below `length`; all, where that is a block or more.
#[inline(always)]
pub fn up_to(length: usize) -> u64 {
    if length >= BLOCK { u64::MAX } else { (1 << length) - 1 }
}
