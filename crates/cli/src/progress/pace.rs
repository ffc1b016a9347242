//! How fast a phase of a run is: over its last seconds, so that a change shows soon.

use std::collections::VecDeque;
use std::mem::{Discriminant, discriminant};
use std::time::{Duration, Instant};

use uniqurl_engine::Phase;

/// The time over which a rate is measured.
const WINDOW: Duration = Duration::from_secs(5);

/// The least time that gives a rate.
const LEAST: Duration = Duration::from_millis(200);

/// The bytes of a phase over time.
#[derive(Debug)]
pub(super) struct Pace {
    phase: Discriminant<Phase>,
    start: Instant,
    /// Times and bytes, the oldest about as long ago as the window.
    samples: VecDeque<(Instant, u64)>,
}

impl Pace {
    pub fn start(now: Instant) -> Self {
        let samples = VecDeque::from([(now, 0)]);
        Self { phase: discriminant(&Phase::Reading), start: now, samples }
    }

    /// Notes the state at this time.
    pub fn note(&mut self, now: Instant, phase: Phase, bytes: u64) {
        if discriminant(&phase) != self.phase {
            *self = Self { phase: discriminant(&phase), ..Self::start(now) };
        }
        self.samples.push_back((now, bytes));
        // One that is older than the window stays, as the beginning of the rate.
        while self.samples.get(1).is_some_and(|(time, _)| now - *time >= WINDOW) {
            self.samples.pop_front();
        }
    }

    /// The time since the phase began.
    pub fn elapsed(&self) -> Duration {
        self.samples.back().map_or(Duration::ZERO, |(now, _)| *now - self.start)
    }

    /// Bytes a second, if there are any.
    pub fn rate(&self) -> Option<f64> {
        let ((start, before), (now, bytes)) = (self.samples.front()?, self.samples.back()?);
        let time = *now - *start;
        // After the first sample no time has passed. What a division by it gives is no rate, since `LEAST` is more.
        let rate = bytes.saturating_sub(*before) as f64 / time.as_secs_f64();
        (time >= LEAST && rate > 0.0).then_some(rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_is_that_of_the_last_seconds_and_of_the_phase() {
        let start = Instant::now();
        let mut pace = Pace::start(start);
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(pace.rate(), None);
        (1..=10).for_each(|second| pace.note(at(second), Phase::Reading, second * 100));
        assert_eq!(pace.rate(), Some(100.0));
        (11..=30)
            .for_each(|second| pace.note(at(second), Phase::Reading, 1000 + (second - 10) * 10));
        assert_eq!(pace.rate(), Some(10.0));
        assert_eq!(pace.elapsed(), Duration::from_secs(30));
        (30..33).for_each(|second| pace.note(at(second), Phase::Sorting, 0));
        assert_eq!((pace.rate(), pace.elapsed()), (None, Duration::from_secs(2)));
    }
}
