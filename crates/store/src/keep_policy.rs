//! Chooses the record that is kept for each key, and stores its line.
//!
//! Input is one candidate per record in input order: the value that records are compared by, and a
//! line. The set still decides which keys there are, and their order; this module keeps one candidate
//! per key.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::size_class::allocated;
use crate::tally;
use uniqurl::internal::{AllocError, alloc};

/// The choice among records with the same key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeepPolicy {
    /// The first record, which is known at once.
    #[default]
    First,
    /// The last record.
    Last,
    /// The first record with the greatest value.
    Greatest,
    /// None of them: candidates are [tallies](crate::tally), which are added up.
    Tally,
}

/// A value followed by a line.
#[derive(Debug, Clone, Copy)]
pub struct KeptRecord<'a> {
    /// The value; empty if there is none.
    pub value: &'a [u8],
    /// The line to write for the record.
    pub line: &'a [u8],
}

impl<'a> KeptRecord<'a> {
    /// Appends the value, with its length, as it precedes the line.
    pub fn append_value(value: &[u8], out: &mut Vec<u8>) {
        // A length and no separator, since a value may hold any byte of the input.
        out.extend_from_slice(&(value.len() as u32).to_le_bytes());
        out.extend_from_slice(value);
    }

    /// Parses the encoded candidate in `bytes`.
    pub fn of(bytes: &'a [u8]) -> Self {
        let (length, rest) = bytes.split_first_chunk().unwrap_or((&[0; 4], &[]));
        let (value, line) = rest.split_at(u32::from_le_bytes(*length) as usize);
        Self { value, line }
    }
}

impl KeepPolicy {
    /// True if the later record `by` replaces `old`. Both are encoded as [`KeptRecord`]s.
    pub(crate) fn is_replaced(self, by: &[u8], old: &[u8]) -> bool {
        match self {
            KeepPolicy::First | KeepPolicy::Tally => false,
            KeepPolicy::Last => true,
            KeepPolicy::Greatest => {
                compare(KeptRecord::of(by).value, KeptRecord::of(old).value).is_gt()
            }
        }
    }

    /// Changes the candidate of earlier records by that of a later one.
    pub(crate) fn combine(self, kept: &mut Vec<u8>, by: &[u8]) -> Result<(), AllocError> {
        if self == KeepPolicy::Tally {
            return tally::merge_bytes(kept, by);
        }
        if self.is_replaced(by, kept) {
            kept.clear();
            // Each of millions of keys has such a buffer, and one that grows by itself would be
            // doubled.
            alloc::try_reserve_exact(kept, allocated(by.len()))?;
            kept.extend_from_slice(by);
        }
        Ok(())
    }

    /// The line in a spilled one: all of it, unless there is a value before it.
    pub(crate) fn line(self, candidate: &[u8]) -> &[u8] {
        match self {
            KeepPolicy::First | KeepPolicy::Tally => candidate,
            KeepPolicy::Last | KeepPolicy::Greatest => KeptRecord::of(candidate).line,
        }
    }
}

/// Compares two values: numbers by their value, and any other text by its bytes. Every number is more than any other
/// text, and an empty value, or the dash that logs and indexes write for it, is less than both.
// A total order, since records of a key are compared as they come together: in memory, in a spilled block, in a merge.
// If a number and a text were compared by bytes, 9 < 10 < 1a < 9 would let the budget decide.
pub fn compare(one: &[u8], other: &[u8]) -> Ordering {
    let is_something = |value: &[u8]| !matches!(value, b"" | b"-");
    let by_value = || match (Number::of(one), Number::of(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        (None, None) => one.cmp(other),
        (one, other) => one.is_some().cmp(&other.is_some()),
    };
    match (is_something(one), is_something(other)) {
        (true, true) => by_value(),
        (one, other) => one.cmp(&other),
    }
}

/// A decimal number of any length.
struct Number<'a> {
    is_negative: bool,
    /// Without leading zeros.
    whole: &'a [u8],
    /// Without trailing zeros.
    fraction: &'a [u8],
}

impl<'a> Number<'a> {
    fn of(text: &'a [u8]) -> Option<Self> {
        let (is_negative, digits) = match text {
            [b'-', digits @ ..] => (true, digits),
            // By their bytes `+11` is less than `9`.
            [b'+', digits @ ..] => (false, digits),
            digits => (false, digits),
        };
        let dot = memchr::memchr(b'.', digits);
        let (whole, fraction) = match dot {
            Some(dot) => (&digits[..dot], &digits[dot + 1..]),
            // A whole number has the fraction 0, so that `1` is equal to `1.0`.
            None => (digits, &b"0"[..]),
        };
        let is_digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        if !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let is_zero = |byte: &u8| *byte == b'0';
        let whole = &whole[whole.iter().take_while(|byte| is_zero(byte)).count()..];
        let zeros = fraction.iter().rev().take_while(|byte| is_zero(byte)).count();
        let fraction = &fraction[..fraction.len() - zeros];
        // `-0` is 0, and must not be less than it.
        let is_nothing = whole.is_empty() && fraction.is_empty();
        Some(Self { is_negative: is_negative && !is_nothing, whole, fraction })
    }

    fn cmp(&self, other: &Self) -> Ordering {
        // Without leading zeros the number with more digits is greater. So nothing is parsed, and
        // numbers of any length have an order.
        let size = |number: &Self| (number.whole.len(), number.whole, number.fraction);
        match (self.is_negative, other.is_negative) {
            (false, false) => size(self).cmp(&size(other)),
            (true, true) => size(other).cmp(&size(self)),
            (one, other) => other.cmp(&one),
        }
    }
}

/// The kept candidate of each key, by the key's place in a set.
#[derive(Debug)]
pub struct KeptRecords {
    policy: KeepPolicy,
    by_place: HashMap<u64, Vec<u8>, rapidhash::fast::RandomState>,
    bytes: usize,
}

impl KeptRecords {
    /// Creates an empty collection with this policy.
    pub fn new(policy: KeepPolicy) -> Self {
        Self { policy, by_place: HashMap::default(), bytes: 0 }
    }

    /// Offers the candidate of a record that follows all earlier ones in the input. Fails if memory
    /// runs out.
    pub fn offer(&mut self, place: u64, candidate: &[u8]) -> Result<(), AllocError> {
        // Reserved here, since a table that grows inside of `entry` aborts where memory runs out.
        self.by_place.try_reserve(1).map_err(|_| AllocError)?;
        match self.by_place.entry(place) {
            Entry::Vacant(entry) => {
                let mut kept = Vec::new();
                alloc::try_reserve_exact(&mut kept, allocated(candidate.len()))?;
                kept.extend_from_slice(candidate);
                self.bytes += kept.capacity();
                entry.insert(kept);
            }
            Entry::Occupied(mut entry) => {
                let kept = entry.get_mut();
                let before = kept.capacity();
                let combined = self.policy.combine(kept, candidate);
                // Counted before the error is returned: the buffer may have grown all the same.
                self.bytes = self.bytes - before + kept.capacity();
                combined?;
            }
        }
        Ok(())
    }

    /// Returns the kept candidate of a key.
    pub fn candidate(&self, place: u64) -> &[u8] {
        self.by_place.get(&place).map_or(&[], Vec::as_slice)
    }

    /// Returns the kept line of a key: with its line feed, unless it is a tally.
    pub fn line(&self, place: u64) -> &[u8] {
        let candidate = self.candidate(place);
        match self.policy {
            KeepPolicy::Tally => candidate,
            _ => KeptRecord::of(candidate).line,
        }
    }

    /// Returns the memory in use plus the memory needed to take the candidates of `more` further keys,
    /// except for their own bytes.
    pub fn memory(&self, more: usize) -> usize {
        self.bytes + Self::room(self.by_place.len() + more)
    }

    /// Returns the memory for so many keys, except for their own bytes.
    pub fn room(keys: usize) -> usize {
        /// A table entry at a load of at least 7/16, plus the old table while a larger one is filled.
        const EACH: usize = (size_of::<(u64, Vec<u8>)>() + 1) * 16 / 7 * 3 / 2;
        keys * EACH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_by_value_and_other_text_by_bytes() {
        // Ascending; equal values are in one group.
        let ladder: &[&[&str]] = &[
            &["", "-"],
            &[".5"],
            &["1a"],
            &["1e9"],
            &["a"],
            &["aa"],
            &["-12", "-12.0"],
            &["-3.5"],
            &["0", "-0", "00.00"],
            &["0.05"],
            &["0.5", "00.50"],
            &["9"],
            &["10", "010"],
            &["20240131235959"],
            &["99999999999999999999999"],
        ];
        for (i, one) in ladder.iter().enumerate() {
            for (j, other) in ladder.iter().enumerate() {
                for (a, b) in one.iter().flat_map(|a| other.iter().map(move |b| (a, b))) {
                    assert_eq!(compare(a.as_bytes(), b.as_bytes()), i.cmp(&j), "{a} {b}");
                }
            }
        }
    }

    proptest::proptest! {
        /// Records of a key come together in another order when some were spilled.
        #[test]
        fn the_greatest_of_values_does_not_depend_on_how_they_come_together(
            values in proptest::collection::vec("-?[0-9]{0,2}[a.]?[0-9]?", 3..8), cut in 1usize..7,
        ) {
            let greatest = |values: &[String]| {
                let folded = values.iter().reduce(|kept, value| {
                    if compare(value.as_bytes(), kept.as_bytes()).is_gt() { value } else { kept }
                });
                folded.cloned()
            };
            let (before, after) = values.split_at(cut.min(values.len() - 1));
            let parts = [greatest(before), greatest(after)].map(Option::unwrap);
            proptest::prop_assert_eq!(greatest(&parts), greatest(&values));
        }
    }

    fn candidate(value: &str, line: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        KeptRecord::append_value(value.as_bytes(), &mut bytes);
        bytes.extend_from_slice(line.as_bytes());
        bytes
    }

    #[test]
    fn earlier_of_equal_values_wins_and_a_missing_value_loses() {
        for (policy, line) in
            [(KeepPolicy::First, "a\n"), (KeepPolicy::Last, "e\n"), (KeepPolicy::Greatest, "c\n")]
        {
            let mut kept_records = KeptRecords::new(policy);
            for (value, line) in
                [("", "a\n"), ("9", "b\n"), ("10", "c\n"), ("10.0", "d\n"), ("-", "e\n")]
            {
                kept_records.offer(7, &candidate(value, line)).unwrap();
                kept_records.offer(8, &candidate("", line)).unwrap();
            }
            assert_eq!(kept_records.line(7), line.as_bytes(), "{policy:?}");
        }
    }
}
