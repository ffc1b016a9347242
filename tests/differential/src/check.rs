//! One profile over one block: every backend, the second implementations, the laws.
//!
//! A failed check panics with a message that describes it.

use uniqurl::internal::Scratch;
use uniqurl::{Normalizer, Reject, RejectReason};

use crate::case::{Block, Way};
use crate::generator::Rng;
use crate::law::{self, Subject};
use crate::oracle::{Answer, Oracle};
use crate::second::breaks_bidi_rule;
use crate::setting::{Second, Setting};
use crate::tally::{Law, Tally};
use crate::tsv::escape;

/// The scalar backend's answer for each URL of a block.
#[derive(Default)]
struct Answers {
    outcomes: Vec<Result<(), Reject>>,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Answers {
    fn of(setting: &Setting, block: &Block) -> Answers {
        let mut answers = Answers::default();
        for url in block.urls() {
            let outcome = ask(&setting.libraries[0], block.way, url, &mut answers.bytes);
            answers.outcomes.push(outcome);
            answers.ends.push(answers.bytes.len());
        }
        answers
    }

    fn accepted(&self) -> usize {
        self.outcomes.iter().filter(|outcome| **outcome == Ok(())).count()
    }

    fn bytes(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }

    fn show(&self, i: usize) -> String {
        show(&self.outcomes[i], self.bytes(i))
    }
}

fn ask(library: &Normalizer, way: Way, url: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
    match way {
        Way::Url => library.append(url, out),
        Way::Target => library.for_targets().append(url, out),
    }
}

fn show(outcome: &Result<(), Reject>, out: &[u8]) -> String {
    match outcome {
        Ok(()) => escape(out),
        Err(reject) => {
            let codes: Vec<&str> = reject.codes.iter().map(|code| code.name()).collect();
            format!("!{}@{} of {}", reject.code.name(), reject.at, codes.join(","))
        }
    }
}

/// Checks that every backend gives what the exact path gives, alone and in bulk.
pub fn backends(setting: &Setting, block: &Block, tally: &mut Tally) {
    let answers = Answers::of(setting, block);
    backends_give(setting, block, &answers, tally);
    explanations_agree(setting, block, &answers, tally);
    tally.executed(setting.profile, block.spans.len(), answers.accepted());
}

fn backends_give(setting: &Setting, block: &Block, answers: &Answers, tally: &mut Tally) {
    backends_agree(setting, block, answers);
    tally.count(Law::Backends, setting.libraries.len() * block.spans.len());
    if block.way == Way::Url {
        bulk_agrees(setting, block, answers);
        tally.count(Law::Bulk, setting.libraries.len() * block.spans.len());
    }
}

/// Checks everything that must hold for these URLs under this setting.
pub fn check(setting: &Setting, block: &Block, tally: &mut Tally) {
    let answers = Answers::of(setting, block);
    backends_give(setting, block, &answers, tally);
    for (i, url) in block.urls().enumerate() {
        second_agrees(setting, block.way, url, &answers, i, tally);
    }
    explanations_agree(setting, block, &answers, tally);
    laws(setting, block, &answers, tally);
    tally.executed(setting.profile, block.spans.len(), answers.accepted());
}

fn backends_agree(setting: &Setting, block: &Block, answers: &Answers) {
    let mut out = Vec::new();
    for library in &setting.libraries[1..] {
        for (i, url) in block.urls().enumerate() {
            out.clear();
            let outcome = ask(library, block.way, url, &mut out);
            if outcome != answers.outcomes[i] || out != answers.bytes(i) {
                panic!(
                    "{} differs from scalar: {}, not {}",
                    library.backend().name(),
                    show(&outcome, &out),
                    answers.show(i)
                );
            }
        }
    }
}

fn bulk_agrees(setting: &Setting, block: &Block, answers: &Answers) {
    let mut scratch = Scratch::default();
    for library in &setting.libraries {
        let mut next = 0;
        library.for_each(&block.bytes, &block.spans, &mut scratch, |i, url| {
            assert_eq!(i, next, "URLs come in order");
            next += 1;
            let same = match (&url, &answers.outcomes[i]) {
                (Ok(url), Ok(())) => url.as_bytes() == answers.bytes(i),
                (Err(reject), Err(alone)) => reject == alone,
                _ => false,
            };
            if !same {
                let got = match &url {
                    Ok(url) => show(&Ok(()), url.as_bytes()),
                    Err(reject) => show(&Err(*reject), b""),
                };
                let name = library.backend().name();
                panic!("{name} in bulk differs from scalar alone: {got}, not {}", answers.show(i));
            }
        });
        assert_eq!(next, block.spans.len(), "every URL comes");
    }
}

fn second_agrees(
    setting: &Setting,
    way: Way,
    url: &[u8],
    answers: &Answers,
    i: usize,
    tally: &mut Tally,
) {
    let (outcome, out) = (&answers.outcomes[i], answers.bytes(i));
    let Some(opinion) = setting.second.opinion(way, url) else { return };
    tally.count(Law::Second, 1);
    if !opinion.is(outcome, out) {
        panic!("scalar differs from the oracle: {}, not {opinion:?}", answers.show(i));
    }
    if let (Second::System(system), "servlet", Way::Url, Ok(())) =
        (&setting.second, setting.profile, way, outcome)
        && system.base.is_none()
        && system.assume_scheme.is_none()
    {
        let mut decoded = Vec::new();
        let told = setting.libraries[0].decoded(url, &mut decoded);
        assert!(told == Ok(()) && decoded == system.decoded(url), "decoded");
    }
    if let Some(theirs) = setting.second.ada(way, url) {
        let ours = (*outcome == Ok(())).then_some(out);
        let is_known = || match (ours, &theirs) {
            (Some(ours), None) => Second::ada_is_older(url, ours),
            (None, Some(theirs)) => is_idna(outcome) && breaks_bidi_rule(theirs),
            _ => false,
        };
        if ours != theirs.as_deref() && !is_known() {
            let theirs = theirs.map_or("a failure".to_owned(), |url| escape(&url));
            panic!("scalar differs from ada: {}, not {theirs}", answers.show(i));
        }
        tally.count(Law::Ada, 1);
    }
}

fn is_idna(outcome: &Result<(), Reject>) -> bool {
    matches!(outcome, Err(reject) if reject.code == RejectReason::Idna)
}

fn laws(setting: &Setting, block: &Block, answers: &Answers, tally: &mut Tally) {
    // All backends agree by now, so only the fastest is used.
    let library = setting.fastest();
    let subject = Asked(library);
    // `ia` joins what differs, and its output is not always a URI.
    let is_rung = matches!(setting.second, Second::Ladder(_)) && setting.profile != "ia";
    let ladder = is_rung && setting.plain;
    let mut rng = Rng::new(block.seed);
    let mut out = Vec::new();
    for (i, url) in block.urls().enumerate() {
        if let Err(reject) = &answers.outcomes[i] {
            assert!(reject.at <= url.len(), "an offset lies in the URL: {}", reject.at);
            continue;
        }
        let canonical = answers.bytes(i);
        match (ladder, block.way) {
            (true, Way::Url) => {
                law::all_for_url(&mut rng, &subject, url);
                if setting.profile != "string" {
                    tally.count(Law::Structure, 1);
                    tally.count(Law::Grammar, 1);
                    tally.count(Law::Apart, 1);
                    tally.count(Law::Respelled, 1);
                }
            }
            (true, Way::Target) => law::all_for_target(&subject, url),
            (false, way) => {
                out.clear();
                let outcome = ask(library, way, canonical, &mut out);
                let fixed = outcome == Ok(()) && out == canonical;
                assert!(fixed, "{} becomes {}", escape(canonical), show(&outcome, &out));
                if setting.profile == "aggressive" && way == Way::Url {
                    let grammar = Oracle::new("syntax").normalize(canonical);
                    assert!(grammar.is_ok(), "appendix A: {}", escape(canonical));
                    tally.count(Law::Grammar, 1);
                }
            }
        }
        tally.count(Law::Idempotent, 1);
        if setting.profile != "string" {
            let space = setting.profile == "whatwg";
            let prints = |byte: &u8| (0x21..=0x7E).contains(byte) || space && *byte == b' ';
            assert!(canonical.iter().all(prints), "output bytes: {}", escape(canonical));
            tally.count(Law::Bytes, 1);
        }
        if setting.plain {
            let bound = 5 * url.len() + 2;
            assert!(canonical.len() <= bound, "length {} above {bound}", canonical.len());
            tally.count(Law::Length, 1);
        }
    }
}

/// The exact path explains, so this compares it with proofs and rewriting by masks.
fn explanations_agree(setting: &Setting, block: &Block, answers: &Answers, tally: &mut Tally) {
    let library = setting.fastest();
    for (i, url) in block.urls().enumerate() {
        let explained = match block.way {
            Way::Url => library.explain(url),
            Way::Target => library.for_targets().explain(url),
        };
        let steps = match (explained, &answers.outcomes[i]) {
            (Ok(steps), Ok(())) => steps,
            (Err(told), Err(reject)) => {
                assert_eq!(told, *reject, "the explanation's rejection");
                continue;
            }
            (told, _) => panic!("explained as {told:?}"),
        };
        let mut at = url;
        for step in &steps {
            assert!(step.before == at && step.after != at, "explained as {steps:?}");
            at = &step.after;
        }
        assert!(at == answers.bytes(i), "explained as {steps:?}");
    }
    tally.count(Law::Explained, block.spans.len());
}

/// No rung separates URLs that a finer rung joins. The settings are the plain ones of two rungs.
pub fn coarser_never_splits(fine: &Setting, coarse: &Setting, block: &Block, tally: &mut Tally) {
    if block.way == Way::Target {
        return;
    }
    for url in block.urls() {
        law::coarser_never_splits(&Asked(fine.fastest()), &Asked(coarse.fastest()), url);
        tally.count(Law::NeverSplits, 1);
    }
}

/// The library as the subject of the laws.
struct Asked<'a>(&'a Normalizer);

impl Asked<'_> {
    fn ask(&self, way: Way, url: &[u8]) -> Answer {
        let mut out = Vec::with_capacity(url.len() + 16);
        match ask(self.0, way, url, &mut out) {
            Ok(()) => Ok(out),
            Err(reject) => Err((reject.code.name(), reject.at)),
        }
    }
}

impl Subject for Asked<'_> {
    fn profile(&self) -> &'static str {
        self.0.profile().name()
    }

    fn normalize(&self, url: &[u8]) -> Answer {
        self.ask(Way::Url, url)
    }

    fn normalize_target(&self, target: &[u8]) -> Answer {
        self.ask(Way::Target, target)
    }
}
