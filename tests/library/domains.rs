//! Registrable domains: the facts that the Public Suffix List publishes for its users, and the key `domain`
//! of whole URLs.

use crate::rows::{Row, blocks};
use uniqurl::key::{icann_domain, registrable_domain};
use uniqurl::{Key, Normalizer, Profile, RejectReason};

/// Each host, and its registrable domain or the host itself.
fn facts() -> Vec<[String; 2]> {
    let rows = blocks("domains.txt").into_iter().flat_map(|block| block.rows);
    let fact = |row: Row| [row.bytes(0), row.bytes(usize::from(row.fields.len() == 2))];
    rows.map(|row| fact(row).map(|host| String::from_utf8(host).unwrap())).collect()
}

#[test]
fn domains_match_the_facts_of_the_list() {
    for [host, expected] in facts() {
        let found = std::str::from_utf8(registrable_domain(host.as_bytes())).unwrap();
        // Without a domain a host is its own; and the spelling of the host stays.
        assert_eq!(found.to_lowercase(), expected.to_lowercase(), "{host}");
    }
}

/// The key, or the code of the reason why there is none.
fn key(profile: Profile, url: &str) -> Result<String, RejectReason> {
    let (mut scratch, mut key) = (Vec::new(), Vec::new());
    let normalizer = Normalizer::new(profile);
    let canonical = match url.starts_with('/') {
        true => normalizer.for_targets().canonical(url.as_bytes(), &mut scratch),
        false => normalizer.canonical(url.as_bytes(), &mut scratch),
    };
    let canonical = canonical.map_err(|reject| reject.code)?;
    let key = Key::Domain.of(canonical, &mut key).ok_or(RejectReason::NoHost)?;
    Ok(key.to_str().unwrap().to_owned())
}

#[test]
fn a_url_has_no_key_exactly_where_the_check_says_so() {
    let scheme = Normalizer::new(Profile::Scheme);
    let (mut scratch, mut bytes, mut hostless) = (Vec::new(), Vec::new(), 0);
    for url in ["mailto:a@h", "mailto:b@h", "urn:isbn:1", "http://h/", "x://h.example/"] {
        let url = scheme.canonical(url.as_bytes(), &mut scratch).unwrap();
        for key in Key::ALL {
            let made = key.of(url, &mut bytes).map(|key| key.as_bytes().len());
            assert_eq!(made.is_some(), key.takes(&url), "{key} of {url:?}");
            assert_ne!(made, Some(0), "{key} of {url:?}");
            hostless += usize::from(made.is_none());
        }
    }
    // Neither a host nor a domain of either kind.
    assert_eq!(hostless, 3 * 3);
}

#[test]
fn crawl_joins_the_facts_in_unicode_and_in_punycode() {
    for [host, expected] in facts() {
        let found = key(Profile::Crawl, &format!("http://{host}/a"));
        let same = key(Profile::Crawl, &format!("http://{expected}/"));
        assert!(found.is_ok() && found == same, "{host}: {found:?} {same:?}");
    }
}

#[test]
fn url_without_a_host_has_no_domain() {
    for url in ["mailto:a@example.com", "urn:a:b", "file:///a", "/a", "//www.example.com/a"] {
        assert_eq!(key(Profile::Crawl, url), Err(RejectReason::NoHost), "{url}");
    }
}

#[test]
fn suffixes_of_companies_are_domains_by_the_suffixes_of_registries() {
    for (host, domain) in [
        ("a.b.github.io", "github.io"),
        ("github.io", "github.io"),
        ("www.example.co.uk", "example.co.uk"),
        ("a.blogspot.com", "blogspot.com"),
        ("s3.amazonaws.com", "amazonaws.com"),
        ("co.uk", "co.uk"),
        ("192.0.2.1", "192.0.2.1"),
    ] {
        assert_eq!(icann_domain(host.as_bytes()), domain.as_bytes(), "{host}");
    }
}
