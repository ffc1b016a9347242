//! The library under the profiles of single systems, and their oracles with the same choices.

use std::collections::BTreeSet;

use super::draw;
use crate::cases::for_each_case;
use crate::generator::Rng;
use crate::oracle::system::{Answer, System};
use crate::tsv::{SYSTEMS, escape};
use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile, Reject, RejectReason, Ring, Switch};

pub fn library(system: &System, backend: Backend) -> Normalizer {
    let mut normalizer = Normalizer::new(system.profile.parse::<Profile>().unwrap())
        .with_backend(backend)
        .with_allowed(system.allowed.iter().map(|name| name.parse::<RejectReason>().unwrap()))
        .and_then(|normalizer| {
            let denied = system.denied.iter().map(|name| name.parse::<RejectReason>().unwrap());
            normalizer.with_denied(denied)
        })
        .unwrap();
    if system.keep_empty_segments {
        normalizer = normalizer.with_switches([Switch::KeepEmptySegments]).unwrap();
    }
    if system.profile == "ring" {
        let ring = Ring::new(&system.ring.0, &system.ring.1).unwrap();
        normalizer = normalizer.with_ring(ring).unwrap();
    }
    normalizer
}

pub fn trouble(reject: Reject) -> (BTreeSet<&'static str>, usize) {
    assert!(reject.codes.contains(reject.code));
    assert_eq!(reject.in_order().next(), Some(reject.code));
    (reject.in_order().map(RejectReason::name).collect(), reject.at)
}

pub fn ask(call: impl FnOnce(&mut Vec<u8>) -> Result<(), Reject>) -> Answer {
    super::outcome(call).map_err(trouble)
}

pub fn show(answer: &Answer) -> String {
    match answer {
        Ok(url) => escape(url),
        Err(trouble) => format!("{trouble:?}"),
    }
}

#[track_caller]
pub fn assert_same(what: &str, system: &System, url: &[u8], got: &Answer, expected: &Answer) {
    assert!(
        got == expected,
        "{what} under {system:?}\n   url {}\n   got {}\nwanted {}",
        escape(url),
        show(got),
        show(expected)
    );
}

pub fn for_each_system(share: u64, mut test: impl FnMut(&mut Rng, &System)) {
    for profile in SYSTEMS {
        for_each_case(share, |rng| {
            let system = draw::system(rng, profile);
            test(rng, &system);
        });
    }
}
