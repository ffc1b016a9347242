//! The lines that end in a block, from the masks of their ends.

use std::mem::MaybeUninit;

use crate::bytes::Span;

use super::block::BLOCK;

/// Space for as many lines as a block can end, so that writing a line needs no check.
pub type Room = [MaybeUninit<Span>; BLOCK];

/// The state of a line scan between blocks.
#[derive(Debug)]
pub struct Open {
    /// Start of the line that has no end yet.
    pub(super) start: u32,
    /// True if the last byte was a carriage return.
    pub(super) carriage_return: bool,
}

/// Implements [`Vector::lines`] from the masks of line feeds and carriage returns.
#[inline(always)]
pub(super) fn by_masks(
    mut feeds: u64,
    returns: u64,
    at: u32,
    open: &mut Open,
    room: &mut Room,
) -> usize {
    // A carriage return directly before a line feed does not belong to the line.
    let cut = returns << 1 | u64::from(open.carriage_return);
    let count = feeds.count_ones() as usize;
    let mut write = |feeds: u64, line: usize| {
        let i = feeds.trailing_zeros();
        let end = at.wrapping_add(i);
        let cut = (cut >> (i % BLOCK as u32)) as u32 & 1;
        // The mask has 64 bits only, so the return before the first byte comes from the last block.
        room[line].write(Span { start: open.start, end: end.wrapping_sub(cut) });
        open.start = if feeds == 0 { open.start } else { end.wrapping_add(1) };
    };
    // Most blocks end two lines or fewer. Both are written even if they do not exist, since a branch on
    // their number mispredicts too often.
    for line in 0..2 {
        write(feeds, line);
        // The mask is empty where the line does not exist.
        feeds &= feeds.wrapping_sub(1);
    }
    for line in 2..count {
        write(feeds, line);
        feeds &= feeds - 1;
    }
    open.carriage_return = returns >> (BLOCK - 1) != 0;
    count
}
