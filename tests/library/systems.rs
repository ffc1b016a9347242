//! The profiles of single systems: the library agrees with their oracles, and keeps the laws.

use std::collections::BTreeSet;

use crate::cases::for_each_case;
use crate::generator::Rng;
use crate::generator::systems::{WORDS, url};
use crate::oracle::system::{Answer, System};
use crate::subject::systems::{ask, assert_same, for_each_system, library, show, trouble};
use crate::subject::{Library, draw, in_bulk};
use crate::tsv::{self, SYSTEMS, escape};
use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile, RejectReason};

#[test]
fn systems_agree_with_their_oracles_on_every_backend() {
    for_each_system(4, |rng, system| {
        let url = url(rng);
        let expected = system.normalize(&url);
        let expected_target = system.normalize_target(&url);
        for backend in Backend::available() {
            let library = library(system, backend);
            let got = ask(|out| library.append(&url, out));
            assert_same("the answer", system, &url, &got, &expected);
            if library.is_clean(&url) {
                assert_same("the proof", system, &url, &Ok(url.clone()), &expected);
            }
            let got = ask(|out| library.for_targets().append(&url, out));
            assert_same("the answer of a target", system, &url, &got, &expected_target);
        }
        if system.profile == "servlet" && expected.is_ok() {
            let mut decoded = Vec::new();
            let outcome = library(system, Backend::best()).decoded(&url, &mut decoded);
            assert_eq!(outcome, Ok(()));
            assert_eq!(escape(&decoded), escape(&system.decoded(&url)), "{}", escape(&url));
        }
    });
}

#[test]
fn systems_agree_with_their_oracles_on_references_and_assumed_schemes() {
    let bases: [&[u8]; 4] = [b"http://H:80/a/b", b"x://[::1]", b"https://h:8443/c?d", b"x://"];
    for_each_system(8, |rng, system| {
        let (mut system, url) = (system.clone(), url(rng));
        let mut library = library(&system, Backend::best());
        if rng.one_in(2) {
            let base = rng.pick(&bases);
            system.base = Some(base.into());
            library = library.with_base(base).unwrap();
        } else {
            let scheme = rng.pick(&["http", "FTP", "x"]);
            system.assume_scheme = Some(scheme.into());
            library = library.with_assumed_scheme(scheme.as_bytes()).unwrap();
        }
        let got = ask(|out| library.append(&url, out));
        assert_same("the answer", &system, &url, &got, &system.normalize(&url));
        if let Ok(canonical) = &got {
            let again = ask(|out| library.append(canonical, out));
            assert_same("idempotence", &system, canonical, &again, &got);
        }
    });
}

#[test]
fn url_without_a_host_is_a_target_only_under_target_profiles() {
    for profile in Profile::ALL {
        let takes =
            ["servlet", "mediawiki", "restbase", "upload", "ring"].contains(&profile.name());
        let alone = Normalizer::new(*profile);
        for (url, names_none) in [
            (&b"/a?b"[..], true),
            (b"//h/a", true),
            (b"a", false),
            (b"mailto:a", false),
            (b"http://h/a", false),
            (b"foo://h", false),
        ] {
            assert_eq!(alone.is_hostless(url), takes && names_none, "{} {url:?}", profile.name());
        }
        if takes {
            let based = Normalizer::new(*profile).with_base(b"http://h/").unwrap();
            assert!(!based.is_hostless(b"/a"), "the base names one");
            let assuming = Normalizer::new(*profile).with_assumed_scheme(b"http").unwrap();
            assert!(assuming.is_hostless(b"/a"), "a path holds no host, whatever the scheme");
            assert!(!assuming.is_hostless(b"//h/a"), "the scheme makes a host of it");
        }
    }
}

#[test]
fn canonical_forms_are_accepted_printable_and_idempotent() {
    for_each_system(2, |rng, system| {
        let library = library(system, Backend::best());
        let url = url(rng);
        let answer = ask(|out| library.append(&url, out));
        match &answer {
            Err((_, at)) => assert!(*at <= url.len(), "{}", escape(&url)),
            Ok(canonical) => {
                assert!(canonical.iter().all(|byte| (0x21..=0x7E).contains(byte)));
                assert!(canonical.len() <= 5 * url.len() + 2, "{}", escape(&url));
                let again = ask(|out| library.append(canonical, out));
                assert_same("idempotence", system, canonical, &again, &answer);
            }
        }
        let answer = ask(|out| library.for_targets().append(&url, out));
        if let Ok(canonical) = &answer {
            assert!(canonical.iter().all(|byte| (0x21..=0x7E).contains(byte)));
            let again = ask(|out| library.for_targets().append(canonical, out));
            assert_same("idempotence of targets", system, canonical, &again, &answer);
        }
    });
}

#[test]
fn bulk_results_agree_with_single_calls() {
    for profile in SYSTEMS {
        for_each_case(100, |rng| {
            let system = draw::system(rng, profile);
            let count = rng.below(200);
            // Clean URLs, as most are in practice, with others among them.
            let one = |_| match rng.below(3) {
                0 => url(rng),
                1 => b"http://example.com/wiki/A:b(c);d?e%20f".to_vec(),
                _ => b"https://example.com/a/b%20c/d.html".to_vec(),
            };
            let urls: Vec<_> = (0..count).map(one).collect();
            for backend in Backend::available() {
                let library = library(&system, backend);
                for (url, got) in urls.iter().zip(in_bulk(&library, &urls)) {
                    let alone = ask(|out| library.append(url, out));
                    assert_same("bulk", &system, url, &got.map_err(trouble), &alone);
                }
            }
        });
    }
}

#[test]
fn every_pair_of_octets_raw_and_encoded_agrees_with_the_oracle() {
    for profile in ["mediawiki", "restbase", "upload", "ring"] {
        let system = System::new(profile);
        let library = library(&system, Backend::best());
        for pair in 0..=0xFFFFu16 {
            for spelling in 0..4 {
                // Half of them in targets, half in URLs.
                let front = if (pair ^ pair >> 8 ^ spelling) & 1 == 1 { "/" } else { "http://h/" };
                let mut url = front.as_bytes().to_vec();
                for (i, octet) in pair.to_be_bytes().into_iter().enumerate() {
                    if spelling >> i & 1 == 1 {
                        url.extend_from_slice(format!("%{octet:02x}").as_bytes());
                    } else {
                        url.push(octet);
                    }
                }
                let got = ask(|out| library.append(&url, out));
                assert_same("a pair", &system, &url, &got, &system.normalize(&url));
            }
        }
    }
}

#[test]
fn generator_reaches_every_check() {
    for profile in ["sanitize", "servlet"] {
        let mut missing: BTreeSet<_> =
            profile.parse::<Profile>().unwrap().checks().iter().map(RejectReason::name).collect();
        let mut accepted = 0;
        for case in 0..20_000 {
            let rng = &mut Rng::new(case);
            let mut system = System::new(profile);
            system.keep_empty_segments = rng.one_in(2) && profile == "servlet";
            let off = profile.parse::<Profile>().unwrap().checks_off();
            system.denied = off.iter().map(RejectReason::name).collect();
            match system.normalize(&url(rng)) {
                Ok(_) => accepted += 1,
                Err((codes, _)) => missing.retain(|code| !codes.contains(code)),
            }
        }
        assert!(missing.is_empty(), "{profile}: {missing:?}");
        assert!(accepted > 1000, "{profile}: only {accepted} are accepted");
    }
}

/// Nothing is timed: a quadratic step would take minutes here.
#[test]
fn long_urls_take_linear_time() {
    for profile in SYSTEMS {
        let backends = [Backend::best(), Backend::Scalar];
        let libraries = backends.map(|backend| library(&System::new(profile), backend));
        for word in WORDS.iter().chain(&["/a/..", "/a/../..", "%c3%a9/", ";/", "%31.", "1."]) {
            for front in ["/", "http://h/", "http://"] {
                let url = format!("{front}{}", word.repeat(50_000 / word.len()));
                let [best, scalar] =
                    libraries.each_ref().map(|of| ask(|out| of.append(url.as_bytes(), out)));
                assert!(best == scalar, "{profile}: {front} and many of {word}");
            }
        }
    }
}

#[test]
fn library_and_oracle_match_the_system_vectors() {
    let mut wrong = Vec::new();
    for name in SYSTEMS {
        for row in tsv::rows(name) {
            let code = |name: &str| name.parse::<RejectReason>().unwrap().name();
            let mut system = System::new(name);
            system.allowed = row.choices.allow.iter().map(|name| code(name)).collect();
            system.denied = row.choices.deny.iter().map(|name| code(name)).collect();
            system.keep_empty_segments = !row.choices.with.is_empty();
            for list in &row.choices.ring {
                let (which, digits) = list.split_once('=').unwrap();
                let bytes = digits.split(',').map(|byte| u8::from_str_radix(byte, 16).unwrap());
                let bytes = bytes.collect();
                if which == "decode" { system.ring.0 = bytes } else { system.ring.1 = bytes }
            }
            system.base.clone_from(&row.base);
            system.assume_scheme.clone_from(&row.assume);
            let expected = row.expected.clone();
            let expected =
                expected.map_err(|(codes, at)| (codes.split(',').map(code).collect(), at));
            let mut tell = |who: &str, got: &Answer| {
                if *got != expected {
                    let (input, got, expected) = (escape(&row.input), show(got), show(&expected));
                    wrong.push(format!("{}: {who}: {input} -> {got}, not {expected}", row.place));
                }
            };
            let is_target = row.choices.is_target;
            let answer = match is_target {
                true => system.normalize_target(&row.input),
                false => system.normalize(&row.input),
            };
            tell("oracle", &answer);
            for backend in Backend::available() {
                let Library(library) = Library(library(&system, backend)).for_row(&row);
                let answer = ask(|out| match is_target {
                    true => library.for_targets().append(&row.input, out),
                    false => library.append(&row.input, out),
                });
                tell(backend.name(), &answer);
                if let Some(decoded) = &row.choices.decoded {
                    let got = ask(|out| library.decoded(&row.input, out));
                    assert_eq!(got.as_ref(), Ok(decoded), "{}", row.place);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} answers differ\n{}", wrong.len(), wrong.join("\n"));
}
