//! Troubles of the segments of a path.

use std::ops::Range;

use super::super::super::Trouble;
use crate::oracle::percent::decode_all;

/// `encoded-dot-segment` and `device-name`.
pub fn troubles(url: &[u8], path: Range<usize>) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    // "A path without a leading slash (`mailto:`, `urn:`, `data:`) is opaque".
    let has_scheme = url[..path.start].contains(&b':');
    let is_opaque = has_scheme && !url[path.clone()].starts_with(b"/");
    let mut start = path.start;
    for segment in url[path].split(|&byte| byte == b'/') {
        let plain = String::from_utf8_lossy(segment).to_ascii_lowercase().replace("%2e", ".");
        if segment.contains(&b'%') && (plain == "." || plain == "..") {
            troubles.push(("encoded-dot-segment", start));
        }
        let decoded = decode_all(&url[start..start + segment.len()]);
        let decoded = String::from_utf8_lossy(&decoded).into_owned();
        if !is_opaque && decoded.split(['/', '\\']).any(is_reserved) {
            troubles.push(("device-name", start));
        }
        start += segment.len() + 1;
    }
    troubles
}

/// "a segment that Windows reserves, and `...`"
fn is_reserved(name: &str) -> bool {
    let shortened = name.trim_end_matches([' ', '.']);
    if shortened.is_empty() {
        return name.starts_with("...");
    }
    let base = shortened.split(['.', ':']).next().unwrap();
    let base = base.trim_end_matches([' ', '\t', '\n', '\r', '\x0C']).to_ascii_uppercase();
    let digits = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "\u{b9}", "\u{b2}", "\u{b3}"];
    let numbered = |device: &str| digits.iter().any(|digit| base == format!("{device}{digit}"));
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(&&base[..])
        || numbered("COM")
        || numbered("LPT")
}

/// Whether the encoded slash at `index` is in a part of a segment that is a whole encoded URL.
pub fn is_in_encoded_url(url: &[u8], index: usize, path: &Range<usize>) -> bool {
    let ends = |byte: &u8| b"/;=".contains(byte);
    if index < path.start {
        return false;
    }
    let start =
        url[path.start..index].iter().rposition(ends).map_or(path.start, |i| path.start + i + 1);
    let end = url[index..path.end].iter().position(ends).map_or(path.end, |i| index + i);
    let text = String::from_utf8_lossy(&url[start..end]).to_ascii_lowercase();
    let Some((scheme, rest)) = text.split_once("%3a%2f%2f") else { return false };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme && !rest.split("%2f").any(|segment| segment == "." || segment == "..")
}
