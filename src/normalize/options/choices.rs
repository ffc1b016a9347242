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

/// Options change the rules, and have to come before the base, and that before the redirects: these are
/// normalized when they are set. An option that comes too late is refused
/// ([`UnsupportedOption::AfterBase`], [`UnsupportedOption::AfterRedirects`]). A later `strip-www` would leave
/// redirects to `http://www.h/`, which is then not canonical.
impl Normalizer {
    /// Switches off these checks of the profile, as a container or a filter may.
    ///
    /// # Errors
    ///
    /// The profile makes no check with one of the codes: see [`Profile::checks`]. Or a profile file gives
    /// single hosts their own rules; the file then sets the checks of each host.
    ///
    /// ```
    /// use uniqurl::{RejectReason, Normalizer, Profile};
    ///
    /// let servlet = Normalizer::new(Profile::Servlet);
    /// let mut out = Vec::new();
    /// let Err(reject) = servlet.append(b"/a%2Fb\\c", &mut out) else { panic!() };
    /// assert_eq!(reject.codes, [RejectReason::EncodedSlash, RejectReason::Backslash].into());
    ///
    /// let servlet = servlet.with_allowed([RejectReason::EncodedSlash, RejectReason::Backslash])?;
    /// assert_eq!(servlet.append(b"/a%2Fb\\c", &mut out), Ok(()));
    /// assert_eq!(out, b"/a%2Fb%5Cc");
    /// # Ok::<(), uniqurl::UnsupportedOption>(())
    /// ```
    pub fn with_allowed(
        mut self,
        codes: impl IntoIterator<Item = RejectReason>,
    ) -> Result<Self, UnsupportedOption> {
        let codes = self.known(codes, self.profile().checks(), UnsupportedOption::Check)?;
        self.rules.allowed = self.rules.allowed.or(codes);
        Ok(self)
    }

    /// Switches on these checks of the profile: those that are off by default
    /// ([`Profile::checks_off`]), and those that [`Normalizer::with_allowed`] switched off.
    ///
    /// # Errors
    ///
    /// As [`Normalizer::with_allowed`].
    ///
    /// ```
    /// use uniqurl::{RejectReason, Normalizer, Profile};
    ///
    /// let sanitize = Normalizer::new(Profile::Sanitize);
    /// let mut out = Vec::new();
    /// assert_eq!(sanitize.append(b"http://h/aux", &mut out), Ok(()));
    ///
    /// let sanitize = sanitize.with_denied([RejectReason::DeviceName])?;
    /// let Err(reject) = sanitize.append(b"http://h/aux", &mut out) else { panic!() };
    /// assert_eq!((reject.code, reject.at), (RejectReason::DeviceName, 9));
    /// # Ok::<(), uniqurl::UnsupportedOption>(())
    /// ```
    pub fn with_denied(
        mut self,
        codes: impl IntoIterator<Item = RejectReason>,
    ) -> Result<Self, UnsupportedOption> {
        let codes = self.known(codes, self.profile().checks(), UnsupportedOption::Check)?;
        self.rules.allowed = self.rules.allowed.without(codes);
        Ok(self)
    }

    /// The set of these checks or switches, if the profile has them all.
    fn known<T: Flag>(
        &self,
        wanted: impl IntoIterator<Item = T>,
        known: FlagSet<T>,
        unknown: fn(Profile, T) -> UnsupportedOption,
    ) -> Result<FlagSet<T>, UnsupportedOption> {
        let mut set = FlagSet::NONE;
        for flag in wanted {
            self.may_change()?;
            if known.and(flag.into()).is_empty() {
                return Err(unknown(self.profile(), flag));
            }
            set = set.or(flag.into());
        }
        Ok(set)
    }

    /// Turns these switches on.
    ///
    /// # Errors
    ///
    /// The profile does not have one of them: see [`Profile::switchable`]. Or a profile file gives single
    /// hosts their own rules; the file then sets the switches of each host.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile, Switch};
    ///
    /// let sorted = Normalizer::new(Profile::Scheme).with_switches([Switch::SortQuery])?;
    /// let mut out = Vec::new();
    /// let _ = sorted.append(b"http://h?b=2&a=1&b=1#f", &mut out);
    /// assert_eq!(out, b"http://h/?a=1&b=2&b=1#f");
    /// # Ok::<(), uniqurl::UnsupportedOption>(())
    /// ```
    pub fn with_switches(
        self,
        switches: impl IntoIterator<Item = Switch>,
    ) -> Result<Self, UnsupportedOption> {
        let switches =
            self.known(switches, self.profile().switchable(), UnsupportedOption::Switch)?;
        let on = self.rules.profile.switches.or(switches);
        Ok(self.with_switches_set(on))
    }

    /// Turns these switches off.
    ///
    /// # Errors
    ///
    /// The profile does not have one of them: see [`Profile::switchable`]. Or a profile file gives single
    /// hosts their own rules; the file then sets the switches of each host.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile, Switch};
    ///
    /// let aggressive = Normalizer::new(Profile::Aggressive);
    /// let with_www = aggressive.without_switches([Switch::StripWww])?;
    /// let mut out = Vec::new();
    /// let _ = with_www.append(b"http://www.example.com/index.html", &mut out);
    /// assert_eq!(out, b"http://www.example.com/");
    /// # Ok::<(), uniqurl::UnsupportedOption>(())
    /// ```
    pub fn without_switches(
        self,
        switches: impl IntoIterator<Item = Switch>,
    ) -> Result<Self, UnsupportedOption> {
        let switches =
            self.known(switches, self.profile().switchable(), UnsupportedOption::Switch)?;
        let on = self.rules.profile.switches.without(switches);
        Ok(self.with_switches_set(on))
    }

    fn with_switches_set(mut self, on: Switches) -> Self {
        self.rules.profile.switches = on;
        self.rules.heuristics.set(on);
        self
    }

    /// Drops the query parameters whose name matches one of these patterns, in which `*` stands for any
    /// bytes and `?` for any one byte. Names are compared with their triplets decoded, and case matters. A
    /// second call replaces the patterns.
    ///
    /// # Errors
    ///
    /// The profile leaves parameters alone: all but `scheme`, `crawl` and `aggressive` do. Or a profile file
    /// gives single hosts their own rules; the file then has the lists of each host. Or more than 1,000 patterns
    /// have a wildcard before their end.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let crawl = Normalizer::new(Profile::Crawl).with_dropped_parameters(["ref", "f[*]"])?;
    /// let mut out = Vec::new();
    /// let _ = crawl.append(b"http://h/?f[a]=1&id=2&ref=3&REF", &mut out);
    /// assert_eq!(out, b"http://h/?id=2&REF");
    /// # Ok::<(), uniqurl::UnsupportedOption>(())
    /// ```
    pub fn with_dropped_parameters(
        mut self,
        patterns: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Result<Self, UnsupportedOption> {
        let globs = self.parameters(patterns)?;
        self.rules.heuristics.drop_parameters(Some(globs));
        Ok(self)
    }

    /// Drops all query parameters except those whose name matches one of these patterns, which are as for
    /// [`Normalizer::with_dropped_parameters`]. Without patterns, all parameters are dropped.
    ///
    /// # Errors
    ///
    /// The profile leaves parameters alone: all but `scheme`, `crawl` and `aggressive` do. Or a profile file
    /// gives single hosts their own rules; the file then has the lists of each host. Or more than 1,000 patterns
    /// have a wildcard before their end.
    pub fn with_kept_parameters(
        mut self,
        patterns: impl IntoIterator<Item = impl AsRef<[u8]>>,
    ) -> Result<Self, UnsupportedOption> {
        let globs = self.parameters(patterns)?;
        self.rules.heuristics.keep_parameters(Some(globs));
        Ok(self)
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

    /// Uses this ring in place of the default one of [`Profile::Ring`].
    ///
    /// # Errors
    ///
    /// The profile is another one: the rings of the built-in profiles never change. Or a profile file gives
    /// single hosts their own rules.
    pub fn with_ring(mut self, ring: Ring) -> Result<Self, UnsupportedOption> {
        self.may_change()?;
        if self.profile() != Profile::Ring {
            return Err(UnsupportedOption::Ring(self.profile()));
        }
        self.rules.ring = Some(Arc::new(ring));
        Ok(self)
    }

    /// Reads triplets that are not UTF-8 in this charset, and rewrites them as UTF-8 before the profile
    /// acts.
    ///
    /// The unit is a run of octets between two delimiters, or between other octets that are never part of
    /// a longer character (0x00-0x2F, 0x3A-0x3F), raw or as triplets. A run that is valid UTF-8 stays.
    /// Any other run is decoded in the charset as a whole, even if a part of it looks like UTF-8.
    /// A run that the charset cannot decode stays too. Raw bytes of 0x80 or above count as octets
    /// if the profile does not reject them.
    ///
    /// # Errors
    ///
    /// The profile is `string`, `ia` or `whatwg`, or that of a host with rules of its own is.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile, uri::Charset};
    ///
    /// let crawl = Normalizer::new(Profile::Crawl).with_charset(Charset::LATIN_1)?;
    /// let mut out = Vec::new();
    /// let _ = crawl.append(b"http://h/%F6re%26bro/%C3%B6", &mut out);
    /// assert_eq!(out, b"http://h/%C3%B6re%26bro/%C3%B6");
    /// # Ok::<(), uniqurl::UnsupportedOption>(())
    /// ```
    #[cfg(feature = "transcode")]
    pub fn with_charset(mut self, charset: Charset) -> Result<Self, UnsupportedOption> {
        self.precedes_base()?;
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
        for (name, list) in [("drop-param", &heuristics.dropped), ("keep-param", &heuristics.kept)]
        {
            if let Some(globs) = list {
                text.push_str(&format!(" {name}={globs}"));
            }
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
