//! Sections 2.1, 6.2.2.1 and 6.2.2.2: triplets.

use super::grammar::{is_triplet, is_unreserved};

/// An octet that a text encodes: its value, its offset, and whether it is written as a triplet.
pub struct Octet {
    pub value: u8,
    pub at: usize,
    pub is_triplet: bool,
}

/// The octets of a text, from left to right. Decoded bytes are not looked at again.
pub fn octets(bytes: &[u8]) -> Vec<Octet> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (value, is_triplet) = match value_at(bytes, at) {
            Some(value) => (value, true),
            None => (bytes[at], false),
        };
        out.push(Octet { value, at, is_triplet });
        at += if is_triplet { 3 } else { 1 };
    }
    out
}

/// "URIs that differ only in whether an unreserved character is percent-encoded are equivalent"
/// (section 2.3): such a triplet becomes its byte, every other one gets upper-case digits (section
/// 6.2.2.1).
pub fn normalize_triplets(bytes: &[u8]) -> Vec<u8> {
    let written = |octet: Octet| match octet.is_triplet && !is_unreserved(octet.value) {
        true => triplet(octet.value),
        false => vec![octet.value],
    };
    octets(bytes).into_iter().flat_map(written).collect()
}

/// Every triplet becomes its byte, in one pass.
pub fn decode_all(bytes: &[u8]) -> Vec<u8> {
    octets(bytes).into_iter().map(|octet| octet.value).collect()
}

/// `crawl`: "a byte that its component's grammar does not allow becomes `%XX`; a `%` that starts no
/// triplet becomes `%25`". Triplets stay as they are.
pub fn repair(bytes: &[u8], allowed: fn(u8) -> bool) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, &byte) in bytes.iter().enumerate() {
        if is_triplet(bytes, index) || allowed(byte) {
            out.push(byte);
        } else {
            out.extend(triplet(byte));
        }
    }
    out
}

/// Lower case, ASCII only, but the digits of triplets stay in upper case.
pub fn lower_case_outside_triplets(bytes: &[u8]) -> Vec<u8> {
    let lower = |octet: Octet| match octet.is_triplet {
        true => bytes[octet.at..octet.at + 3].to_vec(),
        false => vec![octet.value.to_ascii_lowercase()],
    };
    octets(bytes).into_iter().flat_map(lower).collect()
}

pub fn triplet(byte: u8) -> Vec<u8> {
    format!("%{byte:02X}").into_bytes()
}

/// The value of the triplet at `index`, if one is there.
pub fn value_at(bytes: &[u8], index: usize) -> Option<u8> {
    let digits = bytes.get(index + 1..index + 3)?;
    let is_triplet = bytes[index] == b'%' && digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok()?;
    if is_triplet { u8::from_str_radix(digits, 16).ok() } else { None }
}
