//! Policy as data: which rules a profile applies, and to which bytes.
//!
//! The order of the steps is code, in `normalize`. This module says which step applies, and to
//! which bytes. To add a profile, write one const, list it in [`Profile::ALL`], and add a file of
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

pub use heuristic::tracking_version;
pub use ring::{Act, Ring, RingError};
pub use switch::{Switch, Switches};

use std::fmt;
use std::str::FromStr;

use crate::bytes::RejectReasons;
use crate::bytes::UnknownName;
use archive::Archive;

/// A named, versioned rule that maps each URL to one canonical form, or rejects it.
///
/// The first five profiles are the rungs of RFC 3986 section 6.2: each merges all URLs that the
/// previous one merges, and more. Each of the others has the rules of one system.
///
/// ```
/// use uniqurl::Profile;
///
/// let crawl = Profile::named("crawl@1").unwrap();
/// assert_eq!((crawl.name(), crawl.version()), ("crawl", 1));
/// assert!(Profile::named("crawl@2").is_none());
/// ```
///
/// The output of one version never changes; a change of the rules is a new version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    name: &'static str,
    version: u32,
    summary: &'static str,
    /// How the profile handles bytes that the grammar does not allow.
    pub grammar: Grammar,
    pub(crate) schemes: Schemes,
    pub(crate) access: Access,
    /// The rules of web-archive index keys, if any. Their steps replace those of the ladder.
    pub(crate) archive: Option<&'static Archive>,
    /// The rules that follow the ladder, if any.
    pub system: System,
    /// The checks that can be switched on and off.
    pub(crate) checks: RejectReasons,
    /// The switches that are on.
    pub(crate) switches: Switches,
    /// The switches that can be changed.
    pub(crate) switchable: Switches,
}

/// The rules that apply besides those of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum System {
    /// No others.
    Ladder,
    /// The ladder's, plus checks that reject forms without an honest use.
    Sanitizer,
    /// A servlet container's, for paths. Scheme and authority follow the ladder.
    Servlet,
    /// A decoder ring's, for paths. Scheme and authority follow the ladder.
    Ring(&'static Ring),
    /// A browser's: the URL Standard's, instead of the ladder's.
    Browser,
}

/// How to handle bytes that the grammar of RFC 3986 Appendix A does not allow at their position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grammar {
    /// No grammar applies: a URL is its bytes.
    Ignored,
    /// The URL is rejected.
    Enforced,
    /// The byte becomes a triplet, if that means the same.
    Repaired,
}

/// Whether the definitions of schemes license further merges (section 6.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schemes {
    /// All schemes are alike.
    Alike,
    /// The rules of [`scheme`] apply.
    Known,
}

/// Whether URLs are compared as identifiers or for retrieval (section 6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// As an identifier: every component matters.
    Identifier,
    /// For retrieval: fragments are removed, and userinfo of http, https, ws, wss and ftp; hosts take the form used for lookup.
    Retrieval,
}

impl Profile {
    /// Section 6.2.1, simple string comparison: the bytes, unchanged.
    pub const STRING: Profile = Profile {
        name: "string",
        version: 1,
        summary: "the bytes as they stand (RFC 3986 section 6.2.1)",
        grammar: Grammar::Ignored,
        schemes: Schemes::Alike,
        access: Access::Identifier,
        archive: None,
        system: System::Ladder,
        checks: RejectReasons::NONE,
        switches: switch::KEPT,
        switchable: Switches::NONE,
    };

    /// Section 6.2.2, syntax-based normalization: case, percent-encoding, dot segments.
    pub const SYNTAX: Profile = Profile {
        name: "syntax",
        version: 1,
        summary: "case, percent-encoding and dot segments (RFC 3986 section 6.2.2)",
        grammar: Grammar::Enforced,
        schemes: Schemes::Alike,
        access: Access::Identifier,
        archive: None,
        system: System::Ladder,
        checks: RejectReasons::NONE,
        switches: switch::KEPT,
        switchable: Switches::NONE,
    };

    /// Section 6.2.3, scheme-based normalization: `syntax`, plus default ports, empty paths and the like.
    pub const SCHEME: Profile = Profile {
        name: "scheme",
        version: 1,
        summary: "syntax, and what each scheme licenses: ports, empty paths (section 6.2.3)",
        schemes: Schemes::Known,
        switchable: switch::STEPS.or(switch::KEPT),
        ..Profile::SYNTAX
    };

    /// `scheme` for network access: no fragment, repairs instead of rejections, and no userinfo in http,
    /// https, ws, wss and ftp URLs. Those of other schemes keep it, passwords included.
    pub const CRAWL: Profile = Profile {
        name: "crawl",
        version: 1,
        summary: "scheme for retrieval: no fragment or credentials, IDNA hosts, repairs",
        grammar: Grammar::Repaired,
        access: Access::Retrieval,
        switches: Switches::NONE,
        ..Profile::SCHEME
    };

    /// `crawl`, plus heuristic merges, each one a switch (section 6.2.4): `www.`, index pages, final
    /// and doubled slashes, session ids, tracking parameters, the order of parameters.
    ///
    /// It may merge URLs that differ. `crawl` merges only URLs that differ in fragment or userinfo, which name
    /// different resources for some servers and scripts. Use `scheme` if you must not lose one.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let aggressive = Normalizer::new(&Profile::AGGRESSIVE);
    /// let mut out = Vec::new();
    /// let _ = aggressive.append(b"http://www.example.com/a//index.html?q=1&p&utm_id=x", &mut out);
    /// assert_eq!(out, b"http://example.com/a?p&q=1");
    /// ```
    pub const AGGRESSIVE: Profile = Profile {
        name: "aggressive",
        version: 2,
        summary: "crawl, and www, index pages, slashes, sessions, tracking (section 6.2.4)",
        switches: switch::AGGRESSIVE,
        ..Profile::CRAWL
    };

    /// The form from which web-archive index keys are made: with [`Key::Surt`] the output joins CDX
    /// files.
    ///
    /// It is not a rung of the ladder. It decodes repeatedly and folds case, so it merges URLs of
    /// different resources, such as `/a%2Fb` and `/a/b`.
    ///
    /// [`Key::Surt`]: crate::Key::Surt
    pub const IA: Profile = Profile {
        name: "ia",
        version: 1,
        summary: "as web-archive indexes: case, www, session ids folded; joins different URLs",
        archive: Some(&archive::IA),
        switchable: Switches::NONE,
        ..Profile::CRAWL
    };

    /// `scheme`, plus checks that reject forms without an honest use (RFC 3986 section 7).
    pub const SANITIZE: Profile = Profile {
        name: "sanitize",
        version: 1,
        summary: "scheme, and what has no honest use is rejected (section 7)",
        system: System::Sanitizer,
        checks: sanitize::CHECKS,
        switchable: Switches::NONE,
        ..Profile::SCHEME
    };

    /// Jakarta Servlet 6.1 section 3.5.2: the path by which a servlet container maps a request.
    pub const SERVLET: Profile = Profile {
        name: "servlet",
        version: 1,
        summary: "the path that a servlet container maps (Jakarta Servlet 6.1 section 3.5.2)",
        system: System::Servlet,
        checks: servlet::CHECKS,
        switchable: Switches::of(&[Switch::KeepEmptySegments]),
        ..Profile::SCHEME
    };

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
    /// let whatwg = Normalizer::new(&Profile::WHATWG);
    /// let mut out = Vec::new();
    /// assert_eq!(whatwg.append(b"HTTPS:\\\\0x7f.1\\%7ea|b?it's", &mut out), Ok(()));
    /// assert_eq!(out, b"https://127.0.0.1/%7ea|b?it%27s");
    /// ```
    pub const WHATWG: Profile = Profile {
        name: "whatwg",
        version: 1,
        summary: "as browsers do it (the WHATWG URL Standard)",
        grammar: Grammar::Repaired,
        schemes: Schemes::Known,
        access: Access::Identifier,
        archive: None,
        system: System::Browser,
        checks: RejectReasons::NONE,
        switches: switch::KEPT,
        switchable: Switches::NONE,
    };

    /// The decoder ring of Wikimedia's wikis.
    pub const MEDIAWIKI: Profile = Profile {
        name: "mediawiki",
        summary: "paths of wiki pages, as Wikimedia's caches normalize them",
        system: System::Ring(&ring::MEDIAWIKI),
        ..Profile::RING
    };

    /// The decoder ring of Wikimedia's REST interface.
    pub const RESTBASE: Profile = Profile {
        name: "restbase",
        summary: "as mediawiki, but an encoded slash stays one",
        system: System::Ring(&ring::RESTBASE),
        ..Profile::RING
    };

    /// The decoder ring of Wikimedia's media files.
    pub const UPLOAD: Profile = Profile {
        name: "upload",
        summary: "paths of media files, as Wikimedia's caches normalize them",
        system: System::Ring(&ring::UPLOAD),
        ..Profile::RING
    };

    /// A decoder ring that keeps the spelling of every reserved character, or your own ring
    /// ([`Normalizer::with_ring`](crate::Normalizer::with_ring)).
    pub const RING: Profile = Profile {
        name: "ring",
        version: 1,
        summary: "the rule of mediawiki for the bytes that its ring lists, and no others",
        system: System::Ring(&ring::PLAIN),
        switchable: Switches::NONE,
        ..Profile::SCHEME
    };

    /// The rungs of RFC 3986 section 6.2, finest first: each merges all URLs that the previous one
    /// merges.
    pub const LADDER: &'static [&'static Profile] = &[
        &Profile::STRING,
        &Profile::SYNTAX,
        &Profile::SCHEME,
        &Profile::CRAWL,
        &Profile::AGGRESSIVE,
    ];

    /// Every built-in profile: the ladder, finest first, then the others.
    pub const ALL: &'static [&'static Profile] = &[
        &Profile::STRING,
        &Profile::SYNTAX,
        &Profile::SCHEME,
        &Profile::CRAWL,
        &Profile::AGGRESSIVE,
        &Profile::IA,
        &Profile::WHATWG,
        &Profile::SANITIZE,
        &Profile::SERVLET,
        &Profile::MEDIAWIKI,
        &Profile::RESTBASE,
        &Profile::UPLOAD,
        &Profile::RING,
    ];

    /// The built-in profile of this name: `crawl`, or `crawl@1` to require a version. An
    /// [alias](Self::alias) is a name too.
    pub fn named(name: &str) -> Option<&'static Profile> {
        let (name, version) = match name.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (name, None),
        };
        let is_named = |profile: &&&Profile| profile.name == name || profile.alias() == Some(name);
        let profile = Self::ALL.iter().find(is_named)?;
        version.is_none_or(|version| version == profile.version.to_string()).then_some(*profile)
    }

    /// Explains that the profile exists only in another version, if so.
    pub fn unknown_version(name: &str) -> Option<String> {
        let Profile { name, version, .. } = Self::named(name.split_once('@')?.0)?;
        Some(format!("the only version of the profile {name} is {name}@{version}"))
    }

    /// The name, without a version.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Another name that [`Profile::named`] takes, if there is one: `wayback` for `ia`.
    pub const fn alias(&self) -> Option<&'static str> {
        match self.archive {
            Some(_) => Some("wayback"),
            None => None,
        }
    }

    /// The version of the rules, starting at 1.
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// The codes of the checks that [`Normalizer::with_allowed`](crate::Normalizer::with_allowed) can
    /// disable, and [`Normalizer::with_denied`](crate::Normalizer::with_denied) can enable.
    pub const fn checks(&self) -> RejectReasons {
        self.checks
    }

    /// The codes of those checks that are off until
    /// [`Normalizer::with_denied`](crate::Normalizer::with_denied) enables them.
    pub const fn checks_off(&self) -> RejectReasons {
        match self.system {
            System::Sanitizer => sanitize::OFF,
            _ => RejectReasons::NONE,
        }
    }

    /// The codes of the checks of all profiles.
    #[cfg(feature = "profile-file")]
    pub fn checks_of_all() -> RejectReasons {
        Self::ALL.iter().map(|profile| profile.checks).fold(RejectReasons::NONE, RejectReasons::or)
    }

    /// The switches that are on.
    pub const fn switches(&self) -> Switches {
        self.switches
    }

    /// The switches that [`Normalizer::with_switches`](crate::Normalizer::with_switches) and
    /// [`Normalizer::without_switches`](crate::Normalizer::without_switches) can change.
    pub const fn switchable(&self) -> Switches {
        self.switchable
    }

    /// True if query parameters can be dropped under the profile.
    pub fn takes_parameters(&self) -> bool {
        self.switchable.contains(Switch::StripTracking)
    }

    /// True if the profile accepts other default ports.
    #[cfg(feature = "profile-file")]
    pub(crate) fn takes_ports(&self) -> bool {
        self.schemes == Schemes::Known && self.archive.is_none() && self.system != System::Browser
    }

    /// A summary in half a line.
    pub const fn summary(&self) -> &'static str {
        self.summary
    }
}

/// Prints name and version as [`Profile::named`] takes them: `crawl@1`.
impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}@{}", self.name, self.version))
    }
}

/// Parses a name with or without a version.
impl FromStr for &'static Profile {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let names = Profile::ALL.iter().map(|profile| profile.name());
        Profile::named(name).ok_or_else(|| UnknownName::new(name, "profile", names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_is_found_by_its_name_and_own_version_only() {
        for profile in Profile::ALL {
            assert_eq!(Profile::named(profile.name()), Some(*profile));
            let versioned = format!("{}@{}", profile.name(), profile.version());
            assert_eq!(Profile::named(&versioned), Some(*profile));
        }
        assert_eq!(Profile::named("wayback"), Some(&Profile::IA));
        assert_eq!("wayback@1".parse(), Ok(&Profile::IA));
        assert_eq!(Profile::named("wayback@2"), None);
        for unknown in ["", "crawl@", "crawl@01", "crawl@1@1", "Crawl", "@1"] {
            assert_eq!(Profile::named(unknown), None, "{unknown}");
        }
    }
}
