//! A short URL with room behind it, so that parts of it are copied by vectors of a fixed size.
//!
//! Most of the time that a dirty URL takes goes into small copies: a call each, and in each a guess
//! at the length. Here a copy of up to 64 bytes is one load and one store (or a few), whatever the
//! length; what they copy beyond it is overwritten by the next copy or never looked at.

/// Longest URL that fits.
pub(crate) const LONGEST: usize = 128;
/// Bytes of one copy.
const COPY: usize = 64;
/// Bytes of a window: from any byte of a URL on, a copy stays inside.
pub(super) const SIZE: usize = LONGEST + COPY;

/// A buffer for the window of a URL that has no room behind it where it stands; most have.
#[derive(Default)]
pub(crate) struct Room(Option<[u8; SIZE]>);

/// A URL of at most [`LONGEST`] bytes, readable for [`COPY`] bytes from each of its bytes on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window<'a>(&'a [u8; SIZE]);

impl<'a> Window<'a> {
    /// The URL `bytes[start..end]` where it stands, if there is room behind it, or copied to `room`.
    #[inline]
    pub(crate) fn new(
        bytes: &'a [u8],
        start: usize,
        end: usize,
        room: &'a mut Room,
    ) -> Option<Self> {
        let url = &bytes[start..end];
        if url.len() > LONGEST {
            return None;
        }
        if let Some(window) = bytes[start..].first_chunk() {
            return Some(Self(window));
        }
        let copy = room.0.insert([0; SIZE]);
        copy[..url.len()].copy_from_slice(url);
        Some(Self(copy))
    }

    /// Appends `length` bytes from `start` on to `out`.
    ///
    /// # Panics
    ///
    /// When they go beyond the longest URL.
    #[inline(always)]
    pub(crate) fn append(self, start: usize, length: usize, out: &mut Vec<u8>) {
        self.copy(start, length, out, |bytes| bytes);
    }

    /// The same, ASCII letters in lower case.
    #[inline(always)]
    pub(crate) fn append_lower(self, start: usize, length: usize, out: &mut Vec<u8>) {
        // Setting bit 5 of the letters alone, without a branch, is what compilers make vectors of.
        self.copy(start, length, out, |bytes| {
            bytes.map(|byte| byte | (u8::from(byte.is_ascii_uppercase()) << 5))
        });
    }

    #[inline(always)]
    fn copy(
        self,
        start: usize,
        length: usize,
        out: &mut Vec<u8>,
        change: impl Fn([u8; COPY]) -> [u8; COPY],
    ) {
        assert!(start <= LONGEST && length <= LONGEST - start, "a part of a URL");
        out.reserve(length + COPY);
        let mut done = 0;
        while done < length {
            // SAFETY: start + done is below LONGEST (start + length is at most that, and done is
            // below length), so COPY bytes from there on are inside the window.
            let bytes = unsafe { self.0.as_ptr().add(start + done).cast::<[u8; COPY]>().read() };
            // SAFETY: done is below length, and length + COPY bytes were reserved behind the end.
            unsafe {
                out.as_mut_ptr().add(out.len() + done).cast::<[u8; COPY]>().write(change(bytes))
            };
            done += COPY;
        }
        // SAFETY: the loop wrote at least `length` bytes behind the end, within what was reserved.
        unsafe { out.set_len(out.len() + length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_every_url_is_copied_as_it_stands() {
        let text: Vec<u8> = (0..200).map(|i| b"AbCdE/%?"[i % 8]).collect();
        let step = if cfg!(miri) { 32 } else { 1 };
        for length in (0..=LONGEST).step_by(step) {
            for start in (0..=length).step_by(step) {
                // With room behind it, and without.
                for bytes in [&text[..], &text[..length]] {
                    let mut room = Room::default();
                    let window = Window::new(bytes, 0, length, &mut room).unwrap();
                    let mut out = b"before".to_vec();
                    window.append(start, length - start, &mut out);
                    assert_eq!(out, [b"before", &text[start..length]].concat());
                    out.clear();
                    window.append_lower(start, length - start, &mut out);
                    assert_eq!(out, text[start..length].to_ascii_lowercase());
                }
            }
        }
        assert!(Window::new(&text, 0, LONGEST + 1, &mut Room::default()).is_none());
    }
}
