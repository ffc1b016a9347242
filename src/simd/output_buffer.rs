//! Writes one URL after the contents of a vector, in copies of a fixed size.
//!
//! Small copies dominate the time of a dirty URL: each is a call, and each mispredicts the length. Here
//! a copy of up to 64 bytes is one load and one store (or a few), whatever its length. Bytes beyond the
//! length are overwritten by the next copy, or never read.

use std::mem::MaybeUninit;

/// Bytes of one copy.
const COPY: usize = 64;

/// Spare capacity of a vector, whose own bytes stay unchanged until [`OutputBuffer::finish`].
pub(crate) struct OutputBuffer<'a> {
    out: &'a mut Vec<u8>,
    /// The spare capacity of `out`, which is not used otherwise before `finish`.
    spare: &'a mut [MaybeUninit<u8>],
    /// Bytes at the start of `spare` that were written, so they are initialized. Never more than it has.
    length: usize,
}

impl<'a> OutputBuffer<'a> {
    /// Reserves space for `room` bytes.
    #[inline(always)]
    pub(crate) fn new(out: &'a mut Vec<u8>, room: usize) -> Self {
        // `COPY` more than announced, so that a copy of fixed size may start at any byte.
        out.reserve(room.saturating_add(COPY));
        let spare: *mut [MaybeUninit<u8>] = &mut out.spare_capacity_mut()[..room + COPY];
        // The slice is kept, since a vector behind a reference is read again for each write.
        // SAFETY:
        // - the memory is valid as long as `out` is borrowed: only `finish` uses it, which keeps its
        //   allocation;
        // - nothing else refers to it: a vector never refers to its spare capacity.
        let spare = unsafe { &mut *spare };
        Self { out, spare, length: 0 }
    }

    /// Number of bytes written.
    #[inline(always)]
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// The bytes written so far.
    #[inline(always)]
    pub(crate) fn written(&self) -> &[u8] {
        // SAFETY: that many bytes are initialized, by the invariant of `length`.
        unsafe { std::slice::from_raw_parts(self.spare.as_ptr().cast(), self.length) }
    }

    /// Appends `source[start..end]`.
    ///
    /// # Panics
    ///
    /// If the range lies outside `source` or does not fit what was reserved. The other methods that
    /// write panic likewise.
    #[inline(always)]
    pub(crate) fn copy(&mut self, source: &[u8], start: usize, end: usize) {
        let part = &source[start..end];
        // A load may go past the part, but not past `source`.
        match source[start..].first_chunk() {
            Some(bytes) if part.len() <= COPY => self.put(bytes, part.len()),
            _ => {
                let room = self.rest()[..part.len()].as_mut_ptr().cast();
                // Rejected: a loop of safe writes in a function of its own, which compilers turn into
                // `memcpy` too. A free function costs dirty URLs 1 % of their instructions, a method
                // 1 % of `aggressive`: it forces the buffer into memory.
                // SAFETY: both have the bytes of `part`. They do not overlap: nothing else refers to
                // spare capacity.
                unsafe { part.as_ptr().copy_to_nonoverlapping(room, part.len()) };
                self.length += part.len();
            }
        }
    }

    /// As [`OutputBuffer::copy`], with ASCII letters in lower case.
    #[inline(always)]
    pub(crate) fn copy_lower(&mut self, source: &[u8], start: usize, end: usize) {
        let part = &source[start..end];
        match source[start..].first_chunk() {
            Some(bytes) if part.len() <= COPY => self.put(&bytes.map(lower), part.len()),
            // A rare case: a long part, or one near the end of `source`.
            _ => part.iter().for_each(|byte| self.push(lower(*byte))),
        }
    }

    /// As [`OutputBuffer::copy`], with two copies of fixed size if both fit. Use it for parts that are
    /// often longer than one copy, whose length no branch can predict.
    #[inline(always)]
    pub(crate) fn copy_long(&mut self, source: &[u8], start: usize, end: usize) {
        self.copy_two(source, start, end, |byte| byte);
    }

    /// As [`OutputBuffer::copy_long`], with ASCII letters in lower case.
    #[inline(always)]
    pub(crate) fn copy_long_lower(&mut self, source: &[u8], start: usize, end: usize) {
        self.copy_two(source, start, end, lower);
    }

    #[inline(always)]
    fn copy_two(&mut self, source: &[u8], start: usize, end: usize, change: impl Fn(u8) -> u8) {
        let part = &source[start..end];
        if part.len() <= 2 * COPY
            && let Some(bytes) = source[start..].first_chunk::<{ 2 * COPY }>()
            && let Some(room) = self.rest().first_chunk_mut::<{ 2 * COPY }>()
        {
            *room = bytes.map(|byte| MaybeUninit::new(change(byte)));
            self.length += part.len();
        } else {
            // A rare case: a part longer than two copies, or one near the end of `source` or the room.
            part.iter().for_each(|byte| self.push(change(*byte)));
        }
    }

    /// Appends the first `length` bytes of a block.
    ///
    /// # Panics
    ///
    /// If `length` is more than a block; see also [`OutputBuffer::copy`].
    #[inline(always)]
    pub(crate) fn put(&mut self, block: &[u8; COPY], length: usize) {
        assert!(length <= COPY);
        self.write(*block);
        self.length += length;
    }

    /// Overwrites a byte that was written.
    #[inline(always)]
    pub(crate) fn replace(&mut self, at: usize, byte: u8) {
        assert!(at < self.length);
        self.spare[at].write(byte);
    }

    /// Appends one byte.
    #[inline(always)]
    pub(crate) fn push(&mut self, byte: u8) {
        self.extend([byte]);
    }

    /// Appends a few bytes.
    #[inline(always)]
    pub(crate) fn extend<const N: usize>(&mut self, bytes: [u8; N]) {
        self.write(bytes);
        self.length += N;
    }

    /// Drops the bytes written after the first `length`.
    #[inline(always)]
    pub(crate) fn truncate(&mut self, length: usize) {
        assert!(length <= self.length);
        self.length = length;
    }

    /// Makes the written bytes part of the vector.
    #[inline(always)]
    pub(crate) fn finish(self) {
        // SAFETY: the bytes after the vector's own are initialized and within its capacity, by the
        // invariants of `spare` and `length`.
        unsafe { self.out.set_len(self.out.len() + self.length) };
    }

    /// Writes bytes after the written ones, whose number stays.
    #[inline(always)]
    fn write<const N: usize>(&mut self, bytes: [u8; N]) {
        let room = self.rest().first_chunk_mut().expect("room for what was announced");
        *room = bytes.map(MaybeUninit::new);
    }

    /// The reserved bytes after the written ones.
    #[inline(always)]
    fn rest(&mut self) -> &mut [MaybeUninit<u8>] {
        debug_assert!(self.length <= self.spare.len());
        // Each write would check it again, at 1 to 2 % of the instructions of some profiles.
        // SAFETY: `length` is at most that of `spare`, by its invariant.
        unsafe { self.spare.get_unchecked_mut(self.length..) }
    }
}

// Setting bit 5 of the letters without a branch is the form that compilers vectorize.
#[inline(always)]
fn lower(byte: u8) -> u8 {
    byte | (u8::from(byte.is_ascii_uppercase()) << 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slice_of_a_text_is_copied_exactly() {
        let text: Vec<u8> = (0..200).map(|i| b"AbCdE/%?"[i % 8]).collect();
        let step = if cfg!(miri) { 31 } else { 1 };
        for length in (0..=150).step_by(step) {
            for start in (0..=length).step_by(step) {
                // With and without bytes after the part.
                for source in [&text[..], &text[..length]] {
                    let mut out = b"before".to_vec();
                    let mut buffer = OutputBuffer::new(&mut out, length + 6);
                    buffer.push(b'-');
                    buffer.copy(source, start, length);
                    buffer.extend(*b"and");
                    buffer.extend(*b"so");
                    buffer.truncate(buffer.length() - 5);
                    assert_eq!(buffer.written()[1..], text[start..length]);
                    buffer.finish();
                    assert_eq!(out, [b"before-", &text[start..length]].concat());

                    out.clear();
                    let mut buffer = OutputBuffer::new(&mut out, length);
                    buffer.copy_lower(source, start, length);
                    buffer.finish();
                    assert_eq!(out, text[start..length].to_ascii_lowercase());

                    out.clear();
                    // With and without room for long copies.
                    let mut buffer = OutputBuffer::new(
                        &mut out,
                        2 * length + if start % 2 == 0 { 64 } else { 0 },
                    );
                    buffer.copy_long(source, start, length);
                    buffer.copy_long_lower(source, start, length);
                    if start < length {
                        buffer.replace(0, b'!');
                    }
                    buffer.finish();
                    let mut expected = text[start..length].repeat(2);
                    expected[length - start..].make_ascii_lowercase();
                    if let Some(first) = expected.first_mut() {
                        *first = b'!';
                    }
                    assert_eq!(out, expected);
                }
            }
        }
    }

    #[test]
    fn unfinished_output_is_discarded() {
        let mut out = b"before".to_vec();
        OutputBuffer::new(&mut out, 8).extend(*b"12345678");
        assert_eq!(out, b"before");
    }

    #[test]
    #[should_panic(expected = "announced")]
    fn writing_past_the_reserved_bytes_panics() {
        let mut out = Vec::with_capacity(1000);
        let mut buffer = OutputBuffer::new(&mut out, 8);
        for _ in 0..8 + COPY {
            buffer.push(b'1');
        }
        assert_eq!(buffer.length(), 8 + COPY);
        buffer.push(b'2');
    }
}
