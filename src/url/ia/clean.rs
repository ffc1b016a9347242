//! URLs that are soon done with.
//!
//! Of one that the scanner proved clean for these keys, what is left to look at is `www` and a final
//! slash, and whether the query is sorted. Of one that is clean under the ladder, what is left to do
//! is to fold case as well. What needs more is left to the exact way.

use super::{Archive, without_prefixes};
use crate::profile::archive::{SHORTEST_SESSION, STARTS};
use crate::profile::set::AsciiSet;
use crate::scan::{Asked, Glance, Lead, Look, Settle, Vector, Window};
use crate::url::clean::{Clean, Pair, Pairs, are_in_order, has_double_slash};
use crate::url::escape::Triplet;
use crate::url::parts::Parts;

/// What stays of a clean URL, but for case and the order of its parameters.
struct Left {
    /// Bytes that go from the front of the host.
    prefix: usize,
    path_end: usize,
}

/// Triplets, which are decoded, and session segments start with these.
const ASKED: Asked = Asked::new(AsciiSet::of(b"%("));

/// What a URL is left by.
pub(in crate::url) const LEFT: Look<'_> = Look::Index;
/// What it is written by.
pub(in crate::url) const WRITTEN: Look<'_> = Look::All(&ASKED);

impl Settle for &Archive {
    #[inline(always)]
    fn settles<V: Vector, const N: usize>(&self, glance: &Glance<'_, V, N>) -> bool {
        let host = glance.host();
        let (path, path_end) = (glance.path(host), glance.path_end());
        let first = glance.byte(host);
        if first == self.prefix[0]
            || first.is_ascii_digit()
            || glance.may_have_empty_label(host)
            || glance.has_more_double_slashes()
            || (glance.byte(path_end.wrapping_sub(1)) == b'/' && path_end > path + 1)
        {
            return false;
        }
        path_end == glance.length
            || are_in_order(glance, path_end + 1, &STARTS, |pair| !may_identify(pair, self))
    }
}

/// Whether a URL that the scanner proved clean for these keys is its own form. `false` may only mean
/// that it was not looked into.
#[inline(always)]
pub(in crate::url) fn leaves(clean: &Clean<'_>, archive: &Archive) -> bool {
    if clean.has_empty_segment() || clean.ends_with_slash() {
        return false;
    }
    if clean.host > 0 && (clean.has_empty_label() || !keeps_host(clean.host_name(), archive)) {
        return false;
    }
    match clean.query() {
        None => true,
        Some(query) => {
            let pairs = clean.pairs(query);
            query < clean.url.len() && keeps_pairs(clean.url, pairs, archive)
        }
    }
}

/// The same for one that is too long to have marks.
#[inline(never)]
pub(in crate::url) fn leaves_long(url: &[u8], lead: Lead, archive: &Archive) -> bool {
    let parts = match lead {
        Lead::Absolute => Parts::split(url),
        Lead::Target => Parts::split_target(url),
    };
    let path = parts.path;
    if has_double_slash(path) || (path.len() > 1 && path.ends_with(b"/")) {
        return false;
    }
    if parts.authority.is_some_and(|host| !keeps_host_whole(host, archive)) {
        return false;
    }
    let Some(query) = parts.query else { return true };
    let at = url.len() - query.len();
    let mut start = at;
    let pairs = query.split(|byte| *byte == b'&').map(|pair| {
        let equals = memchr::memchr(b'=', pair).unwrap_or(pair.len());
        let pair = Pair { start, name_end: start + equals, end: start + pair.len() };
        start = pair.end + 1;
        pair
    });
    !query.is_empty() && keeps_pairs(url, pairs, archive)
}

/// Whether a host that the ladder leaves, without a port, stays as it is.
pub(in crate::url) fn keeps_host_whole(host: &[u8], archive: &Archive) -> bool {
    let empty_label = host.starts_with(b".") || host.windows(2).any(|pair| pair == b"..");
    !empty_label && keeps_host(host, archive)
}

/// Whether a host without empty labels keeps its first one, and is no number, which would be an address.
#[inline(always)]
fn keeps_host(host: &[u8], archive: &Archive) -> bool {
    match host.first() {
        Some(first) if *first == archive.prefix[0] => {
            !host.starts_with(archive.prefix) || without_prefixes(host, archive).len() == host.len()
        }
        _ => !is_number(host),
    }
}

/// Whether a host may be a single number.
#[inline(always)]
fn is_number(host: &[u8]) -> bool {
    host.first().is_none_or(u8::is_ascii_digit) && host.iter().all(u8::is_ascii_digit)
}

/// Whether the parameters are in order, and none may identify a session.
#[inline(always)]
fn keeps_pairs(url: &[u8], pairs: impl Iterator<Item = Pair>, archive: &Archive) -> bool {
    let mut before = None;
    for pair in pairs {
        let in_order = before.is_none_or(|before| !precedes(url, pair, before));
        if !in_order || may_identify(&url[pair.start..pair.end], archive) {
            return false;
        }
        before = Some(pair);
    }
    true
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
        if clean.has_empty_label() || is_number(rest) {
            return None;
        }
    }
    let slash = clean.ends_with_slash();
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
    let mut asked = clean.marks.asked;
    while asked != 0 {
        let at = asked.trailing_zeros() as usize;
        let stays = match clean.url[at] {
            b'%' => {
                Triplet::read(&clean.url[at..]).is_some_and(|triplet| archive.keeps(triplet.value))
            }
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
        || (pair.len() >= SHORTEST_SESSION
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
