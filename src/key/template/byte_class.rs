//! The classes of each byte, as bits of one table.

use crate::bytes::set::{self, AsciiSet};

/// A set of classes.
pub(super) type Classes = u16;

pub(super) const DIGIT: Classes = 1;
pub(super) const LOWER: Classes = 1 << 1;
pub(super) const UPPER: Classes = 1 << 2;
/// `A` to `F`, in either case.
pub(super) const HEX_LETTER: Classes = 1 << 3;
/// A byte that is no single literal of RFC 6570: `%` and braces too.
pub(super) const ODD: Classes = 1 << 4;
pub(super) const AT: Classes = 1 << 5;
pub(super) const SEMICOLON: Classes = 1 << 6;
/// Every `eyJ` holds one.
pub(super) const J: Classes = 1 << 7;
pub(super) const COLON: Classes = 1 << 8;
pub(super) const DOT: Classes = 1 << 9;
/// `-` and `_`, which base64url has besides letters and digits.
pub(super) const DASH: Classes = 1 << 10;
pub(super) const EQUALS: Classes = 1 << 11;
/// A letter that is no hexadecimal digit.
pub(super) const OTHER_LETTER: Classes = 1 << 12;
/// A byte of no other class.
pub(super) const OTHER: Classes = 1 << 13;

pub(super) const ALPHA: Classes = LOWER | UPPER;
pub(super) const ALNUM: Classes = ALPHA | DIGIT;

/// A segment without a byte of these classes stands for itself, unless it is long enough for
/// a UUID.
pub(super) const TELLING: Classes = DIGIT | ODD | AT | SEMICOLON | J;

/// The ASCII characters of `literals` (RFC 6570 section 2.1), which are all but controls, space,
/// `"`, `'`, `%`, `<`, `>`, `\`, `^`, the backquote, `{`, `|` and `}`.
const LITERAL: AsciiSet = AsciiSet::range(0x21, 0x7E).without(AsciiSet::of(b"\"'%<>\\^`{|}"));

pub(super) const HEX_DIGITS: AsciiSet =
    set::DIGIT.or(AsciiSet::range(b'a', b'f')).or(AsciiSet::range(b'A', b'F'));

/// Bytes without which a segment or name is no email address, no IPv6 address and no JSON Web Token, has
/// no parameters, and is all literals.
pub(super) const RARE: AsciiSet =
    AsciiSet::range(0, 0x7F).without(LITERAL).or(AsciiSet::of(b"@:;J"));

const CLASSES: [Classes; 256] = {
    let mut all = [ODD; 256];
    let mut byte = 0u8;
    while byte < 0x80 {
        if LITERAL.contains(byte) {
            all[byte as usize] = match byte {
                b'0'..=b'9' => DIGIT,
                b'a'..=b'f' => LOWER | HEX_LETTER,
                b'A'..=b'F' => UPPER | HEX_LETTER,
                b'J' => UPPER | OTHER_LETTER | J,
                b'g'..=b'z' => LOWER | OTHER_LETTER,
                b'G'..=b'I' | b'K'..=b'Z' => UPPER | OTHER_LETTER,
                b'@' => AT,
                b';' => SEMICOLON,
                b':' => COLON,
                b'.' => DOT,
                b'-' | b'_' => DASH,
                b'=' => EQUALS,
                _ => OTHER,
            };
        }
        byte += 1;
    }
    all
};

// Schemes are copied as they stand.
const _: () = assert!(set::SCHEME.is_subset(LITERAL));

/// The classes of a byte.
#[inline]
pub(super) fn classes(byte: u8) -> Classes {
    CLASSES[byte as usize]
}

/// True if the byte is in one of the classes.
#[inline]
pub(super) fn is(byte: u8, any_of: Classes) -> bool {
    classes(byte) & any_of != 0
}

/// The classes of all bytes together.
#[inline]
pub(super) fn classes_of(text: &[u8]) -> Classes {
    text.iter().fold(0, |all, byte| all | classes(*byte))
}

/// The length of the text up to a byte that `ends` it, and the classes of the bytes before.
#[inline]
pub(super) fn scan(text: &[u8], ends: impl Fn(u8) -> bool) -> (usize, Classes) {
    let mut seen = 0;
    for (length, byte) in text.iter().enumerate() {
        if ends(*byte) {
            return (length, seen);
        }
        seen |= classes(*byte);
    }
    (text.len(), seen)
}

/// True if the text is not empty and each byte is in one of the classes.
#[inline]
pub(super) fn all(text: &[u8], any_of: Classes) -> bool {
    !text.is_empty() && text.iter().all(|byte| is(*byte, any_of))
}
