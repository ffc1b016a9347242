//! Lines of the format `target`, normalized: the vectors, the oracles, and the laws.

use std::collections::BTreeSet;

use crate::cases::for_each_case;
use crate::generator::systems::url;
use crate::generator::{self, Temper};
use crate::oracle::{Answer, Oracle, system};
use crate::record_oracle::Holds;
use crate::records;
use crate::subject::systems::{ask, assert_same, for_each_system, library};
use crate::subject::{Library, on_best_backend, on_every_backend};
use crate::tsv::{self, LADDER, escape, show};
use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile};
use uniqurl_formats::record::{Context, Format};

/// Reads one line of the format `target` for a normalizer and its base.
fn held(normalizer: &Normalizer, target: &[u8]) -> Holds {
    let (base, targets) = (normalizer.origin(), normalizer.targets());
    let context = Context { base, targets, ..Context::default() };
    let format = Format::parse("target").unwrap();
    let mut records = records::held(&format, &context, &[target, b"\n"].concat());
    assert_eq!(records.len(), 1, "one line is one record");
    records.remove(0)
}

/// Whether a file of targets can hold this as one record that is not blank.
fn is_a_line(target: &[u8]) -> bool {
    target.iter().any(|&byte| byte > 0x20)
        && target.last() != Some(&b'\r')
        && !target.contains(&b'\n')
}

/// Reads a line of the format `target` and normalizes its URL, joined to the base if there is one.
fn read_target(library: &Library, target: &[u8]) -> Answer {
    match held(&library.0, target) {
        Holds::Reject(code, at) => Err((code, at)),
        Holds::Target(target) => library.normalize_target(&target),
        Holds::Url(url) => library.normalize(&url),
        Holds::Joined(url, prefix) => {
            library.normalize(&url).map_err(|(code, at)| (code, at.saturating_sub(prefix)))
        }
        Holds::Blank | Holds::Skipped => panic!("{target:?} is no target"),
    }
}

/// The same with all reasons that a system names.
fn read_for_system(library: &Normalizer, target: &[u8]) -> system::Answer {
    match held(library, target) {
        Holds::Reject(code, at) => Err((BTreeSet::from([code]), at)),
        Holds::Target(target) => ask(|out| library.for_targets().append(&target, out)),
        Holds::Url(url) => ask(|out| library.append(&url, out)),
        Holds::Joined(url, prefix) => ask(|out| library.append(&url, out))
            .map_err(|(codes, at)| (codes, at.saturating_sub(prefix))),
        Holds::Blank | Holds::Skipped => panic!("{target:?} is no target"),
    }
}

#[track_caller]
fn assert_agree(library: &Library, target: &[u8], got: &Answer, expected: &Answer) {
    assert!(
        got == expected,
        "{} and the oracle differ\n target {}\nlibrary {}\n oracle {}",
        library.name(),
        escape(target),
        show(got),
        show(expected)
    );
}

#[test]
fn targets_match_the_forms_vectors() {
    tsv::compare("forms", |row, tell| {
        for library in row.profiles.iter().flat_map(|profile| on_every_backend(profile)) {
            let library = library.for_row(row);
            tell(&library.name(), read_target(&library, &row.input));
        }
    });
}

#[test]
fn canonical_target_is_read_back_unchanged() {
    for profile in Profile::ALL {
        for base in [None, Some(b"http://H:80/a?b")] {
            let mut library = on_best_backend(profile.name());
            if let Some(base) = base {
                library = library.with_base(base);
            }
            for_each_case(3, |rng| {
                let mut target = match rng.below(3) {
                    0 => generator::target(rng, Temper::Wild),
                    1 => generator::any(rng),
                    _ => generator::systems::url(rng),
                };
                if rng.one_in(4) {
                    target.insert(0, rng.byte() % 0x21);
                }
                if !is_a_line(&target) {
                    return;
                }
                let answer = read_target(&library, &target);
                let Ok(canonical) = &answer else { return };
                let again = match read_target(&library, canonical) {
                    // A URL whose path is `1`, which `a:1#` and `a:%31` become, is a URL only in a
                    // list.
                    Err(("authority-form", _)) => library.normalize(canonical),
                    again => again,
                };
                assert!(
                    again == answer,
                    "{} with base {base:?}\ntarget {}\n gives {}\n again {}",
                    library.name(),
                    escape(&target),
                    escape(canonical),
                    show(&again)
                );
            });
        }
    }
}

fn assert_forms_agree(bases: &[Option<&[u8]>]) {
    for profile in LADDER {
        for &base in bases {
            let (mut oracle, mut library) = (Oracle::new(profile), on_best_backend(profile));
            if let Some(base) = base {
                (oracle, library) = (oracle.with_base(base), library.with_base(base));
            }
            for_each_case(4, |rng| {
                let mut target = generator::target(rng, Temper::Wild);
                if rng.one_in(4) {
                    target.insert(0, rng.byte() % 0x21);
                }
                if is_a_line(&target) {
                    let expected = oracle.read_target(&target);
                    assert_agree(&library, &target, &read_target(&library, &target), &expected);
                }
            });
        }
    }
}

#[test]
fn forms_of_targets_agree_with_the_oracle() {
    assert_forms_agree(&[
        None,
        Some(b"HTTP://u@H:0080/a/b?c#d"),
        Some(b"x://h"),
        Some(b"x://[::1]:"),
    ]);
}

#[test]
fn targets_of_a_base_without_authority_agree_with_the_oracle() {
    assert_forms_agree(&[Some(b"x:/a"), Some(b"x:")]);
}

#[test]
fn log_targets_agree_with_the_oracles_and_round_trip() {
    for_each_system(20, |rng, system| {
        let (mut system, target) = (system.clone(), url(rng));
        // Its rules for targets are the ladder's.
        if system.profile == "sanitize" || !is_a_line(&target) {
            return;
        }
        let mut library = library(&system, Backend::best());
        if rng.one_in(2) {
            let base = b"http://H:80/a/b";
            system.base = Some(base.into());
            library = library.with_base(base).unwrap();
        }
        let got = read_for_system(&library, &target);
        assert_same("the answer of a target", &system, &target, &got, &system.read_target(&target));
        if let Ok(canonical) = &got {
            let again = read_for_system(&library, canonical);
            assert_same("idempotence of targets", &system, canonical, &again, &got);
        }
    });
}
