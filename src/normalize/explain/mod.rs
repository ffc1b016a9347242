//! What a profile does to a URL, one rule after the other.
//!
//! The exact normalizer takes a URL in one pass, where several rules act at once. Here the same rules
//! act one by one on a [`Draft`], built from the same step functions, so that the effect of each can be
//! seen. This is no second normalizer: the last step ends with what the first one made of the URL, and
//! the tests hold that no difference is ever left for [`Rule::Rest`].

mod archive;
mod draft;
mod heuristic;
mod ladder;
mod rule;
mod spelling;
mod system;

pub use rule::Rule;

use std::fmt;

use draft::Draft;

use super::hosts::Hosts;
use super::ia;
use super::normalizer::Normalizer;
use super::outcome::Outcome;
use super::parts::Parts;
use super::ports::DefaultPorts;
use super::resolve::resolve;
use super::servlet::EmptySegments;
use crate::bytes::DebugBytes;
use crate::bytes::Reject;
use crate::bytes::RejectReasons;
use crate::normalize::Origin;
use crate::profile::{Grammar, Profile, Ring, System};
use crate::simd::UrlKind;

/// One rule that acted on a URL, and what the URL was before and after.
///
/// Between two steps a URL may hold what the profile's form never does, and need not be one by the
/// grammar: under `ia`, say, a host in the middle of its rules.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Step {
    /// The rule.
    pub rule: Rule,
    /// The URL when it came to the rule.
    pub before: Vec<u8>,
    /// The URL when it left it: never the same.
    pub after: Vec<u8>,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step")
            .field("rule", &self.rule)
            .field("before", &DebugBytes(&self.before))
            .field("after", &DebugBytes(&self.after))
            .finish()
    }
}

/// What the rules know of the profile.
struct Context<'a> {
    profile: &'a Profile,
    /// Default ports, where they are not those of the schemes.
    ports: Option<&'a DefaultPorts>,
    ring: Option<&'a Ring>,
    /// What a request target goes behind; none of an absolute URL.
    origin: Option<Origin>,
    allowed: RejectReasons,
    empty_segments: EmptySegments,
}

/// Changes a draft as one rule does, and says whether it did.
type Act = fn(&mut Draft, &Context<'_>) -> bool;

/// The rungs of RFC 3986 section 6.2. What a rung does not do, its profile says.
const LADDER: &[(Rule, Act)] = &[
    (Rule::DropFragment, ladder::drop_fragment),
    (Rule::DropUserinfo, ladder::drop_userinfo),
    (Rule::Encode, spelling::encode),
    (Rule::TripletCase, spelling::triplet_case),
    (Rule::DecodeUnreserved, spelling::decode_unreserved),
    (Rule::SchemeCase, ladder::scheme_case),
    (Rule::HostCase, ladder::host_case),
    (Rule::Idna, ladder::idna),
    (Rule::Ipv6, ladder::ipv6),
    (Rule::HostDots, ladder::host_dots),
    (Rule::EmptyPort, ladder::empty_port),
    (Rule::PortZeros, ladder::port_zeros),
    (Rule::DefaultPort, ladder::default_port),
    (Rule::FileLocalhost, ladder::file_localhost),
    (Rule::EmptyPath, ladder::empty_path),
    (Rule::DotSegments, ladder::dot_segments),
    (Rule::PathGuard, ladder::path_guard),
    (Rule::MailDomain, ladder::mail_domain),
];

/// The rules of a single system, each list behind the one before it.
type Rules = &'static [&'static [(Rule, Act)]];

/// What a system does to scheme and authority of an absolute URL: what `scheme` does.
const BEFORE_PATH: &[(Rule, Act)] = &[
    (Rule::SchemeCase, ladder::scheme_case),
    (Rule::HostCase, ladder::host_case),
    (Rule::EmptyPort, ladder::empty_port),
    (Rule::PortZeros, ladder::port_zeros),
    (Rule::DefaultPort, ladder::default_port),
    (Rule::FileLocalhost, ladder::file_localhost),
    (Rule::EmptyPath, system::empty_path),
];

/// A servlet container: its rules for the path, the ladder's for what stands before it.
const SERVLET: Rules = &[
    &[
        (Rule::LeadingSlash, system::leading_slash),
        (Rule::Join, system::join),
        (Rule::DropFragment, system::drop_fragment),
        (Rule::Encode, spelling::encode),
        (Rule::TripletCase, spelling::triplet_case),
        (Rule::DecodeUnreserved, spelling::decode_unreserved),
    ],
    BEFORE_PATH,
    &[
        (Rule::PathParameters, system::path_parameters),
        (Rule::DecodeSegments, system::decode_segments),
        (Rule::EmptySegments, system::empty_segments),
        (Rule::DotSegments, system::dot_segments),
    ],
];

/// A decoder ring, likewise.
const RING: Rules = &[
    &[
        (Rule::Join, system::join),
        (Rule::DropFragment, system::drop_fragment),
        (Rule::Encode, spelling::encode),
        (Rule::RingEncode, spelling::ring_encode),
        (Rule::TripletCase, spelling::triplet_case),
        (Rule::DecodeUnreserved, spelling::decode_unreserved),
        (Rule::RingDecode, spelling::ring_decode),
    ],
    BEFORE_PATH,
];

impl Normalizer {
    /// What each rule does to `url`, in order: where one step ends the next one begins, the first with
    /// `url` and the last with exactly what [`Normalizer::normalize`] makes of it. Rules that change
    /// nothing are left out, so a URL in canonical form has no steps.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile, Rule};
    ///
    /// let scheme = Normalizer::new(&Profile::SCHEME);
    /// let steps = scheme.explain(b"HTTP://example.com:80/%7Ea")?;
    /// let rules: Vec<_> = steps.iter().map(|step| step.rule).collect();
    /// assert_eq!(rules, [Rule::DecodeUnreserved, Rule::SchemeCase, Rule::DefaultPort]);
    /// assert_eq!(steps[1].before, b"HTTP://example.com:80/~a");
    /// assert_eq!(steps[1].after, b"http://example.com:80/~a");
    /// assert_eq!(steps[2].after, b"http://example.com/~a");
    /// # Ok::<(), uniqurl::Reject>(())
    /// ```
    ///
    /// This is for people and for counts: it takes many times as long as normalizing does.
    ///
    /// # Errors
    ///
    /// The rejection, where the profile has no canonical form for `url`.
    pub fn explain(&self, url: &[u8]) -> Result<Vec<Step>, Reject> {
        self.explain_as(UrlKind::Absolute, url)
    }

    /// As [`Normalizer::explain`], for what [`Normalizer::normalize_target`] takes.
    ///
    /// # Errors
    ///
    /// The rejection, where the profile has no canonical form for `target`.
    pub fn explain_target(&self, target: &[u8]) -> Result<Vec<Step>, Reject> {
        self.explain_as(UrlKind::Target, target)
    }

    /// Counts each rule that acts on a URL or target whose canonical form is another than it, in its place
    /// of [`Rule::ALL`].
    pub fn count_rules(&self, kind: UrlKind, url: &[u8], counts: &mut [u64; Rule::ALL.len()]) {
        let mut acted = [false; Rule::ALL.len()];
        self.walk(kind, url, &mut |rule, _| acted[rule as usize] = true);
        if !acted.contains(&true) {
            acted[Rule::Rest as usize] = true;
        }
        for (count, acted) in counts.iter_mut().zip(acted) {
            *count += u64::from(acted);
        }
    }

    fn explain_as(&self, kind: UrlKind, url: &[u8]) -> Result<Vec<Step>, Reject> {
        let mut canonical = Vec::new();
        if let Outcome::Reject(reject) = self.normalize_as(kind, url, &mut canonical) {
            return Err(reject);
        }
        let mut steps = Vec::new();
        let mut text = url.to_vec();
        let mut step = |rule, after: Vec<u8>| {
            let before = std::mem::replace(&mut text, after.clone());
            if before != after {
                steps.push(Step { rule, before, after });
            }
        };
        if canonical != url {
            self.walk(kind, url, &mut |rule, stage| step(rule, stage.text()));
        }
        step(Rule::Rest, canonical);
        Ok(steps)
    }

    /// Calls `visit` for each rule that acts on a URL that has a canonical form.
    fn walk(&self, kind: UrlKind, url: &[u8], visit: &mut dyn FnMut(Rule, Stage<'_>)) {
        match (kind, &self.choices.hosts) {
            (UrlKind::Target, _) => self.walk_target_by_rules(url, visit),
            (UrlKind::Absolute, None) => self.walk_by_rules(url, visit),
            (UrlKind::Absolute, Some(hosts)) => self.walk_by_host(hosts, url, visit),
        }
        if let Some(end) = self.redirected(kind, url) {
            visit(Rule::Redirect, Stage::Text(&end));
        }
    }

    /// By the rules of its host, and of each host that those lead to.
    fn walk_by_host(&self, hosts: &Hosts, url: &[u8], visit: &mut dyn FnMut(Rule, Stage<'_>)) {
        if let Some((absolute, _)) = self.absolute_of_network_path(url) {
            visit(Rule::Resolve, Stage::Text(&absolute));
            return self.walk_by_host(hosts, &absolute, visit);
        }
        if let Some((text, _)) = self.by_its_last_scheme(url) {
            self.trimmed(url, visit);
            visit(Rule::RepeatedScheme, Stage::Text(&text));
            return self.walk_by_host(hosts, &text, visit);
        }
        for (normalizer, text) in self.ways_by_hosts(hosts, url) {
            normalizer.walk_by_rules(&text, visit);
        }
    }

    fn walk_by_rules(&self, url: &[u8], visit: &mut dyn FnMut(Rule, Stage<'_>)) {
        if self.profile().grammar == Grammar::Ignored {
            return;
        }
        #[cfg(feature = "transcode")]
        if let Some(transcoded) = self.transcoded(url, UrlKind::Absolute) {
            visit(Rule::Transcode, Stage::Text(&transcoded.url));
            return self.walk_as_it_is(&transcoded.url, visit);
        }
        self.walk_as_it_is(url, visit);
    }

    fn walk_as_it_is(&self, url: &[u8], visit: &mut dyn FnMut(Rule, Stage<'_>)) {
        let mut text = self.without_breaks(self.trimmed(url, visit), visit);
        if self.profile().archive.is_some() {
            let (url, gone) = ia::without_repeated_schemes(&text);
            if gone > 0 {
                visit(Rule::RepeatedScheme, Stage::Text(&url));
                text = url.into_owned();
            }
        }
        if let Some((assumed, _)) = self.assume(&text) {
            text = assumed;
            visit(Rule::AssumeScheme, Stage::Text(&text));
        }
        let parts = Parts::split(&text);
        if self.profile().system == System::Browser {
            let mut serialized = Vec::new();
            if self.rewrite_as_browser(&text, UrlKind::Absolute, &mut serialized).is_ok()
                && serialized != text
            {
                visit(Rule::UrlStandard, Stage::Text(&serialized));
            }
            return;
        }
        let of_system = matches!(self.profile().system, System::Servlet | System::Ring(_));
        if of_system && (parts.scheme.is_none() || parts.authority.is_none()) {
            return self.walk_parts(&Parts::split_target(&text), self.origin(), visit);
        }
        let resolved = match (parts.scheme, self.base()) {
            (None, Some(base)) => {
                let mut resolved = Vec::new();
                resolve(&Parts::split(base), &parts, &mut resolved);
                visit(Rule::Resolve, Stage::Text(&resolved));
                resolved
            }
            _ => text,
        };
        self.walk_parts(&Parts::split(&resolved), None, visit);
    }

    fn walk_target_by_rules(&self, target: &[u8], visit: &mut dyn FnMut(Rule, Stage<'_>)) {
        if self.profile().grammar == Grammar::Ignored {
            return;
        }
        #[cfg(feature = "transcode")]
        if let Some(transcoded) = self.transcoded(target, UrlKind::Target) {
            visit(Rule::Transcode, Stage::Text(&transcoded.url));
            let trimmed = self.trimmed(&transcoded.url, visit);
            return self.walk_parts(&Parts::split_target(trimmed), None, visit);
        }
        let trimmed = self.trimmed(target, visit);
        if self.profile().system == System::Browser {
            let text = self.without_breaks(trimmed, visit);
            let mut serialized = Vec::new();
            if self.rewrite_as_browser(&text, UrlKind::Target, &mut serialized).is_ok()
                && serialized != text
            {
                visit(Rule::UrlStandard, Stage::Text(&serialized));
            }
            return;
        }
        self.walk_parts(&Parts::split_target(trimmed), None, visit);
    }

    fn trimmed<'u>(&self, url: &'u [u8], visit: &mut dyn FnMut(Rule, Stage<'_>)) -> &'u [u8] {
        let trimmed = match self.profile().system {
            System::Servlet | System::Ring(_) => url,
            System::Browser => {
                let start = url.iter().position(|byte| *byte > 0x20).unwrap_or(url.len());
                let end = url.iter().rposition(|byte| *byte > 0x20).map_or(start, |last| last + 1);
                &url[start..end]
            }
            System::Ladder | System::Sanitizer => {
                self.trim(url).map_or(url, |(trimmed, _)| trimmed)
            }
        };
        if trimmed.len() < url.len() {
            visit(Rule::Trim, Stage::Text(trimmed));
        }
        trimmed
    }

    /// A browser leaves out tabs and line breaks wherever they stand.
    fn without_breaks(&self, url: &[u8], visit: &mut dyn FnMut(Rule, Stage<'_>)) -> Vec<u8> {
        let mut text = url.to_vec();
        if self.profile().system == System::Browser {
            text.retain(|byte| !matches!(byte, b'\t' | b'\r' | b'\n'));
            if text.len() < url.len() {
                visit(Rule::LineBreaks, Stage::Text(&text));
            }
        }
        text
    }

    fn walk_parts(
        &self,
        parts: &Parts<'_>,
        origin: Option<Origin>,
        visit: &mut dyn FnMut(Rule, Stage<'_>),
    ) {
        let ctx = Context {
            profile: &self.rules,
            ports: self.choices.ports.as_deref(),
            ring: self.ring(),
            origin,
            allowed: self.choices.allowed,
            empty_segments: self.empty_segments(),
        };
        let mut draft = Draft::new(parts);
        let rules: &[&[(Rule, Act)]] = match (self.profile().archive, self.profile().system) {
            (Some(archive), _) => &[archive::rules(&draft, archive)],
            (None, System::Servlet) => SERVLET,
            (None, System::Ring(_)) => RING,
            // A browser's parser is one rule, above.
            (None, System::Browser) => return,
            (None, System::Ladder | System::Sanitizer) => &[LADDER],
        };
        for (rule, act) in rules.iter().copied().flatten() {
            if act(&mut draft, &ctx) {
                visit(*rule, Stage::Draft(&draft));
            }
        }
        if self.profile().system == System::Ladder && self.choices.heuristics.act() {
            let form = if draft.scheme.is_some() { UrlKind::Absolute } else { UrlKind::Target };
            heuristic::walk(&self.choices.heuristics, draft.text(), form, visit);
        }
    }
}

/// A URL between two rules.
#[derive(Clone, Copy)]
enum Stage<'a> {
    Text(&'a [u8]),
    Draft(&'a Draft),
}

impl Stage<'_> {
    fn text(self) -> Vec<u8> {
        match self {
            Stage::Text(text) => text.to_vec(),
            Stage::Draft(draft) => draft.text(),
        }
    }
}
