//! Dot segments (RFC 3986 section 5.2.4), and empty ones.

use memchr::memchr_iter;

use crate::bytes::octets;

/// Removes the dot segments of the path in `out[start..end]`, which starts with `/`, in place.
///
/// The section's loop moves one segment at a time from an input buffer to an output buffer. Here both
/// are the same bytes, since the output is never longer than the input read so far, and all bytes
/// between two dot segments move at once. `..` truncates the output to its last `/`; each byte is
/// removed at most once, so the whole is linear. An empty segment is a segment, and `..;x` and `.;` are
/// ordinary ones.
pub(crate) fn remove_dot_segments(out: &mut Vec<u8>, start: usize, end: usize) {
    let mut read = start;
    let mut write = start;
    while let Some((slash, segment)) = next_dot_segment(&out[..end], read) {
        out.copy_within(read..slash, write);
        write += slash - read;
        if segment == Segment::Parent {
            write = out[start..write].iter().rposition(|b| *b == b'/').map_or(start, |n| start + n);
        }
        read = slash + 1 + segment as usize;
        if read == end {
            // A dot segment removed from the end leaves its slash.
            out[write] = b'/';
            write += 1;
        }
    }
    if read > start {
        out.copy_within(read.., write);
        let length = out.len() - (read - write);
        out.truncate(length);
    }
}

/// A dot segment; its value is its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Segment {
    /// `.`
    Current = 1,
    /// `..`
    Parent = 2,
}

/// The first dot segment whose slash is at or after `from`, with the offset of that slash.
fn next_dot_segment(path: &[u8], from: usize) -> Option<(usize, Segment)> {
    // Full stops are rarer than slashes.
    for dot in memchr_iter(b'.', &path[from..]).map(|at| from + at) {
        if dot == from || path[dot - 1] != b'/' {
            continue;
        }
        match path[dot + 1..] {
            [] | [b'/', ..] => return Some((dot - 1, Segment::Current)),
            [b'.'] | [b'.', b'/', ..] => return Some((dot - 1, Segment::Parent)),
            _ => {}
        }
    }
    None
}

/// One for a segment that reads `.` once it is decoded, two for one that reads `..`.
pub(in crate::normalize) fn dots(segment: &[u8]) -> Option<usize> {
    // The longest spelling, `%2e%2e`, has six bytes.
    let is_short = (1..=6).contains(&segment.len());
    let is_dots = is_short && octets(segment).all(|octet| octet.value == b'.');
    is_dots.then(|| octets(segment).count()).filter(|count| *count <= 2)
}

/// Whether a path holds two adjacent slashes. A substring search has a start-up cost that exceeds the time
/// for a whole path.
pub(crate) fn has_double_slash(path: &[u8]) -> bool {
    memchr::memchr_iter(b'/', path).any(|at| path.get(at + 1) == Some(&b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(path: &str) -> String {
        let mut out = format!("kept{path}").into_bytes();
        let end = out.len();
        remove_dot_segments(&mut out, 4, end);
        String::from_utf8(out).unwrap().strip_prefix("kept").unwrap().to_owned()
    }

    #[test]
    fn dot_segment_examples_of_rfc_3986_section_5_2_4_hold() {
        assert_eq!(removed("/a/b/c/./../../g"), "/a/g");
        assert_eq!(removed("/mid/content=5/../6"), "/mid/6");
    }

    #[test]
    fn bytes_after_the_path_are_kept() {
        let mut out = b"x/a/../b/.?/../c".to_vec();
        remove_dot_segments(&mut out, 1, 10);
        assert_eq!(out, b"x/b/?/../c");
    }

    #[test]
    fn trailing_dot_segment_leaves_a_slash() {
        for (path, expected) in
            [("/.", "/"), ("/..", "/"), ("/a/.", "/a/"), ("/a/..", "/"), ("/a/b/..", "/a/")]
        {
            assert_eq!(removed(path), expected, "{path}");
        }
    }

    #[test]
    fn dot_segments_stop_at_the_root() {
        assert_eq!(removed("/../../a"), "/a");
        assert_eq!(removed("/a/../../../b/.."), "/");
    }

    #[test]
    fn empty_segments_count_and_near_dot_segments_are_kept() {
        assert_eq!(removed("/a/b//../c"), "/a/b/c");
        assert_eq!(removed("/..//a"), "//a");
        assert_eq!(removed("/a/..;x/.;/.../.b"), "/a/..;x/.;/.../.b");
    }
}
