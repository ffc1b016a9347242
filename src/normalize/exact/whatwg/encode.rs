//! Percent-encode sets at work.

use crate::bytes::push_encoded;
use crate::profile::whatwg::Place;

/// Appends `bytes`, and encodes those that are not allowed at this place. A percent sign always stays.
pub(super) fn encode(bytes: &[u8], place: Place, out: &mut Vec<u8>) {
    push_encoded(bytes, |byte| place.allows(byte), out);
}
