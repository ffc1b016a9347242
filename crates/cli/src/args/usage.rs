//! Usage errors: how they are made and shown.

use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::default_command::words;
use super::{Cli, named_command};
use crate::status::{eprint_hinted, printable, status_of};
use uniqurl::UnknownName;
use uniqurl_formats::record::FormatError;
use uniqurl_text::{HIDDEN, Printable};

/// A usage error of a subcommand that only shows once the arguments are put to use: a base that is
/// no URL, say.
pub fn usage(subcommand: &str, kind: ErrorKind, message: impl std::fmt::Display) -> clap::Error {
    let mut command = Cli::command();
    command.build();
    let found = command.find_subcommand_mut(subcommand);
    found
        .expect("only existing subcommands are checked")
        .error(kind, printable(&message.to_string()))
}

/// Masks secrets of the arguments that an error quotes.
pub(super) fn mask_secrets(mut error: clap::Error) -> clap::Error {
    let masked = |text: &str| {
        let shown = Printable::path(Path::new(text)).to_string();
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
        Some(cause) if format_error(error).is_some() => cause,
        Some(cause) => format!("invalid value '{shown}' for '{argument}': {cause}"),
        None => format!("invalid value '{shown}' for '{argument}'"),
    };
    let mut masked = clap::Error::raw(error.kind(), text);
    masked.insert(ContextKind::InvalidArg, argument.clone());
    Some(masked)
}

/// Prints a usage error, or the help or version that was asked for, and ends the process.
pub fn exit(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        let shown = error.print().and_then(|()| io::stdout().flush());
        std::process::exit(status_of(shown).into())
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = io::stderr().write_all(printable_lines(&error.render().to_string()).as_bytes());
    } else {
        let hint = hint(error, &words());
        eprint_hinted(message(error), Some(&hint));
    }
    std::process::exit(error.exit_code())
}

pub(super) fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line) + "\n").collect()
}

/// The most names that a message lists.
const LISTED: usize = 10;

/// The error in one line.
fn message(error: &clap::Error) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidValue => {
            if let (Some(value), Some(argument), Some(ContextValue::Strings(names))) = (
                text(ContextKind::InvalidValue),
                text(ContextKind::InvalidArg),
                error.get(ContextKind::ValidValue),
            ) && !names.is_empty()
                && !value.is_empty()
            {
                let kind = kind_of(argument);
                let unknown = UnknownName::new(value, kind, names);
                return match kind {
                    "value" => format!("{}: {unknown}", option(argument)),
                    _ => unknown.to_string(),
                };
            }
        }
        ErrorKind::ValueValidation => {
            if let Some(error) = format_error(error) {
                return error.to_string();
            }
        }
        ErrorKind::InvalidSubcommand => {
            if let Some(wrong) = text(ContextKind::InvalidSubcommand) {
                let command = Cli::command();
                let command = named_command(&command, &words()).unwrap_or(&command);
                let names = command.get_subcommands().map(clap::Command::get_name);
                return UnknownName::new(wrong, "command", names).to_string();
            }
        }
        ErrorKind::UnknownArgument => {
            if let Some(wrong) = text(ContextKind::InvalidArg).filter(|it| it.starts_with('-')) {
                let meant = text(ContextKind::SuggestedArg);
                let meant = meant.map(|meant| format!(" (did you mean `{meant}`?)"));
                return format!("unknown option `{wrong}`{}", meant.unwrap_or_default());
            }
        }
        _ => {}
    }
    first_paragraph(&error.render().to_string())
}

/// The first paragraph of clap's text in one line, without a long list of values.
fn first_paragraph(text: &str) -> String {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let mut line = String::new();
    for part in text.lines().map(str::trim).take_while(|part| !part.is_empty()) {
        if let Some(values) = part.strip_prefix("[possible values: ") {
            if values.split(", ").count() <= LISTED {
                line += &format!(" (expected one of {})", values.trim_end_matches(']'));
            }
            continue;
        }
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
fn hint(error: &clap::Error, words: &[OsString]) -> String {
    if let Some(ContextValue::StyledStrs(actions)) = error.get(ContextKind::Suggested)
        && let Some(action) = actions.first()
    {
        return action.to_string();
    }
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument.as_str(),
        _ => "",
    };
    let mut command = Cli::command();
    // Gives the subcommands their full names.
    command.build();
    let named = named_command(&command, words).and_then(clap::Command::get_bin_name);
    let help = format!("{} --help", named.unwrap_or("uniqurl"));
    let unknown_format = format_error(error).is_some_and(FormatError::is_unknown);
    match (option(argument), error.kind()) {
        ("--profile", ErrorKind::InvalidValue) => {
            "list the profiles with `uniqurl profiles`".into()
        }
        ("--format", _) if unknown_format => "list the formats with `uniqurl formats`".into(),
        ("--order", ErrorKind::InvalidValue) if is_value(error, "none") => {
            "leave --order out; the order is then `first`, which is as fast as any".into()
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

/// Whether the error is about this value.
fn is_value(error: &clap::Error, value: &str) -> bool {
    let wrong = error.get(ContextKind::InvalidValue);
    matches!(wrong, Some(ContextValue::String(wrong)) if wrong == value)
}

/// The error of a format's name, if that is the cause.
fn format_error(error: &clap::Error) -> Option<&FormatError> {
    error.source()?.downcast_ref()
}

/// The option in clap's words for it, such as `--order <ORDER>`.
fn option(argument: &str) -> &str {
    argument.split(' ').next().unwrap_or(argument)
}

/// The noun for the values of an argument.
fn kind_of(argument: &str) -> &'static str {
    match option(argument) {
        "--profile" => "profile",
        "--key" => "key",
        "--with" | "--without" => "switch",
        "--fields" => "column",
        "--allow" => "check",
        "--order" => "order",
        "--backend" => "backend",
        _ => "value",
    }
}
