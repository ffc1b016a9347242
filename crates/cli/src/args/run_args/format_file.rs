//! Reads the entries of `--format-file`, and finds the format that `--format` names among them.

use std::path::Path;
use std::sync::Arc;

use super::RunArgs;
use crate::args::format::FormatChoice;
use crate::args::rules::read_text;
use crate::args::usage::{suggest, wrong};
use uniqurl_text::{HIDDEN, Printable};

impl RunArgs {
    /// Adds the formats of the file, if one is named, and looks the name of the format up among them.
    pub(in crate::args) fn read_format_file(&mut self) -> Result<(), clap::Error> {
        if let Some(path) = &self.format_file {
            let text = read_text(path, "--format-file").map_err(wrong)?;
            let formats = self.formats.with_file(&text);
            let formats =
                formats.map_err(|error| wrong(format!("{}: {error}", Printable::path(path))))?;
            self.formats = Arc::new(formats);
        }
        let name = match &self.format {
            FormatChoice::InFile(name) => name.clone(),
            // An entry of the file replaces another one of its name.
            FormatChoice::Named(format) if self.format_file.is_some() => format.name().into_owned(),
            FormatChoice::Named(_) | FormatChoice::Auto => return Ok(()),
        };
        let format = self.formats.parse(&name).map_err(|error| {
            // A password may stand where a format does not.
            let shown = Printable::path(Path::new(&name)).to_string();
            let refused = match shown.contains(HIDDEN) {
                true => wrong(format!("unknown format `{shown}`")),
                false => wrong(&error),
            };
            match error.is_unknown() {
                true => suggest(refused, "list the formats with `uniqurl formats`"),
                false => refused,
            }
        })?;
        self.format = FormatChoice::Named(format);
        Ok(())
    }
}
