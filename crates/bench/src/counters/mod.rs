//! The cost of work: time, CPU time, and events of the processor, of the whole process.

#[cfg_attr(not(target_os = "linux"), path = "no_events.rs")]
mod events;

use crate::machine::cpu_seconds;
use events::{EventCount, Events};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Counters that are running.
///
/// Events are counted for the thread that opens the counters and for all threads that it or its descendants start
/// later, while they live too. So one set of counters, opened before the first pool, covers pools that live for the
/// whole run and the threads that each run of the pipeline starts. Counters of single threads would miss the latter.
#[derive(Debug)]
pub struct Counters {
    events: Events,
}

/// The cost of one pass over a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Seconds by the wall clock.
    pub seconds: f64,
    /// CPU time of all threads, that in the kernel included.
    pub cpu_seconds: f64,
    /// Cycles of the cores outside of the kernel.
    pub cycles: Option<u64>,
    /// Instructions outside of the kernel.
    pub instructions: Option<u64>,
}

impl Counters {
    /// Opens them. Call it before threads are started that are to be counted.
    pub fn open() -> Self {
        Self { events: Events::open() }
    }

    /// Does the work, and tells what it cost. The events are read outside of the time.
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> (Cost, T) {
        let earlier = self.events.read();
        let (start, cpu) = (Instant::now(), cpu_seconds());
        let done = work();
        let (seconds, cpu_seconds) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
        let now = self.events.read();
        let count = |i: usize| EventCount::between(earlier[i]?, now[i]?);
        (Cost { seconds, cpu_seconds, cycles: count(0), instructions: count(1) }, done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn work_of_threads_is_counted() {
        let mut counters = Counters::open();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("started");
        let work = |_: rayon::BroadcastContext<'_>| {
            (0..20_000_000_u64).fold(0, |sum: u64, n| black_box(sum.rotate_left(5) ^ n))
        };
        let (cost, sums) = counters.time(|| pool.broadcast(work));
        assert_eq!(sums.len(), 2);
        assert!(cost.seconds > 0.0 && cost.cpu_seconds > 0.0, "{cost:?}");
        let least = Some(2 * 20_000_000);
        assert!(cost.instructions.is_none() || cost.instructions >= least, "{cost:?}");
    }
}
