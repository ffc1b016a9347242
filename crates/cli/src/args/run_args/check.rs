//! Rejects contradictory options among those that `dedup` and `normalize` share.

use std::path::Path;

use clap::error::ErrorKind;

use super::{Directories, FormatChoice, RunArgs};
use crate::args::filters::idle_message;
use crate::args::{Stdin, check_output_name, share_a_place, usage};
use crate::inputs::names::is_standard_input;
use uniqurl_formats::record::{EnvelopeChoice, Format, Separator};
use uniqurl_text::Printable;

/// The error about an option that asks for a field which the records of a format do not have.
pub(in crate::args) fn idle(subcommand: &str, option: &str, format: &Format) -> clap::Error {
    usage(subcommand, ErrorKind::ArgumentConflict, idle_message(option, &format.name()))
}

impl RunArgs {
    /// The format of all inputs, if the arguments name it.
    pub(in crate::args) fn known_format(&self) -> Option<&Format> {
        match (&self.format, self.separator) {
            (FormatChoice::Named(format), _) => Some(format),
            (FormatChoice::Auto | FormatChoice::InFile(_), Separator::Nul) => Some(&Format::Lines),
            (FormatChoice::Auto | FormatChoice::InFile(_), Separator::LineFeed) => None,
        }
    }

    /// Rejects options that contradict each other.
    pub(in crate::args) fn check(&self, subcommand: &str, stdin: Stdin) -> Result<(), clap::Error> {
        if let Err(message) = self.policy.check() {
            return Err(usage(subcommand, ErrorKind::ArgumentConflict, message));
        }
        if let Err(error) = self.normalizer() {
            return Err(usage(subcommand, ErrorKind::ArgumentConflict, error));
        }
        if let Some(message) = self.filters.contradiction() {
            return Err(usage(subcommand, ErrorKind::ArgumentConflict, message));
        }
        let is_unnamed = self.files.is_empty() && self.files_from.is_none();
        if is_unnamed && matches!(self.directories, Directories::AreWalked) {
            // Without a directory the current one is meant, and the run would wait for standard input.
            let message = "-r reads the files below directories: name one, such as .";
            return Err(usage(subcommand, ErrorKind::MissingRequiredArgument, message));
        }
        if is_unnamed && stdin == Stdin::Terminal {
            return Err(usage(
                subcommand,
                ErrorKind::MissingRequiredArgument,
                "no input: name a FILE, pipe something in, or give - to type it here",
            ));
        }
        if let Some(format) = self.known_format()
            && let Some(option) = self.idle(format).next()
        {
            return Err(idle(subcommand, option, format));
        }
        if let (Separator::Nul, FormatChoice::Named(format)) = (self.separator, &self.format)
            && *format != Format::Lines
        {
            let message = format!(
                "-0 is for lists of URLs (--format lines), and the records of {} end as they do",
                Printable(format.name().as_bytes())
            );
            return Err(usage(subcommand, ErrorKind::ArgumentConflict, message));
        }
        if let EnvelopeChoice::Named(envelope) = self.envelope {
            let name = envelope.name();
            let why = match (self.separator, &self.format) {
                (Separator::Nul, _) => Some(format!("-0 ends lines otherwise than {name} does")),
                (_, FormatChoice::Named(format)) if !format.fits_envelopes() => Some(format!(
                    "--envelope {name} is for formats of lines, and the records of {} are none",
                    Printable(format.name().as_bytes())
                )),
                _ => None,
            };
            if let Some(message) = why {
                return Err(usage(subcommand, ErrorKind::ArgumentConflict, message));
            }
        }
        if let Some(option) = self.policy.of_standard_input()
            && self.reads_standard_input()
        {
            let message = format!("standard input cannot be both {option} and another input");
            return Err(usage(subcommand, ErrorKind::ArgumentConflict, message));
        }
        let standard = Path::new("-");
        if self.files_from.as_deref().is_some_and(is_standard_input)
            && self.files.iter().any(|file| is_standard_input(file))
        {
            return Err(usage(
                subcommand,
                ErrorKind::ArgumentConflict,
                "standard input cannot be both an input and the list of inputs",
            ));
        }
        let conflict = |message| usage(subcommand, ErrorKind::ArgumentConflict, message);
        let texts =
            [("--rejects", &self.rejects), ("--stats", &self.stats), ("--report", &self.report)];
        for (option, path) in texts {
            let Some(path) = path else { continue };
            check_output_name(option, path, Some(&format!("{option} writes no table")))
                .map_err(conflict)?;
        }
        let outputs = self.outputs();
        if outputs.iter().filter(|path| **path == standard).count() > 1 {
            return Err(conflict(
                "two of --output, --rejects, --stats and --report would write to standard output, \
                 where --output goes unless -o FILE names another place"
                    .into(),
            ));
        }
        if share_a_place(&outputs) {
            return Err(conflict(
                "two of --output, --rejects, --stats and --report would write to the same place"
                    .into(),
            ));
        }
        let names = self.files_from.as_deref().map(|list| ("--files-from", list));
        for (option, list) in names.into_iter().chain(self.policy.files()) {
            if let Some(output) = self.replacing(list) {
                return Err(conflict(format!("{output} would replace the file of {option}")));
            }
        }
        Ok(())
    }
}
