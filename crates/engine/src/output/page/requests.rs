//! The sections of the page about requests: templates, statuses and times.

use std::fmt::{self, Write};

use super::chart::{self, bar, parts};
use super::statuses::Statuses;
use super::text::{HtmlText, Share, most_first};
use super::times::{RequestTimes, UtcTime, Width};
use super::top_names::TopNames;
use crate::output::Grouped;
use uniqurl_text::Printable;

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
    write!(
        html,
        "<table class=\"top\">\n<tr><th>{noun}</th><th class=\"n\">{counted}</th><th></th></tr>\n"
    )?;
    let most = top.first().map_or(0, |(_, count)| *count);
    for (name, count) in top {
        write!(html, "<tr><td><code>")?;
        match name {
            b"" => write!(html, "(no {noun})")?,
            name => write!(html, "{}", HtmlText(Printable(name)))?,
        }
        write!(html, "</code></td><td class=\"n\">{}</td>", Grouped(count))?;
        bar(html, count, most)?;
        html.push_str("</tr>\n");
    }
    html.push_str("</table>\n");
    if names.short() > 0 {
        writeln!(
            html,
            "<p class=\"soft\">There are too many {plural} to count all: each of these may have up \
             to {} more.</p>",
            Grouped(names.short())
        )?;
    }
    Ok(())
}

/// The most frequent URLs. Nothing if no record has one.
pub(super) fn urls(html: &mut String, urls: &TopNames) -> fmt::Result {
    let Some((_, most)) = urls.top(1).first().copied() else { return Ok(()) };
    html.push_str("<h2 id=\"urls\">URLs</h2>\n");
    // If each comes once, or too few times to be told from the others, any list would be chance.
    if most <= 1 + urls.short() {
        html.push_str("<p>No URL is frequent.</p>\n");
        return Ok(());
    }
    html.push_str(
        "<p class=\"soft\">Credentials, values of queries and fragments are masked, and URLs that differ \
         in them count as one.</p>\n",
    );
    top_list(html, ("URL", "URLs"), "records", urls)
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
    html.push_str("<h2 id=\"statuses\">Statuses</h2>\n");
    let colours = statuses.classes().map(|(class, count)| (colour(class), count));
    parts(html, &colours.collect::<Vec<_>>())?;
    html.push_str("<div class=\"hosts\">\n");
    let classes = statuses.classes().map(|(class, count)| {
        (format!("<span class=\"dot {}\"></span><code>{class}xx</code>", colour(class)), count)
    });
    status_list(html, "class", classes.collect(), all)?;
    let mut codes = most_first(statuses.codes());
    codes.truncate(ROWS);
    let codes = codes.into_iter().map(|(code, count)| (format!("<code>{code}</code>"), count));
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
            "<tr><td>{name}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>",
            Grouped(count),
            Share(count, all)
        )?;
        bar(html, count, most)?;
        html.push_str("</tr>\n");
    }
    html.push_str("</table>\n");
    Ok(())
}

/// The class of a status as a colour.
fn colour(class: u16) -> &'static str {
    match class {
        2 => "t0",
        3 => "t6",
        4 => "t4",
        5 => "t3",
        _ => "t2",
    }
}

/// The records over time, and the errors among them. Nothing if no record has a time.
pub(super) fn times(html: &mut String, times: &RequestTimes, statuses: &Statuses) -> fmt::Result {
    if times.is_empty() {
        return Ok(());
    }
    let stretches: Vec<_> = times.stretches().collect();
    let most = stretches.iter().map(|(_, count)| count.all).max().unwrap_or(0);
    let start = stretches.first().map_or(0, |(start, _)| *start);
    let end = stretches.last().map_or(0, |(start, _)| start + times.width());
    let width = Width(times.width());
    writeln!(
        html,
        "<h2 id=\"times\">Records over time</h2>\n<p>Each bar spans {width}. Records in the highest: \
         {}. Times are in UTC.</p>",
        Grouped(most)
    )?;
    if !statuses.is_empty() {
        html.push_str(
            "<p class=\"soft legend\"><span class=\"dot bars\"></span>records \
             <span class=\"dot t3\"></span>of them with a status of 400 or more</p>\n",
        );
    }
    let bars = stretches.iter().map(|(start, count)| {
        let title = format!("{}: {}", UtcTime(*start), Grouped(count.all));
        let errors = (!statuses.is_empty()).then_some(count.errors);
        match errors {
            Some(errors) if errors > 0 => {
                (count.all, errors, format!("{title}, {} with errors", Grouped(errors)))
            }
            _ => (count.all, 0, title),
        }
    });
    let ends = [UtcTime(start).to_string(), UtcTime(end).to_string()];
    chart::over_time(html, bars.collect(), !statuses.is_empty(), &ends)
}
