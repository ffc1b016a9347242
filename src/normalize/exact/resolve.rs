//! Relative references (RFC 3986 section 5.2), strictly.

use std::borrow::Cow;

use memchr::memchr_iter;

use crate::normalize::exact::path::remove_dot_segments;
use crate::normalize::parts::Parts;

/// Appends the target URI of `reference` against `base`, which has a scheme.
///
/// Section 5.2.2 with `strict` set; nothing is checked or decoded.
pub fn resolve(base: &Parts<'_>, reference: &Parts<'_>, out: &mut Vec<u8>) {
    let scheme = reference.scheme.or(base.scheme);
    out.extend_from_slice(scheme.unwrap_or_default());
    out.push(b':');
    let has_own = reference.scheme.is_some() || reference.authority.is_some();
    let authority = if has_own { reference.authority } else { base.authority };
    if let Some(authority) = authority {
        out.extend_from_slice(b"//");
        out.extend_from_slice(authority);
    }
    let start = out.len();
    let mut query = reference.query;
    if has_own || reference.path.starts_with(b"/") {
        out.extend_from_slice(reference.path);
        remove_from_any(out, start);
    } else if reference.path.is_empty() {
        out.extend_from_slice(base.path);
        query = query.or(base.query);
    } else {
        merge(base, reference.path, out);
        remove_from_any(out, start);
    }
    if authority.is_none() && out[start..].starts_with(b"//") {
        // Two slashes here would be read as an authority, which neither URL has.
        out.splice(start..start, *b"/.");
    }
    if let Some(query) = query {
        out.push(b'?');
        out.extend_from_slice(query);
    }
    if let Some(fragment) = reference.fragment {
        out.push(b'#');
        out.extend_from_slice(fragment);
    }
}

/// Decodes the full stops of a path, so that [`resolve`] sees the dot segments that they make.
pub fn decode_dots(path: &[u8]) -> Cow<'_, [u8]> {
    let is_dot = |at: &usize| matches!(path[*at..], [b'%', b'2', b'e' | b'E', ..]);
    let mut dots = memchr_iter(b'%', path).filter(is_dot).peekable();
    if dots.peek().is_none() {
        return Cow::Borrowed(path);
    }
    let (mut decoded, mut run) = (Vec::with_capacity(path.len()), 0);
    for dot in dots {
        decoded.extend_from_slice(&path[run..dot]);
        decoded.push(b'.');
        run = dot + 3;
    }
    decoded.extend_from_slice(&path[run..]);
    Cow::Owned(decoded)
}

/// Section 5.2.3: replaces the base's last segment by the reference.
fn merge(base: &Parts<'_>, path: &[u8], out: &mut Vec<u8>) {
    if base.authority.is_some() && base.path.is_empty() {
        out.push(b'/');
    } else if let Some(slash) = base.path.iter().rposition(|byte| *byte == b'/') {
        out.extend_from_slice(&base.path[..=slash]);
    }
    out.extend_from_slice(path);
}

/// Section 5.2.4 for a path that may lack its first slash, as with the base `mailto:a`.
pub fn remove_from_any(out: &mut Vec<u8>, start: usize) {
    if out[start..].starts_with(b"/") {
        let end = out.len();
        remove_dot_segments(out, start, end);
        return;
    }
    // Rules A and D: leading `./` and `../` are removed, and a path of dots alone becomes empty.
    let mut skip = start;
    loop {
        match &out[skip..] {
            [b'.', b'/', ..] => skip += 2,
            [b'.', b'.', b'/', ..] => skip += 3,
            [b'.'] => skip += 1,
            [b'.', b'.'] => skip += 2,
            _ => break,
        }
    }
    out.drain(start..skip);
    // The first segment has no slash before it. It stays until a `..` removes it; the rest after that `..`
    // then starts with a slash, as rule C leaves it.
    let Some(slash) = out[start..].iter().position(|byte| *byte == b'/') else {
        return;
    };
    let mut rest = out.split_off(start + slash);
    let popped = pops_above(&rest);
    let end = rest.len();
    remove_dot_segments(&mut rest, 0, end);
    if popped {
        out.truncate(start);
    }
    out.extend_from_slice(&rest);
}

/// Whether the `..` segments of an absolute path ever outnumber the segments before them.
fn pops_above(path: &[u8]) -> bool {
    let mut depth = 0usize;
    for segment in path[1..].split(|byte| *byte == b'/') {
        match segment {
            b"." => {}
            b".." if depth == 0 => return true,
            b".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}
