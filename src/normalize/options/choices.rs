//! Options that adjust a profile: checks, switches, lists of parameters, a ring.

use std::sync::Arc;

use crate::bytes::{Flag, FlagSet, RejectReason};
#[cfg(feature = "transcode")]
use crate::normalize::Charset;
use crate::normalize::exact::heuristic::PARAMETER_CASE;
use crate::normalize::normalizer::Normalizer;
use crate::normalize::options::unsupported::UnsupportedOption;
use crate::normalize::ruleset::Ruleset;
use crate::profile::Access;
use crate::profile::glob::{Glob, Globs};
use crate::profile::heuristic::tracking;
use crate::profile::{Grammar, Profile, Ring, Switch, Switches};
#[cfg(feature = "transcode")]
use crate::profile::{Policy, System};

impl Normalizer {
    /// The set of these checks or switches, if the profile has them all.
    fn known<T: Flag>(
        &self,
        wanted: impl IntoIterator<Item = T>,
        known: FlagSet<T>,
        unknown: fn(Profile, T) -> UnsupportedOption,
    ) -> Result<FlagSet<T>, UnsupportedOption> {
        let mut set = FlagSet::NONE;
        for flag in wanted {
            // Asked for each flag, so that an empty list never comes too late.
            self.may_change()?;
            if known.and(flag.into()).is_empty() {
                return Err(unknown(self.profile(), flag));
            }
            set = set.or(flag.into());
        }
        Ok(set)
    }

    fn with_switches_set(mut self, on: Switches) -> Self {
        self.rules.profile.switches = on;
        self.rules.heuristics.set(on);
        self
    }

    /// Fails if the general rules must not change any more. The rules of single hosts were derived from them
    /// when the file was read, so a later option would not reach them, and it is unclear whether it should.
    fn may_change(&self) -> Result<(), UnsupportedOption> {
        self.hosts.as_ref().map_or(Ok(()), |_| Err(UnsupportedOption::Hosts))?;
        self.precedes_base()
    }

    /// Fails if there is a base or a redirect already, each normalized with the rules as they are.
    fn precedes_base(&self) -> Result<(), UnsupportedOption> {
        self.precedes_redirects()?;
        self.rules.base.as_ref().map_or(Ok(()), |_| Err(UnsupportedOption::AfterBase))
    }

    /// Fails if there are redirects already.
    pub(in crate::normalize) fn precedes_redirects(&self) -> Result<(), UnsupportedOption> {
        self.redirects.as_ref().map_or(Ok(()), |_| Err(UnsupportedOption::AfterRedirects))
    }

    fn parameters(
        &self,
        patterns: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Result<Globs, UnsupportedOption> {
        self.may_change()?;
        if !self.profile().takes_parameters() {
            return Err(UnsupportedOption::Parameters(self.profile()));
        }
        let globs = patterns.into_iter().map(|pattern| Glob::new(pattern.as_ref()));
        let globs = Globs::new(globs.collect(), PARAMETER_CASE);
        if globs.is_too_wild() { Err(UnsupportedOption::Wildcards) } else { Ok(globs) }
    }
}

// A [`Builder`](crate::Builder) is what everybody else has.
//
// Options change the rules, and have to come before the base, and that before the redirects: these are
// normalized when they are set. An option that comes too late is refused
// ([`UnsupportedOption::AfterBase`], [`UnsupportedOption::AfterRedirects`]). A later `strip-www` would leave
// redirects to `http://www.h/`, which is then not canonical.
#[doc(hidden)]
impl Normalizer {
    /// See [`Builder::allow`](crate::Builder::allow). A call after a base or redirects is refused.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`](crate::Builder::build).
    pub fn with_allowed(
        mut self,
        codes: impl IntoIterator<Item = RejectReason>,
    ) -> Result<Self, UnsupportedOption> {
        let codes = self.known(codes, self.profile().checks(), UnsupportedOption::Check)?;
        self.rules.allowed = self.rules.allowed.or(codes);
        Ok(self)
    }

    /// See [`Builder::deny`](crate::Builder::deny). A call after a base or redirects is refused.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`](crate::Builder::build).
    pub fn with_denied(
        mut self,
        codes: impl IntoIterator<Item = RejectReason>,
    ) -> Result<Self, UnsupportedOption> {
        let codes = self.known(codes, self.profile().checks(), UnsupportedOption::Check)?;
        self.rules.allowed = self.rules.allowed.without(codes);
        Ok(self)
    }

    /// See [`Builder::with`](crate::Builder::with). A call after a base or redirects is refused.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`](crate::Builder::build).
    pub fn with_switches(
        self,
        switches: impl IntoIterator<Item = Switch>,
    ) -> Result<Self, UnsupportedOption> {
        let switches =
            self.known(switches, self.profile().switchable(), UnsupportedOption::Switch)?;
        let on = self.rules.profile.switches.or(switches);
        Ok(self.with_switches_set(on))
    }

    /// See [`Builder::without`](crate::Builder::without). A call after a base or redirects is refused.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`](crate::Builder::build).
    pub fn without_switches(
        self,
        switches: impl IntoIterator<Item = Switch>,
    ) -> Result<Self, UnsupportedOption> {
        let switches =
            self.known(switches, self.profile().switchable(), UnsupportedOption::Switch)?;
        let on = self.rules.profile.switches.without(switches);
        Ok(self.with_switches_set(on))
    }

    /// See [`Builder::drop_parameters`](crate::Builder::drop_parameters). A call after a base or redirects is refused.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`](crate::Builder::build).
    pub fn with_dropped_parameters(
        mut self,
        patterns: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Result<Self, UnsupportedOption> {
        let globs = self.parameters(patterns)?;
        self.rules.heuristics.drop_parameters(Some(globs));
        Ok(self)
    }

    /// See [`Builder::keep_parameters`](crate::Builder::keep_parameters). A call after a base or redirects is refused.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`](crate::Builder::build).
    pub fn with_kept_parameters(
        mut self,
        patterns: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Result<Self, UnsupportedOption> {
        let globs = self.parameters(patterns)?;
        self.rules.heuristics.keep_parameters(Some(globs));
        Ok(self)
    }

    /// See [`Builder::ring`](crate::Builder::ring). A call after a base or redirects is refused.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`](crate::Builder::build).
    pub fn with_ring(mut self, ring: Ring) -> Result<Self, UnsupportedOption> {
        self.may_change()?;
        if self.profile() != Profile::Ring {
            return Err(UnsupportedOption::Ring(self.profile()));
        }
        self.rules.ring = Some(Arc::new(ring));
        Ok(self)
    }

    /// See [`Builder::charset`](crate::Builder::charset). A call after a base or redirects is refused.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`](crate::Builder::build).
    #[cfg(feature = "transcode")]
    pub fn with_charset(mut self, charset: Charset) -> Result<Self, UnsupportedOption> {
        self.precedes_base()?;
        // The rules of a host may be based on a profile that takes no charset.
        for rules in self.all_rules() {
            let Policy { system, grammar, .. } = rules.profile;
            if grammar == Grammar::Ignored || matches!(system, System::Archive | System::Browser) {
                return Err(UnsupportedOption::Charset(rules.built_in));
            }
        }
        self.change_rules(|rules| rules.transcoding = Some(charset));
        Ok(self)
    }

    /// Whether a canonical form may hold any byte, as under `string`; otherwise all are within
    /// 0x20-0x7E. A profile file (feature `profile-file`) may base the rules of a single host on `string`, so
    /// [`Normalizer::profile`] alone does not answer this.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// assert!(Normalizer::new(Profile::String).may_write_any_byte());
    /// assert!(!Normalizer::new(Profile::Crawl).may_write_any_byte());
    /// ```
    pub fn may_write_any_byte(&self) -> bool {
        self.all_rules().any(|rules| rules.profile.grammar == Grammar::Ignored)
    }

    /// Whether full stops at the end of a host are removed, for some URLs at least.
    pub fn drops_final_stops(&self) -> bool {
        self.all_rules().any(|rules| rules.profile.access == Access::Retrieval)
    }

    /// Whether a profile file (feature `profile-file`) changes the default ports, for at least one host.
    /// [`Key::Ssurt`](crate::Key::Ssurt) then names the wrong ports, because it always assumes the
    /// default ports of the schemes.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// assert!(!Normalizer::new(Profile::Crawl).has_own_ports());
    /// ```
    pub fn has_own_ports(&self) -> bool {
        self.all_rules().any(|rules| rules.ports.is_some())
    }

    /// Whether the rules come from a profile file.
    pub fn is_from_file(&self) -> bool {
        self.label.is_some()
    }

    /// The profile with its version, and the options that change it: `servlet@1 allow=encoded-slash`.
    pub fn description(&self) -> String {
        let mut text = self.rules.description(self.label.as_deref());
        if let Some(hosts) = &self.hosts {
            text.push_str(&format!(" hosts={}", hosts.len()));
            match hosts.paths() {
                0 => {}
                paths => text.push_str(&format!(" paths={paths}")),
            }
        }
        if let Some(redirects) = &self.redirects {
            text.push_str(&format!(" redirects={}", redirects.len()));
        }
        text
    }
}

impl Ruleset {
    /// The profile with its version, or the label of the profile file, and the options that change it.
    pub(in crate::normalize) fn description(&self, label: Option<&str>) -> String {
        let mut text = self.built_in.to_string();
        // A file that repeats a built-in profile has the name of that profile.
        if let Some(label) = label
            && *label != text
        {
            text = format!("{label} base={text}");
        }
        let off = self.built_in.checks_off();
        for (name, codes) in
            [("allow", self.allowed.without(off)), ("deny", off.without(self.allowed))]
        {
            if !codes.is_empty() {
                text.push_str(&format!(" {name}={codes}"));
            }
        }
        let (own, on) = (self.built_in.switches(), self.profile.switches);
        for (name, switches) in [("with", on.without(own)), ("without", own.without(on))] {
            if !switches.is_empty() {
                text.push_str(&format!(" {name}={switches}"));
            }
        }
        let heuristics = &self.heuristics;
        let dropped = heuristics.dropped.iter().map(|globs| ("drop-param", globs));
        let kept = heuristics.kept.iter().map(|globs| ("keep-param", globs));
        for (name, globs) in dropped.chain(kept) {
            text.push_str(&format!(" {name}={globs}"));
        }
        if heuristics.case != PARAMETER_CASE {
            text.push_str(" ignore-case");
        }
        let more = heuristics.tracking.patterns().len() - tracking().count();
        if more > 0 {
            text.push_str(&format!(" tracking=+{more}"));
        }
        if let Some(ring) = &self.ring {
            text.push_str(&format!(" {ring}"));
        }
        #[cfg(feature = "transcode")]
        if let Some(charset) = self.transcoding {
            text.push_str(&format!(" transcode={}", charset.name()));
        }
        if let Some(ports) = &self.ports {
            text.push_str(&format!(" ports={ports}"));
        }
        text
    }
}
