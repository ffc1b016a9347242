//! Hints for arguments that clap rejects: a set operation in place of a subcommand, a switch of a profile as an
//! option, an option of another subcommand or program, a name with a typing error.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, ValueEnum};

use super::set::Operation;
use super::usage::{named_command, suggest, text};
use uniqurl::{Switch, UnknownName};

/// Replaces clap's suggestions, which are often far from the text.
pub(super) fn with_suggestion(
    mut error: clap::Error,
    root: &Command,
    words: &[OsString],
) -> clap::Error {
    let action = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let wrong = text(&error, ContextKind::InvalidSubcommand);
            wrong.and_then(|wrong| action_for_command(wrong, root, words))
        }
        ErrorKind::UnknownArgument => {
            let wrong = text(&error, ContextKind::InvalidArg);
            // A word without a dash is an argument too many, and was not meant for an option.
            let name = wrong.and_then(|wrong| wrong.strip_prefix('-'));
            name.zip(named_command(root, words))
                .and_then(|(name, own)| action_for_option(name.trim_start_matches('-'), root, own))
        }
        ErrorKind::InvalidValue => {
            let wrong = text(&error, ContextKind::InvalidValue).filter(|wrong| !wrong.is_empty());
            let names = error.get(ContextKind::ValidValue);
            match (wrong, names) {
                (Some(wrong), Some(ContextValue::Strings(names))) => {
                    nearest(wrong, names).map(|name| format!("did you mean `{name}`?"))
                }
                _ => None,
            }
        }
        _ => None,
    };
    let kinds = [ContextKind::SuggestedArg, ContextKind::SuggestedValue, ContextKind::Suggested];
    // Clap names options that only look alike, and the hint has room for one action.
    for kind in kinds {
        error.remove(kind);
    }
    match action {
        Some(action) => suggest(error, action),
        None => error,
    }
}

/// The name that is spelled alike, if one is close.
fn nearest(wrong: &str, names: impl IntoIterator<Item = impl Into<String>>) -> Option<String> {
    let names: Vec<String> = names.into_iter().map(Into::into).collect();
    UnknownName::new(wrong, "name", &names).nearest().map(str::to_owned)
}

/// An action for an unknown subcommand.
fn action_for_command(wrong: &str, root: &Command, words: &[OsString]) -> Option<String> {
    let command = named_command(root, words);
    if command.is_none() {
        if root.find_subcommand("seen")?.find_subcommand(wrong).is_some() {
            return Some(format!("use `uniqurl seen {wrong}` for seen stores"));
        }
        if Operation::from_str(wrong, false).is_ok() {
            return Some(format!("use `uniqurl set {wrong}` for sorted sets"));
        }
        if matches!(wrong, "sort" | "uniq" | "count" | "top") {
            let options = match wrong {
                "sort" => "--order sorted",
                "top" => "--top 20",
                "count" => "--count",
                _ => "FILE",
            };
            return Some(format!("use `uniqurl dedup {options}`"));
        }
    }
    // Commands that the help hides are for packagers, and nobody mistypes them.
    let names = command.unwrap_or(root).get_subcommands().filter(|below| !below.is_hide_set());
    nearest(wrong, names.map(Command::get_name)).map(|name| format!("did you mean `{name}`?"))
}

/// Options of sort, uniq, ripgrep, curl, uro and urldedupe. Each has an action, and the option that it
/// names, which not every subcommand has.
#[rustfmt::skip]
const WISHES: [(&str, &str, &str); 28] = [
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
    ("bots", "drop them with --not-agent bots", "not-agent"),
    ("has-params", "use --has-query", "has-query"),
    ("pattern", "keep one URL of each kind with --limit-by template:1", "limit-by"),
    ("ignore-ids", "keep one URL of each kind with --limit-by template:1", "limit-by"),
    ("ignore-values", "use --with blank-values", "with"),
    ("invert-match", "use --not-match REGEX", "not-match"),
    ("no-progress", "use --progress never", "progress"),
    ("max-count", "use --limit N", "limit"),
    ("input", "name the file without an option, as in `uniqurl dedup FILE`", "format"),
    ("out", "use -o FILE", "output"),
    ("url", "pipe the URL in, or name a file that holds it", "format"),
    ("u", "leave the option out: dedup writes each URL once", "order"),
    ("z", "use -0", "null"),
    ("S", "use --memory SIZE", "memory"),
    ("v", "use --not-match REGEX", "not-match"),
    ("e", "use --match REGEX", "match"),
    ("color", "leave the option out: NO_COLOR turns colours off", "json"),
];

/// An action for an option that the subcommand does not have.
fn action_for_option(name: &str, root: &Command, own: &Command) -> Option<String> {
    if name.parse::<Switch>().is_ok() && has(own, "with") {
        return Some(format!("use --with {name} under a profile that has this switch"));
    }
    let is_it = |(wish, _, needed): &&(&str, &str, &str)| *wish == name && has(own, needed);
    if let Some((_, action, _)) = WISHES.iter().find(is_it) {
        return Some((*action).to_owned());
    }
    let others = root.get_subcommands().filter(|command| has(command, name));
    let others: Vec<_> = others.map(|other| format!("`uniqurl {}`", other.get_name())).collect();
    if !others.is_empty() {
        return Some(format!("use it with {}", others.join(" or ")));
    }
    let names = own.get_arguments().filter_map(clap::Arg::get_long);
    // `--no-x` asks for the opposite of `--x`.
    let meant = nearest(name, names).filter(|meant| name.strip_prefix("no-") != Some(meant))?;
    Some(format!("did you mean `--{meant}`?"))
}

/// Whether the subcommand has an option of this name.
fn has(command: &Command, name: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_long() == Some(name))
}
