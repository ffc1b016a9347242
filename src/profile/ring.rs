//! Decoder rings: a table that decides for each byte of a path whether it is decoded or encoded.
//!
//! Wikimedia's caches apply this rule to the path of a request, so that one purge clears all spellings
//! of a page. By RFC 3986 section 2.3 both spellings of an unreserved character are equal. For reserved
//! characters only the site knows, and a ring holds that knowledge.

use std::fmt;
use std::str::FromStr;

use crate::bytes::set::{AsciiSet, NibbleTable, SUB_DELIMS, UNRESERVED};

/// The action of a ring on a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Both spellings become the byte itself.
    Decode,
    /// Both spellings become the triplet.
    Encode,
    /// Each spelling stays unchanged.
    Leave,
}

/// A table that decides for each byte of a path: decode, encode, or keep the spelling.
///
/// Unreserved characters are always decoded, and bytes that no URL may hold are always encoded. `?` and
/// `#` are always kept. A ring chooses for the sixteen other reserved characters.
///
/// ```
/// use uniqurl::{Normalizer, Profile, Ring};
///
/// let ring = Ring::parse("decode=2F,3A encode=21")?;
/// let normalizer = Normalizer::new(Profile::Ring).with_ring(ring)?;
/// let mut out = Vec::new();
/// assert_eq!(normalizer.append(b"/a%2fb%3Ac!%40", &mut out), Ok(()));
/// assert_eq!(out, b"/a/b:c%21%40");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Ring {
    pub(crate) acts: Acts,
    /// The bytes of a clean URL that the ring encodes, including the percent sign. The scanner searches for
    /// them.
    pub(crate) encoded: NibbleTable,
}

/// For each byte, how a component spells it.
pub(crate) type Acts = [Act; 256];

/// The acts of a component that may hold the bytes of `allowed`. Unreserved characters mean the same in both
/// spellings. Other bytes that the grammar allows do not.
pub(crate) const fn acts(allowed: AsciiSet) -> Acts {
    let mut acts = [Act::Encode; 256];
    let mut byte = 0;
    while byte < 128 {
        if UNRESERVED.contains(byte as u8) {
            acts[byte] = Act::Decode;
        } else if allowed.contains(byte as u8) {
            acts[byte] = Act::Leave;
        }
        byte += 1;
    }
    acts
}

/// The reserved characters of RFC 3986 section 2.2 without `?` and `#`, which end a path.
pub(crate) const CUSTOMIZABLE: AsciiSet = SUB_DELIMS.or(AsciiSet::of(b":/[]@"));

/// No choices: every reserved character keeps its spelling.
pub(crate) const PLAIN: Ring = Ring::built_in(b"", b"");
/// Titles of MediaWiki pages. Both spellings of a slash are a slash.
pub(crate) const MEDIAWIKI: Ring = Ring::built_in(b":/@!$()*,;", b"[]&'+=");
/// Paths of RESTBase, where an encoded slash is part of a title, not a separator.
pub(crate) const RESTBASE: Ring = Ring::built_in(b":@!$()*,;", b"[]&'+=");
/// Names of uploaded files.
pub(crate) const UPLOAD: Ring = Ring::built_in(b"/", b":[]@!$&'()*+,;=");

/// Why two lists do not make a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RingError {
    /// The byte is in both lists.
    Both(u8),
    /// A ring may not choose for this byte.
    NotCustomizable(u8),
    /// The text is not `decode=HEX,... encode=HEX,...`; holds the offset of the fault.
    Syntax(usize),
}

impl Ring {
    /// A ring that decodes and encodes these bytes.
    ///
    /// # Errors
    ///
    /// If a byte is in both lists, or is not one of ``: / [ ] @ ! $ & ' ( ) * + , ; =``.
    pub const fn new(decode: &[u8], encode: &[u8]) -> Result<Self, RingError> {
        let mut acts = acts(CUSTOMIZABLE.or(AsciiSet::of(b"?#")));
        let lists = [(decode, Act::Decode), (encode, Act::Encode)];
        // A constant function has no `for`.
        let mut list = 0;
        while list < lists.len() {
            let (mut bytes, act) = lists[list];
            while let [byte, rest @ ..] = bytes {
                let known = &mut acts[*byte as usize];
                if !CUSTOMIZABLE.contains(*byte) {
                    return Err(RingError::NotCustomizable(*byte));
                }
                if matches!((*known, act), (Act::Decode, Act::Encode)) {
                    return Err(RingError::Both(*byte));
                }
                *known = act;
                bytes = rest;
            }
            list += 1;
        }
        let fixed = UNRESERVED.or(CUSTOMIZABLE).or(AsciiSet::of(b"?#"));
        // Bytes of 0x80 and above are found by the scanner anyway.
        let encoded = AsciiSet::range(0, 0x7F).without(fixed).or(AsciiSet::of(encode));
        Ok(Self { acts, encoded: NibbleTable::new(encoded) })
    }

    /// A built-in ring. The compiler checks that its lists are disjoint.
    const fn built_in(decode: &[u8], encode: &[u8]) -> Self {
        match Self::new(decode, encode) {
            Ok(ring) => ring,
            Err(_) => panic!("the lists of a built-in ring are disjoint and customizable"),
        }
    }

    /// Parses `decode=2F,3A encode=21,24`: bytes in hexadecimal. Each list is optional. Commas, blanks and
    /// quotation marks may stand anywhere between.
    ///
    /// # Errors
    ///
    /// If the text does not have this form, or the lists do not make a ring.
    ///
    /// ```
    /// use uniqurl::{Ring, RingError};
    ///
    /// assert_eq!(Ring::parse("decode='2F' encode='21 24'"), Ring::new(b"/", b"!$"));
    /// assert_eq!(Ring::parse("decode=2F encode=21,2f"), Err(RingError::Both(b'/')));
    /// assert_eq!(Ring::parse("decode=41"), Err(RingError::NotCustomizable(b'A')));
    /// ```
    pub fn parse(text: &str) -> Result<Self, RingError> {
        let [decode, encode] = parse_lists(text).map_err(RingError::Syntax)?;
        Self::new(&decode, &encode)
    }

    /// The action of the ring on a byte.
    #[doc(hidden)]
    #[inline]
    pub fn act(&self, byte: u8) -> Act {
        self.acts[byte as usize]
    }

    /// The customizable bytes that the ring decodes, and those it encodes, in order.
    #[cfg(feature = "profile-file")]
    pub(crate) fn lists(&self) -> [Vec<u8>; 2] {
        [Act::Decode, Act::Encode].map(|act| self.bytes(act).collect())
    }

    /// The customizable bytes with this action, in order.
    fn bytes(&self, act: Act) -> impl Iterator<Item = u8> {
        (0..=255).filter(move |&byte| CUSTOMIZABLE.contains(byte) && self.act(byte) == act)
    }
}

/// The bytes to decode and those to encode. The error is the offset of the fault.
fn parse_lists(text: &str) -> Result<[Vec<u8>; 2], usize> {
    let is_between = |char: char| matches!(char, ',' | '"' | '\'') || char.is_ascii_whitespace();
    let mut lists = [None, None];
    let (mut open, mut next) = (None, 0);
    for word in text.split(is_between) {
        let mut at = next;
        // What stands between two words is ASCII.
        next += word.len() + 1;
        let mut digits = word;
        if let Some((name, first)) = word.split_once('=') {
            let list = ["decode", "encode"].iter().position(|known| *known == name).ok_or(at)?;
            if lists[list].replace(Vec::new()).is_some() {
                return Err(at);
            }
            (open, digits) = (Some(list), first);
            at += name.len() + 1;
        }
        if !digits.is_empty() {
            let list: usize = open.ok_or(at)?;
            lists[list].get_or_insert_default().push(hex(digits).ok_or(at)?);
        }
    }
    Ok(lists.map(Option::unwrap_or_default))
}

/// The byte that two hexadecimal digits spell.
fn hex(digits: &str) -> Option<u8> {
    let is_hex = digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u8::from_str_radix(digits, 16).ok())?
}

/// Prints the form that [`Ring::parse`] reads.
impl fmt::Display for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, act) in [("decode=", Act::Decode), (" encode=", Act::Encode)] {
            f.write_str(name)?;
            for (i, byte) in self.bytes(act).enumerate() {
                write!(f, "{}{byte:02X}", if i == 0 { "" } else { "," })?;
            }
        }
        Ok(())
    }
}

/// Same as [`Ring::parse`].
impl FromStr for Ring {
    type Err = RingError;

    fn from_str(text: &str) -> Result<Self, RingError> {
        Self::parse(text)
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ring({self})")
    }
}

impl fmt::Display for RingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |byte: u8| byte.escape_ascii();
        match *self {
            RingError::Both(byte) => {
                write!(f, "byte {byte:02X} ({}) is to be decoded and encoded", named(byte))
            }
            RingError::NotCustomizable(byte) => write!(
                f,
                "a ring cannot choose byte {byte:02X} ({}) (expected one of : / [ ] @ ! $ & ' ( ) * + , ; =)",
                named(byte)
            ),
            RingError::Syntax(at) => {
                write!(f, "not of the form decode=2F,3A encode=21,24 from byte {at} on")
            }
        }
    }
}

impl std::error::Error for RingError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_sixteen_bytes_are_customizable() {
        let customizable = (0..=255u8).filter(|byte| Ring::new(&[*byte], b"").is_ok());
        assert_eq!(customizable.count(), 16);
        for byte in 0..=255u8 {
            let error = RingError::NotCustomizable(byte);
            match Ring::new(b"", &[byte]) {
                Ok(ring) => assert_eq!(ring.act(byte), Act::Encode),
                Err(refused) => assert_eq!(refused, error),
            }
        }
    }

    #[test]
    fn error_for_overlapping_lists_names_the_byte() {
        for byte in (0..=255u8).filter(|byte| CUSTOMIZABLE.contains(*byte)) {
            let other = if byte == b'/' { b':' } else { b'/' };
            assert_eq!(Ring::new(&[other, byte], &[byte]), Err(RingError::Both(byte)));
            let message = RingError::Both(byte).to_string();
            assert!(message.contains(&format!("{byte:02X}")), "{message}");
        }
    }

    #[test]
    fn ring_round_trips_through_its_text() {
        for ring in [PLAIN, MEDIAWIKI, RESTBASE, UPLOAD] {
            assert_eq!(Ring::parse(&ring.to_string()), Ok(ring));
        }
        assert_eq!(Ring::parse("encode=21"), Ok(Ring::new(b"", b"!").unwrap()));
        assert_eq!(Ring::parse(" decode=2f,2F "), Ok(Ring::new(b"/", b"").unwrap()));
        assert_eq!(Ring::parse(""), Ok(PLAIN));
    }

    #[test]
    fn lists_may_hold_commas_blanks_and_quotation_marks() {
        for text in ["decode=\"2F\" encode=\"21 24\"", "encode=,21\t24,, decode='2f'\n"] {
            assert_eq!(Ring::parse(text), Ring::new(b"/", b"!$"), "{text}");
        }
        for text in ["", " ,\n", "decode=", "encode=''"] {
            assert_eq!(Ring::parse(text), Ok(PLAIN), "{text}");
        }
    }

    #[test]
    fn malformed_ring_is_an_error_with_its_position() {
        for (text, at) in [
            ("decode", 0),
            ("decode=2", 7),
            ("decode=2F,+1", 10),
            ("decode=2F,\u{e9}\u{e9}", 10),
            ("decode=2F encod=21", 10),
            ("decode=2F decode=3A", 10),
            ("decode==2F", 7),
            ("decode=2F3A", 7),
            ("decode=%2F", 7),
            ("2F", 0),
            ("@pparam=\"2F\"", 0),
        ] {
            assert_eq!(Ring::parse(text), Err(RingError::Syntax(at)), "{text}");
        }
    }
}
