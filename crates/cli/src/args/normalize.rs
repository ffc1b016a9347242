//! The options of `uniqurl normalize`.

use crate::args::{OUTPUT, RunArgs};
use clap::builder::{BoolishValueParser, TypedValueParser};
use clap::{ArgAction, Args};

/// `uniqurl normalize`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  uniqurl normalize urls.txt                   a line for each line; empty if rejected or blank
  uniqurl normalize --json urls.txt            an object for each line, with the code if rejected
  echo 'HTTP://Example.COM:80/%7Ea/../b#c' | uniqurl normalize
  uniqurl normalize --base https://example.com/docs/ links.txt

Exit status: 0 complete; 1 written, but an input was skipped (--keep-going); 2 failed or wrong
usage, no file of results written; 3 stopped by a limit, no file of results written; 141 the reader
of a pipe is gone.")]
pub struct NormalizeArgs {
    /// The options that both subcommands have.
    #[command(flatten)]
    pub common: RunArgs,

    /// Write a JSON object for each record: {"record":N,"out":"..."}
    ///
    /// A rejected record is {"record":N,"reject":["code",...],"at":N}, a blank one
    /// {"record":N,"blank":true}, a filtered one {"record":N,"filtered":true}; under the profile servlet there is "decoded" beside "out". Records
    /// are numbered from 1.
    #[arg(
        long = "json",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(RecordForm::from_flag),
        help_heading = OUTPUT
    )]
    pub form: RecordForm,
}

/// What `normalize` writes for a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordForm {
    /// The URL, or nothing.
    Line,
    /// A JSON object.
    Json,
}

impl RecordForm {
    pub(crate) fn from_flag(json: bool) -> Self {
        if json { RecordForm::Json } else { RecordForm::Line }
    }
}
