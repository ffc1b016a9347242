//! Records the events of the exact path as steps from one whole URL to the next.

use std::ops::Range;

use super::rule::Rule;
use super::step::Step;
use crate::normalize::parts::{AuthorityParts, Parts, split_host};
use crate::normalize::trace::{Place, Trace};

/// The components of a URL, by [`Place`]. Absent and empty are different states.
///
/// There is a host if there is an authority. Without one, a path that starts with `//` stays a path; the
/// text alone could not show that.
#[derive(Debug, Clone, Default)]
struct Draft([Option<Vec<u8>>; 7]);

impl Draft {
    fn new(parts: &Parts<'_>) -> Self {
        let authority = parts.authority.map(AuthorityParts::split);
        // If host and port cannot be split, no profile that parses them accepts the URL.
        let split = |host_port| match split_host(host_port) {
            (host, [b':', port @ ..]) => (host, Some(port)),
            _ => (host_port, None),
        };
        let (host, port) = authority.map(|authority| split(authority.host_port)).unzip();
        let userinfo = authority.and_then(|authority| authority.userinfo);
        let (path, port) = (Some(parts.path), port.flatten());
        let all = [parts.scheme, userinfo, host, port, path, parts.query, parts.fragment];
        Self(all.map(|part| part.map(<[u8]>::to_vec)))
    }

    fn text(&self) -> Vec<u8> {
        let [scheme, userinfo, host, port, path, query, fragment] =
            self.0.each_ref().map(Option::as_deref);
        let slashes = host.map(|_| &b"//"[..]);
        let pieces: [(&[u8], _, &[u8]); 8] = [
            (b"", scheme, b":"),
            (b"", slashes, b""),
            (b"", userinfo, b"@"),
            (b"", host, b""),
            (b":", port, b""),
            (b"", path, b""),
            (b"?", query, b""),
            (b"#", fragment, b""),
        ];
        let there = pieces
            .into_iter()
            .filter_map(|(before, part, after)| Some([before, part?, after].concat()));
        there.flatten().collect()
    }
}

enum Change {
    Whole(Option<Vec<u8>>),
    Bytes(Range<usize>, Vec<u8>),
}

/// A recorded change of one component.
struct Told {
    rule: Rule,
    place: Place,
    change: Change,
}

/// Records steps.
pub(super) struct Recorder {
    steps: Vec<Step>,
    /// The URL after the last step.
    text: Vec<u8>,
    /// The components before the recorded changes.
    draft: Option<Draft>,
    told: Vec<Told>,
}

impl Recorder {
    pub(super) fn new(url: &[u8]) -> Self {
        Self { steps: Vec::new(), text: url.to_vec(), draft: None, told: Vec::new() }
    }

    /// The steps that lead to `canonical`.
    pub(super) fn finish(mut self, canonical: &[u8]) -> Vec<Step> {
        // Whatever no event has told becomes a step too, so that the last step ends with the
        // result.
        self.whole(Rule::Rest, canonical);
        self.steps
    }

    fn step(&mut self, rule: Rule, after: Vec<u8>) {
        if after == self.text {
            return;
        }
        let before = std::mem::replace(&mut self.text, after.clone());
        match self.steps.last() {
            // The guard restored the bytes that the previous rule removed, so neither changed the URL.
            Some(last) if rule == Rule::PathGuard && last.before == after => {
                self.steps.pop();
            }
            _ => self.steps.push(Step { rule, before, after }),
        }
    }

    /// Turns the recorded changes into steps: one for each rule, in the order of rules.
    fn flush(&mut self) {
        let Some(original) = self.draft.take() else { return };
        let told = std::mem::take(&mut self.told);
        let mut rules: Vec<Rule> = told.iter().map(|told| told.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        let mut draft = original.clone();
        for rule in rules {
            for (place, part) in draft.0.iter_mut().enumerate() {
                let is_it = |told: &&Told| told.rule == rule && told.place as usize == place;
                // A rule may report a component more than once, and the last report is how it
                // ended.
                match told.iter().rfind(is_it).map(|told| &told.change) {
                    None => {}
                    Some(Change::Whole(after)) => part.clone_from(after),
                    Some(Change::Bytes(..)) => {
                        let original = original.0[place].as_deref().unwrap_or_default();
                        *part = Some(respelled(original, &told, place, rule));
                    }
                }
            }
            self.step(rule, draft.text());
        }
    }
}

/// A component with the rewritten bytes of all rules up to `last`.
fn respelled(original: &[u8], told: &[Told], place: usize, last: Rule) -> Vec<u8> {
    let (mut text, mut copied) = (Vec::new(), 0);
    for told in told.iter().filter(|told| told.place as usize == place && told.rule <= last) {
        if let Change::Bytes(range, written) = &told.change {
            text.extend_from_slice(&original[copied..range.start]);
            text.extend_from_slice(written);
            copied = range.end;
        }
    }
    text.extend_from_slice(&original[copied..]);
    text
}

impl Trace for Recorder {
    const RECORDS: bool = true;

    fn whole(&mut self, rule: Rule, after: &[u8]) {
        self.flush();
        self.step(rule, after.to_vec());
    }

    fn split(&mut self, parts: &Parts<'_>) {
        self.flush();
        self.draft = Some(Draft::new(parts));
    }

    fn component(&mut self, rule: Rule, place: Place, after: Option<&[u8]>) {
        let change = Change::Whole(after.map(<[u8]>::to_vec));
        self.told.push(Told { rule, place, change });
    }

    fn origin(&mut self, rule: Rule, origin: &Parts<'_>) {
        let Draft(parts) = Draft::new(origin);
        for (place, part) in
            [Place::Scheme, Place::Userinfo, Place::Host, Place::Port].into_iter().zip(parts)
        {
            self.told.push(Told { rule, place, change: Change::Whole(part) });
        }
    }

    fn respelled(&mut self, rule: Rule, place: Place, range: Range<usize>, written: &[u8]) {
        self.told.push(Told { rule, place, change: Change::Bytes(range, written.to_vec()) });
    }
}
