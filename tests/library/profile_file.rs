//! Custom profiles, as TOML files.

use crate::cases::for_each_case;
use crate::generator::{self, Rng, Temper};
use crate::rows;
use crate::subject::{in_bulk, outcome, told};
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
fn profile_files_do_what_they_say() {
    rows::check("profile_files.txt");
}

/// Profile files with rules for many hosts.
fn sites() -> rows::Block {
    let blocks = rows::blocks("profile_files.txt");
    blocks.into_iter().find(|block| block.head.contains("shop.example")).unwrap()
}

/// No part of a base comes under the rules of another host, so those rules do not affect it.
#[test]
fn base_is_rejected_or_kept_by_the_rules_of_its_own_host() {
    let sites = read(
        "name = 'b'\nversion = 1\nbase = 'crawl'\n[host.'s.x']\nbase = 'sanitize'\n\
         [host.'k.x'.switches]\nkeep-userinfo = true\n",
    );
    let refused = sites.clone().with_base(b"http://u@s.x/").unwrap_err();
    assert_eq!(refused, Reject::new(RejectReason::Userinfo, 7).into());
    let keeping = sites.with_base(b"http://u@k.x/").unwrap();
    assert_eq!(keeping.origin().unwrap().authority, b"u@k.x");
}

#[test]
fn host_rules_keep_the_normalization_laws() {
    let plain = sites().normalizer();
    assert_eq!(plain.description(), "mine@7 base=crawl@1 with=squeeze-slashes hosts=6");
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
fn charset_is_refused_where_one_host_cannot_have_it() {
    use uniqurl::uri::Charset;
    let browser = "name = 'b'\nversion = 1\nbase = 'crawl'\n[host.'b.example']\nbase = 'whatwg'\n";
    let refused = read(browser).with_charset(Charset::LATIN_1).unwrap_err();
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
    let sites = sites().normalizer();
    for label in ["a.", ".", "www.", "de.shop.example."] {
        let url = format!("http://{}shop.example/", label.repeat(200_000 / label.len()));
        let expected = if label == "www." { "http://shop.example/" } else { &url };
        assert_eq!(told(&sites, &url), expected, "many of {label}");
    }
}

#[test]
fn error_for_a_bad_profile_file_has_line_and_reason() {
    let start = "name = 'a'\nversion = 1\nbase = 'crawl'\n";
    let file = |row: &rows::Row| {
        let text = String::from_utf8(row.bytes(0)).unwrap();
        let text = text.replace('|', "\n").replace('^', start);
        (text, row.fields[1].parse::<usize>().unwrap(), row.fields.get(2).cloned())
    };
    let blocks = rows::blocks("bad_profile_files.txt");
    let known = blocks.iter().flat_map(|block| &block.rows).map(file);
    let deep = [
        (format!("{start}[{}a]\nb = 1\n", "a.".repeat(300)), 4, Some("recursion limit".into())),
        (format!("{start}a = {}", "[".repeat(300)), 4, Some("recurs".into())),
    ];
    for (text, line, told) in known.chain(deep) {
        let Err(error) = Normalizer::from_profile_file(&text) else { panic!("accepted:\n{text}") };
        assert!(told.is_none_or(|told| error.reason.contains(&told)), "{error}\n{text}");
        assert_eq!(error.line, line, "{error}\n{text}");
        assert_eq!(error.to_string(), format!("line {line}: {}", error.reason));
        assert!(error.reason.bytes().all(|byte| (0x20..=0x7E).contains(&byte)), "{error}");
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
        "sites@1 base=crawl@1 with=strip-tracking drop-param=ref tracking=+1 ports=gopher:70 hosts=3 paths=1"
    );
    assert_eq!(told(&sites, "http://a.shop.example/?b&ref&a"), "http://a.shop.example/?a&b");
    assert_eq!(told(&sites, "http://wiki.example/'%3A"), "http://wiki.example/%27:");
    assert_eq!(told(&sites, "http://api.example/a%2fb;c"), "http://api.example/a%2Fb");
}
