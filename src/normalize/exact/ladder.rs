//! The exact normalizer: one pass over the components of a URL, in the order that the rungs need.
//!
//! The order matters and the text-book order is wrong in two places: percent-decoding comes before
//! case (`http://%45X.com/` is `http://ex.com/`) and before dot segments (`%2E%2e` is one). A path that
//! would read as a host afterwards gets `/.` in front of it. With that each rung is idempotent.

use crate::bytes::{Reject, RejectReason};
use crate::normalize::exact::escape::{self, PATH, QUERY, USERINFO};
use crate::normalize::exact::host;
use crate::normalize::exact::path::remove_dot_segments;
use crate::normalize::exact::ports::DefaultPorts;
use crate::normalize::explain::Rule;
use crate::normalize::parts::{AuthorityParts, Parts, find_outside_scheme};
use crate::normalize::trace::{Place, Trace};
use crate::profile::scheme::{self, Kind, Scheme};
use crate::profile::{Grammar, Policy, Schemes, Switch};

/// Appends the canonical form of a URL with a scheme, split into `parts`. `ports` are custom default ports.
///
/// On a rejection `out` holds a part of it, which the caller truncates.
#[inline(always)]
pub(crate) fn absolute<T: Trace>(
    parts: &Parts<'_>,
    profile: &Policy,
    ports: Option<&DefaultPorts>,
    out: &mut Vec<u8>,
    trace: &mut T,
) -> Result<(), Reject> {
    let at = out.len();
    let mut facts = *scheme_name(parts, out, trace)?;
    if let Some(ports) = ports {
        facts.port = ports.of(&out[at..out.len() - 1]);
    }
    let facts = &facts;
    let network = profile.schemes == Schemes::Known && facts.kind == Kind::Network;
    if network && parts.authority.is_none() {
        let after_colon = parts.scheme.map_or(0, <[u8]>::len) + 1;
        return Err(Reject::new(RejectReason::NoAuthority, after_colon));
    }
    if let Some(authority) = parts.authority {
        out.extend_from_slice(b"//");
        self::authority(parts, authority, profile, facts, out, trace)?;
    }
    // Before dot segments are removed: after an authority a path needs no guard.
    let gains_authority = profile.schemes == Schemes::Known
        && facts.kind == Kind::File
        && parts.authority.is_none()
        && parts.path.starts_with(b"/");
    if gains_authority {
        out.extend_from_slice(b"//");
        trace.component(Rule::FileAuthority, Place::Host, Some(b""));
    }
    let path_at = out.len();
    if network && parts.path.is_empty() {
        out.push(b'/');
        trace.component(Rule::EmptyPath, Place::Path, Some(b"/"));
    }
    path_and_query(parts, profile, out, trace)?;
    if parts.authority.is_none() && !gains_authority {
        if out[path_at..].starts_with(b"//") {
            out.splice(path_at..path_at, *b"/.");
            if T::RECORDS {
                let end = path_at + path_len(&out[path_at..]);
                trace.component(Rule::PathGuard, Place::Path, Some(&out[path_at..end]));
            }
        }
        let end = path_at + path_len(&out[path_at..]);
        match (profile.schemes, facts.kind) {
            (Schemes::Known, Kind::Mailto) => {
                lower_domains(&mut out[path_at..end]);
                trace.component(Rule::MailDomain, Place::Path, Some(&out[path_at..end]));
            }
            (Schemes::Known, Kind::Urn) => {
                lower_namespace(&mut out[path_at..end]);
                trace.component(Rule::UrnNamespace, Place::Path, Some(&out[path_at..end]));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Appends path, query and fragment in canonical form, the path without any guard.
#[inline(always)]
pub(crate) fn path_and_query<T: Trace>(
    parts: &Parts<'_>,
    profile: &Policy,
    out: &mut Vec<u8>,
    trace: &mut T,
) -> Result<(), Reject> {
    let grammar = profile.grammar;
    let at = out.len();
    escape::normalize(parts.path, (&PATH, Place::Path), grammar, parts.path_start(), out, trace)?;
    if parts.path.first() == Some(&b'/') {
        let end = out.len();
        remove_dot_segments(out, at, end);
        if T::RECORDS && out.len() < end {
            trace.component(Rule::DotSegments, Place::Path, Some(&out[at..]));
        }
    }
    if let Some(query) = parts.query {
        out.push(b'?');
        let place = (&QUERY, Place::Query);
        escape::normalize(query, place, grammar, parts.query_start(), out, trace)?;
    }
    if !profile.switches.contains(Switch::KeepFragment) {
        trace.component(Rule::DropFragment, Place::Fragment, None);
    } else if let Some(fragment) = parts.fragment {
        out.push(b'#');
        let place = (&QUERY, Place::Fragment);
        escape::normalize(fragment, place, grammar, parts.fragment_start(), out, trace)?;
    }
    Ok(())
}

/// Appends the scheme in lower case and its colon (section 6.2.2.1).
#[inline(always)]
pub(in crate::normalize) fn scheme_name<T: Trace>(
    parts: &Parts<'_>,
    out: &mut Vec<u8>,
    trace: &mut T,
) -> Result<&'static Scheme, Reject> {
    let name = parts.scheme.unwrap_or_default();
    let at = out.len();
    escape::push_lower(name, out);
    let facts = scheme::facts(&out[at..]);
    if facts.name.is_empty()
        && let Some(i) = find_outside_scheme(name)
    {
        return Err(Reject::new(RejectReason::Scheme, i));
    }
    trace.component(Rule::SchemeCase, Place::Scheme, parts.scheme.map(|_| &out[at..]));
    out.push(b':');
    Ok(facts)
}

#[inline(always)]
fn authority<T: Trace>(
    parts: &Parts<'_>,
    authority: &[u8],
    profile: &Policy,
    facts: &Scheme,
    out: &mut Vec<u8>,
    trace: &mut T,
) -> Result<(), Reject> {
    let at = out.len();
    let start = parts.authority_start();
    let AuthorityParts { userinfo, host_port } = AuthorityParts::split(authority);
    // Browsers end the host at a backslash, other programs do not: `https://good.com\@evil.com/`.
    let misread = |userinfo| memchr::memchr(b'\\', userinfo);
    if profile.grammar == Grammar::Repaired
        && let Some(at) = userinfo.and_then(misread)
    {
        return Err(Reject::new(RejectReason::Host, start + at));
    }
    // RFC 3986 section 7.5: URIs are "displayed by browsers, stored in clear text bookmarks, and logged", so a
    // password in one "should be considered an error (or simply ignored)".
    let credentials_go =
        !profile.switches.contains(Switch::KeepUserinfo) && facts.kind == Kind::Network;
    if credentials_go {
        trace.component(Rule::DropUserinfo, Place::Userinfo, None);
    } else if let Some(userinfo) = userinfo {
        let place = (&USERINFO, Place::Userinfo);
        escape::normalize(userinfo, place, profile.grammar, start, out, trace)?;
        out.push(b'@');
    }
    let host_start = start + userinfo.map_or(0, |userinfo| userinfo.len() + 1);
    host::normalize(host_port, profile, facts, host_start, out, trace)?;
    // RFC 8089 section 2: an empty host and "localhost" name the same file. Checked on the result, or
    // `file://localhost:/` would need two passes.
    if profile.schemes == Schemes::Known && facts.kind == Kind::File && &out[at..] == b"localhost" {
        out.truncate(at);
        trace.component(Rule::FileLocalhost, Place::Host, Some(b""));
    }
    Ok(())
}

/// Length of the path at the start of `path_and_rest`, which is in canonical form.
fn path_len(path_and_rest: &[u8]) -> usize {
    memchr::memchr2(b'?', b'#', path_and_rest).unwrap_or(path_and_rest.len())
}

/// Lower-cases the namespace of a `urn:`, if the path starts with one (RFC 8141 sections 2 and 3.1):
/// `NID = (alphanum) 0*30(ldh) (alphanum)`
fn lower_namespace(path: &mut [u8]) {
    let Some(colon) = memchr::memchr(b':', path) else { return };
    let name = &mut path[..colon];
    let ends = [name.first(), name.last()];
    let is_one = (2..=32).contains(&name.len())
        && ends.into_iter().flatten().all(u8::is_ascii_alphanumeric)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    if is_one {
        name.make_ascii_lowercase();
    }
}

/// Lower-cases the domain of each address in the path of a `mailto:` URL (section 6.2.3, RFC 6068).
fn lower_domains(path: &mut [u8]) {
    for address in path.split_mut(|byte| *byte == b',') {
        if let Some(at) = address.iter().rposition(|byte| *byte == b'@') {
            escape::lower_outside_triplets(&mut address[at + 1..]);
        }
    }
}
