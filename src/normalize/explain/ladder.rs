//! The rules of RFC 3986 and of the schemes, one by one, each on a whole [`Draft`].

use super::Context;
use super::draft::{Draft, replace, take};
use super::spelling::is_simple;
use crate::normalize::escape::lower_outside_triplets;
use crate::normalize::host;
use crate::normalize::normalize::lower_domains;
use crate::normalize::path;
use crate::profile::scheme::{self, Kind, Scheme};
use crate::profile::{Access, Ports, Schemes, Switch};

/// The facts of the URL's scheme, where schemes are told apart.
fn known<'d>(draft: &Draft, ctx: &Context<'_>) -> Option<&'d Scheme> {
    let name = draft.scheme.as_ref()?;
    let facts = scheme::facts(&name.to_ascii_lowercase());
    (ctx.profile.schemes == Schemes::Known).then_some(facts)
}

fn is_kind(draft: &Draft, ctx: &Context<'_>, kind: Kind) -> bool {
    known(draft, ctx).is_some_and(|facts| facts.kind == kind)
}

pub(super) fn drop_fragment(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    !ctx.profile.switches.contains(Switch::KeepFragment) && take(&mut draft.fragment)
}

pub(super) fn drop_userinfo(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    !ctx.profile.switches.contains(Switch::KeepUserinfo)
        && is_kind(draft, ctx, Kind::Network)
        && take(&mut draft.userinfo)
}

pub(super) fn scheme_case(draft: &mut Draft, _: &Context<'_>) -> bool {
    let Some(scheme) = &mut draft.scheme else { return false };
    let lower = scheme.to_ascii_lowercase();
    replace(scheme, lower)
}

/// Where a host goes through IDNA, that folds more than ASCII.
pub(super) fn host_case(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    let Some(host) = &mut draft.host else { return false };
    if ctx.profile.access == Access::Retrieval && !is_simple(host) {
        return false;
    }
    let mut lower = host.clone();
    lower_outside_triplets(&mut lower);
    replace(host, lower)
}

pub(super) fn idna(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    let Some(host) = &mut draft.host else { return false };
    let mut ascii = Vec::new();
    ctx.profile.access == Access::Retrieval
        && !is_simple(host)
        && host::to_ascii(host, 0, &mut ascii).is_ok()
        && replace(host, ascii)
}

pub(super) fn ipv6(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    let Some(host) = &mut draft.host else { return false };
    let Some(inside) = host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]")) else {
        return false;
    };
    match host::ipv6(inside) {
        Some(address) if ctx.profile.access == Access::Retrieval => {
            let mut shortest = vec![b'['];
            host::push_ipv6(address, &mut shortest);
            shortest.push(b']');
            replace(host, shortest)
        }
        _ => false,
    }
}

pub(super) fn host_dots(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    if ctx.profile.access != Access::Retrieval || !is_kind(draft, ctx, Kind::Network) {
        return false;
    }
    let Some(host) = &mut draft.host else { return false };
    let length = host.len();
    host::drop_trailing_dots(0, Kind::Network, host);
    host.len() < length
}

pub(super) fn empty_port(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    ctx.profile.schemes == Schemes::Known
        && draft.port.as_ref().is_some_and(Vec::is_empty)
        && take(&mut draft.port)
}

pub(super) fn port_zeros(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    let Some(port) = &mut draft.port else { return false };
    let zeros = port.iter().take_while(|digit| **digit == b'0').count();
    // The last digit stays, whatever it is.
    let zeros = zeros.min(port.len().saturating_sub(1));
    port.drain(..if ctx.profile.schemes == Schemes::Known { zeros } else { 0 }).count() > 0
}

pub(super) fn default_port(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    let default = match ctx.profile.ports {
        Ports::OfSchemes => known(draft, ctx).and_then(|facts| facts.port),
        Ports::Others => None,
    };
    let own = ctx.ports.zip(draft.scheme.as_ref()).and_then(|(own, name)| own.of(name));
    let default = default.or(own);
    let is_default = |port: &Vec<u8>| default.is_some_and(|n| n.to_string().as_bytes() == port);
    draft.port.as_ref().is_some_and(is_default) && take(&mut draft.port)
}

pub(super) fn file_localhost(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    let alone = draft.userinfo.is_none() && draft.port.is_none();
    if !alone || !is_kind(draft, ctx, Kind::File) {
        return false;
    }
    match &mut draft.host {
        Some(host) if host == b"localhost" => replace(host, Vec::new()),
        _ => false,
    }
}

pub(super) fn empty_path(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    let empty = draft.path.is_empty() && is_kind(draft, ctx, Kind::Network);
    empty && replace(&mut draft.path, b"/".to_vec())
}

/// Says nothing where the guard would only put back what this took away.
pub(super) fn dot_segments(draft: &mut Draft, _: &Context<'_>) -> bool {
    if !draft.path.starts_with(b"/") {
        return false;
    }
    let mut path = draft.path.clone();
    let end = path.len();
    path::remove_dot_segments(&mut path, 0, end);
    let guarded = needs_guard(draft, &path) && draft.path == [b"/.", &path[..]].concat();
    !guarded && replace(&mut draft.path, path)
}

pub(super) fn path_guard(draft: &mut Draft, _: &Context<'_>) -> bool {
    let needed = needs_guard(draft, &draft.path);
    if needed {
        draft.path.splice(0..0, *b"/.");
    }
    needed
}

/// A request target has no scheme, and is never read as a reference.
fn needs_guard(draft: &Draft, path: &[u8]) -> bool {
    draft.scheme.is_some() && draft.host.is_none() && path.starts_with(b"//")
}

pub(super) fn mail_domain(draft: &mut Draft, ctx: &Context<'_>) -> bool {
    if draft.host.is_some() || !is_kind(draft, ctx, Kind::Mailto) {
        return false;
    }
    let mut path = draft.path.clone();
    lower_domains(&mut path);
    replace(&mut draft.path, path)
}
