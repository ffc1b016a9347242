//! Two results side by side.

use super::result::{Document, FORMAT, StageRow};
use super::table::heading;
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use uniqurl::bytes::Printable;
use uniqurl_formats::input::read_whole;

/// Two results that may be compared.
#[derive(Debug)]
pub struct Comparison {
    a: Document,
    b: Document,
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
        if comparison.pairs().next().is_none() {
            return Err(format!(
                "{} and {} have no measurement in common",
                Printable::path(a.0),
                Printable::path(b.0)
            ));
        }
        Ok(comparison)
    }

    /// A warning for readers of the comparison, if the two results are not directly comparable.
    pub fn warning(&self) -> Option<String> {
        let (a, b) = (&self.a.uniqurl, &self.b.uniqurl);
        (a != b).then(|| {
            let [a, b] = [a, b].map(|version| Printable(version.as_bytes()).to_string());
            format!("warning: A is of uniqurl {a}, and B of uniqurl {b}")
        })
    }

    /// The rows that both have, and the fastest scanners of each kind of work if those differ.
    fn pairs(&self) -> impl Iterator<Item = (String, &StageRow, &StageRow)> {
        let b = &self.b.results;
        let partner =
            move |a: &StageRow| b.iter().find(move |b| same_work(a, b) && a.backend == b.backend);
        let exact =
            self.a.results.iter().filter_map(move |a| Some((a.backend.clone(), a, partner(a)?)));
        let fastest = self.a.results.iter().filter_map(move |row| {
            let best = |rows: &'_ [StageRow]| {
                let rows = rows.iter().enumerate().filter(|(_, other)| same_work(row, other));
                rows.min_by(|(_, x), (_, y)| x.seconds.median.total_cmp(&y.seconds.median))
                    .map(|(i, _)| i)
            };
            let (best_a, best_b) = (best(&self.a.results)?, best(b)?);
            let (best_a, best_b) = (&self.a.results[best_a], &b[best_b]);
            // Once for each kind of work, and only if the scanners differ.
            let told = std::ptr::eq(row, best_a) && best_a.backend != best_b.backend;
            told.then(|| (format!("{}:{}", best_a.backend, best_b.backend), best_a, best_b))
        });
        exact.chain(fastest)
    }
}

/// Whether two rows did the same work, perhaps with different scanners.
fn same_work(a: &StageRow, b: &StageRow) -> bool {
    (&a.corpus, &a.profile, &a.stage, a.threads) == (&b.corpus, &b.profile, &b.stage, b.threads)
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
            "  {:8}{:13}{:11}{:15}{:>7} {:>9} {:>9} {:>7}  {:>11} {:>11}",
            "corpus",
            "profile",
            "stage",
            "backend",
            "threads",
            "A GB/s",
            "B GB/s",
            "B/A",
            "A x newlines",
            "B x newlines"
        )?;
        let mut rows = 0;
        for (backend, a, b) in self.pairs() {
            rows += 1;
            let texts = [&a.corpus, &a.profile, &a.stage, &backend];
            let [corpus, profile, stage, backend] =
                texts.map(|text| Printable(text.as_bytes()).to_string());
            writeln!(
                f,
                "  {corpus:8}{profile:13}{stage:11}{backend:15}{:>7} {:9.2} {:9.2} {:6.2}x  {:12.2} {:12.2}",
                a.threads,
                a.gb_per_second,
                b.gb_per_second,
                a.seconds.median / b.seconds.median,
                a.x_newlines,
                b.x_newlines
            )?;
        }
        let (a, b) = (self.a.results.len(), self.b.results.len());
        let noun = if rows == 1 { "row" } else { "rows" };
        writeln!(f, "\nB/A: how many times as fast B is. {rows} {noun}, of {a} in A and {b} in B.")
    }
}
