//! The library agrees with the second normalizers of the tests, which share no code with it. The first
//! byte chooses the profile, and a base, a scheme or switches.
#![no_main]

use std::collections::BTreeSet;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use uniqurl::{Normalizer, Profile, Reject, Switch};
use uniqurl_test_support::browser;
use uniqurl_test_support::oracle::policy::{Policy, SWITCHES};
use uniqurl_test_support::oracle::{self, Oracle, system::System};

/// All but `ia`, which has no second normalizer.
const PROFILES: [&str; Profile::ALL.len() - 1] = [
    "string",
    "syntax",
    "scheme",
    "crawl",
    "sanitize",
    "servlet",
    "mediawiki",
    "restbase",
    "upload",
    "ring",
    "aggressive",
    "whatwg",
];
const BASES: [&str; 3] = ["http://a/b/c/d;p?q", "HTTPS://H:0443/./b/../c", "ws://[::1]/"];
const SCHEMES: [&str; 2] = ["http", "x"];

enum Second {
    Ladder(Oracle),
    Habits(Policy),
    System(System),
    Browser(Option<browser::Url>),
}

static SUBJECTS: LazyLock<Vec<(Normalizer, Second)>> =
    LazyLock::new(|| (0..=255).map(subject).collect());

/// The library, and its second implementation.
fn subject(choice: usize) -> (Normalizer, Second) {
    let name = PROFILES[choice % PROFILES.len()];
    let mut library = Normalizer::new(name.parse::<Profile>().expect("a profile"));
    let variant = choice / PROFILES.len();
    let base = BASES.get(variant.wrapping_sub(1)).filter(|_| name != "string");
    let scheme = SCHEMES.get(variant.wrapping_sub(1 + BASES.len())).filter(|_| name != "string");
    let mut second = match name {
        "string" | "syntax" | "scheme" | "crawl" => Second::Ladder(Oracle::new(name)),
        "aggressive" => Second::Habits(Policy::new(name)),
        "whatwg" => Second::Browser(None),
        name => Second::System(System::new(name)),
    };
    match &mut second {
        Second::Ladder(oracle) => {
            if let Some(base) = base {
                *oracle = Oracle::new(name).with_base(base.as_bytes());
            }
            if let Some(scheme) = scheme {
                *oracle = Oracle::new(name).with_assumed_scheme(scheme.as_bytes());
            }
        }
        Second::System(system) => {
            if variant % 2 == 1 {
                let off = library.profile().checks_off();
                system.denied = off.iter().map(|code| code.name()).collect();
                library = library.with_denied(off.iter()).expect("its own checks");
            }
            system.base = base.map(|base| (*base).into());
            system.assume_scheme = scheme.map(|scheme| (*scheme).into());
        }
        Second::Browser(steps) => {
            let parse = |base: &&str| browser::Url::parse(base.as_bytes(), None).expect("a URL");
            *steps = base.map(parse);
        }
        Second::Habits(policy) => {
            for (i, switch) in SWITCHES.into_iter().enumerate() {
                let known = [switch.parse::<Switch>().expect("a switch")];
                library = match ((variant * 0x9E37) >> i) & 1 {
                    1 if policy.switches.insert(switch) => library.with_switches(known),
                    0 if variant > 0 && policy.switches.remove(switch) => {
                        library.without_switches(known)
                    }
                    _ => continue,
                }
                .expect("it has switches");
            }
            return (library, second);
        }
    }
    if let Some(base) = base {
        library = library.with_base(base.as_bytes()).expect("it is absolute");
    }
    if let (Some(scheme), false) = (scheme, name == "whatwg") {
        library = library.with_assumed_scheme(scheme.as_bytes()).expect("a scheme");
    }
    (library, second)
}

/// The canonical form, or all codes and the start of the first trouble, if it is known.
type Answer = Result<Vec<u8>, (BTreeSet<&'static str>, Option<usize>)>;

fn library(normalize: impl Fn(&mut Vec<u8>) -> Result<(), Reject>, knows_places: bool) -> Answer {
    let mut out = Vec::new();
    match normalize(&mut out) {
        Ok(()) => Ok(out),
        Err(reject) => {
            let codes = reject.codes.iter().map(|code| code.name()).collect();
            Err((codes, knows_places.then_some(reject.at)))
        }
    }
}

fn one(answer: oracle::Answer) -> Answer {
    answer.map_err(|(code, at)| (BTreeSet::from([code]), Some(at)))
}

fn all(answer: oracle::system::Answer) -> Answer {
    answer.map_err(|(codes, at)| (codes, Some(at)))
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, url)) = data.split_first() else { return };
    let (normalizer, second) = &SUBJECTS[usize::from(choice)];
    let (of_url, of_target) = match second {
        Second::Ladder(oracle) => {
            (one(oracle.normalize(url)), Some(one(oracle.normalize_target(url))))
        }
        Second::Habits(policy) => {
            (one(policy.normalize(url)), Some(one(policy.normalize_target(url))))
        }
        Second::System(system) => {
            (all(system.normalize(url)), Some(all(system.normalize_target(url))))
        }
        Second::Browser(base) => match browser::Url::parse(url, base.as_ref()) {
            Ok(url) => (Ok(url.serialize().into_bytes()), None),
            Err(code) => (Err((BTreeSet::from([code]), None)), None),
        },
    };
    let knows_places = !matches!(second, Second::Browser(_));
    let name = normalizer.profile().name();
    assert_eq!(library(|out| normalizer.append(url, out), knows_places), of_url, "{name}");
    if let Some(of_target) = of_target {
        let found = library(|out| normalizer.for_targets().append(url, out), true);
        assert_eq!(found, of_target, "{name}: target");
    }
});
