//! Jakarta Servlet 6.1 section 3.5.2, step by step, on bytes that carry their offsets.

use super::super::Trouble;
use super::{triplet, value_at};
use crate::oracle::grammar::is_unreserved;

/// A segment of the result.
#[derive(Clone)]
pub struct Segment {
    /// Its bytes, each with its offset.
    name: Vec<(u8, usize)>,
    start: usize,
    /// It stayed raw, since it or an earlier segment does not decode.
    raw: bool,
}

impl Segment {
    fn bytes(&self) -> Vec<u8> {
        self.name.iter().map(|(byte, _)| *byte).collect()
    }

    fn is(&self, name: &str) -> bool {
        self.bytes() == name.as_bytes()
    }
}

/// The remaining segments and every trouble.
pub fn read(path: &[u8], at: usize, keep_empty: bool) -> (Vec<Segment>, Vec<Trouble>) {
    let mut troubles = Vec::new();
    // "`encoded-slash` is `%2F` in the path, parameters included"
    for index in 0..path.len() {
        if path[index..].to_ascii_uppercase().starts_with(b"%2F") {
            troubles.push(("encoded-slash", at + index));
        }
    }
    // "split on `/`"
    let mut rest: Vec<(u8, usize)> =
        path.iter().enumerate().map(|(index, &byte)| (byte, at + index)).collect();
    if path.starts_with(b"/") {
        rest.remove(0);
    } else {
        troubles.push(("no-leading-slash", at));
    }
    let mut segments: Vec<Segment> = Vec::new();
    let mut start = at + path.len() - rest.len();
    let mut name = Vec::new();
    for (byte, place) in rest {
        if byte == b'/' {
            segments.push(Segment { name: std::mem::take(&mut name), start, raw: true });
            start = place + 1;
        } else {
            name.push((byte, place));
        }
    }
    segments.push(Segment { name, start, raw: true });
    // "drop each segment from its first `;`"
    let count = segments.len();
    for (index, segment) in segments.iter_mut().enumerate() {
        let bytes = segment.bytes();
        if bytes.starts_with(b";") && index + 1 < count {
            troubles.push(("empty-segment-parameter", segment.start));
        }
        if bytes.starts_with(b".;") || bytes.starts_with(b"..;") {
            troubles.push(("dot-segment-parameter", segment.start));
        }
        let end = bytes.iter().position(|&byte| byte == b';').unwrap_or(bytes.len());
        segment.name.truncate(end);
        if ["%2e", "%2e%2e", ".%2e", "%2e."]
            .iter()
            .any(|dots| segment.bytes().to_ascii_lowercase() == dots.as_bytes())
        {
            troubles.push(("encoded-dot-segment", segment.start));
        }
    }
    // "decode every triplet of each segment as UTF-8"; the first that fails and all later ones stay raw
    for segment in &mut segments {
        match decode(segment) {
            Ok(name) => (segment.name, segment.raw) = (name, false),
            Err(place) => {
                troubles.push(("decode", place));
                break;
            }
        }
    }
    // "remove empty segments except the last"
    if !keep_empty {
        let last = segments.pop().unwrap();
        segments.retain(|segment| !segment.name.is_empty());
        segments.push(last);
    }
    // "remove dot segments"
    segments.retain(|segment| !segment.is("."));
    loop {
        let found = (1..segments.len())
            .find(|&index| segments[index].is("..") && !segments[index - 1].is(".."));
        let Some(index) = found else { break };
        if segments[index - 1].name.is_empty() {
            troubles.push(("empty-segment-before-dot-dot", segments[index - 1].start));
        }
        segments.drain(index - 1..=index);
    }
    // "judged on the result"
    if let Some(first) = segments.first().filter(|first| first.is("..")) {
        troubles.push(("leading-dot-dot", first.start));
    }
    for segment in &segments {
        for &(byte, place) in &segment.name {
            match byte {
                b'\\' => troubles.push(("backslash", place)),
                0..0x20 | 0x7F => troubles.push(("control", place)),
                _ => {}
            }
        }
    }
    (segments, troubles)
}

/// The decoded name, or the start of the first trouble.
fn decode(segment: &Segment) -> Result<Vec<(u8, usize)>, usize> {
    let raw = segment.bytes();
    let mut name = Vec::new();
    let mut index = 0;
    let mut malformed = None;
    while index < raw.len() && malformed.is_none() {
        let place = segment.name[index].1;
        if raw[index] != b'%' {
            name.push((raw[index], place));
            index += 1;
        } else if let Some(value) = value_at(&raw, index) {
            name.push((value, place));
            index += 3;
        } else {
            malformed = Some(place);
        }
    }
    let bytes: Vec<u8> = name.iter().map(|(byte, _)| *byte).collect();
    match (std::str::from_utf8(&bytes), malformed) {
        (Err(error), _) => Err(name[error.valid_up_to()].1),
        (Ok(_), Some(place)) => Err(place),
        (Ok(_), None) => Ok(name),
    }
}

/// "With `%2F` in the path, `decoded` writes `%` as `%25` and an inner `/` as `%2F`."
pub fn decoded(path: &[u8], segments: &[Segment]) -> Vec<u8> {
    let encoded_slash = path.to_ascii_uppercase().windows(3).any(|window| window == b"%2F");
    let mut out = Vec::new();
    for segment in segments {
        out.push(b'/');
        for byte in segment.bytes() {
            if encoded_slash && (byte == b'%' || byte == b'/') {
                out.extend(triplet(byte));
            } else {
                out.push(byte);
            }
        }
    }
    if out.is_empty() { b"/".to_vec() } else { out }
}

/// "every byte outside unreserved, `:` `@` and the sub-delims other than `;` written as a triplet";
/// bytes that are not UTF-8, which only a raw segment holds, as the text of their triplets.
pub fn canonical(segments: &[Segment]) -> Vec<u8> {
    let mut out = Vec::new();
    for segment in segments {
        out.push(b'/');
        let bytes = segment.bytes();
        let mut index = 0;
        while index < bytes.len() {
            let character = (1..=4)
                .filter_map(|length| bytes.get(index..index + length))
                .find(|bytes| std::str::from_utf8(bytes).is_ok());
            match character {
                None => {
                    assert!(segment.raw, "a decoded segment is UTF-8");
                    out.extend(triplet(b'%'));
                    out.extend_from_slice(&triplet(bytes[index])[1..]);
                    index += 1;
                }
                Some(character) => {
                    for &byte in character {
                        if is_unreserved(byte) || b":@!$&'()*+,=".contains(&byte) {
                            out.push(byte);
                        } else {
                            out.extend(triplet(byte));
                        }
                    }
                    index += character.len();
                }
            }
        }
    }
    if out.is_empty() { b"/".to_vec() } else { out }
}
