//! A profile ready for use, with its scanner and base.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::bytes::{Reject, RejectReason};
use crate::normalize::canonical::Canonical;
use crate::normalize::options::hosts::Hosts;
use crate::normalize::options::unsupported::UnsupportedOption;
use crate::normalize::parts::{Parts, find_outside_scheme};
use crate::normalize::redirect_graph::Ends;
use crate::normalize::ruleset::Ruleset;
use crate::normalize::{Origin, Targets};
use crate::profile::{Access, Profile, System};
use crate::simd::{Backend, Kernel, UrlKind};

/// No canonical form is more than this many times as long as its URL: a charset turns one byte into up to
/// three, and each of them is written as a triplet.
pub const GROWTH: usize = 9;

/// Brings URLs into the canonical form of one [`Profile`]. Built once, shared by all threads.
///
/// ```
/// use uniqurl::{Normalizer, Profile, RejectReason};
///
/// let crawl = Normalizer::new(Profile::Crawl);
/// let url = crawl.normalize_str("HTTP://EX%41MPLE.com:80/a/../b?q=%7e#top")?;
/// assert_eq!(url, "http://example.com/b?q=~");
///
/// let reject = crawl.normalize_str("http://[::1").unwrap_err();
/// assert_eq!((reject.code, reject.at), (RejectReason::Host, 7));
/// # Ok::<(), uniqurl::Reject>(())
/// ```
///
/// A URL is a string of bytes and is never decoded to text. Any bytes are accepted; none
/// cause a panic. The time is linear in their number, but where parameters are sorted: under `aggressive`,
/// `ia` and the switch `sort-query` it grows with n log n of the parameters.
#[derive(Debug, Clone)]
pub struct Normalizer {
    /// The rules for any host.
    pub(in crate::normalize) rules: Ruleset,
    /// The rules of single hosts.
    pub(in crate::normalize) hosts: Option<Arc<Hosts>>,
    pub(in crate::normalize) redirects: Option<Arc<Ends>>,
    /// The name and version of the profile file.
    pub(in crate::normalize) label: Option<Arc<str>>,
}

impl Normalizer {
    /// A normalizer with the fastest scanner that this CPU has.
    pub fn new(profile: Profile) -> Self {
        Self { rules: Ruleset::of(profile), hosts: None, redirects: None, label: None }
    }

    /// Resolves relative references against `base` (RFC 3986 section 5.2, strictly; under `whatwg` the
    /// URL Standard's way) instead of rejecting them.
    ///
    /// The base is normalized with the current options, so call this after setting a charset, switches and
    /// checks; only redirects come later.
    ///
    /// # Errors
    ///
    /// The profile rejects the base (if a profile file gives its host own rules, these decide), or the base
    /// is not an absolute URL ([`RejectReason::Relative`]). Under `string` the base only needs a scheme, and
    /// acts on request targets alone. Or redirects are set already ([`UnsupportedOption::AfterRedirects`]).
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let syntax = Normalizer::new(Profile::Syntax).with_base(b"http://a/b/c/d;p?q")?;
    /// assert_eq!(syntax.normalize_str("../g")?, "http://a/b/g");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A crawler has a different base for each page, and clones the normalizer for each. Clones share their
    /// lists, and the rules that a profile file has for single hosts.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile, UrlSet};
    ///
    /// let crawl = Normalizer::new(Profile::Crawl);
    /// let (mut seen, mut scratch) = (UrlSet::new(), Vec::new());
    /// let mut queue = Vec::new();
    /// for (page, links) in [("http://a/b/", ["c", "../d"]), ("http://a/e", ["b/c", "/d#top"])] {
    ///     let on_page = crawl.clone().with_base(page.as_bytes())?;
    ///     for link in links {
    ///         let Ok(url) = on_page.canonical(link.as_bytes(), &mut scratch) else { continue };
    ///         if seen.insert(url)? {
    ///             queue.push(url.to_string());
    ///         }
    ///     }
    /// }
    /// assert_eq!(queue, ["http://a/b/c", "http://a/d"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_base(mut self, base: &[u8]) -> Result<Self, UnsupportedOption> {
        self.precedes_redirects()?;
        // The base before must not resolve the new one.
        self.rules.base = None;
        // By the rules of its own host alone: others never resolve against it.
        let canonical = self.rules_for(base).canonical_base(base)?;
        self.rules.base = Some(canonical.into());
        Ok(self)
    }

    /// The profile, as it is built in.
    pub fn profile(&self) -> Profile {
        self.rules.built_in
    }

    /// The canonical form of `url`: borrowed if that is `url` itself, and else allocated.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let crawl = Normalizer::new(Profile::Crawl);
    /// assert_eq!(*crawl.normalize(b"HTTP://Example.com:80/%7ea")?, *b"http://example.com/~a");
    /// # Ok::<(), uniqurl::Reject>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The rejection, if the profile has no canonical form for `url`.
    pub fn normalize<'a>(&self, url: &'a [u8]) -> Result<Cow<'a, [u8]>, Reject> {
        self.normalize_as(UrlKind::Absolute, url)
    }

    /// Like [`Normalizer::normalize`], for text.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let crawl = Normalizer::new(Profile::Crawl);
    /// let url: String = crawl.normalize_str("http://münchen.example/straße")?.into_owned();
    /// assert_eq!(url, "http://xn--mnchen-3ya.example/stra%C3%9Fe");
    /// # Ok::<(), uniqurl::Reject>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The rejection, if the profile has no canonical form for `url`.
    pub fn normalize_str<'a>(&self, url: &'a str) -> Result<Cow<'a, str>, Reject> {
        Ok(match self.normalize(url.as_bytes())? {
            Cow::Borrowed(_) => Cow::Borrowed(url),
            // A form that was written is ASCII, or a part of `url`.
            Cow::Owned(form) => Cow::Owned(String::from_utf8_lossy(&form).into_owned()),
        })
    }

    /// The canonical form of `url`: borrows `url` itself if it is clean, and otherwise writes to `scratch`,
    /// which is cleared first. So nothing is allocated once `scratch` has grown.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let crawl = Normalizer::new(Profile::Crawl);
    /// let mut scratch = Vec::new();
    /// let url = crawl.canonical(b"http://example.com", &mut scratch)?;
    /// assert_eq!(url.as_bytes(), b"http://example.com/");
    /// # Ok::<(), uniqurl::Reject>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The rejection, if the profile has no canonical form for `url`.
    #[inline]
    pub fn canonical<'a>(
        &self,
        url: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<Canonical<'a>, Reject> {
        self.canonical_as(UrlKind::Absolute, url, scratch)
    }

    /// Appends the canonical form of `url` to `out`; on a rejection, appends nothing.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let crawl = Normalizer::new(Profile::Crawl);
    /// let mut list = Vec::new();
    /// for url in ["http://a.example", "http://b.example/%7e"] {
    ///     crawl.append(url.as_bytes(), &mut list)?;
    ///     list.push(b'\n');
    /// }
    /// assert_eq!(list, b"http://a.example/\nhttp://b.example/~\n");
    /// # Ok::<(), uniqurl::Reject>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The rejection, if the profile has no canonical form for `url`.
    pub fn append(&self, url: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
        self.append_as(UrlKind::Absolute, url, out)
    }

    /// Whether `url` is its own canonical form.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let crawl = Normalizer::new(Profile::Crawl);
    /// assert!(crawl.is_canonical(b"https://example.com/a/b.html?q=1"));
    /// assert!(!crawl.is_canonical(b"https://example.com/a/../b"));
    /// ```
    pub fn is_canonical(&self, url: &[u8]) -> bool {
        self.is_canonical_as(UrlKind::Absolute, url)
    }

    pub(in crate::normalize) fn normalize_as<'a>(
        &self,
        kind: UrlKind,
        url: &'a [u8],
    ) -> Result<Cow<'a, [u8]>, Reject> {
        if self.is_clean_in(url, 0..url.len(), kind) {
            return Ok(Cow::Borrowed(url));
        }
        let mut out = Vec::new();
        self.rewrite_in(url, 0..url.len(), kind, &mut out)?;
        // A canonical URL with a port, say, is not proven clean, and borrowed all the same.
        Ok(if out == url { Cow::Borrowed(url) } else { Cow::Owned(out) })
    }

    #[inline]
    pub(in crate::normalize) fn canonical_as<'a>(
        &self,
        kind: UrlKind,
        url: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<Canonical<'a>, Reject> {
        if self.is_clean_in(url, 0..url.len(), kind) {
            return Ok(Canonical::new(url));
        }
        scratch.clear();
        self.rewrite_in(url, 0..url.len(), kind, scratch)?;
        Ok(Canonical::new(scratch))
    }

    pub(in crate::normalize) fn is_canonical_as(&self, kind: UrlKind, url: &[u8]) -> bool {
        // The proof does not know all canonical URLs: one with a port may be clean and is not proven so.
        matches!(self.normalize_as(kind, url), Ok(Cow::Borrowed(_)))
    }
}

// What the other crates of this repository ask, and nobody else.
#[doc(hidden)]
impl Normalizer {
    /// Uses this scanner, or the scalar one if the CPU lacks it: see [`Normalizer::backend`].
    ///
    /// Every scanner gives the same results; this is for tests and measurements.
    #[must_use]
    pub fn with_backend(mut self, backend: Backend) -> Self {
        self.change_rules(|rules| {
            rules.kernel = Kernel::new(backend).unwrap_or_else(Kernel::scalar);
        });
        self
    }

    /// See [`Builder::assume_scheme`](crate::Builder::assume_scheme). A call after redirects is refused.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`](crate::Builder::build).
    pub fn with_assumed_scheme(mut self, scheme: &[u8]) -> Result<Self, UnsupportedOption> {
        self.precedes_redirects()?;
        let empty = scheme.is_empty().then_some(0);
        if let Some(at) = find_outside_scheme(scheme).or(empty) {
            return Err(Reject::new(RejectReason::Scheme, at).into());
        }
        self.change_rules(|rules| rules.assumed_scheme = Some(scheme.to_vec()));
        Ok(self)
    }

    /// The scanner in use.
    pub fn backend(&self) -> Backend {
        self.rules.kernel.backend()
    }

    /// The vector code that this normalizer runs on.
    pub fn kernel(&self) -> Kernel {
        self.rules.kernel
    }

    /// An upper bound of the bytes that a base or a redirect adds to a URL.
    pub fn brought(&self) -> usize {
        let base = self.rules.base().map_or(0, <[u8]>::len);
        base + self.redirects.as_ref().map_or(0, |ends| ends.longest())
    }

    /// Bytes of memory of the redirects: everything else is small.
    pub fn memory(&self) -> usize {
        self.redirects.as_ref().map_or(0, |ends| ends.memory())
    }

    /// The scheme of URLs without one, if it was given.
    pub fn assumed_scheme(&self) -> Option<&[u8]> {
        self.rules.assumed_scheme()
    }

    /// Scheme and authority of the base, which request targets are joined to. `None` if the base has
    /// no authority, because it names no host then.
    pub fn origin(&self) -> Option<Origin> {
        let parts = Parts::split(self.rules.base()?);
        let (scheme, authority) = (parts.scheme?.to_vec(), parts.authority?.to_vec());
        Some(Origin { scheme, authority })
    }

    /// How this profile reads request targets, for the context of records.
    pub fn targets(&self) -> Targets {
        match self.rules.profile.system {
            System::Browser | System::Archive => Targets::Trimmed,
            System::Ladder if self.rules.profile.access == Access::Retrieval => Targets::Trimmed,
            System::Ladder | System::Sanitizer => Targets::Verbatim,
            System::Ring(_) => Targets::Paths,
            System::Servlet if self.rules.allowed.contains(RejectReason::NoLeadingSlash) => {
                Targets::Completed
            }
            System::Servlet => Targets::Judged,
        }
    }

    /// [`Normalizer::append`] for a URL or a target.
    ///
    /// # Errors
    ///
    /// The rejection.
    #[inline]
    pub fn append_as(&self, kind: UrlKind, url: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
        let all = 0..url.len();
        if self.is_clean_in(url, all.clone(), kind) {
            out.extend_from_slice(url);
            return Ok(());
        }
        let length = out.len();
        self.rewrite_in(url, all, kind, out).inspect_err(|_| out.truncate(length))
    }

    /// Whether `url` is proven to be its own canonical form: see [`Normalizer::is_clean_in`].
    #[inline]
    pub fn is_clean(&self, url: &[u8]) -> bool {
        self.is_clean_in(url, 0..url.len(), UrlKind::Absolute)
    }

    /// Whether the URL or target `bytes[range]` is proven to be its own canonical form. `true` is a proof;
    /// `false` only means that the URL needs a closer check. Faster if more bytes follow it.
    #[inline]
    pub fn is_clean_in(&self, bytes: &[u8], range: Range<usize>, kind: UrlKind) -> bool {
        match &self.hosts {
            Some(hosts) if kind == UrlKind::Absolute => self.is_clean_by_host(hosts, &bytes[range]),
            // A target has no host that could have rules of its own.
            _ => self.rules.is_clean(bytes, range.clone(), kind) && self.stays(&bytes[range]),
        }
    }
}
