//! A profile with its options: the library on every backend, and the second opinions.

use std::collections::BTreeSet;
use std::fmt::Write;

use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile, RejectReason, Ring, Switch};

use crate::browser;
use crate::drawn;
use crate::generator::browser::BASES;
use crate::generator::{Rng, triplet};
use crate::oracle::Oracle;
use crate::oracle::policy::{Policy, SWITCHES};
use crate::oracle::system::System;

/// The second implementations that give an expected answer. They share no code with the library.
#[derive(Debug)]
pub enum Second {
    /// The ladder, from the text of RFC 3986, and `ia`.
    Ladder(Oracle),
    /// The ladder with switches.
    Habits(Box<Policy>),
    /// The rule of one system.
    System(System),
    /// The URL Standard's steps and the ada parser. Both use the base.
    Browser(Option<(browser::Url, String)>),
}

/// One profile with its options.
pub struct Setting {
    pub profile: &'static str,
    /// The same rules on each backend of this CPU, scalar first.
    pub libraries: Vec<Normalizer>,
    pub second: Second,
    /// How the library was built, as code that follows `Normalizer::new(profile)`.
    pub code: String,
    /// Whether no option that a law depends on is set: a base, a scheme, a switch.
    pub plain: bool,
}

#[rustfmt::skip]
const LADDER_BASES: &[&str] = &[
    "http://a/b/c/d;p?q", "HTTPS://u@H:0443/%7ea/./b/../c?q#f", "http://[::1]/", "x:", "x:a/b", "x:/a//b", "file:///a/b",
    "ftp://h/a/", "http://h/a/..", "x:%2e%2e/b",
];
const SYSTEM_BASES: &[&str] = &["http://H:80/a/b", "x://[::1]", "https://h:8443/c?d", "x://"];
const SCHEMES: &[&str] = &["http", "FTP", "x"];

impl Setting {
    pub fn fastest(&self) -> &Normalizer {
        self.libraries.last().unwrap()
    }
}

/// The setting of a built-in profile without options.
pub fn plain(profile: &'static str) -> Setting {
    let mut building = Building::new(profile);
    building.second = match profile {
        "string" | "syntax" | "scheme" | "crawl" | "ia" => Second::Ladder(Oracle::new(profile)),
        "aggressive" => Second::Habits(Box::new(Policy::new(profile))),
        "whatwg" => Second::Browser(None),
        _ => Second::System(System::new(profile)),
    };
    building.finish(true)
}

/// The profile with random options.
pub fn draw(rng: &mut Rng, profile: &'static str) -> Setting {
    match profile {
        "scheme" | "crawl" if rng.one_in(2) => habits(rng, profile),
        "aggressive" => habits(rng, profile),
        "syntax" | "scheme" | "crawl" | "ia" => ladder(rng, profile),
        "whatwg" => browser(rng),
        "string" => plain(profile),
        _ => system(rng, profile),
    }
}

fn ladder(rng: &mut Rng, profile: &'static str) -> Setting {
    let mut building = Building::new(profile);
    let mut oracle = Oracle::new(profile);
    if rng.one_in(2) {
        let base = rng.pick(LADDER_BASES);
        oracle = oracle.with_base(base.as_bytes());
        building.base(base);
    }
    if rng.one_in(2) {
        let scheme = rng.pick(SCHEMES);
        oracle = oracle.with_assumed_scheme(scheme.as_bytes());
        building.scheme(scheme);
    }
    building.second = Second::Ladder(oracle);
    building.finish(false)
}

fn habits(rng: &mut Rng, profile: &'static str) -> Setting {
    let mut building = Building::new(profile);
    let policy = drawn::habits(rng, profile);
    building.switches(SWITCHES.iter().copied(), |switch| policy.switches.contains(switch));
    if !policy.drop.is_empty() {
        building.made(&format!(".with_dropped_parameters({:?})", policy.drop), |normalizer| {
            normalizer.with_dropped_parameters(&policy.drop).unwrap()
        });
    }
    if !policy.keep.is_empty() {
        building.made(&format!(".with_kept_parameters({:?})", policy.keep), |normalizer| {
            normalizer.with_kept_parameters(&policy.keep).unwrap()
        });
    }
    building.second = Second::Habits(Box::new(policy));
    building.finish(false)
}

fn system(rng: &mut Rng, profile: &'static str) -> Setting {
    let mut building = Building::new(profile);
    let mut system = drawn::system(rng, profile);
    let (allowed, denied) = (listed(&system.allowed), listed(&system.denied));
    building.made(&format!(".with_allowed([{allowed}])"), |normalizer| {
        normalizer.with_allowed(system.allowed.iter().map(known_reason)).unwrap()
    });
    building.made(&format!(".with_denied([{denied}])"), |normalizer| {
        normalizer.with_denied(system.denied.iter().map(known_reason)).unwrap()
    });
    if system.keep_empty_segments {
        building.switches(["keep-empty-segments"].into_iter(), |_| true);
    }
    building.ring(rng, &system.ring.0, &system.ring.1);
    match rng.below(4) {
        0 => {
            let base = rng.pick(SYSTEM_BASES);
            system.base = Some(base.into());
            building.base(base);
        }
        1 => {
            let scheme = rng.pick(SCHEMES);
            system.assume_scheme = Some(scheme.into());
            building.scheme(scheme);
        }
        _ => {}
    }
    building.second = Second::System(system);
    building.finish(false)
}

fn browser(rng: &mut Rng) -> Setting {
    let mut building = Building::new("whatwg");
    let base = rng.pick(BASES);
    building.base(base);
    let steps = browser::Url::parse(base.as_bytes(), None).unwrap();
    building.second = Second::Browser(Some((steps, base.to_owned())));
    building.finish(false)
}

/// A setting while options are added to it.
struct Building {
    profile: &'static str,
    normalizer: Normalizer,
    second: Second,
    code: String,
}

impl Building {
    fn new(profile: &'static str) -> Building {
        Building {
            profile,
            normalizer: Normalizer::new(profile.parse::<Profile>().unwrap()),
            second: Second::Ladder(Oracle::new(profile)),
            code: String::new(),
        }
    }

    fn made(&mut self, code: &str, make: impl FnOnce(Normalizer) -> Normalizer) {
        self.normalizer = make(self.normalizer.clone());
        writeln!(self.code, "        {code}.unwrap()").unwrap();
    }

    fn base(&mut self, base: &str) {
        let code = format!(".with_base(b\"{}\")", base.escape_default());
        self.made(&code, |normalizer| normalizer.with_base(base.as_bytes()).unwrap());
    }

    fn scheme(&mut self, scheme: &str) {
        let code = format!(".with_assumed_scheme(b\"{scheme}\")");
        self.made(&code, |normalizer| normalizer.with_assumed_scheme(scheme.as_bytes()).unwrap());
    }

    fn switches(
        &mut self,
        names: impl Iterator<Item = &'static str>,
        is_on: impl Fn(&'static str) -> bool,
    ) {
        let (on, off): (Vec<_>, Vec<_>) = names.partition(|name| is_on(name));
        let known = |name: &&str| name.parse::<Switch>().unwrap();
        let list = |names: &[&str]| {
            let known = |name: &&str| format!("{name:?}.parse::<Switch>().unwrap()");
            names.iter().map(known).collect::<Vec<_>>().join(", ")
        };
        self.made(&format!(".with_switches([{}])", list(&on)), |normalizer| {
            normalizer.with_switches(on.iter().map(known)).unwrap()
        });
        self.made(&format!(".without_switches([{}])", list(&off)), |normalizer| {
            normalizer.without_switches(off.iter().map(known)).unwrap()
        });
    }

    /// The lists in hexadecimal, in either case, as a user writes them.
    fn ring(&mut self, rng: &mut Rng, decode: &[u8], encode: &[u8]) {
        let mut text = Vec::new();
        for (name, bytes) in [("decode", decode), ("encode", encode)] {
            let digits = bytes.iter().map(|&byte| triplet(rng, byte)[1..].to_vec());
            let digits = digits.collect::<Vec<_>>().join(&b","[..]);
            if !digits.is_empty() {
                text.push(format!("{name}={}", String::from_utf8(digits).unwrap()));
            }
        }
        let text = text.join(" ");
        if !text.is_empty() {
            let code = format!(".with_ring(Ring::parse({text:?}).unwrap())");
            let ring = Ring::parse(&text).unwrap();
            self.made(&code, |normalizer| normalizer.with_ring(ring).unwrap());
        }
    }

    fn finish(self, plain: bool) -> Setting {
        let backends = Backend::available();
        assert_eq!(backends[0], Backend::Scalar, "scalar is the first");
        let on = |backend| self.normalizer.clone().with_backend(backend);
        Setting {
            profile: self.profile,
            libraries: backends.into_iter().map(on).collect(),
            second: self.second,
            code: self.code,
            plain,
        }
    }
}

fn known_reason(name: &&str) -> RejectReason {
    name.parse::<RejectReason>().unwrap()
}

/// The codes as a list of expressions.
fn listed(codes: &BTreeSet<&'static str>) -> String {
    let expression = |name: &&str| format!("{name:?}.parse::<RejectReason>().unwrap()");
    codes.iter().map(expression).collect::<Vec<_>>().join(", ")
}
