//! The laws that the ladder keeps, on the library.

use crate::cases::{self, for_each_case};
use crate::generator::{self, Rng, Temper};
use crate::law::{self, Subject};
use crate::oracle::Answer;
use crate::strategy::url_of_words;
use crate::subject::{Library, answer, in_bulk, on_best_backend, on_every_backend};
use crate::tsv::{LADDER, escape, show};
use crate::variant;
use proptest::prelude::*;
use uniqurl::Batch;

impl Subject for Library {
    fn profile(&self) -> &'static str {
        self.0.profile().name()
    }

    fn normalize(&self, url: &[u8]) -> Answer {
        Library::normalize(self, url)
    }

    fn normalize_target(&self, target: &[u8]) -> Answer {
        Library::normalize_target(self, target)
    }
}

#[test]
fn normalization_laws_hold_for_generated_urls() {
    for profile in LADDER {
        for library in on_every_backend(profile) {
            for_each_case(2, |rng| {
                let url = generator::any(rng);
                law::all_for_url(rng, &library, &url);
            });
        }
    }
}

#[test]
fn normalization_laws_hold_for_generated_targets() {
    for profile in LADDER {
        let library = on_best_backend(profile);
        for_each_case(2, |rng| {
            let target = generator::target(rng, Temper::Wild);
            law::all_for_target(&library, &target);
        });
    }
}

#[test]
fn coarser_profiles_never_split_equal_urls() {
    for rungs in LADDER.windows(2) {
        let [fine, coarse] = [rungs[0], rungs[1]].map(on_best_backend);
        for_each_case(2, |rng| {
            let url = generator::any(rng);
            law::coarser_never_splits(&fine, &coarse, &url);
        });
    }
}

#[test]
fn chains_of_equivalent_spellings_have_one_canonical_form() {
    for profile in ["syntax", "scheme", "crawl"] {
        let library = on_best_backend(profile);
        for_each_case(4, |rng| {
            let url = generator::url(rng, Temper::Tame);
            let Ok(canonical) = library.normalize(&url) else { return };
            let mut spelling = url.clone();
            let mut rules = Vec::new();
            for _ in 0..12 {
                if let Some((rule, next)) = variant::respell(rng, &spelling, profile) {
                    rules.push(rule);
                    spelling = next;
                }
            }
            let got = library.normalize(&spelling);
            assert!(
                got.as_ref() == Ok(&canonical),
                "a merge is missed under {profile}\n   url {}\n       {}\n    as {}\n       {}\n    by {rules:?}",
                escape(&url),
                escape(&canonical),
                escape(&spelling),
                show(&got)
            );
        });
    }
}

/// `normalize_batch` and `for_each` give each URL the result that `normalize` gives it alone.
fn assert_batch_is_one_by_one(library: &Library, urls: &[Vec<u8>], batch: &mut Batch) {
    let values = urls.concat();
    let mut offsets = vec![0];
    for url in urls {
        offsets.push(offsets.last().unwrap() + u32::try_from(url.len()).unwrap());
    }
    library.0.normalize_batch(&values, &offsets, batch).unwrap();
    assert_eq!(batch.outcomes.len(), urls.len());
    assert_eq!(batch.offsets.len(), urls.len() + 1);
    assert_eq!(*batch.offsets.last().unwrap() as usize, batch.values.len());
    let visited: Vec<Answer> = in_bulk(&library.0, urls).into_iter().map(answer).collect();
    for (i, url) in urls.iter().enumerate() {
        let got = match batch.outcomes[i] {
            Ok(()) => Ok(batch.value(i).to_vec()),
            Err(reject) => {
                assert!(batch.value(i).is_empty(), "a rejected URL has an empty value");
                Err((reject.code.name(), reject.at))
            }
        };
        let alone = library.normalize(url);
        assert!(
            got == alone && visited[i] == alone,
            "{}: URL {i} of {} in a batch\n  url {}\nbatch {}\n each {}\nalone {}",
            library.name(),
            urls.len(),
            escape(url),
            show(&got),
            show(&visited[i]),
            show(&alone)
        );
    }
}

#[test]
fn bulk_results_agree_with_single_calls() {
    for profile in LADDER {
        for library in on_every_backend(profile) {
            let mut batch = Batch::default();
            for_each_case(25, |rng| {
                let count = rng.below(140);
                // Mostly clean URLs, as in practice, so that runs of clean ones end anywhere.
                let tame = rng.one_in(2);
                let urls: Vec<Vec<u8>> = (0..count)
                    .map(|_| {
                        if tame && !rng.one_in(8) {
                            let url = generator::url(rng, Temper::Tame);
                            library.normalize(&url).unwrap_or(url)
                        } else {
                            generator::any(rng)
                        }
                    })
                    .collect();
                assert_batch_is_one_by_one(&library, &urls, &mut batch);
            });
        }
    }
}

#[test]
fn surrounding_bytes_do_not_change_the_clean_check() {
    // A scanner reads whole registers: bytes before and after the URL must not count.
    for profile in LADDER {
        for library in on_every_backend(profile) {
            for_each_case(6, |rng| {
                let tame = generator::url(rng, Temper::Tame);
                let url = library.normalize(&tame).unwrap_or(tame);
                let alone = library.0.is_clean(&url);
                for surrounding in [0, b'%', b'/', b'.', b'A', 0xFF, b'\n'] {
                    let (before, after) = (rng.below(70), rng.below(70));
                    let mut buffer = vec![surrounding; before];
                    buffer.extend_from_slice(&url);
                    buffer.resize(buffer.len() + after, surrounding);
                    let inside = library.0.is_clean(&buffer[before..before + url.len()]);
                    assert_eq!(inside, alone, "{}: {}", library.name(), escape(&url));
                }
            });
        }
    }
}

proptest! {
    #![proptest_config(cases::of_properties())]

    #[test]
    fn normalization_laws_hold_for_joined_words(url in url_of_words(), seed in any::<u64>()) {
        for profile in LADDER {
            let library = on_best_backend(profile);
            law::all_for_url(&mut Rng::new(seed), &library, &url);
        }
    }

    #[test]
    fn coarser_profiles_never_split_joined_words(url in url_of_words()) {
        for rungs in LADDER.windows(2) {
            let [fine, coarse] =
                [rungs[0], rungs[1]].map(on_best_backend);
            law::coarser_never_splits(&fine, &coarse, &url);
        }
    }
}
