//! The section of the page about rejected records.

use std::fmt::{self, Write};

use super::chart::bar;
use super::observed::Samples;
use super::text::{HtmlText, most_first};
use crate::output::Grouped;
use crate::output::summary::Tally;
use uniqurl::RejectReason;
use uniqurl_text::Printable;

/// The rejected records by code, with samples.
pub(super) fn rejected(html: &mut String, tally: &Tally, all: &Samples) -> fmt::Result {
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
            Grouped(count)
        )?;
        bar(html, count, most)?;
        samples(html, code, all)?;
        html.push_str("</tr>\n");
    }
    html.push_str("</table>\n");
    Ok(())
}

fn samples(html: &mut String, code: RejectReason, all: &Samples) -> fmt::Result {
    write!(html, "<td>{}", HtmlText(code.sentence()))?;
    for sample in all.of(code) {
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
