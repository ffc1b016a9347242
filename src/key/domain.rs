//! The registrable domain of a host, by the Public Suffix List: `example.co.uk` of `www.example.co.uk`.
//!
//! The rules of its section for private domains count for one of the two functions, so `a.github.io` and
//! `b.github.io` are two domains there and one here. Where no rule matches, the rule `*` does: the last label is the
//! suffix.
//!
//! A domain is always the end of its host, cut at a dot, in the spelling of the host.

use std::borrow::Cow;
use std::net::Ipv4Addr;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use uniqurl_psl::Sections;

use crate::bytes::decoded;

/// The registrable domain of a host: its public suffix and the label before it. Suffixes of companies, such as
/// `github.io`, count; [`icann_domain`] leaves them out.
///
/// An IP address, a host that is a public suffix itself, and a host with an empty label are their own
/// domain. A final dot stays.
///
/// ```
/// use uniqurl::key::registrable_domain;
///
/// for (host, domain) in [
///     ("www.example.co.uk", "example.co.uk"),
///     ("a.b.github.io", "b.github.io"),
///     ("github.io", "github.io"),
///     ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
///     ("a.b.unknown", "b.unknown"),
///     ("192.0.2.1", "192.0.2.1"),
///     ("[2001:db8::1]", "[2001:db8::1]"),
/// ] {
///     assert_eq!(registrable_domain(host.as_bytes()), domain.as_bytes());
/// }
/// ```
pub fn registrable_domain(host: &[u8]) -> &[u8] {
    domain(host, Sections::All)
}

/// As [`registrable_domain`], by the suffixes of registries alone, as tldextract and ClickHouse have it by default.
///
/// ```
/// use uniqurl::key::icann_domain;
///
/// assert_eq!(icann_domain(b"a.b.github.io"), b"github.io");
/// assert_eq!(icann_domain(b"www.example.co.uk"), b"example.co.uk");
/// ```
pub fn icann_domain(host: &[u8]) -> &[u8] {
    domain(host, Sections::Icann)
}

fn domain(host: &[u8], sections: Sections) -> &[u8] {
    let name = host.strip_suffix(b".").unwrap_or(host);
    if is_address(name) || name.split(|byte| *byte == b'.').any(<[u8]>::is_empty) {
        return host;
    }
    let labels = match as_listed(name) {
        Cow::Borrowed(name) => domain_labels(name, sections),
        Cow::Owned(listed) => domain_labels(&listed, sections),
    };
    // Cut at a dot of the host itself: the listed form may have another spelling and length.
    let dots = name.iter().enumerate().rev().filter(|(_, byte)| **byte == b'.');
    match dots.map(|(at, _)| at).nth(labels - 1) {
        Some(dot) => &host[dot + 1..],
        None => host,
    }
}

/// The date of the Public Suffix List in this version of the library, such as `2026-10-22`.
pub fn suffix_list_date() -> &'static str {
    uniqurl_psl::date()
}

/// How many labels of a name make its domain, or more than it has.
fn domain_labels(name: &[u8], sections: Sections) -> usize {
    let suffix = uniqurl_psl::suffix_length(name, sections);
    let dots = name[name.len() - suffix..].iter().filter(|byte| **byte == b'.').count();
    // The label before the suffix, and one more label than the suffix has dots.
    dots + 2
}

fn is_address(name: &[u8]) -> bool {
    // A colon stands only in IPv6 addresses.
    name.first() == Some(&b'[')
        || name.contains(&b':')
        || std::str::from_utf8(name).is_ok_and(|name| name.parse::<Ipv4Addr>().is_ok())
}

/// A name as the list spells names: in lower case and Punycode. Only profiles that leave hosts as they are
/// pass any other. Where the name has no such form, or one of another number of labels, it is looked up as
/// it is.
fn as_listed(name: &[u8]) -> Cow<'_, [u8]> {
    // Nearly all hosts of canonical URLs pass here, and need no copy.
    if name.iter().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase() && *byte != b'%') {
        return Cow::Borrowed(name);
    }
    let dots = |name: &[u8]| name.iter().filter(|byte| **byte == b'.').count();
    // Nothing is refused: the profile has accepted the host, and the list only needs its own
    // spelling of it.
    let (denied, hyphens) = (AsciiDenyList::EMPTY, Hyphens::Allow);
    match Uts46::new().to_ascii(&decoded(name), denied, hyphens, DnsLength::Ignore) {
        Ok(ascii) if dots(ascii.as_bytes()) == dots(name) => {
            Cow::Owned(ascii.into_owned().into_bytes())
        }
        _ => Cow::Owned(name.to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;
    use uniqurl_psl::{icann_rules, rules};

    use super::*;

    fn domain(host: &str) -> &str {
        std::str::from_utf8(registrable_domain(host.as_bytes())).unwrap()
    }

    fn icann(host: &str) -> &str {
        std::str::from_utf8(icann_domain(host.as_bytes())).unwrap()
    }

    /// Second implementation: the algorithm of publicsuffix.org, rule by rule.
    fn by_the_algorithm(host: &str, all: &HashSet<&str>) -> String {
        let labels: Vec<&str> = host.split('.').collect();
        let ends: Vec<String> = (0..labels.len()).map(|at| labels[at..].join(".")).collect();
        let exception = ends.iter().position(|end| all.contains(&*format!("!{end}")));
        let is_rule = |at: usize| {
            let wildcard = ends.get(at + 1).is_some_and(|end| all.contains(&*format!("*.{end}")));
            all.contains(&*ends[at]) || wildcard
        };
        let suffix = match exception {
            Some(at) => at + 1,
            None => (0..ends.len()).find(|at| is_rule(*at)).unwrap_or(ends.len() - 1),
        };
        ends[suffix.saturating_sub(1)].clone()
    }

    #[test]
    fn domain_below_every_rule_follows_the_algorithm() {
        let all: HashSet<_> = rules().collect();
        let delegated: HashSet<_> = icann_rules().collect();
        for rule in rules() {
            let name = rule.trim_start_matches('!').replace('*', "w");
            for host in
                [name.clone(), format!("a.{name}"), format!("b.a.{name}"), format!("a{name}")]
            {
                assert_eq!(domain(&host), by_the_algorithm(&host, &all), "{host} ({rule})");
                assert_eq!(icann(&host), by_the_algorithm(&host, &delegated), "{host} ({rule})");
            }
        }
    }

    proptest! {
        #[test]
        fn domain_is_the_end_of_a_host_at_a_dot_and_its_own_domain(
            host in "(([a-c]|www|%63|Ä|xn--fiqs8s)\\.){0,3}\\.?\
                     (com|co\\.uk|UK|c\\.kobe\\.jp|github\\.io|公司\\.cn|%E5%85%AC%E5%8F%B8\\.cn|1\\.2\\.3\\.4|\\[::1\\]|x|%|)\\.{0,2}"
        ) {
            let domain = domain(&host);
            prop_assert!(host.ends_with(domain));
            let before = &host[..host.len() - domain.len()];
            prop_assert!(before.is_empty() || before.ends_with('.'));
            prop_assert_eq!(registrable_domain(domain.as_bytes()), domain.as_bytes());
        }

        #[test]
        fn domain_of_any_bytes_is_their_end(host in prop::collection::vec(any::<u8>(), 0..24)) {
            let domain = registrable_domain(&host);
            prop_assert!(host.ends_with(domain));
            prop_assert_eq!(registrable_domain(domain), domain);
            let domain = icann_domain(&host);
            prop_assert!(host.ends_with(domain));
            prop_assert_eq!(icann_domain(domain), domain);
        }
    }
}
