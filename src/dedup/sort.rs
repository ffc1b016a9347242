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
    match threads {
        Threads::All if keyed.len() >= LARGE => {
            rayon::scope(|scope| sort_large(scope, 0, &mut keyed, get));
        }
        Threads::All | Threads::One => sort_small(0, &mut keyed, get),
    }
    for (place, (_, sorted)) in places.iter_mut().zip(keyed) {
        *place = sorted;
    }
    Ok(())
}

/// Sorts URLs that are equal up to `depth`, many of them, on all threads.
fn sort_large<'s, 'a>(
    scope: &rayon::Scope<'s>,
    depth: usize,
    keyed: &'s mut [(u128, u64)],
    get: &'s (impl Fn(u64) -> &'a [u8] + Sync),
) {
    keyed.par_chunks_mut(LARGE / 4).for_each(|part| fetch(depth, part, get));
    keyed.par_sort_unstable();
    for group in still_equal(keyed) {
        match group.len() < LARGE {
            true => sort_small(depth + DIGIT, group, get),
            false => scope.spawn(move |scope| sort_large(scope, depth + DIGIT, group, get)),
        }
    }
}

/// Sorts URLs that are equal up to `depth`, on this thread.
fn sort_small<'a>(mut depth: usize, mut keyed: &mut [(u128, u64)], get: &impl Fn(u64) -> &'a [u8]) {
    while !keyed.is_empty() {
        fetch(depth, keyed, get);
        keyed.sort_unstable();
        depth += DIGIT;
        // The largest group goes on here. The others are no more than half of all, so that the stack holds
        // few of them, however far long URLs are equal.
        let mut largest = &mut [][..];
        for group in still_equal(keyed) {
            let smaller = match group.len() > largest.len() {
                true => std::mem::replace(&mut largest, group),
                false => group,
            };
            sort_small(depth, smaller, get);
        }
        keyed = largest;
    }
}

/// Brings the bytes at `depth` beside the places.
fn fetch<'a>(depth: usize, keyed: &mut [(u128, u64)], get: &impl Fn(u64) -> &'a [u8]) {
    for (key, place) in keyed {
        *key = digit(get(*place), depth);
    }
}

/// The groups that their digit does not tell apart. One that is not full is the end of its URL, and no other
/// URL is equal to it.
fn still_equal(keyed: &mut [(u128, u64)]) -> impl Iterator<Item = &mut [(u128, u64)]> {
    let goes_on =
        |group: &&mut [(u128, u64)]| group.len() > 1 && group[0].0 as u8 as usize == DIGIT;
    keyed.chunk_by_mut(|a, b| a.0 == b.0).filter(goes_on)
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

    #[test]
    fn urls_that_are_equal_for_long_take_no_more_stack() {
        let start = "a".repeat(1 << 20);
        let pair = ["b", "a"].map(|end| format!("{start}{end}").into_bytes());
        // One goes its own way at each digit.
        let stairs = (0..2_000).map(|n| format!("{}b", &start[..n * DIGIT]).into_bytes());
        let urls: Vec<Vec<u8>> = pair.into_iter().chain(stairs).collect();
        for threads in [Threads::All, Threads::One] {
            let mut places: Vec<u64> = (0..urls.len() as u64).collect();
            sort(&mut places, &|place| urls[place as usize].as_slice(), threads).unwrap();
            let sorted: Vec<_> = places.iter().map(|place| &urls[*place as usize]).collect();
            assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]), "{threads:?}");
        }
    }
}
