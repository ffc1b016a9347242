//! Questions on all threads, until one of them finds a failure.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::tally::Tally;

/// Asks about every number of the range that is a number of steps from its start. Returns the failure, if any.
pub fn ask(
    threads: usize,
    numbers: Range<u64>,
    step: u64,
    tally: &mut Tally,
    one: impl Fn(u64, &mut Tally) -> Option<String> + Sync,
) -> Option<String> {
    let (next, failed) = (AtomicU64::new(numbers.start), AtomicBool::new(false));
    let (found, sum) = (Mutex::new(Vec::new()), Mutex::new(tally));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut tally = Tally::default();
                while !failed.load(Ordering::Relaxed) {
                    let number = next.fetch_add(step, Ordering::Relaxed);
                    if number >= numbers.end {
                        break;
                    }
                    if let Some(text) = one(number, &mut tally) {
                        failed.store(true, Ordering::Relaxed);
                        found.lock().unwrap().push((number, text));
                    }
                }
                sum.lock().unwrap().add(&tally);
            });
        }
    });
    // The failure of the lowest number, whichever thread finds one first.
    found.into_inner().unwrap().into_iter().min().map(|(_, text)| text)
}
