//! Time by the clock, and CPU time of this process.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};
use std::time::Instant;

/// Seconds by the clock, and seconds of CPU time.
#[derive(Clone, Copy, Default)]
pub struct Seconds {
    pub wall: f64,
    /// Zero where the system does not tell.
    pub cpu: f64,
}

/// A moment.
pub struct Clock {
    wall: Instant,
    cpu: f64,
}

impl Clock {
    pub fn start() -> Self {
        Self { cpu: cpu_seconds(), wall: Instant::now() }
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Seconds {
        Seconds { wall: self.wall.elapsed().as_secs_f64(), cpu: cpu_seconds() - self.cpu }
    }
}

impl Add for Seconds {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { wall: self.wall + other.wall, cpu: self.cpu + other.cpu }
    }
}

impl AddAssign for Seconds {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Seconds {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { wall: self.wall - other.wall, cpu: self.cpu - other.cpu }
    }
}

impl Sum for Seconds {
    fn sum<I: Iterator<Item = Self>>(seconds: I) -> Self {
        seconds.fold(Self::default(), Self::add)
    }
}

/// CPU seconds of all threads so far, in the hundredths that Linux counts.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may hold blanks.
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
