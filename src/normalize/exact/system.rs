//! The profiles that follow one system each: splits a URL between the rules of the system and the ladder.
//!
//! A URL with a scheme and `//` is absolute: `servlet` and the rings act on its path, while scheme and
//! authority follow `scheme`. Under them a line that starts with `/` is a request target, a path and a
//! query also where it starts with `//`, and any other line is relative. `sanitize` is `scheme` with more reasons to reject. `whatwg` shares nothing
//! with the ladder and has a module of its own.

use crate::bytes::{Reject, RejectReason, Triplet, Troubles, push_encoded, triplet_of};
use crate::normalize::exact::servlet::EmptySegments;
use crate::normalize::exact::{ladder, ring, sanitize, servlet};
use crate::normalize::explain::Rule;
#[cfg(feature = "transcode")]
use crate::normalize::front::Front;
#[cfg(feature = "transcode")]
use crate::normalize::front::transcode::{self, Delimiters, Transcoded};
use crate::normalize::normalizer::Normalizer;
#[cfg(feature = "transcode")]
use crate::normalize::parts::AuthorityParts;
use crate::normalize::parts::Parts;
use crate::normalize::ruleset::Ruleset;
use crate::normalize::target::is_authority_form;
use crate::normalize::trace::{NoTrace, Place, Trace};
#[cfg(feature = "transcode")]
use crate::profile::Grammar;
use crate::profile::ports::registered;
use crate::profile::ring::Act;
#[cfg(feature = "transcode")]
use crate::profile::scheme::{self, Kind};
use crate::profile::{Policy, Ring, Switch, System};
use crate::simd::UrlKind;

/// The path of a request target or URL, and the parts after it.
struct Rest<'a> {
    path: &'a [u8],
    query: Option<&'a [u8]>,
    /// The start of the path in the URL.
    at: usize,
    /// The offset of the `#`.
    fragment_at: Option<usize>,
}

impl<'a> Rest<'a> {
    fn of(parts: &Parts<'a>) -> Self {
        Self {
            path: parts.path,
            query: parts.query,
            at: parts.path_start(),
            fragment_at: parts.fragment.map(|_| parts.fragment_start() - 1),
        }
    }
}

/// The reading of a line under a profile that accepts request targets in lists.
enum Read<'a> {
    Absolute(Parts<'a>),
    Target(Parts<'a>),
    /// Neither.
    Relative(Parts<'a>),
}

impl Normalizer {
    /// Whether URLs have a second result, [`Normalizer::decoded`]: all of them under `servlet`, and those of
    /// hosts whose rules a profile file bases on it.
    #[doc(hidden)]
    pub fn has_decoded(&self) -> bool {
        self.all_rules().any(Ruleset::maps_paths)
    }

    /// Appends the decoded path of `url`: under `servlet`, the path that the container maps. It may hold any
    /// bytes, and holds at least one. Under any other profile there is none, and nothing is appended.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let servlet = Normalizer::new(Profile::Servlet);
    /// let mut out = Vec::new();
    /// servlet.decoded(b"http://h/a;v=1/./%20b?q", &mut out)?;
    /// assert_eq!(out, b"/a/ b");
    /// # Ok::<(), uniqurl::Reject>(())
    /// ```
    ///
    /// Scheme and authority are not checked, so the result is meaningful only if `url` has a canonical form.
    ///
    /// # Errors
    ///
    /// The rejection, if the path cannot be decoded.
    pub fn decoded(&self, url: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
        self.decoded_as(UrlKind::Absolute, url, out)
    }

    /// The same for a URL or a target.
    ///
    /// # Errors
    ///
    /// The rejection, if the path cannot be decoded.
    #[doc(hidden)]
    pub fn decoded_as(&self, kind: UrlKind, url: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
        if let Some(end) = self.redirected(kind, url) {
            return match kind {
                UrlKind::Absolute => {
                    let rules = self.rules_for(&end);
                    rules.decode(&rules.read(&end), out)
                }
                UrlKind::Target => self.rules.decode(&self.rules.read(&end), out),
            };
        }
        match &self.hosts {
            Some(hosts) if kind == UrlKind::Absolute => self.decoded_by_host(hosts, url, out),
            _ => self.rules.decoded(url, kind, out),
        }
    }

    /// Whether `url`, as [`Normalizer::normalize`] takes it, is a request target for which no host is
    /// known: `servlet` and the rings read a line that starts with `/` as a target.
    #[doc(hidden)]
    pub fn is_hostless(&self, url: &[u8]) -> bool {
        self.rules.takes_targets()
            && self.rules.base_origin().is_none()
            && !self.rules.assume(url).has_more()
            && matches!(self.rules.read(url), Read::Target(_))
    }

    /// A URL that lacks a scheme, with the assumed one before it.
    #[doc(hidden)]
    pub fn assume(&self, url: &[u8]) -> Option<Vec<u8>> {
        let assumed = self.rules.assume(url);
        assumed.has_more().then(|| assumed.text.into_owned())
    }
}

impl Ruleset {
    pub(in crate::normalize) fn empty_segments(&self) -> EmptySegments {
        if self.profile.switches.contains(Switch::KeepEmptySegments) {
            EmptySegments::Kept
        } else {
            EmptySegments::Removed
        }
    }

    /// `url` with its triplets in UTF-8; `None` if nothing changes.
    #[cfg(feature = "transcode")]
    pub(in crate::normalize) fn transcoded(&self, url: &[u8], kind: UrlKind) -> Option<Transcoded> {
        let charset = self.transcoding?;
        let caseless = || match kind {
            UrlKind::Absolute => self.caseless(url),
            UrlKind::Target => self.path_end_if_lowered(url),
        };
        if self.takes_targets() {
            return transcode::transcode(url, charset, Delimiters::Respelled, caseless);
        }
        // A raw byte of 0x80 or above is rejected, unless its component is dropped unread.
        if self.profile.grammar == Grammar::Enforced {
            let kept = self.without_dropped(url);
            let of_host = kind == UrlKind::Absolute;
            if !(kept.is_ascii() || of_host && self.is_ascii_but_for_userinfo(kept)) {
                return None;
            }
        }
        transcode::transcode(url, charset, Delimiters::Kept, caseless)
    }

    /// The same for a host, whose case does not matter.
    #[cfg(feature = "transcode")]
    pub(in crate::normalize) fn transcoded_host(&self, host: &[u8]) -> Option<Transcoded> {
        transcode::transcode(host, self.transcoding?, Delimiters::Kept, || host.len())
    }

    /// `url` without the fragment, if that is dropped.
    #[cfg(feature = "transcode")]
    fn without_dropped<'a>(&self, url: &'a [u8]) -> &'a [u8] {
        match memchr::memchr(b'#', url) {
            Some(end) if !self.profile.switches.contains(Switch::KeepFragment) => &url[..end],
            _ => url,
        }
    }

    /// Whether all bytes are ASCII, except those of a userinfo that is dropped.
    #[cfg(feature = "transcode")]
    fn is_ascii_but_for_userinfo(&self, url: &[u8]) -> bool {
        if self.profile.switches.contains(Switch::KeepUserinfo) {
            return false;
        }
        let assumed = self.assume(url);
        let parts = Parts::split(&assumed.text);
        let base = self.base().and_then(|base| Parts::split(base).scheme);
        let (Some(name), Some(authority)) = (parts.scheme.or(base), parts.authority) else {
            return false;
        };
        scheme::facts(&name.to_ascii_lowercase()).kind == Kind::Network
            && [Some(name), Some(AuthorityParts::split(authority).host_port), Some(parts.path)]
                .into_iter()
                .chain([parts.query, parts.fragment])
                .flatten()
                .all(<[u8]>::is_ascii)
    }

    /// The end of the part of `url` in which the profile may change the case of letters: a host, or
    /// mail addresses.
    #[cfg(feature = "transcode")]
    fn caseless(&self, url: &[u8]) -> usize {
        let front = self.trim(url).unwrap_or(Front::whole(url));
        let (trimmed, skipped) = (&*front.text, front.cut);
        let parts = self.split(trimmed);
        let assumed = self.assume(trimmed).has_more();
        let base = self.base().and_then(|base| Parts::split(base).scheme);
        let end = match (parts.scheme.or(base), parts.authority) {
            (_, None) if assumed => {
                memchr::memchr3(b'/', b'?', b'#', trimmed).unwrap_or(trimmed.len())
            }
            (_, Some(_)) if self.takes_targets() && parts.scheme.is_none() && !assumed => 0,
            (_, Some(_)) => parts.path_start(),
            (Some(scheme), None)
                if scheme.eq_ignore_ascii_case(b"mailto") && !self.takes_targets() =>
            {
                trimmed.len()
            }
            (_, None) => 0,
        };
        skipped + end.max(self.path_end_if_lowered(trimmed))
    }

    /// The end of the path if its case is folded, else 0.
    #[cfg(feature = "transcode")]
    fn path_end_if_lowered(&self, url: &[u8]) -> usize {
        if self.profile.switches.contains(Switch::LowerPath) {
            memchr::memchr2(b'?', b'#', url).unwrap_or(url.len())
        } else {
            0
        }
    }

    fn maps_paths(&self) -> bool {
        self.profile.system == System::Servlet
    }

    /// Like [`Normalizer::decoded_as`], by these rules and without redirects.
    pub(in crate::normalize) fn decoded(
        &self,
        url: &[u8],
        kind: UrlKind,
        out: &mut Vec<u8>,
    ) -> Result<(), Reject> {
        #[cfg(feature = "transcode")]
        if let Some(transcoded) = self.transcoded(url, kind) {
            return self
                .decoded_as_it_is(&transcoded.url, kind, out)
                .map_err(|reject| transcoded.reject(reject));
        }
        self.decoded_as_it_is(url, kind, out)
    }

    fn decoded_as_it_is(&self, url: &[u8], kind: UrlKind, out: &mut Vec<u8>) -> Result<(), Reject> {
        if kind == UrlKind::Target {
            return self.decode(&Read::Target(Parts::split_target(url)), out);
        }
        let front = self.assume(url);
        self.decode(&self.read(&front.text), out).map_err(|reject| front.reject(reject))
    }

    fn decode(&self, read: &Read<'_>, out: &mut Vec<u8>) -> Result<(), Reject> {
        let mut troubles = Troubles::new(self.allowed);
        if self.maps_paths() {
            let length = out.len();
            let (Read::Absolute(parts) | Read::Target(parts) | Read::Relative(parts)) = read;
            let mut rest = Rest::of(parts);
            if parts.authority.is_some() && rest.path.is_empty() {
                rest.path = b"/";
            }
            self.servlet_path(&rest, &mut troubles, &mut NoTrace).write_decoded(out);
            troubles.result().inspect_err(|_| out.truncate(length))?;
        }
        Ok(())
    }

    pub(in crate::normalize) fn takes_targets(&self) -> bool {
        matches!(self.profile.system, System::Servlet | System::Ring(_))
    }

    /// Reads a line.
    fn read<'a>(&self, url: &'a [u8]) -> Read<'a> {
        let parts = Parts::split(url);
        if parts.scheme.is_some() && parts.authority.is_some() {
            return Read::Absolute(parts);
        }
        let target = Parts::split_target(url);
        if url.starts_with(b"/") || url == b"*" || self.starts_with_encoded_slash(url) {
            Read::Target(target)
        } else {
            Read::Relative(target)
        }
    }

    /// Whether a line starts with `%2F` under a ring that writes the slash so.
    fn starts_with_encoded_slash(&self, line: &[u8]) -> bool {
        let is_slash = |triplet: Triplet| triplet.value == b'/';
        Triplet::read(line).is_some_and(is_slash)
            && self.ring().is_some_and(|ring| ring.act(b'/') == Act::Encode)
    }

    pub(in crate::normalize) fn ring(&self) -> Option<&Ring> {
        match (&self.ring, self.profile.system) {
            (Some(ring), _) => Some(ring),
            (None, System::Ring(ring)) => Some(ring),
            _ => None,
        }
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
        if kind == UrlKind::Target {
            return self.hostless_target(url, out, trace);
        }
        let assumed = self.assume(url);
        if assumed.has_more() {
            trace.whole(Rule::AssumeScheme, &assumed.text);
            let parts = Parts::split(&assumed.text);
            return self.absolute_of_system(&parts, out, trace).map_err(|r| assumed.reject(r));
        }
        match self.read(url) {
            Read::Absolute(parts) => self.absolute_of_system(&parts, out, trace),
            Read::Relative(_) => Err(Reject::new(RejectReason::Relative, 0)),
            Read::Target(parts) => match self.base_origin() {
                Some(origin) => self.joined(origin, url, &parts, out, trace),
                None => {
                    let start = out.len();
                    self.target(url, &parts, out, trace)?;
                    // A target must not gain a host: read again, this result would get the assumed scheme.
                    match self.assume(&out[start..]).has_more() {
                        false => Ok(()),
                        true => Err(Reject::new(RejectReason::Relative, 0)),
                    }
                }
            },
        }
    }

    fn hostless_target<T: Trace>(
        &self,
        target: &[u8],
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        let parts = Parts::split_target(target);
        let start = out.len();
        self.target(target, &parts, out, trace)?;
        // Read again, this result would be a target in authority-form.
        if self.ring().is_some() && is_authority_form(&out[start..]) {
            return Err(Reject::new(RejectReason::Relative, 0));
        }
        Ok(())
    }

    fn sanitize<T: Trace>(
        &self,
        url: &[u8],
        kind: UrlKind,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        let mut troubles = Troubles::new(self.allowed);
        let own_port = |scheme: &[u8]| match &self.ports {
            Some(ports) => ports.of(scheme).or_else(|| registered(scheme)),
            None => registered(scheme),
        };
        let path;
        if kind == UrlKind::Target {
            path = 0;
            sanitize::check(url, &Parts::split_target(url), b"", own_port, &mut troubles);
        } else {
            let front = self.assume(url);
            let base = self.base().and_then(|base| Parts::split(base).scheme).unwrap_or_default();
            let parts = Parts::split(&front.text);
            path = front.place(parts.path_start());
            let mut found = Troubles::new(self.allowed);
            sanitize::check(&front.text, &parts, base, own_port, &mut found);
            troubles.join_result(found.result().map_err(|reject| front.reject(reject)));
        }
        let start = out.len();
        troubles.join_result(self.rewrite_by_ladder(url, 0..url.len(), kind, out, trace));
        troubles.result()?;
        // Dot segments, or a base, may have changed the charset of the path. The result must be accepted when
        // it is read again.
        let result = &out[start..];
        let parts = match kind {
            UrlKind::Target => Parts::split_target(result),
            UrlKind::Absolute => Parts::split(result),
        };
        let mut troubles = Troubles::new(self.allowed);
        if sanitize::has_overlong_path(parts.path) {
            troubles.add(RejectReason::OverlongUtf8, path);
        }
        troubles.result()
    }

    /// `scheme://authority` of the base, in canonical form, if it has both.
    fn base_origin(&self) -> Option<&[u8]> {
        let base = self.base()?;
        let parts = Parts::split(base);
        (parts.scheme.is_some() && parts.authority.is_some()).then(|| &base[..parts.path_start()])
    }

    fn absolute_of_system<T: Trace>(
        &self,
        parts: &Parts<'_>,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        trace.split(parts);
        let mut troubles = Troubles::new(self.allowed);
        let front = Parts { path: b"/", query: None, fragment: None, ..*parts };
        let start = out.len();
        let ports = self.ports.as_deref();
        troubles.join_result(ladder::absolute(&front, &Policy::SCHEME, ports, out, trace));
        if troubles.result().is_err() {
            // The path is still read, so that all errors in it are reported as well.
            out.truncate(start);
        } else {
            out.pop();
        }
        let mut rest = Rest::of(parts);
        if rest.path.is_empty() {
            rest.path = b"/";
            trace.component(Rule::EmptyPath, Place::Path, Some(b"/"));
        }
        self.behind_authority(&rest, &mut troubles, out, trace);
        troubles.result()
    }

    /// Appends a target to the base's scheme and authority. The offset of an error is one in the target.
    fn joined<T: Trace>(
        &self,
        origin: &[u8],
        target: &[u8],
        parts: &Parts<'_>,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        let mut troubles = Troubles::new(self.allowed);
        if target == b"*" {
            troubles.join(Reject::new(RejectReason::AsteriskForm, 0));
        } else if self.ring().is_some() && !parts.path.starts_with(b"/") {
            // Without a leading slash the path would become part of the authority.
            troubles.join(Reject::new(RejectReason::Relative, 0));
        }
        trace.split(parts);
        trace.origin(Rule::Join, &Parts::split(origin));
        out.extend_from_slice(origin);
        self.behind_authority(&Rest::of(parts), &mut troubles, out, trace);
        troubles.result()
    }

    fn behind_authority<T: Trace>(
        &self,
        rest: &Rest<'_>,
        troubles: &mut Troubles,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) {
        match (self.ring(), rest.path.strip_prefix(b"/")) {
            // This slash ends the authority; no ring encodes it.
            (Some(ring), Some(path)) => {
                out.push(b'/');
                ring::rewrite(ring, path, 1, out, trace);
            }
            (Some(_), None) => {}
            (None, _) => self.servlet_path(rest, troubles, trace).write_canonical(out),
        }
        push_query(rest.query, out, trace);
    }

    /// A request target whose host is not known.
    fn target<T: Trace>(
        &self,
        target: &[u8],
        parts: &Parts<'_>,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        trace.split(parts);
        let mut troubles = Troubles::new(self.allowed);
        let rest = Rest::of(parts);
        let start = out.len();
        match self.ring() {
            Some(ring) => {
                ring::rewrite(ring, rest.path, 0, out, trace);
                push_query(rest.query, out, trace);
                let result = &out[start..];
                let reads_as_url = || {
                    let parts = Parts::split(result);
                    parts.scheme.is_some() && parts.authority.is_some()
                };
                if result.is_empty() {
                    troubles.join(Reject::new(RejectReason::Empty, 0));
                } else if target == b"*" || result == b"*" {
                    troubles.join(Reject::new(RejectReason::AsteriskForm, 0));
                } else if !result.starts_with(b"/") && reads_as_url() {
                    // A target must not gain a host.
                    troubles.join(Reject::new(RejectReason::Relative, 0));
                }
            }
            None => {
                if target == b"*" {
                    troubles.join(Reject::new(RejectReason::AsteriskForm, 0));
                }
                self.servlet_path(&rest, &mut troubles, trace).write_canonical(out);
                push_query(rest.query, out, trace);
            }
        }
        troubles.result()
    }

    fn servlet_path<'a, T: Trace>(
        &self,
        rest: &Rest<'a>,
        troubles: &mut Troubles,
        trace: &mut T,
    ) -> servlet::Path<'a> {
        if let Some(at) = rest.fragment_at {
            troubles.add(RejectReason::Fragment, at);
        }
        servlet::Path::read(rest.path, rest.at, self.empty_segments(), troubles, trace)
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
