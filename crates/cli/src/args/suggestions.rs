//! Suggestions for arguments that clap rejects: a file or a set operation in place of a subcommand, a switch
//! of a profile as an option, an option of another subcommand.

use std::ffi::OsStr;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, ValueEnum};

use super::Cli;
use super::set::Operation;
use uniqurl::Switch;
use uniqurl::bytes::Printable;

/// Adds a suggestion to the error: for a file or a set operation in place of a subcommand, a switch of a
/// profile given as an option, or an option of another subcommand.
pub(super) fn with_suggestion(mut error: clap::Error, first: Option<&OsStr>) -> clap::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => text(ContextKind::InvalidSubcommand)
            .filter(|wrong| first == Some(OsStr::new(wrong)))
            .and_then(meant_by),
        ErrorKind::UnknownArgument => text(ContextKind::InvalidArg)
            .and_then(|wrong| wrong.strip_prefix("--"))
            .and_then(|name| meant_by_option(name, first?.to_str()?)),
        _ => None,
    };
    if let Some(tip) = tip {
        // Clap suggests an option that is only spelled alike, and prints the usage for it.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Suggests a command for an unknown subcommand.
fn meant_by(wrong: &str) -> Option<String> {
    if Operation::from_str(wrong, false).is_ok() {
        return Some(format!("`uniqurl set {wrong}` does that to sorted sets"));
    }
    let name = Path::new(wrong);
    name.exists().then(|| format!("`uniqurl dedup {}` reads the file", Printable::path(name)))
}

/// Suggests a fix for an option that the subcommand does not have.
fn meant_by_option(name: &str, subcommand: &str) -> Option<String> {
    let command = Cli::command();
    let has = |command: &clap::Command, name| {
        command.get_arguments().any(|argument| argument.get_long() == Some(name))
    };
    if Switch::named(name).is_some() && has(command.find_subcommand(subcommand)?, "with") {
        return Some(format!("`--with {name}` turns it on, where the profile has it"));
    }
    let others = command.get_subcommands().filter(|command| has(command, name));
    let others: Vec<_> = others.map(clap::Command::get_name).collect();
    (!others.is_empty()).then(|| format!("it is an option of {}", others.join(", ")))
}
