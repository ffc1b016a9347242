//! Registrable domains: the facts that the Public Suffix List publishes for its users, and the key `domain`
//! of whole URLs.

use uniqurl::key::{icann_domain, registrable_domain};
use uniqurl::{Key, Normalizer, Profile, RejectReason};

/// A host and its registrable domain in lower case, which a public suffix and a host with an empty label do
/// not have: the checks of <https://github.com/publicsuffix/list/blob/main/tests/tests.txt>.
#[rustfmt::skip]
const FACTS: [(&str, Option<&str>); 77] = [
    ("COM", None),
    ("example.COM", Some("example.com")),
    ("WwW.example.COM", Some("example.com")),
    (".com", None),
    (".example", None),
    (".example.com", None),
    (".example.example", None),
    ("example", None),
    ("example.example", Some("example.example")),
    ("b.example.example", Some("example.example")),
    ("a.b.example.example", Some("example.example")),
    ("biz", None),
    ("domain.biz", Some("domain.biz")),
    ("b.domain.biz", Some("domain.biz")),
    ("a.b.domain.biz", Some("domain.biz")),
    ("com", None),
    ("example.com", Some("example.com")),
    ("b.example.com", Some("example.com")),
    ("a.b.example.com", Some("example.com")),
    ("uk.com", None),
    ("example.uk.com", Some("example.uk.com")),
    ("b.example.uk.com", Some("example.uk.com")),
    ("a.b.example.uk.com", Some("example.uk.com")),
    ("test.ac", Some("test.ac")),
    ("mm", None),
    ("c.mm", None),
    ("b.c.mm", Some("b.c.mm")),
    ("a.b.c.mm", Some("b.c.mm")),
    ("jp", None),
    ("test.jp", Some("test.jp")),
    ("www.test.jp", Some("test.jp")),
    ("ac.jp", None),
    ("test.ac.jp", Some("test.ac.jp")),
    ("www.test.ac.jp", Some("test.ac.jp")),
    ("kyoto.jp", None),
    ("test.kyoto.jp", Some("test.kyoto.jp")),
    ("ide.kyoto.jp", None),
    ("b.ide.kyoto.jp", Some("b.ide.kyoto.jp")),
    ("a.b.ide.kyoto.jp", Some("b.ide.kyoto.jp")),
    ("c.kobe.jp", None),
    ("b.c.kobe.jp", Some("b.c.kobe.jp")),
    ("a.b.c.kobe.jp", Some("b.c.kobe.jp")),
    ("city.kobe.jp", Some("city.kobe.jp")),
    ("www.city.kobe.jp", Some("city.kobe.jp")),
    ("ck", None),
    ("test.ck", None),
    ("b.test.ck", Some("b.test.ck")),
    ("a.b.test.ck", Some("b.test.ck")),
    ("www.ck", Some("www.ck")),
    ("www.www.ck", Some("www.ck")),
    ("us", None),
    ("test.us", Some("test.us")),
    ("www.test.us", Some("test.us")),
    ("ak.us", None),
    ("test.ak.us", Some("test.ak.us")),
    ("www.test.ak.us", Some("test.ak.us")),
    ("k12.ak.us", None),
    ("test.k12.ak.us", Some("test.k12.ak.us")),
    ("www.test.k12.ak.us", Some("test.k12.ak.us")),
    ("食狮.com.cn", Some("食狮.com.cn")),
    ("食狮.公司.cn", Some("食狮.公司.cn")),
    ("www.食狮.公司.cn", Some("食狮.公司.cn")),
    ("shishi.公司.cn", Some("shishi.公司.cn")),
    ("公司.cn", None),
    ("食狮.中国", Some("食狮.中国")),
    ("www.食狮.中国", Some("食狮.中国")),
    ("shishi.中国", Some("shishi.中国")),
    ("中国", None),
    ("xn--85x722f.com.cn", Some("xn--85x722f.com.cn")),
    ("xn--85x722f.xn--55qx5d.cn", Some("xn--85x722f.xn--55qx5d.cn")),
    ("www.xn--85x722f.xn--55qx5d.cn", Some("xn--85x722f.xn--55qx5d.cn")),
    ("shishi.xn--55qx5d.cn", Some("shishi.xn--55qx5d.cn")),
    ("xn--55qx5d.cn", None),
    ("xn--85x722f.xn--fiqs8s", Some("xn--85x722f.xn--fiqs8s")),
    ("www.xn--85x722f.xn--fiqs8s", Some("xn--85x722f.xn--fiqs8s")),
    ("shishi.xn--fiqs8s", Some("shishi.xn--fiqs8s")),
    ("xn--fiqs8s", None),
];

#[test]
fn domains_match_the_facts_of_the_list() {
    for (host, expected) in FACTS {
        let found = std::str::from_utf8(registrable_domain(host.as_bytes())).unwrap();
        // Without a domain a host is its own; and the spelling of the host stays.
        assert_eq!(found.to_lowercase(), expected.unwrap_or(host).to_lowercase(), "{host}");
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
    for (host, expected) in FACTS {
        let found = key(Profile::Crawl, &format!("http://{host}/a"));
        let same = key(Profile::Crawl, &format!("http://{}/", expected.unwrap_or(host)));
        assert!(found.is_ok() && found == same, "{host}: {found:?} {same:?}");
    }
}

#[test]
fn domain_of_a_url_is_that_of_its_host() {
    for (url, expected) in [
        ("http://user@www.example.co.uk:8080/a?b", "example.co.uk"),
        ("ssh://git.example.co.uk/", "example.co.uk"),
        ("https://someone.github.io/page", "someone.github.io"),
        ("https://github.io/", "github.io"),
        ("http://www.example.com./", "example.com"),
        ("http://192.0.2.1:80/", "192.0.2.1"),
        ("http://[2001:db8::1]:80/", "[2001:db8::1]"),
        ("http://localhost:3000/", "localhost"),
        ("http://a.intranet/", "a.intranet"),
        ("http://www.b\u{fc}cher.example/", "xn--bcher-kva.example"),
        ("http://a.www.\u{516c}\u{53f8}.cn/", "www.xn--55qx5d.cn"),
    ] {
        assert_eq!(key(Profile::Crawl, url).as_deref(), Ok(expected), "{url}");
    }
    for url in ["mailto:a@example.com", "urn:a:b", "file:///a", "/a", "//www.example.com/a"] {
        assert_eq!(key(Profile::Crawl, url), Err(RejectReason::NoHost), "{url}");
    }
    // Where a profile keeps the spelling of the host, the domain has it too.
    for (profile, url, expected) in [
        (Profile::String, "http://WWW.Example.CO.UK/", "Example.CO.UK"),
        (Profile::Scheme, "http://www.example.co.uk./", "example.co.uk."),
        (Profile::Scheme, "http://192.0.2.1./", "192.0.2.1."),
        (Profile::Scheme, "http://a.b.%E5%85%AC%E5%8F%B8.cn/", "b.%E5%85%AC%E5%8F%B8.cn"),
        (Profile::String, "http://a.b..com/", "a.b..com"),
    ] {
        assert_eq!(key(profile, url).as_deref(), Ok(expected), "{url}");
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
