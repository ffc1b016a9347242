//! Reusable buffers for streams.
//!
//! A buffer is filled and lent to readers, and returns to the pool when the last reader drops it. The streams
//! of a run share their spare buffers.
//! Freshly allocated memory would need its pages zeroed, which can take as long as the decompression
//! that fills them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

/// Every kernel and CPU copies fast if source and destination have the same offset within a page. If
/// memory is ahead by 1 to about 20 bytes (as when the byte before a page is read to the start of one),
/// `rep movsb` takes four times as long on AMD's Zen 4.
pub(super) const PAGE: usize = 4096;

/// A pool of buffers.
pub(super) struct BufferPool {
    size: usize,
    spare: Arc<SpareBuffers>,
}

/// Buffers that wait to be filled.
#[derive(Debug, Default)]
pub(super) struct SpareBuffers(Mutex<Spare>);

#[derive(Debug, Default)]
struct Spare {
    /// Each with the number of its bytes that were used last: no memory stands for bytes never used.
    buffers: Vec<(Vec<u8>, usize)>,
    bytes: usize,
}

impl SpareBuffers {
    /// Bytes of memory.
    pub(super) fn memory(&self) -> usize {
        self.lock().bytes
    }

    /// Frees all buffers.
    pub(super) fn free(&self) {
        *self.lock() = Spare::default();
    }

    fn take(&self) -> Option<Vec<u8>> {
        let mut spare = self.lock();
        let (buffer, used) = spare.buffers.pop()?;
        spare.bytes -= used;
        Some(buffer)
    }

    fn give(&self, buffer: Vec<u8>, used: usize) {
        let mut spare = self.lock();
        spare.bytes += used;
        spare.buffers.push((buffer, used));
    }

    fn lock(&self) -> MutexGuard<'_, Spare> {
        // A poisoned pool is used on: the bytes in its buffers are stale in any case.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that are being collected.
#[derive(Default)]
pub(super) struct Buffer {
    /// Initialized to its full length; bytes after `end` are stale.
    memory: Vec<u8>,
    start: usize,
    end: usize,
}

impl BufferPool {
    /// Creates a pool whose buffers hold `size` bytes without growing.
    pub(super) fn new(size: usize, spare: &Arc<SpareBuffers>) -> Self {
        // One page more than asked for, because `take` moves the start of the bytes by up to a
        // page.
        Self { size: size + PAGE, spare: Arc::clone(spare) }
    }

    /// Returns a buffer that holds `rest`, placed so that the next byte falls on the start of a
    /// [`PAGE`].
    pub(super) fn take(&self, rest: &[u8]) -> Buffer {
        let memory = self.spare.take().unwrap_or_else(|| vec![0; self.size]);
        let start = 0usize.wrapping_sub(memory.as_ptr().addr() + rest.len()) % PAGE;
        let mut buffer = Buffer { memory, start, end: start };
        buffer.extend_from_slice(rest);
        buffer
    }

    /// Lends out the first `length` bytes of a buffer for as long as anyone keeps them.
    pub(super) fn lend(&self, buffer: Buffer, length: usize) -> Bytes {
        let Buffer { mut memory, start, end } = buffer;
        let used = start..end.min(start + length);
        // A buffer that grew for a long record is not reused, and copied if little of it is used.
        // Else one record of megabytes would hold its memory until the run ends.
        let is_long = memory.len() > 2 * self.size;
        if is_long && used.len() < memory.len() / 2 {
            memory = memory[used].to_vec();
            return Bytes::from(memory);
        }
        let back = (!is_long).then(|| Arc::clone(&self.spare));
        Bytes::from_owner(Lent { memory, used, back })
    }
}

impl Buffer {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.end]
    }

    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    /// Drops the first `count` bytes.
    pub(super) fn pass(&mut self, count: usize) {
        self.start += count;
        // Long records are skipped read by read. An empty buffer begins anew at its front, or it
        // would grow with each of these reads.
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Returns `count` writable bytes after the current end.
    pub(super) fn room(&mut self, count: usize) -> &mut [u8] {
        let end = self.end + count;
        if self.memory.len() < end {
            self.memory.resize(end, 0);
        }
        &mut self.memory[self.end..end]
    }

    /// Marks `count` bytes of the room as written.
    pub(super) fn fill(&mut self, count: usize) {
        self.end += count;
    }

    pub(super) fn extend_from_slice(&mut self, bytes: &[u8]) {
        let end = self.end + bytes.len();
        if self.memory.len() < end {
            // A quarter more, since a long record may fill much of the memory there is.
            let more = self.memory.len() + self.memory.len() / 4;
            lengthen(&mut self.memory, end.max(more));
        }
        self.memory[self.end..end].copy_from_slice(bytes);
        self.end = end;
    }
}

/// Lengthens a buffer without room for more.
fn lengthen(memory: &mut Vec<u8>, length: usize) {
    memory.reserve_exact(length - memory.len());
    memory.resize(length, 0);
}

/// A buffer lent to readers.
struct Lent {
    memory: Vec<u8>,
    used: std::ops::Range<usize>,
    /// Where it goes back to, if it is reused.
    back: Option<Arc<SpareBuffers>>,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.memory[self.used.clone()]
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(back) = self.back.take() {
            back.give(std::mem::take(&mut self.memory), self.used.end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_after_a_carried_over_line_start_at_a_page() {
        let spare = Arc::default();
        let buffers = BufferPool::new(10_000, &spare);
        for length in [0, 1, 75, 4095, 4096, 9_999, 30_000] {
            let rest = vec![b'r'; length];
            let mut buffer = buffers.take(&rest);
            assert_eq!((buffer.bytes(), buffer.len()), (&rest[..], length));
            // A buffer that grew may have moved.
            if length < 10_000 {
                assert_eq!(buffer.room(1).as_ptr().addr() % PAGE, 0, "{length}");
            }
            buffer.extend_from_slice(b"next");
            let lent = buffers.lend(buffer, length + 2);
            assert_eq!(lent, [&rest[..], b"ne"].concat());
            drop(lent);
            // A buffer that grew long is not kept.
            assert_eq!(spare.memory() > length, length < 10_000, "{length}");
        }
        buffers.lend(buffers.take(b"used"), 4);
        assert!(spare.memory() > 0);
        spare.free();
        assert_eq!(spare.memory(), 0);
    }
}
