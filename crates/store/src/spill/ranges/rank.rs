//! The results of ranges on their way into another order than that of the keys: by first occurrence, or by count.
//!
//! Each result goes to a range once more, under a key that begins with its rank. So the order of bytes is the only
//! one that is ever sorted by.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::entries::RangeEntries;
use super::load::RangePlan;
use crate::spill::PARTITIONS;
use crate::spill::entry::SpillEntry;
use crate::spill::partitions::Partitions;
use crate::spill::store::SpillError;
use crate::spill::stream::Stream;
use uniqurl::internal::AllocError;

/// Results that one task ranks.
const RANKED: usize = 1 << 12;

/// Bytes of a rank, which stands before a key.
pub const RANK: usize = 10;

/// The largest limit for which counts that are too low are told before all are known.
const MOST_TO_WATCH: u64 = 1 << 16;

/// Results that are being ranked.
#[derive(Debug)]
pub struct Ranking<'p> {
    plan: &'p RangePlan<'p>,
    order: RankOrder,
    min_count: u64,
    partitions: Partitions,
}

/// What ranks are made of.
#[derive(Debug)]
enum RankOrder {
    /// The first occurrence among so many records.
    First(u64),
    /// The greatest count first, and of equal ones the lesser key.
    Count(GreatestCounts),
}

impl RankOrder {
    /// The number that a result is ranked by, and its partition.
    fn rank(&self, entry: &SpillEntry<'_>) -> (u64, usize) {
        match self {
            Self::First(records) => {
                let part =
                    u128::from(entry.ordinal) * PARTITIONS as u128 / u128::from(*records + 1);
                (entry.ordinal, (part as usize).min(PARTITIONS - 1))
            }
            // Most keys have few records, so each power of two has a partition.
            Self::Count(_) => (u64::MAX - entry.count, entry.count.leading_zeros() as usize),
        }
    }

    fn may_hold(&self, count: u64) -> bool {
        match self {
            Self::First(_) => true,
            Self::Count(greatest) => greatest.may_hold(count),
        }
    }
}

impl<'p> Ranking<'p> {
    /// By first occurrence, among so many records. Keys with fewer records than `min_count` are left out.
    pub fn first(plan: &'p RangePlan<'p>, records: u64, min_count: u64) -> Self {
        Self::new(plan, RankOrder::First(records), min_count)
    }

    /// By count. With a limit, some of the results that are beyond it are left out.
    pub fn count(plan: &'p RangePlan<'p>, limit: Option<u64>, min_count: u64) -> Self {
        let limit = limit.filter(|limit| *limit <= MOST_TO_WATCH);
        let greatest = GreatestCounts { limit, counts: BinaryHeap::new() };
        Self::new(plan, RankOrder::Count(greatest), min_count)
    }

    fn new(plan: &'p RangePlan<'p>, order: RankOrder, min_count: u64) -> Self {
        let threads = rayon::current_num_threads();
        let partitions = Partitions::new(plan.store, PARTITIONS, plan.block, threads);
        Self { plan, order, min_count, partitions }
    }

    /// Takes the results of ranges, on all threads. Each thread makes a function by `found`, and calls it with the
    /// ordinal of the first record of each key.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be written, or memory runs out.
    pub fn add<F: FnMut(u64)>(
        &mut self,
        ranges: &[RangeEntries],
        found: impl Fn() -> F + Sync,
    ) -> Result<(), SpillError> {
        let parts = ranges
            .iter()
            .flat_map(|range| range.parts(RANKED).into_iter().map(move |part| (range, part)));
        let parts: Vec<(&RangeEntries, &[u64])> = parts.collect();
        let no_room = |error: AllocError| self.plan.store.error(error.into());
        // One part for each thread at a time, since their texts are held until they are written.
        for group in parts.chunks(rayon::current_num_threads()) {
            let ranked = group.par_iter().map(|(range, part)| self.rank(range, part, found()));
            let ranked = ranked.collect::<Result<Vec<_>, AllocError>>().map_err(no_room)?;
            let (texts, counts): (Vec<_>, Vec<_>) = ranked.into_iter().unzip();
            self.partitions.write(&texts)?;
            // Added between the groups, so that ranking needs no lock. A key that is judged by
            // older counts may only be kept needlessly.
            if let RankOrder::Count(greatest) = &mut self.order {
                counts.into_iter().flatten().for_each(|count| greatest.add(count));
            }
        }
        Ok(())
    }

    /// The results of a part by their partitions, and their counts.
    fn rank(
        &self,
        range: &RangeEntries,
        part: &[u64],
        mut found: impl FnMut(u64),
    ) -> Result<(Vec<Vec<u8>>, Vec<u64>), AllocError> {
        let mut texts = vec![Vec::new(); PARTITIONS];
        let (mut counts, mut key) = (Vec::new(), Vec::new());
        range.for_each(part, self.plan.keep, |entry| {
            found(entry.ordinal);
            if entry.count < self.min_count || !self.order.may_hold(entry.count) {
                return Ok(());
            }
            counts.push(entry.count);
            let (number, partition) = self.order.rank(&entry);
            key.clear();
            key.extend_from_slice(&rank(number));
            key.extend_from_slice(entry.key);
            SpillEntry { key: &key, ..entry }.append(&mut texts[partition])
        })?;
        Ok((texts, counts))
    }

    /// The partitions, in the order of the ranks.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be written.
    pub fn finish(self) -> Result<Vec<Stream>, SpillError> {
        self.partitions.finish()
    }
}

/// A number as bytes in the order of numbers. None of them is a line feed, which ends a key where keys are sorted.
fn rank(number: u64) -> [u8; RANK] {
    let at = |i: usize| 0x80 | (number >> (7 * (RANK - 1 - i)) & 0x7F) as u8;
    std::array::from_fn(at)
}

/// The greatest counts so far, as many as are wanted.
#[derive(Debug)]
struct GreatestCounts {
    limit: Option<u64>,
    counts: BinaryHeap<Reverse<u64>>,
}

impl GreatestCounts {
    /// Whether a key with this count may be among the wanted ones.
    fn may_hold(&self, count: u64) -> bool {
        let is_full = self.limit.is_some_and(|limit| self.counts.len() as u64 >= limit);
        // A key with an equal count may have to come first, since equal counts are in the order of keys.
        !is_full || self.counts.peek().is_some_and(|least| count >= least.0)
    }

    fn add(&mut self, count: u64) {
        let Some(limit) = self.limit else { return };
        self.counts.push(Reverse(count));
        if self.counts.len() as u64 > limit {
            self.counts.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_in_the_order_of_numbers_and_hold_no_line_feed() {
        let numbers = [0, 1, 9, 10, 11, 127, 128, 1 << 14, (1 << 63) - 1, 1 << 63, u64::MAX];
        assert!(numbers.map(rank).is_sorted_by(|one, next| one < next));
        assert!(numbers.map(rank).iter().all(|rank| !rank.contains(&b'\n')));
    }

    #[test]
    fn only_counts_that_cannot_be_among_the_greatest_are_left_out() {
        let mut greatest = GreatestCounts { limit: Some(2), counts: BinaryHeap::new() };
        greatest.add(5);
        assert!(greatest.may_hold(1));
        greatest.add(7);
        assert!(greatest.may_hold(5) && !greatest.may_hold(4));
        greatest.add(6);
        assert!(greatest.may_hold(6) && !greatest.may_hold(5));
        let none = GreatestCounts { limit: Some(0), counts: BinaryHeap::new() };
        assert!(!none.may_hold(u64::MAX));
        let all = GreatestCounts { limit: None, counts: BinaryHeap::new() };
        assert!(all.may_hold(0));
    }
}
