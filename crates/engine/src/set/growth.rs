//! How a set grows, and whether keys that follow are better sorted than added to it.

use crate::output::Tally;

/// URLs that the set holds before the run decides. They are the sample. Small in unit tests.
const SAMPLE_FROM: usize = if cfg!(test) { 256 } else { 1 << 18 };

/// Expected URLs below which sorting in ranges saves no time.
const WORTH_WHILE: u64 = if cfg!(test) { 256 } else { 1 << 21 };

/// A stream of unknown length is assumed to be this many times as long as the part already read.
const LIKELY: u64 = 4;

/// How far a run has come.
pub(super) struct Growth {
    /// URLs in the set, and its bytes of memory.
    pub(super) distinct: usize,
    pub(super) memory: usize,
    /// Bytes read so far.
    pub(super) read: u64,
    /// Bytes of all inputs, if none is a stream.
    pub(super) size: Option<u64>,
}

impl Growth {
    /// The estimated number of URLs in the set if the rest of the inputs is like the part already read.
    fn expected(&self) -> u64 {
        let read = self.read.max(1);
        let all = self.size.unwrap_or(LIKELY.saturating_mul(read)).max(read);
        let urls = u128::from(all) * self.distinct as u128 / u128::from(read);
        u64::try_from(urls).unwrap_or(u64::MAX)
    }

    /// True if there are enough URLs for a sample, and enough more are expected that it is time to decide.
    pub(super) fn decides(&self) -> bool {
        self.distinct >= SAMPLE_FROM && self.expected() >= WORTH_WHILE
    }

    /// True if most URLs were new so far, by the counts of all inputs, and their ranges will fit into half of `free`
    /// bytes, which leaves the other half to the ranges that are being sorted.
    pub(super) fn is_worth_sorting(&self, tally: &Tally, free: u64) -> bool {
        let Tally { unique, canonical, .. } = *tally;
        let held = u128::from(self.expected()) * self.memory as u128 / self.distinct as u128;
        // Ranges hold duplicates too, unlike the set.
        let held = held * u128::from(canonical) / u128::from(unique);
        2 * unique >= canonical && held * 2 <= u128::from(free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_is_worth_while_if_most_urls_are_new_and_fit() {
        let growth = |read, size| Growth { distinct: 1000, memory: 50_000, read, size };
        assert!(growth(40_000, Some(40_000)).decides());
        assert!(!Growth { distinct: 255, ..growth(40_000, None) }.decides());
        let tally = |unique, canonical| Tally { unique, canonical, ..Tally::default() };
        for (read, size, unique, canonical, free, expected) in [
            (40_000, Some(80_000), 1000, 1000, 200_000, true),
            (40_000, Some(80_000), 1000, 1000, 199_999, false),
            // A stream of unknown length.
            (40_000, None, 1000, 1000, 399_999, false),
            (40_000, None, 1000, 1000, 400_000, true),
            // Duplicates take room, and too many are not worth it.
            (40_000, Some(40_000), 1000, 2000, 200_000, true),
            (40_000, Some(40_000), 1000, 2000, 199_000, false),
            (40_000, Some(40_000), 1000, 2001, u64::MAX, false),
        ] {
            let growth = growth(read, size);
            assert_eq!(growth.is_worth_sorting(&tally(unique, canonical), free), expected);
        }
    }
}
