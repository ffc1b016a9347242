//! Paths, by the path state of the URL Standard (section 4.4).

use super::encode::encode;
use crate::normalize::exact::path::dots;
use crate::profile::whatwg::{Kind, Place};

/// Appends the segments that start at `from` to the path in `out[path_at..]`, which may hold segments
/// of a base. Returns the start of the query or fragment, or the end.
///
/// A segment is written with its slash in front. `..` removes the last segment, so each byte is visited
/// at most twice.
pub(super) fn append(
    input: &[u8],
    from: usize,
    kind: Kind,
    path_at: usize,
    out: &mut Vec<u8>,
) -> usize {
    let mut start = from;
    loop {
        let ends = |byte: &u8| matches!(byte, b'?' | b'#') || is_slash(*byte, kind);
        let end = input[start..].iter().position(ends).map_or(input.len(), |n| start + n);
        let segment = &input[start..end];
        let slash = input.get(end).is_some_and(|byte| is_slash(*byte, kind));
        match dots(segment) {
            Some(count) => {
                if count == 2 {
                    shorten(kind, path_at, out);
                }
                if !slash {
                    out.push(b'/');
                }
            }
            None => {
                let first = out.len() == path_at;
                out.push(b'/');
                if kind == Kind::File && first && is_drive_letter(segment) {
                    out.extend_from_slice(&[segment[0], b':']);
                } else {
                    encode(segment, Place::Path, out);
                }
            }
        }
        if !slash {
            return end;
        }
        start = end + 1;
    }
}

/// "To shorten a url's path": removes its last segment, but not a lone drive letter.
pub(super) fn shorten(kind: Kind, path_at: usize, out: &mut Vec<u8>) {
    let path = &out[path_at..];
    if kind == Kind::File && path.len() == 3 && first_drive_letter(path).is_some() {
        return;
    }
    if let Some(slash) = path.iter().rposition(|byte| *byte == b'/') {
        out.truncate(path_at + slash);
    }
}

/// A backslash is a slash if the scheme is special.
pub(super) fn is_slash(byte: u8, kind: Kind) -> bool {
    byte == b'/' || byte == b'\\' && kind.is_special()
}

/// A Windows drive letter: `C:` or `C|`.
pub(super) fn is_drive_letter(segment: &[u8]) -> bool {
    matches!(segment, [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

/// Whether text "starts with a Windows drive letter".
pub(super) fn starts_with_drive_letter(text: &[u8]) -> bool {
    is_drive_letter(text.get(..2).unwrap_or_default())
        && matches!(text.get(2), None | Some(b'/' | b'\\' | b'?' | b'#'))
}

/// The first segment of a path, with its slash, if it is a normalized drive letter.
pub(super) fn first_drive_letter(path: &[u8]) -> Option<&[u8]> {
    match path {
        [b'/', letter, b':'] | [b'/', letter, b':', b'/', ..] if letter.is_ascii_alphabetic() => {
            Some(&path[..3])
        }
        _ => None,
    }
}
