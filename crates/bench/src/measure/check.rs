//! The expected result of a pass, so that a wrong answer is an error and not a fast one.
//!
//! Under `crawl` the generator knows it by construction. Under any other profile it is found here by
//! the plain scanner, one URL at a time, with the set of the standard library.

use super::stage::{Answer, Limit, Stage};
use super::subject::TestBytes;
use crate::corpus::Truth;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use uniqurl::internal::{Backend, UrlKind};
use uniqurl::{Normalizer, Profile};
use uniqurl_formats::record::{BufferId, Context, Extracted, Records};

/// The right answers for one corpus under one profile.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// URLs that are proven clean.
    pub clean: u64,
    /// Records.
    pub records: u64,
    /// Records without a canonical URL.
    pub rejected: u64,
    /// Records of blanks.
    pub blank: u64,
    /// Distinct canonical URLs.
    pub distinct: u64,
    /// Bytes of the distinct URLs, each with its line feed.
    pub bytes: u64,
    /// Distinct URLs that are not [seen](is_seen).
    pub unseen: u64,
    /// Bytes of these.
    pub unseen_bytes: u64,
}

/// Whether the seen store of the stage `seen` holds the URL: half of all, by a hash (FNV-1a).
pub fn is_seen(url: &[u8]) -> bool {
    let hash = url.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    });
    hash.count_ones() % 2 == 1
}

impl Expected {
    /// Finds the answers for a profile, and the distinct URLs.
    pub fn new(
        bytes: &TestBytes,
        truth: &Truth,
        profile: Profile,
    ) -> Result<(Self, HashSet<Vec<u8>>), String> {
        let (found, urls) = one_by_one(bytes, profile);
        if profile != Profile::Crawl {
            return Ok((found, urls));
        }
        let known = found.known(truth);
        let canonical = known.records - known.rejected - known.blank - truth.dirty;
        let name = bytes.kind.name();
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
        Ok((known, urls))
    }

    /// The same with the counts that the generator knows: all but those of clean and unseen URLs.
    fn known(&self, truth: &Truth) -> Self {
        Self {
            records: truth.lines,
            rejected: truth.rejected,
            blank: truth.blank,
            distinct: truth.distinct,
            bytes: truth.distinct_bytes + truth.distinct,
            ..self.clone()
        }
    }

    /// Compares the answer of a stage with the expected counts.
    pub fn check(&self, stage: Stage, found: &Answer) -> Result<(), String> {
        same(found, &stage.expected(self))
    }
}

/// Checks the result of a limit, so that no work was skipped. `sum` and `records` are the right ones.
pub fn check_limit(
    limit: Limit,
    bytes: &[u8],
    copy: &[u8],
    found: &Answer,
    (sum, records): (u64, u64),
) -> Result<(), String> {
    match limit {
        Limit::Copy if copy != bytes => Err("the copy is not the same".into()),
        Limit::Copy => Ok(()),
        Limit::Read => same(found, &[("sum", sum)]),
        Limit::Newlines => same(found, &[("records", records)]),
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

fn one_by_one(bytes: &TestBytes, profile: Profile) -> (Expected, HashSet<Vec<u8>>) {
    let normalizer = Normalizer::new(profile).with_backend(Backend::Scalar);
    let context = Context { targets: normalizer.targets(), ..Context::default() };
    let mut expected = Expected::default();
    let mut set: HashSet<Vec<u8>> = HashSet::new();
    let (mut records, mut out) = (Records::default(), Vec::new());
    for chunk in &bytes.chunks {
        records.clear();
        bytes.format.read(&context, chunk, &mut records);
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
            let outcome = normalizer.append_as(kind, url, &mut out);
            expected.clean += u64::from(clean);
            expected.rejected += u64::from(outcome != Ok(()));
            if outcome == Ok(()) && !set.contains(&out) {
                expected.bytes += out.len() as u64 + 1;
                if !is_seen(&out) {
                    expected.unseen += 1;
                    expected.unseen_bytes += out.len() as u64 + 1;
                }
                set.insert(out.clone());
            }
        }
    }
    expected.distinct = set.len() as u64;
    (expected, set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Kind;

    #[test]
    fn normalizing_each_url_gives_the_counts_of_the_corpus() {
        for kind in Kind::ALL {
            let (bytes, truth) = TestBytes::draw(kind, 2, 200_000).expect("made");
            let (expected, urls) = Expected::new(&bytes, &truth, Profile::Crawl).expect("right");
            assert_eq!(expected.records, truth.lines, "{}", kind.name());
            assert_eq!(urls.len() as u64, expected.distinct);
            let share = expected.unseen as f64 / expected.distinct as f64;
            assert!((0.3..0.7).contains(&share), "{}: {share}", kind.name());
        }
    }

    #[test]
    fn wrong_answer_is_reported() {
        let (bytes, truth) = TestBytes::draw(Kind::Sample, 2, 20_000).expect("made");
        let (expected, _) = Expected::new(&bytes, &truth, Profile::Crawl).expect("right");
        let mut answer = Stage::Normalize.expected(&expected);
        assert_eq!(expected.check(Stage::Normalize, &answer), Ok(()));
        assert!(expected.check(Stage::Dedup, &answer).is_err());
        answer[1].1 += 1;
        let error = expected.check(Stage::Normalize, &answer).expect_err("a wrong answer");
        assert!(error.starts_with("rejected: "), "{error}");
    }

    #[test]
    fn corpus_with_a_wrong_count_is_an_error() {
        let (bytes, mut truth) = TestBytes::draw(Kind::Mixed, 2, 20_000).expect("made");
        truth.distinct += 1;
        assert!(Expected::new(&bytes, &truth, Profile::Crawl).is_err());
    }
}
