//! A set of rules for URLs: the general rules, or those of one host.

use std::borrow::Cow;
use std::sync::Arc;

use crate::bytes::{Reject, RejectReason, RejectReasons};
#[cfg(feature = "transcode")]
use crate::normalize::Charset;
use crate::normalize::exact::heuristic::Heuristics;
use crate::normalize::exact::ports::DefaultPorts;
use crate::normalize::parts::Parts;
use crate::normalize::trace::NoTrace;
use crate::profile::{Policy, Profile, Ring, Switches, System};
use crate::simd::{Kernel, UrlKind};

/// A profile with all options applied.
#[derive(Debug, Clone)]
pub(in crate::normalize) struct Ruleset {
    /// The built-in profile, which gives the rules their name.
    pub(in crate::normalize) built_in: Profile,
    /// The effective profile, with its switches set.
    pub(in crate::normalize) profile: Policy,
    pub(in crate::normalize) kernel: Kernel,
    pub(in crate::normalize) base: Option<Arc<[u8]>>,
    pub(in crate::normalize) assumed_scheme: Option<Vec<u8>>,
    pub(in crate::normalize) allowed: RejectReasons,
    pub(in crate::normalize) ring: Option<Arc<Ring>>,
    /// The charset of triplets that are not UTF-8.
    #[cfg(feature = "transcode")]
    pub(in crate::normalize) transcoding: Option<Charset>,
    pub(in crate::normalize) heuristics: Heuristics,
    /// Custom default ports, if they differ from those of the schemes.
    pub(in crate::normalize) ports: Option<Arc<DefaultPorts>>,
}

impl Ruleset {
    /// The rules of the profile without options.
    pub(in crate::normalize) fn of(profile: Profile) -> Self {
        Self {
            built_in: profile,
            profile: *profile.rules(),
            kernel: Kernel::best(),
            base: None,
            assumed_scheme: None,
            // A check that is off is one whose code is allowed.
            allowed: profile.checks_off(),
            ring: None,
            #[cfg(feature = "transcode")]
            transcoding: None,
            heuristics: Heuristics::new(profile.switches()),
            ports: None,
        }
    }

    pub(in crate::normalize) fn base(&self) -> Option<&[u8]> {
        self.base.as_deref()
    }

    pub(in crate::normalize) fn assumed_scheme(&self) -> Option<&[u8]> {
        self.assumed_scheme.as_deref()
    }

    /// Splits a URL or reference. With a base, a `:` that ends no scheme is part of a path.
    pub(in crate::normalize) fn split<'a>(&self, url: &'a [u8]) -> Parts<'a> {
        let parts = Parts::split(url);
        match self.base {
            Some(_) if parts.ends_no_scheme() => Parts::split_target(url),
            _ => parts,
        }
    }

    /// The same rules with the base that `other` has.
    pub(in crate::normalize) fn with_base_of(&self, other: &Self) -> Cow<'_, Self> {
        match &other.base {
            None => Cow::Borrowed(self),
            Some(base) => Cow::Owned(Self { base: Some(Arc::clone(base)), ..self.clone() }),
        }
    }

    /// A base in the form in which references are resolved against it.
    pub(in crate::normalize) fn canonical_base(&self, base: &[u8]) -> Result<Vec<u8>, Reject> {
        let mut rules = self.clone();
        // The final slash of a base matters, and the form of an archive key has none.
        if self.profile.system == System::Archive {
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
