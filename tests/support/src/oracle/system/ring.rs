//! The Wikimedia rule, word by word.

use crate::oracle::grammar::is_unreserved;
use crate::oracle::percent::{octets, triplet};

#[derive(PartialEq)]
enum Rule {
    Decode,
    Encode,
    Leave,
}

/// "Unreserved: decode. Disallowed (controls, space, `"%<>\^{|}`, backquote, 0x7F-0xFF): encode.
/// Reserved: leave, except [...]"
fn rule(byte: u8, decode: &[u8], encode: &[u8]) -> Rule {
    if is_unreserved(byte) || decode.contains(&byte) {
        Rule::Decode
    } else if byte <= b' '
        || byte >= 0x7F
        || b"\"%<>\\^{|}`".contains(&byte)
        || encode.contains(&byte)
    {
        Rule::Encode
    } else {
        assert!(b":/?#[]@!$&'()*+,;=".contains(&byte), "{byte} is reserved");
        Rule::Leave
    }
}

/// "Well-formed triplet of value v: decode -> the byte, otherwise `%XX` in upper case. Any other
/// byte b: encode -> `%XX`, otherwise as is."
pub fn around(decode: &[u8], encode: &[u8], path: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for octet in octets(path) {
        match (rule(octet.value, decode, encode), octet.is_triplet) {
            (Rule::Decode, _) | (Rule::Leave, false) => out.push(octet.value),
            (Rule::Encode, _) | (Rule::Leave, true) => out.extend(triplet(octet.value)),
        }
    }
    out
}
