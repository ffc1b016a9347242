//! The sections of the page about requests: templates, statuses and times.

use std::fmt::{self, Write};

use super::chart::{bar, columns};
use super::statuses::Statuses;
use super::times::{RequestTimes, UtcTime, Width};
use super::top_names::TopNames;
use super::{HtmlText, Number, Share, most_first};
use uniqurl::bytes::Printable;

/// Rows of each list of names or statuses.
const ROWS: usize = 20;

/// A table of the most frequent names. `noun` is that of one name, `plural` of several.
pub(super) fn top_list(
    html: &mut String,
    (noun, plural): (&str, &str),
    counted: &str,
    names: &TopNames,
) -> fmt::Result {
    let top = names.top(ROWS);
    write!(html, "<table>\n<tr><th>{noun}</th><th class=\"n\">{counted}</th><th></th></tr>\n")?;
    let most = top.first().map_or(0, |(_, count)| *count);
    for (name, count) in top {
        write!(html, "<tr><td><code>")?;
        match name {
            b"" => write!(html, "(no {noun})")?,
            name => write!(html, "{}", HtmlText(Printable(name)))?,
        }
        write!(html, "</code></td><td class=\"n\">{}</td>", Number(count))?;
        bar(html, count, most)?;
        html.push_str("</tr>\n");
    }
    html.push_str("</table>\n");
    if names.short() > 0 {
        writeln!(
            html,
            "<p class=\"soft\">There are too many {plural} to count all: each of these may have up \
             to {} more.</p>",
            Number(names.short())
        )?;
    }
    Ok(())
}

/// The most frequent templates. Nothing if no record has a URL.
pub(super) fn templates(html: &mut String, templates: &TopNames) -> fmt::Result {
    if templates.top(1).is_empty() {
        return Ok(());
    }
    html.push_str(
        "<h2 id=\"templates\">Templates</h2>\n<p class=\"soft\">URLs with their variable parts \
         named. Credentials and values of queries are masked.</p>\n",
    );
    top_list(html, ("template", "templates"), "records", templates)
}

/// The statuses by class and by code. Nothing if no record has one.
pub(super) fn statuses(html: &mut String, statuses: &Statuses) -> fmt::Result {
    if statuses.is_empty() {
        return Ok(());
    }
    let all = statuses.codes().map(|(_, count)| count).sum();
    html.push_str("<h2 id=\"statuses\">Statuses</h2>\n<div class=\"hosts\">\n");
    let classes = statuses.classes().map(|(class, count)| (format!("{class}xx"), count));
    status_list(html, "class", classes.collect(), all)?;
    let mut codes = most_first(statuses.codes());
    codes.truncate(ROWS);
    let codes = codes.into_iter().map(|(code, count)| (code.to_string(), count));
    status_list(html, "status", codes.collect(), all)?;
    html.push_str("</div>\n");
    Ok(())
}

fn status_list(html: &mut String, noun: &str, rows: Vec<(String, u64)>, all: u64) -> fmt::Result {
    write!(
        html,
        "<table>\n<tr><th>{noun}</th><th class=\"n\">records</th><th></th><th></th></tr>\n"
    )?;
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0);
    for (name, count) in rows {
        write!(
            html,
            "<tr><td><code>{name}</code></td><td class=\"n\">{}</td><td class=\"n\">{}</td>",
            Number(count),
            Share(count, all)
        )?;
        bar(html, count, most)?;
        html.push_str("</tr>\n");
    }
    html.push_str("</table>\n");
    Ok(())
}

/// The records over time. Nothing if no record has a time.
pub(super) fn times(html: &mut String, times: &RequestTimes) -> fmt::Result {
    if times.is_empty() {
        return Ok(());
    }
    let stretches: Vec<(i64, u64)> = times.stretches().collect();
    let most = stretches.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let start = stretches.first().map_or(0, |(start, _)| *start);
    let end = stretches.last().map_or(0, |(start, _)| start + times.width());
    let width = Width(times.width());
    writeln!(
        html,
        "<h2 id=\"times\">Records over time</h2>\n<p>Each bar spans {width}. Records in the highest: \
         {}. Times are in UTC.</p>",
        Number(most)
    )?;
    let label = |start: i64, count| format!("{}: {}", UtcTime(start), Number(count));
    columns(html, &stretches, most, label)?;
    writeln!(
        html,
        "<div class=\"ends soft\"><span>{}</span><span>{}</span></div>",
        UtcTime(start),
        UtcTime(end)
    )
}
