//! Decoder rings: a table that decides for each byte of a path whether it is decoded or encoded.
//!
//! Wikimedia's caches apply this rule to the path of a request, so that one purge clears all spellings
//! of a page. By RFC 3986 section 2.3 both spellings of an unreserved character are equal. For reserved
//! characters only the site knows, and a ring holds that knowledge.

use std::fmt;
use std::str::FromStr;

use super::ring_lists as lists;
use crate::bytes::set::{AsciiSet, NibbleTable, SUB_DELIMS, UNRESERVED};

/// The action of a ring on a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
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
/// let normalizer = Normalizer::new(&Profile::RING).with_ring(ring)?;
/// let mut out = Vec::new();
/// assert_eq!(normalizer.append(b"/a%2fb%3Ac!%40", &mut out), Ok(()));
/// assert_eq!(out, b"/a/b:c%21%40");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Ring {
    acts: [Act; 256],
    /// The bytes of a clean URL that the ring encodes, including the percent sign.
    encoded: NibbleTable,
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
    /// The text is not a table of numbers from 0 to 2; holds the offset of the fault.
    Table(usize),
    /// The table does not have 256 entries; holds how many it has.
    Entries(usize),
    /// The table has another entry for a byte than every ring.
    Fixed(u8),
}

impl Ring {
    /// A ring that decodes and encodes these bytes.
    ///
    /// # Errors
    ///
    /// If a byte is in both lists, or is not one of ``: / [ ] @ ! $ & ' ( ) * + , ; =``.
    pub const fn new(decode: &[u8], encode: &[u8]) -> Result<Self, RingError> {
        let mut acts = [Act::Leave; 256];
        let mut byte = 0;
        while byte < 256 {
            let b = byte as u8;
            if UNRESERVED.contains(b) {
                acts[byte] = Act::Decode;
            } else if !CUSTOMIZABLE.contains(b) && b != b'?' && b != b'#' {
                acts[byte] = Act::Encode;
            }
            byte += 1;
        }
        let mut i = 0;
        while i < decode.len() {
            if !CUSTOMIZABLE.contains(decode[i]) {
                return Err(RingError::NotCustomizable(decode[i]));
            }
            acts[decode[i] as usize] = Act::Decode;
            i += 1;
        }
        let mut i = 0;
        while i < encode.len() {
            if !CUSTOMIZABLE.contains(encode[i]) {
                return Err(RingError::NotCustomizable(encode[i]));
            }
            if matches!(acts[encode[i] as usize], Act::Decode) {
                return Err(RingError::Both(encode[i]));
            }
            acts[encode[i] as usize] = Act::Encode;
            i += 1;
        }
        let mut encoded = AsciiSet::of(b"");
        let mut byte = 0;
        while byte < 128 {
            if matches!(acts[byte], Act::Encode) {
                encoded = encoded.or(AsciiSet::of(&[byte as u8]));
            }
            byte += 1;
        }
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
    /// Also takes the two parameters of Wikimedia's rule for Apache Traffic Server as they stand in its
    /// configuration: `@pparam="2F"` and `@pparam="21 24"`, or the quoted lists alone. The first is
    /// decoded, the second encoded. A `#` starts a comment, up to the end of the line.
    ///
    /// # Errors
    ///
    /// If the text does not have this form, or the lists do not make a ring.
    ///
    /// ```
    /// use uniqurl::{Ring, RingError};
    ///
    /// let rule = "- '@pparam=\"2F\"'\n- '@pparam=\"21 24\"'";
    /// assert_eq!(Ring::parse(rule), Ring::parse("decode=2F encode=21,24"));
    /// assert_eq!(Ring::parse("decode=2F encode=21,2f"), Err(RingError::Both(b'/')));
    /// assert_eq!(Ring::parse("decode=41"), Err(RingError::NotCustomizable(b'A')));
    /// ```
    pub fn parse(text: &str) -> Result<Self, RingError> {
        let [decode, encode] = lists::parse(text).map_err(RingError::Syntax)?;
        Self::new(&decode, &encode)
    }

    /// A ring with these entries.
    ///
    /// # Errors
    ///
    /// [`RingError::Fixed`] for a byte that is not for a ring to choose.
    pub(super) fn of_acts(acts: &[Act; 256]) -> Result<Self, RingError> {
        let chosen =
            |act| move |byte: &u8| CUSTOMIZABLE.contains(*byte) && acts[*byte as usize] == act;
        let list = |act| (0..=255).filter(chosen(act)).collect::<Vec<u8>>();
        let ring = Self::new(&list(Act::Decode), &list(Act::Encode))?;
        match (0..=255).find(|byte| ring.act(*byte) != acts[*byte as usize]) {
            Some(byte) => Err(RingError::Fixed(byte)),
            None => Ok(ring),
        }
    }

    /// The bytes that the scanner must search for in a URL.
    pub(crate) fn encoded(&self) -> &NibbleTable {
        &self.encoded
    }

    /// The action on each byte.
    pub(crate) fn acts(&self) -> &[Act; 256] {
        &self.acts
    }

    #[inline]
    pub(crate) fn act(&self, byte: u8) -> Act {
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
            RingError::Table(at) => {
                write!(f, "not a table of the numbers 0, 1 and 2 from byte {at} on")
            }
            RingError::Entries(count) => {
                write!(f, "{count} entries, where the table of a ring has 256")
            }
            RingError::Fixed(byte) => write!(
                f,
                "byte {byte:02X} ({}) does not have the entry that it has in every ring: {}",
                named(byte),
                match PLAIN.act(byte) {
                    Act::Encode => "0 (encode)",
                    Act::Decode => "1 (decode)",
                    Act::Leave => "2 (leave)",
                }
            ),
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
}
