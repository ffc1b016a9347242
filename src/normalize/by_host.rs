//! Normalizes URLs by the rules of their hosts.

use std::borrow::Cow;
use std::sync::Arc;

use crate::bytes::Reject;
use crate::normalize::exact::ia;
use crate::normalize::explain::Rule;
use crate::normalize::front::Front;
use crate::normalize::normalizer::Normalizer;
use crate::normalize::options::hosts::{Hosts, canonical_host, host_of};
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
        let of_hosts = self.hosts.iter().flat_map(|hosts| &hosts.rules);
        std::iter::once(&self.rules).chain(of_hosts)
    }

    /// Changes all rulesets.
    pub(in crate::normalize) fn change_rules(&mut self, change: impl Fn(&mut Ruleset)) {
        change(&mut self.rules);
        if let Some(hosts) = &mut self.hosts {
            Arc::make_mut(hosts).rules.iter_mut().for_each(change);
        }
    }

    /// The index of the rules of `hosts` that apply to a URL; `None` for a URL without a host.
    fn find_host(&self, hosts: &Hosts, url: &[u8]) -> Option<usize> {
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
        let rules = self.find_host(hosts, url).map_or(&self.rules, |i| &hosts.rules[i]);
        rules.is_clean(url, 0..url.len(), UrlKind::Absolute)
            && self.front_by_host(url).is_none()
            && self.stays(url)
    }

    /// Appends the result of the rules of the URL's host.
    ///
    /// The result may have another host, for example one without `www.`. Then the rules of that host act
    /// as well, or the result would not be a fixed point. The rounds are few: a host only ever loses a
    /// part, or is spelled another way.
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
        let mut found = self.find_host(hosts, url);
        let kind = UrlKind::Absolute;
        self.of_host(hosts, found, url).rewrite(url, 0..url.len(), kind, out, trace)?;
        for _ in 0..MOST_HOSTS {
            let next = self.find_host(hosts, &out[at..]);
            if next == found {
                break;
            }
            found = next;
            let before = out.split_off(at);
            let rewritten = self.of_host(hosts, found, &before).rewrite(
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
        let mut found = self.find_host(hosts, url);
        loop {
            let rules = self.of_host(hosts, found, &text);
            let mut after = Vec::new();
            let all = 0..text.len();
            let result = rules.rewrite(&text, all, UrlKind::Absolute, &mut after, &mut NoTrace);
            ways.push((rules, std::mem::replace(&mut text, after)));
            let next = self.find_host(hosts, &text);
            if result.is_err() || next == found || ways.len() > MOST_HOSTS {
                return ways;
            }
            found = next;
        }
    }

    fn of_host<'a>(
        &'a self,
        hosts: &'a Hosts,
        found: Option<usize>,
        url: &[u8],
    ) -> Cow<'a, Ruleset> {
        match found {
            None => Cow::Borrowed(&self.rules),
            Some(i) if self.rules.split(url).scheme.is_some() => Cow::Borrowed(&hosts.rules[i]),
            Some(i) => hosts.rules[i].with_base_of(&self.rules),
        }
    }

    /// The rules that apply to a URL.
    pub(in crate::normalize) fn rules_for(&self, url: &[u8]) -> Cow<'_, Ruleset> {
        match &self.hosts {
            Some(hosts) => self.of_host(hosts, self.find_host(hosts, url), url),
            None => Cow::Borrowed(&self.rules),
        }
    }
}

/// The most changes of host while one URL is rewritten.
const MOST_HOSTS: usize = 8;

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
