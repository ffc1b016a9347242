//! The subcommands, and the text of `uniqurl --help`.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::bench::BenchArgs;
use super::compare::CompareArgs;
use super::dedup::DedupArgs;
use super::explain::ExplainArgs;
use super::help;
use super::normalize::NormalizeArgs;
use super::rules::import::RuleFileCommand;
use super::run_args::RunArgs;
use super::seen::{SeenArgs, SeenCommand};
use super::set::SetArgs;
use super::values::ProfileParser;
use uniqurl::{Profile, UnknownName};
use uniqurl_formats::record::{FormatTable, NamedFormat};

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
    after_help = "Without a command, uniqurl is uniqurl dedup, as in uniqurl urls.txt.
uniqurl dedup -h shows the common options of dedup, and --help lists the others."
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
    /// Import rules from elsewhere as a profile file.
    #[command(disable_help_subcommand = true, help_template = help::TEMPLATE)]
    Rules {
        /// The command.
        #[command(subcommand)]
        command: RuleFileCommand,
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
    /// Manage a store of URLs seen before.
    Seen(SeenArgs),
    /// Measure the speed of uniqurl, beside the limits of this machine.
    Bench(Box<BenchArgs>),
    /// Write the completion script for a shell.
    #[command(hide = true)]
    Completions {
        /// The shell that reads the script
        shell: Shell,
    },
    /// Write the man page.
    #[command(hide = true)]
    Man {
        /// The subcommand that the page describes, such as dedup or seen add
        #[arg(value_name = "COMMAND")]
        names: Vec<String>,

        /// Write all pages into DIR
        #[arg(long, value_name = "DIR", conflicts_with = "names")]
        all: Option<PathBuf>,
    },
}

/// The form in which a profile is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileForm {
    /// A profile file
    Toml,
    /// The table of a ring in C
    C,
    /// The table in a subroutine of Varnish
    Vcl,
    /// The table in Lua
    Lua,
}

impl Command {
    /// The options that `dedup` has too, if the subcommand reads inputs.
    pub(super) fn run_args(&mut self) -> Option<&mut RunArgs> {
        match self {
            Command::Dedup(dedup) => Some(&mut dedup.common),
            Command::Normalize(normalize) => Some(&mut normalize.common),
            Command::Seen(SeenArgs {
                command: SeenCommand::Add(change) | SeenCommand::Remove(change),
            }) => Some(&mut change.common),
            _ => None,
        }
    }
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
