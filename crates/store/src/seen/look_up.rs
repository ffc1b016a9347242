//! Looks keys up, many at a time and in order.

use rayon::prelude::*;

use super::error::SeenStoreError;
use super::keys::SortedKeys;
use super::run::{Mark, Run, WantedKeys, hash};
use super::store::SeenStore;
use super::time::UnixTime;

/// Keys that are looked up at the same time: their numbers are 32 bits.
const AT_ONCE: usize = 1 << 24;

impl SeenStore {
    /// Whether each of the keys is in the store, in their order. With `since`, only keys count that were added
    /// at this time or later.
    ///
    /// Works on the threads of the current rayon pool. The newest run that holds a key decides. In each run the
    /// filters tell most keys that it does not hold; the others need the blocks that may hold them. The time
    /// is linear in the number of keys, for each run, and in those blocks. Memory: 13 bytes for each
    /// key, and for each thread a filter and some blocks.
    ///
    /// # Errors
    ///
    /// A run cannot be read or is damaged.
    pub fn look_up<K: SortedKeys + ?Sized>(
        &self,
        keys: &K,
        since: Option<UnixTime>,
    ) -> Result<Vec<bool>, SeenStoreError> {
        let mut seen = vec![false; keys.len()];
        for start in (0..keys.len()).step_by(AT_ONCE) {
            let end = keys.len().min(start + AT_ONCE);
            look_up(self.runs(), keys, start, since, &mut seen[start..end])?;
        }
        Ok(seen)
    }
}

/// Looks up as many keys as there are places in `seen`, from the key `first` on.
fn look_up<K: SortedKeys + ?Sized>(
    runs: &[Run],
    keys: &K,
    first: usize,
    since: Option<UnixTime>,
    seen: &mut [bool],
) -> Result<(), SeenStoreError> {
    let numbers = 0..seen.len() as u32;
    let hashes: Vec<u64> = (first..first + seen.len())
        .into_par_iter()
        // A hash takes some nanoseconds, less than handing a few of them to another thread.
        .with_min_len(1 << 10)
        .map(|at| hash(keys.get(at)))
        .collect();
    let mut wanted: Vec<u32> = numbers.collect();
    for run in runs.iter().rev() {
        if wanted.is_empty() {
            break;
        }
        let found = run.look_up(&WantedKeys { keys, first, hashes: &hashes, wanted: &wanted })?;
        let is_recent = |add: u32| {
            let add = run.adds().get(add as usize);
            add.is_some_and(|add| since.is_none_or(|since| add.time >= since))
        };
        // Whatever it says about a key, older runs do not count.
        let mut decided = found.iter().map(|(number, _)| *number).peekable();
        wanted.retain(|number| decided.next_if_eq(number).is_none());
        for (number, mark) in found {
            if let Mark::Added(add) = mark {
                seen[number as usize] = is_recent(add);
            }
        }
    }
    Ok(())
}
