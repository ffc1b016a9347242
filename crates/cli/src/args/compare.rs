//! The arguments of `uniqurl compare`.

use std::ffi::OsString;

use clap::Args;

use crate::args::help::{self, COMMON, OUTPUT};
use crate::args::rules::{RulesArgs, Unsupported};
use uniqurl::{Normalizer, Profile, UnsupportedOption};

/// `uniqurl compare`
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    arg = help::help_flag(),
    // `compare` uses the ladder instead of a profile file.
    mut_arg("profile_file", |arg| arg.hide(true)),
    help_template = help::TEMPLATE,
    before_long_help = "\
Examples:
  # Name the lowest profile under which the URLs are the same
  uniqurl compare http://example.com 'HTTP://Example.com:80/#top'

  # Use the exit status in a script
  if uniqurl compare -q \"$a\" \"$b\"; then echo the same; fi",
    after_help = help::MORE,
    after_long_help = "\
Standard output has the name of the lowest profile of the ladder under which the URLs are the same: string, \
syntax, scheme, crawl or aggressive, or else different. Standard error has the reason why no lower one fits.

Exit status:
  0    The URLs are the same.
  1    The URLs are different.
  2    The run failed or the usage is wrong.
  141  The reader of a pipe is gone."
)]
pub struct CompareArgs {
    /// A URL
    #[arg(value_name = "URL")]
    a: OsString,

    /// The URL to compare it with
    #[arg(value_name = "URL")]
    b: OsString,

    /// Print errors and warnings only; the exit status tells the result
    #[arg(short, long, help_heading = COMMON)]
    pub quiet: bool,

    /// The rules that change the profiles.
    #[command(flatten)]
    rules: RulesArgs,

    /// Write a JSON object
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

impl CompareArgs {
    /// Rejects options that contradict each other.
    pub fn check(&self) -> Result<(), String> {
        match self.rules.profile_file {
            Some(_) => Err("--profile-file is not for compare".to_owned()),
            None => self.rules.check(),
        }
    }

    /// The two URLs.
    pub fn urls(&self) -> [&[u8]; 2] {
        [&self.a, &self.b].map(|url| url.as_encoded_bytes())
    }

    /// The rungs of the ladder, finest first.
    ///
    /// # Errors
    ///
    /// A sentence: no rung has a choice, or a rung rejects the base or the redirects.
    pub fn rungs(&self) -> Result<Vec<Normalizer>, String> {
        self.rules.are_had_by(Profile::LADDER).map_err(|lacking| match lacking {
            UnsupportedOption::Switch(_, switch) => {
                format!("no rung of the ladder has a switch {}", switch.name())
            }
            other => other.to_string(),
        })?;
        let ladder = Profile::LADDER.iter();
        let made = |profile: &Profile| {
            self.rules.finish(self.rules.turned(*profile, Unsupported::Ignored)?)
        };
        ladder.map(made).collect()
    }
}
