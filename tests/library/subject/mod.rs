//! The library as the tests ask it: one profile on one backend.

use uniqurl::bytes::Span;
use uniqurl::{Backend, Normalizer, Outcome, Profile};
use uniqurl_formats::record::{BufferId, Context, Extracted, Format, Records};

/// What `oracle::Answer` is, named here too so that a test can use this module without the oracle.
pub type Answer = Result<Vec<u8>, (&'static str, usize)>;

/// The library under one profile, on one backend.
pub struct Library(pub Normalizer);

/// The library under this profile, once for each backend of this CPU.
pub fn on_every_backend(profile: &str) -> Vec<Library> {
    let profile = Profile::named(profile).unwrap_or_else(|| panic!("no profile {profile:?}"));
    let backends = Backend::available();
    assert!(backends.contains(&Backend::Scalar), "scalar runs everywhere");
    let with = |backend| Library(Normalizer::new(profile).with_backend(backend));
    backends.into_iter().map(with).collect()
}

/// The library under this profile, on the backend that is taken when none is asked for.
pub fn on_best_backend(profile: &str) -> Library {
    Library(Normalizer::new(Profile::named(profile).unwrap()))
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
        answer(|out| self.0.normalize(url, out))
    }

    pub fn normalize_target(&self, target: &[u8]) -> Answer {
        answer(|out| self.0.normalize_target(target, out))
    }

    /// As a line of the format `target`, joined to the base if there is one.
    pub fn read_target(&self, target: &[u8]) -> Answer {
        match held(&self.0, target) {
            Held::Rejected(code, at) => Err((code, at)),
            Held::Target(target) => self.normalize_target(&target),
            Held::Url { url, prefix } => {
                self.normalize(&url).map_err(|(code, at)| (code, at.saturating_sub(prefix)))
            }
        }
    }

    /// For messages.
    pub fn name(&self) -> String {
        format!("{} on {}", self.0.profile().name(), self.0.backend().name())
    }
}

/// What a line of the format `target` holds.
pub enum Held {
    Rejected(&'static str, usize),
    /// A URL, of which so many bytes do not stand in the line.
    Url {
        url: Vec<u8>,
        prefix: usize,
    },
    Target(Vec<u8>),
}

/// Reads one line of the format `target` for a normalizer and its base.
pub fn held(normalizer: &Normalizer, target: &[u8]) -> Held {
    let (base, targets) = (normalizer.origin(), normalizer.targets());
    let context = Context { base, targets, ..Context::default() };
    let mut records = Records::default();
    let format = Format::parse("target").unwrap();
    format.read(&context, &[target, b"\n"].concat(), &mut records);
    let [record] = records.records[..] else { panic!("one line is one record") };
    let bytes = |place, span: Span| match place {
        BufferId::Chunk => span.of(target).to_vec(),
        BufferId::Scratch => span.of(&records.scratch).to_vec(),
    };
    match record.found {
        Extracted::Reject(code, at) => Held::Rejected(code.name(), at as usize),
        Extracted::Url(place, span) => Held::Url { url: bytes(place, span), prefix: 0 },
        Extracted::Target(place, span) => Held::Target(bytes(place, span)),
        Extracted::Joined { url, prefix } => {
            Held::Url { url: bytes(BufferId::Scratch, url), prefix: prefix as usize }
        }
        Extracted::Blank | Extracted::Skipped | Extracted::Filtered => {
            panic!("{target:?} is no target")
        }
    }
}

/// What a file of targets can hold in one record that says something.
pub fn is_a_line(target: &[u8]) -> bool {
    target.iter().any(|&byte| byte > 0x20)
        && target.last() != Some(&b'\r')
        && !target.contains(&b'\n')
}

/// The output is appended, so it starts with bytes that must survive.
fn answer(call: impl FnOnce(&mut Vec<u8>) -> Outcome) -> Answer {
    let before = b"\xFFbefore";
    let mut out = before.to_vec();
    let outcome = call(&mut out);
    assert!(out.starts_with(before), "what stood in the output was changed");
    let appended = out.split_off(before.len());
    match outcome {
        Outcome::Canonical => Ok(appended),
        Outcome::Reject(reject) => {
            assert!(appended.is_empty(), "a rejection appended {appended:?}");
            Err((reject.code.name(), reject.at))
        }
    }
}
