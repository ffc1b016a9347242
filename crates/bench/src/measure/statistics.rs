//! Estimates and 95 % intervals of what was measured in several runs of the process.
//!
//! All passes of a run share its memory layout and the state of the machine, so a run counts as one observation. With
//! five runs the percentiles of a bootstrap are too narrow, so its standard error is multiplied by Student's t instead.
//! The tests below simulate the coverage.

use crate::corpus::random::Rng;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// How often the runs are drawn anew.
const RESAMPLES: usize = 500;

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Of two logarithms, the middle and half of the width.
    pub fn around(middle: f64, half: f64) -> Self {
        Self { low: (middle - half).exp(), high: (middle + half).exp() }
    }

    /// Whether the value is in it.
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

impl Display for Interval {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} to {:.2}", self.low, self.high)
    }
}

/// The middle value, or the mean of the two in the middle. NaN if there are none.
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    let (middle, is_even) = (values.len() / 2, values.len().is_multiple_of(2));
    if values.is_empty() {
        return f64::NAN;
    }
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    let lower = below.iter().copied().max_by(f64::total_cmp).filter(|_| is_even);
    lower.map_or(upper, |lower| (lower + upper) / 2.0)
}

/// The mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Half of the width of an estimate's 95 % interval, by a bootstrap that draws the runs of each sample with
/// replacement. None if a sample has fewer than two runs. The same values give the same width.
///
/// The degrees of freedom are those of the smallest sample: runs that follow each other are more alike than those of
/// another hour, so with those of all samples two results of one program differed too often.
pub fn half_width<const N: usize>(
    samples: [&[f64]; N],
    estimate: impl Fn(&[Vec<f64>; N]) -> f64,
) -> Option<f64> {
    let fewest = samples.iter().map(|sample| sample.len()).min().filter(|fewest| *fewest > 1)?;
    let mut rng = Rng::new(1);
    let mut draw = || {
        let drawn = samples.map(|sample| {
            let any = |_: &f64| sample[rng.below(sample.len() as u64) as usize];
            sample.iter().map(any).collect()
        });
        estimate(&drawn)
    };
    let estimates: Vec<f64> = (0..RESAMPLES).map(|_| draw()).collect();
    Some(student_t(fewest - 1) * variance(&estimates).sqrt())
}

/// The variance of the population that the values are a sample of.
fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (values.len() as f64 - 1.0)
}

/// The 97.5 % quantile of Student's t for so many degrees of freedom.
fn student_t(freedom: usize) -> f64 {
    const SMALL: [f64; 10] =
        [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    if freedom > SMALL.len() {
        let freedom = freedom as f64;
        // The expansion of Cornish and Fisher.
        let z: f64 = 1.959_964;
        let first = (z.powi(3) + z) / 4.0;
        let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
        return z + first / freedom + second / freedom.powi(2);
    }
    SMALL[freedom - 1]
}

/// A number from the standard normal distribution, by twelve uniform ones.
#[cfg(test)]
pub fn normal(rng: &mut Rng) -> f64 {
    let sum: f64 = (0..12).map(|_| (rng.bits() >> 11) as f64 / (1u64 << 53) as f64).sum();
    sum - 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle_value() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[1.0, 4.0, 2.0, 8.0]), 3.0);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn one_run_has_no_interval_and_equal_runs_have_an_empty_one() {
        let width = |runs: &[f64]| half_width([runs], |[drawn]| median(drawn));
        assert_eq!(width(&[1.0]), None);
        assert_eq!(width(&[2.0; 5]), Some(0.0));
    }

    #[test]
    fn student_t_agrees_with_tables() {
        for (freedom, table) in [(1, 12.706), (4, 2.776), (10, 2.228), (12, 2.179), (30, 2.042)] {
            assert!((student_t(freedom) - table).abs() < 0.005, "{freedom}");
        }
    }

    /// How often the interval of a median holds the truth.
    fn coverage(runs: usize, tails: bool) -> f64 {
        let mut rng = Rng::new(7);
        let (trials, mut held) = (300, 0);
        for _ in 0..trials {
            let mut log = || {
                let tail = if tails && rng.chance(100) { 0.2 * normal(&mut rng) } else { 0.0 };
                0.03 * normal(&mut rng) + tail
            };
            let logs: Vec<f64> = (0..runs).map(|_| log()).collect();
            let half = half_width([&logs], |[drawn]| median(drawn)).expect("several runs");
            held += u32::from(median(&logs).abs() <= half);
        }
        f64::from(held) / f64::from(trials)
    }

    #[test]
    fn interval_holds_the_truth_in_19_of_20_cases() {
        for (runs, tails) in [(3, false), (5, false), (5, true), (9, true), (15, true)] {
            let held = coverage(runs, tails);
            assert!(held >= 0.93, "{runs} runs: {held}");
        }
    }
}
