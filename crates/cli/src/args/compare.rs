//! The arguments of `uniqurl compare`.

use std::ffi::OsString;

use clap::builder::{BoolishValueParser, Resettable, TypedValueParser};
use clap::error::ErrorKind;
use clap::{ArgAction, Args};

use crate::args::policy::PolicyArgs;
use crate::args::profile_choices::{ProfileChoices, Unsupported};
use crate::args::{
    INPUT, MESSAGES, MessageLevel, OUTPUT, RULES, TRANSCODE_HELP, TRANSCODE_LONG_HELP, charset,
    usage,
};
use crate::diff_view::Color;
use uniqurl::uri::Charset;
use uniqurl::{Normalizer, Profile, UnsupportedOption};

/// `uniqurl compare`
#[derive(Debug, Args)]
#[command(
    // `compare` uses the ladder instead of a profile file.
    mut_arg("profile_file", |arg| arg.conflicts_with(Resettable::Reset).hide(true)),
    after_help = "\
Examples:
  uniqurl compare http://example.com 'HTTP://Example.com:80/#top'
  if uniqurl compare -q \"$a\" \"$b\" > /dev/null; then echo the same; fi

The name of the lowest rung at which the URLs are the same goes to standard output, one of string,
syntax, scheme, crawl, aggressive and different; why it is not a lower one goes to standard error.

Exit status: 0 the same; 1 different; 2 failed or wrong usage; 141 the reader of a pipe is gone."
)]
pub struct CompareArgs {
    /// A URL
    #[arg(value_name = "URL")]
    a: OsString,

    /// Another URL
    #[arg(value_name = "URL")]
    b: OsString,

    /// Switches, parameters and redirects.
    #[command(flatten)]
    policy: PolicyArgs,

    /// The charset of triplets that are not UTF-8.
    #[arg(
        long,
        value_name = "LABEL",
        value_parser = charset,
        help_heading = RULES,
        help = TRANSCODE_HELP,
        long_help = TRANSCODE_LONG_HELP
    )]
    transcode: Option<Charset>,

    /// Resolve relative references against this URL
    #[arg(long, value_name = "URL", help_heading = INPUT)]
    base: Option<OsString>,

    /// Read `example.com/x` and `//example.com/x` as if they began with this scheme
    #[arg(long, value_name = "SCHEME", help_heading = INPUT)]
    assume_scheme: Option<OsString>,

    /// Write a JSON object
    #[arg(long, action = ArgAction::SetTrue, help_heading = OUTPUT)]
    pub json: bool,

    /// When to write colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, help_heading = OUTPUT)]
    pub color: Color,

    /// Only errors and warnings on standard error, no reasons
    #[arg(
        short = 'q',
        long = "quiet",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(MessageLevel::from_flag),
        help_heading = MESSAGES
    )]
    pub messages: MessageLevel,
}

impl CompareArgs {
    /// Finds what contradicts itself.
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
        ladder.map(|profile| choices.normalizer(profile, Unsupported::Ignored)).collect()
    }
}
