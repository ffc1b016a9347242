//! The library as used by the tests: one profile on one backend.

pub mod draw;
pub mod systems;

use crate::tsv::{Row, escape};
use uniqurl::internal::{Backend, Scratch, Span};
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

    /// The library with the base and the assumed scheme of a row.
    pub fn for_row(mut self, row: &Row) -> Library {
        if let Some(base) = &row.base {
            self = self.with_base(base);
        }
        if let Some(scheme) = &row.assume {
            self = self.with_assumed_scheme(scheme);
        }
        self
    }

    pub fn normalize(&self, url: &[u8]) -> Answer {
        answer(outcome(|out| self.0.append(url, out)))
    }

    pub fn normalize_target(&self, target: &[u8]) -> Answer {
        answer(outcome(|out| self.0.for_targets().append(target, out)))
    }

    /// The name for messages.
    pub fn name(&self) -> String {
        format!("{} on {}", self.0.profile().name(), self.0.backend().name())
    }
}

/// A canonical URL, or a rejection with all that it says.
pub type Outcome = Result<Vec<u8>, Reject>;

/// Output is appended, so it starts with bytes that must survive.
pub fn outcome(call: impl FnOnce(&mut Vec<u8>) -> Result<(), Reject>) -> Outcome {
    let before = b"\xFFbefore";
    let mut out = before.to_vec();
    let outcome = call(&mut out);
    assert!(out.starts_with(before), "what stood in the output was changed");
    let appended = out.split_off(before.len());
    assert!(outcome.is_ok() || appended.is_empty(), "a rejection appended {appended:?}");
    outcome.map(|()| appended)
}

pub fn answer(outcome: Outcome) -> Answer {
    outcome.map_err(|reject| (reject.code.name(), reject.at))
}

/// The outcome of each URL in one call.
pub fn in_bulk(normalizer: &Normalizer, urls: &[Vec<u8>]) -> Vec<Outcome> {
    let (mut bytes, mut spans) = (Vec::new(), Vec::new());
    for url in urls {
        let start = bytes.len() as u32;
        bytes.extend_from_slice(url);
        spans.push(Span { start, end: bytes.len() as u32 });
    }
    let mut outcomes = Vec::new();
    normalizer.for_each(&bytes, &spans, &mut Scratch::default(), |i, url| {
        assert_eq!(i, outcomes.len(), "URLs are visited in order");
        outcomes.push(url.map(|url| url.as_bytes().to_vec()));
    });
    assert_eq!(outcomes.len(), urls.len());
    outcomes
}

/// The canonical URL, or `!code@offset`.
pub fn told(normalizer: &Normalizer, url: &str) -> String {
    match answer(outcome(|out| normalizer.append(url.as_bytes(), out))) {
        Ok(url) => escape(&url),
        Err((code, at)) => format!("!{code}@{at}"),
    }
}
