//! Rules of single hosts and of their paths, and which of them apply to a host.

use std::collections::HashMap;

use crate::bytes::set::CLEAN_HOST;
use crate::normalize::exact::ladder::Ladder;
use crate::normalize::parts::{AuthorityParts, Parts};
use crate::normalize::ruleset::Ruleset;
use crate::normalize::trace::NoTrace;
#[cfg(feature = "profile-file")]
use crate::profile::Switch;
use crate::profile::glob::{Case, Glob};
use crate::profile::{Policy, Switches, scheme};

/// Rules for each host, or for all hosts below a domain. None of them has a base: a reference is resolved
/// against the base of the general rules, so a clone with another base shares all of `Hosts`.
#[derive(Debug, Clone, Default)]
pub(in crate::normalize) struct Hosts {
    pub(in crate::normalize) sites: Vec<Site>,
    /// The switches that act on paths, of those that are on anywhere.
    pub(in crate::normalize) path_steps: Switches,
    /// By hosts in canonical form.
    exact: HashMap<Box<[u8]>, usize>,
    /// By the text after `*.`
    below: HashMap<Box<[u8]>, usize>,
    /// Length of the longest key of `below`. Longer suffixes are not looked up, so a host of many labels
    /// takes linear time.
    longest: usize,
    /// The ends of all names.
    pub(in crate::normalize) ends: Ends,
}

/// The rules of a host, or of all hosts below a domain.
#[derive(Debug, Clone)]
pub(in crate::normalize) struct Site {
    /// Whether the rules of all hosts below a domain are those of the domain, too, unless it has its own.
    pub(in crate::normalize) with_domain: bool,
    pub(in crate::normalize) rules: Ruleset,
    /// The path that is tried first comes first.
    pub(in crate::normalize) paths: Vec<PathRules>,
}

/// The rules of a host for some paths.
#[derive(Debug, Clone)]
pub(in crate::normalize) struct PathRules {
    pub(in crate::normalize) glob: Glob,
    /// The case in which the pattern is compared.
    pub(in crate::normalize) case: Case,
    /// The rules of the host, changed by the section of the path.
    pub(in crate::normalize) rules: Ruleset,
}

impl Site {
    /// The rules for a path: those of the pattern that matches with the most bytes that stand for themselves, and of
    /// two such the first of the file.
    pub(in crate::normalize) fn rules_at(&self, path: &[u8]) -> &Ruleset {
        let found = self.paths.iter().find(|of_path| of_path.glob.matches(path, of_path.case));
        found.map_or(&self.rules, |of_path| &of_path.rules)
    }
}

impl Hosts {
    /// How many hosts and domains there are.
    pub(in crate::normalize) fn len(&self) -> usize {
        self.sites.len()
    }

    /// How many patterns of paths there are.
    pub(in crate::normalize) fn paths(&self) -> usize {
        self.sites.iter().map(|site| site.paths.len()).sum()
    }

    /// All rules of hosts and paths.
    pub(in crate::normalize) fn rules(&self) -> impl Iterator<Item = &Ruleset> {
        let of_hosts = self.sites.iter().map(|site| &site.rules);
        let paths = self.sites.iter().flat_map(|site| &site.paths);
        of_hosts.chain(paths.map(|path| &path.rules))
    }

    /// Changes all rules of hosts and paths.
    pub(in crate::normalize) fn change_rules(&mut self, change: impl Fn(&mut Ruleset)) {
        for site in &mut self.sites {
            change(&mut site.rules);
            site.paths.iter_mut().for_each(|path| change(&mut path.rules));
        }
    }

    /// All names, in the order of their bytes, each with its rules.
    pub(in crate::normalize) fn sorted(&self) -> Vec<(Vec<u8>, &Site)> {
        let exact = self.exact.iter().map(|(host, at)| (host.to_vec(), *at));
        let star = |at: usize| if self.sites[at].with_domain { &b"."[..] } else { b"*." };
        let below = self.below.iter().map(|(domain, at)| ([star(*at), domain].concat(), *at));
        let mut all: Vec<_> = exact.chain(below).collect();
        all.sort_unstable();
        all.into_iter().map(|(host, at)| (host, &self.sites[at])).collect()
    }

    /// Adds a host, or `*.` and a domain for all hosts below it, or `.` and a domain for both; nothing else is
    /// accepted. Returns false for a duplicate.
    #[cfg(feature = "profile-file")]
    pub(in crate::normalize) fn add(&mut self, pattern: &str, mut site: Site) -> Option<bool> {
        let domain = pattern.strip_prefix("*.").or(pattern.strip_prefix('.'));
        let (below, name) = (domain.is_some(), domain.unwrap_or(pattern));
        site.with_domain = pattern.starts_with('.');
        let literal = name.starts_with('[') && name.ends_with(']');
        // No host is below an address.
        let misplaced = if literal { below } else { name.contains(':') };
        if name.contains(['/', '?', '#', '@', '*']) || misplaced {
            return None;
        }
        // It goes the way of a URL's host, so that both are spelled alike.
        let url = format!("http://{name}/");
        let name = canonical_host(host_of(&Parts::split(url.as_bytes()))?)?;
        let table = if below { &mut self.below } else { &mut self.exact };
        if below {
            self.longest = self.longest.max(name.len());
            self.ends.add_below(&name);
        }
        if !below || site.with_domain {
            // A shorter name than an end is padded, and so is the host that is equal to it.
            self.ends.add(word(&name), Ends::LENGTHS[0]);
        }
        let before = table.insert(name.into(), self.sites.len());
        // Stable: of two patterns with as many literal bytes the first of the file counts.
        site.paths.sort_by_key(|path| std::cmp::Reverse(path.glob.literals()));
        for rules in site.paths.iter().map(|path| &path.rules).chain([&site.rules]) {
            self.path_steps = self.path_steps.or(rules.profile.switches.and(PATH_STEPS));
        }
        self.sites.push(site);
        Some(before.is_none())
    }

    /// The rules for a host in canonical form: its own, or those of the longest domain.
    pub(in crate::normalize) fn find(&self, host: &[u8]) -> Option<&Site> {
        if !self.ends.may_hold(host) {
            return None;
        }
        let below = |domain| self.below.get(domain).map(|at| &self.sites[*at]);
        if let Some(at) = self.exact.get(host) {
            return Some(&self.sites[*at]);
        }
        if let Some(site) = below(host).filter(|site| site.with_domain) {
            return Some(site);
        }
        let start = host.len().saturating_sub(self.longest + 1);
        let dots = host[start..].iter().enumerate().filter(|(_, byte)| **byte == b'.');
        dots.map(|(dot, _)| &host[start + dot + 1..]).find_map(below)
    }
}

/// The switches that change a path.
#[cfg(feature = "profile-file")]
const PATH_STEPS: Switches = Switches::of(&[
    Switch::LowerPath,
    Switch::SqueezeSlashes,
    Switch::StripSession,
    Switch::StripIndex,
    Switch::StripTrailingSlash,
]);

/// A Bloom filter of the ends of names, which nearly every host without rules of its own fails: looking up each of
/// its domains would take longer than all rules together.
#[derive(Debug, Clone, Default)]
pub(in crate::normalize) struct Ends(Vec<u64>);

impl Ends {
    /// 8 KiB: a thousand names set 2 % of the bits.
    const BITS: u32 = 16;

    /// Lengths of an end. A domain like `.x.de` needs the short ones; only the longest that it has is set. Eight bytes
    /// at most let too many pass: `line.com` is the end of many hosts.
    const LENGTHS: [usize; 4] = [16, 12, 8, 4];

    #[cfg(feature = "profile-file")]
    fn add(&mut self, word: u128, length: usize) {
        let bit = Self::bit(word, length);
        self.0.resize(1 << (Self::BITS - 6), 0);
        self.0[bit >> 6] |= 1 << (bit & 63);
    }

    /// Adds all hosts below a domain.
    #[cfg(feature = "profile-file")]
    fn add_below(&mut self, domain: &[u8]) {
        let end = [b".", domain].concat();
        match Self::LENGTHS.into_iter().find(|length| *length <= end.len()) {
            Some(length) => self.add(word(&end), length),
            None => self.0 = vec![u64::MAX; 1 << (Self::BITS - 6)],
        }
    }

    /// Whether a host in canonical form may have such an end. There are false positives, but no false negatives.
    #[inline]
    pub(in crate::normalize) fn may_hold(&self, host: &[u8]) -> bool {
        let word = word(host);
        Self::LENGTHS.into_iter().any(|length| {
            let bit = Self::bit(word, length);
            self.0.get(bit >> 6).is_some_and(|bits| bits >> (bit & 63) & 1 == 1)
        })
    }

    /// A hash of the last bytes.
    #[inline]
    fn bit(word: u128, length: usize) -> usize {
        let end = word >> (128 - 8 * length);
        let mixed =
            (end as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (end >> 64) as u64 ^ length as u64;
        (mixed.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> (64 - Self::BITS)) as usize
    }
}

/// The last 16 bytes of a name, with zeros before a shorter one.
#[inline]
fn word(name: &[u8]) -> u128 {
    match name.last_chunk() {
        Some(last) => u128::from_le_bytes(*last),
        None => name.iter().fold(0, |word, byte| word >> 8 | u128::from(*byte) << 120),
    }
}

/// The host of a URL if it is canonical as it stands. Most are, and need no form of their own for lookups.
pub(in crate::normalize) fn plain_host(url: &[u8]) -> Option<&[u8]> {
    let rest = url
        .strip_prefix(b"http")
        .and_then(|rest| rest.strip_prefix(b"://").or_else(|| rest.strip_prefix(b"s://")))?;
    let end = rest.iter().position(|byte| !CLEAN_HOST.contains(*byte)).unwrap_or(rest.len());
    let host = &rest[..end];
    let ends = matches!(rest.get(end), None | Some(b'/' | b'?' | b'#'));
    (ends && !host.is_empty() && !host.ends_with(b".")).then_some(host)
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
