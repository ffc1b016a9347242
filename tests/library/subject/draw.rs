//! Random options, for the library and its oracles alike.

use crate::generator::Rng;
use crate::generator::habits::GLOBS;
use crate::oracle::policy::{Policy, SWITCHES};
use crate::oracle::system::System;
use uniqurl::{Profile, RejectReason};

/// Switches and lists on top of a rung.
pub fn habits(rng: &mut Rng, profile: &'static str) -> Policy {
    let mut policy = Policy::new(profile);
    for switch in SWITCHES {
        match rng.below(4) {
            0 => _ = policy.switches.insert(switch),
            1 => _ = policy.switches.remove(switch),
            _ => {}
        }
    }
    for list in [&mut policy.drop, &mut policy.keep] {
        if rng.one_in(3) {
            list.extend((0..=rng.below(3)).map(|_| String::from(rng.pick(GLOBS))));
        }
    }
    policy
}

/// The profile of one system with its options.
pub fn system(rng: &mut Rng, profile: &'static str) -> System {
    let mut system = System::new(profile);
    let of = profile.parse::<Profile>().unwrap();
    let checks: Vec<_> = of.checks().iter().map(RejectReason::name).collect();
    match rng.below(4) {
        0 => system.allowed = checks.into_iter().collect(),
        1 => system.allowed = checks.into_iter().filter(|_| rng.one_in(2)).collect(),
        _ => {}
    }
    if rng.one_in(3) {
        let off = of.checks_off();
        let denied = off.iter().filter(|_| rng.one_in(2)).map(RejectReason::name);
        system.denied = denied.filter(|name| !system.allowed.contains(name)).collect();
    }
    system.keep_empty_segments = profile == "servlet" && rng.one_in(3);
    if profile == "ring" {
        for &byte in b":/[]@!$&'()*+,;=" {
            match rng.below(3) {
                0 => system.ring.0.push(byte),
                1 => system.ring.1.push(byte),
                _ => {}
            }
        }
    }
    system
}
