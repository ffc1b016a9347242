//! How many times as fast one result is as another, with a 95 % interval.
//!
//! The state of the machine changes from run to run and from hour to hour, and it slows the limits too, which are
//! timed beside the rows. So on one machine the difference of the rows is taken at equal limits: an analysis of
//! covariance, with the mean logarithm of the times of a run's rows as the result, and that of its limits as the
//! covariate. If the limits of the two results differ more than they do from run to run, the interval grows.
//! Between machines the limits are a part of the difference, so nothing is taken out.
//!
//! All rows of a run count as one observation, since they share its noise. The interval comes from Student's t
//! and not from a bootstrap: of five runs a bootstrap often draws five with nearly equal limits.

use super::statistics::{Interval, mean, student_t, variance};

/// Relative standard error that remains between two results of the same program, and that runs of one
/// result do not show: the place of their files in memory, and neighbours that stay for minutes.
const SESSION_ERROR: f64 = 0.007;

/// On a disturbed machine results differ more, too: by this share of the standard deviation of runs. Without it,
/// 9 to 11 of 15 intervals held 1.00 where other programs came and went by the minute; with it, 12.
const SESSION_SHARE: f64 = 0.5;

/// A run: the mean logarithms of the times of its rows and of its limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunPoint {
    /// Of the rows.
    pub rows: f64,
    /// Of the limits.
    pub limits: f64,
}

/// Whether two results are of the same machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machines {
    /// Rows are compared at equal limits.
    Same,
    /// Rows are compared as they are.
    Different,
}

/// How many times as fast B is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// The geometric mean over the rows.
    pub ratio: f64,
    /// Its interval, if both have at least two runs.
    pub interval: Option<Interval>,
}

impl Effect {
    /// Compares the runs of A with those of B.
    pub fn new(a: &[RunPoint], b: &[RunPoint], machines: Machines) -> Self {
        let rows = [a, b].map(|runs| runs.iter().map(|run| run.rows).collect::<Vec<_>>());
        let limits = [a, b].map(|runs| runs.iter().map(|run| run.limits).collect::<Vec<_>>());
        let plain = mean(&rows[0]) - mean(&rows[1]);
        if a.len() < 2 || b.len() < 2 {
            return Self { ratio: plain.exp(), interval: None };
        }
        let at_equal_limits = match machines {
            Machines::Same => adjusted(&rows, &limits),
            Machines::Different => None,
        };
        let (difference, error, freedom) = at_equal_limits.unwrap_or_else(|| welch(&rows));
        // The error of the session is known, so it counts with the quantile of the normal distribution.
        let half = ((student_t(freedom) * error).powi(2) + (1.96 * SESSION_ERROR).powi(2)).sqrt();
        let interval = Interval { low: (difference - half).exp(), high: (difference + half).exp() };
        Self { ratio: difference.exp(), interval: Some(interval) }
    }
}

/// The variance of a result, in variances of a run.
fn of_mean(rows: &[f64]) -> f64 {
    1.0 / rows.len() as f64 + SESSION_SHARE.powi(2)
}

/// The difference of two means, its standard error, and the degrees of freedom by Welch.
fn welch(rows: &[Vec<f64>; 2]) -> (f64, f64, f64) {
    let parts = rows.each_ref().map(|rows| variance(rows) * of_mean(rows));
    let sum = parts[0] + parts[1];
    let weights: f64 =
        parts.iter().zip(rows).map(|(part, rows)| part.powi(2) / (rows.len() - 1) as f64).sum();
    let fewest = rows[0].len().min(rows[1].len()) - 1;
    let freedom = if weights > 0.0 { sum.powi(2) / weights } else { fewest as f64 };
    (mean(&rows[0]) - mean(&rows[1]), sum.sqrt(), freedom)
}

/// The same at equal limits. None if there are too few runs, or if the limits never vary.
fn adjusted(rows: &[Vec<f64>; 2], limits: &[Vec<f64>; 2]) -> Option<(f64, f64, f64)> {
    let count = (rows[0].len() + rows[1].len()) as f64;
    let freedom = count - 3.0;
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (rows, limits) in rows.iter().zip(limits) {
        let (row, limit) = (mean(rows), mean(limits));
        for (y, x) in rows.iter().zip(limits) {
            xx += (x - limit).powi(2);
            xy += (x - limit) * (y - row);
            yy += (y - row).powi(2);
        }
    }
    if freedom < 2.0 || xx < 1e-9 {
        return None;
    }
    let slope = xy / xx;
    let apart = mean(&limits[0]) - mean(&limits[1]);
    let difference = mean(&rows[0]) - mean(&rows[1]) - slope * apart;
    let residual = (yy - slope * xy).max(0.0) / freedom;
    let of_means: f64 = rows.iter().map(|rows| of_mean(rows)).sum();
    let error = (residual * (of_means + apart.powi(2) / xx)).sqrt();
    Some((difference, error, freedom))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::random::Rng;
    use crate::measure::synthetic::normal;

    /// A result of five runs. The machine's noise is common to rows and limits: a part stays for the result, a part
    /// changes with each run.
    fn result(rng: &mut Rng, slower: f64, noise: f64) -> Vec<RunPoint> {
        let session = noise * normal(rng);
        let own = 0.004 * normal(rng);
        let run = |_| {
            let machine = session + noise * normal(rng);
            RunPoint {
                rows: 0.7 * machine + own + slower.ln() + 0.008 * normal(rng),
                limits: machine + 0.004 * normal(rng),
            }
        };
        (0..5).map(run).collect()
    }

    /// In how many of 1,000 pairs the interval leaves 1 out.
    fn claims(slower: f64, noise: f64) -> usize {
        let mut rng = Rng::new(3);
        let claims_one = |_: &i32| {
            let (a, b) = (result(&mut rng, 1.0, noise), result(&mut rng, slower, noise));
            let interval = Effect::new(&a, &b, Machines::Same).interval.expect("five runs");
            !interval.holds(1.0)
        };
        (0..1000).filter(claims_one).count()
    }

    #[test]
    fn same_program_differs_from_itself_in_1_of_20_pairs_at_most() {
        for noise in [0.0, 0.01, 0.05, 0.1] {
            let claimed = claims(1.0, noise);
            assert!(claimed <= 50, "{noise}: {claimed} of 1000");
        }
    }

    #[test]
    fn slowdown_of_5_percent_is_found_and_one_of_1_percent_is_not() {
        for noise in [0.0, 0.02, 0.05] {
            let (found, small) = (claims(1.05, noise), claims(1.01, noise));
            assert!(found >= 900, "{noise}: 5 % in {found} of 1000");
            assert!(small <= 100, "{noise}: 1 % in {small} of 1000");
        }
    }

    #[test]
    fn exact_slowdown_has_its_ratio_and_one_run_no_interval() {
        let a = [1.0, 1.01, 0.99].map(|rows| RunPoint { rows, limits: 0.0 });
        let b = a.map(|run| RunPoint { rows: run.rows + 0.5f64.ln(), ..run });
        for machines in [Machines::Same, Machines::Different] {
            let effect = Effect::new(&a, &b, machines);
            assert!((effect.ratio - 2.0).abs() < 1e-9);
            assert!(effect.interval.is_some_and(|interval| interval.holds(2.0)));
        }
        assert_eq!(Effect::new(&a[..1], &b, Machines::Same).interval, None);
    }

    #[test]
    fn slower_hour_is_no_slower_program() {
        let a = [0.0, 0.02, -0.02, 0.01, -0.01].map(|x| RunPoint { rows: x, limits: x });
        let b = a.map(|run| RunPoint { rows: run.rows + 0.1, limits: run.limits + 0.1 });
        let at_equal_limits = Effect::new(&a, &b, Machines::Same);
        assert!((at_equal_limits.ratio - 1.0).abs() < 1e-9);
        assert!((Effect::new(&a, &b, Machines::Different).ratio - (-0.1f64).exp()).abs() < 1e-9);
    }
}
