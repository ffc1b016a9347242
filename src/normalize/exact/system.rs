//! Servlet containers and rings: scheme and authority follow `scheme`, the path follows the system.
//!
//! A URL with a scheme and `//` is absolute. A line that starts with `/` is a request target, a path and a
//! query also where it starts with `//`, and any other line is relative.

use crate::bytes::{Reject, RejectReason, Triplet, Troubles, push_encoded, triplet_of};
use crate::normalize::exact::ladder::Ladder;
use crate::normalize::exact::servlet::EmptySegments;
use crate::normalize::exact::{ring, servlet};
use crate::normalize::explain::Rule;
use crate::normalize::normalizer::Normalizer;
use crate::normalize::parts::Parts;
use crate::normalize::ruleset::Ruleset;
use crate::normalize::target::is_authority_form;
use crate::normalize::trace::{Place, Trace};
use crate::profile::ring::Act;
use crate::profile::{Policy, Ring, Switch, System};
use crate::simd::UrlKind;

// What the other crates of this repository ask, and nobody else.
#[doc(hidden)]
impl Normalizer {
    /// Whether `url`, as [`Normalizer::normalize`] takes it, is a request target for which no host is
    /// known: `servlet` and the rings read a line that starts with `/` as a target.
    pub fn is_hostless(&self, url: &[u8]) -> bool {
        self.rules.takes_targets()
            && self.rules.base_origin().is_none()
            && !self.rules.assume(url).has_more()
            && self.rules.is_target(url)
    }

    /// A URL that lacks a scheme, with the assumed one before it.
    pub fn assume(&self, url: &[u8]) -> Option<Vec<u8>> {
        let assumed = self.rules.assume(url);
        assumed.has_more().then(|| assumed.text.into_owned())
    }
}

/// Splits a target, or a line: a URL with scheme and authority, or else a target.
pub(in crate::normalize) fn read(kind: UrlKind, line: &[u8]) -> Parts<'_> {
    let parts = Parts::of(kind, line);
    match parts.scheme.and(parts.authority) {
        Some(_) => parts,
        None => Parts::split_target(line),
    }
}

/// The path, which an authority does not go without.
fn path_of<'a>(parts: &Parts<'a>) -> &'a [u8] {
    match parts.path {
        b"" if parts.authority.is_some() => b"/",
        path => path,
    }
}

impl Ruleset {
    pub(in crate::normalize) fn empty_segments(&self) -> EmptySegments {
        match self.profile.switches.contains(Switch::KeepEmptySegments) {
            true => EmptySegments::Kept,
            false => EmptySegments::Removed,
        }
    }

    pub(in crate::normalize) fn takes_targets(&self) -> bool {
        matches!(self.profile.system, System::Servlet | System::Ring(_))
    }

    /// Whether a line is a target. It is relative if it is no URL with scheme and authority either.
    fn is_target(&self, line: &[u8]) -> bool {
        // A ring may write the slash as a triplet.
        let is_slash = |triplet: Triplet| triplet.value == b'/';
        read(UrlKind::Absolute, line).authority.is_none()
            && (line.starts_with(b"/")
                || line == b"*"
                || self.ring().is_some_and(|ring| ring.act(b'/') == Act::Encode)
                    && Triplet::read(line).is_some_and(is_slash))
    }

    pub(in crate::normalize) fn ring(&self) -> Option<&Ring> {
        match (&self.ring, self.profile.system) {
            (Some(ring), _) => Some(ring),
            (None, System::Ring(ring)) => Some(ring),
            _ => None,
        }
    }

    /// `scheme://authority` of the base, in canonical form, if it has both.
    fn base_origin(&self) -> Option<&[u8]> {
        let base = self.base()?;
        let parts = Parts::split(base);
        parts.authority.map(|_| &base[..parts.path_start()])
    }

    /// Appends the canonical form of a URL of a list, or of a request target whose host is not known. The
    /// profile follows one system.
    #[cold]
    #[inline(never)]
    pub(in crate::normalize) fn rewrite_by_system<T: Trace>(
        &self,
        url: &[u8],
        kind: UrlKind,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        match self.profile.system {
            System::Sanitizer => return self.sanitize(url, kind, out, trace),
            System::Browser => return self.rewrite_as_browser(url, kind, out, trace),
            _ => {}
        }
        let front = self.assume_for(kind, url);
        if front.has_more() {
            trace.whole(Rule::AssumeScheme, &front.text);
        }
        let parts = read(kind, &front.text);
        let is_reference = kind == UrlKind::Absolute && parts.authority.is_none();
        if is_reference && !self.is_target(url) {
            return Err(Reject::new(RejectReason::Relative, 0));
        }
        let origin = if is_reference { self.base_origin() } else { None };
        let start = out.len();
        self.append(&parts, origin, out, trace).map_err(|reject| front.reject(reject))?;
        if parts.authority.or(origin).is_some() {
            return Ok(());
        }
        // A target must not gain a host, also not when its result is read again: by its first colon, by the
        // assumed scheme, or in authority-form.
        let gains_host = |result: &[u8]| match kind {
            UrlKind::Absolute => self.assume(result).has_more(),
            UrlKind::Target => is_authority_form(result),
        };
        let code = match &out[start..] {
            b"" => RejectReason::Empty,
            b"*" => RejectReason::AsteriskForm,
            result if read(UrlKind::Absolute, result).authority.is_some() || gains_host(result) => {
                RejectReason::Relative
            }
            _ => return Ok(()),
        };
        Err(Reject::new(code, 0))
    }

    /// Appends a URL with scheme and authority, or a target: to `origin`, or alone. The offset of an error is
    /// one in the URL or target.
    fn append<T: Trace>(
        &self,
        parts: &Parts<'_>,
        origin: Option<&[u8]>,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        let mut troubles = Troubles::new(self.allowed);
        trace.split(parts);
        let path = path_of(parts);
        if parts.authority.is_some() {
            let front = Parts { path: b"/", query: None, fragment: None, ..*parts };
            let ports = self.ports.as_deref();
            match Ladder::new(&Policy::SCHEME, ports, out, trace).absolute(&front) {
                // The slash of this path: the path itself follows below.
                Ok(()) => _ = out.pop(),
                // The path is still read, so that all errors in it are reported as well.
                Err(reject) => troubles.join(reject),
            }
            if parts.path.is_empty() {
                trace.component(Rule::EmptyPath, Place::Path, Some(path));
            }
        } else if path == b"*" && parts.query.or(parts.fragment).is_none() {
            troubles.join(Reject::new(RejectReason::AsteriskForm, 0));
        } else if origin.is_some() && self.ring().is_some() && !path.starts_with(b"/") {
            // Without a leading slash the path would become part of the authority.
            troubles.join(Reject::new(RejectReason::Relative, 0));
        }
        if let Some(origin) = origin {
            trace.origin(Rule::Join, &Parts::split(origin));
            out.extend_from_slice(origin);
        }
        match self.ring() {
            Some(ring) => {
                // The slash that ends an authority; no ring encodes it.
                let has_host = parts.authority.or(origin).is_some();
                let fixed = usize::from(has_host && path.starts_with(b"/"));
                out.extend_from_slice(&path[..fixed]);
                ring::rewrite(ring, &path[fixed..], fixed, out, trace);
            }
            None => self.servlet_path(parts, &mut troubles, trace).write_canonical(out),
        }
        push_query(parts.query, out, trace);
        troubles.result()
    }

    pub(in crate::normalize) fn servlet_path<'a, T: Trace>(
        &self,
        parts: &Parts<'a>,
        troubles: &mut Troubles,
        trace: &mut T,
    ) -> servlet::Path<'a> {
        if parts.fragment.is_some() {
            troubles.add(RejectReason::Fragment, parts.fragment_start() - 1);
        }
        let at = parts.path_start();
        servlet::Path::read(path_of(parts), at, self.empty_segments(), troubles, trace)
    }
}

/// Appends a query unchanged, with unprintable bytes as triplets. The fragment after it is dropped.
fn push_query<T: Trace>(query: Option<&[u8]>, out: &mut Vec<u8>, trace: &mut T) {
    trace.component(Rule::DropFragment, Place::Fragment, None);
    let Some(query) = query else { return };
    out.push(b'?');
    let is_literal = |byte| matches!(byte, 0x21..=0x7E);
    push_encoded(query, is_literal, out);
    if T::RECORDS {
        for (i, byte) in query.iter().enumerate().filter(|(_, byte)| !is_literal(**byte)) {
            trace.respelled(Rule::Encode, Place::Query, i..i + 1, &triplet_of(*byte));
        }
    }
}
