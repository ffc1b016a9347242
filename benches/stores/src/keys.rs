//! Keys from a seed: made when they are asked for, never all held.

use uniqurl_store::seen::{KeySink, KeySorter, SeenStoreError, SortedKeys};

use crate::corpus::CleanUrls;

/// Keys of a batch.
pub const BATCH: u64 = 1_000_000;

const SEED: u64 = 1;

/// Distinct keys in the order of their bytes, in one buffer.
#[derive(Default)]
pub struct Batch {
    bytes: Vec<u8>,
    /// The end of each key.
    ends: Vec<usize>,
}

impl Batch {
    /// The keys of these numbers, which are distinct.
    pub fn of(numbers: impl Iterator<Item = u64>) -> Self {
        let mut urls = CleanUrls::new(SEED);
        let mut unsorted = Self::default();
        for number in numbers {
            unsorted.push(urls.get(number));
        }
        let mut order: Vec<usize> = (0..unsorted.len()).collect();
        order.sort_unstable_by_key(|index| unsorted.get(*index));
        let mut sorted = Self::default();
        for index in order {
            sorted.push(unsorted.get(index));
        }
        sorted
    }

    /// Appends a key, which is greater than the one before.
    pub fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// The keys in their order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl SortedKeys for Batch {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }
}

/// The keys of the measured stores: numbers below `built` are built in, those that follow are added.
#[derive(Clone, Copy)]
pub struct Keys {
    pub built: u64,
    pub adds: u64,
}

impl Keys {
    /// Gives all keys of the built store in order, sorted within `memory` bytes.
    pub fn sorted(
        self,
        memory: usize,
        directory: &std::path::Path,
        sink: &mut dyn KeySink,
    ) -> Result<(), SeenStoreError> {
        let mut urls = CleanUrls::new(SEED);
        let mut sorter = KeySorter::new(memory, directory);
        for number in 0..self.built {
            sorter.push(urls.get(number))?;
        }
        sorter.finish(sink)
    }

    /// A batch to look up: half of its keys are new, or none is. The number of known keys is returned, too.
    pub fn asked(self, round: u64, half_new: bool) -> (Batch, u64) {
        let known = if half_new { BATCH / 2 } else { BATCH }.min(self.built);
        // Steps of a prime spread the numbers, and repeat none.
        let start = round * 7_777_777;
        let known_numbers = (0..known).map(|i| (start + i * 2_654_435_761) % self.built);
        let never_added = self.built + self.adds * BATCH + round * BATCH;
        let new_numbers =
            (0..if half_new { BATCH - BATCH / 2 } else { 0 }).map(|i| never_added + i);
        (Batch::of(known_numbers.chain(new_numbers)), known)
    }

    /// The new keys of this add.
    pub fn added(self, add: u64) -> Batch {
        let start = self.built + add * BATCH;
        Batch::of(start..start + BATCH)
    }
}
