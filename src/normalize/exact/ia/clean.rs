//! Fast path for `ia`.
//!
//! If the scanner proved a URL clean for these keys, only `www`, a final slash and the order of the query
//! remain to be checked. If it is clean except for case, it is also folded. All other URLs take the
//! exact path.

use super::sessions::name_and_value;
use super::{absolute, path_and_query, without_prefixes};
use crate::normalize::masks::cuts::{Cuts, Fate, Front, Place};
use crate::normalize::masks::parameters::Parameter;
use crate::normalize::parts::Parts;
use crate::normalize::trace::NoTrace;
use crate::profile::archive::{PREFIX, SESSIONS, SHORTEST_SESSION, STARTS, TWINS};
use crate::profile::starts::Starts;
use crate::simd::{MaskedUrl, UrlKind, Vector};

/// The first label that hosts lose most often, with its dot.
const WWW: &[u8; 4] = b"www.";

/// What these keys cut away.
#[derive(Clone, Copy)]
pub(in crate::normalize) struct KeyCuts;

impl Cuts for KeyCuts {
    const LOWER: bool = true;
    const BY_VALUE: bool = true;

    #[inline(always)]
    fn front<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> Option<Front> {
        let path_end = masked.path_end();
        // Empty segments take the exact path, and so do hosts that may have empty labels.
        if masked.may_have_empty_label() | masked.slashes(path_end).are_doubled() {
            return None;
        }
        let [last] = masked.bytes(path_end.wrapping_sub(1));
        let ends_with_slash = (path_end > masked.path + 1) & (last == b'/');
        let left = path_end - usize::from(ends_with_slash);
        let MaskedUrl { host, path, .. } = *masked;
        let mut prefix = WWW.len() * usize::from(masked.bytes(host) == *WWW);
        let [rest] = masked.bytes(host + prefix);
        // No target starts with one of these.
        if (rest == PREFIX[0]) | rest.is_ascii_digit() {
            let name = &masked.url()[host..path];
            let rest = without_prefixes(name);
            // Digits alone are an IPv4 address, which is written with dots.
            if is_number(rest) {
                return None;
            }
            prefix = name.len() - rest.len();
        }
        // An empty query is dropped.
        let query = (path_end + 1 < masked.length).then_some(path_end + 1);
        Some(Front { prefix, left, query })
    }

    fn starts(&self) -> &Starts {
        &STARTS
    }

    #[inline(always)]
    fn fate(self, url: &[u8], parameter: Parameter) -> Fate {
        let pair = &url[parameter.start..parameter.end];
        let may_be_twin = parameter.may_be_one_of(&STARTS) && starts_as_twin(pair);
        match may_be_twin || may_end_in_id(pair) {
            true => Fate::Open,
            false => Fate::Kept(parameter),
        }
    }

    fn may_cut_value(self, query: &[u8]) -> bool {
        query.len() >= SHORTEST_SESSION && may_hold_id(query)
    }

    fn sorts(self) -> bool {
        true
    }

    /// By name, then no value before any.
    #[inline(never)]
    fn precedes(url: &[u8], one: Place, other: Place) -> bool {
        let lower = |(start, end): Place| {
            let (name, value) = name_and_value(&url[start..end]);
            [name, value].map(|part| part.iter().map(u8::to_ascii_lowercase))
        };
        let ([name, value], [other_name, other_value]) = (lower(one), lower(other));
        name.cmp(other_name).then_with(|| value.cmp(other_value)).is_lt()
    }
}

/// Whether a URL that the scanner proved clean for these keys is its own key.
#[inline(never)]
pub(in crate::normalize) fn is_canonical(url: &[u8], kind: UrlKind) -> bool {
    let (parts, mut out) = (Parts::of(kind, url), Vec::with_capacity(url.len()));
    match kind {
        UrlKind::Absolute if absolute(&parts, &mut out, &mut NoTrace).is_err() => return false,
        UrlKind::Absolute => {}
        UrlKind::Target => path_and_query(&parts, &mut out, &mut NoTrace),
    }
    out == url
}

/// Whether a host without a port, which the ladder leaves, stays unchanged.
pub(in crate::normalize) fn is_canonical_host(host: &[u8]) -> bool {
    let empty_label = host.starts_with(b".") || host.windows(2).any(|pair| pair == b"..");
    // A single number is an address.
    !empty_label && !is_number(host) && without_prefixes(host).len() == host.len()
}

/// Whether a host may be a single number.
fn is_number(host: &[u8]) -> bool {
    host.first().is_none_or(u8::is_ascii_digit) && host.iter().all(u8::is_ascii_digit)
}

/// Whether a pair starts like the second of two that identify a session together.
fn starts_as_twin(pair: &[u8]) -> bool {
    let twin = TWINS[1];
    pair.get(..twin.len()).is_some_and(|start| start.eq_ignore_ascii_case(twin))
}

/// Whether a pair of this query may end in a session id.
#[inline(never)]
fn may_hold_id(query: &[u8]) -> bool {
    query.split(|byte| *byte == b'&').any(may_end_in_id)
}

/// Whether a pair has an equals sign where the value of a session id would start.
#[inline(always)]
fn may_end_in_id(pair: &[u8]) -> bool {
    pair.len() >= SHORTEST_SESSION
        && SESSIONS.iter().any(|session| {
            pair.len() >= session.total() && pair[pair.len() - session.length - 1] == b'='
        })
}
