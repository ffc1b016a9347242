//! Events of the processor, counted by Linux (`perf_event_open`).
//!
//! Only what happens outside of the kernel is counted: this is all that `perf_event_paranoid` 2 allows, the default
//! of the kernel. Each counter stands alone, since Linux cannot pass groups of counters on to new threads.

use perf_event::events::{Event, Hardware};
use perf_event::{Builder, Counter};
use std::io;

/// A counter for each event, if the system lets this process count it: most virtual machines have none.
#[derive(Debug)]
pub struct Events([Option<Counter>; 2]);

/// The state of one counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventCount {
    count: u64,
    /// Nanoseconds in which it was asked for.
    enabled: u64,
    /// Nanoseconds in which it counted. Fewer, if the processor has too few counters for all who ask.
    running: u64,
}

impl Events {
    /// Opens and starts the counters of cycles and instructions.
    pub fn open() -> Self {
        let events = [Hardware::CPU_CYCLES, Hardware::INSTRUCTIONS];
        Self(events.map(|event| open(event).ok().and_then(counting)))
    }

    /// The state of each.
    pub fn read(&mut self) -> [Option<EventCount>; 2] {
        self.0.each_mut().map(|counter| read(counter.as_mut()?))
    }
}

impl EventCount {
    /// The count between two readings, extrapolated if the counter did not run all the time.
    pub fn between(earlier: Self, now: Self) -> Option<u64> {
        let count = now.count.checked_sub(earlier.count)?;
        let enabled = now.enabled.checked_sub(earlier.enabled)?;
        let running = now.running.checked_sub(earlier.running)?;
        if running == 0 || running >= enabled {
            return (running > 0).then_some(count);
        }
        u64::try_from(u128::from(count) * u128::from(enabled) / u128::from(running)).ok()
    }
}

/// A counter of this thread and of those that it will start.
fn open(event: impl Into<Event>) -> io::Result<Counter> {
    let mut builder = Builder::new().observe_self().kind(event);
    builder.inherit(true);
    let mut counter = builder.build()?;
    counter.enable()?;
    Ok(counter)
}

fn read(counter: &mut Counter) -> Option<EventCount> {
    let now = counter.read_count_and_time().ok()?;
    Some(EventCount { count: now.count, enabled: now.time_enabled, running: now.time_running })
}

/// Some virtual machines let counters be opened that never count.
fn counting(mut counter: Counter) -> Option<Counter> {
    std::hint::black_box((0..1000_u64).sum::<u64>());
    read(&mut counter).filter(|now| now.running > 0 && now.count > 0)?;
    Some(counter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_util::not_tried;

    #[test]
    fn counter_that_ran_half_of_the_time_is_doubled() {
        let at = |count, enabled, running| EventCount { count, enabled, running };
        assert_eq!(EventCount::between(at(5, 10, 10), at(25, 30, 30)), Some(20));
        assert_eq!(EventCount::between(at(5, 10, 10), at(25, 30, 20)), Some(40));
        assert_eq!(EventCount::between(at(5, 10, 10), at(5, 30, 10)), None);
        assert_eq!(EventCount::between(at(5, 10, 10), at(4, 30, 30)), None);
    }

    #[test]
    fn threads_that_start_later_are_counted_while_they_live() {
        use perf_event::events::Software;
        use rustix::time::{ClockId, clock_gettime};
        // Every machine has this clock, but not everyone may use it.
        let mut counter = match open(Software::TASK_CLOCK) {
            Ok(counter) => counter,
            Err(error) => return not_tried(&error.to_string()),
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("started");
        let before = read(&mut counter).expect("a count");
        let spent = pool.broadcast(|_| {
            let now = || {
                let now = clock_gettime(ClockId::ThreadCPUTime);
                now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
            };
            let start = now();
            while now() - start < 20_000_000 {}
            now() - start
        });
        let after = read(&mut counter).expect("a count");
        let counted = EventCount::between(before, after).expect("it ran");
        assert!(counted >= spent.iter().sum::<u64>() * 9 / 10, "{counted} of {spent:?}");
    }
}
