//! What a run says on standard error besides its numbers.

use std::path::Path;

use super::flags::{Common, Messages};
use super::status::say;
use crate::output::{self, Printable};
use crate::pipeline::{Differences, Report};
use crate::record::{self, Separator};

/// What a person should know of a run besides its numbers.
pub(super) fn tell(report: &Report, inputs: usize, name: output::Job, common: &Common) {
    let path = |input: usize| Printable::path(&report.files[input].path);
    for (input, error) in &report.damaged {
        let taken = report.files[*input].tally.records;
        say(format_args!("{error}; {taken} records before were taken"));
    }
    for (input, at) in &report.cut {
        let path = path(*input);
        say(format_args!(
            "{path}@{at}: cut: the last line was still being written and is left out"
        ));
    }
    for (input, zeros) in &report.padded {
        let path = path(*input);
        say(format_args!("warning: {path}: {zeros} zeros behind what is compressed are left out"));
    }
    if common.messages == Messages::All {
        inform(report, name);
    }
    for (input, name) in &report.guessed {
        let format = record::Format::parse(name);
        for option in format.iter().flat_map(|format| common.idle(format)) {
            let path = path(*input);
            let hint = match (name.split_once(':'), option.strip_prefix("--")) {
                (
                    Some((kind @ ("csv" | "tsv" | "json"), _)),
                    Some(part @ ("status" | "method" | "mime")),
                ) => {
                    let place = if kind == "json" { "POINTER" } else { "COL" };
                    format!("; --format {name},{part}={place} says where it is")
                }
                _ => String::new(),
            };
            say(format_args!(
                "{path}: warning: read as {name}, whose records have no such field as {option} \
                 judges, so it dropped none of them{hint}"
            ));
        }
    }
    // A list whose records end with NUL is no table.
    if report.tabbed * 100 > report.listed && common.separator == Separator::LineFeed {
        say(format_args!(
            "warning: {} of {} lines hold a tab, which is a byte of the URL in the format lines; \
             --format tsv:1 reads what is before the first",
            report.tabbed, report.listed
        ));
    }
    for doubt in &report.doubts {
        let (path, lines) = (Printable::path(&doubt.path), doubt.lines);
        if doubt.rejected > 0 {
            say(format_args!(
                "{path}: warning: {} of {lines} lines are no URLs under this profile, so they say \
                 nothing of what was seen",
                doubt.rejected
            ));
        }
        if doubt.tabbed > 0 {
            say(format_args!(
                "{path}: warning: {} of {lines} lines hold a tab, which is a byte of the URL in a \
                 list of what was seen; cut -f takes one column of a table",
                doubt.tabbed
            ));
        }
        if doubt.escaped > 0 {
            say(format_args!(
                "{path}: warning: {} of {lines} lines hold \\xHH, which are four bytes of a URL in a \
                 list of what was seen; columns are escaped so, and what --save-seen keeps is not",
                doubt.escaped
            ));
        }
    }
    if report.hostless > 0 && !common.filters.host.is_empty() {
        say(format_args!(
            "warning: {} request targets name no host, so --host dropped them; --base gives them one",
            report.hostless
        ));
    } else if report.hostless > 0 && inputs > 1 {
        say(format_args!(
            "warning: {} request targets name no host, so equal paths of different hosts are one; \
             --base gives them a host",
            report.hostless
        ));
    }
}

/// Whether a name says that there are columns in the file, packed or not.
fn is_named_as_table(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.split('.').skip(1).any(|ending| matches!(ending, "csv" | "tsv"))
}

/// What was found that nobody has to do anything about.
fn inform(report: &Report, name: output::Job) {
    let mut guesses: Vec<(&str, usize, usize)> = Vec::new();
    for (input, format) in &report.guessed {
        // A list goes without saying.
        if format == "lines" && !is_named_as_table(&report.files[*input].path) {
            continue;
        }
        match guesses.iter_mut().find(|(name, ..)| name == format) {
            Some((.., more)) => *more += 1,
            None => guesses.push((format, *input, 0)),
        }
    }
    for (format, input, more) in guesses {
        let path = Printable::path(&report.files[input].path);
        let hint = match format {
            "lines" => ", though its name is that of a table; --format csv:COLUMN reads a column",
            _ => "",
        };
        match more {
            0 => say(format_args!("{path}: read as {format}{hint}")),
            more => say(format_args!("{path} and {more} more: read as {format}{hint}")),
        }
    }
    if name == output::Job::Compare {
        let Differences { hosts, forms, rejects } = report.differences;
        let total = report.differences.total();
        let (noun, verb) = if total == 1 { ("URL", "is") } else { ("URLs", "are") };
        say(format_args!(
            "{total} {noun} {verb} read differently: {hosts} name another host, {forms} have another \
             form, {rejects} are rejected by one of the profiles"
        ));
    }
}
