//! Usage errors: how they are made, and their message and hint.

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::status::printable;
use uniqurl_text::{HIDDEN, Printable};

/// A usage error about several options, or one that only shows once they are put to use.
pub(crate) fn wrong(message: impl Display) -> clap::Error {
    clap::Error::raw(ErrorKind::ArgumentConflict, printable(&message.to_string()))
}

/// Adds an action to an error, which is its hint then.
pub(crate) fn suggest(mut error: clap::Error, action: impl Into<String>) -> clap::Error {
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![action.into().into()]));
    error
}

/// The text that an error holds about its subject.
pub(super) fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// The command that the words name: a subcommand, or one of a subcommand.
pub(super) fn named_command<'c>(command: &'c Command, words: &[OsString]) -> Option<&'c Command> {
    let found = command.find_subcommand(words.first()?)?;
    Some(named_command(found, &words[1..]).unwrap_or(found))
}

/// Masks secrets of the arguments that an error quotes.
pub(super) fn mask_secrets(mut error: clap::Error) -> clap::Error {
    let masked = |text: &str| {
        let shown = Printable::path(Path::new(text)).to_string();
        // Only a text with secrets is replaced, since `path` escapes backslashes too, of which patterns are full.
        if shown.contains(HIDDEN) { shown } else { text.to_owned() }
    };
    let quoted = error.context().map(|(kind, value)| {
        let value = match value {
            ContextValue::String(text) => ContextValue::String(masked(text)),
            ContextValue::Strings(texts) => {
                ContextValue::Strings(texts.iter().map(|text| masked(text)).collect())
            }
            // Suggestions quote arguments too.
            ContextValue::StyledStrs(texts) => {
                let texts = texts.iter().map(ToString::to_string);
                let shown = texts.filter(|text| masked(text) == *text);
                ContextValue::StyledStrs(shown.map(Into::into).collect())
            }
            value => value.clone(),
        };
        (kind, value)
    });
    let quoted: Vec<_> = quoted.collect();
    let cause = masked_cause(&error, masked);
    for (kind, value) in quoted {
        error.insert(kind, value);
    }
    cause.unwrap_or(error)
}

/// The error with its cause masked, if the value has secrets: the cause quotes the value as well. A cause
/// that quotes only a part of the value is left out, since that may be a part of the password.
fn masked_cause(error: &clap::Error, masked: impl Fn(&str) -> String) -> Option<clap::Error> {
    let (Some(ContextValue::String(value)), Some(argument), Some(cause)) =
        (error.get(ContextKind::InvalidValue), error.get(ContextKind::InvalidArg), error.source())
    else {
        return None;
    };
    let shown = masked(value);
    if shown == *value {
        return None;
    }
    let cause = cause.to_string();
    let cause = cause.contains(value).then(|| cause.replace(value, &shown));
    let text = match cause {
        Some(cause) => format!("invalid value '{shown}' for '{argument}': {cause}"),
        None => format!("invalid value '{shown}' for '{argument}'"),
    };
    // Clap lets nobody change the cause of an error, so the error is made anew.
    let mut masked = clap::Error::raw(error.kind(), text);
    masked.insert(ContextKind::InvalidArg, argument.clone());
    Some(masked)
}

/// The most names that a message lists.
const LISTED: usize = 10;

/// The error in one line.
pub(super) fn message(error: &clap::Error) -> String {
    first_paragraph(&error.render().to_string())
}

/// The first paragraph of clap's text in one line, without a long list of values.
fn first_paragraph(text: &str) -> String {
    // The message begins with the name of the program instead.
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let mut line = String::new();
    for part in text.lines().map(str::trim).take_while(|part| !part.is_empty()) {
        if let Some(values) = part.strip_prefix("[possible values: ") {
            // A long list would hide the message, and the hint says where it stands.
            if values.split(", ").count() <= LISTED {
                line += &format!(" (expected one of {})", values.trim_end_matches(']'));
            }
            continue;
        }
        // Clap puts the arguments that are missing on lines of their own.
        line += match line.chars().last() {
            None => "",
            Some(':') => " ",
            Some(_) => ", ",
        };
        line += part;
    }
    line
}

/// The hint of an error: the suggested action, or the place that has more. `words` are the arguments.
pub(super) fn hint(error: &clap::Error, root: &Command, words: &[OsString]) -> String {
    if let Some(ContextValue::StyledStrs(actions)) = error.get(ContextKind::Suggested)
        && let Some(action) = actions.first()
    {
        return action.to_string();
    }
    // The option in clap's words for it, such as `--order <ORDER>`.
    let argument = text(error, ContextKind::InvalidArg).unwrap_or_default();
    let option = argument.split(' ').next().unwrap_or_default();
    let mut root = root.clone();
    // Gives the subcommands their full names.
    root.build();
    let named = named_command(&root, words).and_then(Command::get_bin_name);
    let help = format!("{} --help", named.unwrap_or("uniqurl"));
    match (option, error.kind()) {
        ("--profile", ErrorKind::InvalidValue) => {
            "list the profiles with `uniqurl profiles`".into()
        }
        ("--order", ErrorKind::InvalidValue)
            if text(error, ContextKind::InvalidValue) == Some("none") =>
        {
            "leave --order out; the order is then `first`, which is as fast as any".into()
        }
        ("--order", ErrorKind::InvalidValue)
            if text(error, ContextKind::InvalidValue) == Some("errors") =>
        {
            r"sort the output by its column: --tally errors, and `LC_ALL=C sort -t$'\t' -k3,3nr` after it"
                .into()
        }
        (host @ ("--host" | "--not-host"), ErrorKind::ValueValidation)
            if text(error, ContextKind::InvalidValue).is_some_and(|it| Path::new(it).is_file()) =>
        {
            format!("name the hosts in it with {host} \"{{$(paste -sd, FILE)}}\"")
        }
        ("--with" | "--without", ErrorKind::InvalidValue) => {
            format!("list the switches with `{help}`")
        }
        ("--drop-param" | "--keep-param", ErrorKind::ValueValidation) => {
            "repeat the option for each name, and write ? for such a byte in a name".into()
        }
        _ => format!("see `{help}`"),
    }
}
