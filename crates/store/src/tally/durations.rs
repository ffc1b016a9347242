//! The durations of a key's requests: all of them if they are few, otherwise how many are in each bucket.
//!
//! A bucket holds numbers that share their highest seven bits, so its middle is less than 1/128 away from
//! each of them. Numbers below 128 have buckets of their own. Both forms depend only on the multiset of
//! durations, so merging is associative and commutative. `sketches-ddsketch` is not: it adds floats up, and
//! a sketch takes eight bytes for each bucket between the least and the greatest duration.

use crate::spill::{append_number, decode_number};
use uniqurl::internal::{AllocError, alloc};

/// Bytes of a number at most.
pub(super) const NUMBER: usize = 10;

/// As many durations are kept as they are.
pub const EXACT: u64 = 16;

/// Longer durations count as this one, since one bit of a step is needed for more.
const MOST: u64 = u64::MAX >> 1;

/// Bits of a number that its bucket keeps.
const BITS: u32 = 7;

/// Durations in microseconds.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Durations {
    count: u64,
    greatest: u64,
    /// Durations, or buckets if there are more than [`EXACT`]; ascending, each with its number of requests.
    counts: Vec<(u64, u64)>,
}

impl Durations {
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn greatest(&self) -> u64 {
        self.greatest
    }

    pub(super) fn add(&mut self, duration: u64) -> Result<(), AllocError> {
        let duration = duration.min(MOST);
        self.count += 1;
        self.greatest = self.greatest.max(duration);
        // Before this duration is added, since all numbers of a tally are of one kind.
        if self.count == EXACT + 1 {
            self.sort_into_buckets();
        }
        self.add_times(self.key(duration), 1)
    }

    pub(super) fn merge(&mut self, other: &Self) -> Result<(), AllocError> {
        let (had_buckets, others_has) = (self.has_buckets(), other.has_buckets());
        self.count += other.count;
        self.greatest = self.greatest.max(other.greatest);
        // The count alone decides about the form, so that the order of merging does not show.
        if self.has_buckets() && !had_buckets {
            self.sort_into_buckets();
        }
        for (number, times) in &other.counts {
            let key = if others_has { *number } else { self.key(*number) };
            self.add_times(key, *times)?;
        }
        Ok(())
    }

    /// The duration that `percent` of the requests do not exceed: of n requests in ascending order that of
    /// number n · percent / 100, rounded up. It is exact for up to [`EXACT`] requests.
    pub(super) fn quantile(&self, percent: u64) -> Option<u64> {
        let rank = (u128::from(self.count) * u128::from(percent)).div_ceil(100);
        let mut before = 0;
        let found = self.counts.iter().find(|(_, times)| {
            before += u128::from(*times);
            before >= rank
        })?;
        // The middle of the last bucket may exceed every duration in it.
        Some(if self.has_buckets() { middle(found.0).min(self.greatest) } else { found.0 })
    }

    /// The most bytes that [`append`](Self::append) appends.
    pub(super) fn room(&self) -> usize {
        2 * NUMBER * (1 + self.counts.len())
    }

    pub(super) fn append(&self, out: &mut Vec<u8>) {
        append_number(self.count, out);
        append_number(self.greatest, out);
        let mut before = 0;
        for (number, times) in &self.counts {
            // Most times are 1, and then take no byte of their own.
            append_number((number - before) << 1 | u64::from(*times > 1), out);
            if *times > 1 {
                append_number(*times, out);
            }
            before = *number;
        }
    }

    /// Reads what [`append`](Self::append) wrote, up to the end of the bytes.
    pub(super) fn decode(bytes: &[u8], at: &mut usize) -> Result<Self, AllocError> {
        let (count, greatest) = (next_number(bytes, at), next_number(bytes, at));
        let mut durations = Self { count, greatest, counts: Vec::new() };
        let mut number = 0;
        while *at < bytes.len() {
            let step = next_number(bytes, at);
            number += step >> 1;
            let times = if step & 1 == 1 { next_number(bytes, at) } else { 1 };
            alloc::try_reserve(&mut durations.counts, 1)?;
            durations.counts.push((number, times));
        }
        Ok(durations)
    }

    fn has_buckets(&self) -> bool {
        self.count > EXACT
    }

    /// The number under which a duration is counted.
    fn key(&self, duration: u64) -> u64 {
        if self.has_buckets() { bucket(duration) } else { duration }
    }

    fn add_times(&mut self, key: u64, times: u64) -> Result<(), AllocError> {
        match self.counts.binary_search_by_key(&key, |(number, _)| *number) {
            Ok(found) => self.counts[found].1 += times,
            Err(place) => {
                alloc::try_reserve(&mut self.counts, 1)?;
                self.counts.insert(place, (key, times));
            }
        }
        Ok(())
    }

    /// Replaces durations by their buckets.
    fn sort_into_buckets(&mut self) {
        self.counts.iter_mut().for_each(|(number, _)| *number = bucket(*number));
        self.counts.dedup_by(|later, first| {
            let same = later.0 == first.0;
            first.1 += if same { later.1 } else { 0 };
            same
        });
    }
}

/// Reads a number; 0 where the bytes end.
fn next_number(bytes: &[u8], at: &mut usize) -> u64 {
    decode_number(bytes, at).unwrap_or_default()
}

/// The bucket of a number; ascending with the number.
fn bucket(number: u64) -> u64 {
    let shift = (u64::BITS - number.leading_zeros()).saturating_sub(BITS);
    (u64::from(shift) << (BITS - 1)) + (number >> shift)
}

/// The middle of a bucket.
fn middle(bucket: u64) -> u64 {
    let shift = (bucket >> (BITS - 1)).saturating_sub(1);
    let least = (bucket - (shift << (BITS - 1))) << shift;
    least + ((1 << shift) - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_of_a_bucket_is_within_one_percent_of_its_numbers() {
        let numbers = (0..10_000).chain((0..64).flat_map(|bit| {
            let power = 1u64 << bit;
            [power - 1, power, power + 1, power | power >> 1, power | (power - 1)]
        }));
        for number in numbers {
            let middle = middle(bucket(number));
            assert!(middle.abs_diff(number) as f64 <= 0.01 * number as f64, "{number} {middle}");
            assert!(number >= 128 || middle == number, "{number} {middle}");
            let next = number.saturating_add(1);
            assert!(bucket(number) <= bucket(next), "{number}");
        }
    }

    #[test]
    fn merging_in_any_order_and_grouping_gives_the_same_bytes() {
        let mut random = 7u64;
        let mut next = || {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            random >> 33
        };
        for count in [0, 1, 15, 16, 17, 18, 33, 500] {
            let all: Vec<u64> = (0..count).map(|_| next() % (1 << (next() % 30))).collect();
            let mut expected = Durations::default();
            all.iter().for_each(|duration| expected.add(*duration).unwrap());
            for parts in [1, 2, 3, 7, 40] {
                let mut merged = vec![Durations::default(); parts];
                for duration in &all {
                    merged[next() as usize % parts].add(*duration).unwrap();
                }
                while merged.len() > 1 {
                    let other = merged.swap_remove(next() as usize % merged.len());
                    let mut bytes = Vec::new();
                    other.append(&mut bytes);
                    let other = Durations::decode(&bytes, &mut 0).unwrap();
                    let to = next() as usize % merged.len();
                    merged[to].merge(&other).unwrap();
                }
                assert_eq!(merged[0], expected, "{count} {parts}");
            }
        }
    }

    #[test]
    fn quantiles_of_few_durations_are_exact() {
        let mut durations = Durations::default();
        assert_eq!(durations.quantile(50), None);
        for number in 1..=EXACT {
            durations.add(number * 1_000_003).unwrap();
            let rank = |percent: u64| Some((number * percent).div_ceil(100) * 1_000_003);
            assert_eq!((durations.quantile(50), durations.quantile(99)), (rank(50), rank(99)));
        }
    }
}
