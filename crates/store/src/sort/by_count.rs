//! Sorts URLs by their counts, the greatest first, and those of equal counts by bytes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::{Threads, Urls, in_turn, sort};
use uniqurl::SetFull;
use uniqurl::internal::AllocError;

/// Of URLs with equal counts, sorting all costs less than selecting more than this share of them.
const SORT_ALL_FROM: usize = 4;

/// Sorts places by the counts of their URLs, and leaves `limit` of them if there are more. Fails if memory
/// runs out.
pub fn sort_by_count(
    places: &mut Vec<u64>,
    urls: &impl Urls,
    count: impl Fn(u64) -> u64 + Sync,
    limit: Option<u64>,
    threads: Threads,
) -> Result<(), SetFull> {
    let limit = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    if places.len() > limit {
        select(places, urls, &count, limit, threads)?;
    }
    let by_count = |place: &u64| Reverse(count(*place));
    match threads {
        Threads::All => places.par_sort_unstable_by_key(by_count),
        Threads::One => places.sort_unstable_by_key(by_count),
    }
    // Counts are at hand, and the bytes of a URL are a cache miss. So only equal counts are told by
    // bytes.
    let equal = places.chunk_by_mut(|a, b| count(*a) == count(*b));
    equal.filter(|group| group.len() > 1).try_for_each(|group| sort(group, urls, threads))
}

/// Leaves the first `limit` places of the order, unsorted. Only URLs with the least count among them are
/// compared by bytes.
fn select(
    places: &mut Vec<u64>,
    urls: &impl Urls,
    count: &impl Fn(u64) -> u64,
    limit: usize,
    threads: Threads,
) -> Result<(), SetFull> {
    let Some(last) = limit.checked_sub(1) else {
        places.clear();
        return Ok(());
    };
    // Selecting is linear. Of a top list, most places are dropped before a byte of their URLs is
    // read.
    let (_, least, _) = places.select_nth_unstable_by_key(last, |place| Reverse(count(*place)));
    let least = count(*least);
    places.retain(|place| count(*place) >= least);
    places.sort_unstable_by_key(|place| count(*place) == least);
    let greater = places.partition_point(|place| count(*place) > least);
    let equal = &mut places[greater..];
    let wanted = limit - greater;
    if wanted >= equal.len() / SORT_ALL_FROM {
        sort(equal, urls, threads)?;
    } else {
        let mut first = BinaryHeap::new();
        first.try_reserve_exact(wanted).map_err(|_| AllocError)?;
        for place in in_turn(equal, urls) {
            let url = urls.get(place);
            if first.len() < wanted {
                first.push((url, place));
            } else if let Some(mut last) = first.peek_mut()
                && url < last.0
            {
                *last = (url, place);
            }
        }
        for (to, (_, place)) in equal.iter_mut().zip(first) {
            *to = place;
        }
    }
    places.truncate(limit);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_util::cases;

    #[test]
    fn places_are_sorted_by_count_and_then_by_bytes() {
        let many = cases(20_000) as u64;
        let urls: Vec<Vec<u8>> = (0..many)
            .map(|n| format!("http://h/{}", n.wrapping_mul(0x9E37_79B9) & 0xFFFF_FFFF).into())
            .collect();
        // Most URLs are equally frequent, and a few are much more frequent.
        for rare in [1, 3, 1000] {
            let count = |place: u64| if place.is_multiple_of(rare) { place / rare % 7 } else { 1 };
            let mut expected: Vec<u64> = (0..many).collect();
            expected.sort_by_key(|place| (Reverse(count(*place)), &urls[*place as usize]));
            for limit in [0, 1, 5, many / 9, many / 2, many - 1, many, u64::MAX] {
                for (threads, limit) in
                    [(Threads::All, Some(limit)), (Threads::One, Some(limit)), (Threads::One, None)]
                {
                    let mut places: Vec<u64> = (0..many).collect();
                    sort_by_count(&mut places, &urls, count, limit, threads).unwrap();
                    let first = limit.map_or(many, |limit| limit.min(many)) as usize;
                    assert!(places == expected[..first], "{rare} {limit:?} {threads:?}");
                }
            }
        }
    }
}
