//! The arguments: what may be given, what it means, and what `--help` says about it.
//!
//! In: the command line. Out: a [`Cli`] that holds no contradiction, or the end of the process with a
//! usage error, which is exit status 2.

mod common;
mod dedup;
mod normalize;
mod values;

pub use common::{BadInput, Common, Directories, FormatChoice, Messages};
pub(super) use common::{TRANSCODE_HELP, TRANSCODE_LONG_HELP, share_a_place};
pub use dedup::{Columns, Dedup, Order};
pub use normalize::{Form, Normalize};
pub use values::Profiles;
pub(super) use values::{ProfileParser, backend, charset, checks, code, number, ring, size};

use super::bench::flags::Bench;
use super::compare::Compare;
use super::explain::Explain;
use super::set::flags::{Operation, Set};
use super::status::{printable, status_of};
use super::tables;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use uniqurl::bytes::Printable;
use uniqurl::{Profile, Switch};
use uniqurl_formats::record::Separator;

pub(super) const INPUT: &str = "Input";
pub(super) const RULES: &str = "Rules";
pub(super) const OUTPUT: &str = "Output";
pub(super) const RESOURCES: &str = "Resources";
pub(super) const MESSAGES: &str = "Messages";

/// Normalizes and deduplicates URLs, exactly by the standards and fast.
#[derive(Debug, Parser)]
#[command(
    name = "uniqurl",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    after_help = "\
Examples:
  uniqurl dedup urls.txt -o unique.txt         one canonical URL a line, first seen first
  uniqurl dedup --base https://example.com access.log
                                               the pages a web server was asked for
  cat *.txt | uniqurl dedup --order sorted --count
                                               how often each URL occurs
  uniqurl normalize --json urls.txt            what becomes of each line, and why
  uniqurl set diff today.txt yesterday.txt     what is new in a sorted set
  uniqurl explain 'HTTP://Example.com:80/%7Ea' each rule that acts on a URL
  uniqurl bench                                how fast this machine is

`uniqurl dedup --help` tells all options."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write the set of canonical URLs, each once.
    #[command(mut_arg("secrets", |arg| arg.help(dedup::REDACT_HELP)))]
    Dedup(Box<Dedup>),
    /// Write the canonical URL of each record, in order.
    Normalize(Box<Normalize>),
    /// Show what each rule does to a URL, or why it is rejected.
    Explain(Box<Explain>),
    /// Tell at which rung two URLs are the same.
    Compare(Box<Compare>),
    /// List the profiles, or write one as a profile file.
    #[command(after_help = "\
Examples:
  uniqurl profiles
  uniqurl profiles crawl > shop.toml           a file to change
  uniqurl dedup --profile-file shop.toml urls.txt")]
    Profiles {
        /// The profile to write, as a file that --profile-file takes
        #[arg(
            value_name = "NAME",
            value_parser = ProfileParser::new(),
            hide_possible_values = true
        )]
        name: Option<&'static Profile>,
    },
    /// Join, intersect or subtract sorted sets, streaming.
    Set(Set),
    /// Measure how fast this machine is, beside its own limits.
    Bench(Box<Bench>),
    /// Write the completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write the man page.
    Man {
        /// The subcommand whose page it is; without it, the page of uniqurl itself.
        command: Option<Page>,
    },
}

/// Subcommands that have a man page of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Page {
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
    /// uniqurl-set(1)
    Set,
    /// uniqurl-bench(1)
    Bench,
    /// uniqurl-completions(1)
    Completions,
    /// uniqurl-man(1)
    Man,
}

impl Page {
    /// The subcommand.
    pub fn name(self) -> &'static str {
        match self {
            Page::Dedup => "dedup",
            Page::Normalize => "normalize",
            Page::Explain => "explain",
            Page::Compare => "compare",
            Page::Profiles => "profiles",
            Page::Set => "set",
            Page::Bench => "bench",
            Page::Completions => "completions",
            Page::Man => "man",
        }
    }
}

impl Cli {
    /// Reads the arguments of this process. `scanner` is what `--version` names. Ends the process
    /// where there is nothing to run: after `--help`, `--version`, or a usage error.
    pub fn parse_or_exit(scanner: &str) -> Self {
        let stdin = if io::stdin().is_terminal() { Stdin::Terminal } else { Stdin::Other };
        Self::try_parse(std::env::args_os(), scanner, stdin).unwrap_or_else(|error| exit(&error))
    }

    fn try_parse(
        arguments: impl IntoIterator<Item = OsString>,
        scanner: &str,
        stdin: Stdin,
    ) -> Result<Self, clap::Error> {
        let version = format!("{} (scanner {scanner})", env!("CARGO_PKG_VERSION"));
        let mut arguments: Vec<OsString> = arguments.into_iter().collect();
        let first = arguments.get(1).cloned();
        // To clap what stands behind `help` is a subcommand, whatever it looks like.
        if first.as_deref() == Some(OsStr::new("help")) {
            arguments.retain(|argument| argument != "--help" && argument != "-h");
        }
        let matches = to_parse()
            .version(version)
            .try_get_matches_from(arguments)
            .map_err(|error| with_tip(error, first.as_deref()))?;
        let mut cli = Cli::from_arg_matches(&matches)?;
        if let Command::Dedup(dedup) = &cli.command {
            dedup.check()?;
        }
        let mut no_table;
        let (common, name) = match &mut cli.command {
            Command::Dedup(dedup) => {
                let Dedup { common, split_by, form, .. } = &mut **dedup;
                no_table = split_by.is_some().then_some("--split-by writes a directory");
                if *form == Form::Json {
                    no_table = Some("--json writes JSON, and no table");
                }
                (common, "dedup")
            }
            Command::Normalize(normalize) => {
                let Normalize { common, form } = &mut **normalize;
                no_table = (*form == Form::Json).then_some("--json writes JSON, and no table");
                (common, "normalize")
            }
            Command::Compare(compare) => return compare.check().map(|()| cli),
            Command::Set(set) => return set.check().map(|()| cli),
            Command::Bench(bench) => return bench.check().map(|()| cli),
            Command::Explain(explain) => {
                let wrong = |message| usage("explain", ErrorKind::ArgumentConflict, message);
                return explain.policy.check().map_err(wrong).map(|()| cli);
            }
            Command::Profiles { .. } | Command::Completions { .. } | Command::Man { .. } => {
                return Ok(cli);
            }
        };
        let of_subcommand = matches.subcommand_matches(name);
        let named = of_subcommand.and_then(|matches| matches.value_source("profile"));
        if common.ring.is_some() && named == Some(ValueSource::DefaultValue) {
            common.profile = &Profile::RING;
        }
        if common.separator == Separator::Nul {
            no_table = Some("-0 ends records with NUL, and those of a table have no end");
        }
        tables::check("--output", &common.output, no_table)
            .map_err(|message| usage(name, ErrorKind::ArgumentConflict, message))?;
        common.check(name, stdin)?;
        Ok(cli)
    }
}

/// The error with what was meant by who names a file or an operation of sets first, where a subcommand should
/// be, or gives a switch of a profile as an option, or an option of another subcommand.
fn with_tip(mut error: clap::Error, first: Option<&OsStr>) -> clap::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => text(ContextKind::InvalidSubcommand)
            .filter(|wrong| first == Some(OsStr::new(wrong)))
            .and_then(meant_by),
        ErrorKind::UnknownArgument => text(ContextKind::InvalidArg)
            .and_then(|wrong| wrong.strip_prefix("--"))
            .and_then(|name| meant_by_option(name, first?.to_str()?)),
        _ => None,
    };
    if let Some(tip) = tip {
        // What clap suggests is an option that is only spelled like it, and the usage shows that one.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// What was meant by a subcommand that there is not.
fn meant_by(wrong: &str) -> Option<String> {
    if Operation::from_str(wrong, false).is_ok() {
        return Some(format!("`uniqurl set {wrong}` does that to sorted sets"));
    }
    let name = Path::new(wrong);
    name.exists().then(|| format!("`uniqurl dedup {}` reads the file", Printable::path(name)))
}

/// What was meant by an option that the subcommand does not have.
fn meant_by_option(name: &str, subcommand: &str) -> Option<String> {
    let command = Cli::command();
    let has = |command: &clap::Command, name| {
        command.get_arguments().any(|argument| argument.get_long() == Some(name))
    };
    if Switch::named(name).is_some() && has(command.find_subcommand(subcommand)?, "with") {
        return Some(format!("`--with {name}` turns it on, where the profile has it"));
    }
    let others = command.get_subcommands().filter(|command| has(command, name));
    let others: Vec<_> = others.map(clap::Command::get_name).collect();
    (!others.is_empty()).then(|| format!("it is an option of {}", others.join(", ")))
}

/// The arguments as they are parsed: of a choice that is given again the last one counts, so that a command
/// line can say otherwise than the alias that it begins with.
fn to_parse() -> clap::Command {
    Cli::command().mut_subcommands(|command| {
        command.mut_args(|argument| match is_choice(&argument) {
            true => {
                let id = argument.get_id().clone();
                argument.overrides_with(id)
            }
            false => argument,
        })
    })
}

/// Options that name what is read or written, each once: of two the first would not be, and nobody told.
#[rustfmt::skip]
const NAMED_ONCE: [&str; 10] = [
    "files_from", "redirects", "profile_file", "output", "rejects", "stats", "report", "save_seen", "json",
    "plot",
];

/// Whether it is an option that has one value or none. Lists grow with each time that they are given.
fn is_choice(argument: &clap::Arg) -> bool {
    let is_one = matches!(argument.get_action(), ArgAction::Set | ArgAction::SetTrue);
    let is_file = NAMED_ONCE.contains(&argument.get_id().as_str());
    is_one && !argument.is_positional() && !is_file
}

/// What standard input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stdin {
    Terminal,
    Other,
}

/// A usage error of a subcommand that only shows once the arguments are put to use: a base that is
/// no URL, say. `message` must be printable.
pub fn usage(subcommand: &str, kind: ErrorKind, message: impl std::fmt::Display) -> clap::Error {
    let mut command = Cli::command();
    command.build();
    let found = command.find_subcommand_mut(subcommand);
    found.expect("only existing subcommands are checked").error(kind, message)
}

/// Prints a usage error, or the help or version that was asked for, and ends the process.
pub fn exit(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        let shown = error.print().and_then(|()| io::stdout().flush());
        std::process::exit(status_of(shown).into())
    }
    // A usage error quotes arguments, which may be file names that strangers chose.
    let _ = io::stderr().write_all(printable_lines(&error.render().to_string()).as_bytes());
    std::process::exit(error.exit_code())
}

fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line) + "\n").collect()
}

#[cfg(test)]
mod tests;
