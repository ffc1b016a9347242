//! The default size of a corpus, and how often it is timed.

use super::score::SIZE;
use crate::machine::{Conditions, Machine};

/// A corpus is this many times as large as the last-level cache, so that it does not stay in it.
const LARGER_THAN_CACHE: u64 = 4;

/// A run with its files takes this many times as much memory as one corpus: five files in the page cache with
/// their gzip files and stores, and one corpus with its copy and its set.
const MEMORY_FOR_A_CORPUS: u64 = 12;

/// The default size and the reason for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefaultSize {
    /// Bytes of a corpus.
    pub bytes: u64,
    /// Why it is this size.
    pub reason: SizeReason,
}

/// Why the default size is as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeReason {
    /// It is the usual one.
    Usual,
    /// It is four times the last-level cache, which has so many bytes.
    Cache(u64),
    /// Four times the last-level cache would not fit into the memory that is available.
    Memory(u64),
}

impl DefaultSize {
    /// The larger of 256 MiB and 4 times the last-level cache, as far as memory is available.
    pub fn here(machine: &Machine) -> Self {
        let available = Conditions::now().available_bytes;
        let limit = machine.allowed.memory_bytes;
        let available = available.into_iter().chain(limit).min();
        Self::of(machine.last_level_cache().unwrap_or(0), available.unwrap_or(u64::MAX))
    }

    fn of(cache: u64, available: u64) -> Self {
        let wanted = SIZE.max(cache.saturating_mul(LARGER_THAN_CACHE));
        // Whole MiB.
        let most = (available / MEMORY_FOR_A_CORPUS) >> 20 << 20;
        let reason = match (wanted > most, wanted > SIZE) {
            (true, _) => SizeReason::Memory(available),
            (false, true) => SizeReason::Cache(cache),
            (false, false) => SizeReason::Usual,
        };
        Self { bytes: wanted.min(most).max(1 << 20), reason }
    }

    /// A sentence about a size that is not the usual one.
    pub fn note(&self) -> Option<String> {
        let mib = self.bytes >> 20;
        match self.reason {
            SizeReason::Usual => None,
            SizeReason::Cache(cache) => Some(format!(
                "each corpus has {mib} MiB, {LARGER_THAN_CACHE} times the last-level cache of {} MiB",
                cache >> 20
            )),
            SizeReason::Memory(available) => Some(format!(
                "each corpus has {mib} MiB, not more, since {} MiB of memory are available",
                available >> 20
            )),
        }
    }
}

/// The default number of repeats: three, and fewer of a large corpus, but at least one.
pub fn default_repeats(size: u64) -> u32 {
    (3 * SIZE).checked_div(size).unwrap_or(3).clamp(1, 3) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_larger_than_the_cache_and_fits_into_memory() {
        const GIB: u64 = 1 << 30;
        for (cache, available, bytes, reason) in [
            (0, u64::MAX, SIZE, SizeReason::Usual),
            (32 << 20, 32 * GIB, SIZE, SizeReason::Usual),
            (96 << 20, 32 * GIB, 384 << 20, SizeReason::Cache(96 << 20)),
            (480 << 20, 12 * GIB, GIB, SizeReason::Memory(12 * GIB)),
            (32 << 20, 120 << 20, 10 << 20, SizeReason::Memory(120 << 20)),
        ] {
            assert_eq!(DefaultSize::of(cache, available), DefaultSize { bytes, reason });
        }
    }

    #[test]
    fn larger_corpora_have_fewer_repeats() {
        let repeats = [1 << 20, SIZE, 2 * SIZE, 64 * SIZE].map(default_repeats);
        assert_eq!(repeats, [3, 3, 1, 1]);
    }
}
