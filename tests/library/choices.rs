//! The options besides a profile, and their descriptions.

use std::collections::BTreeSet;

use crate::cases::for_each_case;
use crate::generator::{habits, systems};
use crate::oracle::policy::{Policy, SWITCHES};
use crate::oracle::system::System;
use crate::rows;
use crate::subject::systems::ask;
use crate::subject::{outcome, told};
use crate::tsv;
use uniqurl::internal::Backend;
use uniqurl::uri::Charset;
use uniqurl::{
    Normalizer, Profile, Redirects, Reject, RejectReason, Ring, Switch, UnsupportedOption,
};

#[test]
fn description_names_every_option() {
    let servlet = Normalizer::new(Profile::Servlet);
    let servlet =
        servlet.with_allowed([RejectReason::EncodedSlash, RejectReason::Backslash]).unwrap();
    assert_eq!(servlet.description(), "servlet@1 allow=encoded-slash,backslash");
    let list = Redirects::parse(b"http://h/a\thttp://h/b\nhttp://h/c\thttp://h/a\n").unwrap();
    let crawl = Normalizer::new(Profile::Crawl);
    let crawl = crawl.with_dropped_parameters(["a", "b*"]).unwrap();
    let crawl = crawl.with_redirects(&list).unwrap();
    assert_eq!(crawl.description(), "crawl@1 drop-param=a,b* redirects=2");
    let crawl = Normalizer::new(Profile::Crawl).with_kept_parameters(["id"]).unwrap();
    assert_eq!(crawl.description(), "crawl@1 keep-param=id");
}

#[test]
fn error_for_an_unsupported_option_lists_supporting_profiles() {
    let string = || Normalizer::new(Profile::String);
    let error = string().with_dropped_parameters(["a"]).unwrap_err().to_string();
    assert_eq!(error, "profile string keeps all parameters, unlike scheme, crawl, aggressive");
    let error = string().with_switches([Switch::KeepEmptySegments]).unwrap_err().to_string();
    assert_eq!(error, "profile string has no switch keep-empty-segments, a switch of servlet");
}

#[test]
fn assumed_scheme_must_be_a_valid_scheme() {
    let assume = |scheme: &[u8]| {
        let result = Normalizer::new(Profile::Crawl).with_assumed_scheme(scheme);
        result.map(drop)
    };
    for scheme in ["http", "a", "h2", "a+b-c.1"] {
        assert_eq!(assume(scheme.as_bytes()), Ok(()), "{scheme}");
    }
    for (scheme, at) in [("", 0), ("1a", 0), ("+a", 0), ("a b", 1), ("http:", 4), ("h\u{e9}", 1)] {
        assert_eq!(
            assume(scheme.as_bytes()),
            Err(Reject::new(RejectReason::Scheme, at).into()),
            "{scheme}"
        );
    }
}

#[test]
fn pattern_lists_have_no_small_limit() {
    let patterns = || (0..=65_536).map(|i| format!("p{i}"));
    let crawl = || Normalizer::new(Profile::Crawl);
    for (normalizer, expected) in [
        (crawl().with_dropped_parameters(patterns()), "http://h/?q=1&p65537=4"),
        (crawl().with_kept_parameters(patterns()), "http://h/?p0=2&p65536=3"),
    ] {
        let url = "http://h/?q=1&p0=2&p65536=3&p65537=4";
        assert_eq!(told(&normalizer.unwrap(), url), expected);
    }
}

#[test]
fn only_servlet_has_a_decoded_path() {
    for profile in Profile::ALL {
        let has = Normalizer::new(*profile).has_decoded();
        assert_eq!(has, *profile == Profile::Servlet, "{}", profile.name());
    }
}

#[test]
fn options_match_the_rows() {
    rows::check("options.txt");
}

#[test]
fn a_check_that_is_off_is_switched_on_and_described() {
    let sanitize = Normalizer::new(Profile::Sanitize);
    assert_eq!(sanitize.description(), "sanitize@1");
    let denied = sanitize.with_denied([RejectReason::DeviceName, RejectReason::Nul]).unwrap();
    assert_eq!(denied.description(), "sanitize@1 deny=device-name");
    assert!(!denied.is_clean(b"http://h/aux"));
    let both = denied.with_allowed([RejectReason::DeviceName, RejectReason::Userinfo]).unwrap();
    assert_eq!(both.description(), "sanitize@1 allow=userinfo");
    assert!(Normalizer::new(Profile::Crawl).with_denied([RejectReason::Nul]).is_err());
}

/// An option: its name, and what it does to a normalizer.
type Choice = (&'static str, fn(Normalizer) -> Result<Normalizer, UnsupportedOption>);

/// Options that change the rules, and so must come before the base.
const RULES: [Choice; 10] = [
    ("slash", |made| made.with_allowed([RejectReason::EncodedSlash])),
    ("allowed", |made| made.with_allowed([RejectReason::Userinfo])),
    ("denied", |made| made.with_denied([RejectReason::DeviceName])),
    ("www", |made| made.with_switches([Switch::StripWww, Switch::SortQuery])),
    ("segments", |made| made.with_switches([Switch::KeepEmptySegments])),
    ("userinfo", |made| made.without_switches([Switch::KeepUserinfo, Switch::KeepFragment])),
    ("drop", |made| made.with_dropped_parameters(["b"])),
    ("keep", |made| made.with_kept_parameters(["b"])),
    ("ring", |made| made.with_ring(Ring::new(b"+", b"!").unwrap())),
    ("charset", |made| made.with_charset(Charset::LATIN_1)),
];

/// Options that must come before the redirects alone.
const BEFORE_REDIRECTS: [Choice; 2] = [
    ("base", |made| made.with_base(b"http://www.h.x/!+/?b&a")),
    ("assumed", |made| made.with_assumed_scheme(b"http")),
];

const LATE: [Choice; 2] = [
    ("redirects", |made| {
        // Under some profiles a target or any text is a URL.
        let ends = ["http://www.h.x/b?b&a#f", "http://u@h/!+%F6", "/b//+", "f", "//www.h.x/"];
        let pairs = ends.map(|end| ("http://k/".to_owned(), end)).into_iter();
        let pairs = pairs.enumerate().map(|(i, (from, to))| (format!("{from}{i}"), to));
        let takes = |to: &str| made.canonical(to.as_bytes(), &mut Vec::new()).is_ok();
        let list: Redirects = pairs.filter(|(_, to)| takes(to)).collect();
        Ok(made.with_redirects(&list).unwrap())
    }),
    ("backend", |made| Ok(made.with_backend(Backend::Scalar))),
];

/// The base and the redirects are normalized when they are set, so rules that change later would leave
/// them as they were: a canonical URL would have another canonical form.
#[test]
fn two_options_in_any_order_are_refused_or_reach_a_fixed_point() {
    let (mut refused, mut expected) = (0, 0);
    for profile in Profile::ALL {
        let new = || Normalizer::new(*profile);
        let rules = RULES.iter().filter(|(_, choose)| choose(new()).is_ok()).count();
        let first = BEFORE_REDIRECTS.iter().filter(|(_, choose)| choose(new()).is_ok()).count();
        assert_eq!(first, BEFORE_REDIRECTS.len(), "{profile}");
        expected += 2 * rules + first;
        let all = || RULES.iter().chain(&BEFORE_REDIRECTS).chain(&LATE);
        for (one, choose) in all() {
            let Ok(made) = choose(new()) else { continue };
            for (other, choose) in all() {
                if choose(new()).is_err() {
                    continue;
                }
                let context = format!("{one}, then {other} under {profile}");
                match choose(made.clone()) {
                    Err(UnsupportedOption::AfterBase | UnsupportedOption::AfterRedirects) => {
                        assert!(["base", "redirects"].contains(one), "{context}");
                        refused += 1;
                    }
                    Err(error) => panic!("{context}: {error}"),
                    Ok(made) => reaches_a_fixed_point(&made, &context),
                }
            }
        }
    }
    assert_eq!(refused, expected);
}

fn reaches_a_fixed_point(normalizer: &Normalizer, context: &str) {
    let urls = "http://k/0 http://k/1 http://k/2 http://k/3 http://k/4 /c/+! d?a&b ?q h.x/%F6";
    for url in urls.split(' ') {
        let once = outcome(|out| normalizer.append(url.as_bytes(), out));
        if let Ok(form) = &once {
            let twice = outcome(|out| normalizer.append(form, out));
            assert_eq!(twice, once, "{context}: {url}");
        }
    }
}

/// Docs of `Builder`: "The base is normalized by all other options, wherever it stands. Of two options that
/// contradict each other [...] the later one holds." The oracle keeps what was said last.
#[test]
fn options_in_any_order_agree_with_an_oracle_that_keeps_the_last_of_each() {
    for_each_case(1, |rng| {
        let profile = rng.pick(&["scheme", "crawl", "aggressive"]);
        let mut policy = Policy::new(profile);
        let mut builder = Normalizer::builder(profile.parse().unwrap());
        for _ in 0..rng.below(12) {
            let name = rng.pick(&SWITCHES[..]);
            let globs = vec![rng.pick(habits::GLOBS).to_owned()];
            let base: &[u8] = rng.pick(&[&b"http://www.u@H.x/a/?b"[..], b"https://h/index.html"]);
            let scheme: &[u8] = rng.pick(&[&b"http"[..], b"ftp"]);
            let Policy { rung, switches, drop, keep, .. } = &mut policy;
            match rng.below(8) {
                0..4 => {
                    let (on, switch) = (rng.one_in(2), [name.parse().unwrap()]);
                    builder = if on { builder.with(switch) } else { builder.without(switch) };
                    switches.remove(name);
                    switches.extend(on.then_some(name));
                }
                4 => (*drop, builder) = (globs.clone(), builder.drop_parameters(globs)),
                5 => (*keep, builder) = (globs.clone(), builder.keep_parameters(globs)),
                6 => (rung.base, builder) = (Some(base.to_vec()), builder.base(base)),
                _ => {
                    (rung.assume_scheme, builder) =
                        (Some(scheme.to_vec()), builder.assume_scheme(scheme))
                }
            }
        }
        let library = builder.build().unwrap();
        for url in [habits::url(rng), b"?b=1&a&utm_x=2&b".to_vec(), b"u@www.h.x//A/#f".to_vec()] {
            let expected =
                policy.normalize(&url).map_err(|(code, at)| (BTreeSet::from([code]), at));
            let got = ask(|out| library.append(&url, out));
            assert_eq!(got, expected, "{}: {}", library.description(), tsv::escape(&url));
        }
    });
}

#[test]
fn checks_in_any_order_agree_with_an_oracle_that_keeps_the_last_of_each() {
    for_each_case(1, |rng| {
        let mut system = System::new(rng.pick(&["sanitize", "servlet"]));
        let profile: Profile = system.profile.parse().unwrap();
        let checks: Vec<_> = profile.checks().iter().chain(profile.checks_off().iter()).collect();
        let mut builder = Normalizer::builder(profile);
        for _ in 0..rng.below(20) {
            let (check, allows) = (checks[rng.below(checks.len())], rng.one_in(2));
            builder = if allows { builder.allow([check]) } else { builder.deny([check]) };
            system.allowed.remove(check.name());
            system.denied.remove(check.name());
            let last = if allows { &mut system.allowed } else { &mut system.denied };
            last.insert(check.name());
        }
        let (library, url) = (builder.build().unwrap(), systems::url(rng));
        let got = ask(|out| library.append(&url, out));
        let expected = system.normalize(&url);
        assert_eq!(got, expected, "{}: {}", library.description(), tsv::escape(&url));
    });
}
