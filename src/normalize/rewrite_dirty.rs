//! Rewrites a URL that is not proven clean: in one pass by masks or by the fast path where possible, else
//! step by step.

use std::ops::Range;

use super::exact;
use super::explain::Rule;
use super::ia;
use super::normalizer::Normalizer;
use super::parts::Parts;
use super::resolve::{decode_dots, resolve};
use super::rewrite::Rewrite;
use super::ruleset::Ruleset;
use super::trace::{NoTrace, Trace};
use crate::bytes::{Reject, RejectReason};
use crate::profile::{Access, Grammar, System};
use crate::simd::{UrlKind, VectorOp};

impl Normalizer {
    /// Appends the canonical form of the URL or target `bytes[range]`, which is not known to be clean. On a
    /// rejection, `out` may hold a part of it.
    pub fn rewrite_in(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
        out: &mut Vec<u8>,
    ) -> Result<(), Reject> {
        // A target is left to the steps: it is not known yet whether it starts with a slash.
        if kind == UrlKind::Absolute
            && self.rules_alone_act()
            && self.rules.rewrite_at_once(kind, bytes, &range, out)
        {
            return Ok(());
        }
        if self.has_fast_path() {
            return match self.rules.rewrite_by_fast_path(bytes, range.clone(), kind, out) {
                Some(()) => Ok(()),
                None => self.rules.rewrite_dirty(bytes, range, kind, out, &mut NoTrace),
            };
        }
        self.rewrite_by_steps(bytes, range, kind, out)
    }

    /// Whether only the rules of a profile of the ladder act.
    #[inline]
    pub fn rules_alone_act(&self) -> bool {
        self.rules.profile.system == System::Ladder
            && self.rules.profile.grammar != Grammar::Ignored
            && self.rules.profile.archive.is_none()
            && self.hosts.is_none()
            && self.rules.ports.is_none()
            && !self.rules.heuristics.act()
            && self.leaves_all()
    }

    /// Like [`Normalizer::rewrite_in`], for any profile and options.
    #[inline(never)]
    pub fn rewrite_by_steps(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
        out: &mut Vec<u8>,
    ) -> Result<(), Reject> {
        self.rewrite_traced(bytes, range, kind, out, &mut NoTrace)
    }

    /// The same, and reports the effect of each rule to `trace`.
    #[inline]
    pub(super) fn rewrite_traced<T: Trace>(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        let at = out.len();
        self.rewrite_unredirected(bytes, range, kind, out, trace)?;
        if let Some(ends) = &self.redirects {
            ends.follow(at, out);
            trace.whole(Rule::Redirect, &out[at..]);
        }
        Ok(())
    }

    /// The same without redirects.
    #[inline]
    pub(super) fn rewrite_unredirected<T: Trace>(
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

    /// One pass by masks over `bytes[range]`, to be run inside a vector loop. It returns false if it
    /// declines.
    #[inline(always)]
    pub fn rewrite_of<'a>(
        &'a self,
        kind: UrlKind,
        bytes: &'a [u8],
        range: &Range<usize>,
        out: &'a mut Vec<u8>,
    ) -> impl VectorOp<Output = bool> + 'a {
        self.rules.rewrite_of(kind, bytes, range, out)
    }
}

impl Ruleset {
    /// Appends the canonical form of a URL or target by these rules.
    #[inline]
    pub(super) fn rewrite<T: Trace>(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
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
        if matches!(self.profile.system, System::Ladder) {
            self.rewrite_by_ladder(bytes, range, kind, out, trace)
        } else if kind == UrlKind::Absolute && self.is_clean_but_for_port(bytes, range.clone()) {
            out.extend_from_slice(&bytes[range]);
            Ok(())
        } else {
            self.rewrite_by_system(&bytes[range], kind, out, trace)
        }
    }

    /// Like [`Normalizer::rewrite_in`], by the rules of the ladder alone.
    pub(super) fn rewrite_by_ladder<T: Trace>(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        if !T::RECORDS
            && self.does_more()
            && self.rewrite_by_fast_path(bytes, range.clone(), kind, out).is_some()
        {
            return Ok(());
        }
        self.rewrite_dirty(bytes, range, kind, out, trace)
    }

    /// The same for a URL or target that is not clean.
    pub(super) fn rewrite_dirty<T: Trace>(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        let (trimmed, skipped) = self.trim(&bytes[range.clone()])?;
        if kind == UrlKind::Target && !trimmed.starts_with(b"/") {
            let code =
                if trimmed == b"*" { RejectReason::AsteriskForm } else { RejectReason::Relative };
            return Err(Reject::new(code, skipped));
        }
        if self.profile.grammar == Grammar::Ignored {
            return verbatim(trimmed, out);
        }
        trace.whole(Rule::Trim, trimmed);
        let start = range.start + skipped;
        let at = out.len();
        if self.profile.archive.is_some() && kind == UrlKind::Absolute {
            let (url, gone) = ia::without_repeated_schemes(trimmed);
            trace.whole(Rule::RepeatedScheme, &url);
            self.rewrite_trimmed(&url, kind, out, trace)
                .map_err(|reject| reject.moved(|at| at + skipped + gone))?;
        } else if T::RECORDS
            || !self.rewrite_at_once(kind, bytes, &(start..start + trimmed.len()), out)
        {
            self.rewrite_trimmed(trimmed, kind, out, trace)
                .map_err(|reject| reject.moved(|at| at + skipped))?;
        }
        self.merge(at, kind, out, trace);
        Ok(())
    }

    /// Trims 0x00-0x20 from both ends if the profile repairs URLs. Returns the rest and its start.
    pub(super) fn trim<'a>(&self, url: &'a [u8]) -> Result<(&'a [u8], usize), Reject> {
        if self.profile.access != Access::Retrieval {
            return Ok((url, 0));
        }
        let Some(start) = url.iter().position(|byte| *byte > 0x20) else {
            return Err(Reject::new(RejectReason::Empty, 0));
        };
        let end = url.iter().rposition(|byte| *byte > 0x20).map_or(start, |last| last + 1);
        Ok((&url[start..end], start))
    }

    /// Applies the rules that nearly every URL needs in one pass. Returns false if other rules are needed.
    #[inline(always)]
    pub(super) fn rewrite_at_once(
        &self,
        kind: UrlKind,
        bytes: &[u8],
        range: &Range<usize>,
        out: &mut Vec<u8>,
    ) -> bool {
        self.profile.archive.is_none()
            && self.profile.grammar != Grammar::Ignored
            && self.kernel.run(self.rewrite_of(kind, bytes, range, out))
    }

    #[inline(always)]
    fn rewrite_of<'a>(
        &'a self,
        kind: UrlKind,
        bytes: &'a [u8],
        range: &Range<usize>,
        out: &'a mut Vec<u8>,
    ) -> impl VectorOp<Output = bool> + 'a {
        let &Range { start, end } = range;
        Rewrite {
            profile: &self.profile,
            ports: self.ports.as_deref(),
            kind,
            bytes,
            start,
            end,
            out,
        }
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
        if let Some(scheme) = self.assumed_scheme()
            && lacks_scheme(&parts, url)
        {
            let mut assumed = scheme.to_vec();
            assumed.extend_from_slice(if url.starts_with(b"//") { b":" } else { b"://" });
            let prefix = assumed.len();
            assumed.extend_from_slice(url);
            trace.whole(Rule::AssumeScheme, &assumed);
            return self
                .absolute(&Parts::split(&assumed), out, trace)
                .map_err(|reject| reject.moved(|at| at.saturating_sub(prefix)));
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
        match self.profile.archive {
            Some(archive) => ia::absolute(parts, archive, out, trace),
            None => exact::absolute(parts, &self.profile, self.ports.as_deref(), out, trace),
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
        match self.profile.archive {
            Some(archive) => {
                ia::path_and_query(parts, archive, out, trace);
                Ok(())
            }
            None => exact::path_and_query(parts, &self.profile, out, trace),
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
        let result = if reference.authority.is_some() {
            let mut whole = base.scheme.unwrap_or_default().to_vec();
            whole.push(b':');
            let prefix = whole.len();
            whole.extend_from_slice(url);
            exact::absolute(&Parts::split(&whole), &self.profile, None, out, &mut NoTrace)
                .map_err(|reject| reject.moved(|at| at.saturating_sub(prefix)))
        } else {
            exact::path_and_query(reference, &self.profile, out, &mut NoTrace)
        };
        out.truncate(length);
        result
    }
}

/// Whether an assumed scheme acts on `url`.
pub(super) fn lacks_scheme(parts: &Parts<'_>, url: &[u8]) -> bool {
    match parts.scheme {
        Some(text) => {
            parts.authority.is_none()
                && (text.contains(&b'.')
                    || text.eq_ignore_ascii_case(b"localhost")
                    || parts.ends_no_scheme())
        }
        None => url.starts_with(b"//") || !matches!(url.first(), None | Some(b'/' | b'?' | b'#')),
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
