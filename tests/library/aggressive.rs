//! `aggressive`: the library agrees with the oracle, and keeps the laws.

use crate::cases::for_each_case;
use crate::generator::habits::url;
use crate::generator::{self, Rng, Temper};
use crate::oracle::policy::{Policy, SWITCHES};
use crate::oracle::{Answer, Oracle};
use crate::subject::{self, Library, answer, in_bulk, outcome};
use crate::tsv::{self, escape, show};
use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile, Reject, Switch};

/// A rung with random switches and lists. Mostly `aggressive` without changes.
fn draw(rng: &mut Rng) -> Policy {
    let profile = rng.pick(&["scheme", "crawl", "aggressive", "aggressive"]);
    if rng.one_in(3) { Policy::new(profile) } else { subject::draw::habits(rng, profile) }
}

fn library(policy: &Policy, backend: Backend) -> Normalizer {
    let profile = policy.rung.profile.parse::<Profile>().unwrap();
    let switch = |name: &&str| name.parse::<Switch>().unwrap();
    let off = SWITCHES.iter().filter(|switch| !policy.switches.contains(*switch));
    let mut normalizer = Normalizer::new(profile)
        .with_backend(backend)
        .with_switches(policy.switches.iter().map(switch))
        .unwrap()
        .without_switches(off.map(switch))
        .unwrap();
    if !policy.drop.is_empty() {
        normalizer = normalizer.with_dropped_parameters(&policy.drop).unwrap();
    }
    if !policy.keep.is_empty() {
        normalizer = normalizer.with_kept_parameters(&policy.keep).unwrap();
    }
    normalizer
}

fn ask(call: impl FnOnce(&mut Vec<u8>) -> Result<(), Reject>) -> Answer {
    answer(outcome(call))
}

#[track_caller]
fn assert_same(what: &str, policy: &Policy, url: &[u8], got: &Answer, expected: &Answer) {
    let Policy { rung, switches, drop, keep, .. } = policy;
    assert!(
        got == expected,
        "{what} under {rung:?} {switches:?} {drop:?} {keep:?}\n   url {}\n   got {}\nwanted {}",
        escape(url),
        show(got),
        show(expected)
    );
}

#[test]
fn library_agrees_with_the_oracle_on_every_backend() {
    for_each_case(1, |rng| {
        let (policy, url) = (draw(rng), url(rng));
        let expected = policy.normalize(&url);
        let expected_target = policy.normalize_target(&url);
        for backend in Backend::available() {
            let library = library(&policy, backend);
            let got = ask(|out| library.append(&url, out));
            assert_same("the answer", &policy, &url, &got, &expected);
            if library.is_clean(&url) {
                assert_same("the proof", &policy, &url, &Ok(url.clone()), &expected);
            }
            let got = ask(|out| library.for_targets().append(&url, out));
            assert_same("the answer of a target", &policy, &url, &got, &expected_target);
        }
    });
}

#[test]
fn library_agrees_with_the_oracle_on_references_and_assumed_schemes() {
    let bases: [&[u8]; 4] =
        [b"https://www.A.b/x/index.html", b"http://u@h/a/?b", b"x:/.//a", b"ftp://h//(S(a))/"];
    for_each_case(2, |rng| {
        let (mut policy, url) = (draw(rng), url(rng));
        let mut library = library(&policy, Backend::best());
        if rng.one_in(2) {
            let base = rng.pick(&bases);
            policy.rung = policy.rung.with_base(base);
            library = library.with_base(base).unwrap();
        } else {
            policy.rung = policy.rung.with_assumed_scheme(b"https");
            library = library.with_assumed_scheme(b"https").unwrap();
        }
        let got = ask(|out| library.append(&url, out));
        assert_same("the answer", &policy, &url, &got, &policy.normalize(&url));
    });
}

#[test]
fn canonical_forms_are_valid_and_idempotent() {
    for_each_case(1, |rng| {
        let (policy, url) = (draw(rng), url(rng));
        let library = library(&policy, Backend::best());
        let answer = ask(|out| library.append(&url, out));
        match &answer {
            Err((_, at)) => assert!(*at <= url.len(), "{}", escape(&url)),
            Ok(canonical) => {
                let again = ask(|out| library.append(canonical, out));
                assert_same("idempotence", &policy, canonical, &again, &answer);
                let grammar = Oracle::new("syntax").normalize(canonical);
                assert!(grammar.is_ok(), "appendix A: {}", escape(canonical));
                let factor = if policy.rung.profile == "scheme" { 1 } else { 5 };
                assert!(canonical.len() <= factor * url.len() + 2, "{}", escape(&url));
            }
        }
        let target = ask(|out| library.for_targets().append(&url, out));
        if let Ok(canonical) = &target {
            assert!(canonical.starts_with(b"/"));
            let again = ask(|out| library.for_targets().append(canonical, out));
            assert_same("idempotence of targets", &policy, canonical, &again, &target);
        }
    });
}

#[test]
fn coarser_profile_never_splits_equal_urls() {
    let [scheme, crawl, aggressive] =
        [Profile::Scheme, Profile::Crawl, Profile::Aggressive].map(Normalizer::new);
    for_each_case(1, |rng| {
        let url = url(rng);
        for fine in [&scheme, &crawl] {
            let Ok(canonical) = ask(|out| fine.append(&url, out)) else { continue };
            let direct = ask(|out| aggressive.append(&url, out)).map_err(|(code, _)| code);
            let steps = ask(|out| aggressive.append(&canonical, out)).map_err(|(code, _)| code);
            assert_eq!(direct, steps, "{} and {}", escape(&url), escape(&canonical));
        }
    });
}

#[test]
fn bulk_results_agree_with_single_calls() {
    for_each_case(6, |rng| {
        let policy = draw(rng);
        for backend in Backend::available() {
            let library = library(&policy, backend);
            let urls: Vec<Vec<u8>> = (0..rng.below(90))
                .map(|_| {
                    let url = url(rng);
                    ask(|out| library.append(&url, out)).unwrap_or(url)
                })
                .collect();
            for (url, got) in urls.iter().zip(in_bulk(&library, &urls)) {
                let alone = ask(|out| library.append(url, out));
                assert_same("in bulk", &policy, url, &answer(got), &alone);
            }
        }
    });
}

#[test]
fn ordinary_urls_are_recognized_as_clean() {
    let aggressive = Normalizer::new(Profile::Aggressive);
    for (is_clean, hosts, tails) in [
        (
            true,
            "example.com wwww.example.com",
            "/ /a/b.html /a/index /wiki/A%2Fb /a?b=1&c=2 /a?b&b=1&sid=1",
        ),
        (false, "example.com", "/a/ /a//b /index.html /a;jsessionid=1 /? /?b&a /?a&utm_id"),
        (false, "www.example.com", "/"),
    ] {
        for (host, tail) in hosts.split(' ').flat_map(|h| tails.split(' ').map(move |t| (h, t))) {
            let url = format!("https://{host}{tail}");
            assert_eq!(aggressive.is_clean(url.as_bytes()), is_clean, "{url}");
        }
    }
    assert!(aggressive.is_clean(b"http://example.com/"));
}

#[test]
fn normalization_takes_linear_time() {
    // A pass over the URL for each segment or parameter would take minutes here.
    let all = SWITCHES.map(|name| name.parse::<Switch>().unwrap());
    let without_drop = all.into_iter().filter(|switch| *switch != Switch::DropQuery);
    let library = Normalizer::new(Profile::Crawl)
        .with_switches(without_drop)
        .unwrap()
        .with_dropped_parameters(["*x*y", "a?b*"])
        .unwrap();
    for word in
        ["/index.html", "/", "/(S(a))", ";jsessionid=1", "/;jsessionid=1/", "/index.html;sid"]
            .into_iter()
            .chain(["?", "&", "&=", "&utm_a", "&b&a", "&sid=1", "&xxxx", "&%41%C3", "&a=b;"])
    {
        for front in ["/", "http://h/", "http://h/?", "x:/", "x:/.//", "http://h/a?b"] {
            let url = format!("{front}{}", word.repeat(200_000 / word.len()));
            let mut out = Vec::new();
            let _ = library.append(url.as_bytes(), &mut out);
            let _ = library.for_targets().append(url.as_bytes(), &mut out);
        }
    }
    let url = format!("http://{}a.b/", "www.".repeat(100_000));
    let mut out = Vec::new();
    let _ = library.append(url.as_bytes(), &mut out);
    assert_eq!(out, b"http://a.b/");
}

#[test]
fn library_and_oracle_match_the_aggressive_vectors() {
    tsv::compare("aggressive", |row, tell| {
        for profile in &row.profiles {
            let mut policy = Policy::new(profile);
            let known = |name: &String| *SWITCHES.iter().find(|known| *known == name).unwrap();
            policy.switches.extend(row.choices.with.iter().map(known));
            for name in &row.choices.without {
                assert!(policy.switches.remove(name.as_str()), "{}: {name}", row.place);
            }
            (policy.drop, policy.keep) = (row.choices.drop.clone(), row.choices.keep.clone());
            policy.rung.base.clone_from(&row.base);
            policy.rung.assume_scheme.clone_from(&row.assume);
            let is_target = row.input.starts_with(b"/") && row.base.is_none();
            tell(
                "oracle",
                match is_target {
                    true => policy.normalize_target(&row.input),
                    false => policy.normalize(&row.input),
                },
            );
            for backend in Backend::available() {
                let library = Library(library(&policy, backend)).for_row(row);
                let got = match is_target {
                    true => library.normalize_target(&row.input),
                    false => library.normalize(&row.input),
                };
                tell(&library.name(), got);
            }
        }
    });
}

#[test]
fn generated_urls_exercise_every_step() {
    for name in SWITCHES {
        let switch = name.parse::<Switch>().unwrap();
        let crawl = Normalizer::new(Profile::Crawl);
        let with = crawl.clone().with_switches([switch]).unwrap();
        let changed = (0..2_000).filter(|seed| {
            let url = if *seed % 2 == 0 {
                url(&mut Rng::new(*seed))
            } else {
                generator::url(&mut Rng::new(*seed), Temper::Tame)
            };
            ask(|out| crawl.append(&url, out)) != ask(|out| with.append(&url, out))
        });
        let changed = changed.count();
        assert!(changed >= 20, "{name} changed {changed}");
    }
}
