//! Finds line ends, 64 bytes at a time.

use super::block::BLOCK;
use super::line_ends::Open;
use super::vector::{Vector, VectorOp};
use crate::bytes::Span;

/// See [`super::lines`].
pub(super) struct Lines<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) out: &'a mut Vec<Span>,
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
