//! Policy as data: which rules a profile applies, and to which bytes.
//!
//! The order of the steps is code, in `normalize`. This module says which step applies, and to
//! which bytes. To add a profile, write one constant of [`Policy`], add it to [`Profile`], and add a file of
//! vectors in `corpora/vectors/`.

// Patterns, schemes and characters.
pub(crate) mod glob;
pub(crate) mod starts;
pub(crate) mod scheme;
pub(crate) mod ports;
pub(crate) mod unicode;

// Options of profiles.
pub(crate) mod switch;

// Data of the profiles beyond the ladder.
pub(crate) mod heuristic;
pub(crate) mod archive;
pub(crate) mod whatwg;
pub(crate) mod servlet;
pub(crate) mod ring;
pub(crate) mod sanitize;

// What each profile does.
mod policy;

pub use heuristic::tracking_version;
pub(crate) use policy::{Access, Schemes};
pub use policy::{Grammar, Policy, System};
pub use ring::{Act, Ring, RingError};
pub use switch::{Switch, Switches};

use std::fmt;
use std::str::FromStr;

use crate::bytes::RejectReasons;
use crate::bytes::UnknownName;

/// A named, versioned rule that maps each URL to one canonical form, or rejects it.
///
/// The first five profiles are the rungs of RFC 3986 section 6.2: each merges all URLs that the
/// previous one merges, and more. Each of the others has the rules of one system.
///
/// ```
/// use uniqurl::Profile;
///
/// let crawl: Profile = "crawl@1".parse()?;
/// assert_eq!((crawl.name(), crawl.version()), ("crawl", 1));
/// assert!("crawl@2".parse::<Profile>().is_err());
/// # Ok::<(), uniqurl::UnknownName>(())
/// ```
///
/// The output of one version never changes; a change of the rules is a new version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Profile {
    /// Section 6.2.1, simple string comparison: the bytes, unchanged.
    String,
    /// Section 6.2.2, syntax-based normalization: case, percent-encoding, dot segments.
    Syntax,
    /// Section 6.2.3, scheme-based normalization: `syntax`, plus default ports, empty paths and the like.
    Scheme,
    /// `scheme` for network access: no fragment, repairs instead of rejections, and no userinfo in http,
    /// https, ws, wss and ftp URLs. Those of other schemes keep it, passwords included.
    Crawl,
    /// `crawl`, plus heuristic merges, each one a switch (section 6.2.4): `www.`, index pages, final
    /// and doubled slashes, session ids, tracking parameters, the order of parameters.
    ///
    /// It may merge URLs that differ. `crawl` merges only URLs that differ in fragment or userinfo, which name
    /// different resources for some servers and scripts. Use `scheme` if you must not lose one.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let aggressive = Normalizer::new(Profile::Aggressive);
    /// let mut out = Vec::new();
    /// let _ = aggressive.append(b"http://www.example.com/a//index.html?q=1&p&utm_id=x", &mut out);
    /// assert_eq!(out, b"http://example.com/a?p&q=1");
    /// ```
    Aggressive,
    /// The form from which web-archive index keys are made: with [`Key::Surt`] the output joins CDX
    /// files.
    ///
    /// It is not a rung of the ladder. It decodes repeatedly and folds case, so it merges URLs of
    /// different resources, such as `/a%2Fb` and `/a/b`.
    ///
    /// [`Key::Surt`]: crate::Key::Surt
    Ia,
    /// `scheme`, plus checks that reject forms without an honest use (RFC 3986 section 7).
    Sanitize,
    /// Jakarta Servlet 6.1 section 3.5.2: the path by which a servlet container maps a request.
    Servlet,
    /// The URL Standard's parsing and serializing, as in browsers.
    ///
    /// It is not a rung of the ladder: it accepts input that RFC 3986 does not allow, and keeps
    /// triplets. An opaque path (`data:a b`) may hold spaces. Failures of the standard's parser are
    /// rejections:
    ///
    /// - [`RejectReason::Relative`](crate::RejectReason::Relative): no scheme, and no base that the
    ///   reference fits;
    /// - [`RejectReason::Empty`](crate::RejectReason::Empty): nothing is left after trimming, and there
    ///   is no base;
    /// - [`RejectReason::EmptyHost`](crate::RejectReason::EmptyHost): "host-missing";
    /// - [`RejectReason::Port`](crate::RejectReason::Port) and
    ///   [`RejectReason::PortRange`](crate::RejectReason::PortRange): "port-invalid" and
    ///   "port-out-of-range";
    /// - [`RejectReason::Byte`](crate::RejectReason::Byte): a forbidden code point in a host, or a byte
    ///   in it that is not UTF-8;
    /// - [`RejectReason::Host`](crate::RejectReason::Host): brackets without an IPv6 address, or a host
    ///   that ends in a number and is no IPv4 address;
    /// - [`RejectReason::Idna`](crate::RejectReason::Idna): a host that "domain to ASCII" fails on.
    ///
    /// `at` is the offending byte for `port` and `byte`, and where the host or port starts for the
    /// others.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let whatwg = Normalizer::new(Profile::Whatwg);
    /// let mut out = Vec::new();
    /// assert_eq!(whatwg.append(b"HTTPS:\\\\0x7f.1\\%7ea|b?it's", &mut out), Ok(()));
    /// assert_eq!(out, b"https://127.0.0.1/%7ea|b?it%27s");
    /// ```
    Whatwg,
    /// The decoder ring of Wikimedia's wikis.
    Mediawiki,
    /// The decoder ring of Wikimedia's REST interface.
    Restbase,
    /// The decoder ring of Wikimedia's media files.
    Upload,
    /// A decoder ring that keeps the spelling of every reserved character, or your own ring
    /// ([`Builder::ring`](crate::Builder::ring)).
    Ring,
}

impl Profile {
    /// Every built-in profile: the ladder, finest first, then the others.
    pub const ALL: &'static [Profile] = &[
        Profile::String,
        Profile::Syntax,
        Profile::Scheme,
        Profile::Crawl,
        Profile::Aggressive,
        Profile::Ia,
        Profile::Whatwg,
        Profile::Sanitize,
        Profile::Servlet,
        Profile::Mediawiki,
        Profile::Restbase,
        Profile::Upload,
        Profile::Ring,
    ];

    /// The name, without a version.
    pub const fn name(self) -> &'static str {
        self.rules().name
    }

    /// The version of the rules, starting at 1.
    pub const fn version(self) -> u32 {
        self.rules().version
    }

    /// The codes of the checks that [`Builder::allow`](crate::Builder::allow) can disable, and
    /// [`Builder::deny`](crate::Builder::deny) can enable.
    pub const fn checks(self) -> RejectReasons {
        self.rules().checks
    }

    /// The switches that are on.
    pub const fn switches(self) -> Switches {
        self.rules().switches
    }

    /// The switches that [`Builder::with`](crate::Builder::with) and
    /// [`Builder::without`](crate::Builder::without) can change.
    pub const fn switchable(self) -> Switches {
        self.rules().switchable
    }
}

// What the other crates of this repository ask, and nobody else.
#[doc(hidden)]
impl Profile {
    /// The rungs of RFC 3986 section 6.2, finest first: each merges all URLs that the previous one
    /// merges.
    pub const LADDER: &'static [Profile] = Self::ALL.split_at(5).0;

    /// What the profile does.
    pub const fn rules(self) -> &'static Policy {
        match self {
            Profile::String => &Policy::STRING,
            Profile::Syntax => &Policy::SYNTAX,
            Profile::Scheme => &Policy::SCHEME,
            Profile::Crawl => &Policy::CRAWL,
            Profile::Aggressive => &Policy::AGGRESSIVE,
            Profile::Ia => &Policy::IA,
            Profile::Whatwg => &Policy::WHATWG,
            Profile::Sanitize => &Policy::SANITIZE,
            Profile::Servlet => &Policy::SERVLET,
            Profile::Mediawiki => &Policy::MEDIAWIKI,
            Profile::Restbase => &Policy::RESTBASE,
            Profile::Upload => &Policy::UPLOAD,
            Profile::Ring => &Policy::RING,
        }
    }

    /// Explains that the profile exists only in another version, if so.
    pub fn unknown_version(name: &str) -> Option<String> {
        let profile: Self = name.split_once('@')?.0.parse().ok()?;
        Some(format!("the only version of the profile {} is {profile}", profile.name()))
    }

    /// Another name that parses, if there is one: `wayback` for `ia`.
    pub const fn alias(self) -> Option<&'static str> {
        match self {
            Profile::Ia => Some("wayback"),
            _ => None,
        }
    }

    /// A summary in half a line.
    pub const fn summary(self) -> &'static str {
        self.rules().summary
    }

    /// The codes of those checks that are off until [`Builder::deny`](crate::Builder::deny) enables them.
    pub const fn checks_off(self) -> RejectReasons {
        match self {
            Profile::Sanitize => sanitize::OFF,
            _ => RejectReasons::NONE,
        }
    }

    /// The codes of the checks of all profiles.
    #[cfg(feature = "profile-file")]
    pub fn checks_of_all() -> RejectReasons {
        Self::ALL
            .iter()
            .map(|profile| profile.checks())
            .fold(RejectReasons::NONE, RejectReasons::or)
    }

    /// True if query parameters can be dropped under the profile.
    pub const fn takes_parameters(self) -> bool {
        self.switchable().contains(Switch::StripTracking)
    }
}

/// Prints name and version: `crawl@1`.
impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}@{}", self.name(), self.version()))
    }
}

/// Parses a name, or a name with a version to require it: `crawl`, `crawl@1`. `wayback` is `ia`.
impl FromStr for Profile {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let (plain, version) = match name.split_once('@') {
            Some((plain, version)) => (plain, Some(version)),
            None => (name, None),
        };
        let is_named = |one: &Profile| {
            (one.name() == plain || one.alias() == Some(plain))
                && version.is_none_or(|version| version == one.version().to_string())
        };
        let names = Profile::ALL.iter().map(|profile| profile.name());
        let unknown = || UnknownName::new(name, "profile", names);
        Profile::ALL.iter().copied().find(is_named).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_is_found_by_its_name_and_own_version_only() {
        for profile in Profile::ALL {
            assert_eq!(profile.name().parse::<Profile>(), Ok(*profile));
            let versioned = format!("{}@{}", profile.name(), profile.version());
            assert_eq!(versioned.parse::<Profile>(), Ok(*profile));
        }
        assert_eq!("wayback".parse::<Profile>(), Ok(Profile::Ia));
        assert_eq!("wayback@1".parse(), Ok(Profile::Ia));
        assert!("wayback@2".parse::<Profile>().is_err());
        for unknown in ["", "crawl@", "crawl@01", "crawl@1@1", "Crawl", "@1"] {
            assert!(unknown.parse::<Profile>().is_err(), "{unknown}");
        }
    }
}
