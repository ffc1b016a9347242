//! Reads the entries of `--format-file`, and finds the format that `--format` names among them.

use std::sync::Arc;

use super::{FormatChoice, RunArgs};
use uniqurl::bytes::Printable;
use uniqurl_formats::input::read_whole;

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

    /// Looks a name up that no other format has; the name, if no entry has it either.
    pub(in crate::args) fn find_format(&mut self) -> Result<(), String> {
        let FormatChoice::InFile(name) = &self.format else { return Ok(()) };
        match self.formats.parse(name) {
            Ok(format) => {
                self.format = FormatChoice::Named(format);
                Ok(())
            }
            Err(_) => Err(name.clone()),
        }
    }
}
