//! Converts triplets from one charset to another.

use super::error::{Error, ErrorKind};
use crate::normalize::{Charset, CharsetError, transcode_each};

/// Appends `encoded` with its triplets converted from one charset to another.
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
/// It works on one component or on a whole URI, since no triplet is left decoded: literal ASCII stays,
/// and triplets become triplets, `%26` to `%26`. So delimiters and data keep their roles (RFC 3986
/// section 2.2). A raw byte of 0x80 or above, which the grammar does not allow, is read like a triplet.
///
/// If a character takes several octets, one may be literal ASCII, as browsers write it: in the
/// Shift_JIS `%83n`, the `n` belongs to the character, and disappears in UTF-8.
///
/// # Errors
///
/// [`ErrorKind::Escape`] at a `%` that starts no triplet, [`ErrorKind::Malformed`] at the first octet
/// that starts no character of `from`, [`ErrorKind::Unmappable`] at a character that `to` lacks.
pub fn transcode(
    encoded: &[u8],
    from: Charset,
    to: Charset,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let length = out.len();
    transcode_each(encoded, from, to, out, |_, _| {}).map_err(|error| {
        out.truncate(length);
        match error {
            CharsetError::Escape(at) => Error::new(at, ErrorKind::Escape),
            CharsetError::Malformed(at) => Error::new(at, ErrorKind::Malformed),
            CharsetError::Unmappable(at) => Error::new(at, ErrorKind::Unmappable),
        }
    })
}
