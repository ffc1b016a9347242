//! Compares `docs/options.md` and `docs/advanced.md` with the definitions of the options.
//!
//! `UNIQURL_WRITE=1 cargo test -p uniqurl-cli reference` writes the pages.

use crate::args::cli::Cli;
use crate::args::help::ADVANCED;
use clap::{Arg, Command, CommandFactory};
use std::fmt::Write;
use std::fs;
use std::path::Path;

const HEAD: &str = "\
# Options

Each subcommand with its options, by subject. `uniqurl SUBCOMMAND --help` prints them with details and examples. \
Options that few people need are on [a page of their own](advanced.md).

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
        if argument.is_hide_set() || ["help", "version"].contains(&id) || ADVANCED.contains(&id) {
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
    for below in listed(command) {
        write_command(below, &format!("{name} {}", below.get_name()), page);
    }
}

/// The commands below this one that are in `--help`.
fn listed(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| below.get_name() != "help" && !below.is_hide_set())
}

const ADVANCED_HEAD: &str = "\
# Advanced options

Options that few people need. `--help` leaves them out, and the man pages have them.

`uniqurl completions SHELL` writes the completion script for a shell, `uniqurl man COMMAND` a man page, and \
`uniqurl man --all DIR` all of them; each release has them as files. `uniqurl seen compact STORE` merges the files of \
a store into one, which otherwise happens by itself.

A test writes this page from the definitions of the options.
";

/// The options that `--help` leaves out, each with its text and the commands that have it.
fn advanced_page(root: &Command) -> String {
    let mut commands = Vec::new();
    for command in root.get_subcommands() {
        commands.push((command.get_name().to_owned(), command));
        let below = command.get_subcommands();
        commands.extend(
            below.map(|below| (format!("{} {}", command.get_name(), below.get_name()), below)),
        );
    }
    let mut page = ADVANCED_HEAD.to_owned();
    for id in ADVANCED {
        let has = |(name, command): &(String, &Command)| {
            let argument = command.get_arguments().find(|argument| argument.get_id() == id)?;
            Some((name.clone(), argument.clone()))
        };
        let all: Vec<_> = commands.iter().filter_map(has).collect();
        let argument = &all[0].1;
        let names: Vec<_> = all.iter().map(|(name, _)| name.as_str()).collect();
        let text = argument.get_long_help().or(argument.get_help()).expect("a text").to_string();
        let (spelling, names) = (spelling(argument), names.join(", "));
        write!(page, "\n## `{spelling}`\n\nOf {names}.\n\n```text\n{}\n```\n", text.trim_end())
            .expect("a text");
    }
    page
}

fn check_page(name: &str, page: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("UNIQURL_WRITE").is_some() {
        fs::write(&path, page).expect("written");
    }
    let written = fs::read_to_string(path).expect(name);
    assert!(written == page, "UNIQURL_WRITE=1 cargo test -p uniqurl-cli reference writes the page");
}

#[test]
fn pages_of_options_list_every_option() {
    let mut command = Cli::command();
    command.build();
    let mut page = HEAD.to_owned();
    for below in listed(&command) {
        write_command(below, below.get_name(), &mut page);
    }
    check_page("options.md", &page);
    check_page("advanced.md", &advanced_page(&command));
}
