//! A set of rules for URLs: the general rules, or those of one host.

use std::borrow::Cow;
use std::sync::Arc;

use super::heuristic::Heuristics;
use super::parts::Parts;
use super::ports::DefaultPorts;
use super::trace::NoTrace;
use crate::bytes::{Reject, RejectReason, RejectReasons};
#[cfg(feature = "transcode")]
use crate::normalize::Charset;
use crate::profile::{Policy, Profile, Ring, Switches};
use crate::simd::{Kernel, UrlKind};

/// A profile with all options applied.
#[derive(Debug, Clone)]
pub(super) struct Ruleset {
    /// The built-in profile, which gives the rules their name.
    pub(super) built_in: Profile,
    /// The effective profile, with its switches set.
    pub(super) profile: Policy,
    pub(super) kernel: Kernel,
    pub(super) base: Option<Arc<[u8]>>,
    pub(super) assumed_scheme: Option<Vec<u8>>,
    pub(super) allowed: RejectReasons,
    pub(super) ring: Option<Arc<Ring>>,
    /// The charset of triplets that are not UTF-8.
    #[cfg(feature = "transcode")]
    pub(super) transcoding: Option<Charset>,
    pub(super) heuristics: Heuristics,
    /// Custom default ports, if they differ from those of the schemes.
    pub(super) ports: Option<Arc<DefaultPorts>>,
}

impl Ruleset {
    /// The rules of the profile without options.
    pub(super) fn of(profile: Profile) -> Self {
        Self {
            built_in: profile,
            profile: *profile.rules(),
            kernel: Kernel::best(),
            base: None,
            assumed_scheme: None,
            allowed: profile.checks_off(),
            ring: None,
            #[cfg(feature = "transcode")]
            transcoding: None,
            heuristics: Heuristics::new(profile.switches()),
            ports: None,
        }
    }

    pub(super) fn base(&self) -> Option<&[u8]> {
        self.base.as_deref()
    }

    pub(super) fn assumed_scheme(&self) -> Option<&[u8]> {
        self.assumed_scheme.as_deref()
    }

    /// Splits a URL or reference. With a base, a `:` that ends no scheme is part of a path.
    pub(super) fn split<'a>(&self, url: &'a [u8]) -> Parts<'a> {
        let parts = Parts::split(url);
        match self.base {
            Some(_) if parts.ends_no_scheme() => Parts::split_target(url),
            _ => parts,
        }
    }

    /// The same rules with the base that `other` has.
    pub(super) fn with_base_of(&self, other: &Self) -> Cow<'_, Self> {
        match &other.base {
            None => Cow::Borrowed(self),
            Some(base) => Cow::Owned(Self { base: Some(Arc::clone(base)), ..self.clone() }),
        }
    }

    /// A base in the form in which references are resolved against it.
    pub(super) fn canonical_base(&self, base: &[u8]) -> Result<Vec<u8>, Reject> {
        let mut rules = self.clone();
        // The final slash of a base matters, and the form of an archive key has none.
        if self.profile.archive.is_some() {
            rules.profile = Policy::CRAWL;
        }
        // For the same reason no heuristic acts on it.
        rules.heuristics = Heuristics::new(Switches::NONE);
        let mut canonical = Vec::new();
        let all = 0..base.len();
        rules.rewrite(base, all, UrlKind::Absolute, &mut canonical, &mut NoTrace)?;
        // Section 5.2.1: "Normalization of the base URI ... is optional." It is done, so that equal
        // bases make equal URLs. Its fragment is no part of it (section 5.1).
        let parts = Parts::split(&canonical);
        if parts.scheme.is_none() {
            return Err(Reject::new(RejectReason::Relative, 0));
        }
        let fragment = parts.fragment.map_or(0, |fragment| fragment.len() + 1);
        canonical.truncate(canonical.len() - fragment);
        Ok(canonical)
    }
}
