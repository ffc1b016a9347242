//! The oracle keeps the laws, which qualifies it to judge the library.

use crate::cases::cases;
use crate::generator::{self, Rng};
use crate::law;
use crate::oracle::Oracle;
use crate::tsv;

#[test]
fn oracle_keeps_the_laws_on_urls() {
    for profile in tsv::LADDER {
        let subject = Oracle::new(profile);
        for case in 0..cases() {
            let rng = &mut Rng::new(case);
            let url = generator::any(rng);
            law::all_for_url(rng, &subject, &url);
        }
    }
}

#[test]
fn oracle_keeps_the_laws_on_targets() {
    for profile in tsv::LADDER {
        let subject = Oracle::new(profile);
        for case in 0..cases() {
            let rng = &mut Rng::new(case);
            let target = generator::target(rng, generator::Temper::Wild);
            law::all_for_target(&subject, &target);
        }
    }
}

#[test]
fn coarser_oracle_profiles_never_split_equal_urls() {
    for rungs in tsv::LADDER.windows(2) {
        let (fine, coarse) = (Oracle::new(rungs[0]), Oracle::new(rungs[1]));
        for case in 0..cases() {
            let url = generator::any(&mut Rng::new(case));
            law::coarser_never_splits(&fine, &coarse, &url);
        }
    }
}

#[test]
fn generator_reaches_every_code_and_many_canonical_urls() {
    for (profile, codes) in [
        ("syntax", &["relative", "scheme", "byte", "escape", "host", "port"][..]),
        (
            "scheme",
            &["relative", "scheme", "byte", "escape", "host", "port", "no-authority", "empty-host"],
        ),
        (
            "crawl",
            &[
                "empty",
                "relative",
                "scheme",
                "host",
                "port",
                "no-authority",
                "empty-host",
                "idna",
                "port-range",
            ],
        ),
    ] {
        let subject = Oracle::new(profile);
        let answers: Vec<_> = (0..20_000)
            .map(|case| subject.normalize(&generator::any(&mut Rng::new(case))))
            .collect();
        for code in codes {
            let hits = answers
                .iter()
                .filter(|answer| answer.as_ref().is_err_and(|(got, _)| got == code))
                .count();
            assert!(hits >= 5, "{profile}: {code} came {hits} times");
        }
        let accepted = answers.iter().filter(|answer| answer.is_ok()).count();
        assert!(
            accepted * 3 >= answers.len(),
            "{profile}: only {accepted} of {} are accepted",
            answers.len()
        );
    }
}
