//! The arguments of `uniqurl seen contains`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::args::help::{self, COMMON};
use crate::args::routes::RoutesArgs;
use crate::args::rules::{ProfileArgs, RulesArgs};
use crate::args::values::keys;
use uniqurl::{Key, Normalizer};

/// `uniqurl seen contains`
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    arg = help::help_flag(),
    help_template = help::TEMPLATE,
    before_long_help = "\
Examples:
  # Say whether a URL is in the store
  uniqurl seen contains seen http://example.com/

  # Take the URLs of a list that are new
  uniqurl seen contains seen - < urls.txt | sed -n 's/^new\\t//p'",
    after_help = help::MORE,
    after_long_help = "\
Each URL gives a line: seen, new or rejected, a tab, and the URL. A rejected URL has no canonical form under \
the profile. In the URL a backslash and bytes outside 0x20-0x7E are written as \\xHH.

Exit status:
  0    All URLs are in the store.
  1    A URL is not in the store.
  2    The run failed or the usage is wrong.
  141  The reader of a pipe is gone."
)]
pub struct ContainsArgs {
    /// The directory of the store
    #[arg(value_name = "STORE")]
    pub store: PathBuf,

    /// URLs to look up; - reads them from standard input, one a line
    #[arg(value_name = "URL", required = true)]
    pub urls: Vec<OsString>,

    /// The profile, that of the store.
    #[command(flatten)]
    profile: ProfileArgs,

    /// Use this key, that of the store
    #[arg(
        long,
        value_name = "KEY",
        default_value = "url",
        value_parser = keys(),
        hide_possible_values = true,
        help_heading = COMMON
    )]
    pub key: Key,

    /// The rules, those of the store.
    #[command(flatten)]
    rules: RulesArgs,

    /// The routes of templates, those of the store.
    #[command(flatten)]
    pub routes: RoutesArgs,
}

impl ContainsArgs {
    /// Rejects options that contradict each other.
    pub(super) fn check(&self) -> Result<(), String> {
        self.rules.check()?;
        // Two of them would each get a part of the lines.
        let of_standard = self.urls.iter().filter(|url| *url == "-").count();
        if of_standard > 1 || (of_standard == 1 && self.rules.of_standard_input().is_some()) {
            return Err("standard input can be read once only".to_owned());
        }
        Ok(())
    }

    /// The rules.
    ///
    /// # Errors
    ///
    /// A sentence: the options do not fit the profile.
    pub fn normalizer(&self) -> Result<Normalizer, String> {
        self.rules.normalizer(self.profile.profile)
    }
}
