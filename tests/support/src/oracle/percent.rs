//! Sections 2.1, 6.2.2.1 and 6.2.2.2: triplets.

use super::grammar::{is_triplet, is_unreserved};

/// "URIs that differ only in whether an unreserved character is percent-encoded are equivalent"
/// (section 2.3): such a triplet becomes its byte, every other one gets upper-case digits (section
/// 6.2.2.1). One pass: decoded bytes are not looked at again.
pub fn normalize_triplets(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut index = 0;
    while index < bytes.len() {
        if is_triplet(bytes, index) {
            let value = triplet_value(bytes, index);
            if is_unreserved(value) {
                out.push(value);
            } else {
                out.extend(triplet(value));
            }
            index += 3;
        } else {
            out.push(bytes[index]);
            index += 1;
        }
    }
    out
}

/// Every triplet becomes its byte, in one pass.
pub fn decode_all(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut index = 0;
    while index < bytes.len() {
        if is_triplet(bytes, index) {
            out.push(triplet_value(bytes, index));
            index += 3;
        } else {
            out.push(bytes[index]);
            index += 1;
        }
    }
    out
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
    let mut out = Vec::new();
    let mut index = 0;
    while index < bytes.len() {
        let step = if is_triplet(bytes, index) { 3 } else { 1 };
        if step == 3 {
            out.extend_from_slice(&bytes[index..index + 3]);
        } else {
            out.push(bytes[index].to_ascii_lowercase());
        }
        index += step;
    }
    out
}

/// The byte value of the triplet at `index`.
fn triplet_value(bytes: &[u8], index: usize) -> u8 {
    let digits = std::str::from_utf8(&bytes[index + 1..index + 3]).unwrap();
    u8::from_str_radix(digits, 16).unwrap()
}

fn triplet(byte: u8) -> Vec<u8> {
    format!("%{byte:02X}").into_bytes()
}
