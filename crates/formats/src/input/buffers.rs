//! Buffers that a stream is read into, again and again.
//!
//! A buffer is filled, lent to whoever works on what is in it, and comes back when nobody looks at it
//! any more. Memory that is given back and taken anew costs the zeroing of its pages, which can take
//! as long as the unpacking that fills them.

use std::sync::mpsc::{Receiver, Sender, channel};

use bytes::Bytes;

use super::range::PAGE;

/// Where buffers come from.
pub(super) struct BufferPool {
    size: usize,
    spare: Receiver<Vec<u8>>,
    back: Sender<Vec<u8>>,
}

/// Bytes that are being collected.
#[derive(Default)]
pub(super) struct Buffer {
    /// Initialized to its full length; what is behind `end` is left over.
    memory: Vec<u8>,
    start: usize,
    end: usize,
}

impl BufferPool {
    /// Of buffers that have room for `size` bytes without growing.
    pub(super) fn new(size: usize) -> Self {
        let (back, spare) = channel();
        Self { size: size + PAGE, spare, back }
    }

    /// A buffer that holds `rest`, so that what comes behind it goes to the start of a [`PAGE`].
    pub(super) fn take(&self, rest: &[u8]) -> Buffer {
        let memory = self.spare.try_recv().unwrap_or_else(|_| vec![0; self.size]);
        let start = 0usize.wrapping_sub(memory.as_ptr().addr() + rest.len()) % PAGE;
        let mut buffer = Buffer { memory, start, end: start };
        buffer.extend_from_slice(rest);
        buffer
    }

    /// The first `length` bytes of a buffer, to keep as long as anybody wants.
    pub(super) fn lend(&self, buffer: Buffer, length: usize) -> Bytes {
        let Buffer { mut memory, start, end } = buffer;
        let used = start..end.min(start + length);
        // One that grew for a long record shrinks again.
        if memory.len() > 2 * self.size {
            memory = memory[used].to_vec();
            return Bytes::from(memory);
        }
        Bytes::from_owner(Lent { memory, used, back: self.back.clone() })
    }
}

impl Buffer {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.end]
    }

    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    /// Leaves out the first `count` bytes.
    pub(super) fn pass(&mut self, count: usize) {
        self.start += count;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Room for so many bytes behind those that are there.
    pub(super) fn room(&mut self, count: usize) -> &mut [u8] {
        let end = self.end + count;
        if self.memory.len() < end {
            self.memory.resize(end, 0);
        }
        &mut self.memory[self.end..end]
    }

    /// So many bytes were written into the room.
    pub(super) fn fill(&mut self, count: usize) {
        self.end += count;
    }

    pub(super) fn extend_from_slice(&mut self, bytes: &[u8]) {
        let end = self.end + bytes.len();
        if self.memory.len() < end {
            self.memory.resize(end.max(2 * self.memory.len()), 0);
        }
        self.memory[self.end..end].copy_from_slice(bytes);
        self.end = end;
    }
}

/// A buffer that somebody looks at.
struct Lent {
    memory: Vec<u8>,
    used: std::ops::Range<usize>,
    back: Sender<Vec<u8>>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.memory[self.used.clone()]
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // Where nobody reads any more it is freed.
        let _ = self.back.send(std::mem::take(&mut self.memory));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_behind_the_rest_of_a_line_goes_to_the_start_of_a_page() {
        let buffers = BufferPool::new(10_000);
        for length in [0, 1, 75, 4095, 4096, 9_999, 30_000] {
            let rest = vec![b'r'; length];
            let mut buffer = buffers.take(&rest);
            assert_eq!((buffer.bytes(), buffer.len()), (&rest[..], length));
            // One that grew may lie elsewhere.
            if length < 10_000 {
                assert_eq!(buffer.room(1).as_ptr().addr() % PAGE, 0, "{length}");
            }
            buffer.extend_from_slice(b"next");
            let lent = buffers.lend(buffer, length + 2);
            assert_eq!(lent, [&rest[..], b"ne"].concat());
        }
    }
}
