//! A sample of the windows and small URLs that `scripts/prove --exhaustive` tries one and all.

use crate::cases::cases;
use crate::generator::Rng;
use crate::law;
use crate::subject::{Library, on_best_backend, on_every_backend};
use crate::tsv::{LADDER, escape};
use crate::windows::{
    Windows, are_lines_of, small_targets, small_urls, texts, triples, windows, words_at_edges,
};
use uniqurl::Profile;
use uniqurl::internal::Backend;

/// Some URLs of an enumeration, spread over it: the step shares no divisor with its sizes.
fn sample(windows: &Windows, count: u64) -> impl Iterator<Item = Vec<u8>> {
    const STEP: u64 = 1_000_000_007;
    let number = |i: u64| (u128::from(i) * u128::from(STEP) % u128::from(windows.count)) as u64;
    (0..windows.count.min(count)).map(move |i| windows.url(number(i)))
}

#[test]
fn every_backend_decides_about_a_window_as_the_exact_path_does() {
    let samples = windows().into_iter().chain([triples()]).map(|windows| (cases() / 4, windows));
    for (most, windows) in samples.chain([(u64::MAX, words_at_edges())]) {
        let urls: Vec<Vec<u8>> = sample(&windows, most).collect();
        for profile in Profile::ALL {
            let libraries = on_every_backend(profile.name());
            for url in &urls {
                let [first, others @ ..] = &libraries[..] else { panic!("scalar runs everywhere") };
                let expected = first.normalize(url);
                assert_explained(first, url);
                for library in others {
                    let context =
                        || format!("{}, {}: {}", windows.name, library.name(), escape(url));
                    assert_eq!(library.normalize(url), expected, "{}", context());
                }
            }
        }
    }
}

#[test]
fn every_backend_splits_a_window_into_its_lines() {
    for text in sample(&texts(), 10 * cases()) {
        for backend in Backend::available() {
            assert!(are_lines_of(backend, &text), "{}: {}", backend.name(), escape(&text));
        }
    }
}

#[test]
fn small_urls_keep_the_laws_and_their_explanations() {
    for symbols in 1..=7 {
        let urls: Vec<Vec<u8>> = sample(&small_urls(symbols), cases() / 4).collect();
        for profile in Profile::ALL {
            let library = on_best_backend(profile.name());
            for (i, url) in urls.iter().enumerate() {
                if LADDER.contains(&profile.name()) {
                    law::all_for_url(&mut Rng::new(i as u64), &library, url);
                }
                assert_explained(&library, url);
            }
            for target in sample(&small_targets(symbols), cases() / 40) {
                if LADDER.contains(&profile.name()) {
                    law::all_for_target(&library, &target);
                }
            }
        }
    }
}

/// Canonical forms are fixed points, and explanations, which the exact path gives, lead to them.
fn assert_explained(library: &Library, url: &[u8]) {
    let context = || format!("{}: {}", library.name(), escape(url));
    let (answer, steps) = (library.normalize(url), library.0.explain(url));
    match (&answer, steps) {
        (Ok(canonical), Ok(steps)) => {
            assert_eq!(steps.last().map_or(url, |step| &step.after), canonical, "{}", context());
            assert_eq!(&library.normalize(canonical), &answer, "{}", context());
        }
        (Err((code, at)), Err(reject)) => {
            assert_eq!((*code, *at), (reject.code.name(), reject.at), "{}", context());
        }
        (answer, steps) => panic!("{}: {answer:?}, explained as {steps:?}", context()),
    }
}
