//! The operations of an instruction set, and the masks they produce.

use super::block::{BLOCK, Block};
use super::line_ends::{self, Open, Room};
use super::rules::{Rows, Rules};
use crate::bytes::set::{NibbleTable, QUERY, REG_NAME};

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

/// For a high nibble its bit in a row of a set ([`AsciiSet::nibble_rows`](crate::bytes::set::AsciiSet)).
/// None for 8 and above, since no set holds such a byte.
#[allow(dead_code, reason = "where no instruction set is known, only scalar code runs")]
pub(super) const BIT: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0];

const QUERY_ROWS: [u8; 16] = QUERY.nibble_rows();
const REG_NAME_ROWS: [u8; 16] = REG_NAME.nibble_rows();

/// The registers of an instruction set. A backend is an implementation of this trait; the masks are
/// written once over it ([`Vector`]).
///
/// A value proves that the CPU has the instruction set: only `run` of its backend makes one. So safe
/// methods may use the instructions.
///
/// Other crates can use [`Vector`], but they cannot name this trait, so they cannot implement either.
/// Unsafe code relies on that: it trusts [`Vector::lines`].
pub trait Lanes: Copy {
    /// The bytes of a block in one or more registers.
    type Bytes: Copy;

    /// Loads a block.
    fn load(self, block: &Block) -> Self::Bytes;

    /// The bytes equal to `byte`.
    fn equal(self, bytes: Self::Bytes, byte: u8) -> u64;

    /// The bytes outside the set of `rows`: the row of the low nibble lacks the bit of the high one
    /// ([`BIT`]). Of several sets asked about the same bytes, compilers look the high nibbles up once.
    fn outside(self, rows: &[u8; 16], bytes: Self::Bytes) -> u64;
}

/// An instruction set. A value of it proves that the CPU has it.
///
/// Its functions are inlined into one that has the instruction set enabled ([`VectorOp`]). Each says how
/// many bytes a bit of its result depends on, the *window*: `scripts/prove --exhaustive` tries all of them.
///
/// Other crates cannot implement it, since unsafe code relies on its results:
///
/// ```
/// use uniqurl::internal::Vector;
/// ```
/// ```compile_fail,E0432
/// use uniqurl::internal::Lanes; // the trait that `Vector` requires
/// ```
pub trait Vector: Lanes {
    /// The masks that prove a URL clean. The window is the byte of the bit.
    #[inline(always)]
    fn masks<R: Rules>(self, block: &Block) -> Masks {
        let bytes = self.load(block);
        Masks {
            host_bad: self.outside(Rows::<R>::HOST, bytes),
            bad: self.outside(Rows::<R>::TAIL, bytes),
            slash: self.equal(bytes, b'/'),
            dot: self.equal(bytes, b'.'),
        }
    }

    /// The masks that a rewrite of a dirty URL needs. The window is the byte of the bit.
    #[inline(always)]
    fn survey(self, block: &Block) -> Survey {
        let bytes = self.load(block);
        Survey {
            slash: self.equal(bytes, b'/'),
            dot: self.equal(bytes, b'.'),
            ends: self.equal(bytes, b'?') | self.equal(bytes, b'#'),
            not_query: self.outside(&QUERY_ROWS, bytes),
            not_reg_name: self.outside(&REG_NAME_ROWS, bytes),
        }
    }

    /// The bytes equal to `byte`. The window is the byte of the bit.
    #[inline(always)]
    fn find(self, block: &Block, byte: u8) -> u64 {
        self.equal(self.load(block), byte)
    }

    /// The bytes in `asked`, and all bytes of 0x80 and above. The window is the byte of the bit.
    #[inline(always)]
    fn find_in_set(self, block: &Block, asked: &NibbleTable) -> u64 {
        self.outside(&asked.others, self.load(block))
    }

    /// True if the masks of a block take less time than a mispredicted branch.
    const BLOCKS_ARE_CHEAP: bool = true;

    /// True if [`Vector::normalize_triplets`] can return a result.
    const NORMALIZES_TRIPLETS: bool = false;

    /// Normalizes triplets in the bytes of two blocks at the bits of `inside`. Each bit of `percent`, a
    /// subset of `inside`, marks a percent sign. Triplets of unreserved characters are decoded (RFC
    /// 3986 section 6.2.2.2), the digits of all others are put in upper case (section 6.2.2.1). Returns
    /// `None` if one is no triplet, or its digits are not inside.
    ///
    /// The window is a percent sign and the two bytes after it, which may lie in the next block. The place
    /// of a byte in the result depends on the number of triplets before it, too.
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

    /// Writes the lines that end in a block to the start of the room, and returns their number. Unsafe
    /// code relies on it. A line has no line feed, and no carriage return before that. `at` is the offset
    /// of the block in the text. The window is a line feed, the byte before it, which may lie in the block
    /// before, and the line feed before that.
    #[inline(always)]
    fn lines(self, block: &Block, at: u32, open: &mut Open, room: &mut Room) -> usize {
        line_ends::by_masks(self.find(block, b'\n'), self.find(block, b'\r'), at, open, room)
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
