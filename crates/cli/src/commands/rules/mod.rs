//! `uniqurl rules import`: writes rules of ClearURLs or AdGuard as a profile file.
//!
//! In: the text of the rules. Out: the file on standard output, and on standard error how many rules it took and why
//! not the others.

mod pattern;
mod imported;
mod clearurls;
mod adguard;
mod sections;

use std::io::Write;

use crate::args::rules::import::{ImportArgs, RuleKind};
use crate::args::rules::read_text;
use crate::status::{Status, eprint_message, printable, status_of};
use uniqurl_text::Printable;

/// Runs the subcommand.
pub(crate) fn main(import: &ImportArgs, out: &mut impl Write) -> Status {
    let read = read_text(&import.file, "rules import").and_then(|text| match import.kind {
        RuleKind::Clearurls => clearurls::read(&text)
            .map_err(|error| format!("{}: {error}", Printable::path(&import.file))),
        RuleKind::Adguard => Ok(adguard::read(&text)),
    });
    let (name, case) = match import.kind {
        RuleKind::Clearurls => ("clearurls", "parameters.ignore-case = true\n"),
        RuleKind::Adguard => ("adguard", ""),
    };
    let imported = match read {
        Ok(imported) => imported,
        Err(error) => {
            eprint_message(error);
            return Status::Failed;
        }
    };
    let taken = imported.taken.len() + imported.exceptions;
    let listed: usize = imported.listed.values().map(Vec::len).sum();
    let counts = format!("took {taken} of {} rules", taken + listed);
    let mut text = format!("# uniqurl rules import {name}: {counts}\n");
    text += &format!("name = \"{name}\"\nversion = 1\nbase = \"crawl\"\n{case}");
    sections::write(&imported.taken, &mut text);
    for (reason, rules) in &imported.listed {
        text += &format!("\n# Not taken: {reason}\n");
        // No character may end the comment.
        rules.iter().for_each(|rule| text += &format!("#   {}\n", printable(rule)));
    }
    let status = status_of(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    if status == Status::Complete {
        eprint_message(format_args!("{counts}; the file lists the other {listed}"));
        for (reason, rules) in &imported.listed {
            eprint_message(format_args!("{} not taken: {reason}", rules.len()));
        }
        if imported.others > 0 {
            eprint_message(format_args!("{} skipped: no $removeparam", imported.others));
        }
    }
    status
}
