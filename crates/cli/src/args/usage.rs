//! Usage errors: how they are made and shown.

use std::io::{self, Write};

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::Cli;
use crate::status::{printable, status_of};

/// A usage error of a subcommand that only shows once the arguments are put to use: a base that is
/// no URL, say. `message` must be printable.
pub fn usage(subcommand: &str, kind: ErrorKind, message: impl std::fmt::Display) -> clap::Error {
    let mut command = Cli::command();
    command.build();
    let found = command.find_subcommand_mut(subcommand);
    found.expect("only existing subcommands are checked").error(kind, message)
}

/// Prints a usage error, or the help or version that was asked for, and ends the process.
pub fn exit(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        let shown = error.print().and_then(|()| io::stdout().flush());
        std::process::exit(status_of(shown).into())
    }
    // A usage error quotes arguments, which may be file names that strangers chose.
    let _ = io::stderr().write_all(printable_lines(&error.render().to_string()).as_bytes());
    std::process::exit(error.exit_code())
}

pub(super) fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line) + "\n").collect()
}
