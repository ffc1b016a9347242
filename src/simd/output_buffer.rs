//! Writes one URL after the contents of a vector, in copies of a fixed size.
//!
//! Small copies dominate the time of a dirty URL: each is a call, and each mispredicts the length. Here
//! a copy of up to 64 bytes is one load and one store (or a few), whatever its length. Bytes beyond the
//! length are overwritten by the next copy, or never read.

/// Bytes of one copy.
const COPY: usize = 64;

/// Spare capacity of a vector, whose own bytes stay unchanged until [`OutputBuffer::finish`].
pub(crate) struct OutputBuffer<'a> {
    out: &'a mut Vec<u8>,
    /// Points directly after the vector's own bytes, within its capacity.
    start: *mut u8,
    /// Bytes written after the vector's own, which are initialized and within its capacity.
    length: usize,
    /// Bytes that can be written at `start`: at most the spare capacity less [`COPY`].
    room: usize,
}

impl<'a> OutputBuffer<'a> {
    /// Reserves space for `room` bytes.
    #[inline(always)]
    pub(crate) fn new(out: &'a mut Vec<u8>, room: usize) -> Self {
        // `COPY` more than announced, so that a copy of fixed size may start at any byte.
        out.reserve(room.saturating_add(COPY));
        let start = out.spare_capacity_mut().as_mut_ptr().cast();
        Self { out, start, length: 0, room }
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
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    /// Appends `source[start..end]`.
    ///
    /// # Panics
    ///
    /// If the range lies outside `source` or does not fit the room. The other methods that write panic
    /// likewise.
    #[inline(always)]
    pub(crate) fn copy(&mut self, source: &[u8], start: usize, end: usize) {
        let part = &source[start..end];
        self.take_room(part.len());
        // A load may go past the part, but not past `source`.
        if part.len() <= COPY && source.len() - start >= COPY {
            // SAFETY: from `start` on, `source` holds COPY bytes, and so does the room, as
            // `take_room` made sure. The pointer is that of `source`, since that of `part` may be read
            // up to the end of `part` alone.
            unsafe {
                let bytes = source.as_ptr().add(start).cast::<[u8; COPY]>().read();
                self.end().cast::<[u8; COPY]>().write(bytes);
            }
        } else {
            // SAFETY: `take_room` made sure that as many bytes as `part` has fit; a slice and the
            // room of a vector that is borrowed alone do not overlap.
            unsafe { self.end().copy_from_nonoverlapping(part.as_ptr(), part.len()) };
        }
        self.length += part.len();
    }

    /// As [`OutputBuffer::copy`], with ASCII letters in lower case.
    #[inline(always)]
    pub(crate) fn copy_lower(&mut self, source: &[u8], start: usize, end: usize) {
        // Setting bit 5 of the letters without a branch is the form that compilers vectorize.
        let lower = |byte: u8| byte | (u8::from(byte.is_ascii_uppercase()) << 5);
        let part = &source[start..end];
        if part.len() <= COPY && source.len() - start >= COPY {
            self.take_room(part.len());
            // SAFETY: as in `copy`.
            unsafe {
                let bytes = source.as_ptr().add(start).cast::<[u8; COPY]>().read();
                self.end().cast::<[u8; COPY]>().write(bytes.map(lower));
            }
            self.length += part.len();
        } else {
            // A rare case: a long part, or one near the end of `source`.
            for byte in part {
                self.push(lower(*byte));
            }
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
        self.copy_two(source, start, end, |byte| byte | (u8::from(byte.is_ascii_uppercase()) << 5));
    }

    #[inline(always)]
    fn copy_two(&mut self, source: &[u8], start: usize, end: usize, change: impl Fn(u8) -> u8) {
        let part = &source[start..end];
        if part.len() <= 2 * COPY
            && source.len() - start >= 2 * COPY
            && self.room - self.length >= COPY.max(part.len())
        {
            for at in [0, COPY] {
                // SAFETY: from `start` on, `source` holds twice COPY bytes; so does the reserved
                // memory, since the room holds COPY more, and another COPY was reserved after it.
                unsafe {
                    let bytes = source.as_ptr().add(start + at).cast::<[u8; COPY]>().read();
                    self.end().add(at).cast::<[u8; COPY]>().write(bytes.map(&change));
                }
            }
            self.length += part.len();
        } else {
            // A rare case: a part longer than two copies, or one near the end of `source` or the room.
            for byte in part {
                self.push(change(*byte));
            }
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
        self.take_room(length);
        // SAFETY: `take_room` made sure that COPY bytes fit.
        unsafe { self.end().cast::<[u8; COPY]>().write(*block) };
        self.length += length;
    }

    /// Overwrites a byte that was written.
    #[inline(always)]
    pub(crate) fn replace(&mut self, at: usize, byte: u8) {
        assert!(at < self.length);
        // SAFETY: the byte there was written, by the assertion and the invariant of `length`.
        unsafe { self.start.add(at).write(byte) };
    }

    /// Appends one byte.
    #[inline(always)]
    pub(crate) fn push(&mut self, byte: u8) {
        self.extend([byte]);
    }

    /// Appends a few bytes.
    #[inline(always)]
    pub(crate) fn extend<const N: usize>(&mut self, bytes: [u8; N]) {
        self.take_room(N);
        // SAFETY: `take_room` made sure that N bytes fit.
        unsafe { self.end().cast::<[u8; N]>().write(bytes) };
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
        // invariant of `length`.
        unsafe { self.out.set_len(self.out.len() + self.length) };
    }

    /// Panics unless `length` more bytes fit. Then COPY bytes fit too.
    #[inline(always)]
    fn take_room(&self, length: usize) {
        assert!(length <= self.room - self.length, "room for what was announced");
    }

    /// Where the next byte goes.
    #[inline(always)]
    fn end(&self) -> *mut u8 {
        // SAFETY: the written bytes are within the capacity, by the invariant of `length`.
        unsafe { self.start.add(self.length) }
    }
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
    fn writing_past_the_reserved_length_panics() {
        let mut out = Vec::with_capacity(1000);
        let mut buffer = OutputBuffer::new(&mut out, 8);
        buffer.extend(*b"12345678");
        buffer.push(b'9');
    }
}
