//! A profile made ready for use, with the scanner and the base it works with.

use std::convert::Infallible;
use std::ops::Range;

use super::canonical::Canonical;
use super::choices::Choices;
use super::heuristic::Heuristics;
use super::ia;
use super::normalize;
use super::outcome::{Code, Outcome, Reject};
use super::parts::Parts;
use super::resolve::resolve;
use super::rewrite::Rewrite;
use crate::profile::{Access, Grammar, Profile, Switches, System, set};
use crate::record::Origin;
use crate::scan::{Backend, Kernel, Lead};

/// Brings URLs into the canonical form of one [`Profile`]. Built once, shared by all threads.
///
/// ```
/// use uniqurl::{Code, Normalizer, Outcome, Profile};
///
/// let crawl = Normalizer::new(&Profile::CRAWL);
/// let mut out = Vec::new();
/// assert_eq!(crawl.normalize(b"HTTP://EX%41MPLE.com:80/a/../b?q=%7e#top", &mut out), Outcome::Canonical);
/// assert_eq!(out, b"http://example.com/b?q=~");
///
/// out.clear();
/// let Outcome::Reject(reject) = crawl.normalize(b"http://[::1", &mut out) else { panic!() };
/// assert_eq!((reject.code, reject.at), (Code::Host, 7));
/// assert!(out.is_empty());
/// ```
///
/// A URL is a string of bytes and nothing is decoded to text on the way. Any bytes are taken; none
/// make it panic, and the time is linear in their number.
#[derive(Debug, Clone)]
pub struct Normalizer {
    profile: &'static Profile,
    /// The profile as it is here, with switches turned.
    pub(super) rules: Profile,
    kernel: Kernel,
    base: Option<Vec<u8>>,
    assumed_scheme: Option<Vec<u8>>,
    pub(super) choices: Choices,
}

impl Normalizer {
    /// A normalizer with the fastest scanner that this CPU has.
    pub fn new(profile: &'static Profile) -> Self {
        Self {
            profile,
            rules: *profile,
            kernel: Kernel::best(),
            base: None,
            assumed_scheme: None,
            choices: Choices::of(profile),
        }
    }

    /// Uses this scanner. Where the CPU lacks it, the scalar one: [`Normalizer::backend`] tells.
    ///
    /// Every scanner gives the same results; this is for tests and measurements.
    #[must_use]
    pub fn with_backend(mut self, backend: Backend) -> Self {
        self.kernel = Kernel::new(backend).unwrap_or_else(Kernel::scalar);
        self.of_each_host(|section| Ok::<_, Infallible>(section.with_backend(backend)))
            .unwrap_or_else(|never| match never {})
    }

    /// Resolves relative references against `base` (RFC 3986 section 5.2, strictly; under `whatwg` the
    /// URL Standard's way) instead of rejecting them.
    ///
    /// # Errors
    ///
    /// The base itself is rejected by the profile, or it is no absolute URL ([`Code::Relative`]).
    /// Under `string` it is only asked to have a scheme, and acts on request targets alone.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let syntax = Normalizer::new(&Profile::SYNTAX).with_base(b"http://a/b/c/d;p?q").unwrap();
    /// let mut out = Vec::new();
    /// let _ = syntax.normalize(b"../g", &mut out);
    /// assert_eq!(out, b"http://a/b/g");
    /// ```
    pub fn with_base(mut self, base: &[u8]) -> Result<Self, Reject> {
        self.base = None;
        let mut canonical = Vec::new();
        let mut normalizer = self.clone();
        // The final slash of a base counts, and the form of an archive key has none.
        if self.rules.archive.is_some() {
            normalizer.rules = Profile::CRAWL;
        }
        // For the same reason nothing goes from it by experience.
        normalizer.choices.heuristics = Heuristics::new(Switches::NONE);
        normalizer.choices.redirects = None;
        normalizer.choices.hosts = None;
        if let Outcome::Reject(reject) = normalizer.normalize(base, &mut canonical) {
            return Err(reject);
        }
        // Section 5.2.1: "Normalization of the base URI ... is optional." It is done, so that equal
        // bases make equal URLs. Its fragment is no part of it (section 5.1).
        let parts = Parts::split(&canonical);
        if parts.scheme.is_none() {
            return Err(Reject::new(Code::Relative, 0));
        }
        let fragment = parts.fragment.map_or(0, |fragment| fragment.len() + 1);
        canonical.truncate(canonical.len() - fragment);
        self.base = Some(canonical);
        self.of_each_host(|section| section.with_base(base))
    }

    /// Reads what has no scheme as if `scheme://` (or `scheme:` before `//`) stood in front of it.
    ///
    /// It acts where no scheme is found, and where the text before the first colon holds a dot or is
    /// `localhost` and no `//` follows: `example.com:80/x`, `//h/x`. What starts with `/`, `?` or `#`
    /// stays a relative reference.
    ///
    /// # Errors
    ///
    /// [`Code::Scheme`] when `scheme` is not a scheme.
    pub fn with_assumed_scheme(mut self, scheme: &[u8]) -> Result<Self, Reject> {
        let bad = |(i, byte): (usize, &u8)| {
            !if i == 0 { set::ALPHA } else { set::SCHEME }.contains(*byte)
        };
        if let Some(at) = scheme.iter().enumerate().position(bad) {
            return Err(Reject::new(Code::Scheme, at));
        }
        if scheme.is_empty() {
            return Err(Reject::new(Code::Scheme, 0));
        }
        self.assumed_scheme = Some(scheme.to_vec());
        self.of_each_host(|section| section.with_assumed_scheme(scheme))
    }

    /// The profile, as it is built in.
    pub fn profile(&self) -> &'static Profile {
        self.profile
    }

    /// The scanner in use.
    pub fn backend(&self) -> Backend {
        self.kernel.backend()
    }

    pub(crate) fn kernel(&self) -> Kernel {
        self.kernel
    }

    pub(super) fn base(&self) -> Option<&[u8]> {
        self.base.as_deref()
    }

    pub(super) fn assumed_scheme(&self) -> Option<&[u8]> {
        self.assumed_scheme.as_deref()
    }

    /// Scheme and authority of the base, which request targets are joined to. None where the base has
    /// no authority: it names no host then.
    pub fn origin(&self) -> Option<Origin> {
        let parts = Parts::split(self.base.as_ref()?);
        let (scheme, authority) = (parts.scheme?.to_vec(), parts.authority?.to_vec());
        Some(Origin { scheme, authority })
    }

    /// Appends the canonical form of `url` to `out`; on a rejection, appends nothing.
    pub fn normalize(&self, url: &[u8], out: &mut Vec<u8>) -> Outcome {
        if self.is_clean(url) {
            out.extend_from_slice(url);
            return Outcome::Canonical;
        }
        self.finish(out, |out| self.rewrite(url, out))
    }

    /// Like [`Normalizer::normalize`] for a request target in origin-form whose host is not known:
    /// a path and a query, also when it starts with `//`, so no host can come out of it
    /// (RFC 9112 section 3.2.1).
    ///
    /// `*` is [`Code::AsteriskForm`], and what does not start with `/` is [`Code::Relative`].
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let crawl = Normalizer::new(&Profile::CRAWL);
    /// let mut out = Vec::new();
    /// let _ = crawl.normalize_target(b"//a/./b?q#f", &mut out);
    /// assert_eq!(out, b"//a/b?q");
    /// ```
    pub fn normalize_target(&self, target: &[u8], out: &mut Vec<u8>) -> Outcome {
        if self.is_clean_target(target) {
            out.extend_from_slice(target);
            return Outcome::Canonical;
        }
        self.finish(out, |out| self.rewrite_target(target, out))
    }

    /// Whether `url` is proven to be its own canonical form.
    ///
    /// `true` is a proof; `false` only says that a closer look is needed.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let crawl = Normalizer::new(&Profile::CRAWL);
    /// assert!(crawl.is_clean(b"https://example.com/a/b.html?q=1"));
    /// assert!(!crawl.is_clean(b"https://example.com/a/../b"));
    /// ```
    #[inline]
    pub fn is_clean(&self, url: &[u8]) -> bool {
        match &self.choices.hosts {
            None => self.is_clean_by_rules(url, 0..url.len(), Lead::Absolute),
            Some(hosts) => self.is_clean_by_host(hosts, url),
        }
    }

    /// As [`Normalizer::is_clean`], for a request target.
    #[inline]
    pub(crate) fn is_clean_target(&self, target: &[u8]) -> bool {
        self.is_clean_by_rules(target, 0..target.len(), Lead::Target)
    }

    /// The canonical form of `url`: `url` itself where it is clean, otherwise written to `scratch`,
    /// which is cleared first.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let crawl = Normalizer::new(&Profile::CRAWL);
    /// let mut scratch = Vec::new();
    /// let url = crawl.canonical(b"http://example.com", &mut scratch).unwrap();
    /// assert_eq!(url.as_bytes(), b"http://example.com/");
    /// ```
    ///
    /// # Errors
    ///
    /// The rejection, where the profile has no canonical form for `url`.
    #[inline]
    pub fn canonical<'a>(
        &self,
        url: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<Canonical<'a>, Reject> {
        if self.is_clean(url) {
            return Ok(Canonical::new(url));
        }
        scratch.clear();
        self.rewrite(url, scratch)?;
        Ok(Canonical::new(scratch))
    }

    /// Runs `write` and cuts off what it wrote before a rejection.
    fn finish(
        &self,
        out: &mut Vec<u8>,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), Reject>,
    ) -> Outcome {
        let length = out.len();
        match write(out) {
            Ok(()) => Outcome::Canonical,
            Err(reject) => {
                out.truncate(length);
                Outcome::Reject(reject)
            }
        }
    }

    /// Appends the canonical form of a URL that is not known to be clean. On a rejection, `out` may
    /// hold a part of it.
    pub(crate) fn rewrite(&self, url: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
        self.rewrite_in(url, 0..url.len(), out)
    }

    /// As [`Normalizer::rewrite`], for the URL at `range` of a larger buffer.
    pub(crate) fn rewrite_in(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        out: &mut Vec<u8>,
    ) -> Result<(), Reject> {
        if self.rules_alone_act() && self.rewrite_at_once(Lead::Absolute, bytes, &range, out) {
            return Ok(());
        }
        if self.acts_at_a_glance() {
            return match self.rewrite_at_a_glance(bytes, range.clone(), Lead::Absolute, out) {
                Some(()) => Ok(()),
                None => self.rewrite_unclean(bytes, range, out),
            };
        }
        self.rewrite_by_steps(bytes, range, out)
    }

    /// Whether nothing acts but the rules of a profile of the ladder.
    #[inline]
    pub(super) fn rules_alone_act(&self) -> bool {
        self.rules.system == System::Ladder
            && self.rules.grammar != Grammar::Ignored
            && self.rules.archive.is_none()
            && self.choices.hosts.is_none()
            && self.choices.ports.is_none()
            && !self.choices.heuristics.act()
            && self.leaves_all()
    }

    #[inline(never)]
    pub(super) fn rewrite_by_steps(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        out: &mut Vec<u8>,
    ) -> Result<(), Reject> {
        let at = out.len();
        match &self.choices.hosts {
            None => self.rewrite_in_charset(bytes, range, out)?,
            Some(hosts) => self.rewrite_by_host(hosts, &bytes[range], out)?,
        }
        self.redirect(at, out);
        Ok(())
    }

    /// As [`Normalizer::rewrite_in`], by the rules for any host and without redirects.
    #[inline]
    pub(super) fn rewrite_in_charset(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        out: &mut Vec<u8>,
    ) -> Result<(), Reject> {
        #[cfg(feature = "transcode")]
        if let Some(transcoded) = self.transcoded(&bytes[range.clone()]) {
            let (url, all) = (&transcoded.url, 0..transcoded.url.len());
            return self
                .rewrite_by_rules(url, all, out)
                .map_err(|reject| transcoded.reject(reject));
        }
        self.rewrite_by_rules(bytes, range, out)
    }

    /// The same with triplets as they are.
    #[inline]
    fn rewrite_by_rules(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        out: &mut Vec<u8>,
    ) -> Result<(), Reject> {
        if matches!(self.rules.system, System::Ladder) {
            self.rewrite_by_ladder(bytes, range, out)
        } else if self.takes_targets() && self.is_clean_but_for_port(bytes, range.clone()) {
            out.extend_from_slice(&bytes[range]);
            Ok(())
        } else {
            self.rewrite_by_system(&bytes[range], out)
        }
    }

    #[inline]
    fn redirect(&self, at: usize, out: &mut Vec<u8>) {
        if let Some(ends) = &self.choices.redirects {
            ends.follow(at, out);
        }
    }

    /// As [`Normalizer::rewrite_in`], by the rules of the ladder alone.
    pub(super) fn rewrite_by_ladder(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        out: &mut Vec<u8>,
    ) -> Result<(), Reject> {
        if self.rules.grammar == Grammar::Ignored {
            return verbatim(&bytes[range], out);
        }
        if self.rewrite_clean(bytes, range.clone(), Lead::Absolute, out).is_some() {
            return Ok(());
        }
        self.rewrite_unclean(bytes, range, out)
    }

    /// The same for one that is not clean.
    fn rewrite_unclean(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        out: &mut Vec<u8>,
    ) -> Result<(), Reject> {
        let (trimmed, skipped) = self.trim(&bytes[range.clone()])?;
        let start = range.start + skipped;
        let at = out.len();
        if !self.rewrite_at_once(Lead::Absolute, bytes, &(start..start + trimmed.len()), out) {
            self.rewrite_trimmed(trimmed, out).map_err(|reject| reject.moved(|at| at + skipped))?;
        }
        if let Some(ports) = &self.choices.ports {
            ports.drop_default(at, out);
        }
        self.merge(at, Lead::Absolute, out);
        Ok(())
    }

    /// As [`Normalizer::rewrite`], for a request target.
    pub(crate) fn rewrite_target(&self, target: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
        let at = out.len();
        self.rewrite_target_transcoded(target, out)?;
        self.redirect(at, out);
        Ok(())
    }

    fn rewrite_target_transcoded(&self, target: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
        #[cfg(feature = "transcode")]
        if let Some(transcoded) = self.transcoded_target(target) {
            let result = self.rewrite_target_as_it_is(&transcoded.url, out);
            return result.map_err(|reject| transcoded.reject(reject));
        }
        self.rewrite_target_as_it_is(target, out)
    }

    fn rewrite_target_as_it_is(&self, target: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
        if matches!(self.rules.system, System::Ladder) {
            self.rewrite_target_by_ladder(target, out)
        } else {
            self.rewrite_target_by_system(target, out)
        }
    }

    /// As [`Normalizer::rewrite_target`], by the rules of the ladder alone.
    pub(super) fn rewrite_target_by_ladder(
        &self,
        target: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Reject> {
        if self.rewrite_clean(target, 0..target.len(), Lead::Target, out).is_some() {
            return Ok(());
        }
        let (trimmed, skipped) = self.trim(target)?;
        let code = match trimmed {
            b"*" => Code::AsteriskForm,
            [b'/', ..] if self.rules.grammar == Grammar::Ignored => return verbatim(target, out),
            [b'/', ..] => {
                if let Some(archive) = self.rules.archive {
                    ia::path_and_query(&Parts::split_target(trimmed), archive, out);
                    return Ok(());
                }
                let at = out.len();
                let range = skipped..skipped + trimmed.len();
                if !self.rewrite_at_once(Lead::Target, target, &range, out) {
                    normalize::path_and_query(&Parts::split_target(trimmed), &self.rules, out)
                        .map_err(|reject| reject.moved(|at| at + skipped))?;
                }
                self.merge(at, Lead::Target, out);
                return Ok(());
            }
            _ => Code::Relative,
        };
        Err(Reject::new(code, skipped))
    }

    /// Cuts 0x00-0x20 off both ends where the profile repairs, and counts what went in front.
    pub(super) fn trim<'a>(&self, url: &'a [u8]) -> Result<(&'a [u8], usize), Reject> {
        if self.rules.access != Access::Retrieval {
            return Ok((url, 0));
        }
        let Some(start) = url.iter().position(|byte| *byte > 0x20) else {
            return Err(Reject::new(Code::Empty, 0));
        };
        let end = url.iter().rposition(|byte| *byte > 0x20).map_or(start, |last| last + 1);
        Ok((&url[start..end], start))
    }

    /// Does what nearly every URL needs in one pass, or says that the rest of the rules are needed.
    #[inline(always)]
    pub(super) fn rewrite_at_once(
        &self,
        lead: Lead,
        bytes: &[u8],
        range: &Range<usize>,
        out: &mut Vec<u8>,
    ) -> bool {
        self.rules.archive.is_none()
            && self.rules.grammar != Grammar::Ignored
            && self.kernel.run(self.rewrite_of(lead, bytes, range, out))
    }

    #[inline(always)]
    pub(super) fn rewrite_of<'a>(
        &'a self,
        lead: Lead,
        bytes: &'a [u8],
        range: &Range<usize>,
        out: &'a mut Vec<u8>,
    ) -> Rewrite<'a> {
        let &Range { start, end } = range;
        Rewrite { profile: &self.rules, lead, bytes, start, end, out }
    }

    fn rewrite_trimmed(&self, url: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
        let parts = Parts::split(url);
        if let Some(scheme) = &self.assumed_scheme
            && lacks_scheme(&parts, url)
        {
            let mut assumed = scheme.clone();
            assumed.extend_from_slice(if url.starts_with(b"//") { b":" } else { b"://" });
            let prefix = assumed.len();
            assumed.extend_from_slice(url);
            return self
                .absolute(&Parts::split(&assumed), out)
                .map_err(|reject| reject.moved(|at| at.saturating_sub(prefix)));
        }
        if parts.scheme.is_some() {
            return self.absolute(&parts, out);
        }
        let Some(base) = &self.base else {
            return Err(Reject::new(Code::Relative, 0));
        };
        let base = Parts::split(base);
        self.check_reference(&base, &parts, url, out)?;
        let mut resolved = Vec::new();
        resolve(&base, &parts, &mut resolved);
        self.absolute(&Parts::split(&resolved), out)
    }

    /// Appends the canonical form of a URL with a scheme.
    #[inline(always)]
    fn absolute(&self, parts: &Parts<'_>, out: &mut Vec<u8>) -> Result<(), Reject> {
        match self.rules.archive {
            Some(archive) => ia::absolute(parts, archive, out),
            None => normalize::absolute(parts, &self.rules, out),
        }
    }

    /// Checks a reference before it is resolved, so that a rejection points into it: resolving moves
    /// bytes about.
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
            normalize::absolute(&Parts::split(&whole), &self.rules, out)
                .map_err(|reject| reject.moved(|at| at.saturating_sub(prefix)))
        } else {
            normalize::path_and_query(reference, &self.rules, out)
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
                && (text.contains(&b'.') || text.eq_ignore_ascii_case(b"localhost"))
        }
        None => url.starts_with(b"//") || !matches!(url.first(), None | Some(b'/' | b'?' | b'#')),
    }
}

/// Simple string comparison (section 6.2.1). A line break would make two records of one.
fn verbatim(url: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
    if let Some(at) = memchr::memchr2(b'\r', b'\n', url) {
        return Err(Reject::new(Code::Newline, at));
    }
    out.extend_from_slice(url);
    Ok(())
}
