//! The bounds between ranges of keys.

use uniqurl::internal::{AllocError, alloc};

/// Ranges of keys, numbered in ascending order.
#[derive(Debug, Default)]
pub struct KeyRanges {
    /// The first key of each range but the first, one after the other.
    keys: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl KeyRanges {
    /// Divides a sorted sample. If it holds different keys, none of the ranges holds all of them.
    pub(super) fn of_sorted(sample: &[&[u8]], most: usize) -> Result<Self, AllocError> {
        let mut ranges = Self::default();
        let Some(mut last) = sample.first() else { return Ok(ranges) };
        // A key that is a large part of the sample leaves room for bounds between the others.
        let mut at = 0;
        while ranges.len() < most {
            at += (sample.len() - at).div_ceil(most - ranges.len() + 1).max(1);
            // A bound has to be greater than the one before, or no key would be between them.
            at += sample[at.min(sample.len())..].partition_point(|key| key <= last);
            let Some(key) = sample.get(at) else { break };
            ranges.push(key)?;
            last = key;
        }
        Ok(ranges)
    }

    fn push(&mut self, key: &[u8]) -> Result<(), AllocError> {
        alloc::try_reserve(&mut self.keys, key.len())?;
        alloc::try_reserve(&mut self.ends, 1)?;
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len());
        Ok(())
    }

    /// Number of ranges, at least one.
    #[allow(clippy::len_without_is_empty, reason = "there is always a range")]
    pub fn len(&self) -> usize {
        self.ends.len() + 1
    }

    /// The number of the range that holds a key.
    #[inline]
    pub fn find(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.bound(middle) <= key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The first key of the range after this one.
    #[inline]
    fn bound(&self, range: usize) -> &[u8] {
        let start = range.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.keys[start..self.ends[range]]
    }
}
