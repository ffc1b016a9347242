//! The arguments of `uniqurl seen`.

mod contains;

pub use contains::ContainsArgs;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use crate::args::default_command::Stdin;
use crate::args::help;
use crate::args::memory::{MemoryArgs, MergeMemoryArgs};
use crate::args::output_paths::check_output_name;
use crate::args::run_args::RunArgs;
use crate::args::values::{number, time};
use uniqurl_engine::output::place;

/// `uniqurl seen`
#[derive(Debug, Args)]
#[command(
    disable_help_subcommand = true,
    help_template = help::TEMPLATE,
    before_long_help = "\
Examples:
  # Write only URLs that no run before this one has written, and add them to a store
  uniqurl dedup --save-seen seen today.txt -o new.txt

  # Show the keys, bytes and dates of the store
  uniqurl seen stats seen

  # Drop the keys that were added before a date
  uniqurl seen forget seen --older-than 2026-01-31",
    after_long_help = "\
A store is a directory that holds keys: canonical URLs, or their forms of --key. It names the profile, the \
switches, the lists and the key that made them, and takes no others. Commands that write to it wait for \
each other with --wait; commands that read it see it as it was when they started."
)]
pub struct SeenArgs {
    /// The command.
    #[command(subcommand)]
    pub command: SeenCommand,
}

/// The commands about a store.
#[derive(Debug, Subcommand)]
pub enum SeenCommand {
    /// Add the URLs of files to a store.
    #[command(
        before_long_help = "\
Examples:
  # Add a list, and make the store if there is none
  uniqurl seen add seen urls.txt.gz

  # Add the requests of a log
  uniqurl seen add seen --base https://example.com access.log",
        after_long_help = "\
URLs that are in the store already get the date of this run. The profile, the switches, the lists and the key \
must be those of the store.

Exit status:
  0    The run is complete.
  1    The URLs are added, but an input was skipped (--keep-going).
  2    The run failed or the usage is wrong. No URL is added.
  3    A limit stopped the run. No URL is added."
    )]
    Add(Box<ChangeArgs>),
    /// Write for each URL whether it is in a store.
    Contains(Box<ContainsArgs>),
    /// Take the URLs of files out of a store.
    #[command(
        before_long_help = "\
Examples:
  # Let these URLs come out again
  uniqurl seen remove seen urls.txt",
        after_long_help = "\
URLs that are not in the store change nothing. The profile, the switches, the lists and the key must be those \
of the store.

Exit status:
  0    The run is complete.
  1    The URLs are removed, but an input was skipped (--keep-going).
  2    The run failed or the usage is wrong. No URL is removed.
  3    A limit stopped the run. No URL is removed."
    )]
    Remove(Box<ChangeArgs>),
    /// Drop the keys that a store got before a date.
    Forget(ForgetArgs),
    /// Write the number of keys, the size, the rules and the adds of a store.
    Stats(StatsArgs),
    /// Read a whole store, and check checksums, order and numbers.
    #[command(
        help_template = help::TEMPLATE,
        before_long_help = "\
Examples:
  # Check a store
  uniqurl seen verify seen"
    )]
    Verify(StoreArgs),
    /// Merge the files of a store into one.
    #[command(hide = true)]
    Compact(CompactArgs),
    /// Write the keys of a store as one sorted list.
    Export(ExportArgs),
}

/// `uniqurl seen add` and `uniqurl seen remove`
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    arg = help::help_flag(),
    // These commands write no URLs.
    mut_arg("output", |arg| arg.default_value(NO_OUTPUT).hide(true)),
    mut_arg("threads", |arg| arg),
    mut_arg("backend", |arg| arg),
    mut_arg("key", |arg| arg.help("Use this key, that of the store")),
    help_template = help::TEMPLATE,
    after_help = help::MORE
)]
pub struct ChangeArgs {
    /// The directory of the store
    #[arg(value_name = "STORE")]
    pub store: PathBuf,

    /// The options that `dedup` has too.
    #[command(flatten)]
    pub common: RunArgs,

    /// Wait while another process writes to the store
    ///
    /// Without this option the run fails then, before it reads its inputs.
    #[arg(long, help_heading = help::COMMON)]
    pub wait: bool,

    /// The memory to use.
    #[command(flatten)]
    pub memory: MemoryArgs,
}

/// The output of commands that write no URLs.
const NO_OUTPUT: &str = "/dev/null";

impl SeenCommand {
    /// Rejects options that contradict each other.
    pub(in crate::args) fn check(&self, stdin: Stdin) -> Result<(), String> {
        match self {
            SeenCommand::Add(change) | SeenCommand::Remove(change) => change.check(stdin),
            SeenCommand::Contains(contains) => contains.check(),
            SeenCommand::Export(export) => export.check(),
            _ => Ok(()),
        }
    }
}

impl ChangeArgs {
    fn check(&self, stdin: Stdin) -> Result<(), String> {
        // The option is only hidden, and clap takes it all the same.
        if self.common.output != Path::new(NO_OUTPUT) {
            return Err("seen add and seen remove write no URLs, so they have no --output".into());
        }
        // A store is a directory of its own files.
        let store = place(&self.store);
        let mut outputs = self.common.outputs().into_iter();
        if outputs.any(|output| output != Path::new("-") && place(output).starts_with(&store)) {
            return Err("an output would be written into the store".into());
        }
        self.common.check(stdin)
    }
}

/// The argument of a command that only needs the store.
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// The directory of the store
    #[arg(value_name = "STORE")]
    pub store: PathBuf,
}

/// `uniqurl seen forget`
#[derive(Debug, Args)]
#[command(
    help_template = help::TEMPLATE,
    before_long_help = "\
Examples:
  # Drop the keys that were added before February
  uniqurl seen forget seen --older-than 2026-02-01

  # Drop the keys that were added more than 90 days ago
  uniqurl seen forget seen --older-than 90d"
)]
pub struct ForgetArgs {
    /// The store.
    #[command(flatten)]
    pub of: StoreArgs,

    /// Drop keys that were added before DATE, or longer ago than AGE
    ///
    /// DATE is a day such as 2026-01-31, which begins at midnight in UTC, or a time such as
    /// 2026-01-31T12:00:00Z. AGE is a number of s, m, h, d or w, such as 30d.
    #[arg(long, value_name = "DATE|AGE", value_parser = time)]
    pub older_than: i64,

    /// Wait while another process writes to the store
    #[arg(long)]
    pub wait: bool,

    /// The memory to use.
    #[command(flatten)]
    pub memory: MergeMemoryArgs,
}

/// `uniqurl seen stats`
#[derive(Debug, Args)]
#[command(
    help_template = help::TEMPLATE,
    before_long_help = "\
Examples:
  # Show the numbers of a store
  uniqurl seen stats seen

  # Write them as JSON
  uniqurl seen stats seen --json",
    after_long_help = "\
A store keeps its keys in runs, which are files. An add is one command that added keys; a run holds the keys \
of one or more adds. keys counts each key of the store once. A run also counts keys that a later run holds \
again."
)]
pub struct StatsArgs {
    /// The store.
    #[command(flatten)]
    pub of: StoreArgs,

    /// Write a JSON object
    #[arg(long)]
    pub json: bool,
}

/// `uniqurl seen compact`
#[derive(Debug, Args)]
#[command(
    help_template = help::TEMPLATE,
    before_long_help = "\
Examples:
  # Make a store as small and fast as it can be
  uniqurl seen compact seen"
)]
pub struct CompactArgs {
    /// The store.
    #[command(flatten)]
    pub of: StoreArgs,

    /// Wait while another process writes to the store
    #[arg(long)]
    pub wait: bool,

    /// The memory to use.
    #[command(flatten)]
    pub memory: MergeMemoryArgs,
}

/// `uniqurl seen export`
#[derive(Debug, Args)]
#[command(
    help_template = help::TEMPLATE,
    before_long_help = "\
Examples:
  # Write all keys as a sorted list
  uniqurl seen export seen -o seen.txt.zst

  # Write the keys of the adds after the first one
  uniqurl seen export seen --after 1",
    after_long_help = "\
The list depends on the keys of the store only, not on its runs."
)]
pub struct ExportArgs {
    /// The store.
    #[command(flatten)]
    pub of: StoreArgs,

    /// Write only the keys of adds after this one
    ///
    /// ADD is the number of an add; `uniqurl seen stats` shows them.
    #[arg(long, value_name = "ADD", value_parser = number(0u64..))]
    pub after: Option<u64>,

    /// Write to FILE; .gz and .zst compress
    ///
    /// FILE appears when it is complete, or not at all. - is standard output, the default.
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub output: PathBuf,
}

impl ExportArgs {
    fn check(&self) -> Result<(), String> {
        check_output_name("--output", &self.output, Some("seen export writes a list"))?;
        if self.output != Path::new("-") && place(&self.output).starts_with(place(&self.of.store)) {
            return Err("the output would be written into the store".into());
        }
        Ok(())
    }
}
