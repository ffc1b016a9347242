//! Percent-encoding of data (RFC 3986 section 2).

use super::error::{Error, ErrorKind};
use crate::bytes::{octets, push_encoded, push_triplet, set};

/// Appends `encoded` with every triplet decoded once (sections 2.1 and 2.4).
///
/// ```
/// use uniqurl::uri::{ErrorKind, percent_decode};
///
/// let mut out = Vec::new();
/// percent_decode(b"/%F6re%26bro%20%2541", &mut out)?;
/// assert_eq!(out, b"/\xF6re&bro %41");
///
/// let error = percent_decode(b"a%4", &mut out).unwrap_err();
/// assert_eq!((error.at, error.kind), (1, ErrorKind::Escape));
/// # Ok::<(), uniqurl::uri::Error>(())
/// ```
///
/// Decode a component after splitting the URI, never the URI: a decoded byte may be a delimiter
/// (section 2.4). The output is bytes, and need not be UTF-8. `transcode` (a feature) converts triplets
/// of another charset to UTF-8.
///
/// # Errors
///
/// [`ErrorKind::Escape`] at a `%` that starts no triplet, including near the end.
pub fn percent_decode(encoded: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let length = out.len();
    for octet in octets(encoded) {
        if octet.is_literal(b'%') {
            out.truncate(length);
            return Err(Error::new(octet.at, ErrorKind::Escape));
        }
        out.push(octet.value);
    }
    Ok(())
}

/// Appends `data`; every byte that is neither unreserved nor in `safe` becomes a triplet (section 2.4:
/// "when a URI is produced from its component parts").
///
/// ```
/// use uniqurl::uri::{Component, allowed_characters, quote};
///
/// let mut out = Vec::new();
/// quote(b"a/b c", b"", &mut out);
/// assert_eq!(out, b"a%2Fb%20c");
///
/// // What the grammar of a path allows stays.
/// out.clear();
/// quote(b"a/b c", allowed_characters(Component::Path), &mut out);
/// assert_eq!(out, b"a/b%20c");
/// ```
///
/// [`unquote`] restores `data`, whatever `safe` is: `%` is always encoded, and so is every byte of 0x80
/// or above. So do not quote data twice; [`Uri::recompose`] keeps triplets.
///
/// [`Uri::recompose`]: super::Uri::recompose
pub fn quote(data: &[u8], safe: &[u8], out: &mut Vec<u8>) {
    let mut is_literal = set::UNRESERVED.table();
    for &byte in safe {
        is_literal[byte as usize] = byte < 0x80 && byte != b'%';
    }
    push_encoded(data, |byte| is_literal[byte as usize], out);
}

/// Reverses [`quote`]. Same as [`percent_decode`], under the name of the pair.
///
/// ```
/// use uniqurl::uri::unquote;
///
/// let mut out = Vec::new();
/// unquote(b"a%2Fb%20c", &mut out)?;
/// assert_eq!(out, b"a/b c");
/// # Ok::<(), uniqurl::uri::Error>(())
/// ```
///
/// # Errors
///
/// [`ErrorKind::Escape`] at a `%` that starts no triplet (section 2.1); `quote` makes none.
pub fn unquote(quoted: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    percent_decode(quoted, out)
}

/// Appends a component: triplets and the bytes of `allowed` stay, every other byte becomes a triplet.
pub(super) fn encode_component(component: &[u8], allowed: set::AsciiSet, out: &mut Vec<u8>) {
    for octet in octets(component) {
        if octet.encoded || allowed.contains(octet.value) {
            out.extend_from_slice(&component[octet.at..octet.end()]);
        } else {
            push_triplet(octet.value, out);
        }
    }
}
