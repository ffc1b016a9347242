//! A normalizer: it normalizes and explains a URL, makes its keys, and normalizes lists.

use std::ops::Range;

use library::{Key, Normalizer, RejectReason, Step};
use uniqurl_text::differences;
use wasm_bindgen::prelude::*;

use crate::batch::Batch;
use crate::buffers::{Buffers, Outcome, units};

/// A normalizer.
#[wasm_bindgen]
pub struct Rules {
    normalizer: Normalizer,
}

impl From<Normalizer> for Rules {
    fn from(normalizer: Normalizer) -> Self {
        Self { normalizer }
    }
}

#[wasm_bindgen]
impl Rules {
    /// Normalizes the URL in the first `bytes` of the input.
    pub fn normalize(&self, buffers: &mut Buffers, bytes: usize) -> i32 {
        let (url, out) = buffers.of(bytes);
        let outcome = Outcome::of(self.normalizer.canonical(url, out), url);
        buffers.number(outcome)
    }

    /// Writes a key of the URL, by the place of its name in the list of all.
    pub fn key(&self, buffers: &mut Buffers, bytes: usize, key: usize) -> i32 {
        let (url, out) = buffers.of(bytes);
        let mut canonical = Vec::new();
        match self.normalizer.canonical(url, &mut canonical) {
            Err(reject) => buffers.number(Outcome::Rejected(reject)),
            Ok(url) => match Key::ALL[key].of(url, out).map(|key| key.as_bytes().to_vec()) {
                None => buffers.without(RejectReason::NoHost),
                Some(key) => {
                    buffers.output = key;
                    buffers.number(Outcome::Output)
                }
            },
        }
    }

    /// Explains a URL. Returns six strings for each step: the name of the rule, its sentence and its source, the
    /// URL before and after the step, and the ranges that differ. A rejected URL has no steps.
    pub fn explain(&self, url: &str) -> Vec<String> {
        let steps = self.normalizer.explain(url.as_bytes()).unwrap_or_default();
        steps.iter().flat_map(texts).collect()
    }

    /// Normalizes the lines of a list.
    pub fn batch(&self, lines: &[u8], batch: &mut Batch) {
        batch.next();
        self.normalizer.lines(lines).for_each(|url| batch.push(url));
    }
}

impl Rules {
    pub(crate) fn normalizer(&self) -> &Normalizer {
        &self.normalizer
    }
}

fn texts(step: &Step) -> [String; 6] {
    // Between two steps a text may hold bytes that are not UTF-8, which JavaScript's strings cannot.
    let [before, after] =
        [&step.before, &step.after].map(|url| String::from_utf8_lossy(url).into_owned());
    let [removed, added] = differences(before.as_bytes(), after.as_bytes());
    let marks = format!("{}|{}", marks(&before, &removed), marks(&after, &added));
    let Step { rule, .. } = step;
    let source = rule.source().unwrap_or_default().to_owned();
    [rule.name().to_owned(), rule.sentence().to_owned(), source, before, after, marks]
}

/// The start and end of each range in units of JavaScript's strings: `0,4 10,11`.
fn marks(text: &str, ranges: &[Range<usize>]) -> String {
    let unit = |bytes| units(text.as_bytes(), bytes);
    let marks = ranges.iter().map(|range| format!("{},{}", unit(range.start), unit(range.end)));
    marks.collect::<Vec<_>>().join(" ")
}
