//! The library as used by the tests: one profile on one backend.

pub mod systems;

use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile, Reject};

/// The same as `oracle::Answer`, named here too so that a test can use this module without the
/// oracle.
pub type Answer = Result<Vec<u8>, (&'static str, usize)>;

/// The library under one profile, on one backend.
pub struct Library(pub Normalizer);

/// The library under this profile, once for each backend of this CPU.
pub fn on_every_backend(profile: &str) -> Vec<Library> {
    let profile = profile.parse::<Profile>().unwrap_or_else(|_| panic!("no profile {profile:?}"));
    let backends = Backend::available();
    assert!(backends.contains(&Backend::Scalar), "scalar runs everywhere");
    let with = |backend| Library(Normalizer::new(profile).with_backend(backend));
    backends.into_iter().map(with).collect()
}

/// The library under this profile, on the default backend.
pub fn on_best_backend(profile: &str) -> Library {
    Library(Normalizer::new(profile.parse::<Profile>().unwrap()))
}

impl Library {
    pub fn with_base(self, base: &[u8]) -> Library {
        Library(self.0.with_base(base).unwrap_or_else(|reject| panic!("base {base:?}: {reject}")))
    }

    pub fn with_assumed_scheme(self, scheme: &[u8]) -> Library {
        let with = self.0.with_assumed_scheme(scheme);
        Library(with.unwrap_or_else(|reject| panic!("scheme {scheme:?}: {reject}")))
    }

    pub fn normalize(&self, url: &[u8]) -> Answer {
        answer(|out| self.0.append(url, out))
    }

    pub fn normalize_target(&self, target: &[u8]) -> Answer {
        answer(|out| self.0.for_targets().append(target, out))
    }

    /// The name for messages.
    pub fn name(&self) -> String {
        format!("{} on {}", self.0.profile().name(), self.0.backend().name())
    }
}

/// Output is appended, so it starts with bytes that must survive.
fn answer(call: impl FnOnce(&mut Vec<u8>) -> Result<(), Reject>) -> Answer {
    let before = b"\xFFbefore";
    let mut out = before.to_vec();
    let outcome = call(&mut out);
    assert!(out.starts_with(before), "what stood in the output was changed");
    let appended = out.split_off(before.len());
    match outcome {
        Ok(()) => Ok(appended),
        Err(reject) => {
            assert!(appended.is_empty(), "a rejection appended {appended:?}");
            Err((reject.code.name(), reject.at))
        }
    }
}
