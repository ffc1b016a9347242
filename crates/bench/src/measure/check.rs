//! The expected result of a pass, so that a wrong answer is an error and not a fast one.
//!
//! Under `crawl` the generator knows it by construction. Under any other profile it is found here by
//! the plain scanner, one URL at a time, with the set of the standard library.

use super::stage::{Answer, Limit, Stage};
use super::subject::LoadedCorpus;
use crate::corpus::Truth;
use std::collections::HashSet;
use uniqurl::simd::UrlKind;
use uniqurl::{Backend, Normalizer, Outcome, Profile};
use uniqurl_formats::record::{BufferId, Context, Extracted, Records};

/// The right answers for one corpus under one profile.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Expected {
    clean: u64,
    records: u64,
    rejected: u64,
    blank: u64,
    distinct: u64,
    /// Of the distinct URLs, each with its line feed.
    bytes: u64,
}

impl Expected {
    /// Finds the answers for a profile.
    pub fn new(sample: &LoadedCorpus, profile: &'static Profile) -> Result<Self, String> {
        let found = one_by_one(sample, profile);
        if profile != &Profile::CRAWL {
            return Ok(found);
        }
        let known = Self { clean: found.clean, ..Self::known(&sample.truth) };
        let canonical = known.records - known.rejected - known.blank - sample.truth.dirty;
        let name = sample.kind.name();
        if found != known {
            return Err(format!(
                "{name}: one by one there are {found:?}, and the truth is {known:?}"
            ));
        }
        if found.clean > canonical {
            return Err(format!(
                "{name}: {} URLs are clean, and {canonical} canonical",
                found.clean
            ));
        }
        Ok(known)
    }

    /// The counts that the generator knows: all but the number of URLs proven clean.
    fn known(truth: &Truth) -> Self {
        Self {
            clean: 0,
            records: truth.lines,
            rejected: truth.rejected,
            blank: truth.blank,
            distinct: truth.distinct,
            bytes: truth.distinct_bytes + truth.distinct,
        }
    }

    /// Compares the answer of a stage with the expected counts.
    pub fn check(&self, stage: Stage, found: &Answer) -> Result<(), String> {
        let Self { clean, records, rejected, blank, distinct, bytes } = *self;
        let all = [
            ("records", records),
            ("rejected", rejected),
            ("blank", blank),
            ("distinct", distinct),
            ("bytes of output", bytes),
        ];
        let expected = match stage {
            Stage::Scan => &[("clean", clean)][..],
            Stage::Normalize => &all[..3],
            Stage::Dedup => &all[..4],
            Stage::Whole => &all,
        };
        same(found, expected)
    }
}

/// Checks the result of a limit, so that no work was skipped.
pub fn check_limit(
    limit: Limit,
    sample: &LoadedCorpus,
    copy: &[u8],
    found: &Answer,
) -> Result<(), String> {
    match limit {
        Limit::Copy if copy != sample.bytes => Err("the copy is not the same".into()),
        Limit::Copy => Ok(()),
        Limit::Newlines => same(found, &[("records", sample.truth.lines)]),
    }
}

fn same(found: &Answer, expected: &[(&str, u64)]) -> Result<(), String> {
    for ((name, found), (_, expected)) in found.iter().zip(expected) {
        if found != expected {
            return Err(format!("{name}: {found} found, and there are {expected}"));
        }
    }
    if found.len() == expected.len() { Ok(()) } else { Err("another answer than asked for".into()) }
}

fn one_by_one(sample: &LoadedCorpus, profile: &'static Profile) -> Expected {
    let normalizer = Normalizer::new(profile).with_backend(Backend::Scalar);
    let context = Context { targets: normalizer.targets(), ..Context::default() };
    let mut expected = Expected::default();
    let mut set: HashSet<Vec<u8>> = HashSet::new();
    let (mut records, mut out) = (Records::default(), Vec::new());
    for chunk in &sample.chunks {
        records.clear();
        sample.format.read(&context, chunk, &mut records);
        for record in &records.records {
            expected.records += u64::from(record.found != Extracted::Skipped);
            let (place, span) = match record.found {
                Extracted::Url(place, span) | Extracted::Target(place, span) => (place, span),
                Extracted::Joined { url, .. } => (BufferId::Scratch, url),
                Extracted::Blank => {
                    expected.blank += 1;
                    continue;
                }
                Extracted::Skipped | Extracted::Filtered => continue,
                Extracted::Reject(..) => {
                    expected.rejected += 1;
                    continue;
                }
            };
            let url = span.of(if place == BufferId::Chunk { chunk } else { &records.scratch });
            out.clear();
            let kind = match record.found {
                Extracted::Target(..) => UrlKind::Target,
                _ => UrlKind::Absolute,
            };
            let clean = normalizer.is_clean_in(url, 0..url.len(), kind);
            let outcome = normalizer.normalize_as(kind, url, &mut out);
            expected.clean += u64::from(clean);
            expected.rejected += u64::from(outcome != Outcome::Canonical);
            if outcome == Outcome::Canonical && !set.contains(&out) {
                expected.bytes += out.len() as u64 + 1;
                set.insert(out.clone());
            }
        }
    }
    expected.distinct = set.len() as u64;
    expected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Kind;

    #[test]
    fn normalizing_each_url_gives_the_counts_of_the_corpus() {
        for kind in Kind::ALL {
            let sample = LoadedCorpus::new(kind, 2, 200_000).expect("made");
            let expected = Expected::new(&sample, &Profile::CRAWL).expect("the truth");
            assert_eq!(expected.records, sample.truth.lines, "{}", kind.name());
        }
    }

    #[test]
    fn wrong_answer_is_reported() {
        let sample = LoadedCorpus::new(Kind::Sample, 2, 20_000).expect("made");
        let expected = Expected::new(&sample, &Profile::CRAWL).expect("the truth");
        let mut answer = vec![
            ("records", expected.records),
            ("rejected", expected.rejected),
            ("blank", expected.blank),
        ];
        assert_eq!(expected.check(Stage::Normalize, &answer), Ok(()));
        assert!(expected.check(Stage::Dedup, &answer).is_err());
        answer[1].1 += 1;
        let error = expected.check(Stage::Normalize, &answer).expect_err("a wrong answer");
        assert!(error.starts_with("rejected: "), "{error}");
    }

    #[test]
    fn corpus_with_a_wrong_count_is_an_error() {
        let mut sample = LoadedCorpus::new(Kind::Mixed, 2, 20_000).expect("made");
        sample.truth.distinct += 1;
        assert!(Expected::new(&sample, &Profile::CRAWL).is_err());
    }
}
