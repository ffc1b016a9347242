//! Compares `docs/options.md` with the definitions of the options.
//!
//! `UNIQURL_WRITE=1 cargo test -p uniqurl-cli reference` writes the page.

use super::Cli;
use clap::{Arg, Command, CommandFactory};
use std::fmt::Write;
use std::fs;
use std::path::Path;

const HEAD: &str = "\
# Options

Each subcommand with its options, by subject. `uniqurl SUBCOMMAND --help` prints them with details and examples.

Of an option that is given again the last value counts, so that an alias can be overruled. Lists (`--schemes`, `--with`, `--seen`) grow, and a file to read or write is named once.

A test writes this page from the definitions of the options.
";

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// An argument as it is typed.
fn spelling(argument: &Arg) -> String {
    if argument.is_positional() {
        return argument.to_string();
    }
    let mut text = argument.get_short().map_or(String::new(), |short| format!("-{short}, "));
    write!(text, "{argument}").expect("a text");
    text
}

/// The sentence about an argument, with its default and its values.
fn meaning(argument: &Arg) -> String {
    let mut text = argument.get_help().expect("a sentence").to_string();
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let takes_value = argument.get_action().takes_values();
    if takes_value && !defaults.is_empty() && !argument.is_hide_default_value_set() {
        write!(text, "; default: {}", defaults.join(", ")).expect("a text");
    }
    text
}

/// The rows of a command, by heading, in the order of the definitions.
fn tables(command: &Command) -> Vec<(String, String)> {
    let mut tables: Vec<(String, String)> = Vec::new();
    for argument in command.get_arguments() {
        let id = argument.get_id().as_str();
        if argument.is_hide_set() || id == "help" || id == "version" {
            continue;
        }
        let heading = match argument.get_help_heading() {
            _ if argument.is_positional() => "Arguments",
            Some(heading) => heading,
            None => "Options",
        };
        let row = format!("| `{}` | {} |\n", cell(&spelling(argument)), cell(&meaning(argument)));
        match tables.iter_mut().find(|(name, _)| name == heading) {
            Some((_, rows)) => rows.push_str(&row),
            None => tables.push((heading.to_owned(), row)),
        }
    }
    tables
}

fn write_command(command: &Command, name: &str, page: &mut String) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    write!(page, "\n## {name}\n\n{}.\n", about.trim_end_matches('.')).expect("a text");
    for (heading, rows) in tables(command) {
        write!(page, "\n| {heading} | |\n|---|---|\n{rows}").expect("a text");
    }
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        write_command(below, &format!("{name} {}", below.get_name()), page);
    }
}

#[test]
fn page_of_options_lists_every_option() {
    let mut command = Cli::command();
    command.build();
    let mut page = HEAD.to_owned();
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        write_command(below, below.get_name(), &mut page);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/options.md");
    if std::env::var_os("UNIQURL_WRITE").is_some() {
        fs::write(&path, &page).expect("written");
    }
    let written = fs::read_to_string(path).expect("docs/options.md");
    assert!(written == page, "UNIQURL_WRITE=1 cargo test -p uniqurl-cli reference writes the page");
}
