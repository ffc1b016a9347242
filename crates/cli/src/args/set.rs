//! The arguments of `uniqurl set`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::help;
use crate::args::output_paths::check_output_name;
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
    #[arg(short, long)]
    pub count: bool,

    /// Read and write lines that end with NUL instead of a line feed
    #[arg(short = '0', long)]
    pub null: bool,

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

impl SetArgs {
    /// The byte that ends each line.
    pub fn separator(&self) -> Separator {
        Separator::from_flag(self.null)
    }

    /// Rejects options that contradict each other.
    pub fn check(&self) -> Result<(), String> {
        if self.count && self.operation != Operation::Union {
            return Err("--count works only with `union`".into());
        }
        check_output_name("--output", &self.output, Some("set writes lists"))?;
        // Each of them would get a part of the lines.
        if self.files.iter().filter(|file| is_standard_input(file)).count() > 1 {
            return Err("standard input can be one of the sets only".into());
        }
        Ok(())
    }
}
