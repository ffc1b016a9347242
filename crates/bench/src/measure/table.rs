//! A result as a table for people.

use super::result::{Document, Times};
use std::fmt::{self, Display, Formatter};
use uniqurl::bytes::Printable;

/// Prints a result.
#[derive(Debug)]
pub struct ResultTable<'a>(pub &'a Document);

impl Display for ResultTable<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let document = self.0;
        writeln!(f, "{}", heading(document))?;
        for corpus in &document.corpora {
            writeln!(
                f,
                "\n{}: {} bytes, {} records, {} distinct, seed {}, SHA-256 {:.16}...\n",
                corpus.name,
                corpus.bytes,
                corpus.records,
                corpus.distinct,
                corpus.seed,
                corpus.sha256
            )?;
            writeln!(
                f,
                "  {:13}{:11}{:9}{:>7} {:>8}  {:17} {:>8} {:>11}",
                "profile",
                "stage",
                "backend",
                "threads",
                "GB/s",
                "min..max",
                "ns/URL",
                "x newlines"
            )?;
            let limits = document.limits.iter().filter(|row| row.corpus == corpus.name);
            for row in limits.clone() {
                let (rate, nanoseconds) = (row.gb_per_second, row.ns_per_url);
                let newlines = limits
                    .clone()
                    .find(|other| other.limit == "newline count" && other.threads == row.threads);
                let ratio = newlines.map_or(f64::NAN, |n| row.seconds.median / n.seconds.median);
                let spread = spread(&row.seconds, |seconds| corpus.rate(seconds));
                writeln!(
                    f,
                    "  {:33}{:>7} {rate:8.2}  {spread:17} {nanoseconds:8.1} {ratio:11.2}",
                    row.limit, row.threads
                )?;
            }
            for row in document.results.iter().filter(|row| row.corpus == corpus.name) {
                let (rate, nanoseconds) = (row.gb_per_second, row.ns_per_url);
                let (spread, ratio) = (spread(&row.seconds, |s| corpus.rate(s)), row.x_newlines);
                writeln!(
                    f,
                    "  {:13}{:11}{:9}{:>7} {rate:8.2}  {spread:17} {nanoseconds:8.1} {ratio:11.2}",
                    row.profile, row.stage, row.backend, row.threads
                )?;
            }
        }
        Ok(())
    }
}

/// When and on which machine a result was measured. The text is escaped, since anyone may have made the file.
pub fn heading(document: &Document) -> String {
    let machine = document.machine.summary();
    let text = format!("{machine}, uniqurl {}, {}", document.uniqurl, document.date);
    Printable(text.as_bytes()).to_string()
}

/// The slowest and the fastest rate.
fn spread(times: &Times, rate: impl Fn(f64) -> f64) -> String {
    format!("{:.2}..{:.2}", rate(times.max), rate(times.min))
}
