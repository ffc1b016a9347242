//! Shell completions and man pages, made from the argument definitions so that they never disagree.

use crate::args::{Cli, ManPage};
use clap::builder::PossibleValue;
use clap::{Command, CommandFactory, ValueHint};
use clap_complete::Shell;
use clap_mangen::Man;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Writes the completion script for a shell.
pub fn completions(shell: Shell, out: &mut impl Write) -> io::Result<()> {
    // Into memory first: the generator panics on a write error, such as that of a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "uniqurl", &mut script);
    let mut script = String::from_utf8(script).map_err(io::Error::other)?;
    if shell == Shell::Bash {
        script = script.replacen(PREVIOUS, &format!("{PREVIOUS}{BEFORE_EQUALS}"), 1);
        with_files(&Cli::command(), "uniqurl", 2, &mut script);
    }
    for named in named(&Cli::command()) {
        match shell {
            Shell::Bash => named.end_in_bash(&mut script),
            Shell::Fish => named.add_to_fish(&mut script),
            _ => {}
        }
    }
    out.write_all(script.as_bytes())
}

/// The place in the script for bash that reads the word before the one to be completed.
const PREVIOUS: &str = "    prev=\"$3\"\n";

/// To bash an equals sign is a word of its own, so in `--order=so` it takes the place of the option.
const BEFORE_EQUALS: &str = "    if [[ \"${prev}\" == \"=\" ]] ; then
        prev=\"${COMP_WORDS[COMP_CWORD-2]}\"
    fi\n";

/// Makes bash complete files if a subcommand takes them and no option was begun: after an empty answer, bash
/// completes files by itself. The generated script would offer the options there.
fn with_files(command: &Command, name: &str, depth: usize, script: &mut String) {
    let takes_files = |command: &Command| {
        let mut first = command.get_positionals().take(1);
        first.any(|argument| argument.get_value_hint() == ValueHint::AnyPath)
    };
    for subcommand in command.get_subcommands() {
        let name = format!("{name}__subcmd__{}", subcommand.get_name());
        with_files(subcommand, &name, depth + 1, script);
        if !takes_files(subcommand) {
            continue;
        }
        let start = format!("\n        {name})\n");
        // Another version of the generator may write other text. Then bash offers options, as before.
        let Some(start) = script.find(&start) else { continue };
        let Some(length) = script[start..].find("\n            ;;\n") else { continue };
        let end = start + length;
        let test = format!(" || ${{COMP_CWORD}} -eq {depth} ]]");
        let case = script[start..end].replacen(&test, " ]]", 1);
        let Some((values, _)) = case.rsplit_once("COMPREPLY=") else { continue };
        script.replace_range(start..end, &format!("{values}return 0"));
    }
}

/// A first argument with a few possible names. The generators for some shells know possible values
/// of options only.
struct Named {
    subcommand: String,
    names: Vec<PossibleValue>,
    /// Whether files come after the name.
    has_files: bool,
}

/// The subcommands with such an argument.
fn named(command: &Command) -> Vec<Named> {
    let of_subcommand = |subcommand: &Command| {
        let mut arguments = subcommand.get_positionals();
        Some(Named {
            subcommand: subcommand.get_name().to_owned(),
            names: arguments.next()?.get_possible_values(),
            has_files: arguments.next().is_some(),
        })
    };
    let all = command.get_subcommands().filter_map(of_subcommand);
    all.filter(|named| !named.names.is_empty()).collect()
}

impl Named {
    fn names_between(&self, between: &str) -> String {
        self.names.iter().map(PossibleValue::get_name).collect::<Vec<_>>().join(between)
    }

    /// Makes bash complete files after a name: the generated script treats the names as words that may be
    /// anywhere.
    fn end_in_bash(&self, script: &mut String) {
        if !self.has_files {
            return;
        }
        let start = format!("\n        uniqurl__subcmd__{})\n", self.subcommand);
        let at = script.find(&start).expect("each subcommand has its case") + start.len();
        let test = format!(
            "            if [[ ${{cur}} != -* && \" ${{COMP_WORDS[*]:2:COMP_CWORD-2}} \" =~ \\ ({})\\  ]] ; then
                return 0
            fi\n",
            self.names_between("|")
        );
        script.insert_str(at, &test);
    }

    /// Makes fish complete the names instead of files.
    fn add_to_fish(&self, script: &mut String) {
        let mut place = format!("__fish_uniqurl_using_subcommand {}", self.subcommand);
        if self.has_files {
            let names = self.names_between(" ");
            place += &format!("; and not __fish_seen_subcommand_from {names}");
        }
        for name in &self.names {
            let help = name.get_help().map_or(String::new(), |help| {
                format!(" -d '{}'", help.to_string().replace('\\', r"\\").replace('\'', r"\'"))
            });
            // Writing to a String cannot fail.
            let _ = writeln!(
                script,
                "complete -c uniqurl -n \"{place}\" -f -a {}{help}",
                name.get_name()
            );
        }
    }
}

/// Writes the man page of the command, or of one of its subcommands.
pub fn man(page: Option<ManPage>, out: &mut impl Write) -> io::Result<()> {
    // `help` has no page of its own.
    let mut whole = Cli::command().disable_help_subcommand(true);
    // Gives the subcommands their full names.
    whole.build();
    let command = match page {
        None => whole,
        Some(page) => {
            let mut names = page.name().split('-');
            let found = names.try_fold(&whole, |command, name| command.find_subcommand(name));
            found.expect("each page has its subcommand").clone()
        }
    };
    let command = for_man(command);
    let usage = command.clone().render_usage().to_string();
    let mut text = Vec::new();
    let source = concat!("uniqurl ", env!("CARGO_PKG_VERSION"));
    Man::new(command).source(source).render(&mut text)?;
    // The date, which is empty, is left out of the title, and the source is taken for it.
    let text = String::from_utf8_lossy(&text).replacen(" 1  \"", " 1 \"\" \"", 1);
    let page = with_synopsis(&text, &usage);
    out.write_all(unfilled(&page).as_bytes())
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

/// A page whose synopsis is the usage of `--help`. The generated one lists each option
/// without its value, and does not know that there may be several files.
fn with_synopsis(page: &str, usage: &str) -> String {
    let (before, rest) = page.split_once(".SH SYNOPSIS\n").expect("each page has a synopsis");
    let (_, behind) = rest.split_once(".SH ").expect("the description is behind it");
    let synopsis = usage.trim_start_matches("Usage:").trim().replace('-', "\\-");
    format!("{before}.SH SYNOPSIS\n{synopsis}\n.SH {behind}")
}

/// Keeps the line breaks of a page's examples and tables: refilled, a command would be hyphenated at the end
/// of a line. Their lines start with two spaces.
fn unfilled(page: &str) -> String {
    let page = page.replacen(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n", 1);
    let lines: Vec<&str> = page.lines().collect();
    let mut text = String::new();
    for alike in lines.chunk_by(|a, b| a.starts_with("  ") == b.starts_with("  ")) {
        let (before, after) = match alike[0].starts_with("  ") {
            true => (".nf\n", ".fi\n"),
            false => ("", ""),
        };
        text += before;
        alike.iter().for_each(|line| text.extend([line, "\n"]));
        text += after;
    }
    text
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

    #[test]
    fn every_man_page_has_its_own_name() {
        for (page, name) in [
            (None, "uniqurl"),
            (Some(ManPage::Dedup), "uniqurl\\-dedup"),
            (Some(ManPage::Normalize), "uniqurl\\-normalize"),
            (Some(ManPage::Explain), "uniqurl\\-explain"),
            (Some(ManPage::Compare), "uniqurl\\-compare"),
            (Some(ManPage::Profiles), "uniqurl\\-profiles"),
            (Some(ManPage::Set), "uniqurl\\-set"),
            (Some(ManPage::Seen), "uniqurl\\-seen"),
            (Some(ManPage::SeenAdd), "uniqurl\\-seen\\-add"),
            (Some(ManPage::SeenExport), "uniqurl\\-seen\\-export"),
            (Some(ManPage::Bench), "uniqurl\\-bench"),
            (Some(ManPage::Completions), "uniqurl\\-completions"),
            (Some(ManPage::Man), "uniqurl\\-man"),
        ] {
            let mut text = Vec::new();
            man(page, &mut text).expect("written");
            let text = String::from_utf8(text).expect("text");
            assert!(text.contains(&format!(".SH NAME\n{name}")), "{text}");
            // Title, section, date, source (man(7)).
            let title = name.replace('\\', "");
            let version = env!("CARGO_PKG_VERSION");
            assert!(text.contains(&format!(".TH {title} 1 \"\" \"uniqurl {version}\"")), "{text}");
        }
    }

    #[test]
    fn a_synopsis_is_the_usage_of_the_command() {
        for (page, synopsis) in [
            (None, "uniqurl <COMMAND>"),
            (Some(ManPage::Dedup), "uniqurl dedup [OPTIONS] [FILE]..."),
            (Some(ManPage::Compare), "uniqurl compare [OPTIONS] <URL> <URL>"),
            (Some(ManPage::Set), "uniqurl set [OPTIONS] <OPERATION> <FILE>..."),
        ] {
            let mut text = Vec::new();
            man(page, &mut text).expect("written");
            let text = String::from_utf8(text).expect("text");
            let section = format!(".SH SYNOPSIS\n{synopsis}\n.SH DESCRIPTION\n");
            assert!(text.contains(&section), "{text}");
        }
    }

    #[test]
    fn every_listed_man_page_can_be_generated() {
        let mut listed = Vec::new();
        for page in [None, Some(ManPage::Seen)] {
            let mut text = Vec::new();
            man(page, &mut text).expect("written");
            let text = String::from_utf8(text).expect("text");
            let pages = text.lines().filter_map(|line| {
                line.strip_prefix("uniqurl\\-")?.strip_suffix("(1)").map(|it| it.replace('\\', ""))
            });
            listed.extend(pages);
        }
        let pages = ManPage::value_variants().iter().map(|page| page.name().to_owned());
        let mut pages: Vec<_> = pages.collect();
        pages.sort();
        listed.sort();
        assert_eq!(listed, pages);
    }

    #[test]
    fn man_pages_do_not_reflow_examples() {
        let filled = |page| {
            let mut text = Vec::new();
            man(page, &mut text).expect("written");
            let text = String::from_utf8(text).expect("text");
            let mut fills = true;
            let mut examples = 0;
            for line in text.lines() {
                match line {
                    ".nf" => fills = false,
                    ".fi" => fills = true,
                    _ if line.starts_with("  uniqurl ") => {
                        assert!(!fills, "{line}");
                        examples += 1;
                    }
                    _ => {}
                }
            }
            assert!(fills);
            examples
        };
        assert_eq!(filled(Some(ManPage::Man)), 0);
        for page in ManPage::value_variants() {
            let expected = !matches!(page, ManPage::Man | ManPage::Completions);
            assert_eq!(filled(Some(*page)) > 0, expected, "{page:?}");
        }
        assert!(filled(None) > 3);
    }
}
