//! Reads the entries of `--format-file`, and finds the format that `--format` names among them.

use std::sync::Arc;

use super::{FormatChoice, RunArgs};
use uniqurl_formats::input::read_whole;
use uniqurl_text::Printable;

impl RunArgs {
    /// Adds the formats of the file, if one is named.
    pub(in crate::args) fn read_format_file(&mut self) -> Result<(), String> {
        let Some(path) = &self.format_file else { return Ok(()) };
        let shown = Printable::path(path);
        let text = read_whole(path).map_err(|error| format!("{error}, for --format-file"))?;
        let text = String::from_utf8(text).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            format!("{shown}: line {line}: not UTF-8")
        })?;
        let formats = self.formats.with_file(&text).map_err(|error| format!("{shown}: {error}"))?;
        self.formats = Arc::new(formats);
        Ok(())
    }

    /// Looks the name of the format up in the file; the name, if no format has it.
    pub(in crate::args) fn find_format(&mut self) -> Result<(), String> {
        let name = match &self.format {
            FormatChoice::InFile(name) => name.clone(),
            // An entry of the file replaces another one of its name.
            FormatChoice::Named(format) if self.format_file.is_some() => format.name().into_owned(),
            FormatChoice::Named(_) | FormatChoice::Auto => return Ok(()),
        };
        self.format = FormatChoice::Named(self.formats.parse(&name).map_err(|_| name)?);
        Ok(())
    }
}
