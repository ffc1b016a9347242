//! Two results beside each other: one ratio for all rows, then each row, the largest effect first.

use super::effect::{Effect, Machines, RunPoint};
use super::result::{Document, FORMAT, LimitRow, StageRow, Times};
use super::statistics::{lower_quartile, mean};
use super::table::heading;
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use uniqurl_formats::input::read_whole;
use uniqurl_text::Printable;

/// Two results that may be compared.
#[derive(Debug)]
pub struct Comparison {
    a: Document,
    b: Document,
}

/// A row of A and its partner in B.
struct Pair<'d> {
    backend: String,
    a: &'d StageRow,
    b: &'d StageRow,
    /// Whether both scanners are the same.
    is_exact: bool,
}

impl Comparison {
    /// Reads both. The error is a sentence.
    pub fn read(a: &Path, b: &Path) -> Result<Self, String> {
        let (a, b) = ((a, read(a)?), (b, read(b)?));
        for corpus in &a.1.corpora {
            let other = b.1.corpus(&corpus.name);
            if let Some(other) = other.filter(|other| other.sha256 != corpus.sha256) {
                return Err(format!(
                    "{} and {} measured different bytes as `{}` ({} with seed {}, and {} with seed {}); \
                     use the same --size and --seed for both",
                    Printable::path(a.0),
                    Printable::path(b.0),
                    Printable(corpus.name.as_bytes()),
                    corpus.bytes,
                    corpus.seed,
                    other.bytes,
                    other.seed
                ));
            }
        }
        let comparison = Self { a: a.1, b: b.1 };
        if comparison.pairs().is_empty() {
            return Err(format!(
                "{} and {} have no measurement in common",
                Printable::path(a.0),
                Printable::path(b.0)
            ));
        }
        Ok(comparison)
    }

    /// Warnings for readers of the comparison: of different versions and machines.
    pub fn warnings(&self) -> Vec<String> {
        let printable = |text: &str| Printable(text.as_bytes()).to_string();
        let mut warnings = Vec::new();
        if self.a.uniqurl != self.b.uniqurl {
            let [a, b] = [&self.a, &self.b].map(|document| printable(&document.uniqurl));
            warnings.push(format!("warning: A is of uniqurl {a}, and B of uniqurl {b}"));
        }
        if self.machines() == Machines::Different {
            let [a, b] = [&self.a, &self.b].map(|document| printable(&document.machine.summary()));
            warnings.push(format!("warning: A is of another machine ({a}) than B ({b})"));
        }
        warnings
    }

    fn machines(&self) -> Machines {
        let (a, b) = (&self.a, &self.b);
        match a.machine.summary() == b.machine.summary() && a.flags.pin == b.flags.pin {
            true => Machines::Same,
            false => Machines::Different,
        }
    }

    /// The rows that both have, and the fastest scanners of each kind of work if those differ.
    fn pairs(&self) -> Vec<Pair<'_>> {
        let b = &self.b.results;
        let exact = self.a.results.iter().filter_map(|row| {
            let b = b.iter().find(|other| other.key == row.key)?;
            Some(Pair { backend: row.key.backend.clone(), a: row, b, is_exact: true })
        });
        let fastest = self.a.results.iter().filter_map(|row| {
            let best = |rows: &'_ [StageRow]| {
                let rows = rows.iter().enumerate().filter(|(_, other)| same_work(row, other));
                rows.min_by(|(_, x), (_, y)| x.seconds.median.total_cmp(&y.seconds.median))
                    .map(|(i, _)| i)
            };
            let (a, b) = (&self.a.results[best(&self.a.results)?], &b[best(b)?]);
            // Once for each kind of work, and only if the scanners differ.
            let told = std::ptr::eq(row, a) && a.key.backend != b.key.backend;
            let backend = format!("{}:{}", a.key.backend, b.key.backend);
            told.then_some(Pair { backend, a, b, is_exact: false })
        });
        exact.chain(fastest).collect()
    }

    /// The effect on some pairs, all rows of a run taken together.
    fn effect(&self, pairs: &[&Pair<'_>]) -> Effect {
        let points = |rows: Vec<&StageRow>, limits: &[LimitRow]| -> Vec<RunPoint> {
            let beside = |row: &&StageRow| {
                let (corpus, threads) = (&row.key.corpus, row.key.threads);
                let of_row = move |limit: &&LimitRow| {
                    (&limit.key.corpus, limit.key.threads) == (corpus, threads)
                };
                limits.iter().filter(of_row).map(|limit| &limit.seconds).collect::<Vec<_>>()
            };
            let limits: Vec<&Times> = rows.iter().flat_map(beside).collect();
            let rows: Vec<&Times> = rows.iter().map(|row| &row.seconds).collect();
            let runs = rows.iter().chain(&limits).map(|times| times.runs.len()).min();
            let point = |n| RunPoint { rows: of_run(&rows, n), limits: of_run(&limits, n) };
            (0..runs.unwrap_or(0)).map(point).collect()
        };
        let a = points(pairs.iter().map(|pair| pair.a).collect(), &self.a.limits);
        let b = points(pairs.iter().map(|pair| pair.b).collect(), &self.b.limits);
        Effect::new(&a, &b, self.machines())
    }
}

/// The mean logarithm of the times of one run. Zero without times.
///
/// Other programs and guests only make passes slower, so the lower quartile of a run varies less than its median.
fn of_run(times: &[&Times], run: usize) -> f64 {
    let logs: Vec<f64> = times.iter().map(|times| lower_quartile(&times.runs[run]).ln()).collect();
    if logs.is_empty() { 0.0 } else { mean(&logs) }
}

/// Whether two rows did the same work, perhaps with different scanners.
fn same_work(a: &StageRow, b: &StageRow) -> bool {
    let work = |row: &StageRow| {
        let key = &row.key;
        (key.corpus.clone(), key.profile.clone(), key.stage.clone(), key.threads)
    };
    work(a) == work(b)
}

fn read(path: &Path) -> Result<Document, String> {
    let name = Printable::path(path);
    let text = read_whole(path).map_err(|error| error.to_string())?;
    let value: serde_json::Value = serde_json::from_slice(&text)
        .map_err(|error| format!("{name}: not a result of uniqurl bench: {error}"))?;
    match value["format"].as_u64() {
        Some(format) if format == u64::from(FORMAT) => {}
        Some(format) => {
            return Err(format!(
                "{name}: version {format} of the format of results, and this uniqurl reads {FORMAT}"
            ));
        }
        None => return Err(format!("{name}: not a result of uniqurl bench")),
    }
    serde_json::from_value(value)
        .map_err(|error| format!("{name}: not a result of uniqurl bench: {error}"))
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "A: {}\nB: {}\n", heading(&self.a), heading(&self.b))?;
        writeln!(
            f,
            "  {:8}{:13}{:14}{:15}{:>7} {:>8} {:>8} {:>8}  95 % interval",
            "corpus", "profile", "stage", "backend", "threads", "A GB/s", "B GB/s", "B/A"
        )?;
        let pairs = self.pairs();
        let mut rows: Vec<_> = pairs.iter().map(|pair| (self.effect(&[pair]), pair)).collect();
        let size = |effect: &Effect| effect.ratio.ln().abs();
        rows.sort_by(|(a, _), (b, _)| size(b).total_cmp(&size(a)));
        for (effect, Pair { backend, a, b, .. }) in &rows {
            let texts = [&a.key.corpus, &a.key.profile, &a.key.stage, backend];
            let [corpus, profile, stage, backend] =
                texts.map(|text| Printable(text.as_bytes()).to_string());
            let interval = effect.interval.map_or(String::new(), |interval| {
                format!("  {:.2}..{:.2}", interval.low, interval.high)
            });
            writeln!(
                f,
                "  {corpus:8}{profile:13}{stage:14}{backend:15}{:>7} {:8.2} {:8.2} {:7.2}x{interval}",
                a.key.threads, a.gb_per_second, b.gb_per_second, effect.ratio,
            )?;
        }
        let (a, b) = (self.a.results.len(), self.b.results.len());
        let noun = if rows.len() == 1 { "row" } else { "rows" };
        writeln!(f, "\nB/A: how many times as fast B is, the largest effect first.")?;
        writeln!(f, "{} {noun}, of {a} in A and {b} in B.", rows.len())?;
        self.verdict(f, &pairs)
    }
}

impl Comparison {
    /// The last line: all rows with the same scanner, or all if there are none.
    fn verdict(&self, f: &mut Formatter<'_>, pairs: &[Pair<'_>]) -> fmt::Result {
        let mut counted: Vec<&Pair<'_>> = pairs.iter().filter(|pair| pair.is_exact).collect();
        if counted.is_empty() {
            counted = pairs.iter().collect();
        }
        let Effect { ratio, interval } = self.effect(&counted);
        write!(f, "\nGeometric mean of B/A: {ratio:.3}")?;
        match interval {
            None => writeln!(f, ", without an interval: a result of one run has none."),
            Some(interval) => {
                write!(f, ", 95 % interval {:.3}..{:.3}: ", interval.low, interval.high)?;
                let verdict = match interval.holds(1.0) {
                    true => "no difference.",
                    false if ratio > 1.0 => "B is faster.",
                    false => "B is slower.",
                };
                writeln!(f, "{verdict}")
            }
        }
    }
}
