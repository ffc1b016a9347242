//! Messages of a run on standard error, besides its numbers.

use std::borrow::Cow;
use std::path::Path;

use crate::args::filters::FilterArgs;
use crate::args::run_args::RunArgs;
use crate::hints;
use crate::status::{eprint_hinted, eprint_message};
use uniqurl::RejectReason;
use uniqurl_engine::output::{self, Tally};
use uniqurl_engine::{InputFormat, JobPlan, MaxRejected, Report};
use uniqurl_formats::input::InputState;
use uniqurl_formats::record::{self, Finds, Suggestion};
use uniqurl_text::Printable;

/// The message about a last line that was still being written when the input was read.
pub(crate) const LEFT_OUT: &str = "the last line was still being written and is left out";

/// Prints warnings and remarks about a run, besides its numbers.
pub(crate) fn print_diagnostics(
    report: &Report,
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
    // Remarks need no action, so -q leaves them out. Warnings stay.
    if !common.quiet {
        inform(report);
    }
    for (name, inputs) in by_format(report) {
        // Options go by the format inside of an envelope.
        let inner = record::Wrapped::inner_name(name);
        let format = common.formats.parse(inner);
        if format.as_ref().is_ok_and(|format| plan.output.tally.is_lacked_by(format)) {
            eprint_message(format_args!(
                "warning: {inputs}: --tally added nothing up, since {name} has no such field"
            ));
        }
        let idle = format.iter().flat_map(|format| common.idle(format));
        // The error of a run with a filter that applies to no input says the same.
        for option in idle.filter(|option| !is_idle_for_all(report, common, option)) {
            eprint_hinted(
                format_args!(
                    "warning: {inputs}: {option} dropped no records, since {name} has no such field"
                ),
                hints::of_idle(inner, option).as_deref(),
            );
        }
    }
    for (input, field) in &report.dropped_hosts {
        let guess = report.guessed.iter().find(|(other, _)| other == input);
        let format = guess.map_or("", |(_, name)| name);
        // A pointer into JSON begins with a slash, and the name of a field in a format string does not.
        let hint = match field.strip_prefix('/') {
            Some(_) => format!("read the hosts with --format json:host={field},target=POINTER"),
            None => "read the hosts with --format log:'FORMAT'".to_owned(),
        };
        eprint_hinted(
            format_args!(
                "warning: {}: {format} does not read {}, which names hosts, so equal paths of different hosts are one",
                path(*input),
                Printable(field.as_bytes())
            ),
            Some(&hint),
        );
    }
    warn_of_other_kinds(report, &plan.input.format);
    let fails = are_all_rejected(report, name, common.filters.max_rejected);
    let are_doubted = warn_of_lists(report, fails);
    // The error of a run that fails has the same hint.
    if !fails {
        warn_of_columns(report, common.separator());
    }
    if report.labelled > 0 && !fails && !are_doubted {
        eprint_hinted(
            format_args!(
                "warning: {} of {} lines begin with a word and a colon as no URL does, and were rejected",
                report.labelled, report.listed
            ),
            Some(&hint_for_rejects(report, None, first_suggestion(report))),
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
    // One of these at most: all say that hosts are missing, and the first says what that did.
    let FilterArgs { host, hosts, .. } = &common.filters;
    if report.hostless > 0 && !(host.is_empty() && hosts.is_empty()) {
        let option = if host.is_empty() { "--hosts" } else { "--host" };
        eprint_hinted(
            format_args!(
                "warning: {} request targets name no host, so {option} dropped them",
                report.hostless
            ),
            Some("give them a host with --base"),
        );
    } else if report.hostless > 0 && !common.quiet && !are_of_one_site(report) {
        eprint_hinted(
            format_args!(
                "warning: {} request targets name no host, so equal paths of different hosts are one",
                report.hostless
            ),
            Some("give them a host with --base"),
        );
    } else if report.hostless > 0 && common.rules.assume_scheme.is_some() {
        eprint_hinted(
            format_args!(
                "warning: {} request targets name no host, so --assume-scheme did not change them",
                report.hostless
            ),
            Some("give them a scheme and a host with --base"),
        );
    }
}

/// Whether the inputs are the parts of one log, as rotation leaves them: `access.log`, `access.log.1`,
/// `access.log.2.gz`. Their targets are then of one site, or of sites that the log does not tell apart.
fn are_of_one_site(report: &Report) -> bool {
    let stem = |path: &Path| {
        // Rotation puts a number or a date after the name, so the name ends at its first digit.
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let end = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
        let stem = name[..end].trim_end_matches(['.', '-', '_']);
        // The newest part may be packed and without a number, as in access.log.gz.
        let stem = stem.strip_suffix(".gz").or(stem.strip_suffix(".zst")).unwrap_or(stem);
        path.with_file_name(stem)
    };
    let mut stems = report.files.iter().map(|file| stem(&file.path));
    let first = stems.next();
    stems.all(|stem| Some(stem) == first)
}

/// Warns of inputs that were read to their end, and hold nothing that their format counts as a record.
fn warn_of_other_kinds(report: &Report, asked: &InputFormat) {
    for (index, file) in report.files.iter().enumerate() {
        let (Tally { records: 0, skipped: 1.., .. }, InputState::Ok) = (&file.tally, file.state)
        else {
            continue;
        };
        let format = match asked {
            InputFormat::Fixed(format) => format.name(),
            InputFormat::Auto => format_of(report, index).into(),
        };
        eprint_hinted(
            format_args!(
                "warning: {}: it holds no record of the kind that {format} reads, and {} of other kinds",
                Printable::path(&file.path),
                file.tally.skipped
            ),
            Some(hints::of_other_kinds(&format)),
        );
    }
}

/// Whether an option asks for a field that no guessed format has.
fn is_idle_for_all(report: &Report, common: &RunArgs, option: &str) -> bool {
    report.guessed.iter().all(|(_, name)| {
        let format = common.formats.parse(record::Wrapped::inner_name(name));
        format.is_ok_and(|format| common.idle(&format).any(|idle| idle == option))
    })
}

/// Rejected records from which on the format of an input is doubted.
const DOUBTED: u64 = 5;

/// Warns of inputs that were read as lists because no other format was found. True if most lines of one
/// were rejected.
fn warn_of_lists(report: &Report, are_all_rejected: bool) -> bool {
    let guessed = report.guessed.iter().filter(|(_, format)| **format == *"lines");
    let lists = || guessed.clone().map(|(input, _)| (*input, &report.files[*input]));
    for kind in ["csv", "tsv"] {
        let mut named = lists().filter(|(_, file)| kind_of_table(&file.path) == Some(kind));
        let Some((index, file)) = named.next() else { continue };
        let inputs = and_more(&file.path, named.count());
        let hint = match suggestion_of(report, index) {
            // The error of the run has it.
            _ if are_all_rejected => None,
            Some(suggestion) => Some(hints::of_suggestion(suggestion)),
            None => Some(format!("read a column with --format {kind}:COLUMN").into()),
        };
        eprint_hinted(
            format_args!("warning: {inputs}: read as lines, though its name is that of a table"),
            hint.as_deref(),
        );
    }
    // The run fails for this reason, and its error says the same.
    if are_all_rejected {
        return false;
    }
    // A few rejects are dirt. More than half of the records are another format.
    let is_doubted =
        |tally: &Tally| tally.rejected >= DOUBTED && tally.rejected * 2 > tally.records;
    let mut are_doubted = false;
    for (index, file) in lists().filter(|(_, file)| is_doubted(&file.tally)) {
        let (path, tally) = (Printable::path(&file.path), &file.tally);
        let most = most_frequent(tally);
        let code = most.map_or("", RejectReason::name);
        eprint_hinted(
            format_args!(
                "warning: {path}: read as lines, and {} of {} were rejected, most of them as {code}",
                tally.rejected, tally.records
            ),
            Some(&hint_for_rejects(report, most, suggestion_of(report, index))),
        );
        are_doubted = true;
    }
    are_doubted
}

/// The hint for records that were mostly rejected with the code `most`.
fn hint_for_rejects(
    report: &Report,
    most: Option<RejectReason>,
    suggestion: Option<&Suggestion>,
) -> Cow<'static, str> {
    match suggestion {
        // A base does not change lines that begin with a word and a colon.
        None if report.labelled * 2 > report.listed => hints::FOR_LABELS.into(),
        _ => hints::of_rejects(most, report.listed > 0, suggestion),
    }
}

/// A better way to read the input at this index, if there is one.
fn suggestion_of(report: &Report, index: usize) -> Option<&Suggestion> {
    report.suggestions.iter().find(|(of, _)| *of == index).map(|(_, suggestion)| suggestion)
}

/// A better way to read the first input that has one.
fn first_suggestion(report: &Report) -> Option<&Suggestion> {
    report.suggestions.first().map(|(_, suggestion)| suggestion)
}

/// The format that was guessed for the input at this index.
fn format_of(report: &Report, index: usize) -> &str {
    let guess = report.guessed.iter().find(|(of, _)| *of == index);
    guess.map_or("lines", |(_, format)| format)
}

/// Warns of lists whose lines look like rows of a table. With NUL as the separator they cannot be.
fn warn_of_columns(report: &Report, separator: record::Separator) {
    // The name of a table was warned of.
    let is_told = |index: usize| kind_of_table(&report.files[index].path).is_some();
    let is_list = |index: usize| format_of(report, index) == "lines";
    let columns = report.suggestions.iter().find(|(index, suggestion)| match suggestion {
        Suggestion::Format { finds: Finds::Columns, .. } => !(is_list(*index) && is_told(*index)),
        Suggestion::Format { finds: Finds::HostPaths, .. } => is_list(*index) && !is_told(*index),
        _ => false,
    });
    // A few tabs may be dirt. More than one line in a hundred looks like columns.
    if report.tabbed * 100 > report.listed && separator == record::Separator::LineFeed {
        let hint = match columns.map(|(_, column)| column).or(first_suggestion(report)) {
            Some(suggestion) => hints::of_suggestion(suggestion),
            None => "read a column with --format tsv:COLUMN".into(),
        };
        return eprint_hinted(
            format_args!(
                "warning: {} of {} lines hold a tab, which the format lines takes for a byte of the URL",
                report.tabbed, report.listed
            ),
            Some(&hint),
        );
    }
    if let Some((index, column)) = columns {
        let path = Printable::path(&report.files[*index].path);
        let format = format_of(report, *index);
        eprint_hinted(
            format_args!(
                "warning: {path}: its lines have columns, which the format {format} takes for parts of the URL"
            ),
            Some(&hints::of_suggestion(column)),
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
    // Of equal counts `max_by_key` takes the last, which in reverse is the first in the
    // order of the documentation.
    tally.codes().rev().max_by_key(|(_, count)| *count).map(|(code, _)| code)
}

/// Whether a run fails because every record was rejected. A limit given by the user replaces
/// this one.
pub(crate) fn are_all_rejected(
    report: &Report,
    job: output::JobKind,
    limit: Option<MaxRejected>,
) -> bool {
    let tally = &report.tally;
    // `normalize` writes a line for each record, also for those it rejects, so it has written something.
    let is_limited = job == output::JobKind::Dedup && limit.is_none();
    // An input without records has none that are rejected, and is no failure.
    is_limited && tally.rejected > 0 && tally.rejected + tally.blank == tally.records
}

/// The message of a run that ends for that reason, with a hint.
pub(crate) fn nothing_but_rejects(
    report: &Report,
    format: &InputFormat,
) -> (String, Cow<'static, str>) {
    let which = match report.tally.blank {
        0 => "rejected",
        _ => "rejected or blank",
    };
    // With pointers that lead nowhere, other members may hold URLs.
    let is_json = matches!(format, InputFormat::Fixed(format) if format.is_json());
    let rejected = report.first_rejected.as_deref().filter(|_| is_json);
    let members = rejected.and_then(record::suggest_members);
    let suggestion = first_suggestion(report).or(members.as_ref());
    let refused = report.files.iter().find_map(|file| hints::refusal_of(&file.path));
    let hint = match refused {
        Some(remedy) => remedy.into(),
        None => hint_for_rejects(report, most_frequent(&report.tally), suggestion),
    };
    (format!("every record was {which}, so nothing was written"), hint)
}

/// Prints remarks that need no action.
fn inform(report: &Report) {
    // Lists are the common case, and need no remark.
    for (format, inputs) in by_format(report).filter(|(format, _)| *format != "lines") {
        eprint_message(format_args!("{inputs}: read as {format}"));
    }
    for (input, delimiter) in &report.delimiters {
        let path = Printable::path(&report.files[*input].path);
        let delimiter = delimiter.escape_ascii();
        eprint_message(format_args!("{path}: its columns stand between '{delimiter}'"));
    }
}

/// The formats that were found, each with the first of its inputs and how many more there are: one fact is told
/// once, however many parts a log has.
fn by_format(report: &Report) -> impl Iterator<Item = (&str, String)> {
    let mut found: Vec<(&str, usize, usize)> = Vec::new();
    for (input, format) in &report.guessed {
        match found.iter_mut().find(|(name, ..)| *name == &**format) {
            Some((.., more)) => *more += 1,
            None => found.push((format, *input, 0)),
        }
    }
    found
        .into_iter()
        .map(|(format, input, more)| (format, and_more(&report.files[input].path, more)))
}

/// The path of an input, and how many more there are.
fn and_more(path: &Path, more: usize) -> String {
    let path = Printable::path(path);
    match more {
        0 => path.to_string(),
        more => format!("{path} and {more} more"),
    }
}
