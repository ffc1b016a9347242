//! Percent triplets (RFC 3986 section 2.1).

use std::borrow::Cow;
use std::iter;

use super::set::UNRESERVED;

/// A triplet, `pct-encoded = "%" HEXDIG HEXDIG`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Triplet {
    pub(crate) value: u8,
    /// True if both digits are in upper case.
    pub(crate) upper: bool,
}

impl Triplet {
    /// Reads the triplet at the start of `bytes`.
    #[inline]
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let &[b'%', high, low, ..] = bytes else {
            return None;
        };
        let (high, low) = (HEX[high as usize], HEX[low as usize]);
        if high == 255 || low == 255 {
            return None;
        }
        Some(Self { value: (high & 15) << 4 | low & 15, upper: (high | low) & 16 == 0 })
    }

    /// True if normalization keeps the triplet: section 6.2.2.
    #[inline]
    pub(crate) fn is_canonical(self) -> bool {
        self.upper && !is_unreserved(self.value)
    }

    /// True if `bytes` start with a triplet that normalization keeps.
    #[inline]
    pub(crate) fn is_canonical_at_start(bytes: &[u8]) -> bool {
        Self::read(bytes).is_some_and(Self::is_canonical)
    }
}

/// An octet of a text, spelled as itself or as a triplet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Octet {
    pub(crate) value: u8,
    /// The offset of its spelling.
    pub(crate) at: usize,
    /// True if it is spelled as a triplet.
    pub(crate) encoded: bool,
}

impl Octet {
    /// The offset after its spelling.
    #[inline]
    pub(crate) fn end(self) -> usize {
        self.at + if self.encoded { 3 } else { 1 }
    }

    /// True if it is spelled as itself: `%` only where it starts no triplet.
    #[inline]
    pub(crate) fn is_literal(self, byte: u8) -> bool {
        !self.encoded && self.value == byte
    }
}

/// The octets of a text. No two triplets overlap, since `%` is no digit.
#[inline]
pub(crate) fn octets(text: &[u8]) -> impl Iterator<Item = Octet> {
    let mut at = 0;
    iter::from_fn(move || {
        let rest = &text[at..];
        let triplet = Triplet::read(rest);
        let value = triplet.map_or(*rest.first()?, |triplet| triplet.value);
        let octet = Octet { value, at, encoded: triplet.is_some() };
        at = octet.end();
        Some(octet)
    })
}

/// The text with its triplets decoded.
pub(crate) fn decoded(text: &[u8]) -> Cow<'_, [u8]> {
    match memchr::memchr(b'%', text) {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(octets(text).map(|octet| octet.value).collect()),
    }
}

/// Writes `byte` as a triplet with digits in upper case (section 6.2.2.1).
#[inline]
pub(crate) fn triplet_of(byte: u8) -> [u8; 3] {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    [b'%', DIGITS[(byte >> 4) as usize], DIGITS[(byte & 15) as usize]]
}

/// Appends `byte` as a triplet.
#[inline]
pub(crate) fn push_triplet(byte: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&triplet_of(byte));
}

/// Appends a text in which no triplet is read: every byte that is not literal becomes a triplet, and so does
/// `%` unless it is literal.
pub(crate) fn push_encoded(text: &[u8], is_literal: impl Fn(u8) -> bool, out: &mut Vec<u8>) {
    push_encoded_as(triplet_of, text, is_literal, out);
}

/// The same with triplets in the spelling of `triplet_of`.
pub(crate) fn push_encoded_as(
    triplet_of: fn(u8) -> [u8; 3],
    text: &[u8],
    is_literal: impl Fn(u8) -> bool,
    out: &mut Vec<u8>,
) {
    let mut rest = text;
    while let Some(next) = rest.iter().position(|byte| !is_literal(*byte)) {
        out.extend_from_slice(&rest[..next]);
        out.extend_from_slice(&triplet_of(rest[next]));
        rest = &rest[next + 1..];
    }
    out.extend_from_slice(rest);
}

/// True if `byte` means the same encoded and literally.
#[inline]
pub(crate) fn is_unreserved(byte: u8) -> bool {
    IS_UNRESERVED[byte as usize]
}

/// The value of each hexadecimal digit, plus 16 for lower case, so that `A` and `a` differ; 255 for
/// every other byte.
const HEX: [u8; 256] = {
    let mut hex = [255; 256];
    let mut value = 0;
    while value < 16 {
        hex[b"0123456789ABCDEF"[value] as usize] = value as u8;
        if value >= 10 {
            hex[b"0123456789abcdef"[value] as usize] = 16 + value as u8;
        }
        value += 1;
    }
    hex
};

/// For each byte, whether it means the same encoded and literally (section 2.3).
const IS_UNRESERVED: [bool; 256] = UNRESERVED.table();
