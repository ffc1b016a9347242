//! What a run says on standard error besides its numbers.

use std::borrow::Cow;

use super::beginning::{
    advice, advice_of_json, advice_of_table, first_lines, has_columns, has_ports, is_binary,
    kind_of_table, reads_schemes,
};
use super::flags::{Common, Messages};
use super::remedy;
use super::status::say;
use uniqurl::bytes::Code;
use uniqurl::bytes::Printable;
use uniqurl_engine::output::{self, FileStats, Tally};
use uniqurl_engine::{Format, MaxRejected, Report};
use uniqurl_formats::record::{self, Separator};

/// What is said of a line that was cut where an input ended when it was looked at.
pub(super) const LEFT_OUT: &str = "the last line was still being written and is left out";

/// What a person should know of a run besides its numbers.
pub(super) fn tell(report: &Report, inputs: usize, name: output::Job, common: &Common) {
    let path = |input: usize| Printable::path(&report.files[input].path);
    for (input, error) in &report.damaged {
        let taken = report.files[*input].tally.records;
        let remedy = remedy::of_input(error, name);
        say(format_args!("{error}{remedy}; {taken} records before were taken"));
    }
    for (input, at) in &report.cut {
        let path = path(*input);
        say(format_args!("{path}@{at}: cut: {LEFT_OUT}"));
    }
    for (input, zeros) in &report.padded {
        let path = path(*input);
        say(format_args!("warning: {path}: {zeros} zeros behind what is compressed are left out"));
    }
    if common.messages == Messages::All {
        inform(report);
    }
    for (input, name) in &report.guessed {
        let format = record::Format::parse(name);
        for option in format.iter().flat_map(|format| common.idle(format)) {
            let path = path(*input);
            let hint = match (name.split_once(':'), option.strip_prefix("--")) {
                (
                    Some((kind @ ("csv" | "tsv" | "json" | "parquet" | "arrow"), _)),
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
    warn_of_lists(report, are_all_rejected(report, name, common.filters.max_rejected), common);
    // A list whose records end with NUL is no table, and no more is what does not look like text.
    if report.tabbed * 100 > report.listed
        && common.separator == Separator::LineFeed
        && !report.files.iter().all(|file| is_binary(&file.path))
    {
        say(format_args!(
            "warning: {} of {} lines hold a tab, which is a byte of the URL in the format lines; \
             --format tsv:1 reads what is before the first, and tsv:2 what is behind it, as behind a \
             count",
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
    } else if report.hostless > 0 && common.assume_scheme.is_some() {
        say(format_args!(
            "warning: {} request targets name no host, so --assume-scheme did nothing to them; --base \
             gives them scheme and host",
            report.hostless
        ));
    }
}

/// Rejected records of an input from which on its format is doubted.
const DOUBTED: u64 = 5;

/// Warns of inputs that were read as lists for want of a better guess.
fn warn_of_lists(report: &Report, are_all_rejected: bool, common: &Common) {
    let guessed = report.guessed.iter().filter(|(_, format)| format == "lines");
    let lists = || guessed.clone().map(|(input, _)| &report.files[*input]);
    for kind in ["csv", "tsv"] {
        let mut named = lists().filter(|file| kind_of_table(&file.path) == Some(kind));
        let Some(file) = named.next() else { continue };
        let Some(advice) = advice_of_table(&file.path, kind) else { continue };
        let path = Printable::path(&file.path);
        let more = match named.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        say(format_args!(
            "{path}{more}: warning: read as lines, though its name is that of a table; {advice}"
        ));
    }
    // Then the run ends for that, and says so.
    if are_all_rejected {
        return;
    }
    let is_doubted =
        |tally: &Tally| tally.rejected >= DOUBTED && tally.rejected * 2 > tally.records;
    for file in lists().filter(|file| is_doubted(&file.tally)) {
        let (path, tally) = (Printable::path(&file.path), &file.tally);
        let most = most_frequent(tally);
        let code = most.map_or("", Code::name);
        let remedy = match most {
            Some(Code::Relative) => "--base resolves them, and --assume-scheme reads hosts",
            _ => "--format says how records are read",
        };
        // With -0 nothing is guessed.
        let advice = advice(&file.path, Separator::LineFeed);
        say(format_args!(
            "{path}: warning: read as lines, of which {} of {} were rejected, most of them as {code}; {}",
            tally.rejected,
            tally.records,
            advice.as_deref().unwrap_or(remedy)
        ));
    }
    // One is looked at: there may be thousands.
    let first = lists().next().filter(|file| file.tally.rejected * 2 <= file.tally.records);
    let Some(FileStats { path, .. }) = first else { return };
    if has_columns(path) {
        say(format_args!(
            "{}: warning: read as lines, in which blanks are bytes of the URL; --format ws:1 reads \
             what is before the first",
            Printable::path(path)
        ));
    }
    if common.assume_scheme.is_none() && reads_schemes(common.profile) && has_ports(path) {
        say(format_args!(
            "{}: warning: read as lines, in which what stands before a colon is a scheme; \
             --assume-scheme reads a host and a port there",
            Printable::path(path)
        ));
    }
}

/// The code under which most records were rejected.
fn most_frequent(tally: &Tally) -> Option<Code> {
    let counts = Code::ALL.iter().zip(tally.by_code).rev();
    counts.max_by_key(|(_, count)| *count).map(|(code, _)| *code)
}

/// Whether a run ends for that every record was rejected. A limit that was given stands in the place of
/// this one.
pub(super) fn are_all_rejected(
    report: &Report,
    job: output::Job,
    limit: Option<MaxRejected>,
) -> bool {
    let tally = &report.tally;
    let is_limited = job == output::Job::Dedup && limit.is_none();
    is_limited && tally.rejected > 0 && tally.rejected + tally.blank == tally.records
}

/// What is said of a run that ends for that, and what to do about it.
pub(super) fn nothing_but_rejects(
    report: &Report,
    format: &Format,
    separator: Separator,
) -> String {
    let which = match report.tally.blank {
        0 => "rejected",
        _ => "rejected or blank",
    };
    let remedy = match most_frequent(&report.tally) {
        Some(Code::TooLong) => "most of them are longer than --max-url, which can be raised",
        Some(Code::Relative) if report.listed > 0 => {
            "most of them are relative; --base resolves them, and --assume-scheme reads hosts"
        }
        _ => "`uniqurl normalize --json` tells why, and --format how records are read",
    };
    let advice = advice_of_rejects(report, format, separator);
    let advice = advice.as_deref().unwrap_or(remedy);
    format!("every record was {which}, so nothing was written; {advice}")
}

/// What to do about inputs that were read as lists or JSON Lines, where all is rejected and that can be
/// told.
fn advice_of_rejects(
    report: &Report,
    format: &Format,
    separator: Separator,
) -> Option<Cow<'static, str>> {
    let path = |input: usize| Some(report.files.get(input)?.path.as_path());
    match format {
        Format::Fixed(format) => match **format {
            record::Format::Lines => advice(path(0)?, separator),
            record::Format::Json(_) => {
                let [line, next] = first_lines(path(0)?)?;
                advice_of_json(&line, &next).map(Cow::from)
            }
            _ => None,
        },
        Format::Auto => {
            let (input, _) = report.guessed.iter().find(|(_, name)| name == "lines")?;
            advice(path(*input)?, separator)
        }
    }
}

/// What was found that nobody has to do anything about.
fn inform(report: &Report) {
    let mut guesses: Vec<(&str, usize, usize)> = Vec::new();
    // A list goes without saying.
    for (input, format) in report.guessed.iter().filter(|(_, format)| format != "lines") {
        match guesses.iter_mut().find(|(name, ..)| name == format) {
            Some((.., more)) => *more += 1,
            None => guesses.push((format, *input, 0)),
        }
    }
    for (format, input, more) in guesses {
        let path = Printable::path(&report.files[input].path);
        match more {
            0 => say(format_args!("{path}: read as {format}")),
            more => say(format_args!("{path} and {more} more: read as {format}")),
        }
    }
}
