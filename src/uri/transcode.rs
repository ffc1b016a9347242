//! Triplets of one charset rewritten in another.

use super::error::{Error, ErrorKind};
use crate::normalize::{Charset, CharsetError, transcode_each};

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
    transcode_each(encoded, from, to, out, |_, _| {}).map_err(|error| match error {
        CharsetError::Escape(at) => Error::new(at, ErrorKind::Escape),
        CharsetError::Malformed(at) => Error::new(at, ErrorKind::Malformed),
        CharsetError::Unmappable(at) => Error::new(at, ErrorKind::Unmappable),
    })
}
