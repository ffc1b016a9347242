//! The arguments of `uniqurl compare`.

use std::ffi::OsString;

use clap::builder::{BoolishValueParser, Resettable, TypedValueParser};
use clap::error::ErrorKind;
use clap::{ArgAction, Args};

use crate::args::help::{self, COMMON, INPUT, OUTPUT, RULES};
use crate::args::policy::PolicyArgs;
use crate::args::profile_choices::{ProfileChoices, Unsupported};
use crate::args::{MessageLevel, charset, usage};
use crate::diff_view::Color;
use uniqurl::uri::Charset;
use uniqurl::{Normalizer, Profile, UnsupportedOption};

/// `uniqurl compare`
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    arg = help::help_flag(),
    // `compare` uses the ladder instead of a profile file.
    mut_arg("profile_file", |arg| arg.conflicts_with(Resettable::Reset).hide(true)),
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
    #[arg(
        short = 'q',
        long = "quiet",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(MessageLevel::from_flag),
        help_heading = COMMON
    )]
    pub messages: MessageLevel,

    /// Resolve relative URLs against URL
    #[arg(long, value_name = "URL", help_heading = INPUT)]
    base: Option<OsString>,

    /// Read URLs without a scheme as if they began with this one
    ///
    /// Such URLs are example.com/x and //example.com/x.
    #[arg(long, value_name = "SCHEME", help_heading = INPUT)]
    assume_scheme: Option<OsString>,

    /// Switches, parameters and redirects.
    #[command(flatten)]
    policy: PolicyArgs,

    /// The charset of triplets that are not UTF-8.
    #[arg(
        long,
        value_name = "LABEL",
        value_parser = charset,
        help_heading = RULES,
        help = help::TRANSCODE,
        long_help = help::TRANSCODE_LONG
    )]
    transcode: Option<Charset>,

    /// Write a JSON object
    #[arg(long, action = ArgAction::SetTrue, help_heading = OUTPUT)]
    pub json: bool,

    /// Use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, help_heading = OUTPUT)]
    pub color: Color,
}

impl CompareArgs {
    /// Rejects options that contradict each other.
    pub fn check(&self) -> Result<(), clap::Error> {
        let conflict = |message| usage("compare", ErrorKind::ArgumentConflict, message);
        if self.policy.profile_file.is_some() {
            return Err(conflict("--profile-file is not for compare".to_owned()));
        }
        self.policy.check().map_err(conflict)
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
        let choices = ProfileChoices {
            allow: &[],
            deny: &[],
            policy: &self.policy,
            ring: None,
            transcode: self.transcode,
            base: self.base.as_deref(),
            assume_scheme: self.assume_scheme.as_deref(),
        };
        choices.are_had_by(Profile::LADDER).map_err(|lacking| match lacking {
            UnsupportedOption::Switch(_, switch) => {
                format!("no rung of the ladder has a switch {}", switch.name())
            }
            other => other.to_string(),
        })?;
        let ladder = Profile::LADDER.iter();
        ladder.map(|profile| choices.normalizer(*profile, Unsupported::Ignored)).collect()
    }
}
