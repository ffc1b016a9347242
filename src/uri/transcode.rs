//! Triplets from one charset to another.

use std::ops::Range;

use encoding_rs::{Decoder, DecoderResult, EncoderResult, Encoding};

use super::error::{Error, ErrorKind};
use crate::url::{Triplet, push_triplet};

/// A character encoding that agrees with ASCII, as the octets of triplets may be in.
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
    /// The Encoding Standard gives this name to windows-1252, and [`Charset::for_label`] does so too.
    /// They differ in 0x80-0x9F: here those are controls, there mostly punctuation.
    pub const LATIN_1: Charset = Charset(Kind::Latin1);

    /// The charset of this label in the Encoding Standard (section 4.2), in either case.
    ///
    /// `None` for a label that is not there, and for what does not agree with ASCII: UTF-16,
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

    /// Appends `text` in this charset as triplets.
    fn push_triplets(self, text: &str, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
        let mut octets = [0; 32];
        let written = match self.0 {
            Kind::Latin1 => {
                let mut written = 0;
                for (octet, character) in octets.iter_mut().zip(text.chars()) {
                    *octet = u8::try_from(character).map_err(|_| ErrorKind::Unmappable)?;
                    written += 1;
                }
                written
            }
            Kind::Standard(encoding) => {
                let mut encoder = encoding.new_encoder();
                match encoder.encode_from_utf8_without_replacement(text, &mut octets, true) {
                    (EncoderResult::InputEmpty, _, written) => written,
                    _ => return Err(ErrorKind::Unmappable),
                }
            }
        };
        for &octet in &octets[..written] {
            push_triplet(octet, out);
        }
        Ok(())
    }
}

/// Appends `encoded` with its triplets brought from one charset to another.
///
/// ```
/// use uniqurl::uri::{Charset, percent_decode, transcode};
///
/// let mut path = Vec::new();
/// transcode(b"/%F6re%26bro%20", Charset::LATIN_1, Charset::UTF_8, &mut path)?;
/// assert_eq!(path, b"/%C3%B6re%26bro%20");
///
/// let mut text = Vec::new();
/// percent_decode(&path, &mut text)?;
/// assert_eq!(text, "/öre&bro ".as_bytes());
/// # Ok::<(), uniqurl::uri::Error>(())
/// ```
///
/// It acts on one component, or on a whole URI, since no triplet is decoded to stay so: ASCII that
/// stood as itself stays, and what was a triplet comes out as triplets, `%26` as `%26`. So delimiters
/// and data stay what they were (RFC 3986 section 2.2). A raw byte of 0x80 or above, which the grammar
/// does not have, is read as if it were a triplet.
///
/// Where a character takes several octets, ASCII may be one of them, as browsers write it: in
/// `%83n`, Shift_JIS, the `n` belongs to the character, and is no longer there in UTF-8.
///
/// # Errors
///
/// [`ErrorKind::Escape`] at a `%` that starts no triplet, [`ErrorKind::Malformed`] at the first octet
/// of what is no character in `from`, [`ErrorKind::Unmappable`] at one that `to` does not have.
pub fn transcode(
    encoded: &[u8],
    from: Charset,
    to: Charset,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    transcode_each(encoded, from, to, out, |_, _| {})
}

/// As [`transcode`], and tells where each character that was not raw ASCII stood in `encoded` and
/// stands in `out`.
pub(crate) fn transcode_each(
    encoded: &[u8],
    from: Charset,
    to: Charset,
    out: &mut Vec<u8>,
    each: impl FnMut(Range<usize>, Range<usize>),
) -> Result<(), Error> {
    let length = out.len();
    let result = characters(encoded, from, to, out, each);
    if result.is_err() {
        out.truncate(length);
    }
    result
}

fn characters(
    encoded: &[u8],
    from: Charset,
    to: Charset,
    out: &mut Vec<u8>,
    mut each: impl FnMut(Range<usize>, Range<usize>),
) -> Result<(), Error> {
    let mut decoder = from.decoder();
    // A character started at `start` and has octets still to come, unless that is `i`.
    let (mut start, mut i) = (0, 0);
    let mut utf8 = [0; 16];
    while let Some(&byte) = encoded.get(i) {
        let octet = if byte == b'%' {
            let triplet = Triplet::read(&encoded[i..]);
            triplet.ok_or(Error::new(i, ErrorKind::Escape))?.value
        } else {
            byte
        };
        if byte != b'%' && byte < 0x80 && start == i {
            // Between characters, ASCII is itself in every charset here.
            out.push(byte);
            i += 1;
            start = i;
            continue;
        }
        i += if byte == b'%' { 3 } else { 1 };
        let text = decode(&mut decoder, &[octet], &mut utf8)
            .ok_or(Error::new(start, ErrorKind::Malformed))?;
        if !text.is_empty() {
            let before = out.len();
            to.push_triplets(text, out).map_err(|kind| Error::new(start, kind))?;
            each(start..i, before..out.len());
            start = i;
        }
    }
    if start < encoded.len() {
        return Err(Error::new(start, ErrorKind::Malformed));
    }
    Ok(())
}

/// What another octet completes: nothing yet, or a character (in Big5 also one with its accent).
/// None where it cannot be one.
fn decode<'a>(
    decoder: &mut Option<Decoder>,
    octet: &[u8; 1],
    utf8: &'a mut [u8; 16],
) -> Option<&'a str> {
    let Some(decoder) = decoder else {
        return Some(char::from(octet[0]).encode_utf8(utf8));
    };
    match decoder.decode_to_utf8_without_replacement(octet, utf8, false) {
        (DecoderResult::InputEmpty, _, written) => std::str::from_utf8(&utf8[..written]).ok(),
        _ => None,
    }
}
