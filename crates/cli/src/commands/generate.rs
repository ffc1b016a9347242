//! Shell completions and man pages, made from the argument definitions so that they never disagree.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::cli::Cli;
use crate::args::usage::wrong;

/// Writes the completion script for a shell.
pub fn completions(shell: Shell, out: &mut impl Write) -> io::Result<()> {
    // Into memory first: the generator panics on a write error, such as that of a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "uniqurl", &mut script);
    out.write_all(&script)
}

/// Writes the man page of the command that the names lead to, or all pages into a directory.
///
/// # Errors
///
/// No command has these names.
pub fn man(
    names: &[String],
    all: Option<&Path>,
    out: &mut impl Write,
) -> Result<io::Result<()>, clap::Error> {
    // `help` has no page of its own.
    let mut whole = Cli::command().disable_help_subcommand(true);
    // Gives the subcommands their full names.
    whole.build();
    if let Some(directory) = all {
        return Ok(write_pages(&whole, directory));
    }
    let found = names.iter().try_fold(&whole, |command, name| command.find_subcommand(name));
    let command = found.ok_or_else(|| wrong(format!("no command `{}`", names.join(" "))))?;
    Ok(page(command).and_then(|page| out.write_all(&page)))
}

/// Writes the page of a command, and those of the commands below it.
fn write_pages(command: &Command, directory: &Path) -> io::Result<()> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    fs::write(directory.join(format!("{name}.1")), page(command)?)?;
    command.get_subcommands().try_for_each(|below| write_pages(below, directory))
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let source = concat!("uniqurl ", env!("CARGO_PKG_VERSION"));
    Man::new(for_man(command.clone())).source(source).render(&mut text)?;
    // The date, which is empty, is left out of the title, and the source is taken for it.
    let text = String::from_utf8_lossy(&text).replacen(" 1  \"", " 1 \"\" \"", 1);
    Ok(text.replacen(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n", 1).into_bytes())
}

/// The command with its examples at the end, where a man page has them, and with the options that `-h`
/// hides: the generator would write those without a text.
fn for_man(mut command: Command) -> Command {
    let examples = command.get_before_long_help().or(command.get_before_help()).cloned();
    if let Some(examples) = examples {
        let rest = command.get_after_long_help().map(|rest| format!("\n\n{rest}"));
        let text = format!("{examples}{}", rest.unwrap_or_default());
        command = command.after_long_help(text);
    }
    command.mut_args(|argument| argument.hide_short_help(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn completions_of_every_shell_hold_commands_and_options() {
        for &shell in Shell::value_variants() {
            let mut script = Vec::new();
            completions(shell, &mut script).expect("written");
            let script = String::from_utf8(script).expect("text");
            for name in ["uniqurl", "dedup", "normalize", "files-from", "max-url"] {
                assert!(script.contains(name), "{shell} does not know {name}");
            }
        }
    }

    fn man_page(names: &[&str]) -> String {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut text = Vec::new();
        man(&names, None, &mut text).expect("a command").expect("written");
        String::from_utf8(text).expect("text")
    }

    #[test]
    fn every_command_has_a_man_page() {
        let directory = tempfile::tempdir().expect("a directory");
        man(&[], Some(directory.path()), &mut io::sink()).expect("all").expect("written");
        for (names, page) in [
            (&[][..], "uniqurl"),
            (&["dedup"], "uniqurl-dedup"),
            (&["seen", "add"], "uniqurl-seen-add"),
            (&["completions"], "uniqurl-completions"),
        ] {
            let text = man_page(names);
            let name = page.replace('-', "\\-");
            assert!(text.contains(&format!(".SH NAME\n{name}")), "{text}");
            // Title, section, date, source (man(7)).
            let title = text.lines().find(|line| line.starts_with(".TH")).expect("a title");
            assert!(title.contains(" 1 \"\" \"uniqurl "), "{title}");
            let written = fs::read(directory.path().join(format!("{page}.1")));
            assert_eq!(written.expect("a page"), text.as_bytes());
        }
        assert!(man(&["frob".to_owned()], None, &mut io::sink()).is_err());
    }

    #[test]
    fn man_pages_have_the_options_for_few_users() {
        let text = man_page(&["dedup"]);
        for option in ["min\\-count", "max\\-url", "split\\-suffix"] {
            assert!(text.contains(option), "{option}");
        }
        assert!(!text.contains("\\-\\-trace"));
        assert!(text.contains(".SH EXAMPLES\n"), "{text}");
    }
}
