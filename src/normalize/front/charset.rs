//! Character encodings of triplets, by `encoding_rs`.

use std::ops::Range;

use crate::bytes::{octets, push_triplet};
use encoding_rs::{Decoder, DecoderResult, EncoderResult, Encoding};

/// An ASCII-compatible character encoding, for the octets of triplets.
///
/// ```
/// use uniqurl::uri::Charset;
///
/// assert_eq!(Charset::for_label(b"Shift_JIS").unwrap().name(), "Shift_JIS");
/// assert_eq!(Charset::for_label(b"utf8"), Some(Charset::UTF_8));
/// assert_eq!(Charset::for_label(b"utf-16"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charset(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Latin1,
    Standard(&'static Encoding),
}

impl Charset {
    /// UTF-8, which new schemes write (RFC 3986 section 2.5).
    pub const UTF_8: Charset = Charset(Kind::Standard(encoding_rs::UTF_8));
    /// ISO-8859-1, in which each byte is the code point of the same number.
    ///
    /// The Encoding Standard gives this name to windows-1252, and so does [`Charset::for_label`].
    /// The two differ in 0x80-0x9F: controls in ISO-8859-1, mostly punctuation in windows-1252.
    pub const LATIN_1: Charset = Charset(Kind::Latin1);

    /// The charset of this label in the Encoding Standard (section 4.2), in either case.
    ///
    /// `None` for an unknown label, and for encodings that are not ASCII-compatible: UTF-16,
    /// ISO-2022-JP, the replacement encoding. A URI is ASCII, whatever its triplets are.
    pub fn for_label(label: &[u8]) -> Option<Self> {
        let encoding = Encoding::for_label(label)?;
        encoding.is_ascii_compatible().then_some(Self(Kind::Standard(encoding)))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Latin1 => "ISO-8859-1",
            Kind::Standard(encoding) => encoding.name(),
        }
    }

    fn decoder(self) -> Option<Decoder> {
        match self.0 {
            Kind::Latin1 => None,
            Kind::Standard(encoding) => Some(encoding.new_decoder_without_bom_handling()),
        }
    }

    /// Appends `text` in this charset as triplets. None if the charset lacks a character.
    fn push_triplets(self, text: &str, out: &mut Vec<u8>) -> Option<()> {
        let Kind::Standard(encoding) = self.0 else {
            return text.chars().try_for_each(|c| {
                push_triplet(u8::try_from(c).ok()?, out);
                Some(())
            });
        };
        let (mut octets, mut encoder) = ([0; 32], encoding.new_encoder());
        match encoder.encode_from_utf8_without_replacement(text, &mut octets, true) {
            (EncoderResult::InputEmpty, _, written) => {
                octets[..written].iter().for_each(|octet| push_triplet(*octet, out));
                Some(())
            }
            _ => None,
        }
    }
}

/// The reason why triplets cannot be rewritten, with the offset of the first bad byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CharsetError {
    /// A `%` starts no triplet.
    Escape(usize),
    /// The octets are no character of the source charset.
    Malformed(usize),
    /// The target charset lacks the character.
    Unmappable(usize),
}

/// Appends `encoded` with its triplets rewritten from one charset to another, and calls `each` with
/// the old and the new range of each character that was not raw ASCII. On an error `out` holds a part of
/// the result, which the caller truncates.
pub(crate) fn transcode_each(
    encoded: &[u8],
    from: Charset,
    to: Charset,
    out: &mut Vec<u8>,
    mut each: impl FnMut(Range<usize>, Range<usize>),
) -> Result<(), CharsetError> {
    let mut decoder = from.decoder();
    // The start of a character. If it is before the octet, the character needs more octets.
    let mut start = 0;
    let mut utf8 = [0; 16];
    for octet in octets(encoded) {
        if octet.is_literal(b'%') {
            return Err(CharsetError::Escape(octet.at));
        }
        if !octet.encoded && octet.value < 0x80 && start == octet.at {
            // Between characters, an ASCII byte means the same in every charset here.
            out.push(octet.value);
            start = octet.end();
            continue;
        }
        let text = decode(&mut decoder, octet.value, &mut utf8);
        let text = text.ok_or(CharsetError::Malformed(start))?;
        if !text.is_empty() {
            let before = out.len();
            to.push_triplets(text, out).ok_or(CharsetError::Unmappable(start))?;
            each(start..octet.end(), before..out.len());
            start = octet.end();
        }
    }
    // The text ends inside of a character.
    if start < encoded.len() {
        return Err(CharsetError::Malformed(start));
    }
    Ok(())
}

/// Feeds one octet to the decoder. Returns the character that it completes (in Big5 perhaps with its
/// accent), or an empty string if more octets are needed. `None` if the sequence is malformed.
fn decode<'a>(decoder: &mut Option<Decoder>, octet: u8, utf8: &'a mut [u8; 16]) -> Option<&'a str> {
    let Some(decoder) = decoder else {
        return Some(char::from(octet).encode_utf8(utf8));
    };
    match decoder.decode_to_utf8_without_replacement(&[octet], utf8, false) {
        (DecoderResult::InputEmpty, _, written) => std::str::from_utf8(&utf8[..written]).ok(),
        _ => None,
    }
}
