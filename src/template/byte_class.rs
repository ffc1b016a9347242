//! The classes of each byte, as bits of one table.

use crate::bytes::set::{self, AsciiSet};

pub(super) const DIGIT: u8 = 1;
pub(super) const LOWER: u8 = 2;
pub(super) const UPPER: u8 = 4;
/// `A` to `F`, in either case.
pub(super) const HEX_LETTER: u8 = 8;
/// A byte that is no single literal of RFC 6570: `%` and braces too.
pub(super) const ODD: u8 = 16;
pub(super) const AT: u8 = 32;
pub(super) const SEMICOLON: u8 = 64;
/// Every `eyJ` holds one.
pub(super) const J: u8 = 128;

pub(super) const ALPHA: u8 = LOWER | UPPER;
pub(super) const ALNUM: u8 = ALPHA | DIGIT;

/// A segment without a byte of these classes stands for itself, unless it is a locale or long enough
/// for a UUID.
pub(super) const TELLING: u8 = DIGIT | ODD | AT | SEMICOLON | J;

/// The ASCII characters of `literals` (RFC 6570 section 2.1), which are all but controls, space,
/// `"`, `'`, `%`, `<`, `>`, `\`, `^`, the backquote, `{`, `|` and `}`.
const LITERAL: AsciiSet = AsciiSet::range(0x21, 0x7E).without(AsciiSet::of(b"\"'%<>\\^`{|}"));

const CLASSES: [u8; 256] = {
    let mut classes = [ODD; 256];
    let mut byte = 0u8;
    while byte < 0x80 {
        let mut class = if LITERAL.contains(byte) { 0 } else { ODD };
        class |= match byte {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'f' => LOWER | HEX_LETTER,
            b'A'..=b'F' => UPPER | HEX_LETTER,
            b'J' => UPPER | J,
            b'@' => AT,
            b';' => SEMICOLON,
            _ if byte.is_ascii_lowercase() => LOWER,
            _ if byte.is_ascii_uppercase() => UPPER,
            _ => 0,
        };
        classes[byte as usize] = class;
        byte += 1;
    }
    classes
};

// Schemes are copied as they stand.
const _: () = assert!(set::SCHEME.is_subset(LITERAL));

/// The classes of a byte.
#[inline]
pub(super) fn classes(byte: u8) -> u8 {
    CLASSES[byte as usize]
}

/// True if the byte is in one of the classes.
#[inline]
pub(super) fn is(byte: u8, any_of: u8) -> bool {
    classes(byte) & any_of != 0
}

/// The classes of all bytes together.
#[inline]
pub(super) fn classes_of(text: &[u8]) -> u8 {
    text.iter().fold(0, |all, byte| all | classes(*byte))
}

/// True if the text is not empty and each byte is in one of the classes.
#[inline]
pub(super) fn all(text: &[u8], any_of: u8) -> bool {
    !text.is_empty() && text.iter().all(|byte| is(*byte, any_of))
}
