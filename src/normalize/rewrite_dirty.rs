//! Rewrites a URL that is not proven clean: in one pass by masks or by the fast path where possible, else
//! step by step.

use std::ops::Range;

use crate::bytes::{Reject, RejectReason};
use crate::normalize::exact::ia;
use crate::normalize::exact::ladder::Ladder;
use crate::normalize::exact::resolve::{decode_dots, resolve};
use crate::normalize::explain::Rule;
use crate::normalize::front::Front;
use crate::normalize::masks::rewrite::Rewrite;
use crate::normalize::normalizer::Normalizer;
use crate::normalize::parts::Parts;
use crate::normalize::ruleset::Ruleset;
use crate::normalize::trace::{NoTrace, Trace};
use crate::profile::{Grammar, System};
use crate::simd::UrlKind;

/// Whether rewriting by masks has been tried on a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::normalize) enum Masks {
    Untried,
    /// It declined. Trying again would only take time.
    Declined,
}

impl Normalizer {
    /// Appends the canonical form of the URL or target `bytes[range]`, which is not known to be clean. On a
    /// rejection, `out` may hold a part of it.
    #[doc(hidden)]
    pub fn rewrite_in(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
        out: &mut Vec<u8>,
    ) -> Result<(), Reject> {
        // Nothing else can act here, so nobody asks for charsets, hosts and redirects on the way.
        if self.has_fast_path() {
            let done = self.rules.rewrite_by_fast_path(bytes, range.clone(), kind, out);
            if done.is_some() {
                return Ok(());
            }
        } else if !self.rules_alone_act() {
            return self.rewrite_traced(bytes, range, kind, out, &mut NoTrace);
        }
        self.rules.rewrite_dirty(bytes, range, kind, Masks::Untried, out, &mut NoTrace)
    }

    /// Whether only the rules of a profile of the ladder act.
    #[inline]
    pub(in crate::normalize) fn rules_alone_act(&self) -> bool {
        self.rules.profile.system == System::Ladder
            && self.rules.profile.grammar != Grammar::Ignored
            && self.hosts.is_none()
            && self.rules.ports.is_none()
            && !self.rules.heuristics.act()
            && self.leaves_all()
    }

    /// The same for any profile and options, and reports the effect of each rule to `trace`.
    #[inline(never)]
    pub(in crate::normalize) fn rewrite_traced<T: Trace>(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        let at = out.len();
        self.rewrite_unredirected(bytes, range, kind, out, trace)?;
        // The list is in canonical form, so it is asked when all other rules have acted.
        if let Some(ends) = &self.redirects {
            ends.follow(at, out);
            trace.whole(Rule::Redirect, &out[at..]);
        }
        Ok(())
    }

    /// The same without redirects.
    #[inline]
    pub(in crate::normalize) fn rewrite_unredirected<T: Trace>(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        match &self.hosts {
            Some(hosts) if kind == UrlKind::Absolute => {
                self.rewrite_by_host(hosts, &bytes[range], out, trace)
            }
            _ => self.rules.rewrite(bytes, range, kind, out, trace),
        }
    }
}

impl Ruleset {
    /// Appends the canonical form of a URL or target by these rules.
    #[inline]
    pub(in crate::normalize) fn rewrite<T: Trace>(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        // The rules read triplets as UTF-8, so this comes before all of them.
        #[cfg(feature = "transcode")]
        if let Some(transcoded) = self.transcoded(&bytes[range.clone()], kind) {
            let (url, all) = (&transcoded.url, 0..transcoded.url.len());
            trace.whole(Rule::Transcode, url);
            return self
                .rewrite_by_rules(url, all, kind, out, trace)
                .map_err(|reject| transcoded.reject(reject));
        }
        self.rewrite_by_rules(bytes, range, kind, out, trace)
    }

    /// The same, without transcoding triplets.
    #[inline]
    fn rewrite_by_rules<T: Trace>(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        if self.profile.system.has_masks() {
            self.rewrite_by_ladder(bytes, range, kind, out, trace)
        } else if kind == UrlKind::Absolute && self.is_clean_but_for_port(bytes, range.clone()) {
            // One URL in a hundred has a port, and the exact path takes 300 ns for each.
            out.extend_from_slice(&bytes[range]);
            Ok(())
        } else {
            self.rewrite_by_system(&bytes[range], kind, out, trace)
        }
    }

    /// Like [`Normalizer::rewrite_in`], by the rules of the ladder alone.
    pub(in crate::normalize) fn rewrite_by_ladder<T: Trace>(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        // The fast path reports no rules.
        if !T::RECORDS
            && self.does_more()
            && self.rewrite_by_fast_path(bytes, range.clone(), kind, out).is_some()
        {
            return Ok(());
        }
        self.rewrite_dirty(bytes, range, kind, Masks::Untried, out, trace)
    }

    /// The same for a URL or target that is not clean.
    pub(in crate::normalize) fn rewrite_dirty<T: Trace>(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
        masks: Masks,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        let front = self.trim(&bytes[range.clone()])?;
        let trimmed = &*front.text;
        if kind == UrlKind::Target && !trimmed.starts_with(b"/") {
            let code =
                if trimmed == b"*" { RejectReason::AsteriskForm } else { RejectReason::Relative };
            return Err(Reject::new(code, front.cut));
        }
        if self.profile.grammar == Grammar::Ignored {
            return verbatim(trimmed, out);
        }
        trace.whole(Rule::Trim, trimmed);
        let at = out.len();
        if self.profile.system == System::Archive && kind == UrlKind::Absolute {
            let (url, gone) = ia::without_repeated_schemes(trimmed);
            trace.whole(Rule::RepeatedScheme, &url);
            let front = Front::after(front.cut + gone, url);
            self.rewrite_trimmed(&front.text, kind, out, trace).map_err(|r| front.reject(r))?;
        } else if T::RECORDS
            || masks == Masks::Declined
            || !self.rewrite_by_masks(kind, bytes, range, out)
        {
            self.rewrite_trimmed(trimmed, kind, out, trace).map_err(|r| front.reject(r))?;
        }
        self.merge(at, kind, out, trace);
        Ok(())
    }

    /// Applies the rules that nearly every URL needs in one pass. Returns false if other rules are needed.
    #[inline(always)]
    pub(in crate::normalize) fn rewrite_by_masks(
        &self,
        kind: UrlKind,
        bytes: &[u8],
        Range { start, end }: Range<usize>,
        out: &mut Vec<u8>,
    ) -> bool {
        // These masks decode a triplet once, and `ia` decodes until none is left.
        self.profile.system != System::Archive
            && self.kernel.run(Rewrite {
                profile: &self.profile,
                ports: self.ports.as_deref(),
                kind,
                bytes,
                start,
                end,
                out,
            })
    }

    fn rewrite_trimmed<T: Trace>(
        &self,
        url: &[u8],
        kind: UrlKind,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        let parts = Parts::of(kind, url);
        if kind == UrlKind::Target {
            return self.path_and_query(&parts, out, trace);
        }
        // Text that lacks a scheme would be a reference to the base, so the assumed scheme comes
        // first.
        let assumed = self.assume(url);
        if assumed.has_more() {
            trace.whole(Rule::AssumeScheme, &assumed.text);
            let parts = Parts::split(&assumed.text);
            return self.absolute(&parts, out, trace).map_err(|r| assumed.reject(r));
        }
        let Some(base) = self.base().map(Parts::split) else {
            return match parts.scheme {
                Some(_) => self.absolute(&parts, out, trace),
                None => Err(Reject::new(RejectReason::Relative, 0)),
            };
        };
        // No reference starts like this (section 4.2), but browsers read it as a path.
        if parts.ends_no_scheme() && self.profile.grammar == Grammar::Enforced {
            return Err(Reject::new(RejectReason::Relative, 0));
        }
        let parts = self.split(url);
        if parts.scheme.is_some() {
            return self.absolute(&parts, out, trace);
        }
        self.check_reference(&base, &parts, url, out)?;
        // `%2e%2e` resolves as `..` does. No other triplet matters before that, so the rest is decoded later.
        let path = decode_dots(parts.path);
        if T::RECORDS {
            let start = parts.path_start();
            let behind = &url[start + parts.path.len()..];
            trace.whole(Rule::DecodeDots, &[&url[..start], &path, behind].concat());
        }
        let parts = Parts { path: &path, ..parts };
        let mut resolved = Vec::new();
        resolve(&base, &parts, &mut resolved);
        trace.whole(Rule::Resolve, &resolved);
        self.absolute(&Parts::split(&resolved), out, trace)
    }

    /// Appends the canonical form of a URL with a scheme.
    #[inline(always)]
    fn absolute<T: Trace>(
        &self,
        parts: &Parts<'_>,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        trace.split(parts);
        match self.profile.system {
            System::Archive => ia::absolute(parts, out, trace),
            _ => Ladder::new(&self.profile, self.ports.as_deref(), out, trace).absolute(parts),
        }
    }

    /// Appends the canonical form of a request target.
    fn path_and_query<T: Trace>(
        &self,
        parts: &Parts<'_>,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        trace.split(parts);
        match self.profile.system {
            System::Archive => {
                ia::path_and_query(parts, out, trace);
                Ok(())
            }
            // A target names no port.
            _ => Ladder::new(&self.profile, None, out, trace).path_and_query(parts),
        }
    }

    /// Checks a reference before it is resolved, so that the offset of a rejection is one in the reference:
    /// resolving moves bytes.
    fn check_reference(
        &self,
        base: &Parts<'_>,
        reference: &Parts<'_>,
        url: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Reject> {
        let length = out.len();
        let mut trace = NoTrace;
        let result = if reference.authority.is_some() {
            // `ia` decodes a host more often than the ladder: `//ex%2561mple.com/` names one.
            let whole = Front::with(&[base.scheme.unwrap_or_default(), b":"], url);
            let parts = Parts::split(&whole.text);
            self.absolute(&parts, out, &mut trace).map_err(|reject| whole.reject(reject))
        } else {
            Ladder::new(&self.profile, None, out, &mut trace).path_and_query(reference)
        };
        // Only the verdict counts. The reference is written once it is resolved.
        out.truncate(length);
        result
    }
}

/// Simple string comparison (section 6.2.1). A line break would make two records of one.
fn verbatim(url: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
    if let Some(at) = memchr::memchr2(b'\r', b'\n', url) {
        return Err(Reject::new(RejectReason::Newline, at));
    }
    out.extend_from_slice(url);
    Ok(())
}
