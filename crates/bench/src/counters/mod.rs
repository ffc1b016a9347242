//! The cost of work: CPU time, page faults, events of the processor and energy.
//!
//! All values are of the whole process, and of the time between two readings.

mod cpu_time;
mod energy;
#[cfg_attr(not(target_os = "linux"), path = "no_events.rs")]
mod events;

use crate::machine::{WhyNull, read_file};
use cpu_time::CpuTime;
use energy::{Energy, EnergyReading};
use events::{EventCount, Events};
use serde::{Deserialize, Serialize};

/// Counters that are running.
///
/// Events are counted for the thread that opens the counters and for all threads that it or its descendants start
/// later, while they live too. So one set of counters, opened before the first pool, covers pools that live for the
/// whole run and the threads that each run of the pipeline starts. Counters of single threads would miss the latter.
/// Threads that are older, such as one that waits for signals, are not covered.
#[derive(Debug)]
pub struct Counters {
    events: Events,
    energy: Result<Energy, String>,
}

/// The state of the counters at one moment.
#[derive(Debug, Clone)]
pub struct Reading {
    time: CpuTime,
    events: [Option<EventCount>; 3],
    energy: Option<EnergyReading>,
}

/// The difference of two readings. Reasons for nulls are those of [`Counters::why_null`].
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// CPU time of all threads, that in the kernel included.
    pub cpu_seconds: Option<f64>,
    /// CPU time in the kernel, in steps of mostly 10 ms.
    pub system_seconds: Option<f64>,
    /// Page faults without input or output; most are the first touch of a page.
    pub minor_faults: Option<u64>,
    /// Page faults with input or output.
    pub major_faults: Option<u64>,
    /// Cycles of the cores outside of the kernel.
    pub cycles: Option<u64>,
    /// Instructions outside of the kernel.
    pub instructions: Option<u64>,
    /// Accesses outside of the kernel that the last-level cache did not have.
    pub cache_misses: Option<u64>,
    /// Energy of all processor packages and their memory, also by other processes.
    pub joules: Option<f64>,
}

impl Counters {
    /// Opens them. Call it before threads are started that are to be counted.
    pub fn open() -> Self {
        Self { events: Events::open(), energy: Energy::find(&read_file) }
    }

    /// The state now.
    pub fn read(&mut self) -> Reading {
        Reading {
            time: CpuTime::now(&read_file),
            events: self.events.read(),
            energy: self.energy.as_ref().ok().and_then(|energy| energy.read(&read_file).ok()),
        }
    }

    /// The reasons for the fields of [`Usage`] that are always null.
    pub fn why_null(&self) -> WhyNull {
        let mut why = CpuTime::why_null(&read_file);
        for (name, reason) in self.events.missing() {
            why.0.insert(name.to_owned(), reason);
        }
        why.known("joules", self.energy.as_ref().map_err(Clone::clone));
        why
    }
}

impl Reading {
    /// The usage between an earlier reading and this one.
    pub fn since(&self, earlier: &Self) -> Usage {
        let count = |i: usize| EventCount::between(earlier.events[i]?, self.events[i]?);
        let [cycles, instructions, cache_misses] = [count(0), count(1), count(2)];
        let difference = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        let seconds = |now: Option<f64>, then: Option<f64>| Some((now? - then?).max(0.0));
        let (now, then) = (&self.time, &earlier.time);
        Usage {
            cpu_seconds: seconds(now.all, then.all),
            system_seconds: seconds(now.system, then.system),
            minor_faults: difference(now.minor_faults, then.minor_faults),
            major_faults: difference(now.major_faults, then.major_faults),
            cycles,
            instructions,
            cache_misses,
            joules: self.energy.as_ref().zip(earlier.energy.as_ref()).map(|(a, b)| a.since(b)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    fn work() -> u64 {
        (0..20_000_000_u64).fold(0, |sum, n| black_box(sum.rotate_left(5) ^ n))
    }

    #[test]
    fn work_of_threads_is_counted_and_nulls_have_reasons() {
        let mut counters = Counters::open();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("started");
        let before = counters.read();
        pool.broadcast(|_| black_box(work()));
        let usage = counters.read().since(&before);
        let json = serde_json::to_value(usage).expect("JSON");
        let mut nulls: Vec<_> =
            json.as_object().expect("fields").iter().filter(|(_, value)| value.is_null()).collect();
        nulls.sort_unstable_by_key(|(name, _)| *name);
        let reasons = counters.why_null();
        assert_eq!(
            nulls.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            reasons.0.keys().collect::<Vec<_>>()
        );
        assert!(usage.cpu_seconds > Some(0.0), "{usage:?}");
    }

    #[test]
    fn usage_is_plain_json() {
        let usage = Usage { cpu_seconds: Some(1.5), cycles: Some(7), ..Usage::default() };
        let json = serde_json::to_value(usage).expect("JSON");
        assert_eq!((json["cycles"].as_u64(), json["joules"].is_null()), (Some(7), true));
        assert_eq!(serde_json::from_value::<Usage>(json).expect("the same"), usage);
    }
}
