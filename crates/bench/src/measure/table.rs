//! A result as a table for people who have never seen one.

use super::order::CorpusInfo;
use super::result::{Document, Rate};
use super::work::Work;
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
            let CorpusInfo { name, bytes, records, distinct, .. } = corpus;
            let about = about(name);
            writeln!(
                f,
                "\n{name}: {about}; {bytes} bytes, {records} records, {distinct} distinct"
            )?;
            rows(f, document, name)?;
        }
        legend(f, document)?;
        if let Some(others) = document.about_others() {
            writeln!(f, "\n{others}")?;
        }
        writeln!(f, "\n{}", document.line_to_cite())
    }
}

fn rows(f: &mut Formatter<'_>, document: &Document, corpus: &str) -> fmt::Result {
    writeln!(
        f,
        "\n  {:15}{:>7} {:>8}  {:15} {:>8} {:>15}",
        "work", "threads", "GB/s", "95 % interval", "ns/URL", "of memory-read"
    )?;
    for row in document.rows.iter().filter(|row| row.key.corpus == corpus) {
        let Rate { median: rate, interval } = row.gb_per_second;
        let interval = interval.map_or(String::new(), |interval| interval.to_string());
        let share = format!("{:.0} %", 100.0 * row.share_of_memory_read);
        writeln!(
            f,
            "  {:15}{:>7} {rate:8.2}  {interval:15} {:8.1} {share:>15}",
            row.key.work, row.key.threads, row.ns_per_url
        )?;
    }
    Ok(())
}

fn legend(f: &mut Formatter<'_>, document: &Document) -> fmt::Result {
    let median = match document.runs.len() {
        1 => "in one run, so there is no interval".to_owned(),
        runs => format!("the median of {runs} runs, each a process of its own"),
    };
    writeln!(f, "\nGB/s            10^9 bytes of the corpus a second, {median}")?;
    writeln!(f, "95 % interval   of 20 such intervals, 19 hold the rate of very many runs")?;
    writeln!(f, "ns/URL          nanoseconds for each record")?;
    writeln!(f, "of memory-read  the rate as a share of the memory-read's with as many threads")?;
    for work in Work::ALL {
        writeln!(f, "{work:15} {}", work.texts().1)?;
    }
    Ok(())
}

fn about(corpus: &str) -> &'static str {
    match corpus {
        "clean" => "canonical URLs, 9 distinct ones of 13",
        "mixed" => "one URL in ten is not canonical",
        "dirty" => "no URL is canonical",
        "dup" => "65 lines for each distinct URL",
        "access" => "a web server's log",
        _ => "URLs",
    }
}

/// When and on which machine a result was measured. The text is escaped, since anyone may have made the file.
pub fn heading(document: &Document) -> String {
    let (machine, program) = (document.machine.summary(), &document.program);
    let (version, scanner) = (&program.version, &program.scanner);
    let text = format!("{machine}, uniqurl {version} with {scanner}, {}", document.date);
    Printable(text.as_bytes()).to_string()
}
