//! The rules of web-archive indexes, one by one.
//!
//! The indexes decode first and encode last. Here what was decoded is encoded again at once, so that
//! every step can be printed: none of the rules between looks at an encoded byte.

use super::draft::{Draft, replace, take};
use super::{Act, Context, Rule, ladder};
use crate::bytes::Triplet;
use crate::normalize::ia;
use crate::profile::archive::Archive;

/// A URL that names a host, or a request target.
pub(super) const LOCATED: &[(Rule, Act)] = &[
    (Rule::DropFragment, ladder::drop_fragment),
    (Rule::DropUserinfo, drop_userinfo),
    (Rule::Encode, encode),
    (Rule::DecodeAll, decode_all),
    (Rule::SchemeCase, ladder::scheme_case),
    (Rule::HostCase, ladder::host_case),
    (Rule::Idna, ladder::idna),
    (Rule::Ipv6, ladder::ipv6),
    (Rule::HostDots, ladder::host_dots),
    (Rule::EmptyLabels, empty_labels),
    (Rule::Www, www),
    (Rule::Ipv4Number, ipv4_number),
    (Rule::EmptyPort, ladder::empty_port),
    (Rule::PortZeros, ladder::port_zeros),
    (Rule::DefaultPort, ladder::default_port),
    (Rule::FileLocalhost, ladder::file_localhost),
    (Rule::EmptyPath, empty_path),
    (Rule::FoldCase, fold_case),
    (Rule::EmptySegments, empty_segments),
    (Rule::DotSegments, dot_segments),
    (Rule::SessionSegments, session_segments),
    (Rule::SessionParams, session_params),
    (Rule::EmptyQuery, empty_query),
    (Rule::SortQuery, sort_query),
];

/// A URL that names no host, or a record of an archive file.
pub(super) const OPAQUE: &[(Rule, Act)] =
    &[(Rule::Encode, print), (Rule::SchemeCase, ladder::scheme_case)];

/// Which of the two a URL is.
pub(super) fn rules(draft: &Draft, archive: &Archive) -> &'static [(Rule, Act)] {
    let Some(scheme) = &draft.scheme else { return LOCATED };
    let scheme = scheme.to_ascii_lowercase();
    let record = archive.records.iter().any(|name| *name == scheme);
    if record || draft.host.is_none() { OPAQUE } else { LOCATED }
}

/// Writes each byte as a triplet of these indexes that does not stay.
fn spell(text: &mut Vec<u8>, stays: impl Fn(&[u8]) -> bool) -> bool {
    let mut out = Vec::with_capacity(text.len());
    for (i, &byte) in text.iter().enumerate() {
        if stays(&text[i..]) { out.push(byte) } else { ia::push_lower_triplet(byte, &mut out) }
    }
    replace(text, out)
}

fn print(draft: &mut Draft, _: &Context<'_>) -> bool {
    let prints = |rest: &[u8]| matches!(rest[0], 0x21..=0x7E);
    let port = draft.port.as_mut().is_some_and(|port| spell(port, prints));
    draft.each(|_, text| spell(text, prints)) || port
}

fn drop_userinfo(draft: &mut Draft, _: &Context<'_>) -> bool {
    take(&mut draft.userinfo)
}

/// Line breaks and tabs wait for the rule that leaves them out.
fn encode(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    let Some(archive) = ctx.profile.archive else { return false };
    let stays = |rest: &[u8]| match rest[0] {
        b'\t' | b'\r' | b'\n' => true,
        b'%' => Triplet::read(rest).is_some(),
        byte => archive.plain.contains(byte),
    };
    let path = spell(&mut draft.path, stays);
    draft.query.as_mut().is_some_and(|query| spell(query, stays)) || path
}

fn decode_all(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    let Some(archive) = ctx.profile.archive else { return false };
    let spelled = |text: &[u8]| {
        let mut out = Vec::new();
        ia::encode(text, archive, &mut out);
        out
    };
    let is_left = |byte: &u8| !matches!(byte, b'%' | b'\t' | b'\r' | b'\n');
    let host = draft.host.as_mut().filter(|host| !host.iter().all(is_left));
    let in_host = host.is_some_and(|host| {
        let mut name = Vec::new();
        ia::decode(host, &mut name);
        replace(host, spelled(&name))
    });
    let mut text = Vec::new();
    ia::decode_path_and_query(&draft.path, draft.query.as_deref(), &mut text);
    // A `%3F` in the path has become a question mark.
    let end = memchr::memchr(b'?', &text).unwrap_or(text.len());
    let path = replace(&mut draft.path, spelled(&text[..end]));
    let query = text.get(end + 1..).map(spelled);
    let changed = path || query != draft.query;
    draft.query = query;
    changed || in_host
}

fn named(draft: &mut Draft, change: impl FnOnce(&[u8]) -> Vec<u8>) -> bool {
    match &mut draft.host {
        Some(host) if !host.starts_with(b"[") => {
            let new = change(host);
            replace(host, new)
        }
        _ => false,
    }
}

fn empty_labels(draft: &mut Draft, _: &Context<'_>) -> bool {
    named(draft, ia::without_empty_labels)
}

fn www(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    let Some(archive) = ctx.profile.archive else { return false };
    named(draft, |host| ia::without_prefixes(host, archive).to_vec())
}

fn ipv4_number(draft: &mut Draft, _: &Context<'_>) -> bool {
    named(draft, |host| match ia::single_number(host) {
        Some(number) => std::net::Ipv4Addr::from(number).to_string().into_bytes(),
        None => host.to_vec(),
    })
}

fn empty_path(draft: &mut Draft, _: &Context<'_>) -> bool {
    draft.path.is_empty() && replace(&mut draft.path, b"/".to_vec())
}

fn fold_case(draft: &mut Draft, _: &Context<'_>) -> bool {
    let lower = draft.path.to_ascii_lowercase();
    let path = replace(&mut draft.path, lower);
    let query = draft.query.as_mut().is_some_and(|query| {
        let lower = query.to_ascii_lowercase();
        replace(query, lower)
    });
    path || query
}

fn joined<'p>(segments: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
    let mut path = Vec::new();
    for segment in segments {
        path.push(b'/');
        path.extend_from_slice(segment);
    }
    if path.is_empty() { b"/".to_vec() } else { path }
}

/// Those that no `..` takes back, which is the next rule's. They are told apart by where they stand.
fn empty_segments(draft: &mut Draft, _: &Context<'_>) -> bool {
    let left = ia::without_dots(ia::segments(&draft.path));
    let mut empty = left.into_iter().filter(|segment| segment.is_empty()).peekable();
    let path = joined(
        ia::segments(&draft.path)
            .filter(|segment| empty.next_if(|next| next.as_ptr() == segment.as_ptr()).is_none()),
    );
    replace(&mut draft.path, path)
}

fn dot_segments(draft: &mut Draft, _: &Context<'_>) -> bool {
    let path = joined(ia::without_dots(ia::segments(&draft.path)));
    replace(&mut draft.path, path)
}

fn session_segments(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    let Some(archive) = ctx.profile.archive else { return false };
    let segments = ia::segments(&draft.path).collect();
    let path = joined(ia::without_session_segments(segments, archive));
    replace(&mut draft.path, path)
}

fn session_params(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    let Some((archive, query)) = ctx.profile.archive.zip(draft.query.as_ref()) else {
        return false;
    };
    let kept = ia::without_session_pairs(query, archive);
    let kept = (!kept.is_empty()).then(|| kept.join(&b'&'));
    let changed = kept != draft.query;
    draft.query = kept;
    changed
}

fn empty_query(draft: &mut Draft, _: &Context<'_>) -> bool {
    draft.query.as_ref().is_some_and(Vec::is_empty) && take(&mut draft.query)
}

fn sort_query(draft: &mut Draft, _: &Context<'_>) -> bool {
    let Some(query) = &draft.query else { return false };
    let mut pairs: Vec<&[u8]> = query.split(|byte| *byte == b'&').collect();
    ia::sort_pairs(&mut pairs);
    let sorted = pairs.join(&b'&');
    draft.query.as_mut().is_some_and(|query| replace(query, sorted))
}
