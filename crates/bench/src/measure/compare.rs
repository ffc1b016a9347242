//! Two results beside each other: each row, the largest effect first, then one ratio for all.

use super::order::RowKey;
use super::result::{Document, FORMAT, ResultRow};
use super::statistics::{Interval, half_width, mean, median};
use super::table::heading;
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use uniqurl_formats::input::read_whole;
use uniqurl_text::Printable;

/// Relative standard error between two results of the same program that their runs do not show: the place of their files
/// in memory, and neighbours that stay for minutes.
const SESSION_ERROR: f64 = 0.007;

/// What others take while one result is measured they may leave to the next: so much of that share is an error, too.
const OF_BUSY_SHARE: f64 = 0.1;

/// Two results that may be compared.
#[derive(Debug)]
pub struct Comparison {
    a: Document,
    b: Document,
}

/// How many times as fast B is.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Effect {
    ratio: f64,
    /// If both have at least two runs.
    interval: Option<Interval>,
}

impl Effect {
    /// The median of the ratios of each run of A to each of B, given as logarithms of times. `error` is the relative
    /// standard error that the runs do not show.
    fn new(a: &[f64], b: &[f64], error: f64) -> Self {
        let median_of_ratios = |a: &[f64], b: &[f64]| {
            let ratios = a.iter().flat_map(|a| b.iter().map(move |b| a - b));
            median(&ratios.collect::<Vec<_>>())
        };
        let middle = median_of_ratios(a, b);
        let half = half_width([a, b], |[a, b]| median_of_ratios(a, b));
        // The error is known, so it counts with the quantile of the normal distribution.
        let half = half.map(|half| half.hypot(1.96 * error));
        let interval = half.map(|half| Interval::around(middle, half));
        Self { ratio: middle.exp(), interval }
    }
}

impl Comparison {
    /// Reads both. The error is a sentence.
    pub fn read(a: &Path, b: &Path) -> Result<Self, String> {
        let names = [a, b].map(|path| Printable::path(path).to_string());
        let comparison = Self { a: read(a)?, b: read(b)? };
        // Rates on other bytes say nothing about the program.
        for corpus in &comparison.a.corpora {
            let other = comparison.b.corpus(&corpus.name);
            if let Some(other) = other.filter(|other| other.sha256 != corpus.sha256) {
                return Err(format!(
                    "{} and {} measured different bytes as `{}` ({} and {}); use the same --size for both",
                    names[0],
                    names[1],
                    Printable(corpus.name.as_bytes()),
                    corpus.bytes,
                    other.bytes,
                ));
            }
        }
        if comparison.pairs().is_empty() {
            return Err(format!("{} and {} have no measurement in common", names[0], names[1]));
        }
        Ok(comparison)
    }

    /// Warnings for readers of the comparison: of different versions and machines, and of busy ones.
    pub fn warnings(&self) -> Vec<String> {
        let printable = |text: &str| Printable(text.as_bytes()).to_string();
        let mut warnings = Vec::new();
        let [a, b] = [&self.a, &self.b].map(|document| printable(&document.program.version));
        if a != b {
            warnings.push(format!("warning: A is of uniqurl {a}, and B of uniqurl {b}"));
        }
        if !self.is_one_machine() {
            let [a, b] = [&self.a, &self.b].map(|document| printable(&document.machine.summary()));
            warnings.push(format!("warning: A is of another machine ({a}) than B ({b})"));
        }
        for (name, document) in [("A", &self.a), ("B", &self.b)] {
            if document.is_busy() {
                let share = 100.0 * document.busy();
                warnings.push(format!(
                    "warning: the machine was busy when {name} was measured: others took {share:.0} % of its CPU \
                     time, so the intervals are wide"
                ));
            }
        }
        warnings
    }

    fn is_one_machine(&self) -> bool {
        self.a.machine.summary() == self.b.machine.summary()
    }

    /// The stages that both measured. The machine's limits are no work of uniqurl.
    fn pairs(&self) -> Vec<(&ResultRow, &ResultRow)> {
        let stages = self.a.rows.iter().filter(|row| !row.key.work.is_limit());
        let partner = |a: &ResultRow| self.b.rows.iter().find(|b| b.key == a.key);
        stages.filter_map(|a| Some((a, partner(a)?))).collect()
    }

    /// The effect on some rows, which count as one observation for each run, since they share its noise.
    fn effect(&self, pairs: &[(&ResultRow, &ResultRow)]) -> Effect {
        let keys: Vec<_> = pairs.iter().map(|(a, _)| &a.key).collect();
        let is_one = self.is_one_machine();
        let [a, b] = [&self.a, &self.b].map(|document| of_runs(document, &keys, is_one));
        // Other machines differ by far more than by what others take there.
        let busy = if is_one { self.a.busy().hypot(self.b.busy()) } else { 0.0 };
        Effect::new(&a, &b, SESSION_ERROR.hypot(OF_BUSY_SHARE * busy))
    }
}

/// For each run the mean logarithm of the times of these rows. `is_relative` divides each time by those of the limits
/// beside it: on one machine a slow hour slows both, and between machines the limits are a part of the difference.
fn of_runs(document: &Document, keys: &[&RowKey], is_relative: bool) -> Vec<f64> {
    let of_run = |run: usize| {
        let time = |row: &ResultRow| Some(row.seconds.get(run)?.ln());
        let is_beside = |row: &ResultRow, key: &RowKey| {
            row.key.work.is_limit()
                && (&row.key.corpus, row.key.threads) == (&key.corpus, key.threads)
        };
        let of_key = |key: &&RowKey| {
            let row = time(document.rows.iter().find(|row| row.key == **key)?)?;
            let limits = document.rows.iter().filter(|row| is_beside(row, key));
            let limits: Vec<f64> = limits.filter_map(time).collect();
            Some(if is_relative && !limits.is_empty() { row - mean(&limits) } else { row })
        };
        mean(&keys.iter().filter_map(of_key).collect::<Vec<_>>())
    };
    (0..document.runs.len()).map(of_run).collect()
}

fn read(path: &Path) -> Result<Document, String> {
    let name = Printable::path(path);
    let text = read_whole(path).map_err(|error| error.to_string())?;
    let no_result = |error| format!("{name}: not a result of uniqurl bench{error}");
    let value: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| no_result(format!(": {error}")))?;
    // The version comes first: another one may have other members.
    match value["format"].as_u64() {
        Some(format) if format == u64::from(FORMAT) => {}
        Some(format) => {
            return Err(format!(
                "{name}: version {format} of the format of results, and this uniqurl reads {FORMAT}"
            ));
        }
        None => return Err(no_result(String::new())),
    }
    serde_json::from_value(value).map_err(|error| no_result(format!(": {error}")))
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "A: {}\nB: {}\n", heading(&self.a), heading(&self.b))?;
        writeln!(
            f,
            "  {:8}{:14}{:>7} {:>8} {:>8} {:>8}  95 % interval",
            "corpus", "work", "threads", "A GB/s", "B GB/s", "B/A"
        )?;
        let pairs = self.pairs();
        let mut rows: Vec<_> = pairs.iter().map(|pair| (self.effect(&[*pair]), pair)).collect();
        // Of the logarithm, so that twice and half as fast are equally large.
        let size = |effect: &Effect| effect.ratio.ln().abs();
        rows.sort_by(|(a, _), (b, _)| size(b).total_cmp(&size(a)));
        for (effect, (a, b)) in &rows {
            let interval = effect.interval.map_or(String::new(), |interval| interval.to_string());
            let corpus = Printable(a.key.corpus.as_bytes()).to_string();
            let [of_a, of_b] = [a, b].map(|row| row.gb_per_second.median);
            writeln!(
                f,
                "  {corpus:8}{:14}{:>7} {of_a:8.2} {of_b:8.2} {:7.2}x  {interval}",
                a.key.work, a.key.threads, effect.ratio,
            )?;
        }
        let noun = if rows.len() == 1 { "row" } else { "rows" };
        let how = match self.is_one_machine() {
            true => "each time divided by those of the machine's limits beside it",
            false => "the times as they are",
        };
        writeln!(f, "\nB/A: how many times as fast B is, {how}; the largest effect first.")?;
        let Effect { ratio, interval } = self.effect(&pairs);
        write!(f, "\nGeometric mean of B/A: {ratio:.3} of {} {noun}", rows.len())?;
        match interval {
            None => writeln!(f, ", without an interval: a result of one run has none."),
            Some(interval) => {
                let verdict = match interval.holds(1.0) {
                    true => "no difference",
                    false if ratio > 1.0 => "B is faster",
                    false => "B is slower",
                };
                let Interval { low, high } = interval;
                writeln!(f, ", 95 % interval {low:.3} to {high:.3}: {verdict}.")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::random::Rng;
    use crate::measure::statistics::normal;

    /// A result of some runs of a program that takes `slower` times as long. `noise` is that of a run; a part of it
    /// stays for the whole result, and few runs meet a program that comes and goes.
    fn result(rng: &mut Rng, runs: usize, slower: f64, noise: f64) -> Vec<f64> {
        let session = 0.004 * normal(rng);
        let run = |_| {
            let burst = if rng.chance(50) { 5.0 * noise * normal(rng).abs() } else { 0.0 };
            slower.ln() + session + noise * normal(rng) + burst
        };
        (0..runs).map(run).collect()
    }

    /// In how many of 100 pairs the interval leaves 1 out.
    fn claims(runs: usize, slower: f64, noise: f64) -> usize {
        let mut rng = Rng::new(3);
        let claims_one = |_: &i32| {
            let a = result(&mut rng, runs, 1.0, noise);
            let b = result(&mut rng, runs, slower, noise);
            let interval = Effect::new(&a, &b, SESSION_ERROR).interval.expect("several runs");
            !interval.holds(1.0)
        };
        (0..100).filter(claims_one).count()
    }

    #[test]
    fn same_program_differs_from_itself_in_1_of_20_pairs_at_most() {
        for (runs, noise) in [(5, 0.0), (5, 0.03), (5, 0.1), (15, 0.01), (15, 0.1)] {
            let claimed = claims(runs, 1.0, noise);
            assert!(claimed <= 5, "{runs} runs, noise {noise}: {claimed} of 100");
        }
    }

    #[test]
    fn slowdown_of_5_percent_is_found_in_8_of_10_pairs_and_one_of_1_percent_is_not() {
        for (runs, noise) in [(5, 0.01), (15, 0.01), (15, 0.02), (15, 0.03)] {
            let found = claims(runs, 1.05, noise);
            assert!(found >= 80, "{runs} runs, {noise}: 5 % in {found} of 100");
            let small = claims(runs, 1.01, noise);
            assert!(small <= 25, "{runs} runs, {noise}: 1 % in {small} of 100");
        }
    }

    #[test]
    fn exact_slowdown_has_its_ratio_and_one_run_no_interval() {
        let a = [0.0, 0.01, -0.01];
        let b = a.map(|time| time + 0.5f64.ln());
        let effect = Effect::new(&a, &b, SESSION_ERROR);
        assert!((effect.ratio - 2.0).abs() < 1e-9);
        assert!(effect.interval.is_some_and(|interval| interval.holds(2.0)));
        assert_eq!(Effect::new(&a[..1], &b, SESSION_ERROR).interval, None);
    }

    #[test]
    fn busy_machine_widens_the_interval() {
        let width = |error| {
            let interval = Effect::new(&[0.0; 5], &[0.0; 5], error).interval.expect("five runs");
            interval.high - interval.low
        };
        assert!(width(SESSION_ERROR) < 0.03 && width(0.05) > 0.15);
    }
}
