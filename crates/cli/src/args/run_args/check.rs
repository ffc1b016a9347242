//! Rejects contradictory options among those that `dedup` and `normalize` share.

use std::path::Path;

use super::RunArgs;
use crate::args::default_command::Stdin;
use crate::args::filters::idle_message;
use crate::args::format::FormatChoice;
use crate::args::output_paths::{check_output_name, share_a_place};
use crate::args::rules::Unsupported;
use crate::inputs::names::is_standard_input;
use uniqurl_formats::record::{EnvelopeChoice, Format};
use uniqurl_text::Printable;

impl RunArgs {
    /// The format of all inputs, if the arguments name it.
    pub(in crate::args) fn known_format(&self) -> Option<&Format> {
        match &self.format {
            FormatChoice::Named(format) => Some(format),
            FormatChoice::Auto | FormatChoice::InFile(_) => self.null.then_some(&Format::Lines),
        }
    }

    /// Rejects options that contradict each other.
    pub(in crate::args) fn check(&self, stdin: Stdin) -> Result<(), String> {
        self.rules.check()?;
        // An option that the profile lacks is wrong usage, and shows before any file is read.
        self.rules.turned(self.profile.profile, Unsupported::Refused)?;
        if let Some(message) = self.filters.contradiction() {
            return Err(message.into());
        }
        let is_unnamed = self.files.is_empty() && self.files_from.is_none();
        if is_unnamed && self.recursive {
            // Without a directory the current one is meant, and the run would wait for standard input.
            return Err("-r reads the files below directories: name one, such as .".into());
        }
        if is_unnamed && stdin == Stdin::Terminal {
            return Err(
                "no input: name a FILE, pipe something in, or give - to type it here".into()
            );
        }
        self.check_format()?;
        let mut of_standard_input = self.named_files().filter(|(_, file)| is_standard_input(file));
        if let Some((option, _)) = of_standard_input.next()
            && (self.reads_standard_input() || of_standard_input.next().is_some())
        {
            return Err(format!("standard input cannot be both {option} and another input"));
        }
        if self.files_from.as_deref().is_some_and(is_standard_input)
            && self.files.iter().any(|file| is_standard_input(file))
        {
            let message = "standard input cannot be both an input and the list of inputs";
            return Err(message.into());
        }
        self.check_outputs()
    }

    /// The files that are read before any input, with their options.
    fn named_files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.rules.files().chain(self.filters.files()).chain(self.routes.file())
    }

    /// Rejects a format that does not go with other options.
    fn check_format(&self) -> Result<(), String> {
        if let Some(format) = self.known_format()
            && let Some(option) = self.idle(format).next()
        {
            return Err(idle_message(option, &format.name()));
        }
        let FormatChoice::Named(format) = &self.format else { return self.check_envelope(None) };
        if self.null && *format != Format::Lines {
            return Err(format!(
                "-0 is for lists of URLs (--format lines), and the records of {} end as they do",
                Printable(format.name().as_bytes())
            ));
        }
        self.check_envelope(Some(format))
    }

    fn check_envelope(&self, format: Option<&Format>) -> Result<(), String> {
        let EnvelopeChoice::Named(envelope) = self.envelope else { return Ok(()) };
        let name = envelope.name();
        match format {
            _ if self.null => Err(format!("-0 ends lines otherwise than {name} does")),
            Some(format) if !format.fits_envelopes() => Err(format!(
                "--envelope {name} is for formats of lines, and the records of {} are none",
                Printable(format.name().as_bytes())
            )),
            _ => Ok(()),
        }
    }

    /// Rejects outputs that would be lost.
    fn check_outputs(&self) -> Result<(), String> {
        // The first is --output, and only that may have the name of a table.
        for (option, path) in self.named_outputs().skip(1) {
            check_output_name(option, path, Some(&format!("{option} writes no table")))?;
        }
        let outputs = self.outputs();
        // This is found below as well, but here the message can say what to do.
        if outputs.iter().filter(|path| **path == Path::new("-")).count() > 1 {
            return Err(
                "two of --output, --rejects, --stats and --report would write to standard output, \
                 where --output goes unless -o FILE names another place"
                    .into(),
            );
        }
        if share_a_place(&outputs) {
            let message =
                "two of --output, --rejects, --stats and --report would write to the same place";
            return Err(message.into());
        }
        let names = self.files_from.as_deref().map(|list| ("--files-from", list));
        for (option, list) in names.into_iter().chain(self.named_files()) {
            if let Some(output) = self.replacing(list) {
                return Err(format!("{output} would replace the file of {option}"));
            }
        }
        Ok(())
    }
}
