//! The library agrees with the second normalizers of the tests, which share no code with it. The first
//! byte chooses the profile.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/library/oracle/mod.rs"]
mod oracle;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use oracle::{Oracle, system::System};
use uniqurl::{Normalizer, Outcome, Profile};

const LADDER: [&str; 4] = ["string", "syntax", "scheme", "crawl"];
const SYSTEMS: [&str; 5] = ["sanitize", "servlet", "mediawiki", "restbase", "upload"];

static NORMALIZERS: LazyLock<Vec<Normalizer>> = LazyLock::new(|| {
    let named = |name| Normalizer::new(Profile::named(name).expect("a profile"));
    LADDER.into_iter().chain(SYSTEMS).map(named).collect()
});

/// The canonical form, or all codes and where the first trouble starts.
type Answer = Result<Vec<u8>, (BTreeSet<&'static str>, usize)>;

fn library(normalize: impl Fn(&mut Vec<u8>) -> Outcome) -> Answer {
    let mut out = Vec::new();
    match normalize(&mut out) {
        Outcome::Canonical => Ok(out),
        Outcome::Reject(reject) => {
            Err((reject.codes.iter().map(|code| code.name()).collect(), reject.at))
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, url)) = data.split_first() else { return };
    let choice = choice as usize % NORMALIZERS.len();
    let normalizer = &NORMALIZERS[choice];
    let of_url = library(|out| normalizer.normalize(url, out));
    let of_target = library(|out| normalizer.normalize_target(url, out));
    let one = |answer: oracle::Answer| answer.map_err(|(code, at)| (BTreeSet::from([code]), at));
    let expected = match LADDER.get(choice) {
        Some(profile) => {
            let oracle = Oracle::new(profile);
            (one(oracle.normalize(url)), one(oracle.normalize_target(url)))
        }
        None => {
            let system = System::new(SYSTEMS[choice - LADDER.len()]);
            (system.normalize(url), system.normalize_target(url))
        }
    };
    assert_eq!((of_url, of_target), expected, "{}", normalizer.profile().name());
});
