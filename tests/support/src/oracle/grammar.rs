//! The character rules of Appendix A, and the check of a component against one of them.

use super::Trouble;
use super::parts::Piece;

/// `unreserved = ALPHA / DIGIT / "-" / "." / "_" / "~"`
pub fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// `sub-delims = "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ";" / "="`
pub fn is_sub_delim(byte: u8) -> bool {
    b"!$&'()*+,;=".contains(&byte)
}

/// `reg-name = *( unreserved / pct-encoded / sub-delims )`, triplets apart.
pub fn is_reg_name_byte(byte: u8) -> bool {
    is_unreserved(byte) || is_sub_delim(byte)
}

/// `userinfo = *( unreserved / pct-encoded / sub-delims / ":" )`, triplets apart.
pub fn is_userinfo_byte(byte: u8) -> bool {
    is_reg_name_byte(byte) || byte == b':'
}

/// `pchar = unreserved / pct-encoded / sub-delims / ":" / "@"`, triplets apart, and the `/` between segments.
pub fn is_path_byte(byte: u8) -> bool {
    is_reg_name_byte(byte) || b":@/".contains(&byte)
}

/// `query = fragment = *( pchar / "/" / "?" )`, triplets apart.
pub fn is_query_byte(byte: u8) -> bool {
    is_path_byte(byte) || byte == b'?'
}

/// Whether `pct-encoded = "%" HEXDIG HEXDIG` starts at `index`.
pub fn is_triplet(bytes: &[u8], index: usize) -> bool {
    bytes[index] == b'%'
        && index + 2 < bytes.len()
        && bytes[index + 1].is_ascii_hexdigit()
        && bytes[index + 2].is_ascii_hexdigit()
}

/// The first byte that is neither `allowed` nor the start of a triplet, as the code `byte` or
/// `escape`.
pub fn check(piece: &Piece, allowed: fn(u8) -> bool) -> Result<(), Trouble> {
    for (index, &byte) in piece.bytes.iter().enumerate() {
        if byte == b'%' {
            // The digits after a valid `%` need no skipping: every component allows them.
            if !is_triplet(&piece.bytes, index) {
                return Err(("escape", piece.at + index));
            }
        } else if !allowed(byte) {
            return Err(("byte", piece.at + index));
        }
    }
    Ok(())
}
