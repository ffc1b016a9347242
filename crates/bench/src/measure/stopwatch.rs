//! The time and the resources of one pass.

use crate::counters::{Counters, Reading, Usage};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// A pass over a corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimedPass {
    /// Seconds by the wall clock.
    pub seconds: f64,
    /// CPU time and events of the whole process in that time.
    pub usage: Usage,
}

/// A pass that has begun.
#[derive(Debug)]
pub struct Stopwatch<'c> {
    counters: &'c mut Counters,
    reading: Reading,
    start: Instant,
}

impl<'c> Stopwatch<'c> {
    /// Begins a pass. The counters are read outside its time.
    pub fn start(counters: &'c mut Counters) -> Self {
        let reading = counters.read();
        Self { counters, reading, start: Instant::now() }
    }

    /// Ends the pass.
    pub fn stop(self) -> TimedPass {
        let seconds = self.start.elapsed().as_secs_f64();
        TimedPass { seconds, usage: self.counters.read().since(&self.reading) }
    }
}
