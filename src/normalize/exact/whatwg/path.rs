//! Paths, by the path state of the URL Standard (section 4.4).

use super::encode::encode;
use super::parser::Parser;
use crate::normalize::exact::path::dots;
use crate::profile::whatwg::{Kind, Place};

impl Parser<'_, '_> {
    /// Appends the segments that start at `start` to the path in `out[path_at..]`, which may hold segments
    /// of a base. Returns the start of the query or fragment, or the end.
    ///
    /// A segment is written with its slash in front. `..` removes the last segment, so each byte is visited
    /// at most twice.
    pub(super) fn path(&mut self, path_at: usize, mut start: usize) -> usize {
        loop {
            let end = self.find_end(start);
            let segment = &self.input[start..end];
            let slash = self.has_slash(end);
            match dots(segment) {
                Some(count) => {
                    if count == 2 {
                        self.shorten(path_at);
                    }
                    if !slash {
                        self.out.push(b'/');
                    }
                }
                None => {
                    let first = self.out.len() == path_at;
                    self.out.push(b'/');
                    if self.kind == Kind::File && first && is_drive_letter(segment) {
                        // The standard writes `C|` as `C:`.
                        self.out.extend_from_slice(&[segment[0], b':']);
                    } else {
                        encode(segment, Place::Path, self.out);
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
    pub(super) fn shorten(&mut self, path_at: usize) {
        let path = &self.out[path_at..];
        if self.kind == Kind::File && path.len() == 3 && first_drive_letter(path).is_some() {
            return;
        }
        if let Some(slash) = path.iter().rposition(|byte| *byte == b'/') {
            self.out.truncate(path_at + slash);
        }
    }
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
