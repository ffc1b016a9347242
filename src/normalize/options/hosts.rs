//! Rules of single hosts, and which of them apply to a host.

use std::collections::HashMap;

use crate::normalize::exact::ladder::Ladder;
use crate::normalize::parts::{AuthorityParts, Parts};
use crate::normalize::ruleset::Ruleset;
use crate::normalize::trace::NoTrace;
use crate::profile::{Policy, scheme};

/// Rules for each host, or for all hosts below a domain. None of them has a base: a reference is resolved
/// against the base of the general rules, so a clone with another base shares all of `Hosts`.
#[derive(Debug, Clone, Default)]
pub(in crate::normalize) struct Hosts {
    pub(in crate::normalize) rules: Vec<Ruleset>,
    /// By hosts in canonical form.
    exact: HashMap<Box<[u8]>, usize>,
    /// By the text after `*.`
    below: HashMap<Box<[u8]>, usize>,
    /// Length of the longest key of `below`. Longer suffixes are not looked up, so a host of many labels
    /// takes linear time.
    longest: usize,
}

impl Hosts {
    /// How many hosts and domains there are.
    pub(in crate::normalize) fn len(&self) -> usize {
        self.rules.len()
    }

    /// All names as they were added, in the order of their bytes, each with its rules.
    pub(in crate::normalize) fn sorted(&self) -> Vec<(Vec<u8>, &Ruleset)> {
        let exact = self.exact.iter().map(|(host, at)| (host.to_vec(), *at));
        let below = self.below.iter().map(|(domain, at)| ([b"*.", &**domain].concat(), *at));
        let mut all: Vec<_> = exact.chain(below).collect();
        all.sort_unstable();
        all.into_iter().map(|(host, at)| (host, &self.rules[at])).collect()
    }

    /// Adds a host, or `*.` and a domain; nothing else is accepted. Returns false for a duplicate.
    #[cfg(feature = "profile-file")]
    pub(in crate::normalize) fn add(&mut self, pattern: &str, rules: Ruleset) -> Option<bool> {
        let (table, name) = match pattern.strip_prefix("*.") {
            Some(domain) => (&mut self.below, domain),
            None => (&mut self.exact, pattern),
        };
        let below = name.len() < pattern.len();
        let literal = name.starts_with('[') && name.ends_with(']');
        // No host is below an address.
        let misplaced = if literal { below } else { name.contains(':') };
        if name.contains(['/', '?', '#', '@', '*']) || misplaced {
            return None;
        }
        // It goes the way of a URL's host, so that both are spelled alike.
        let url = format!("http://{name}/");
        let name = canonical_host(host_of(&Parts::split(url.as_bytes()))?)?;
        if below {
            self.longest = self.longest.max(name.len());
        }
        let before = table.insert(name.into(), self.rules.len());
        self.rules.push(rules);
        Some(before.is_none())
    }

    /// The rules for a host in canonical form: its own, or those of the longest domain.
    pub(in crate::normalize) fn find(&self, host: &[u8]) -> Option<usize> {
        if let Some(i) = self.exact.get(host) {
            return Some(*i);
        }
        let start = host.len().saturating_sub(self.longest + 1);
        let dots = host[start..].iter().enumerate().filter(|(_, byte)| **byte == b'.');
        dots.map(|(dot, _)| &host[start + dot + 1..])
            .find_map(|domain| self.below.get(domain).copied())
    }
}

/// The raw host of a URL with a scheme and an authority.
pub(in crate::normalize) fn host_of<'a>(parts: &Parts<'a>) -> Option<&'a [u8]> {
    parts.scheme?;
    let host_port = AuthorityParts::split(parts.authority?).host_port;
    // The port is not part of the host, valid or not.
    let end = match host_port.first() {
        Some(b'[') => host_port.iter().position(|byte| *byte == b']')? + 1,
        _ => host_port.iter().position(|byte| *byte == b':').unwrap_or(host_port.len()),
    };
    Some(&host_port[..end])
}

/// The form of a host that is used for lookups, for any scheme and profile.
pub(in crate::normalize) fn canonical_host(name: &[u8]) -> Option<Vec<u8>> {
    let mut host = Vec::new();
    let http = scheme::facts(b"http");
    Ladder::new(&Policy::CRAWL, None, &mut host, &mut NoTrace).host(name, http, 0).ok()?;
    Some(host)
}
