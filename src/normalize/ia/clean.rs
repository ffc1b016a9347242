//! Fast path for `ia`.
//!
//! If the scanner proved a URL clean for these keys, only `www`, a final slash and the order of the query
//! remain to be checked. If it is clean except for case, it is also folded. All other URLs take the
//! exact path.

use super::{Archive, without_prefixes};
use crate::normalize::parameters::{Parameter, Parameters, ROOM, are_in_order, each_parameter};
use crate::normalize::parts::Parts;
use crate::normalize::path::has_double_slash;
use crate::profile::archive::{SHORTEST_SESSION, STARTS};
use crate::simd::{FastPath, MaskedUrl, OutputBuffer, UrlKind, Vector};

/// Writes the key of a URL.
pub(in crate::normalize) struct Write<'a, 'o> {
    pub(in crate::normalize) archive: &'a Archive,
    pub(in crate::normalize) out: &'o mut Vec<u8>,
}

/// The first label that hosts lose most often, with its dot.
const WWW: &[u8; 4] = b"www.";

/// The end of the path, and the end of the part that stays. `None` if the path has empty segments or the
/// host may have empty labels: those take the exact path.
#[inline(always)]
fn path_ends<V: Vector, const N: usize>(masked: &MaskedUrl<'_, V, N>) -> Option<(usize, usize)> {
    let path_end = masked.path_end();
    if masked.may_have_empty_label() | masked.slashes(path_end).are_doubled() {
        return None;
    }
    let [last] = masked.bytes(path_end.wrapping_sub(1));
    let ends_with_slash = (path_end > masked.path + 1) & (last == b'/');
    Some((path_end, path_end - usize::from(ends_with_slash)))
}

/// Whether a parameter may identify a session, alone or with its twin.
#[inline(always)]
fn may_take<V: Vector, const N: usize>(
    masked: &MaskedUrl<'_, V, N>,
    archive: &Archive,
    parameter: Parameter,
) -> bool {
    let pair = &masked.url()[parameter.start..parameter.end];
    (parameter.may_be_one_of(&STARTS) && starts_as_twin(pair, archive))
        || may_end_in_id(pair, archive)
}

impl FastPath for &Archive {
    /// Whether a URL that the scanner proved clean for these keys is its own key.
    #[inline(always)]
    fn finish<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> bool {
        let Some((path_end, left)) = path_ends(masked) else { return false };
        let MaskedUrl { host, path, .. } = *masked;
        // In a target this is the start of the path: neither `www.` nor a digit.
        let start = masked.bytes(host);
        let www = start == *WWW;
        if !(www | keeps_host_start(start, self)) && !keeps_host(&masked.url()[host..path], self) {
            return false;
        }
        // If no query follows, there is no branch on `www.` or a final slash: half of the URLs have one.
        let stays = !www & (left == path_end);
        if path_end == masked.length {
            return stays;
        }
        if !stays {
            return false;
        }
        let query = path_end + 1;
        if are_in_order(masked, query, &STARTS) {
            return masked.length - query < SHORTEST_SESSION
                || !may_hold_id(&masked.url()[query..], self);
        }
        let mut before: Option<Parameter> = None;
        let url = masked.url();
        query < masked.length
            && each_parameter(
                masked,
                query,
                #[inline(always)]
                |parameter| {
                    let (key, key_before) = (parameter.key(), before.map_or(0, Parameter::key));
                    let in_order = key > key_before
                        || before.is_none_or(|before| {
                            key == key_before && !precedes(url, place(parameter), place(before))
                        });
                    before = Some(parameter);
                    in_order && !may_take(masked, self, parameter)
                },
            )
    }
}

impl FastPath for Write<'_, '_> {
    #[inline(always)]
    fn finish<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> bool {
        let Write { archive, out } = self;
        let Some((path_end, left)) = path_ends(masked) else { return false };
        let MaskedUrl { host, path, .. } = *masked;
        let mut prefix = WWW.len() * usize::from(masked.bytes(host) == *WWW);
        let [rest] = masked.bytes(host + prefix);
        // No target starts with one of these.
        if (rest == archive.prefix[0]) | rest.is_ascii_digit() {
            let name = &masked.url()[host..path];
            let rest = without_prefixes(name, archive);
            if is_number(rest) {
                return false;
            }
            prefix = name.len() - rest.len();
        }
        let source = masked.source();
        let mut buffer = OutputBuffer::new(out, ROOM * masked.length);
        if host > 0 {
            buffer.extend::<8>(masked.bytes(0));
            buffer.truncate(host);
        }
        buffer.copy_long_lower(source, host + prefix, left);
        // An empty query is dropped.
        if path_end + 1 < masked.length && !write_query(masked, archive, path_end + 1, &mut buffer)
        {
            return false;
        }
        buffer.finish();
        true
    }
}

/// Appends `?` and the query that starts at `query`.
#[inline(always)]
fn write_query<V: Vector, const N: usize>(
    masked: &MaskedUrl<'_, V, N>,
    archive: &Archive,
    query: usize,
    buffer: &mut OutputBuffer<'_>,
) -> bool {
    let source = masked.source();
    let at = buffer.length();
    let mut parameters = Parameters::new();
    let (mut before, mut sorted) = (0, true);
    let written = each_parameter(
        masked,
        query,
        #[inline(always)]
        |parameter| {
            if may_take(masked, archive, parameter) {
                return false;
            }
            let key = parameter.lower_key();
            // Strictly greater: for equal keys the rest of the names or the values decide.
            sorted &= key > before;
            before = key;
            buffer.copy_lower(source, parameter.start - 1, parameter.end);
            parameters.push(key, parameter)
        },
    );
    if !written {
        return false;
    }
    if !sorted && parameters.len() > 1 {
        buffer.truncate(at);
        let url = masked.url();
        for (start, end) in parameters.sorted(|a, b| precedes_in_lower_case(url, a, b)) {
            buffer.push(b'&');
            buffer.copy_lower(source, start, end);
        }
        buffer.replace(at, b'?');
    }
    true
}

/// Whether a URL that the scanner proved clean for these keys is its own key. `false` may only mean
/// that this was not checked.
#[inline(never)]
pub(in crate::normalize) fn leaves_long(url: &[u8], kind: UrlKind, archive: &Archive) -> bool {
    let parts = match kind {
        UrlKind::Absolute => Parts::split(url),
        UrlKind::Target => Parts::split_target(url),
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
    let (mut start, mut before) = (at, None);
    !query.is_empty()
        && query.split(|byte| *byte == b'&').all(|pair| {
            let here = (start, start + pair.len());
            start = here.1 + 1;
            let in_order = before.replace(here).is_none_or(|before| !precedes(url, here, before));
            in_order && !may_identify(pair, archive)
        })
}

/// Whether a host without a port, which the ladder leaves, stays unchanged.
pub(in crate::normalize) fn keeps_host_whole(host: &[u8], archive: &Archive) -> bool {
    let empty_label = host.starts_with(b".") || host.windows(2).any(|pair| pair == b"..");
    !empty_label && keeps_host(host, archive)
}

/// Whether the first bytes of a host prove that it stays unchanged.
#[inline(always)]
fn keeps_host_start(first: [u8; 4], archive: &Archive) -> bool {
    let [a, b, c, _] = first;
    ([a, b, c] != *archive.prefix) & !a.is_ascii_digit()
}

/// Whether a host without empty labels keeps its first label, and is not a number: a number is an address.
fn keeps_host(host: &[u8], archive: &Archive) -> bool {
    match host.first() {
        Some(first) if *first == archive.prefix[0] => {
            !host.starts_with(archive.prefix) || without_prefixes(host, archive).len() == host.len()
        }
        _ => !is_number(host),
    }
}

/// Whether a host may be a single number.
fn is_number(host: &[u8]) -> bool {
    host.first().is_none_or(u8::is_ascii_digit) && host.iter().all(u8::is_ascii_digit)
}

/// Whether a pair may identify a session, alone or with its twin.
#[inline(never)]
fn may_identify(pair: &[u8], archive: &Archive) -> bool {
    starts_as_twin(pair, archive) || may_end_in_id(pair, archive)
}

/// Whether a pair starts like the second of two that identify a session together.
fn starts_as_twin(pair: &[u8], archive: &Archive) -> bool {
    let twin = archive.twins[1];
    pair.get(..twin.len()).is_some_and(|start| start.eq_ignore_ascii_case(twin))
}

/// Whether a pair of this query may end in a session id.
#[inline(never)]
fn may_hold_id(query: &[u8], archive: &Archive) -> bool {
    query.split(|byte| *byte == b'&').any(|pair| may_end_in_id(pair, archive))
}

/// Whether a pair has an equals sign where the value of a session id would start.
#[inline(always)]
fn may_end_in_id(pair: &[u8], archive: &Archive) -> bool {
    pair.len() >= SHORTEST_SESSION
        && archive.sessions.iter().any(|session| {
            pair.len() >= session.total() && pair[pair.len() - session.length - 1] == b'='
        })
}

/// The start and end of a parameter.
type Place = (usize, usize);

#[inline(always)]
fn place(Parameter { start, end, .. }: Parameter) -> Place {
    (start, end)
}

/// Name and value of a pair; the value starts with its `=`.
fn key(url: &[u8], (start, end): Place) -> (&[u8], &[u8]) {
    let pair = &url[start..end];
    pair.split_at(memchr::memchr(b'=', pair).unwrap_or(pair.len()))
}

/// Whether pair `a` of `url` belongs before pair `b`: by name, then no value before any.
#[inline(never)]
fn precedes(url: &[u8], a: Place, b: Place) -> bool {
    key(url, a) < key(url, b)
}

/// The same comparison of their lower-case forms.
#[inline(never)]
fn precedes_in_lower_case(url: &[u8], a: Place, b: Place) -> bool {
    fn lower(bytes: &[u8]) -> impl Iterator<Item = u8> {
        bytes.iter().map(u8::to_ascii_lowercase)
    }
    let (a, b) = (key(url, a), key(url, b));
    lower(a.0).cmp(lower(b.0)).then_with(|| lower(a.1).cmp(lower(b.1))).is_lt()
}
