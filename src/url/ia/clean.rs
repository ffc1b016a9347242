//! The form of a URL that is clean under the ladder: what is left to do is to fold case, to take off
//! `www` and the final slash, and to sort the query. What needs more is left to the exact way.

use super::{Archive, without_prefixes};
use crate::profile::set::AsciiSet;
use crate::scan::{Asked, Window};
use crate::url::clean::{Clean, Pair, Pairs};
use crate::url::escape::Triplet;

/// What stays of a clean URL, but for case and the order of its parameters.
struct Left {
    /// Bytes that go from the front of the host.
    prefix: usize,
    path_end: usize,
}

/// Triplets, which are decoded, and session segments start with these.
pub(in crate::url) const ASKED: Asked = Asked::with_rest(AsciiSet::of(b"%("));

/// Whether a clean URL is its own form. `false` may only mean that it was not looked into.
#[inline]
pub(in crate::url) fn leaves(clean: &Clean<'_>, archive: &Archive) -> bool {
    let Some(Left { prefix: 0, path_end }) = left(clean, archive) else { return false };
    let in_order = |query| {
        let mut before = None;
        query < clean.url.len()
            && clean.pairs(query).all(|pair| {
                let before = before.replace(pair);
                before.is_none_or(|before| !precedes(clean.url, pair, before))
            })
    };
    path_end == clean.path_end
        && clean.inside(clean.marks.upper) == 0
        && clean.query().is_none_or(in_order)
}

/// Appends the form of a clean URL, which starts `window`; `None`, and nothing appended, where it is
/// to be made the exact way.
#[inline]
pub(in crate::url) fn write(
    clean: &Clean<'_>,
    archive: &Archive,
    window: Window<'_>,
    out: &mut Vec<u8>,
) -> Option<()> {
    let Left { prefix, path_end } = left(clean, archive)?;
    let at = out.len();
    if prefix > 0 {
        window.append(0, clean.host, out);
        let host = clean.host + prefix;
        window.append_lower(host, path_end - host, out);
    } else {
        window.append_lower(0, path_end, out);
    }
    let Some(query) = clean.query().filter(|query| *query < clean.url.len()) else {
        return Some(());
    };
    let query_at = out.len();
    window.append_lower(query - 1, clean.url.len() - query + 1, out);
    // The offsets of the pairs are those in the URL.
    let mut before = None;
    let in_order = clean.pairs(query).all(|pair| {
        let before = before.replace(pair);
        let lowered = |pair: Pair| moved(pair, query - 1, query_at);
        before.is_none_or(|before| !precedes(out, lowered(pair), lowered(before)))
    });
    if !in_order && sort(clean, query, query_at, out).is_none() {
        out.truncate(at);
        return None;
    }
    Some(())
}

/// What is left of scheme, host and path, where case is all that has to be folded beside it, and the
/// query holds no session id.
#[inline]
fn left(clean: &Clean<'_>, archive: &Archive) -> Option<Left> {
    if clean.has_empty_segment() || !asked_stay(clean, archive) {
        return None;
    }
    let mut prefix = 0;
    if clean.host > 0 {
        let host = clean.host_name();
        let mut rest = host;
        if host.starts_with(archive.prefix) {
            rest = without_prefixes(host, archive);
            prefix = host.len() - rest.len();
        }
        // Empty labels go, and a single number is an address.
        let dots = clean.marks.dot & clean.marks.dot << 1;
        let plain = |first: &u8| !first.is_ascii_digit() && *first != b'.';
        if clean.in_host(dots) != 0 || !rest.first().is_some_and(plain) {
            return None;
        }
    }
    let slash = clean.path_end > clean.path + 1 && clean.url[clean.path_end - 1] == b'/';
    if let Some(query) = clean.query()
        && clean.pairs(query).any(|pair| may_identify(&clean.url[pair.start..pair.end], archive))
    {
        return None;
    }
    Some(Left { prefix, path_end: clean.path_end - usize::from(slash) })
}

/// Whether no session segment is in the path, and each triplet stays one but for the case of its digits:
/// what it stands for is not plain, and no percent sign that would decode once more.
#[inline]
fn asked_stay(clean: &Clean<'_>, archive: &Archive) -> bool {
    let mut asked = clean.inside(clean.marks.asked);
    while asked != 0 {
        let at = asked.trailing_zeros() as usize;
        let stays = match clean.url[at] {
            b'%' => Triplet::read(&clean.url[at..]).is_some_and(|Triplet { value, .. }| {
                value != b'%' && !archive.plain.contains(value)
            }),
            // Such a segment starts with it.
            _ => at > clean.path_end || clean.url[at - 1] != b'/',
        };
        if !stays {
            return false;
        }
        asked &= asked - 1;
    }
    true
}

/// Whether a pair may identify a session, alone or with its twin.
#[inline(always)]
fn may_identify(pair: &[u8], archive: &Archive) -> bool {
    let Some(first) = pair.first().map(u8::to_ascii_lowercase) else { return false };
    if !archive.initials.contains(first) {
        return false;
    }
    let is_twin = |twin: &&[u8]| {
        twin[0] == first && pair.get(1).is_some_and(|second| second.eq_ignore_ascii_case(&twin[1]))
    };
    archive.twins.iter().any(is_twin)
        || (pair.len() >= archive.shortest_session()
            && archive.sessions.iter().any(|session| session.name[0] == first))
}

/// Whether pair `a` of `text` belongs before pair `b`: by name, then no value before any.
#[inline]
fn precedes(text: &[u8], a: Pair, b: Pair) -> bool {
    let first = |pair: Pair| (pair.start < pair.name_end).then(|| text[pair.start]);
    match (first(a), first(b)) {
        (Some(a), Some(b)) if a != b => a < b,
        _ => {
            let key = |Pair { start, name_end, end }: Pair| {
                (&text[start..name_end], (name_end < end).then(|| &text[name_end + 1..end]))
            };
            key(a) < key(b)
        }
    }
}

/// The pair in a text where what stood at `from` stands at `to`.
#[inline(always)]
fn moved(pair: Pair, from: usize, to: usize) -> Pair {
    let moved = |at: usize| at - from + to;
    Pair { start: moved(pair.start), name_end: moved(pair.name_end), end: moved(pair.end) }
}

/// Puts the pairs of the query that stands from `at` to the end of `out` in order.
fn sort(clean: &Clean<'_>, query: usize, at: usize, out: &mut Vec<u8>) -> Option<()> {
    let mut text = [0; 128];
    let length = out.len() - at;
    text[..length].copy_from_slice(&out[at..]);
    let mut pairs = Pairs::default();
    for pair in clean.pairs(query) {
        pairs.push(moved(pair, query - 1, 0))?;
    }
    pairs.sort(|a, b| precedes(&text, a, b));
    out.truncate(at);
    for (i, pair) in pairs.as_slice().iter().enumerate() {
        out.push(if i == 0 { b'?' } else { b'&' });
        out.extend_from_slice(&text[pair.start..pair.end]);
    }
    Some(())
}
