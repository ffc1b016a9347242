//! Packs some bytes of a URL into one number.

/// URL bytes per digit.
pub(super) const BYTES: usize = 13;

/// Mask of the 16 bits below a digit that are free for a number.
pub(super) const BELOW: u128 = 0xFFFF;

/// Greater than any digit, including the number below it.
pub(super) const MORE: u128 = u128::MAX >> FREE;

/// The four bits above the bytes are zero, so that the sign of a difference tells which digit is less.
/// The four bits below the bytes hold their number.
const FREE: u32 = 4;
const LENGTH: u32 = 16;

/// Returns the digit at `depth` of a URL that ends with a line feed. Digits compare like the bytes: a
/// shorter URL comes first. The line feed is searched only within the digit's bytes.
#[inline]
pub(super) fn digit(text: &[u8], depth: usize) -> u128 {
    const FIRST_BITS: u128 = u128::MAX / 0xFF;
    let bytes = sixteen(text.get(depth..).unwrap_or_default());
    // The lowest set bit marks the first zero byte, that is, the first line feed. Bytes after it may be
    // marked wrongly.
    let feeds = u128::from_le_bytes(bytes) ^ (FIRST_BITS * u128::from(b'\n'));
    let zeros = feeds.wrapping_sub(FIRST_BITS) & !feeds & (FIRST_BITS << 7);
    // The usual test for a zero byte: `x - 1` has the highest bit where `x` is 0 or above 0x80, and
    // `!x` leaves the former.
    let length = BYTES.min(zeros.trailing_zeros() as usize / 8);
    cut(&bytes, length)
}

/// Returns the first 16 bytes, padded with line feeds.
#[inline]
fn sixteen(rest: &[u8]) -> [u8; 16] {
    let mut short = [b'\n'; 16];
    match rest.first_chunk() {
        Some(bytes) => *bytes,
        None => {
            short[..rest.len()].copy_from_slice(rest);
            short
        }
    }
}

/// Builds the digit of the first `length` bytes; `length` is at most [`BYTES`].
#[inline]
fn cut(bytes: &[u8; 16], length: usize) -> u128 {
    let kept = u128::from_be_bytes(*bytes) & !(u128::MAX >> (8 * length));
    kept >> FREE | (length as u128) << LENGTH
}

/// A URL that digits are taken from.
pub trait Text<'t>: Copy + Default {
    /// Groups of at most this many equal digits are sorted by comparing all remaining bytes.
    const FEW: usize;

    /// Returns the digit at `depth`. Digits compare like the bytes: a shorter URL comes first.
    fn digit(self, depth: usize) -> u128;

    /// Returns all bytes from `depth` on.
    fn rest(self, depth: usize) -> &'t [u8];
}

/// A URL that ends with a line feed. Searching for the line feed takes time, so `FEW` is 0.
impl<'t> Text<'t> for &'t [u8] {
    const FEW: usize = 0;

    #[inline]
    fn digit(self, depth: usize) -> u128 {
        digit(self, depth)
    }

    fn rest(self, depth: usize) -> &'t [u8] {
        let rest = self.get(depth..).unwrap_or_default();
        &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())]
    }
}

/// A URL of known length, with the bytes after it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Measured<'t> {
    /// The URL, and the bytes after it.
    pub bytes: &'t [u8],
    /// Length of the URL.
    pub len: usize,
}

impl<'t> Measured<'t> {
    /// Creates a URL without bytes after it.
    pub fn whole(url: &'t [u8]) -> Self {
        Self { bytes: url, len: url.len() }
    }
}

impl<'t> Text<'t> for Measured<'t> {
    const FEW: usize = 4;

    #[inline]
    fn digit(self, depth: usize) -> u128 {
        let rest = self.bytes.get(depth..).unwrap_or_default();
        let length = BYTES.min(self.len.saturating_sub(depth));
        cut(&sixteen(rest), length)
    }

    #[inline]
    fn rest(self, depth: usize) -> &'t [u8] {
        self.bytes.get(depth..self.len).unwrap_or_default()
    }
}

/// Returns all ones if `digit` is less than `than`, otherwise 0. A plain comparison of 128 bits
/// compiles to a branch, which is mispredicted half of the time.
#[inline]
pub(super) fn is_less(digit: u128, than: u128) -> usize {
    ((digit.wrapping_sub(than) >> 64) as i64 >> 63) as usize
}

/// Returns the number of URL bytes in a digit.
pub(super) fn length(digit: u128) -> usize {
    (digit >> LENGTH) as usize & 15
}

/// Returns the length of the common prefix of two digits.
pub(super) fn common(one: u128, other: u128) -> usize {
    let equal = ((one ^ other) << FREE).leading_zeros() as usize / 8;
    // Beyond their ends both digits hold zeros, which are equal without being bytes of a URL.
    equal.min(length(one)).min(length(other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_util::cases;

    #[test]
    fn digits_compare_as_the_bytes_do() {
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        let mut digits = Vec::new();
        for _ in 0..cases(300) {
            let mut text: Vec<u8> =
                (0..random(20)).map(|_| b"\0\x09\x0B\x7F\x80\xFFab"[random(8)]).collect();
            text.push(b'\n');
            let url = text.len() - 1;
            // The bytes after the URL must not matter.
            text.extend((0..random(20)).map(|n| n as u8));
            for depth in [0, 1, url, url + 1, 50] {
                let bytes = text[..url].get(depth..).unwrap_or_default();
                let bytes = bytes[..bytes.len().min(BYTES)].to_vec();
                let measured = Measured { bytes: &text, len: url };
                assert_eq!(measured.digit(depth), digit(&text, depth.min(url)));
                assert_eq!(measured.rest(depth), text[..url].rest(depth));
                digits.push((bytes, digit(&text, depth.min(url))));
            }
        }
        for (bytes, digit) in &digits {
            assert_eq!((length(*digit), digit & BELOW), (bytes.len(), 0), "{bytes:?}");
            for (others, other) in &digits {
                assert_eq!(bytes.cmp(others), digit.cmp(other), "{bytes:?} {others:?}");
                let less = if bytes < others { usize::MAX } else { 0 };
                assert_eq!(is_less(*digit, *other), less, "{bytes:?} {others:?}");
                let same = bytes.iter().zip(others).take_while(|(a, b)| a == b).count();
                assert_eq!(common(*digit, *other), same, "{bytes:?} {others:?}");
            }
        }
    }
}
