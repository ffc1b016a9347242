//! A median and its 95 % interval.

use std::hash::{BuildHasher, RandomState};

/// How often the rounds are drawn anew.
const DRAWS: usize = 1000;

/// The 97.5 % quantiles of Student's t, for 1 to 10 degrees of freedom.
const STUDENT: [f64; 10] = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23];

/// The median of times or of ratios, and its interval.
#[derive(Clone, Copy)]
pub struct Estimate {
    pub median: f64,
    /// The ends of the interval. A single round has none.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// Of the values of each round. The percentiles of a bootstrap are too narrow for so few of them, so the
    /// deviation of its medians is multiplied by Student's t.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len();
        let middle = median(&mut values.to_vec());
        let random = RandomState::new();
        let drawn = |draw: usize| {
            let at = |i: usize| random.hash_one((draw, i)) as usize % n;
            median(&mut (0..n).map(|i| values[at(i)].ln()).collect::<Vec<_>>())
        };
        let medians: Vec<f64> = (0..DRAWS).map(drawn).collect();
        let mean = medians.iter().sum::<f64>() / DRAWS as f64;
        let variance = medians.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / DRAWS as f64;
        let interval = (n > 1).then(|| {
            let student = STUDENT.get(n - 2).copied().unwrap_or(1.96 + 2.8 / (n - 1) as f64);
            let width = (student * variance.sqrt()).exp();
            (middle / width, middle * width)
        });
        Self { median: middle, interval }
    }

    /// In another unit.
    pub fn times(self, factor: f64) -> Self {
        let interval = self.interval.map(|(low, high)| (low * factor, high * factor));
        Self { median: self.median * factor, interval }
    }

    /// For people: the median, and the interval in brackets.
    pub fn text(self, decimals: usize) -> String {
        let interval =
            self.interval.map(|(low, high)| format!(" ({low:.decimals$}-{high:.decimals$})"));
        format!("{:.decimals$}{}", self.median, interval.unwrap_or_default())
    }

    /// For JSON: the interval as an array.
    pub fn interval_json(self) -> String {
        self.interval.map_or("null".to_owned(), |(low, high)| format!("[{low:.3},{high:.3}]"))
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}
