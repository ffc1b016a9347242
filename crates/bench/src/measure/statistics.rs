//! Estimates and 95 % intervals of times that were measured in several runs of the process.
//!
//! All repeats of a run share its memory layout and the state of the machine, so repeats alone say nothing about
//! the next run: intervals are taken across runs. With five runs the percentiles of a bootstrap are too narrow, so
//! its standard error is multiplied by Student's t instead. The tests below simulate the coverage.

use crate::corpus::random::Rng;
use serde::{Deserialize, Serialize};

/// How often the runs are drawn anew.
const RESAMPLES: usize = 2000;

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether the value is in it.
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The middle value, or the mean of the two in the middle. NaN if there are none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    median_in_place(&mut sorted)
}

/// Sorts the values.
fn median_in_place(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 0 => (values[middle - 1] + values[middle]) / 2.0,
        _ => values[middle],
    }
}

/// The value that a quarter of the values is not above: of three the lowest, of five the second. NaN if there
/// are none.
pub fn lower_quartile(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(values.len().saturating_sub(1) / 4).copied().unwrap_or(f64::NAN)
}

/// The median over runs of the medians in each.
pub fn median_of_medians(runs: &[Vec<f64>]) -> f64 {
    let medians: Vec<f64> = runs.iter().map(|run| median(run)).collect();
    median(&medians)
}

/// The 95 % interval of [`median_of_medians`], by a bootstrap that draws runs, then repeats within them. None if
/// there are fewer than two runs. The same times give the same interval.
pub fn interval(runs: &[Vec<f64>]) -> Option<Interval> {
    let n = runs.len();
    if n < 2 {
        return None;
    }
    let logs: Vec<Vec<f64>> =
        runs.iter().map(|run| run.iter().map(|time| time.ln()).collect()).collect();
    let mut rng = Rng::new(1);
    let (mut drawn, mut medians) = (Vec::new(), Vec::with_capacity(n));
    let mut estimates = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        medians.clear();
        for _ in 0..n {
            let run = &logs[rng.below(n as u64) as usize];
            drawn.clear();
            drawn.extend((0..run.len()).map(|_| run[rng.below(run.len() as u64) as usize]));
            medians.push(median_in_place(&mut drawn));
        }
        estimates.push(median_in_place(&mut medians));
    }
    let error = variance(&estimates).sqrt();
    let half = student_t((n - 1) as f64) * error;
    let middle = median_of_medians(&logs);
    Some(Interval { low: (middle - half).exp(), high: (middle + half).exp() })
}

/// The mean.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The variance of the population that the values are a sample of.
pub fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (values.len() as f64 - 1.0)
}

/// The 97.5 % quantile of Student's t for so many degrees of freedom, at least one.
pub fn student_t(freedom: f64) -> f64 {
    const SMALL: [f64; 10] =
        [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    let freedom = freedom.max(1.0);
    if freedom >= 10.0 {
        // The expansion of Cornish and Fisher.
        let z: f64 = 1.959_964;
        let first = (z.powi(3) + z) / 4.0;
        let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
        return z + first / freedom + second / freedom.powi(2);
    }
    // Nearly linear in the reciprocal.
    let below = freedom.floor();
    let (a, b) = (SMALL[below as usize - 1], SMALL[below as usize]);
    let share = (1.0 / below - 1.0 / freedom) * below * (below + 1.0);
    a + (b - a) * share
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::synthetic::normal;

    #[test]
    fn median_is_the_middle_value() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[1.0, 4.0, 2.0, 8.0]), 3.0);
        assert_eq!(median_of_medians(&[vec![1.0, 9.0, 2.0], vec![5.0], vec![3.0, 3.0]]), 3.0);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn lower_quartile_is_among_the_lowest_values() {
        let of = |n: u32| lower_quartile(&(1..=n).rev().map(f64::from).collect::<Vec<_>>());
        assert_eq!([1, 2, 3, 5, 9].map(of), [1.0, 1.0, 1.0, 2.0, 3.0]);
        assert!(lower_quartile(&[]).is_nan());
    }

    #[test]
    fn one_run_has_no_interval_and_equal_runs_have_an_empty_one() {
        assert_eq!(interval(&[vec![1.0, 2.0]]), None);
        let equal = interval(&vec![vec![2.0; 3]; 5]).expect("five runs");
        assert!((equal.low - 2.0).abs() < 1e-9 && (equal.high - 2.0).abs() < 1e-9);
    }

    #[test]
    fn student_t_agrees_with_tables() {
        for (freedom, table) in [(1.0, 12.706), (4.0, 2.776), (12.0, 2.179), (30.0, 2.042)] {
            assert!((student_t(freedom) - table).abs() < 0.005, "{freedom}");
        }
        assert!(student_t(4.5) < student_t(4.0) && student_t(4.5) > student_t(5.0));
    }

    /// How often the interval holds the truth.
    fn coverage(runs: usize, tails: bool) -> f64 {
        let mut rng = Rng::new(7);
        let (trials, mut held) = (400, 0);
        for _ in 0..trials {
            let times: Vec<Vec<f64>> = (0..runs)
                .map(|_| {
                    let mut common = 0.03 * normal(&mut rng);
                    if tails && rng.chance(100) {
                        common += 0.2 * normal(&mut rng);
                    }
                    (0..3).map(|_| (common + 0.02 * normal(&mut rng)).exp()).collect()
                })
                .collect();
            let interval = interval(&times).expect("several runs");
            held += u32::from(interval.holds(1.0));
        }
        f64::from(held) / f64::from(trials)
    }

    #[test]
    fn interval_holds_the_truth_in_19_of_20_cases() {
        for (runs, tails) in [(3, false), (5, false), (5, true), (9, true)] {
            let held = coverage(runs, tails);
            assert!(held >= 0.93, "{runs} runs: {held}");
        }
    }
}
