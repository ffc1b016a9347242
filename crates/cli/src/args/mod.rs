//! The arguments: their values, their meaning and the text of `--help`.
//!
//! In: the command line. Out: a [`Cli`] that holds no contradiction, or the end of the process with a
//! usage error, which is exit status 2.

// The options of each subcommand.
mod run_args;
mod dedup;
mod normalize;
pub mod explain;
pub mod compare;
pub mod set;
pub mod seen;
pub mod bench;

// Texts and options that several subcommands share, by subject.
pub(crate) mod help;
pub mod archives;
pub mod filters;
pub mod memory;
pub mod policy;
pub mod profile_choices;
mod output_paths;
mod values;

// The subcommand if none is named.
mod default_command;

// Wrong usage.
mod suggestions;
mod usage;

pub use dedup::{DedupArgs, OrderArg};
use default_command::{Stdin, with_command};
pub(crate) use filters::idle_message;
pub use normalize::{NormalizeArgs, RecordForm};
pub(crate) use output_paths::{check_output_name, share_a_place};
pub use run_args::{BadInput, Directories, FormatChoice, MessageLevel, RunArgs};
use usage::mask_secrets;
pub use usage::{exit, usage};
pub use values::ProfileSelection;
pub(crate) use values::{ProfileParser, age, charset, checks, code, number, ring, size, when_busy};

use bench::BenchArgs;
use compare::CompareArgs;
use explain::ExplainArgs;
use seen::{SeenArgs, SeenCommand};
use set::SetArgs;
use suggestions::with_suggestion;

use crate::commands::profiles::ProfileForm;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::ffi::{OsStr, OsString};
use uniqurl::internal::System;
use uniqurl::{Profile, UnknownName};
use uniqurl_formats::record::{FormatTable, NamedFormat, Separator};

/// Normalizes and deduplicates URLs, exactly by the standards and fast.
#[derive(Debug, Parser)]
#[command(
    name = "uniqurl",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    help_template = help::TEMPLATE,
    before_help = "\
Examples:
  # Write each URL once, in its canonical form
  uniqurl dedup urls.txt -o unique.txt

  # List the pages that a web server was asked for
  uniqurl dedup --base https://example.com access.log

  # Count how often each URL occurs
  cat *.txt | uniqurl dedup --order sorted --count

  # Show the canonical form of each line, or why it is rejected
  uniqurl normalize --json urls.txt

  # Write the URLs of today that yesterday's sorted set lacks
  uniqurl set diff today.txt yesterday.txt

  # Show each rule that changes a URL
  uniqurl explain 'HTTP://Example.com:80/%7Ea'

  # Measure the speed of this machine
  uniqurl bench",
    after_help = "With piped input and no command, uniqurl is uniqurl dedup, which writes each new URL at once.
uniqurl dedup -h shows the common options of dedup, and --help lists all of them."
)]
pub struct Cli {
    /// The subcommand to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write each canonical URL once.
    Dedup(Box<DedupArgs>),
    /// Write the canonical URL of each record, in the order of the input.
    Normalize(Box<NormalizeArgs>),
    /// Show how each rule changes a URL, or why the URL is rejected.
    Explain(Box<ExplainArgs>),
    /// Find the lowest profile under which two URLs are the same.
    Compare(Box<CompareArgs>),
    /// List the profiles, or write one as a profile file.
    #[command(help_template = help::TEMPLATE, before_long_help = "\
Examples:
  # List the profiles
  uniqurl profiles

  # Write a profile file to edit
  uniqurl profiles crawl > shop.toml

  # Use the profile file
  uniqurl dedup --profile-file shop.toml urls.txt

  # Write the table of a ring
  uniqurl profiles upload --as c > upload.c

  # Use the table
  uniqurl dedup --ring upload.c paths.txt")]
    Profiles {
        /// Write this profile, as a file for --profile-file
        #[arg(
            value_name = "NAME",
            value_parser = ProfileParser::new(),
            hide_possible_values = true
        )]
        name: Option<Profile>,

        /// Write a profile file (toml), or the entries of a ring for --ring (c, vcl or lua)
        #[arg(
            long = "as",
            value_name = "FORM",
            value_enum,
            default_value_t = ProfileForm::Toml,
            requires = "name",
            hide_possible_values = true,
            hide_default_value = true
        )]
        form: ProfileForm,
    },
    /// List the formats with a name, or write one as an entry for --format-file.
    #[command(help_template = help::TEMPLATE, before_long_help = "\
Examples:
  # List the formats
  uniqurl formats

  # Show a layout and a sample
  uniqurl formats envoy

  # Write an entry to edit
  uniqurl formats envoy > own.toml

  # Use the formats in a file
  uniqurl dedup --format-file own.toml access.log")]
    Formats {
        /// Write the entry of this format
        #[arg(value_name = "NAME", value_parser = format_name)]
        name: Option<&'static NamedFormat>,
    },
    /// Join, intersect or subtract sorted sets.
    Set(SetArgs),
    /// Add to, ask and care for a store of URLs seen before.
    Seen(SeenArgs),
    /// Measure the speed of uniqurl, beside the limits of this machine.
    Bench(Box<BenchArgs>),
    /// Write the completion script for a shell.
    Completions {
        /// The shell that reads the script.
        shell: Shell,
    },
    /// Write the man page.
    Man {
        /// The subcommand that the page describes; the default is uniqurl itself.
        command: Option<ManPage>,
    },
}

/// Subcommands that have a man page of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ManPage {
    /// uniqurl-dedup(1)
    Dedup,
    /// uniqurl-normalize(1)
    Normalize,
    /// uniqurl-explain(1)
    Explain,
    /// uniqurl-compare(1)
    Compare,
    /// uniqurl-profiles(1)
    Profiles,
    /// uniqurl-formats(1)
    Formats,
    /// uniqurl-set(1)
    Set,
    /// uniqurl-seen(1)
    Seen,
    /// uniqurl-seen-add(1)
    SeenAdd,
    /// uniqurl-seen-contains(1)
    SeenContains,
    /// uniqurl-seen-remove(1)
    SeenRemove,
    /// uniqurl-seen-forget(1)
    SeenForget,
    /// uniqurl-seen-stats(1)
    SeenStats,
    /// uniqurl-seen-verify(1)
    SeenVerify,
    /// uniqurl-seen-compact(1)
    SeenCompact,
    /// uniqurl-seen-export(1)
    SeenExport,
    /// uniqurl-bench(1)
    Bench,
    /// uniqurl-completions(1)
    Completions,
    /// uniqurl-man(1)
    Man,
}

impl ManPage {
    /// The subcommand, after a hyphen where it is one of a subcommand.
    pub fn name(self) -> &'static str {
        match self {
            ManPage::Dedup => "dedup",
            ManPage::Normalize => "normalize",
            ManPage::Explain => "explain",
            ManPage::Compare => "compare",
            ManPage::Profiles => "profiles",
            ManPage::Formats => "formats",
            ManPage::Set => "set",
            ManPage::Seen => "seen",
            ManPage::SeenAdd => "seen-add",
            ManPage::SeenContains => "seen-contains",
            ManPage::SeenRemove => "seen-remove",
            ManPage::SeenForget => "seen-forget",
            ManPage::SeenStats => "seen-stats",
            ManPage::SeenVerify => "seen-verify",
            ManPage::SeenCompact => "seen-compact",
            ManPage::SeenExport => "seen-export",
            ManPage::Bench => "bench",
            ManPage::Completions => "completions",
            ManPage::Man => "man",
        }
    }
}

impl Cli {
    /// Reads the arguments of this process. `--version` names `scanner`. Ends the process if there is
    /// nothing to run: after `--help`, `--version`, or a usage error.
    pub fn parse_or_exit(scanner: &str) -> Self {
        Self::try_parse(std::env::args_os(), scanner, Stdin::of_process())
            .unwrap_or_else(|error| exit(&error))
    }

    fn try_parse(
        arguments: impl IntoIterator<Item = OsString>,
        scanner: &str,
        stdin: Stdin,
    ) -> Result<Self, clap::Error> {
        let version = format!("{} (scanner {scanner})", env!("CARGO_PKG_VERSION"));
        let mut arguments = with_command(arguments.into_iter().collect(), stdin);
        let first = arguments.get(1).cloned();
        let words = arguments.get(1..).unwrap_or_default().to_vec();
        // Clap takes any argument after `help` for a subcommand.
        if first.as_deref() == Some(OsStr::new("help")) {
            arguments.retain(|argument| argument != "--help" && argument != "-h");
        }
        let matches = to_parse()
            .version(version)
            .try_get_matches_from(arguments)
            .map_err(|error| mask_secrets(with_suggestion(error, &words)))?;
        let mut cli = Cli::from_arg_matches(&matches)?;
        if let Command::Dedup(dedup) = &cli.command {
            dedup.check()?;
        }
        let mut no_table;
        let (common, name) = match &mut cli.command {
            Command::Dedup(dedup) => {
                no_table = dedup.no_table();
                if dedup.split_by.is_some() {
                    no_table = no_table.or(Some("--split-by writes a directory"));
                }
                (&mut dedup.common, "dedup")
            }
            Command::Normalize(normalize) => {
                let NormalizeArgs { common, form } = &mut **normalize;
                no_table =
                    (*form == RecordForm::Json).then_some("--json writes JSON, and no table");
                (common, "normalize")
            }
            Command::Compare(compare) => return compare.check().map(|()| cli),
            Command::Set(set) => return set.check().map(|()| cli),
            Command::Seen(SeenArgs { command }) => match command {
                SeenCommand::Add(change) | SeenCommand::Remove(change) => {
                    change.check()?;
                    no_table = None;
                    (&mut change.common, "seen")
                }
                SeenCommand::Contains(contains) => return contains.check().map(|()| cli),
                SeenCommand::Export(export) => return export.check().map(|()| cli),
                SeenCommand::Forget(_)
                | SeenCommand::Stats(_)
                | SeenCommand::Verify(_)
                | SeenCommand::Compact(_) => return Ok(cli),
            },
            Command::Bench(bench) => return bench.check().map(|()| cli),
            Command::Explain(explain) => {
                let wrong = |message| usage("explain", ErrorKind::ArgumentConflict, message);
                return explain.policy.check().map_err(wrong).map(|()| cli);
            }
            Command::Profiles { name: Some(profile), form } if *form != ProfileForm::Toml => {
                return match profile.rules().system {
                    System::Ring(_) => Ok(cli),
                    _ => {
                        let message = format!("profile {} has no ring", profile.name());
                        Err(usage("profiles", ErrorKind::ArgumentConflict, message))
                    }
                };
            }
            Command::Profiles { .. }
            | Command::Formats { .. }
            | Command::Completions { .. }
            | Command::Man { .. } => {
                return Ok(cli);
            }
        };
        common
            .read_format_file()
            .map_err(|message| usage(name, ErrorKind::ArgumentConflict, message))?;
        if let Err(format) = common.find_format() {
            let mut all = to_parse();
            all.build();
            let command = named_command(&all, &words).unwrap_or(&all);
            if let Some(error) = values::unknown_format(command, &format) {
                return Err(mask_secrets(with_suggestion(error, &words)));
            }
        }
        let named = innermost(&matches).value_source("profile");
        if common.ring.is_some() && named == Some(ValueSource::DefaultValue) {
            common.profile = Profile::Ring;
        }
        if common.separator == Separator::Nul {
            no_table = Some(NUL_ENDS_NO_ROW);
        }
        check_output_name("--output", &common.output, no_table)
            .map_err(|message| usage(name, ErrorKind::ArgumentConflict, message))?;
        common.check(name, stdin)?;
        Ok(cli)
    }
}

/// Why -0 writes no table.
const NUL_ENDS_NO_ROW: &str = "-0 ends records with NUL, and those of a table have no end";

/// The arguments as they are parsed: if a choice is given again, the last one counts, so that a command line
/// can overrule the alias that it begins with.
fn to_parse() -> clap::Command {
    with_last_choice(Cli::command())
}

/// The same for a command and those below it.
fn with_last_choice(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|argument| match is_choice(&argument) {
        true => {
            let id = argument.get_id().clone();
            argument.overrides_with(id)
        }
        false => argument,
    });
    command.mut_subcommands(with_last_choice)
}

/// The entry of a format with a name.
fn format_name(name: &str) -> Result<&'static NamedFormat, String> {
    let formats = FormatTable::shipped();
    formats.find(name).ok_or_else(|| {
        let names = formats.entries().map(|entry| &entry.name[..]);
        match UnknownName::new(name, "format", names).nearest() {
            Some(meant) => format!("no format has this name (did you mean `{meant}`?)"),
            None => "no format has this name".to_owned(),
        }
    })
}

/// The command that the words name: a subcommand, or one of a subcommand.
fn named_command<'c>(command: &'c clap::Command, words: &[OsString]) -> Option<&'c clap::Command> {
    let found = command.find_subcommand(words.first()?)?;
    Some(named_command(found, &words[1..]).unwrap_or(found))
}

/// The matches of the innermost subcommand.
fn innermost(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, matches)| innermost(matches))
}

/// Options that may be given once: clap would silently drop the first of two names.
#[rustfmt::skip]
const NAMED_ONCE: [&str; 10] = [
    "files_from", "redirects", "profile_file", "format_file", "output", "rejects", "stats", "report", "save_seen", "save",
];

/// Whether the option has one value or none. Each use of a list option adds to the list.
fn is_choice(argument: &clap::Arg) -> bool {
    let is_one = matches!(argument.get_action(), ArgAction::Set | ArgAction::SetTrue);
    let is_file = NAMED_ONCE.contains(&argument.get_id().as_str());
    is_one && !argument.is_positional() && !is_file
}

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
