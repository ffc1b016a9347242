//! Messages of a run on standard error, besides its numbers.

use std::path::Path;

use crate::args::{MessageLevel, RunArgs};
use crate::hints;
use crate::status::{eprint_hinted, eprint_message};
use uniqurl::bytes::{Printable, RejectReason};
use uniqurl_engine::output::{self, Tally};
use uniqurl_engine::{JobPlan, MaxRejected, Report};
use uniqurl_formats::record;

/// The message about a last line that was still being written when the input was read.
pub(crate) const LEFT_OUT: &str = "the last line was still being written and is left out";

/// Prints warnings and remarks about a run, besides its numbers.
pub(crate) fn print_diagnostics(
    report: &Report,
    inputs: usize,
    plan: &JobPlan,
    name: output::JobKind,
    common: &RunArgs,
) {
    let path = |input: usize| Printable::path(&report.files[input].path);
    for (input, error) in &report.damaged {
        let taken = report.files[*input].tally.records;
        let hint = hints::of_input(error, name);
        eprint_hinted(
            format_args!("{error}, after {taken} records, which were taken"),
            hint.as_deref(),
        );
    }
    for (input, at) in &report.cut {
        let path = path(*input);
        eprint_message(format_args!("{path}@{at}: cut: {LEFT_OUT}"));
    }
    for (input, zeros) in &report.padded {
        let path = path(*input);
        eprint_message(format_args!(
            "warning: {path}: {zeros} zeros after the compressed data are left out"
        ));
    }
    if common.messages == MessageLevel::All {
        inform(report);
    }
    for (input, name) in &report.guessed {
        let format = record::Format::parse(name);
        let lacks = |format: &record::Format| plan.output.tally.is_lacked_by(format);
        if format.as_ref().is_ok_and(lacks) {
            let path = path(*input);
            eprint_message(format_args!(
                "warning: {path}: --tally added nothing up, since {name} has no such field"
            ));
        }
        for option in format.iter().flat_map(|format| common.idle(format)) {
            let path = path(*input);
            eprint_hinted(
                format_args!(
                    "warning: {path}: {option} dropped no records, since {name} has no such field"
                ),
                hints::of_idle(name, option).as_deref(),
            );
        }
    }
    warn_of_lists(report, are_all_rejected(report, name, common.filters.max_rejected));
    // With NUL as the separator, lines cannot be rows of a table.
    if report.tabbed * 100 > report.listed && common.separator == record::Separator::LineFeed {
        eprint_hinted(
            format_args!(
                "warning: {} of {} lines hold a tab, which the format lines takes for a byte of the URL",
                report.tabbed, report.listed
            ),
            Some("read a column with --format tsv:COLUMN"),
        );
    }
    for list in &report.rejected_seen {
        eprint_message(format_args!(
            "warning: {}: {} of {} lines are not URLs under this profile, and were not added to the set",
            Printable::path(&list.path),
            list.rejected,
            list.lines
        ));
    }
    if report.hostless > 0 && !common.filters.host.is_empty() {
        eprint_hinted(
            format_args!(
                "warning: {} request targets name no host, so --host dropped them",
                report.hostless
            ),
            Some("give them a host with --base"),
        );
    } else if report.hostless > 0 && inputs > 1 {
        eprint_hinted(
            format_args!(
                "warning: {} request targets name no host, so equal paths of different hosts are one",
                report.hostless
            ),
            Some("give them a host with --base"),
        );
    } else if report.hostless > 0 && common.assume_scheme.is_some() {
        eprint_hinted(
            format_args!(
                "warning: {} request targets name no host, so --assume-scheme did not change them",
                report.hostless
            ),
            Some("give them a scheme and a host with --base"),
        );
    }
}

/// Rejected records from which on the format of an input is doubted.
const DOUBTED: u64 = 5;

/// Warns of inputs that were read as lists because no other format was found.
fn warn_of_lists(report: &Report, are_all_rejected: bool) {
    let guessed = report.guessed.iter().filter(|(_, format)| format == "lines");
    let lists = || guessed.clone().map(|(input, _)| &report.files[*input]);
    for kind in ["csv", "tsv"] {
        let mut named = lists().filter(|file| kind_of_table(&file.path) == Some(kind));
        let Some(file) = named.next() else { continue };
        let path = Printable::path(&file.path);
        let more = match named.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        eprint_hinted(
            format_args!(
                "warning: {path}{more}: read as lines, though its name is that of a table"
            ),
            Some(&format!("read a column with --format {kind}:COLUMN")),
        );
    }
    // The run fails for this reason, and its error says the same.
    if are_all_rejected {
        return;
    }
    let is_doubted =
        |tally: &Tally| tally.rejected >= DOUBTED && tally.rejected * 2 > tally.records;
    for file in lists().filter(|file| is_doubted(&file.tally)) {
        let (path, tally) = (Printable::path(&file.path), &file.tally);
        let most = most_frequent(tally);
        let code = most.map_or("", RejectReason::name);
        eprint_hinted(
            format_args!(
                "warning: {path}: read as lines, and {} of {} were rejected, most of them as {code}",
                tally.rejected, tally.records
            ),
            Some(hints::of_rejects(most, true)),
        );
    }
}

/// `csv` or `tsv`, if a file name promises columns, compressed or not.
fn kind_of_table(path: &Path) -> Option<&'static str> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let mut endings = name.split('.').skip(1);
    endings.find_map(|ending| ["csv", "tsv"].into_iter().find(|kind| *kind == ending))
}

/// The code under which most records were rejected.
fn most_frequent(tally: &Tally) -> Option<RejectReason> {
    let counts = RejectReason::ALL.iter().zip(tally.by_code).rev();
    counts.max_by_key(|(_, count)| *count).map(|(code, _)| *code)
}

/// Whether a run fails because every record was rejected. A limit given by the user replaces
/// this one.
pub(crate) fn are_all_rejected(
    report: &Report,
    job: output::JobKind,
    limit: Option<MaxRejected>,
) -> bool {
    let tally = &report.tally;
    let is_limited = job == output::JobKind::Dedup && limit.is_none();
    is_limited && tally.rejected > 0 && tally.rejected + tally.blank == tally.records
}

/// The message of a run that ends for that reason, with a hint.
pub(crate) fn nothing_but_rejects(report: &Report) -> (String, &'static str) {
    let which = match report.tally.blank {
        0 => "rejected",
        _ => "rejected or blank",
    };
    let hint = hints::of_rejects(most_frequent(&report.tally), report.listed > 0);
    (format!("every record was {which}, so nothing was written"), hint)
}

/// Prints remarks that need no action.
fn inform(report: &Report) {
    let mut guesses: Vec<(&str, usize, usize)> = Vec::new();
    // Lists are the common case, and need no remark.
    for (input, format) in report.guessed.iter().filter(|(_, format)| format != "lines") {
        match guesses.iter_mut().find(|(name, ..)| name == format) {
            Some((.., more)) => *more += 1,
            None => guesses.push((format, *input, 0)),
        }
    }
    for (format, input, more) in guesses {
        let path = Printable::path(&report.files[input].path);
        match more {
            0 => eprint_message(format_args!("{path}: read as {format}")),
            more => eprint_message(format_args!("{path} and {more} more: read as {format}")),
        }
    }
}
