//! The page of `--report`: a run as one HTML file that needs nothing else.
//!
//! In: the accounting ([`Stats`]) and the observations ([`Observed`]). Out: HTML in ASCII, without
//! scripts and without anything that a browser would fetch. Bytes read from inputs show as text:
//! those outside 0x20-0x7E as `\xHH`, and those with a meaning in HTML as character references.

mod top_names;
mod statuses;
mod times;
mod observed;

mod text;
mod chart;
mod requests;
mod rejected;

pub use observed::Observed;
pub use text::HtmlText;

use std::fmt::{self, Write};

use super::stats::{FileStats, Stats};
use super::summary::{Before, Filters, JobKind, Summary, Tally};
use super::{ByteRate, Grouped};
use chart::{bar, curve, parts};
use requests::top_list;
use text::{ByteSize, Share};
use uniqurl::Key;
use uniqurl_formats::input::InputState;
use uniqurl_text::Printable;

/// The words for one host and for several.
const HOSTS: (&str, &str) = ("host", "hosts");

/// Rows of the list of inputs.
const FILES: usize = 100;

const STYLE: &str = include_str!("page.css");

/// A run, to be shown.
#[derive(Debug, Clone, Copy)]
pub struct ReportPage<'a> {
    /// The accounting.
    pub stats: &'a Stats<'a>,
    /// The observations of the run.
    pub observed: &'a Observed,
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

    fn html(&self, html: &mut String) -> fmt::Result {
        let stats = self.stats;
        write!(
            html,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>uniqurl {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
            stats.summary.job.name(),
        )?;
        self.heading(html)?;
        self.accounting(html)?;
        requests::times(html, &self.observed.times, &self.observed.statuses)?;
        requests::statuses(html, &self.observed.statuses)?;
        requests::urls(html, &self.observed.urls)?;
        requests::templates(html, &self.observed.templates)?;
        self.hosts(html)?;
        rejected::rejected(html, &stats.summary.tally, &self.observed.samples)?;
        self.size(html)?;
        self.files(html)?;
        self.pace(html)?;
        html.push_str("</body>\n</html>\n");
        Ok(())
    }

    fn heading(&self, html: &mut String) -> fmt::Result {
        let stats = self.stats;
        write!(
            html,
            "<h1>uniqurl {}</h1>\n<p>{}</p>\n<dl>\n",
            stats.summary.job.name(),
            self.ending()
        )?;
        if !self.command.is_empty() {
            writeln!(html, "<dt>command</dt><dd><code>{}</code></dd>", HtmlText(self.command))?;
        }
        writeln!(
            html,
            "<dt>date</dt><dd>{}</dd>\n<dt>version</dt><dd>{}</dd>\n<dt>profile</dt><dd>{}</dd>\n\
             <dt>key</dt><dd>{}</dd>\n<dt>scanner</dt><dd>{}</dd>\n<dt>threads</dt><dd>{}</dd>\n</dl>",
            HtmlText(self.date),
            env!("CARGO_PKG_VERSION"),
            HtmlText(stats.profile),
            stats.key.name(),
            stats.backend,
            stats.threads,
        )
    }

    fn ending(&self) -> &'static str {
        match self.stats.status {
            0 => "Complete.",
            1 => "Written, but incomplete: an input was skipped.",
            3 => "Stopped by a limit, before the output was complete.",
            _ => "Failed, before the output was complete.",
        }
    }

    fn accounting(&self, html: &mut String) -> fmt::Result {
        let summary = self.stats.summary;
        let tally = &summary.tally;
        let terms = terms(summary, tally);
        write!(
            html,
            "<h2 id=\"accounting\">Records</h2>\n<p>{} records; every one is in one of these.</p>\n",
            Grouped(tally.records)
        )?;
        parts(html, &terms.iter().map(|term| (term.1, term.2)).collect::<Vec<_>>())?;
        html.push_str("<table>\n");
        for (name, class, count) in terms {
            writeln!(
                html,
                "<tr><td><span class=\"dot {class}\"></span>{name}</td>\
                 <td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                Grouped(count),
                Share(count, tally.records),
            )?;
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

    /// Compares sizes of the same kind: the inputs may be compressed.
    fn size(&self, html: &mut String) -> fmt::Result {
        let summary = self.stats.summary;
        let Observed { unpacked_bytes, canonical_bytes, unique_bytes, .. } = *self.observed;
        html.push_str("<h2 id=\"size\">Size</h2>\n<table>\n");
        // Otherwise the bytes of the distinct keys are unknown.
        let is_known = summary.job == JobKind::Dedup && self.set_was_in_memory();
        let rows = [
            ("input, decompressed", Some(unpacked_bytes)),
            ("canonical URLs in it", Some(canonical_bytes)),
            (self.unit(), is_known.then_some(unique_bytes)),
        ];
        let most = unpacked_bytes.max(canonical_bytes);
        for (name, bytes) in rows {
            let Some(bytes) = bytes else { continue };
            write!(html, "<tr><td>{name}</td><td class=\"n\">{}</td>", ByteSize(bytes as f64))?;
            bar(html, bytes, most)?;
            html.push_str("</tr>\n");
        }
        html.push_str("</table>\n");
        writeln!(
            html,
            "<p class=\"soft\">{} were read from the inputs.</p>",
            ByteSize(summary.bytes as f64)
        )?;
        if self.stats.spilled.written > 0 {
            writeln!(
                html,
                "<p class=\"soft\">{} went to temporary files, since the set did not fit into \
                 memory.</p>",
                ByteSize(self.stats.spilled.written as f64)
            )?;
        }
        Ok(())
    }

    /// The members of the set.
    fn unit(&self) -> &'static str {
        match self.stats.key {
            Key::Url => "distinct URLs",
            _ => "distinct keys",
        }
    }

    fn pace(&self, html: &mut String) -> fmt::Result {
        let summary = self.stats.summary;
        write!(
            html,
            "<h2 id=\"pace\">Throughput</h2>\n<p>{} in {:.2} s: {}.</p>\n",
            ByteSize(summary.bytes as f64),
            summary.seconds,
            ByteRate::new(summary.bytes, summary.seconds)
        )?;
        curve(html, &self.observed.pace.rates(), |rate| ByteRate::new(rate as u64, 1.0).to_string())
    }

    /// Whether the set held every URL, so that each record was known to be new or not when it was read.
    fn set_was_in_memory(&self) -> bool {
        self.stats.spilled.written == 0 && self.stats.summary.tally.undecided == 0
    }

    fn hosts(&self, html: &mut String) -> fmt::Result {
        html.push_str("<h2 id=\"hosts\">Hosts</h2>\n<div class=\"hosts\">\n");
        top_list(html, HOSTS, "records", &self.observed.records)?;
        if self.stats.summary.job == JobKind::Dedup {
            if self.set_was_in_memory() {
                top_list(html, HOSTS, "duplicates", &self.observed.duplicates)?;
            } else {
                html.push_str(
                    "<p class=\"soft\">Duplicates are not counted by host where the set did not fit \
                     into memory.</p>\n",
                );
            }
        }
        html.push_str("</div>\n");
        Ok(())
    }

    fn files(&self, html: &mut String) -> fmt::Result {
        let files = self.stats.files;
        html.push_str(
            "<h2 id=\"inputs\">Inputs</h2>\n<table class=\"files\">\n<tr><th>input</th><th>state</th>\
             <th class=\"n\">size</th><th class=\"n\">records</th><th class=\"n\">rejected</th></tr>\n",
        );
        for FileStats { path, state, bytes, tally } in files.iter().take(FILES) {
            let state = match state {
                InputState::Ok => "ok",
                InputState::Damaged => "damaged",
                InputState::Missing => "missing",
                InputState::Refused => "refused",
                InputState::Unfinished => "unfinished",
            };
            writeln!(
                html,
                "<tr><td><code>{}</code></td><td>{state}</td><td class=\"n\">{}</td>\
                 <td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                HtmlText(Printable::path(path)),
                ByteSize(*bytes as f64),
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

/// The terms of the accounting, each with its colour.
fn terms(summary: &Summary, tally: &Tally) -> Vec<(&'static str, &'static str, u64)> {
    let mut terms = match summary.job {
        JobKind::Dedup => {
            vec![("unique", "t0", tally.unique), ("duplicates", "t1", tally.duplicates)]
        }
        JobKind::Normalize => vec![("canonical", "t0", tally.canonical)],
    };
    if summary.before == Before::Seen {
        terms.push(("seen before", "t5", tally.seen));
    }
    if tally.undecided > 0 {
        terms.push(("undecided", "t6", tally.undecided));
    }
    if summary.filters == Filters::InPlay {
        terms.push(("filtered", "t4", tally.filtered));
    }
    terms.extend([("rejected", "t3", tally.rejected), ("blank", "t2", tally.blank)]);
    terms
}
