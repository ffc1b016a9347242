//! The Wikimedia rule, word by word.

use super::{triplet, value_at};
use crate::oracle::grammar::is_unreserved;

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
    let mut index = 0;
    while index < path.len() {
        if let Some(value) = value_at(path, index) {
            match rule(value, decode, encode) {
                Rule::Decode => out.push(value),
                _ => out.extend(triplet(value)),
            }
            index += 3;
        } else {
            match rule(path[index], decode, encode) {
                Rule::Encode => out.extend(triplet(path[index])),
                _ => out.push(path[index]),
            }
            index += 1;
        }
    }
    out
}
