//! The profile `ia`: the form of a URL from which the keys of web-archive indexes are made.
//!
//! It merges different identifiers (`%2F` and `/`, the case of paths, `www.`), because the indexes that
//! it has to match do. In order: of several leading `http://` only the last stays; triplets are
//! decoded until none is left; ASCII letters are folded to lower case; the path loses dot segments, empty
//! segments (including a final slash) and ASP.NET session segments; the query loses session ids and is
//! sorted by name and value; bytes that are not plain are encoded again.
//!
//! The indexers themselves are not idempotent in a few places. There this module goes on to the fixed
//! point: it splits off a query that decoding reveals, removes `www.www.` as a whole, and takes session ids
//! until none is left, also those that only the sort or another removal brings together.

pub(in crate::normalize) mod clean;
mod sessions;

use std::borrow::Cow;

use crate::bytes::set::REG_NAME;
use crate::bytes::{Reject, RejectReason, Triplet, octets, push_encoded_as, triplet_of};
use crate::normalize::exact::ladder::Ladder;
use crate::normalize::explain::Rule;
use crate::normalize::parts::{AuthorityParts, Parts, split_host};
use crate::normalize::trace::{Place, Trace};
use crate::profile::archive::{PLAIN, PREFIX, RECORDS, SEGMENT_ID, SEGMENT_PAGE};
use crate::profile::scheme::{Kind, Scheme};
use crate::profile::{Access, Policy};

/// Appends the canonical form of a URL with a scheme, split into `parts`.
///
/// On a rejection `out` holds a part of it, which the caller truncates.
#[inline(never)]
pub(crate) fn absolute<T: Trace>(
    parts: &Parts<'_>,
    out: &mut Vec<u8>,
    trace: &mut T,
) -> Result<(), Reject> {
    let at = out.len();
    let name = parts.scheme.unwrap_or_default();
    let facts = Ladder::new(&Policy::IA, None, out, trace).scheme_name(parts)?;
    let record = RECORDS.contains(&&out[at..out.len() - 1]);
    match parts.authority {
        Some(authority) if !record => {
            out.extend_from_slice(b"//");
            trace.component(Rule::DropUserinfo, Place::Userinfo, None);
            let AuthorityParts { host_port, .. } = AuthorityParts::split(authority);
            let start = parts.authority_start() + authority.len() - host_port.len();
            self::authority(host_port, facts, start, out, trace)?;
            path_and_query(parts, out, trace);
            Ok(())
        }
        None if facts.kind == Kind::Network => {
            Err(Reject::new(RejectReason::NoAuthority, name.len() + 1))
        }
        _ => {
            opaque(parts, out, trace);
            Ok(())
        }
    }
}

/// Removes each scheme at the start that another scheme follows, as in a link pasted after the `http://`
/// of a form. Returns the rest and the number of bytes removed. Like the indexers, it matches schemes in
/// lower case only, and ignores tabs and line breaks after the first one.
pub(in crate::normalize) fn without_repeated_schemes(url: &[u8]) -> (Cow<'_, [u8]>, usize) {
    const SCHEMES: [&[u8]; 2] = [b"http://", b"https://"];
    let Some(mut last) = SCHEMES.into_iter().find(|scheme| url.starts_with(scheme)) else {
        return (Cow::Borrowed(url), 0);
    };
    let mut end = last.len();
    let next = |from| {
        SCHEMES.into_iter().find_map(|scheme| Some((scheme, among_breaks(scheme, &url[from..])?)))
    };
    while let Some((scheme, length)) = next(end) {
        (last, end) = (scheme, end + length);
    }
    let gone = end - last.len();
    let whole = url[gone..].starts_with(last);
    match whole {
        true => (Cow::Borrowed(&url[gone..]), gone),
        false => (Cow::Owned([last, &url[end..]].concat()), gone),
    }
}

/// Length of `word` at the start of `text`, with any breaks before and inside it.
fn among_breaks(word: &[u8], text: &[u8]) -> Option<usize> {
    let mut left = word;
    let end = text.iter().position(|byte| match left.strip_prefix(&[*byte]) {
        Some(rest) => {
            left = rest;
            rest.is_empty()
        }
        None => !is_break(*byte),
    })?;
    left.is_empty().then_some(end + 1)
}

/// Whether a raw byte is left out.
fn is_break(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\r' | b'\n')
}

/// Appends a URL without a host: unchanged, except that unprintable bytes are encoded.
fn opaque<T: Trace>(parts: &Parts<'_>, out: &mut Vec<u8>, trace: &mut T) {
    let pieces = [
        (&b"//"[..], Place::Host, parts.authority),
        (b"", Place::Path, Some(parts.path)),
        (b"?", Place::Query, parts.query),
        (b"#", Place::Fragment, parts.fragment),
    ];
    // An authority is not parsed.
    trace.component(Rule::Encode, Place::Userinfo, None);
    trace.component(Rule::Encode, Place::Port, None);
    for (delimiter, place, piece) in pieces {
        let Some(piece) = piece else { continue };
        out.extend_from_slice(delimiter);
        let at = out.len();
        push_encoded_as(lower_triplet, piece, |byte| matches!(byte, 0x21..=0x7E), out);
        trace.component(Rule::Encode, place, Some(&out[at..]));
    }
}

/// Appends path and query, which may be those of a request target.
#[inline(never)]
pub(crate) fn path_and_query<T: Trace>(parts: &Parts<'_>, out: &mut Vec<u8>, trace: &mut T) {
    let mut text = Vec::with_capacity(parts.path.len() + 1);
    decode_path_and_query(parts.path, parts.query, &mut text);
    if T::RECORDS {
        tell_decoding(parts, &text, trace);
    }
    // After decoding: a triplet may have hidden a capital letter.
    text.make_ascii_lowercase();
    // A `%3F` in the path has become a question mark, which a reader of the key cannot distinguish.
    let end = memchr::memchr(b'?', &text).unwrap_or(text.len());
    self::path(&text[..end], out, trace);
    if let Some(query) = text.get(end + 1..) {
        self::query(query, out, trace);
    }
}

/// Reports the changes of path and query up to the folding of case. Decoded bytes are reported in their
/// encoded form: none of the later rules looks at a byte that is encoded.
fn tell_decoding(parts: &Parts<'_>, text: &[u8], trace: &mut impl Trace) {
    trace.component(Rule::DropFragment, Place::Fragment, None);
    let query = parts.query.unwrap_or_default();
    for (place, part) in [(Place::Path, parts.path), (Place::Query, query)] {
        let is_literal = |byte| is_break(byte) || PLAIN.contains(byte);
        for octet in octets(part).filter(|octet| !octet.encoded && !is_literal(octet.value)) {
            let range = octet.at..octet.end();
            trace.respelled(Rule::Encode, place, range, &lower_triplet(octet.value));
        }
    }
    let mut tell = |rule, text: &[u8]| {
        let end = memchr::memchr(b'?', text).unwrap_or(text.len());
        trace.component(rule, Place::Path, Some(&encoded(&text[..end])));
        trace.component(rule, Place::Query, text.get(end + 1..).map(encoded).as_deref());
    };
    tell(Rule::DecodeAll, text);
    let mut text = text.to_ascii_lowercase();
    if !text.starts_with(b"/") {
        text.insert(0, b'/');
    }
    tell(Rule::FoldCase, &text);
    if parts.path.is_empty() {
        trace.component(Rule::EmptyPath, Place::Path, Some(b"/"));
    }
}

/// Decodes both into an empty `out`.
///
/// If decoding reveals a question mark, the indexers still treat the text after it as path, until the next
/// indexer reads the key. So dot and empty segments are removed from the whole before a query is split
/// off, and an empty query is dropped while it can still be told from the revealed one.
fn decode_path_and_query(path: &[u8], query: Option<&[u8]>, out: &mut Vec<u8>) {
    decode(path, out);
    let laid_bare = memchr::memchr(b'?', out).is_some();
    if laid_bare {
        let whole = without_dots(segments(out)).into_iter().filter(|segment| !segment.is_empty());
        let whole = whole.flat_map(|segment| [b"/", segment]).collect::<Vec<&[u8]>>().concat();
        *out = if whole.is_empty() { b"/".to_vec() } else { whole };
    }
    if let Some(query) = query {
        let end = out.len();
        out.push(b'?');
        decode(query, out);
        if laid_bare && out.len() == end + 1 {
            out.truncate(end);
        }
    }
}

fn path<T: Trace>(path: &[u8], out: &mut Vec<u8>, trace: &mut T) {
    let at = out.len();
    let mut segments = without_dots(self::segments(path));
    if T::RECORDS {
        // Empty segments that no `..` removes, identified by their address.
        let mut empty = segments.iter().filter(|segment| segment.is_empty()).peekable();
        let left = self::segments(path)
            .filter(|segment| empty.next_if(|next| next.as_ptr() == segment.as_ptr()).is_none());
        trace.component(Rule::EmptySegments, Place::Path, Some(&joined(left)));
    }
    segments.retain(|segment| !segment.is_empty());
    if T::RECORDS {
        let left = segments.iter().copied();
        trace.component(Rule::DotSegments, Place::Path, Some(&joined(left)));
    }
    if segments.is_empty() {
        out.push(b'/');
    }
    for segment in without_session_segments(segments) {
        out.push(b'/');
        encode(segment, out);
    }
    trace.component(Rule::SessionSegments, Place::Path, Some(&out[at..]));
}

fn joined<'p>(segments: impl Iterator<Item = &'p [u8]>) -> Vec<u8> {
    let mut path = Vec::new();
    for segment in segments {
        path.push(b'/');
        encode(segment, &mut path);
    }
    if path.is_empty() { b"/".to_vec() } else { path }
}

/// The segment after each slash; the one after a final slash is empty.
fn segments(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').skip(1)
}

/// The indexers let `..` remove an empty segment, and keep a `..` with nothing to remove, which RFC 3986
/// drops. A second `..` removes the first, so one can stay only at the front: a fixed point.
pub(in crate::normalize) fn without_dots<'p>(all: impl Iterator<Item = &'p [u8]>) -> Vec<&'p [u8]> {
    let mut segments: Vec<&[u8]> = Vec::new();
    for segment in all {
        match segment {
            b"." => {}
            b".." if !segments.is_empty() => {
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    segments
}

fn without_session_segments(segments: Vec<&[u8]>) -> impl Iterator<Item = &[u8]> {
    let finds = |text: &[u8]| memchr::memmem::find(text, SEGMENT_PAGE).is_some();
    let page = segments.iter().rposition(|segment| finds(segment));
    // The indexers require a byte between the two. It is a slash if the page is not the next segment.
    let named = page.is_some_and(|page| segments[page].get(1..).is_some_and(finds));
    let is_session = move |i, segment: &[u8]| {
        page.is_some_and(|page| i + 1 < page || i + 1 == page && named)
            && is_session_segment(segment)
    };
    let kept =
        segments.into_iter().enumerate().filter(move |(i, segment)| !is_session(*i, segment));
    kept.map(|(_, segment)| segment)
}

/// `(ID)`, or `(a(ID)b(ID))` with any number of letters and ids.
fn is_session_segment(segment: &[u8]) -> bool {
    let is_id =
        |id: &[u8]| id.len() == SEGMENT_ID && id.iter().all(|byte| byte.is_ascii_alphanumeric());
    let Some(inside) = segment.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")")) else {
        return false;
    };
    let mut groups = inside.chunks_exact(SEGMENT_ID + 3);
    let lettered = groups.by_ref().all(|group| match group {
        [letter, b'(', id @ .., b')'] => letter.is_ascii_alphabetic() && is_id(id),
        _ => false,
    });
    is_id(inside) || (lettered && !inside.is_empty() && groups.remainder().is_empty())
}

fn query<T: Trace>(query: &[u8], out: &mut Vec<u8>, trace: &mut T) {
    let encoded = encoded(query);
    let was_empty = encoded.is_empty();
    let first = T::RECORDS.then(|| sessions::without_first_ids(&encoded));
    let kept = sessions::without_ids(encoded);
    if let Some(first) = first {
        let left = if first.len() == kept.len() { &first[..] } else { &kept };
        let left = (was_empty || !left.is_empty()).then_some(left);
        trace.component(Rule::SessionParams, Place::Query, left);
    }
    if kept.is_empty() {
        trace.component(Rule::EmptyQuery, Place::Query, None);
        return;
    }
    out.push(b'?');
    out.extend_from_slice(&kept);
    trace.component(Rule::SortQuery, Place::Query, Some(&kept));
}

/// Appends host and port. `start` is the offset of `host_port` in the URL.
fn authority<T: Trace>(
    host_port: &[u8],
    facts: &Scheme,
    start: usize,
    out: &mut Vec<u8>,
    trace: &mut T,
) -> Result<(), Reject> {
    if host_port.first() == Some(&b'[') {
        // The indexers keep the spelling of an address.
        let mut rules = Policy::CRAWL;
        rules.access = Access::Identifier;
        return Ladder::new(&rules, None, out, trace).host(host_port, facts, start);
    }
    let (host, port) = split_host(host_port);
    let at = out.len();
    let mut decoded = Vec::with_capacity(host.len());
    decode(host, &mut decoded);
    if T::RECORDS && host.iter().any(|byte| *byte == b'%' || is_break(*byte)) {
        trace.component(Rule::DecodeAll, Place::Host, Some(&encoded(&decoded)));
    }
    // Decoding must not reveal a delimiter that would move the end of the host.
    if decoded.iter().any(|byte| byte.is_ascii() && !REG_NAME.contains(*byte)) {
        return Err(Reject::new(RejectReason::Idna, start));
    }
    // The port is appended, so that it is checked and written with the host.
    let host_length = decoded.len();
    decoded.extend_from_slice(port);
    let mut ladder = Ladder::new(&Policy::IA, None, out, trace);
    ladder.host(&decoded, facts, start).map_err(|reject| {
        // Only an error after the colon gets its exact offset: decoding moved the others.
        let beyond = (reject.at - start).checked_sub(host_length + 1);
        Reject::new(reject.code, beyond.map_or(start, |beyond| start + host.len() + 1 + beyond))
    })?;
    let tail = out.split_off(at);
    let (host, port) = split_host(&tail);
    name(host, out, trace);
    if facts.kind == Kind::Network && out.len() == at {
        return Err(Reject::new(RejectReason::EmptyHost, start));
    }
    out.extend_from_slice(port);
    // RFC 8089 section 2, as in the ladder.
    if facts.kind == Kind::File && &out[at..] == b"localhost" {
        out.truncate(at);
        trace.component(Rule::FileLocalhost, Place::Host, Some(b""));
    }
    Ok(())
}

/// Appends a host that is in lower case, without empty labels and `www`. A single number is written as
/// an IPv4 address.
fn name<T: Trace>(name: &[u8], out: &mut Vec<u8>, trace: &mut T) {
    let at = out.len();
    let name = without_empty_labels(name);
    trace.component(Rule::EmptyLabels, Place::Host, Some(&name));
    let name = without_prefixes(&name);
    trace.component(Rule::Www, Place::Host, Some(name));
    match single_number(name) {
        Some(address) => {
            out.extend_from_slice(std::net::Ipv4Addr::from(address).to_string().as_bytes());
        }
        None => out.extend_from_slice(name),
    }
    trace.component(Rule::Ipv4Number, Place::Host, Some(&out[at..]));
}

fn without_empty_labels(name: &[u8]) -> Vec<u8> {
    let labels: Vec<&[u8]> =
        name.split(|byte| *byte == b'.').filter(|label| !label.is_empty()).collect();
    labels.join(&b'.')
}

/// The name without its leading `www` labels (digits may follow the `www`); the last label stays.
pub(in crate::normalize) fn without_prefixes(name: &[u8]) -> &[u8] {
    let mut rest = name;
    while let Some(dot) = memchr::memchr(b'.', rest)
        && let Some(digits) = rest[..dot].strip_prefix(PREFIX)
        && digits.iter().all(u8::is_ascii_digit)
    {
        rest = &rest[dot + 1..];
    }
    rest
}

fn single_number(host: &[u8]) -> Option<u32> {
    // Some parsers read a number with a leading zero as octal.
    let decimal =
        host.iter().all(u8::is_ascii_digit) && (host.len() == 1 || !host.starts_with(b"0"));
    std::str::from_utf8(decimal.then_some(host)?).ok()?.parse().ok()
}

/// Appends `bytes` with their triplets decoded until none is left, in one pass: a byte that completes
/// a triplet is decoded with it at once. No two triplets overlap, so the order makes no difference.
/// Tabs and line breaks that were not encoded are left out.
pub(in crate::normalize) fn decode(bytes: &[u8], out: &mut Vec<u8>) {
    let breaks = memchr::memchr3(b'\t', b'\r', b'\n', bytes);
    if breaks.is_none() && memchr::memchr(b'%', bytes).is_none() {
        out.extend_from_slice(bytes);
        return;
    }
    // Bytes before this one belong to another component, and are no part of a triplet here.
    let floor = out.len();
    for &byte in bytes.iter().filter(|byte| !is_break(**byte)) {
        out.push(byte);
        while out.len() >= floor + 3 {
            let triplet = out.len() - 3;
            let Some(Triplet { value, .. }) = Triplet::read(&out[triplet..]) else { break };
            out.truncate(triplet);
            out.push(value);
        }
    }
}

/// Appends decoded text, with bytes that are not plain as triplets.
fn encode(text: &[u8], out: &mut Vec<u8>) {
    push_encoded_as(lower_triplet, text, |byte| PLAIN.contains(byte), out);
}

fn encoded(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    encode(text, &mut out);
    out
}

/// A triplet as these indexes write it, its digits in lower case.
fn lower_triplet(byte: u8) -> [u8; 3] {
    triplet_of(byte).map(|byte| byte.to_ascii_lowercase())
}
