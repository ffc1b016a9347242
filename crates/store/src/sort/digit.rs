//! Some bytes of a URL as one number.

/// Bytes of a digit.
pub(super) const BYTES: usize = 13;

/// What has room below a digit: a number of sixteen bits.
pub(super) const BELOW: u128 = 0xFFFF;

/// More than any digit, with what is below.
pub(super) const MORE: u128 = u128::MAX >> FREE;

/// Four bits are free above the bytes, so that the sign of a difference says which digit is less, and
/// four below them say how many bytes there were.
const FREE: u32 = 4;
const LENGTH: u32 = 16;

/// The bytes from `depth` on of a URL that a line feed ends, so that digits compare as the bytes do: a
/// shorter one first. The end is looked for in these bytes alone.
#[inline]
pub(super) fn digit(text: &[u8], depth: usize) -> u128 {
    const FIRST_BITS: u128 = u128::MAX / 0xFF;
    let bytes = sixteen(text.get(depth..).unwrap_or_default());
    // The first byte that is zero here has its top bit set, and none before it has.
    let feeds = u128::from_le_bytes(bytes) ^ (FIRST_BITS * u128::from(b'\n'));
    let zeros = feeds.wrapping_sub(FIRST_BITS) & !feeds & (FIRST_BITS << 7);
    let length = BYTES.min(zeros.trailing_zeros() as usize / 8);
    cut(&bytes, length)
}

/// The first bytes, and line feeds behind the last.
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

/// The digit of so many of these bytes, [`BYTES`] at most.
#[inline]
fn cut(bytes: &[u8; 16], length: usize) -> u128 {
    let kept = u128::from_be_bytes(*bytes) & !(u128::MAX >> (8 * length));
    kept >> FREE | (length as u128) << LENGTH
}

/// What digits are made of.
pub trait Text<'t>: Copy + Default {
    /// So few that are still equal are compared by all of their bytes.
    const FEW: usize;

    /// The bytes from `depth` on, so that digits compare as the bytes do: a shorter one first.
    fn digit(self, depth: usize) -> u128;

    /// All bytes from `depth` on.
    fn rest(self, depth: usize) -> &'t [u8];
}

/// A URL that a line feed ends, which it takes time to look for.
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

/// A URL whose length is known, and what stands behind it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Measured<'t> {
    /// The URL, and the bytes after it.
    pub bytes: &'t [u8],
    /// Length of the URL.
    pub len: usize,
}

impl<'t> Measured<'t> {
    /// With nothing behind it.
    pub fn whole(url: &'t [u8]) -> Self {
        Self { bytes: url, len: url.len() }
    }

    /// The URL alone.
    #[inline]
    pub fn url(self) -> &'t [u8] {
        &self.bytes[..self.len]
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

/// All bits where the first is less, and none else. A comparison of 128 bits becomes a jump, which is
/// guessed wrong every other time.
#[inline]
pub(super) fn is_less(digit: u128, than: u128) -> usize {
    ((digit.wrapping_sub(than) >> 64) as i64 >> 63) as usize
}

/// How many bytes there were.
pub(super) fn length(digit: u128) -> usize {
    (digit >> LENGTH) as usize & 15
}

/// How many bytes both begin with.
pub(super) fn common(one: u128, other: u128) -> usize {
    let equal = ((one ^ other) << FREE).leading_zeros() as usize / 8;
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
            // What stands behind it is of no account.
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
