//! The page of `--report`: the accounting of a run as one HTML file that needs nothing else.
//!
//! In: the accounting ([`Stats`]). Out: HTML in ASCII, without scripts and without anything that a browser would
//! fetch. Names from outside show as text: bytes outside 0x20-0x7E as `\xHH`, and those with a meaning in HTML as
//! character references.

mod text;

pub use text::HtmlText;

use std::fmt::{self, Write};

use super::Grouped;
use super::stats::{FileStats, Stats};
use super::summary::Summary;
use text::{ByteSize, Share};
use uniqurl_text::Printable;

/// Rows of the list of inputs.
const FILES: usize = 100;

const STYLE: &str = include_str!("page.css");

/// A run, to be shown.
#[derive(Debug, Clone, Copy)]
pub struct ReportPage<'a> {
    /// The accounting.
    pub stats: Stats<'a>,
    /// The command line, without secrets.
    pub command: &'a str,
    /// When the run began, as a date in UTC.
    pub date: &'a str,
}

impl ReportPage<'_> {
    /// Appends the page.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut html = String::new();
        self.html(&mut html).expect("a String takes all of it");
        out.extend_from_slice(html.as_bytes());
    }

    // The policy is a second line of defence: should a name get past the escapes, the browser
    // runs and fetches nothing.
    fn html(&self, html: &mut String) -> fmt::Result {
        write!(
            html,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>uniqurl {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
            self.stats.summary.terms.job.name(),
        )?;
        self.run(html)?;
        self.records(html)?;
        self.rejected(html)?;
        self.inputs(html)?;
        html.push_str("</body>\n</html>\n");
        Ok(())
    }

    /// The command line, how the run ended, its time and its bytes.
    fn run(&self, html: &mut String) -> fmt::Result {
        let stats = &self.stats;
        let Summary { bytes, seconds, .. } = *stats.summary;
        write!(
            html,
            "<h1>uniqurl {}</h1>\n<p>{}</p>\n<dl>\n",
            stats.summary.terms.job.name(),
            self.ending()
        )?;
        if !self.command.is_empty() {
            writeln!(html, "<dt>command</dt><dd><code>{}</code></dd>", HtmlText(self.command))?;
        }
        writeln!(
            html,
            "<dt>date</dt><dd>{}</dd>\n<dt>version</dt><dd>{}</dd>\n<dt>profile</dt><dd>{}</dd>\n\
             <dt>key</dt><dd>{}</dd>\n<dt>scanner</dt><dd>{}</dd>\n<dt>threads</dt><dd>{}</dd>\n\
             <dt>read</dt><dd>{} in {seconds:.2} s{}</dd>",
            HtmlText(self.date),
            env!("CARGO_PKG_VERSION"),
            HtmlText(stats.profile),
            stats.key.name(),
            stats.backend,
            stats.threads,
            ByteSize(bytes),
            stats.summary.rate().map_or(String::new(), |rate| format!(", {rate}")),
        )?;
        if stats.spilled.written > 0 {
            writeln!(
                html,
                "<dt>temporary files</dt><dd>{}, since the set did not fit into memory</dd>",
                ByteSize(stats.spilled.written)
            )?;
        }
        html.push_str("</dl>\n");
        Ok(())
    }

    fn ending(&self) -> &'static str {
        match self.stats.status {
            0 => "Complete.",
            1 => "Written, but incomplete: an input was skipped.",
            3 => "Stopped by a limit, before the output was complete.",
            _ => "Failed, before the output was complete.",
        }
    }

    /// The records by their outcome.
    fn records(&self, html: &mut String) -> fmt::Result {
        let tally = &self.stats.summary.tally;
        let terms = || self.stats.summary.accounting().terms();
        write!(
            html,
            "<h2 id=\"records\">Records</h2>\n<p>{} records; every one is in one of these.</p>\n\
             <div class=\"whole\">",
            Grouped(tally.records)
        )?;
        for (name, count) in terms().filter(|(_, count)| *count > 0) {
            write!(html, "<div class=\"{}\" style=\"flex:{count}\"></div>", colour(name))?;
        }
        html.push_str("</div>\n<table>\n");
        for (name, count) in terms() {
            let dot = format!("<span class=\"dot {}\"></span>{name}", colour(name));
            row(html, &dot, count, tally.records, "")?;
        }
        html.push_str("</table>\n");
        if tally.skipped > 0 {
            writeln!(
                html,
                "<p class=\"soft\">{} headers, comments and records of other kinds were skipped.</p>",
                Grouped(tally.skipped)
            )?;
        }
        Ok(())
    }

    /// The rejected records by reason, the most frequent first.
    fn rejected(&self, html: &mut String) -> fmt::Result {
        let tally = &self.stats.summary.tally;
        html.push_str("<h2 id=\"rejected\">Rejected</h2>\n");
        if tally.rejected == 0 {
            html.push_str("<p>None.</p>\n");
            return Ok(());
        }
        let mut codes: Vec<_> = tally.codes().collect();
        // A stable sort keeps the order of equal counts.
        codes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        html.push_str("<p class=\"soft\">A record may have several reasons.</p>\n<table>\n");
        for (code, count) in codes {
            let sentence = format!("<td>{}</td>", HtmlText(code.sentence()));
            row(html, &format!("<code>{}</code>", code.name()), count, tally.rejected, &sentence)?;
        }
        html.push_str("</table>\n");
        Ok(())
    }

    fn inputs(&self, html: &mut String) -> fmt::Result {
        let files = self.stats.files;
        html.push_str(
            "<h2 id=\"inputs\">Inputs</h2>\n<table class=\"files\">\n<tr><th>input</th><th>state</th>\
             <th class=\"n\">size</th><th class=\"n\">records</th><th class=\"n\">rejected</th></tr>\n",
        );
        // A run may have a million inputs, and no browser shows such a table.
        for FileStats { path, state, bytes, tally } in files.iter().take(FILES) {
            writeln!(
                html,
                "<tr><td><code>{}</code></td><td>{}</td><td class=\"n\">{}</td>\
                 <td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                HtmlText(Printable::path(path)),
                state.name(),
                ByteSize(*bytes),
                Grouped(tally.records),
                Grouped(tally.rejected),
            )?;
        }
        html.push_str("</table>\n");
        if files.len() > FILES {
            writeln!(
                html,
                "<p class=\"soft\">And {} more.</p>",
                Grouped((files.len() - FILES) as u64)
            )?;
        }
        Ok(())
    }
}

/// A row of a table: a name, a count, its share of `whole`, and more cells. Name and cells are HTML.
fn row(html: &mut String, name: &str, count: u64, whole: u64, cells: &str) -> fmt::Result {
    writeln!(
        html,
        "<tr><td class=\"name\">{name}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>{cells}</tr>",
        Grouped(count),
        Share(count, whole)
    )
}

/// The colour of a term of the accounting.
fn colour(term: &str) -> &'static str {
    match term {
        "canonical" | "unique" => "t0",
        "duplicates" => "t1",
        "blank" => "t2",
        "rejected" => "t3",
        "filtered" => "t4",
        "seen" => "t5",
        _ => "t6",
    }
}
