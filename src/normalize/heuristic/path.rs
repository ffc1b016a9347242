//! Steps for the path of a canonical URL: case, empty segments, session ids, and its end.

use memchr::{memchr, memrchr};

use super::Heuristics;
use crate::normalize::escape;
use crate::profile::Switch;
use crate::profile::heuristic::{is_index_page, is_session, is_session_segment};

impl Heuristics {
    /// Whether no step changes a path, which starts with `/`.
    #[inline]
    pub(super) fn leave_path(&self, path: &[u8]) -> bool {
        let last = &path[memrchr(b'/', path).map_or(0, |slash| slash + 1)..];
        if self.is_on(Switch::StripTrailingSlash) && last.is_empty() && path.len() > 1
            || self.is_on(Switch::StripIndex) && is_index_page(last)
            || self.is_on(Switch::LowerPath) && path.iter().any(u8::is_ascii_uppercase)
        {
            return false;
        }
        let Found { slashes, sessions } = find(path);
        !(self.is_on(Switch::SqueezeSlashes) && slashes
            || self.is_on(Switch::StripSession) && sessions)
    }

    /// Appends the final form of a path. Both start with `/`.
    ///
    /// Empty segments are removed before session ids and again after them, as in a second round: a segment
    /// that consists of a session id leaves an empty one, while one like `(S(id))` goes with its slash.
    pub(super) fn append_path(&self, path: &[u8], out: &mut Vec<u8>) {
        let at = out.len();
        let squeeze = self.is_on(Switch::SqueezeSlashes);
        let sessions = self.is_on(Switch::StripSession);
        let mut segments = path[1..].split(|byte| *byte == b'/').peekable();
        while let Some(segment) = segments.next() {
            if squeeze && segment.is_empty() && segments.peek().is_some() {
                continue;
            }
            let start = out.len();
            // The next segment uses the slash of an empty segment that is not the last.
            if !(squeeze && start > at && out.last() == Some(&b'/')) {
                out.push(b'/');
            }
            let bare = out.len();
            out.extend_from_slice(segment);
            if sessions {
                strip_session(bare, out);
                if is_session_segment(&out[bare..]) {
                    out.truncate(start);
                }
            }
        }
        if out.len() == at {
            out.push(b'/');
        }
        self.shorten(at, out);
        if self.is_on(Switch::LowerPath) {
            escape::lower_outside_triplets(&mut out[at..]);
        }
    }

    /// Shortens the end of the path in `out[at..]` until no step removes anything from it.
    pub(super) fn shorten(&self, at: usize, out: &mut Vec<u8>) {
        loop {
            let path = &out[at..];
            let slash = path.iter().rposition(|byte| *byte == b'/').unwrap_or_default();
            if self.is_on(Switch::StripIndex) && is_index_page(&path[slash + 1..]) {
                out.truncate(at + slash + 1);
            } else if self.is_on(Switch::StripTrailingSlash) && slash > 0 && slash + 1 == path.len()
            {
                out.pop();
            } else {
                break;
            }
        }
    }
}

/// Removes session ids from the segment in `out[at..]`. An id reaches from a `;` to the next one.
/// If a dot segment would be left, all ids stay.
fn strip_session(at: usize, out: &mut Vec<u8>) {
    let Some(first) = memchr(b';', &out[at..]).map(|first| at + first) else { return };
    let (mut read, mut write) = (first, first);
    while read < out.len() {
        let end = memchr(b';', &out[read + 1..]).map_or(out.len(), |next| read + 1 + next);
        if !is_session_parameter(&out[read + 1..end]) {
            out.copy_within(read..end, write);
            write += end - read;
        }
        read = end;
    }
    // If nothing was kept, nothing has moved.
    if write > first || !matches!(&out[at..first], b"." | b"..") {
        out.truncate(write);
    }
}

fn is_session_parameter(parameter: &[u8]) -> bool {
    let (name, value) = super::query::name_and_value(parameter);
    is_session(name, value)
}

/// Properties of a path, found in one scan.
struct Found {
    /// An empty segment that is not the last.
    slashes: bool,
    /// A byte that precedes every session id.
    sessions: bool,
}

/// Checks eight bytes at once, without a branch. A loop over bytes took five times as many
/// instructions, because compilers did not vectorize it.
#[inline]
fn find(path: &[u8]) -> Found {
    let (mut slashes, mut sessions, mut before) = (0, 0, 0);
    let mut look = |word: [u8; 8]| {
        // The first byte is the lowest one.
        let word = u64::from_le_bytes(word);
        let slash = equal(word, b'/');
        slashes |= slash & (slash << 8 | before >> 56);
        sessions |= equal(word, b';') | equal(word, b'(');
        before = slash;
    };
    let (words, rest) = path.as_chunks();
    for word in words {
        look(*word);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    look(last);
    Found { slashes: slashes != 0, sessions: sessions != 0 }
}

/// Sets the highest bit of each byte of a word that equals this byte.
#[inline]
fn equal(word: u64, byte: u8) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x7F; 8]);
    let differs = word ^ u64::from_ne_bytes([byte; 8]);
    // The addition carries into the highest bit of each byte that has a lower bit set, and no further.
    !(((differs & LOW) + LOW) | differs | LOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_slashes_and_session_markers_are_found_at_every_offset() {
        for length in (0..40).step_by(if cfg!(miri) { 7 } else { 1 }) {
            for at in 0..length {
                for (first, second) in
                    [(b'/', b'/'), (b'/', b'a'), (b'a', b'/'), (b';', b'a'), (b'a', b'(')]
                {
                    for filling in [b'a', b'\x80', b'.', b'0', b'\xFF'] {
                        let mut path = vec![filling; length];
                        path[at] = first;
                        if let Some(byte) = path.get_mut(at + 1) {
                            *byte = second;
                        }
                        let found = find(&path);
                        let slashes = path.windows(2).any(|pair| pair == b"//");
                        let sessions = path.iter().any(|byte| matches!(byte, b';' | b'('));
                        assert_eq!(
                            (found.slashes, found.sessions),
                            (slashes, sessions),
                            "{path:?}"
                        );
                    }
                }
            }
        }
    }
}
