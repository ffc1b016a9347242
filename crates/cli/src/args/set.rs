//! The arguments of `uniqurl set`.

use std::path::PathBuf;

use clap::builder::{BoolishValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{ArgAction, Args, ValueEnum};

use crate::args::{check_output_name, usage};
use crate::inputs::names::is_standard_input;
use uniqurl_formats::record::Separator;

/// `uniqurl set`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  uniqurl set union mon.txt tue.txt wed.txt.gz -o week.txt.zst
  uniqurl set diff today.txt yesterday.txt     what is new
  uniqurl set intersect a.txt b.txt            what is in both
  uniqurl set union --count mon.txt tue.txt    the counts of dedup --count --order sorted, added up

An input is sorted by bytes, as dedup --order sorted and --save-seen write it, and as LC_ALL=C sort
does; one that is not is refused, with the first line that is out of order. Equal lines in one input
are one, as for sort -m -u; empty lines are passed over. Inputs may be compressed. Nothing is
normalized: lines are compared as they stand. Memory does not grow with the inputs.

Saved sets (dedup --save-seen) must be of the same profile, switches, lists and key; where all
inputs are such, so is the result. In a union empty files count as such, elsewhere as lists.

Exit status: 0 complete; 2 failed or wrong usage, no file written; 141 the reader of a pipe is
gone.")]
pub struct SetArgs {
    /// What to write
    #[arg(value_name = "OPERATION", value_enum)]
    pub operation: Operation,

    /// Sorted sets; -: standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Add the counts up that stand before the URLs, as dedup --count writes them; for union
    ///
    /// Without it a count is a part of its line, and one URL with two counts is two lines.
    #[arg(
        long = "count",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(SetLines::from_flag)
    )]
    pub lines: SetLines,

    /// Lines of lists end with NUL instead of a line feed, on both sides
    ///
    /// Saved sets are read as they are, and the result is a list.
    #[arg(
        id = "null",
        short = '0',
        long = "null",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(Separator::from_flag)
    )]
    pub separator: Separator,

    /// Write to FILE, whole or not at all, compressed if it ends in .gz or .zst; -: standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub output: PathBuf,
}

/// What is written of several sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Operation {
    /// What is in one of them at least
    Union,
    /// What is in all of them
    Intersect,
    /// What is in the first and in none of the others
    Diff,
}

/// What a line of a set holds.
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
    /// Finds what contradicts itself.
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
