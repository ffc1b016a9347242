//! Goes through ranges in order: while some are worked on, the next ones are loaded.

use std::collections::VecDeque;

use rayon::prelude::*;

use super::entries::RangeEntries;
use super::load::{LoadedRange, RangePlan, load_range, range_memory};
use crate::sort::Threads;
use crate::spill::store::SpillError;
use crate::spill::stream::Stream;

/// Ranges that are loaded at once, for each thread, and bytes of more that are small.
const LOADED_AT_ONCE: usize = 2;
const SMALL: usize = 16 << 20;

/// A range that waits, and the estimated memory that it takes.
type WaitingRange = (Stream, usize);

/// Loads and sorts ranges within `memory`, and passes them to `take` in order. A range that does not fit is divided.
///
/// # Errors
///
/// The temporary file cannot be read or written, memory runs out, or the error of `take`.
pub fn each_range<E: From<SpillError> + Send>(
    ranges: Vec<Stream>,
    plan: &RangePlan<'_>,
    memory: usize,
    mut take: impl FnMut(&[RangeEntries]) -> Result<(), E> + Send,
) -> Result<(), E> {
    // Ranges that are worked on are in memory together with the next ones.
    let memory = memory / 2;
    let most = LOADED_AT_ONCE * rayon::current_num_threads();
    let waiting = ranges.into_iter().map(|range| estimated(range, plan));
    let mut waiting: VecDeque<WaitingRange> = waiting.collect::<Result<_, _>>()?;
    let mut loaded: Vec<RangeEntries> = Vec::new();
    while !waiting.is_empty() || !loaded.is_empty() {
        let group = next_group(&mut waiting, memory, most);
        let (taken, next) = rayon::join(|| take(&loaded), || load(&group, plan, memory));
        taken?;
        loaded = Vec::new();
        let mut again = Vec::new();
        for ((range, needed), next) in group.into_iter().zip(next?) {
            match next {
                LoadedRange::Sorted(entries) if again.is_empty() => loaded.push(entries),
                // A range before it is not loaded yet.
                LoadedRange::Sorted(_) => again.push((range, needed)),
                // The estimate was too low. Doubled, the range is loaded alone before it is ever
                // divided.
                LoadedRange::Larger => again.push((range, 2 * needed)),
                LoadedRange::Divided(smaller) => {
                    for range in smaller {
                        again.push(estimated(range, plan)?);
                    }
                }
            }
        }
        // In front of the others and in their order, since results come in the order of keys.
        again.into_iter().rev().for_each(|range| waiting.push_front(range));
    }
    Ok(())
}

fn estimated(range: Stream, plan: &RangePlan<'_>) -> Result<WaitingRange, SpillError> {
    let memory = range_memory(&range, plan)?;
    Ok((range, memory))
}

/// Takes the next ranges that fit into memory together, at least one.
fn next_group(
    waiting: &mut VecDeque<WaitingRange>,
    memory: usize,
    most: usize,
) -> Vec<WaitingRange> {
    let (mut group, mut needed) = (Vec::new(), 0);
    let fits = |group: &Vec<WaitingRange>, needed: usize| {
        group.is_empty() || needed <= memory && (group.len() < most || needed <= SMALL)
    };
    while waiting.front().is_some_and(|(_, more)| fits(&group, needed + *more))
        && let Some(next) = waiting.pop_front()
    {
        needed += next.1;
        group.push(next);
    }
    group
}

/// Loads ranges within `memory` all together.
fn load(
    group: &[WaitingRange],
    plan: &RangePlan<'_>,
    memory: usize,
) -> Result<Vec<LoadedRange>, SpillError> {
    // A range that is loaded alone has the memory and the threads of all.
    if let [(range, _)] = group {
        return Ok(vec![load_range(range, plan, memory, Threads::All)?]);
    }
    let all: usize = group.iter().map(|(_, needed)| needed).sum();
    let spare = memory.saturating_sub(all) / group.len().max(1);
    let ranges = group.par_iter().with_max_len(1);
    ranges.map(|(range, needed)| load_range(range, plan, needed + spare, Threads::One)).collect()
}
