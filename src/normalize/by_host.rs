//! Normalizes URLs by the rules of their hosts and paths.
//!
//! Which rules act is a function of the URL as it stands: its host says which section, and its path, in the form that
//! the rules of this section alone give it, which subsection. They rewrite the URL. If those of the result are others,
//! they rewrite it again, until the rules that wrote a URL are its own. So the result is a fixed point: its own rules
//! find nothing to change.

use std::borrow::Cow;
use std::sync::Arc;

use memchr::memchr;

use crate::bytes::Reject;
use crate::normalize::exact::ia;
use crate::normalize::explain::Rule;
use crate::normalize::front::Front;
use crate::normalize::judge::proof::behind_slashes;
use crate::normalize::normalizer::Normalizer;
use crate::normalize::options::hosts::{Hosts, Site, canonical_host, host_of, plain_host};
use crate::normalize::parts::Parts;
use crate::normalize::ruleset::Ruleset;
use crate::normalize::trace::{NoTrace, Trace};
use crate::profile::System;
use crate::simd::UrlKind;

/// Maps an offset in `made`, the rewritten URL, back to an offset in `url`. After that offset the two are
/// mostly equal, because the rules changed only the host.
fn place_in(url: &[u8], made: &[u8], at: usize) -> usize {
    match made.get(at..) {
        Some(behind) if url.ends_with(behind) => url.len() - behind.len(),
        _ => at.min(url.len()),
    }
}

impl Normalizer {
    /// The rules for any host, and those of single hosts.
    pub(in crate::normalize) fn all_rules(&self) -> impl Iterator<Item = &Ruleset> {
        let of_hosts = self.hosts.iter().flat_map(|hosts| hosts.rules());
        std::iter::once(&self.rules).chain(of_hosts)
    }

    /// Changes all rulesets.
    pub(in crate::normalize) fn change_rules(&mut self, change: impl Fn(&mut Ruleset)) {
        change(&mut self.rules);
        if let Some(hosts) = &mut self.hosts {
            Arc::make_mut(hosts).change_rules(change);
        }
    }

    /// The rules of `hosts` that apply to a URL; `None` stands for the general ones.
    fn find_rules<'h>(&self, hosts: &'h Hosts, url: &[u8]) -> Option<&'h Ruleset> {
        let site = self.find_site(hosts, url)?;
        if site.paths.is_empty() {
            return Some(&site.rules);
        }
        let (rules, all) = (self.with_base_of(&site.rules, url), 0..url.len());
        if rules.is_clean(url, all.clone(), UrlKind::Absolute) {
            return Some(site.rules_at(Parts::split(url).path));
        }
        let mut form = Vec::new();
        // Sections of paths reject and accept what that of the host does.
        match rules.rewrite(url, all, UrlKind::Absolute, &mut form, &mut NoTrace) {
            Ok(()) => Some(site.rules_at(Parts::split(&form).path)),
            Err(_) => Some(&site.rules),
        }
    }

    /// The section of the host of a URL; `None` if it has none, or no host.
    fn find_site<'h>(&self, hosts: &'h Hosts, url: &[u8]) -> Option<&'h Site> {
        if let Some(host) = plain_host(url) {
            return hosts.find(host);
        }
        // Blanks around a URL are not part of its host, whether its profile trims or rejects them.
        let start = url.iter().position(|byte| *byte > 0x20)?;
        let end = url.iter().rposition(|byte| *byte > 0x20)? + 1;
        let url = &url[start..end];
        let parts = self.rules.split(url);
        let assumed = self.rules.assume(url);
        let host = match (parts.scheme, self.rules.base()) {
            _ if assumed.has_more() => self.host_looked_up(&Parts::split(&assumed.text)),
            (Some(_), _) => self.host_looked_up(&parts),
            // A request target is appended to the authority of the base.
            (None, Some(base)) if self.rules.takes_targets() || parts.authority.is_none() => {
                self.host_looked_up(&Parts::split(base))
            }
            (None, Some(base)) => {
                self.host_looked_up(&Parts { scheme: Parts::split(base).scheme, ..parts })
            }
            (None, None) => None,
        };
        hosts.find(&host?)
    }

    /// The host of a URL in the form used for lookups, transcoded to UTF-8.
    fn host_looked_up(&self, parts: &Parts<'_>) -> Option<Vec<u8>> {
        let host = host_of(parts)?;
        // A host in another charset is looked up as it will be written.
        #[cfg(feature = "transcode")]
        if let Some(transcoded) = self.rules.transcoded_host(host) {
            return canonical_host(&transcoded.url);
        }
        canonical_host(host)
    }

    /// Whether a URL is proven clean by the rules of its host.
    pub(in crate::normalize) fn is_clean_by_host(&self, hosts: &Hosts, url: &[u8]) -> bool {
        let is_clean = |rules: &Ruleset| rules.is_clean(url, 0..url.len(), UrlKind::Absolute);
        let of_its_own = match self.find_site(hosts, url) {
            None => is_clean(&self.rules),
            Some(site) if site.paths.is_empty() => is_clean(&site.rules),
            // A path that the rules of the host change would have to be written to be looked up.
            Some(site) => is_clean(&site.rules) && is_clean(site.rules_at(Parts::split(url).path)),
        };
        of_its_own && self.front_by_host(url).is_none() && self.stays(url)
    }

    /// Whether a URL that is clean by the general rules is proven clean.
    #[inline]
    pub(in crate::normalize) fn stays_clean_by_host(&self, hosts: &Hosts, url: &[u8]) -> bool {
        // The host of a clean URL has no port, and is spelled as it is looked up but for stops at its end.
        let rest = behind_slashes(url).unwrap_or_default();
        let host = &rest[..memchr(b'/', rest).unwrap_or(rest.len())];
        (!host.ends_with(b".") && !hosts.ends.may_hold(host)) || self.is_clean_by_host(hosts, url)
    }

    /// Appends the result of the rules of the URL's host.
    ///
    /// The result may have another host, for example one without `www.`, or another path, where a section of a path
    /// has switches that act on paths. Then the rules of that host and path act as well, or the result would not be a
    /// fixed point. The rounds are few ([`MOST_ROUNDS`]).
    pub(in crate::normalize) fn rewrite_by_host<T: Trace>(
        &self,
        hosts: &Hosts,
        url: &[u8],
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        let at = out.len();
        if let Some((front, rule)) = self.front_by_host(url) {
            if T::RECORDS && rule == Rule::RepeatedScheme {
                trace.whole(Rule::Trim, &self.rules.trim(url)?.text);
            }
            trace.whole(rule, &front.text);
            return self
                .rewrite_by_host(hosts, &front.text, out, trace)
                .map_err(|reject| front.reject(reject));
        }
        let mut found = self.find_rules(hosts, url);
        let kind = UrlKind::Absolute;
        self.of_round(hosts, 0, found, url).rewrite(url, 0..url.len(), kind, out, trace)?;
        for round in 1..=MOST_ROUNDS {
            let next = self.find_rules(hosts, &out[at..]);
            if are_same(next, found) {
                break;
            }
            found = next;
            let before = out.split_off(at);
            let rewritten = self.of_round(hosts, round, found, &before).rewrite(
                &before,
                0..before.len(),
                kind,
                out,
                trace,
            );
            rewritten.map_err(|reject| reject.moved(|at| place_in(url, &before, at)))?;
        }
        Ok(())
    }

    /// Appends the decoded path of a URL, by the rules that act on it last: those of its canonical form.
    pub(in crate::normalize) fn decoded_by_host(
        &self,
        hosts: &Hosts,
        url: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Reject> {
        if let Some((front, _)) = self.front_by_host(url) {
            return self
                .decoded_by_host(hosts, &front.text, out)
                .map_err(|reject| front.reject(reject));
        }
        let Some((rules, text)) = self.ways_by_hosts(hosts, url).pop() else {
            return Ok(());
        };
        rules
            .decoded(&text, UrlKind::Absolute, out)
            .map_err(|reject| reject.moved(|at| place_in(url, &text, at)))
    }

    /// The step of the general rules that has to come before the host of a URL is looked up, if one acts.
    fn front_by_host<'a>(&self, url: &'a [u8]) -> Option<(Front<'a>, Rule)> {
        // The rules of its host might otherwise read a reference like `//host/path` as a request target.
        if let Some(front) = self.absolute_of_network_path(url) {
            return Some((front, Rule::Resolve));
        }
        // The general rules would otherwise take an earlier one of several leading schemes for the host.
        if self.rules.profile.system != System::Archive {
            return None;
        }
        let trimmed = self.rules.trim(url).ok()?;
        let Cow::Borrowed(text) = trimmed.text else { return None };
        let (text, gone) = ia::without_repeated_schemes(text);
        (gone > 0).then(|| (Front::after(trimmed.cut + gone, text), Rule::RepeatedScheme))
    }

    /// Prepends the scheme of the base to a reference like `//host/path`.
    fn absolute_of_network_path(&self, url: &[u8]) -> Option<Front<'static>> {
        let (blanks, reference) = url.split_at(self.rules.trim(url).ok()?.cut);
        let acts = !self.rules.takes_targets() && self.rules.assumed_scheme().is_none();
        if !acts || !reference.starts_with(b"//") {
            return None;
        }
        let scheme = Parts::split(self.rules.base()?).scheme?;
        // The blanks stay in front, for the rules of the host to trim or to reject.
        let text = [blanks, scheme, b":", reference].concat();
        Some(Front { text: Cow::Owned(text), cut: 0, added: scheme.len() + 1 })
    }

    /// The rulesets that act in turn on a URL that has a canonical form, each with its input.
    pub(in crate::normalize) fn ways_by_hosts<'a>(
        &'a self,
        hosts: &'a Hosts,
        url: &[u8],
    ) -> Vec<(Cow<'a, Ruleset>, Vec<u8>)> {
        let mut ways = Vec::new();
        let mut text = url.to_vec();
        let mut found = self.find_rules(hosts, url);
        loop {
            let rules = self.of_round(hosts, ways.len(), found, &text);
            let mut after = Vec::new();
            let all = 0..text.len();
            let result = rules.rewrite(&text, all, UrlKind::Absolute, &mut after, &mut NoTrace);
            ways.push((rules, std::mem::replace(&mut text, after)));
            let next = self.find_rules(hosts, &text);
            if result.is_err() || are_same(next, found) || ways.len() > MOST_ROUNDS {
                return ways;
            }
            found = next;
        }
    }

    /// The rules that rewrite a URL in a round, the first of which is 0.
    fn of_round<'a>(
        &'a self,
        hosts: &Hosts,
        round: usize,
        found: Option<&'a Ruleset>,
        url: &[u8],
    ) -> Cow<'a, Ruleset> {
        let rules = found.map_or(Cow::Borrowed(&self.rules), |rules| self.with_base_of(rules, url));
        let steps = hosts.path_steps.and(rules.built_in.switchable());
        if round < FEW_ROUNDS || steps.is_empty() {
            return rules;
        }
        let mut rules = rules.into_owned();
        rules.profile.switches = rules.profile.switches.or(steps);
        rules.heuristics.set(rules.profile.switches);
        Cow::Owned(rules)
    }

    /// Rules of a host, with the base of the general ones if the URL is a reference.
    fn with_base_of<'a>(&self, rules: &'a Ruleset, url: &[u8]) -> Cow<'a, Ruleset> {
        match self.rules.split(url).scheme {
            Some(_) => Cow::Borrowed(rules),
            None => rules.with_base_of(&self.rules),
        }
    }

    /// The rules that apply to a URL.
    pub(in crate::normalize) fn rules_for(&self, url: &[u8]) -> Cow<'_, Ruleset> {
        match &self.hosts {
            Some(hosts) => self.of_round(hosts, 0, self.find_rules(hosts, url), url),
            None => Cow::Borrowed(&self.rules),
        }
    }
}

/// Whether two rules are the same ones.
fn are_same(one: Option<&Ruleset>, other: Option<&Ruleset>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => std::ptr::eq(one, other),
        _ => one.is_none() && other.is_none(),
    }
}

/// Rounds in which rules act as they are. A host only ever loses a part, or is spelled another way, so that its rules
/// take few. The sections of two paths might take turns: one strips `/`, the other `index.html`, each of them from
/// `/index.html/index.html/...` once a round, which is quadratic. So in later rounds all switches that act on paths
/// and are on anywhere join in. Then no section can change the path any more, and the rules that it has stay.
const FEW_ROUNDS: usize = 8;

/// The most rounds while one URL is rewritten.
const MOST_ROUNDS: usize = 2 * FEW_ROUNDS;

#[cfg(all(test, feature = "profile-file"))]
mod tests {
    use super::*;

    #[test]
    fn clone_with_another_base_shares_host_rules() {
        let text =
            "name = 'h'\nversion = 1\nbase = 'crawl'\n[host.'h.x'.switches]\nsort-query = true\n";
        let crawl = Normalizer::from_profile_file(text).unwrap();
        let based = crawl.clone().with_base(b"http://h.x/a/").unwrap();
        let hosts = |of: &Normalizer| of.hosts.clone().unwrap();
        assert!(Arc::ptr_eq(&hosts(&crawl), &hosts(&based)));
        let mut out = Vec::new();
        assert_eq!(based.append(b"b?d&c", &mut out), Ok(()));
        assert_eq!(out, b"http://h.x/a/b?c&d");
    }
}
