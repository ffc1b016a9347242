//! The arguments of `uniqurl set`.

use std::path::PathBuf;

use clap::builder::{BoolishValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{ArgAction, Args, ValueEnum};

use crate::args::{check_output_name, help, usage};
use crate::inputs::names::is_standard_input;
use uniqurl_formats::record::Separator;

/// `uniqurl set`
#[derive(Debug, Args)]
#[command(
    help_template = help::TEMPLATE,
    before_long_help = "\
Examples:
  # Join the sets of three days
  uniqurl set union mon.txt tue.txt wed.txt.gz -o week.txt.zst

  # Write the URLs of today that are new
  uniqurl set diff today.txt yesterday.txt

  # Write the URLs that are in both files
  uniqurl set intersect a.txt b.txt

  # Add up the counts that dedup --count --order sorted wrote
  uniqurl set union --count mon-counts.txt tue-counts.txt",
    after_help = help::MORE,
    after_long_help = "\
Each input must be sorted by bytes, as dedup --order sorted, seen export and LC_ALL=C sort write it. An \
input that is not sorted is an error, which names the first line out of order. Equal lines in one input \
count as one, as for sort -m -u. Empty lines are skipped. Inputs may be compressed. Lines are compared as \
they are: nothing is normalized. Memory does not grow with the inputs.

Exit status:
  0    The run is complete.
  2    The run failed or the usage is wrong. No file is written.
  141  The reader of a pipe is gone."
)]
pub struct SetArgs {
    /// The operation on the sets
    #[arg(value_name = "OPERATION", value_enum)]
    pub operation: Operation,

    /// Sorted sets; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Add up the counts before the URLs, as dedup --count writes them (union only)
    ///
    /// Without this option a count is a part of its line, and one URL with two counts is two lines.
    #[arg(
        long = "count",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(SetLines::from_flag)
    )]
    pub lines: SetLines,

    /// Read and write lines that end with NUL instead of a line feed
    #[arg(
        id = "null",
        short = '0',
        long = "null",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(Separator::from_flag)
    )]
    pub separator: Separator,

    /// Write to FILE; .gz and .zst compress
    ///
    /// FILE appears when it is complete, or not at all. - is standard output, the default.
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub output: PathBuf,
}

/// An operation on sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Operation {
    /// Write the lines that are in at least one set
    Union,
    /// Write the lines that are in all sets
    Intersect,
    /// Write the lines that are in the first set and in no other
    Diff,
}

/// The columns of a line of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetLines {
    /// The key.
    Key,
    /// How often it occurs, a tab, the key.
    CountAndKey,
}

impl SetLines {
    fn from_flag(count: bool) -> Self {
        if count { SetLines::CountAndKey } else { SetLines::Key }
    }
}

impl SetArgs {
    /// Rejects options that contradict each other.
    pub fn check(&self) -> Result<(), clap::Error> {
        let wrong = |message: &str| Err(usage("set", ErrorKind::ArgumentConflict, message));
        if self.lines == SetLines::CountAndKey && self.operation != Operation::Union {
            return wrong("--count is for union: only there is a count the sum of others");
        }
        if let Err(message) = check_output_name("--output", &self.output, Some("set writes lists"))
        {
            return wrong(&message);
        }
        if self.files.iter().filter(|file| is_standard_input(file)).count() > 1 {
            return wrong("standard input can be one of the sets only");
        }
        Ok(())
    }
}
