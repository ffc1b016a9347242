//! Reads the command line.

use std::ffi::{OsStr, OsString};

use clap::{ArgAction, CommandFactory, FromArgMatches};

use super::cli::{Cli, Command, ProfileForm};
use super::default_command::{Stdin, with_command};
use super::help::{ADVANCED, SHORT};
use super::seen::SeenArgs;
use super::suggestions::with_suggestion;
use super::usage::{mask_secrets, wrong};
use uniqurl::internal::System;

/// Reads the arguments, the first of which is the name of the program. `--version` names `scanner`.
///
/// # Errors
///
/// A usage error, or the text of `--help` or `--version`.
pub fn parse(arguments: Vec<OsString>, scanner: &str, stdin: Stdin) -> Result<Cli, clap::Error> {
    let version = format!("{} (scanner {scanner})", env!("CARGO_PKG_VERSION"));
    let root = command();
    let mut arguments = with_command(&root, arguments, stdin);
    let words = arguments.get(1..).unwrap_or_default().to_vec();
    // Clap takes any argument after `help` for a subcommand.
    if words.first().map(OsString::as_os_str) == Some(OsStr::new("help")) {
        arguments.retain(|argument| argument != "--help" && argument != "-h");
    }
    let matches = root
        .clone()
        .version(version)
        .try_get_matches_from(arguments)
        .map_err(|error| mask_secrets(with_suggestion(error, &root, &words)))?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    // Before the checks, which ask the format for its fields.
    if let Some(common) = cli.command.run_args() {
        common.read_format_file()?;
    }
    match &cli.command {
        Command::Dedup(dedup) => dedup.check(stdin)?,
        Command::Normalize(normalize) => normalize.check(stdin).map_err(wrong)?,
        Command::Compare(compare) => compare.check().map_err(wrong)?,
        Command::Set(set) => set.check().map_err(wrong)?,
        Command::Seen(SeenArgs { command }) => command.check(stdin).map_err(wrong)?,
        Command::Bench(bench) => bench.check()?,
        Command::Explain(explain) => explain.rules.check().map_err(wrong)?,
        // Clap cannot tell by the form alone which profiles have it.
        Command::Profiles { name: Some(profile), form }
            if *form != ProfileForm::Toml && !matches!(profile.rules().system, System::Ring(_)) =>
        {
            return Err(wrong(format!("profile {} has no ring", profile.name())));
        }
        _ => {}
    }
    Ok(cli)
}

/// The arguments as they are parsed: if a choice is given again, the last one counts, so that a command line
/// can overrule the alias that it begins with. Options for few users are not in `--help`.
pub fn command() -> clap::Command {
    with_last_choice(Cli::command())
}

/// The same for a command and those below it.
fn with_last_choice(command: clap::Command) -> clap::Command {
    // Commands with few options show all of them in -h.
    let has_many = ["dedup", "normalize", "add", "remove", "contains"];
    let has_many = has_many.contains(&command.get_name());
    let command = command.mut_args(|argument| {
        let id = argument.get_id().clone();
        let (is_option, name) = (!argument.is_positional(), id.as_str());
        let is_long = is_option && has_many && !SHORT.contains(&name);
        let argument = if is_long { argument.hide_short_help(true) } else { argument };
        let argument = if ADVANCED.contains(&name) { argument.hide(true) } else { argument };
        if is_choice(&argument) { argument.overrides_with(id) } else { argument }
    });
    command.mut_subcommands(with_last_choice)
}

/// Options that may be given once: clap would silently drop the first of two names.
#[rustfmt::skip]
pub(super) const NAMED_ONCE: [&str; 11] = [
    "files_from", "redirects", "routes", "profile_file", "format_file", "output", "rejects", "stats", "report", "save_seen", "save",
];

/// Whether the option has one value or none. Each use of a list option adds to the list.
fn is_choice(argument: &clap::Arg) -> bool {
    let is_one = matches!(argument.get_action(), ArgAction::Set | ArgAction::SetTrue);
    let is_file = NAMED_ONCE.contains(&argument.get_id().as_str())
        && matches!(argument.get_action(), ArgAction::Set);
    is_one && !argument.is_positional() && !is_file
}
