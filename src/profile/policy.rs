//! What each profile does, as data: which steps apply, and to which bytes.

use super::ring::{self, Ring};
use super::switch::{self, Switch, Switches};
use super::{sanitize, servlet};
use crate::bytes::RejectReasons;

/// The rules of a [`Profile`](super::Profile), or of one with options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    pub(super) name: &'static str,
    pub(super) version: u32,
    pub(super) summary: &'static str,
    /// How the profile handles bytes that the grammar does not allow.
    pub grammar: Grammar,
    pub(crate) schemes: Schemes,
    pub(crate) access: Access,
    /// The rules besides those of the ladder.
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
    /// Those of web-archive index keys. Their steps replace those of the ladder.
    Archive,
    /// The ladder's, plus checks that reject forms without an honest use.
    Sanitizer,
    /// A servlet container's, for paths. Scheme and authority follow the ladder.
    Servlet,
    /// A decoder ring's, for paths. Scheme and authority follow the ladder.
    Ring(&'static Ring),
    /// A browser's: the URL Standard's, instead of the ladder's.
    Browser,
}

impl System {
    /// True if URLs that the proof declines may be rewritten by masks.
    pub(crate) fn has_masks(self) -> bool {
        matches!(self, System::Ladder | System::Archive)
    }
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

impl Policy {
    pub(crate) const STRING: Policy = Policy {
        name: "string",
        version: 1,
        summary: "the bytes as they stand (RFC 3986 section 6.2.1)",
        grammar: Grammar::Ignored,
        schemes: Schemes::Alike,
        access: Access::Identifier,
        system: System::Ladder,
        checks: RejectReasons::NONE,
        switches: switch::KEPT,
        switchable: Switches::NONE,
    };

    pub(crate) const SYNTAX: Policy = Policy {
        name: "syntax",
        version: 1,
        summary: "case, percent-encoding and dot segments (RFC 3986 section 6.2.2)",
        grammar: Grammar::Enforced,
        ..Policy::STRING
    };

    pub(crate) const SCHEME: Policy = Policy {
        name: "scheme",
        version: 1,
        summary: "syntax, and what each scheme licenses: ports, empty paths (section 6.2.3)",
        schemes: Schemes::Known,
        switchable: switch::STEPS.or(switch::KEPT),
        ..Policy::SYNTAX
    };

    pub(crate) const CRAWL: Policy = Policy {
        name: "crawl",
        version: 1,
        summary: "scheme for retrieval: no fragment or credentials, IDNA hosts, repairs",
        grammar: Grammar::Repaired,
        access: Access::Retrieval,
        switches: Switches::NONE,
        ..Policy::SCHEME
    };

    pub(crate) const AGGRESSIVE: Policy = Policy {
        name: "aggressive",
        version: 2,
        summary: "crawl, and www, index pages, slashes, sessions, tracking (section 6.2.4)",
        switches: switch::AGGRESSIVE,
        ..Policy::CRAWL
    };

    pub(crate) const IA: Policy = Policy {
        name: "ia",
        version: 1,
        summary: "as web-archive indexes: case, www, session ids folded; joins different URLs",
        system: System::Archive,
        // Any other step would make keys that no index has.
        switchable: Switches::NONE,
        ..Policy::CRAWL
    };

    pub(crate) const SANITIZE: Policy = Policy {
        name: "sanitize",
        version: 1,
        summary: "scheme, and what has no honest use is rejected (section 7)",
        system: System::Sanitizer,
        checks: sanitize::CHECKS,
        switchable: Switches::NONE,
        ..Policy::SCHEME
    };

    pub(crate) const SERVLET: Policy = Policy {
        name: "servlet",
        version: 1,
        summary: "the path that a servlet container maps (Jakarta Servlet 6.1 section 3.5.2)",
        system: System::Servlet,
        checks: servlet::CHECKS,
        switchable: Switches::of(&[Switch::KeepEmptySegments]),
        ..Policy::SCHEME
    };

    pub(crate) const WHATWG: Policy = Policy {
        name: "whatwg",
        version: 1,
        summary: "as browsers do it (the WHATWG URL Standard)",
        grammar: Grammar::Repaired,
        schemes: Schemes::Known,
        system: System::Browser,
        ..Policy::STRING
    };

    pub(crate) const MEDIAWIKI: Policy = Policy {
        name: "mediawiki",
        summary: "paths of wiki pages, as Wikimedia's caches normalize them",
        system: System::Ring(&ring::MEDIAWIKI),
        ..Policy::RING
    };

    pub(crate) const RESTBASE: Policy = Policy {
        name: "restbase",
        summary: "as mediawiki, but an encoded slash stays one",
        system: System::Ring(&ring::RESTBASE),
        ..Policy::RING
    };

    pub(crate) const UPLOAD: Policy = Policy {
        name: "upload",
        summary: "paths of media files, as Wikimedia's caches normalize them",
        system: System::Ring(&ring::UPLOAD),
        ..Policy::RING
    };

    pub(crate) const RING: Policy = Policy {
        name: "ring",
        version: 1,
        summary: "the rule of mediawiki for the bytes that its ring lists, and no others",
        system: System::Ring(&ring::PLAIN),
        switchable: Switches::NONE,
        ..Policy::SCHEME
    };

    /// True if the profile accepts other default ports.
    #[cfg(feature = "profile-file")]
    pub(crate) fn takes_ports(&self) -> bool {
        // Indexers and browsers have the ports of their schemes fixed.
        self.schemes == Schemes::Known && !matches!(self.system, System::Archive | System::Browser)
    }
}
