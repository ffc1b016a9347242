//! Suggestions for arguments that clap rejects: a file or a set operation in place of a subcommand, a switch
//! of a profile as an option, an option of another subcommand or program, a name with a typing error.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, ValueEnum};

use super::set::Operation;
use super::{Cli, named_command};
use uniqurl::{Switch, UnknownName};
use uniqurl_text::Printable;

/// Replaces clap's suggestions, which are often far from the text: with an action for a file or a set
/// operation in place of a subcommand and for an option of another subcommand or program, else with an
/// option that is spelled alike.
pub(super) fn with_suggestion(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let wrong = text(ContextKind::InvalidSubcommand);
            let tip = wrong.filter(|wrong| words.first().is_some_and(|first| *first == **wrong));
            if let Some(tip) = tip.and_then(|wrong| meant_by(&wrong)) {
                suggest(&mut error, tip);
            }
        }
        ErrorKind::UnknownArgument => {
            let wrong = text(ContextKind::InvalidArg);
            error.remove(ContextKind::SuggestedArg);
            error.remove(ContextKind::Suggested);
            let name = wrong.as_deref().and_then(|wrong| wrong.strip_prefix("--"));
            let command = Cli::command();
            if let (Some(name), Some(own)) = (name, named_command(&command, words)) {
                if let Some(tip) = meant_by_option(name, own) {
                    suggest(&mut error, tip);
                } else if let Some(nearest) = nearest_option(name, own) {
                    let option = ContextValue::String(format!("--{nearest}"));
                    error.insert(ContextKind::SuggestedArg, option);
                }
            }
        }
        _ => {}
    }
    error
}

/// Adds the action to the error, and takes away the usage, which would be longer.
pub(super) fn suggest(error: &mut clap::Error, action: String) {
    error.remove(ContextKind::Usage);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![action.into()]));
}

/// Suggests a command for an unknown subcommand.
fn meant_by(wrong: &str) -> Option<String> {
    if Cli::command().find_subcommand("seen")?.find_subcommand(wrong).is_some() {
        return Some(format!("use `uniqurl seen {wrong}` for seen stores"));
    }
    if Operation::from_str(wrong, false).is_ok() {
        return Some(format!("use `uniqurl set {wrong}` for sorted sets"));
    }
    let name = Path::new(wrong);
    let shown = Printable::path(name);
    match name.is_dir() {
        true => Some(format!("read the files below it with `uniqurl dedup -r {shown}`")),
        false => name.exists().then(|| format!("read the file with `uniqurl dedup {shown}`")),
    }
}

/// Options of sort, uniq, ripgrep, curl, uro and urldedupe. Each has an action, and the option that it
/// names, which not every subcommand has.
#[rustfmt::skip]
const WISHES: [(&str, &str, &str); 21] = [
    ("unique", "leave the option out: dedup writes each URL once", "order"),
    ("parallel", "use -j N", "threads"),
    ("jobs", "use -j N", "threads"),
    ("sort", "use --order sorted", "order"),
    ("repeated", "use --min-count 2", "min-count"),
    ("zero-terminated", "use -0", "null"),
    ("buffer-size", "use --memory SIZE", "memory"),
    ("ignore-case", "use --match '(?i)REGEX'", "match"),
    ("regexp", "use --match REGEX", "match"),
    ("exclude", "use --not-match REGEX", "not-match"),
    ("user-agent", "use --agent REGEX", "agent"),
    ("bots", "drop them with --not-agent '(?i)bot|crawl|spider'", "not-agent"),
    ("pattern", "keep one URL of each kind with --limit-by template:1", "limit-by"),
    ("ignore-ids", "keep one URL of each kind with --limit-by template:1", "limit-by"),
    ("ignore-values", "use --with blank-values", "with"),
    ("invert-match", "use --not-match REGEX", "not-match"),
    ("no-progress", "use --progress never", "progress"),
    ("max-count", "use --limit N", "limit"),
    ("input", "name the file without an option, as in `uniqurl dedup FILE`", "format"),
    ("out", "use -o FILE", "output"),
    ("url", "pipe the URL in, or name a file that holds it", "format"),
];

/// Suggests an action for an option that the subcommand does not have.
fn meant_by_option(name: &str, own: &Command) -> Option<String> {
    let command = Cli::command();
    if name.parse::<Switch>().is_ok() && has(own, "with") {
        return Some(format!("use --with {name} under a profile that has this switch"));
    }
    let is_it = |(wish, _, needed): &&(&str, &str, &str)| *wish == name && has(own, needed);
    if let Some((_, action, _)) = WISHES.iter().find(is_it) {
        return Some((*action).to_owned());
    }
    let others = command.get_subcommands().filter(|command| has(command, name));
    let others: Vec<_> = others.map(|other| format!("`uniqurl {}`", other.get_name())).collect();
    (!others.is_empty()).then(|| format!("use it with {}", others.join(" or ")))
}

/// The option of the subcommand that is spelled alike, if one is close.
fn nearest_option(name: &str, own: &Command) -> Option<String> {
    let names = own.get_arguments().filter_map(clap::Arg::get_long);
    let nearest = UnknownName::new(name, "option", names).nearest().map(str::to_owned);
    // `--no-x` asks for the opposite of `--x`.
    nearest.filter(|nearest| name.strip_prefix("no-") != Some(nearest))
}

/// Whether the subcommand has an option of this name.
fn has(command: &Command, name: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_long() == Some(name))
}
