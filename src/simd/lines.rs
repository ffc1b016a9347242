//! Finds line ends, 64 bytes at a time.

use std::mem::MaybeUninit;

use super::vector::{BLOCK, Vector, VectorOp};
use crate::bytes::Span;

/// See [`super::lines`].
pub(super) struct Lines<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) out: &'a mut Vec<Span>,
}

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

impl VectorOp for Lines<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let Self { bytes, out } = self;
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        let mut open = Open { start: 0, carriage_return: false };
        for (i, block) in blocks.iter().enumerate() {
            // Each block can end 64 lines, so one reservation per block replaces a check per line.
            out.reserve(BLOCK);
            let length = out.len();
            if let Some(room) = out.spare_capacity_mut().first_chunk_mut() {
                let count = vector.lines(block, (i * BLOCK) as u32, &mut open, room);
                debug_assert!(count <= BLOCK);
                // SAFETY:
                // - the room is the start of the spare capacity, so `length + count` fits;
                // - `lines` returns how many spans it wrote to the start of the room. The method is safe,
                //   but only this module can implement it (`Lanes`).
                unsafe { out.set_len(length + count) };
            }
        }
        // Scalar loop for the last partial block.
        let mut start = open.start as usize;
        for end in bytes.len() - rest.len()..bytes.len() {
            if bytes[end] == b'\n' {
                let cut = usize::from(end > start && bytes[end - 1] == b'\r');
                out.push(Span { start: start as u32, end: (end - cut) as u32 });
                start = end + 1;
            }
        }
        if start < bytes.len() {
            out.push(Span { start: start as u32, end: bytes.len() as u32 });
        }
    }
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
        feeds &= feeds.wrapping_sub(1);
    }
    for line in 2..count {
        write(feeds, line);
        feeds &= feeds - 1;
    }
    open.carriage_return = returns >> (BLOCK - 1) != 0;
    count
}
