//! Applies the options given with a profile, to one profile or to several.

use std::ffi::OsStr;

use crate::args::policy::PolicyArgs;
use crate::hints::is_host_and_port;
use uniqurl::uri::Charset;
use uniqurl::{Normalizer, Profile, RejectReason, Ring, Switch, UnsupportedOption};

/// The choices of a command line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProfileChoices<'a> {
    pub(crate) allow: &'a [RejectReason],
    pub(crate) deny: &'a [RejectReason],
    pub(crate) policy: &'a PolicyArgs,
    pub(crate) ring: Option<&'a Ring>,
    pub(crate) transcode: Option<Charset>,
    pub(crate) base: Option<&'a OsStr>,
    pub(crate) assume_scheme: Option<&'a OsStr>,
}

/// How to treat an option that a profile does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsupported {
    /// It is wrong usage.
    Refused,
    /// It is meant for another of several profiles.
    Ignored,
}

impl ProfileChoices<'_> {
    /// The profile with all options applied.
    ///
    /// # Errors
    ///
    /// A sentence that says why the choices do not fit.
    pub(crate) fn normalizer(
        &self,
        profile: Profile,
        unsupported: Unsupported,
    ) -> Result<Normalizer, String> {
        self.finish(self.turned(profile, unsupported)?)
    }

    /// The profile with the options that change its rules. [`finish`](Self::finish) applies the others.
    ///
    /// # Errors
    ///
    /// A sentence that says why the choices do not fit.
    pub(crate) fn turned(
        &self,
        profile: Profile,
        unsupported: Unsupported,
    ) -> Result<Normalizer, String> {
        let mut normalizer = Normalizer::new(profile);
        let lenient = unsupported == Unsupported::Ignored;
        let known = |code: &&RejectReason| !lenient || profile.checks().contains(**code);
        if let Some(code) = self.allow.iter().find(|code| self.deny.contains(code)) {
            return Err(format!("{code} cannot be both allowed and denied"));
        }
        for code in self.allow.iter().filter(known) {
            normalizer = normalizer.with_allowed([*code]).map_err(|error| error.to_string())?;
        }
        for code in self.deny.iter().filter(known) {
            normalizer = normalizer.with_denied([*code]).map_err(|error| error.to_string())?;
        }
        let known = |switch: &Switch| !lenient || profile.switchable().contains(*switch);
        normalizer = normalizer
            .with_switches(self.policy.with.iter().copied().filter(known))
            .and_then(|made| {
                made.without_switches(self.policy.without.iter().copied().filter(known))
            })
            .map_err(|error| error.to_string())?;
        if !lenient || profile.takes_parameters() {
            normalizer =
                self.policy.filter_parameters(normalizer).map_err(|error| error.to_string())?;
        }
        if let Some(ring) = self.ring
            && (!lenient || profile == Profile::Ring)
        {
            normalizer = normalizer.with_ring(ring.clone()).map_err(|error| error.to_string())?;
        }
        if let Some(charset) = self.transcode {
            normalizer = match normalizer.clone().with_charset(charset) {
                Err(_) if lenient => normalizer,
                made => made.map_err(|error| error.to_string())?,
            };
        }
        Ok(normalizer)
    }

    /// Finds an option that none of the profiles has, so that it would have no effect.
    ///
    /// # Errors
    ///
    /// The option that the last profile does not have.
    pub(crate) fn are_had_by(&self, profiles: &[Profile]) -> Result<(), UnsupportedOption> {
        let had = |turn: &dyn Fn(Normalizer) -> Result<Normalizer, UnsupportedOption>| {
            let turned = profiles.iter().map(|profile| turn(Normalizer::new(*profile)).map(|_| ()));
            turned.reduce(Result::or).unwrap_or(Ok(()))
        };
        for code in self.allow.iter().chain(self.deny) {
            had(&|normalizer| normalizer.with_allowed([*code]))?;
        }
        for switch in self.policy.with.iter().chain(&self.policy.without) {
            had(&|normalizer| normalizer.with_switches([*switch]))?;
        }
        had(&|normalizer| self.policy.filter_parameters(normalizer))?;
        if let Some(ring) = self.ring {
            had(&|normalizer| normalizer.with_ring(ring.clone()))?;
        }
        if let Some(charset) = self.transcode {
            had(&|normalizer| normalizer.with_charset(charset))?;
        }
        Ok(())
    }

    /// The same with the options that every profile takes.
    ///
    /// # Errors
    ///
    /// A sentence that says why the choices do not fit.
    pub(crate) fn finish(&self, mut normalizer: Normalizer) -> Result<Normalizer, String> {
        if let Some(scheme) = self.assume_scheme {
            normalizer =
                normalizer.with_assumed_scheme(scheme.as_encoded_bytes()).map_err(|reject| {
                    format!("--assume-scheme is not a scheme, as https is: {reject}")
                })?;
        }
        if let Some(base) = self.base {
            let base = base.as_encoded_bytes();
            // Read as a URL, it would have a scheme and no host, which hardly anybody means.
            if self.assume_scheme.is_none() && is_host_and_port(base) {
                return Err(
                    "--base begins with a host and a port instead of a scheme, as http:// is"
                        .into(),
                );
            }
            normalizer = normalizer.with_base(base).map_err(|error| match error {
                UnsupportedOption::Rejected(reject) if reject.code == RejectReason::Relative => {
                    format!("--base is not an absolute URL, as https://example.com/ is: {reject}")
                }
                error => format!("--base is rejected by the profile: {error}"),
            })?;
        }
        self.policy.redirect(normalizer)
    }
}
