//! Prints a usage error, or the help or version that was asked for.

use std::ffi::OsString;
use std::io::{self, Write};

use clap::error::ErrorKind;

use super::default_command::{Stdin, with_command};
use super::parse::command;
use super::usage::{hint, message};
use crate::status::{Status, eprint_hinted, printable, status_of};

/// Prints an error, and gives the status with which the process ends. `arguments` are those of the process.
pub fn report(error: &clap::Error, arguments: &[OsString]) -> Status {
    if !error.use_stderr() {
        // The text may wait in a buffer, and a closed pipe shows only when it is flushed.
        return status_of(error.print().and_then(|()| io::stdout().flush()));
    }
    // This is a page of help in place of a message, so it keeps its lines.
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let text = error.render().to_string();
        let text: String = text.lines().map(|line| printable(line) + "\n").collect();
        let _ = io::stderr().write_all(text.as_bytes());
    } else {
        let root = command();
        // As `parse` read them, so that the hint is about the command that was meant.
        let words = with_command(&root, arguments.to_vec(), Stdin::of_process());
        let words = words.get(1..).unwrap_or_default();
        eprint_hinted(message(error), Some(&hint(error, &root, words)));
    }
    Status::Failed
}
