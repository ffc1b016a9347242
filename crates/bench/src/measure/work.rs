//! The kinds of work that are timed, and their right answers.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// One kind of work. Each stage does all that the one before it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Adds the bytes up as numbers of 64 bits.
    MemoryRead,
    /// Copies them.
    MemoryCopy,
    /// Counts their line feeds.
    NewlineCount,
    /// Records, and which of their URLs are proven clean.
    Scan,
    /// Canonical URLs.
    Normalize,
    /// The set of them.
    Dedup,
    /// The pipeline, from a file to a sink.
    EndToEnd,
}

/// The counts that a pass found, by name.
pub type Answer = Vec<(&'static str, u64)>;

/// The counts that are right for a corpus.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// The sum of its bytes as numbers of 64 bits.
    pub sum: u64,
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
    /// Bytes of these, each with its line feed.
    pub output: u64,
}

impl Work {
    /// Every kind: the limits, then the stages in the order of the data flow.
    pub const ALL: [Work; 7] = [
        Work::MemoryRead,
        Work::MemoryCopy,
        Work::NewlineCount,
        Work::Scan,
        Work::Normalize,
        Work::Dedup,
        Work::EndToEnd,
    ];

    /// Whether it is a limit of the machine, and no work of uniqurl.
    pub fn is_limit(self) -> bool {
        matches!(self, Work::MemoryRead | Work::MemoryCopy | Work::NewlineCount)
    }

    /// Its name, and what it does, for people who read a table.
    pub fn texts(self) -> (&'static str, &'static str) {
        match self {
            Work::MemoryRead => {
                ("memory-read", "add the bytes up: nothing that reads them is faster")
            }
            Work::MemoryCopy => ("memory-copy", "copy them"),
            Work::NewlineCount => ("newline-count", "count their line feeds"),
            Work::Scan => ("scan", "find the records, and prove which URLs are canonical already"),
            Work::Normalize => {
                ("normalize", "the same, and write the canonical form of the others")
            }
            Work::Dedup => ("dedup", "the same, and put each canonical URL into the set"),
            Work::EndToEnd => {
                ("end-to-end", "all that `uniqurl dedup` does, from a cached file to a sink")
            }
        }
    }
}

impl Expected {
    /// Compares the answer of a pass, so that a wrong answer is an error and not a fast one.
    pub fn check(&self, work: Work, found: &Answer) -> Result<(), String> {
        let expected = self.answer(work);
        // Both are answers to the same work, so they have the same names in the same order.
        let mut pairs = found.iter().zip(&expected);
        match pairs.find(|(found, expected)| found != expected) {
            Some(((name, found), (_, right))) => {
                Err(format!("{name}: {found} found, and there are {right}"))
            }
            None => Ok(()),
        }
    }

    fn answer(&self, work: Work) -> Answer {
        let Self { sum, clean, records, rejected, blank, distinct, output } = *self;
        let parsed = [("records", records), ("rejected", rejected), ("blank", blank)];
        match work {
            Work::MemoryRead => vec![("sum", sum)],
            Work::MemoryCopy => vec![("copies", 1)],
            Work::NewlineCount => vec![("records", records)],
            Work::Scan => vec![("clean", clean)],
            Work::Normalize => parsed.to_vec(),
            Work::Dedup => [&parsed[..], &[("distinct", distinct)]].concat(),
            Work::EndToEnd => {
                [&parsed[..], &[("distinct", distinct), ("bytes of output", output)]].concat()
            }
        }
    }
}

/// The sum of bytes as numbers of 64 bits, modulo 2^64. A last number is filled up with zeros.
pub fn add_up(bytes: &[u8]) -> u64 {
    let (numbers, rest) = bytes.as_chunks::<8>();
    let sum = numbers.iter().fold(0u64, |sum, n| sum.wrapping_add(u64::from_le_bytes(*n)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    sum.wrapping_add(u64::from_le_bytes(last))
}

impl Display for Work {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.texts().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_answer_is_reported() {
        let expected = Expected { records: 7, rejected: 2, ..Expected::default() };
        let mut answer = expected.answer(Work::Normalize);
        assert_eq!(expected.check(Work::Normalize, &answer), Ok(()));
        answer[1].1 += 1;
        let error = expected.check(Work::Normalize, &answer).expect_err("a wrong answer");
        assert_eq!(error, "rejected: 3 found, and there are 2");
    }

    #[test]
    fn names_are_those_of_the_json() {
        for work in Work::ALL {
            let json = serde_json::to_value(work).expect("a name");
            assert_eq!(json, work.to_string());
        }
    }
}
