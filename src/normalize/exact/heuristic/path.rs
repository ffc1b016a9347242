//! Steps for the path of a canonical URL: case, empty segments, session ids, and its end.

use memchr::memchr;

use super::Heuristics;
use crate::normalize::exact::escape;
use crate::profile::Switch;
use crate::profile::heuristic::{is_index_page, is_session, is_session_segment};

impl Heuristics {
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
            // An empty last segment is the final slash, which has a switch of its own.
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
        // Nothing is left, and a path has a slash at least.
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
