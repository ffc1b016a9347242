//! Custom profiles, as TOML files.

use crate::cases::for_each_case;
use crate::generator::{self, Rng, Temper};
use crate::subject::{in_bulk, outcome, reading, told};
use crate::tsv::escape;
use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile, Reject, RejectReason, Ring, Switch, UnsupportedOption};

fn read(text: &str) -> Normalizer {
    Normalizer::from_profile_file(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn any(rng: &mut Rng) -> Vec<u8> {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "http://www.h.x", "HTTPS://H:443", "//h", "/", "//", "a", "/index.html", ";jsessionid=1", "%2e%2E/", "%2F", "%41",
        "?", "b=1", "&a", "&utm_x", "#f", "u@", ":22", "\\", "%00", "[", "'", "%27", ":", "%3A", " ", "é", "ssh://h:22",
    ];
    if rng.one_in(2) {
        return generator::any(rng);
    }
    let words: Vec<&str> = (0..rng.below(8)).map(|_| rng.pick(WORDS)).collect();
    words.concat().into_bytes()
}

#[test]
fn built_in_profiles_round_trip_through_toml() {
    for profile in Profile::ALL {
        let text = profile.to_toml();
        let again = read(&text);
        let built_in = Normalizer::new(*profile);
        assert_eq!(again.profile(), *profile);
        assert_eq!(again.description(), built_in.description(), "{text}");
        for_each_case(4, |rng| {
            let url = any(rng);
            let context = || format!("{} {}", profile.name(), escape(&url));
            let [again, built_in] = [&again, &built_in].map(|n| {
                let url_and_target = [
                    outcome(|out| n.append(&url, out)),
                    outcome(|out| n.for_targets().append(&url, out)),
                ];
                (url_and_target, outcome(|out| n.decoded(&url, out)), n.is_clean(&url))
            });
            assert_eq!(again, built_in, "{}", context());
        });
    }
}

#[test]
fn profile_file_settings_take_effect() {
    let file = |rest: &str| read(&format!("name = \"mine\"\nversion = 7\n{rest}"));
    for (rest, rows) in [
        (
            "base = 'crawl'\n[switches]\nsort-query = true\nkeep-fragment = true",
            &[("http://h/?b&a#f", "http://h/?a&b#f")][..],
        ),
        (
            "base = 'aggressive@2'\nswitches.strip-www = false",
            &[("http://www.h.x/a/", "http://www.h.x/a")],
        ),
        (
            "base = 'scheme'\n[parameters]\ndrop = ['r*']\nkeep = ['?', 'ra']\n",
            &[("http://h/?a&ra&bb&b", "http://h/?a&b")],
        ),
        (
            "base = 'crawl'\n[switches]\nstrip-tracking = true\n[parameters]\ntracking = ['ref', 'x_*']\n",
            &[("http://h/?ref=1&X_a&utm_b&gclid&c", "http://h/?c")],
        ),
        // A name is compared with its triplets decoded.
        (
            "base = 'crawl'\nswitches.strip-tracking = true\nparameters.tracking = ['f[*]', 'größe', ' x', 'a+b']\n",
            &[
                (
                    "http://h/?f[a]&f%5bb%5D=1&gr%C3%B6%C3%9Fe=1&größe&f[&%20X=2&b",
                    "http://h/?f%5B&b",
                ),
                ("http://h/?a+b&A%2bb=1&f%5B%5D&a=b", "http://h/?a=b"),
                ("http://h/?f%5B%5D", "http://h/"),
            ],
        ),
        (
            "base = 'servlet'\nallow = ['encoded-slash']",
            &[("/a%2Fb", "/a%2Fb"), ("/a\\", "!backslash@2")],
        ),
        (
            "base = 'ring'\nring.decode = '/:'\nring.encode = \"'\"\n",
            &[("/a%2fb%3A'%24", "/a/b:%27%24"), ("http://h/%2f", "http://h//")],
        ),
        // A missing list is inherited from the base, less the bytes that the other list takes.
        ("base = 'mediawiki'\nring.decode = '/'\n", &[("/%2F%3A'", "//%3A%27")]),
        ("base = 'mediawiki'\nring.encode = '/'\n", &[("/a%2F%3A'", "%2Fa%2F:'")]),
        ("base = 'mediawiki'\nring.decode = \"'\"\n", &[("/%27[%2F", "/'%5B%2F")]),
        ("base = 'mediawiki'\nring = {}\n", &[("/%2F'", "//%27")]),
        ("base = 'mediawiki'\nring = { decode = '', encode = '' }\n", &[("/%2F%3A'", "/%2F%3A'")]),
        (
            "base = 'ring'\nring.decode = '/'\n[host.'h.x']\nring.encode = '['\n",
            &[("http://h/%2F[", "http://h//["), ("http://h.x/%2F[", "http://h.x//%5B")],
        ),
        (
            "base = 'crawl'\n[ports]\ngopher = 70\nhttp = 8080\nftp = false\n",
            &[
                ("gopher://h:0070/", "gopher://h/"),
                ("http://h:8080/", "http://h/"),
                ("http://h:80/", "http://h:80/"),
                ("http://[::1]:8080", "http://[::1]/"),
                ("ftp://h:21/", "ftp://h:21/"),
                ("https://h:443/", "https://h/"),
                ("http://h:99999/", "!port-range@9"),
                ("http://h:/", "http://h/"),
            ],
        ),
        (
            "base = 'servlet'\nports.http = 8080",
            &[("http://h:8080/a;b", "http://h/a"), ("http://h:80", "http://h:80/")],
        ),
        ("base = 'sanitize'\nallow = ['userinfo']\nports.x = 9", &[("x://u@h:9", "x://u@h")]),
        (
            "base = 'sanitize'\nallow = ['userinfo']\ndeny = ['device-name']\n[host.'h.x']\ndeny = []\n",
            &[("http://u@h/aux", "!device-name@11"), ("http://u@h.x/aux", "http://u@h.x/aux")],
        ),
        // The ports of other services are those of the file, too.
        (
            "base = 'sanitize'\n[ports]\nhttp = 81\nx = 9\nftp = false\n",
            &[
                ("http://h:81/", "http://h/"),
                ("HTTP://h:80/", "!well-known-port@9"),
                ("x://h:80", "!well-known-port@6"),
                ("ftp://h:22/", "!well-known-port@8"),
                ("https://h:22/", "!well-known-port@10"),
            ],
        ),
    ] {
        let mine = file(rest);
        assert!(mine.description().starts_with("mine@7 base="), "{}", mine.description());
        for (url, expected) in rows {
            assert_eq!(told(&mine, url), *expected, "{url} by\n{rest}");
        }
    }
}

const SITES: &str = r#"
name = "sites"
version = 2
base = "crawl"

[switches]
squeeze-slashes = true

[host."shop.example".switches]
sort-query = true

[host."*.shop.example"]
switches = { strip-www = true, squeeze-slashes = false }

[host."*.de.shop.example"]
allow = []

[host."wiki.example"]
base = "mediawiki"
ring = { decode = ":/", encode = "'" }

[host."B\u00FCcher.example"]
base = "servlet"
allow = ["encoded-slash"]

[host."[::1]".ports]
http = 8080
"#;

#[test]
fn host_sections_apply_to_their_hosts() {
    let sites = read(SITES);
    assert_eq!(sites.description(), "sites@2 base=crawl@1 with=squeeze-slashes hosts=6");
    for (url, expected) in [
        ("http://other/a//b?b&a", "http://other/a/b?b&a"),
        ("http://SHOP.example.:80/a//b?b&a", "http://shop.example/a/b?a&b"),
        ("http://x.shop.example//a?b&a", "http://x.shop.example//a?b&a"),
        ("http://a.de.shop.example//a?b&a", "http://a.de.shop.example/a?b&a"),
        ("http://notshop.example/?b&a", "http://notshop.example/?b&a"),
        // Without `www` it is another host, whose rules come next.
        ("http://www.shop.example//a?b&a", "http://shop.example/a?a&b"),
        ("http://wiki.example/a%2fb%3A%21//'/..", "http://wiki.example/a/b:%21//%27/.."),
        ("http://W%49KI.example/%2f", "http://wiki.example//"),
        ("http://b%C3%BCcher.example/a%2fb;c", "http://b%C3%BCcher.example/a%2Fb"),
        ("http://xn--bcher-kva.example/a%2fb;c", "http://xn--bcher-kva.example/a%2Fb"),
        (" http://shop.example/?b&a", "http://shop.example/?a&b"),
        ("\t \u{1} http://shop.example/?b&a", "http://shop.example/?a&b"),
        // The dot stays in other schemes, and the host stays the same.
        ("http://shop.example.?b&a", "http://shop.example/?a&b"),
        ("x://Shop.Example.?b&a", "x://shop.example.?a&b"),
        ("http://[0::1]:8080/a//b", "http://[::1]/a/b"),
        ("http://[::2]:8080/", "http://[::2]:8080/"),
        ("mailto:a@shop.example?b&a", "mailto:a@shop.example?b&a"),
        ("/a", "!relative@0"),
        ("http://shop.example:x/", "!port@20"),
    ] {
        assert_eq!(told(&sites, url), expected, "{url}");
    }
    let based = sites.clone().with_base(b"http://shop.example/x//y").unwrap();
    assert_eq!(told(&based, "z?b&a"), "http://shop.example/x/z?a&b");
    assert_eq!(told(&based, "//wiki.example/%2f"), "http://wiki.example//");
    assert_eq!(told(&based, " //shop.example/a?b&a"), "http://shop.example/a?a&b");
    assert_eq!(told(&based, "//other/x//y"), "http://other/x/y");
    let assumed = sites.with_assumed_scheme(b"http").unwrap();
    assert_eq!(told(&assumed, "shop.example/?b&a"), "http://shop.example/?a&b");
}

/// The host that keeps its queries is looked up before any rule acts. Otherwise they would be dropped.
#[test]
fn host_rules_apply_to_relative_and_completed_urls() {
    let keeping = "name = 'k'\nversion = 1\nbase = 'crawl'\n[switches]\ndrop-query = true\n\
                   [host.'keep.example'.switches]\ndrop-query = false\nkeep-userinfo = true\n";
    let plain = read(keeping);
    let kept = "http://keep.example/a?q";
    let dropped = "http://other.example/a";
    for (base, assumed, url, expected) in [
        ("", "", "http://keep.example/a?q", kept),
        ("", "", "\x20http://keep.example/a?q", kept),
        ("", "", "http://u@keep.example\x20", "http://u@keep.example/"),
        ("", "", "http://other.example/a?q", dropped),
        ("", "http", "keep.example/a?q", kept),
        ("", "http", "//keep.example/a?q", kept),
        ("", "http", "keep.example:80/a?q", kept),
        ("", "http", "http://keep.example/a?q", kept),
        ("", "http", "other.example/a?q", dropped),
        ("http://keep.example/b", "", "a?q", kept),
        ("http://keep.example/b", "", "http://other.example/a?q", dropped),
        ("http://keep.example/b", "", "//other.example/a?q", dropped),
        ("http://other.example/b", "", "//keep.example/a?q", kept),
        ("http://other.example/b", "", "\x20//keep.example/a?q", kept),
        ("http://other.example/b", "", "a?q", dropped),
        ("http://other.example/b", "", "//h:x/", "!port@4"),
        ("http://other.example/b", "", "\x20//h:x/", "!port@5"),
    ] {
        let normalizer = reading(&plain, base, assumed);
        let context = format!("{url} behind {base:?}, {assumed:?}");
        assert_eq!(told(&normalizer, url), expected, "{context}");
        assert!(normalizer.is_clean(kept.as_bytes()), "{context}");
        assert_eq!(normalizer.is_clean(url.as_bytes()), url == expected, "{context}");
    }
    // If lists hold request targets, two slashes belong to the target: the host is that of the
    // base.
    let text = "name = 's'\nversion = 1\nbase = 'servlet'\n\
                [host.'keep.example'.switches]\nkeep-empty-segments = true\n";
    let servlet = read(text).with_base(b"http://other.example/").unwrap();
    assert_eq!(told(&servlet, "//keep.example//a"), "http://other.example/keep.example/a");
    let servlet = read(text).with_base(b"http://keep.example/").unwrap();
    assert_eq!(told(&servlet, "//other.example//a"), "http://keep.example//other.example//a");
}

/// The rules for any host ignore a scheme that is followed by another scheme.
#[test]
fn host_rules_apply_after_repeated_schemes() {
    let sites = read(
        "name = 'i'\nversion = 1\nbase = 'ia'\n[host.'b.example']\nbase = 'crawl'\n\
         [host.'s.example']\nbase = 'syntax'\n[host.http]\nbase = 'syntax'\n\
         [host.'v.example']\nbase = 'servlet'\n",
    );
    for (url, expected) in [
        ("http://b.example/A", "http://b.example/A"),
        ("http://http://b.example/A", "http://b.example/A"),
        ("\x20https://http:\t//b.example/A\x20", "http://b.example/A"),
        ("http://http://c.example/A", "http://c.example/a"),
        ("http://http://b.example:x/", "!port@24"),
        ("http://https://s.example/A", "https://s.example/A"),
        ("\x20http://http://s.example/A b", "!byte@26"),
        ("http://http/A", "http://http/A"),
        ("http://http://http/A", "http://http/A"),
    ] {
        assert_eq!(told(&sites, url), expected, "{url}");
        assert_eq!(sites.is_clean(url.as_bytes()), url == expected, "{url}");
    }
    let mut out = Vec::new();
    let outcome = sites.decoded(b"http://http://v.example/a;b/c", &mut out);
    assert_eq!((outcome, &out[..]), (Ok(()), &b"/a/c"[..]));
    let crawl = read("name = 'i'\nversion = 1\nbase = 'crawl'\n[host.h]\nbase = 'ia'\n");
    assert_eq!(told(&crawl, "http://http://h/A"), "http://http//h/A");
}

/// A set keeps one of the URLs that share a canonical form, and the decoded path must not depend on
/// which.
#[test]
fn decoded_path_is_that_of_the_canonical_form() {
    let sites = read(
        "name = 'd'\nversion = 1\nbase = 'crawl'\nswitches.strip-www = true\n\
         [host.'v.example']\nbase = 'servlet'\n[host.localhost]\nbase = 'servlet'\n\
         [host.'www.u.example']\nbase = 'servlet'\n",
    );
    let sites = sites.with_base(b"http://b.example/").unwrap();
    for (url, canonical, decoded) in [
        ("http://v.example/a;b/%20c", "http://v.example/a/%20c", "/a/ c"),
        ("http://www.v.example/a;b/%20c", "http://v.example/a/%20c", "/a/ c"),
        ("//v.example/a;b/%20c", "http://v.example/a/%20c", "/a/ c"),
        ("//www.v.example:80/a;b/%20c?q", "http://v.example/a/%20c?q", "/a/ c"),
        ("http://www.u.example/a;b", "http://www.u.example/a", "/a"),
        ("file://localhost/a;b", "file:///a", ""),
        ("http://c.example/a;b", "http://c.example/a;b", ""),
        ("a;b", "http://b.example/a;b", ""),
    ] {
        assert_eq!(told(&sites, url), canonical, "{url}");
        let mut out = Vec::new();
        assert_eq!(sites.decoded(url.as_bytes(), &mut out), Ok(()), "{url}");
        assert_eq!(String::from_utf8(out).unwrap(), decoded, "{url}");
    }
}

/// No part of a base comes under the rules of another host, so those rules do not affect it.
#[test]
fn base_follows_the_rules_of_its_own_host() {
    let sites = read(
        "name = 'b'\nversion = 1\nbase = 'crawl'\n[host.'s.x']\nbase = 'sanitize'\n\
         [host.'k.x'.switches]\nkeep-userinfo = true\n[host.'v.x']\nbase = 'servlet'\n",
    );
    for (base, url, expected) in [
        ("http://u@other:22/a b/%2541", "c", "http://other:22/a%20b/c"),
        ("http://u@other/", "//s.x/%41", "!encoded-unreserved@6"),
        ("http://u@other/", "//v.x/a;b", "http://v.x/a"),
        ("http://u@K.x/a/", "b", "http://u@k.x/a/b"),
        ("http://s.x/a/", "b", "http://s.x/a/b"),
    ] {
        let based = sites.clone().with_base(base.as_bytes()).unwrap();
        assert_eq!(told(&based, url), expected, "{url} behind {base}");
    }
    let refused = sites.clone().with_base(b"http://u@s.x/").unwrap_err();
    assert_eq!(refused, Reject::new(RejectReason::Userinfo, 7).into());
    let keeping = sites.with_base(b"http://u@k.x/").unwrap();
    assert_eq!(keeping.origin().unwrap().authority, b"u@k.x");
    let strict = "name = 'b'\nversion = 1\nbase = 'sanitize'\n[host.'c.x']\nbase = 'crawl'\n";
    let based = read(strict).with_base(b"http://u@c.x/").unwrap();
    assert_eq!(told(&based, "a b"), "http://c.x/a%20b");
}

#[test]
fn rejection_under_second_host_rules_has_the_original_offset() {
    let sites = read(
        "name = 's'\nversion = 1\nbase = 'crawl'\nswitches.strip-www = true\n\
         [host.'s.x']\nbase = 'sanitize'\n",
    );
    assert_eq!(told(&sites, "http://s.x/%2541"), "!double-encoding@11");
    assert_eq!(told(&sites, "http://www.s.x/%2541"), "!double-encoding@15");
    assert_eq!(told(&sites, "HTTP://u@www.s.x:80/a%2541?"), "!double-encoding@21");
}

#[test]
fn empty_host_list_overrides_the_general_list() {
    let lists = read(
        "name = 'l'\nversion = 1\nbase = 'crawl'\nswitches.strip-tracking = true\n\
         [parameters]\ndrop = ['ref']\nkeep = ['a', 'ref', 'my', 'gclid']\ntracking = ['my']\n\
         [host.'drop.x'.parameters]\ndrop = []\n\
         [host.'keep.x'.parameters]\nkeep = []\n\
         [host.'tracking.x'.parameters]\ntracking = []\n\
         [host.'all.x'.parameters]\ntracking = []\nkeep = []\ndrop = []\n",
    );
    for (host, query) in [
        ("x", "?a"),
        ("drop.x", "?a&ref"),
        ("keep.x", "?a&b"),
        ("tracking.x", "?a&my"),
        ("all.x", "?a&b&ref&my"),
    ] {
        let expected = format!("http://{host}/{query}");
        let url = format!("http://{host}/?a&b&ref&my&gclid");
        assert_eq!(told(&lists, &url), expected);
        assert!(lists.is_clean(expected.as_bytes()), "{expected}");
    }
}

#[test]
fn host_rules_keep_the_normalization_laws() {
    let plain = read(SITES);
    let hosts = [
        "shop.example",
        "www.shop.example",
        "www.www.de.shop.example",
        "x.de.shop.example",
        "wiki.example",
        "other",
        "www.other.example",
        "xn--bcher-kva.example",
        "B\u{fc}cher.example",
        "[::1]:8080",
        "u@Shop.example:80",
        "shop.example.",
    ];
    for_each_case(2, |rng| {
        let url = match rng.below(3) {
            0 => any(rng),
            1 => generator::url(rng, Temper::Wild),
            _ => [
                b"http://",
                rng.pick(&hosts).as_bytes(),
                b"/",
                &generator::target(rng, Temper::Wild),
            ]
            .concat(),
        };
        let mut sites = plain.clone();
        if rng.one_in(4) {
            sites = sites.with_assumed_scheme(b"http").unwrap();
        }
        #[cfg(feature = "transcode")]
        if rng.one_in(2) {
            let label = rng.pick(&["latin1", "shift_jis", "gbk"]);
            let charset = uniqurl::uri::Charset::for_label(label.as_bytes()).unwrap();
            sites = sites.with_charset(charset).unwrap();
        }
        for backend in [Backend::Scalar, Backend::best()] {
            let sites = sites.clone().with_backend(backend);
            let answer = outcome(|out| sites.append(&url, out));
            if let Ok(canonical) = &answer {
                assert!(canonical.iter().all(|byte| (0x21..=0x7E).contains(byte)));
                let again = outcome(|out| sites.append(canonical, out));
                assert_eq!(again, answer, "idempotence, from {}", escape(&url));
            }
            if sites.is_clean(&url) {
                assert_eq!(answer, Ok(url.clone()));
            }
            let bulk = in_bulk(&sites, std::slice::from_ref(&url));
            assert_eq!(bulk, [answer], "{}", escape(&url));
        }
    });
}

#[cfg(feature = "transcode")]
#[test]
fn charset_applies_to_every_host_under_its_own_rules() {
    use uniqurl::uri::Charset;
    let sites = read(SITES).with_charset(Charset::LATIN_1).unwrap();
    for (url, expected) in [
        ("http://other/%F6//", "http://other/%C3%B6/"),
        ("http://x.shop.example//%F6", "http://x.shop.example//%C3%B6"),
        ("http://wiki.example/%f6%2fx", "http://wiki.example/%C3%B6/x"),
        // A host is looked up with its octets in UTF-8, before any other rule acts on it.
        ("http://u@b%FCcher.example/%F6;x", "http://u@b%C3%BCcher.example/%C3%B6"),
        ("http://u@b%C3%BCcher.example/%F6;x", "http://u@b%C3%BCcher.example/%C3%B6"),
        ("http://xn--bcher-kva.example/%F6;x", "http://xn--bcher-kva.example/%C3%B6"),
    ] {
        assert_eq!(told(&sites, url), expected, "{url}");
    }
    let mut decoded = Vec::new();
    let url = b"http://xn--bcher-kva.example/%F6;x";
    assert_eq!(sites.decoded(url, &mut decoded), Ok(()));
    assert_eq!(decoded, "/\u{f6}".as_bytes());
    let browser = format!("{SITES}\n[host.\"b.example\"]\nbase = 'whatwg'\n");
    let refused = read(&browser).with_charset(Charset::LATIN_1).unwrap_err();
    assert_eq!(refused, uniqurl::UnsupportedOption::Charset(Profile::Whatwg));
}

#[test]
fn one_host_under_string_allows_any_byte() {
    let file = |rest: &str| read(&format!("name = 'a'\nversion = 1\nbase = {rest}"));
    assert!(!file("'crawl'\n[host.'h.x']\nbase = 'ia'").may_write_any_byte());
    assert!(file("'string'\n[host.'h.x']\nbase = 'crawl'").may_write_any_byte());
    let mixed = file("'crawl'\n[host.'h.x']\nbase = 'string'");
    assert!(mixed.may_write_any_byte());
    assert_eq!(
        outcome(|out| mixed.append(b"http://h.x/\t\xFF", out)).unwrap(),
        b"http://h.x/\t\xFF"
    );
}

#[test]
fn options_that_cannot_reach_host_rules_are_rejected() {
    let file = |rest: &str| read(&format!("name = 'a'\nversion = 1\nbase = {rest}"));
    let hosts = || file("'crawl'\n[host.'h.x']");
    for refused in [
        hosts().with_switches([Switch::StripWww]),
        hosts().without_switches([Switch::StripWww]),
        hosts().with_dropped_parameters(["a"]),
        hosts().with_kept_parameters(["a"]),
        file("'servlet'\n[host.'h.x']").with_allowed([RejectReason::Control]),
        file("'ring'\n[host.'h.x']").with_ring(Ring::parse("").unwrap()),
    ] {
        assert_eq!(refused.unwrap_err(), UnsupportedOption::Hosts);
    }
    assert!(
        UnsupportedOption::Hosts.to_string().contains("rules of their own in the profile file")
    );
    // Empty lists of options are accepted, since they change no host.
    assert!(hosts().with_switches([]).is_ok() && hosts().with_allowed([]).is_ok());
    let alone = file("'crawl'").with_dropped_parameters(["a"]).unwrap();
    assert_eq!(told(&alone, "http://h/?a&b"), "http://h/?b");
}

/// Nothing is timed: a quadratic step would take minutes here.
#[test]
fn host_with_many_labels_takes_linear_time() {
    let sites = read(SITES);
    for label in ["a.", ".", "www.", "de.shop.example."] {
        let url = format!("http://{}shop.example/", label.repeat(200_000 / label.len()));
        let expected = if label == "www." { "http://shop.example/" } else { &url };
        assert_eq!(told(&sites, &url), expected, "many of {label}");
    }
}

#[test]
fn error_for_a_bad_profile_file_has_line_and_reason() {
    let start = "name = 'a'\nversion = 1\nbase = 'crawl'\n";
    for (text, line, told) in [
        ("", 1, "missing key `name`"),
        ("name = 'a'\n", 1, "missing key `version`"),
        ("name = 'a'\nversion = 1\n", 1, "missing key `base`"),
        ("version = 1\nname = 'a b'\nbase = 'crawl'\n", 2, "letters, digits"),
        ("version = -1\nname = 'a'\nbase = 'crawl'\n", 1, "expected u32"),
        (
            "version = 1\nname = 'a'\nbase = 'crawl@2'\n",
            3,
            "the only version of the profile crawl is",
        ),
        (
            "version = 1\nname = 'a'\nbase = 'crawled'\n",
            3,
            "unknown profile `crawled` (did you mean `crawl`?)",
        ),
        ("version = 1\nname = 'a'\nbase = 3\n", 3, "a string"),
        ("version = 1\nname = 'a'\nname = 'b'\n", 3, "duplicate key"),
        ("version = 1\nname = \n", 2, "string values must be quoted"),
        (&format!("{start}colour = 'red'\n"), 4, "unknown key `colour`"),
        (
            &format!("{start}[switches]\nstrip-ww = true\n"),
            5,
            "unknown switch `strip-ww` (did you mean `strip-www`?)",
        ),
        (&format!("{start}[switches]\nstrip-www = 1\n"), 5, "expected a boolean"),
        (&format!("{start}switches = true\n"), 4, "a table"),
        (&format!("{start}[switches]\nkeep-empty-segments = true\n"), 5, "has no switch"),
        (&format!("{start}allow = ['nul']\n"), 4, "makes no check nul"),
        (&format!("{start}allow = [\n'frob']\n"), 5, "unknown check `frob`"),
        (&format!("{start}deny = ['nul']\n"), 4, "makes no check nul"),
        (&format!("{start}allow = 'nul'\n"), 4, "expected a list"),
        (&format!("{start}[ring]\ndecode = '/'\n"), 4, "has no ring"),
        (&format!("{start}[parameters]\ndrop = [1]\n"), 5, "a string"),
        (
            &format!("{start}[parameters]\nonly = ['a']\n"),
            5,
            "unknown key `only`, expected one of `drop`, `keep`, `tracking`",
        ),
        (&format!("{start}[ports]\nhttp = 65536\n"), 5, "from 0 to 65535"),
        (&format!("{start}[ports]\nhttp = true\n"), 5, "from 0 to 65535"),
        (&format!("{start}[ports]\nHTTP = 80\n"), 5, "not a scheme in lower case"),
        (&format!("{start}[ports]\nfile = 80\n"), 5, "knows no ports"),
        (&format!("{start}[host.'a b']\nbase = 'crawl'\n"), 4, "not a host"),
        (&format!("{start}[host.'*.a/b']\nbase = 'crawl'\n"), 4, "not a host"),
        (&format!("{start}[host.'h:80']\nbase = 'crawl'\n"), 4, "not a host"),
        (&format!("{start}[host.'[a:80']\nbase = 'crawl'\n"), 4, "not a host"),
        (&format!("{start}[host.'a:8]']\nbase = 'crawl'\n"), 4, "not a host"),
        (&format!("{start}[host.'*.[::1]']\nbase = 'crawl'\n"), 4, "not a host"),
        (&format!("{start}[host.h]\nname = 'b'\n"), 5, "unknown key `name`"),
        (&format!("{start}[host.h]\n[host.H]\n"), 5, "twice"),
        (&format!("{start}[host.h]\nbase = 'ia'\nports.http = 1\n"), 6, "its own ports"),
        ("name = 'a'\nversion = 1\nbase = 'ring'\nring.encode = 'A'\n", 4, "byte 41 (A)"),
        (
            "name = 'a'\nversion = 1\nbase = 'ring'\n[ring]\ndecode = '/'\nencode = '/'\n",
            6,
            "byte 2F",
        ),
        ("name = 'a'\nversion = 1\nbase = 'string'\n[ports]\n", 4, "knows its own ports"),
        (
            "name = 'a'\nversion = 1\nbase = 'sanitize'\nparameters.drop = ['a']\n",
            4,
            "leaves parameters alone",
        ),
        ("name = 'a'\nversion = 1\nbase = '\\u00e9'\nk\u{e9}y = 1\n", 4, "invalid"),
        (&format!("{start}[{}a]\nb = 1\n", "a.".repeat(300)), 4, "recursion limit"),
        (&format!("{start}a = {}", "[".repeat(300)), 4, "recurs"),
    ] {
        let Err(error) = Normalizer::from_profile_file(text) else { panic!("accepted:\n{text}") };
        assert!(error.reason.contains(told), "{error}\n{text}");
        assert_eq!(error.line, line, "{error}\n{text}");
        assert_eq!(error.to_string(), format!("line {line}: {}", error.reason));
        assert!(error.reason.bytes().all(|byte| (0x20..=0x7E).contains(&byte)), "{error}");
    }
}

/// Keys and types come first, then the values of the general rules, then hosts.
#[test]
fn one_of_several_errors_is_reported() {
    let start = "name = 'a'\nversion = 1\nbase = 'crawl'\n";
    for (text, line) in [
        ("base = 'crawled'\nversion = -1\nname = 'a b'\n", 2),
        ("name = 'a b'\nversion = -1\nbase = 'crawl'\n[zoo]\n", 2),
        ("base = 'crawled'\nversion = 1\nname = 'a b'\n", 3),
        // An unknown key may be a misspelling of the missing one.
        ("version = 1\nname = 'a'\nbse = 'crawl'\n", 3),
        (&format!("{start}[switches]\nzip = true\nfrob = true\n"), 5),
        (&format!("{start}[ports]\nhttp = true\nfile = 80\n"), 5),
        (&format!("{start}[ports]\nhttp = true\n[switches]\nzip = true\n"), 7),
        (&format!("{start}[switches]\nzip = true\n[parameters]\ndrop = [\n1]\n"), 8),
        (&format!("{start}[host.z]\nbase = 'no'\n[host.a]\nbase = 'no'\n"), 5),
        (&format!("{start}[host.z]\nallow = ['no']\n[switches]\nzip = true\n"), 7),
        (&format!("{start}[host.'a b']\n[host.z]\nfrob = 1\n"), 6),
    ] {
        let error = Normalizer::from_profile_file(text).unwrap_err();
        assert_eq!(error.line, line, "{error}\n{text}");
    }
}

#[test]
fn allow_accepts_only_codes_of_the_base_profile() {
    for code in RejectReason::ALL {
        for profile in [Profile::Sanitize, Profile::Servlet] {
            let name = profile.name();
            let text =
                format!("name = 'a'\nversion = 1\nbase = '{name}'\nallow = ['{}']", code.name());
            let read = Normalizer::from_profile_file(&text);
            assert_eq!(read.is_ok(), profile.checks().contains(*code), "{text}");
        }
    }
}

#[test]
fn printed_profile_names_its_checks() {
    for profile in Profile::ALL {
        let text = profile.to_toml();
        let listed =
            |code: &RejectReason| text.split([' ', ',', '\n']).any(|word| word == code.name());
        for code in RejectReason::ALL.iter().filter(|code| profile.checks().contains(**code)) {
            assert!(listed(code), "{}: {}", profile.name(), code.name());
        }
        assert_eq!(text.contains("Checks that are off"), !profile.checks().is_empty(), "{text}");
    }
}

#[test]
fn pattern_list_over_10000_is_rejected() {
    let file = |patterns: usize| {
        let list = vec!["'a'"; patterns].join(",");
        let text =
            format!("name = 'a'\nversion = 1\nbase = 'crawl'\n[parameters]\ndrop = [{list}]\n");
        Normalizer::from_profile_file(&text).map(drop)
    };
    assert!(file(10_000).is_ok());
    assert_eq!(file(10_001).unwrap_err().reason, "more than 10000 patterns");
}

#[test]
fn more_than_1000_patterns_with_a_wildcard_before_their_end_are_rejected() {
    let reason = "more than 1000 patterns with a wildcard before their end";
    for (count, told) in [(1_000, None), (1_001, Some(reason.to_owned()))] {
        let patterns: Vec<String> = (0..count).map(|i| format!("*{i}x*")).collect();
        let crawl = Normalizer::new(Profile::Crawl);
        let dropping = crawl.with_dropped_parameters(&patterns).map(drop);
        assert_eq!(dropping.err().map(|error| error.to_string()), told);
        let text = format!(
            "name = 'a'\nversion = 1\nbase = 'crawl'\nparameters.tracking = ['{}']\n",
            patterns.join("','")
        );
        let read = Normalizer::from_profile_file(&text).map(drop);
        assert_eq!(read.err().map(|error| error.reason), told);
    }
}

#[test]
fn example_profile_in_the_docs_is_valid() {
    let docs =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/profiles.md")).unwrap();
    let block = docs.split("```toml\n").find(|block| block.starts_with("name = \"sites\""));
    let sites = read(block.unwrap().split("```").next().unwrap());
    assert_eq!(
        sites.description(),
        "sites@1 base=crawl@1 with=strip-tracking drop-param=ref tracking=+1 ports=gopher:70 hosts=3"
    );
    assert_eq!(told(&sites, "http://a.shop.example/?b&ref&a"), "http://a.shop.example/?a&b");
    assert_eq!(told(&sites, "http://wiki.example/'%3A"), "http://wiki.example/%27:");
    assert_eq!(told(&sites, "http://api.example/a%2fb;c"), "http://api.example/a%2Fb");
}
