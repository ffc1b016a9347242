//! The options of `uniqurl normalize`.

use crate::args::default_command::Stdin;
use crate::args::help::{self, OUTPUT};
use crate::args::output_paths::{NUL_ENDS_NO_ROW, check_output_name};
use crate::args::run_args::RunArgs;
use clap::Args;

/// `uniqurl normalize`
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    arg = help::help_flag(),
    help_template = help::TEMPLATE,
    before_long_help = "\
Examples:
  # Write a line for each line, which is empty if the record is rejected or blank
  uniqurl normalize urls.txt

  # Write a JSON object for each line, with the reason if it is rejected
  uniqurl normalize --json urls.txt

  # Normalize one URL
  echo 'HTTP://Example.COM:80/%7Ea/../b#c' | uniqurl normalize

  # Resolve relative URLs
  uniqurl normalize --base https://example.com/docs/ links.txt",
    after_help = help::MORE,
    after_long_help = help::EXIT_STATUS
)]
pub struct NormalizeArgs {
    /// The options that `dedup` and `normalize` share.
    #[command(flatten)]
    pub common: RunArgs,

    /// Write a JSON object for each record: {"record":N,"out":"..."}
    ///
    /// A rejected record is {"record":N,"reject":["code",...],"at":N}, a blank one is
    /// {"record":N,"blank":true}, and a filtered one is {"record":N,"filtered":true}. The profile
    /// servlet adds "decoded" after "out". Records are numbered from 1.
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

impl NormalizeArgs {
    /// Rejects options that contradict each other.
    pub(in crate::args) fn check(&self, stdin: Stdin) -> Result<(), String> {
        let no_table = match (self.common.null, self.json) {
            (true, _) => Some(NUL_ENDS_NO_ROW),
            (_, true) => Some("--json writes JSON, and no table"),
            _ => None,
        };
        check_output_name("--output", &self.common.output, no_table)?;
        self.common.check(stdin)
    }
}
