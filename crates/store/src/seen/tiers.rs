//! Which runs are merged after an add.
//!
//! The tier of a run is the number of digits of its entries, less one. Ten runs of a tier are merged into one,
//! which is usually of the next tier. So a key is written once by its add and once for each tier that it
//! rises: a store that grows from adds of `a` keys to `n` keys writes each key about `1 + log10(n / a)` times,
//! four times for adds of a million to a billion. A look-up asks at most nine runs of each tier.
//!
//! Only neighbours by age can be merged. A run that is older than a larger one therefore counts as one
//! of the larger one's tier, or small runs between large ones would never be merged. A run may then be merged
//! with few new keys; but one of its tier was added each time, so a key is written at most ten times for
//! each tier, whatever the sizes of adds.
//!
//! To merge all newer runs of a tier or below once there are ten of them is simpler, but reads the
//! largest run of the store with every ninth add.

use std::ops::Range;

/// So many runs of a tier are merged.
pub(super) const RUNS_OF_A_TIER: usize = 10;

/// The runs to merge into one, for runs of so many entries, oldest first. None: there are few enough.
pub(super) fn runs_to_merge(entries: &[u64]) -> Option<Range<usize>> {
    let mut end = entries.len();
    let mut tier = 0;
    while end > 0 {
        tier = tier.max(tier_of(entries[end - 1]));
        let same = entries[..end].iter().rev().take_while(|entries| tier_of(**entries) <= tier);
        let start = end - same.count();
        if end - start >= RUNS_OF_A_TIER {
            return Some(start..end);
        }
        end = start;
    }
    None
}

fn tier_of(entries: u64) -> u32 {
    entries.checked_ilog10().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds runs of these sizes, and merges. Returns the runs, and the entries that merges wrote.
    fn add_all(runs: &mut Vec<u64>, adds: impl IntoIterator<Item = u64>) -> u64 {
        let mut written = 0;
        for add in adds {
            runs.push(add);
            while let Some(merged) = runs_to_merge(runs) {
                let sum = runs[merged.clone()].iter().sum();
                written += sum;
                runs.splice(merged, [sum]);
            }
        }
        written
    }

    #[test]
    fn ten_runs_of_a_tier_become_one() {
        assert_eq!(runs_to_merge(&[]), None);
        assert_eq!(runs_to_merge(&[5; 9]), None);
        assert_eq!(runs_to_merge(&[5; 10]), Some(0..10));
        assert_eq!(runs_to_merge(&[vec![1_000], vec![5; 10]].concat()), Some(1..11));
        assert_eq!(runs_to_merge(&[vec![1_000; 10], vec![5; 9]].concat()), Some(0..10));
        // Nine of each tier remain.
        assert_eq!(runs_to_merge(&[vec![1_000; 9], vec![100; 9], vec![0; 9]].concat()), None);
    }

    #[test]
    fn small_runs_between_large_ones_are_merged_with_them() {
        let runs = [10_000, 10, 1, 10, 1, 10, 1, 10, 1, 10, 100, 1];
        assert_eq!(runs_to_merge(&runs), Some(1..11));
    }

    #[test]
    fn large_runs_are_not_merged_with_every_ninth_add() {
        let mut runs = vec![1_000_000_000];
        let written = add_all(&mut runs, [1_000_000; 89]);
        assert_eq!(written, 80_000_000);
        assert_eq!(runs.len(), 1 + 8 + 9);
    }

    #[test]
    fn a_key_is_written_once_for_each_tier_that_it_rises() {
        let mut runs = Vec::new();
        assert_eq!(add_all(&mut runs, [1; 10_000]), 4 * 10_000);
        assert_eq!(runs, [10_000]);
    }

    #[test]
    fn runs_and_writes_are_few_for_adds_of_any_sizes() {
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33
        };
        for most in [1, 3, 6] {
            let adds: Vec<u64> = (0..20_000)
                .map(|_| 10u64.pow((random() % (most + 1)) as u32) * (1 + random() % 9))
                .collect();
            let mut runs = Vec::new();
            let written = add_all(&mut runs, adds.iter().copied());
            let sum: u64 = adds.iter().sum();
            let tiers = u64::from(tier_of(sum)) + 1;
            assert_eq!(runs.iter().sum::<u64>(), sum);
            assert!(runs.len() as u64 <= 9 * tiers, "{runs:?}");
            assert!(written <= 10 * tiers * sum, "{written} of {sum}");
        }
    }
}
