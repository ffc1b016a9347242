//! Sorting by bytes, where the bytes are far away.
//!
//! A comparison sort would fetch two URLs from memory at each comparison, and most of them start
//! alike. Here the next bytes of each URL are brought beside its place, the places are sorted by
//! them, and only those that are still equal go on to the bytes behind (a most-significant-digit
//! radix sort whose digit is fifteen bytes). Each step fetches a URL once.

use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSliceMut;

use super::set::SetFull;
use crate::room;

/// Bytes of a digit; the one behind them says how many there were.
const DIGIT: usize = 15;

/// A group of this size is worth the help of other threads.
const LARGE: usize = 1 << 14;

/// Who sorts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    /// All threads of the pool.
    All,
    /// The thread that asks. One that waits for others may be given another task meanwhile, and then
    /// holds the memory of both.
    One,
}

/// Memory that sorting takes for each place.
pub(crate) const MEMORY: usize = size_of::<(u128, u64)>();

/// Sorts places by the bytes that `get` finds there, which are all different. Fails where there is
/// no memory for it.
pub(crate) fn sort<'a>(
    places: &mut [u64],
    get: &(impl Fn(u64) -> &'a [u8] + Sync),
    threads: Threads,
) -> Result<(), SetFull> {
    let mut keyed: Vec<(u128, u64)> = Vec::new();
    room::reserve_exact(&mut keyed, places.len())?;
    keyed.extend(places.iter().map(|place| (0, *place)));
    sort_from(0, &mut keyed, get, threads);
    for (place, (_, sorted)) in places.iter_mut().zip(keyed) {
        *place = sorted;
    }
    Ok(())
}

/// Sorts URLs that are equal up to `depth`.
fn sort_from<'a>(
    depth: usize,
    keyed: &mut [(u128, u64)],
    get: &(impl Fn(u64) -> &'a [u8] + Sync),
    threads: Threads,
) {
    let is_small = |length| length < LARGE || threads == Threads::One;
    let fetch = |(key, place): &mut (u128, u64)| *key = digit(get(*place), depth);
    if is_small(keyed.len()) {
        keyed.iter_mut().for_each(fetch);
        keyed.sort_unstable();
    } else {
        keyed.par_chunks_mut(LARGE / 4).for_each(|part| part.iter_mut().for_each(fetch));
        keyed.par_sort_unstable();
    }
    // A digit that is not full is the end of its URL, and no other URL is equal to it.
    let goes_on = |group: &[(u128, u64)]| group.len() > 1 && group[0].0 as u8 as usize == DIGIT;
    let groups = keyed.chunk_by_mut(|a, b| a.0 == b.0).filter(|group| goes_on(group));
    if threads == Threads::One {
        return groups.for_each(|group| sort_from(depth + DIGIT, group, get, threads));
    }
    rayon::scope(|scope| {
        for group in groups {
            if is_small(group.len()) {
                sort_from(depth + DIGIT, group, get, threads);
            } else {
                scope.spawn(move |_| sort_from(depth + DIGIT, group, get, threads));
            }
        }
    });
}

/// The bytes of a URL from `depth` on, so that digits compare as the bytes do: a shorter one first.
fn digit(url: &[u8], depth: usize) -> u128 {
    let rest = url.get(depth..).unwrap_or_default();
    let length = rest.len().min(DIGIT);
    let mut digit = [0; 16];
    digit[..length].copy_from_slice(&rest[..length]);
    digit[DIGIT] = length as u8;
    u128::from_be_bytes(digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::cases;

    #[test]
    fn places_come_out_in_the_order_of_their_bytes() {
        let mut urls: Vec<Vec<u8>> = vec![Vec::new(), vec![0], vec![0, 0], vec![0xFF]];
        let mut state = 1u64;
        for i in 0..cases(40_000) as u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let host = "a-long-common-prefix.".repeat((state >> 60) as usize % 4);
            urls.push(format!("https://{host}/{}/{i}", state >> 48 & 7).into_bytes());
        }
        for length in 0..64 {
            urls.push(vec![b'a'; length + 1]);
        }
        for threads in [Threads::All, Threads::One] {
            let mut places: Vec<u64> = (0..urls.len() as u64).collect();
            sort(&mut places, &|place| urls[place as usize].as_slice(), threads).unwrap();
            let sorted: Vec<_> = places.iter().map(|place| &urls[*place as usize]).collect();
            assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]), "{threads:?}");
        }
    }
}
