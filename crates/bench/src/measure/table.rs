//! A result as a table for people.

use super::result::{CorpusInfo, Document, Times};
use std::fmt::{self, Display, Formatter};
use uniqurl_text::Printable;

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
            rows(f, document, corpus)?;
        }
        if let Some(score) = &document.score {
            writeln!(f, "\n{score}")?;
        }
        Ok(())
    }
}

fn rows(f: &mut Formatter<'_>, document: &Document, corpus: &CorpusInfo) -> fmt::Result {
    writeln!(
        f,
        "  {:13}{:14}{:9}{:>7} {:>8}  {:17} {:>8} {:>9}",
        "profile", "stage", "backend", "threads", "GB/s", "95 % interval", "ns/URL", "roofline"
    )?;
    for row in document.limits.iter().filter(|row| row.key.corpus == corpus.name) {
        let (rate, nanoseconds) = (row.gb_per_second, row.ns_per_url);
        let interval = interval(&row.seconds, corpus);
        writeln!(
            f,
            "  {:36}{:>7} {rate:8.2}  {interval:17} {nanoseconds:8.1}",
            row.key.limit, row.key.threads
        )?;
    }
    for row in document.results.iter().filter(|row| row.key.corpus == corpus.name) {
        let (rate, nanoseconds) = (row.gb_per_second, row.ns_per_url);
        let (interval, share) = (interval(&row.seconds, corpus), 100.0 * row.roofline);
        let key = &row.key;
        writeln!(
            f,
            "  {:13}{:14}{:9}{:>7} {rate:8.2}  {interval:17} {nanoseconds:8.1} {share:7.0} %",
            key.profile, key.stage, key.backend, key.threads
        )?;
    }
    Ok(())
}

/// When and on which machine a result was measured. The text is escaped, since anyone may have made the file.
pub fn heading(document: &Document) -> String {
    let machine = document.machine.summary();
    let text = format!("{machine}, uniqurl {}, {}", document.uniqurl, document.date);
    Printable(text.as_bytes()).to_string()
}

/// The interval of the rate. Empty for a single run.
fn interval(times: &Times, corpus: &CorpusInfo) -> String {
    match (times.low, times.high) {
        (Some(low), Some(high)) => {
            format!("{:.2}..{:.2}", corpus.rate(high), corpus.rate(low))
        }
        _ => String::new(),
    }
}
