//! The page of `--report`: a run as one HTML file that needs nothing else.
//!
//! In: the accounting ([`Stats`]) and the observations ([`Observed`]). Out: HTML in ASCII, without
//! scripts and without anything that a browser would fetch. Bytes read from inputs show as text:
//! those outside 0x20-0x7E as `\xHH`, and those with a meaning in HTML as character references.

mod top_names;
mod statuses;
mod times;
mod observed;

mod chart;
mod requests;

pub use observed::Observed;

use std::fmt::{self, Display, Write};

use super::stats::{FileStats, Stats};
use super::summary::{Before, Filters, JobKind, Summary, Tally};
use chart::{bar, curve, parts};
use requests::top_list;
use uniqurl::bytes::Printable;
use uniqurl::bytes::RejectReason;
use uniqurl_formats::input::InputState;

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
}

/// Text of a run inside HTML.
pub struct HtmlText<T>(pub T);

/// A number with its thousands apart.
struct Number(u64);

/// A number of bytes in the unit that suits it, powers of 1000.
struct ByteSize(f64);

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
        write!(
            html,
            "<h1>uniqurl {}</h1>\n<p class=\"soft\">profile {}, key {}, scanner {}, threads {}, \
             version {}</p>\n<p>{}</p>\n",
            stats.summary.job.name(),
            HtmlText(stats.profile),
            stats.key.name(),
            stats.backend,
            stats.threads,
            env!("CARGO_PKG_VERSION"),
            self.ending(),
        )?;
        self.accounting(html)?;
        self.size(html)?;
        self.pace(html)?;
        self.rejected(html)?;
        self.rules(html)?;
        self.hosts(html)?;
        requests::templates(html, &self.observed.templates)?;
        requests::statuses(html, &self.observed.statuses)?;
        requests::times(html, &self.observed.times)?;
        self.files(html)?;
        html.push_str("</body>\n</html>\n");
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

    fn accounting(&self, html: &mut String) -> fmt::Result {
        let summary = self.stats.summary;
        let tally = &summary.tally;
        let terms = terms(summary, tally);
        write!(
            html,
            "<h2 id=\"accounting\">Records</h2>\n<p>{} records; every one is in one of these.</p>\n",
            Number(tally.records)
        )?;
        parts(html, &terms.iter().map(|term| (term.1, term.2)).collect::<Vec<_>>())?;
        html.push_str("<table>\n");
        for (name, class, count) in terms {
            writeln!(
                html,
                "<tr><td><span class=\"dot {class}\"></span>{name}</td>\
                 <td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                Number(count),
                Share(count, tally.records),
            )?;
        }
        html.push_str("</table>\n");
        if tally.skipped > 0 {
            writeln!(
                html,
                "<p class=\"soft\">{} headers, comments and records of other kinds were skipped.</p>",
                Number(tally.skipped)
            )?;
        }
        Ok(())
    }

    fn size(&self, html: &mut String) -> fmt::Result {
        let summary = self.stats.summary;
        html.push_str("<h2 id=\"size\">Size</h2>\n<table>\n");
        let after = self.observed.unique_bytes;
        let most = summary.bytes.max(after);
        // Otherwise the bytes of the distinct keys are unknown.
        let known = summary.job == JobKind::Dedup && self.set_was_in_memory();
        let rows = [("read", Some(summary.bytes)), ("in the set", known.then_some(after))];
        for (name, bytes) in rows {
            let Some(bytes) = bytes else { continue };
            write!(html, "<tr><td>{name}</td><td class=\"n\">{}</td>", ByteSize(bytes as f64))?;
            bar(html, bytes, most)?;
            html.push_str("</tr>\n");
        }
        html.push_str("</table>\n");
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

    fn pace(&self, html: &mut String) -> fmt::Result {
        let summary = self.stats.summary;
        let rate = summary.bytes as f64 / summary.seconds.max(1e-9);
        write!(
            html,
            "<h2 id=\"pace\">Throughput</h2>\n<p>{} in {:.2} s: {}/s.</p>\n",
            ByteSize(summary.bytes as f64),
            summary.seconds,
            ByteSize(rate)
        )?;
        curve(html, &self.observed.pace.rates(), |rate| format!("{}/s", ByteSize(rate)))
    }

    fn rejected(&self, html: &mut String) -> fmt::Result {
        let tally = &self.stats.summary.tally;
        html.push_str("<h2 id=\"rejected\">Rejected</h2>\n");
        if tally.rejected == 0 {
            html.push_str("<p>None.</p>\n");
            return Ok(());
        }
        html.push_str(
            "<table class=\"told\">\n<tr><th>code</th><th class=\"n\">records</th><th></th><th>the first of them; \
             credentials, values of queries and fragments are masked</th></tr>\n",
        );
        let most = tally.codes().map(|(_, count)| count).max().unwrap_or(0);
        for (code, count) in most_first(tally.codes()) {
            write!(
                html,
                "<tr><td class=\"name\"><code>{}</code></td><td class=\"n\">{}</td>",
                code.name(),
                Number(count)
            )?;
            bar(html, count, most)?;
            self.samples(code, html)?;
            html.push_str("</tr>\n");
        }
        html.push_str("</table>\n");
        Ok(())
    }

    fn samples(&self, code: RejectReason, html: &mut String) -> fmt::Result {
        write!(html, "<td>{}", HtmlText(code.sentence()))?;
        for sample in self.observed.samples.of(code) {
            write!(
                html,
                "<br><code>{}</code> <span class=\"soft\">{}, record {}</span>",
                HtmlText(Printable(&sample.raw)),
                HtmlText(&sample.file),
                sample.record
            )?;
        }
        html.push_str("</td>");
        Ok(())
    }

    fn rules(&self, html: &mut String) -> fmt::Result {
        let tally = &self.stats.summary.tally;
        html.push_str("<h2 id=\"rules\">Rules that acted</h2>\n");
        let most = tally.rules().map(|(_, count)| count).max().unwrap_or(0);
        if most == 0 {
            html.push_str("<p>None: no URL was changed.</p>\n");
            return Ok(());
        }
        html.push_str(
            "<table class=\"told\">\n<tr><th>rule</th><th class=\"n\">URLs changed</th><th></th><th></th></tr>\n",
        );
        for (rule, count) in most_first(tally.rules()) {
            write!(
                html,
                "<tr><td class=\"name\"><code>{}</code></td><td class=\"n\">{}</td>",
                rule.name(),
                Number(count)
            )?;
            bar(html, count, most)?;
            writeln!(html, "<td>{}</td></tr>", HtmlText(rule.sentence()))?;
        }
        html.push_str("</table>\n");
        Ok(())
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
            "<h2 id=\"inputs\">Inputs</h2>\n<table>\n<tr><th>input</th><th>state</th>\
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
                Number(tally.records),
                Number(tally.rejected),
            )?;
        }
        html.push_str("</table>\n");
        if files.len() > FILES {
            writeln!(
                html,
                "<p class=\"soft\">And {} more.</p>",
                Number((files.len() - FILES) as u64)
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

/// The most frequent first, equal ones as they came.
fn most_first<T>(counts: impl Iterator<Item = (T, u64)>) -> Vec<(T, u64)> {
    let mut counts: Vec<_> = counts.collect();
    // A stable sort keeps the order of equal counts.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// A part of a hundred.
struct Share(u64, u64);

impl Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Share(0, _) | Share(_, 0) => f.write_str("0 %"),
            Share(part, whole) => write!(f, "{:.2} %", *part as f64 * 100.0 / *whole as f64),
        }
    }
}

impl<T: Display> Display for HtmlText<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for char in self.0.to_string().chars() {
            match char {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                ' '..='~' => f.write_char(char)?,
                char => {
                    let mut bytes = [0; 4];
                    write!(f, "{}", Printable(char.encode_utf8(&mut bytes).as_bytes()))?;
                }
            }
        }
        Ok(())
    }
}

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                f.write_char(',')?;
            }
            f.write_char(digit)?;
        }
        Ok(())
    }
}

impl Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.0;
        for unit in ["B", "KB", "MB", "GB"] {
            // More would be shown as 1000 of this unit.
            if bytes < 999.5 {
                // At most three digits.
                let places = if unit == "B" || bytes >= 99.95 { 0 } else { 1 };
                return write!(f, "{bytes:.places$} {unit}");
            }
            bytes /= 1000.0;
        }
        write!(f, "{bytes:.1} TB")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_special_characters_are_escaped() {
        let hostile = "<script>alert('1')</script>&\"";
        let shown = HtmlText(hostile).to_string();
        assert_eq!(shown, "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;");
        assert_eq!(HtmlText("a\u{9B}\u{202E}\n\\").to_string(), r"a\xC2\x9B\xE2\x80\xAE\x0A\");
    }

    #[test]
    fn numbers_have_separators_and_units() {
        assert_eq!(Number(0).to_string(), "0");
        assert_eq!(Number(999).to_string(), "999");
        assert_eq!(Number(1_234_567).to_string(), "1,234,567");
        let bytes = |n| ByteSize(n).to_string();
        assert_eq!([bytes(7.0), bytes(1500.0), bytes(234e6)], ["7 B", "1.5 KB", "234 MB"]);
        assert_eq!(bytes(5e15), "5000.0 TB");
        assert_eq!(Share(1, 3).to_string(), "33.33 %");
        assert_eq!(Share(0, 0).to_string(), "0 %");
    }
}
