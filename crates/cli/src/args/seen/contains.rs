//! The arguments of `uniqurl seen contains`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{ArgPredicate, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;

use crate::args::help::{self, COMMON, INPUT, RULES};
use crate::args::policy::PolicyArgs;
use crate::args::profile_choices::{ProfileChoices, Unsupported};
use crate::args::values::{key, keys};
use crate::args::{ProfileParser, charset, checks, code, ring, usage};
use uniqurl::uri::Charset;
use uniqurl::{Key, Normalizer, Profile, RejectReason, Ring};

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

    /// Use this profile, that of the store
    #[arg(
        short,
        long,
        value_name = "NAME",
        default_value = "crawl",
        default_value_if("ring", ArgPredicate::IsPresent, "ring"),
        value_parser = ProfileParser::new(),
        hide_possible_values = true,
        help_heading = COMMON,
        long_help = help::of_profiles("Use this profile, that of the store", "The profiles:")
    )]
    profile: Profile,

    /// Use this form of each URL, that of the store
    #[arg(
        long,
        value_name = "KEY",
        default_value = "url",
        value_parser = PossibleValuesParser::new(keys()).map(key),
        hide_possible_values = true,
        help_heading = COMMON
    )]
    key: Key,

    /// Resolve relative URLs against URL
    #[arg(long, value_name = "URL", help_heading = INPUT)]
    base: Option<OsString>,

    /// Read URLs without a scheme as if they began with this one
    ///
    /// Such URLs are example.com/x and //example.com/x.
    #[arg(long, value_name = "SCHEME", help_heading = INPUT)]
    assume_scheme: Option<OsString>,

    /// Accept URLs that these checks of the profile reject (servlet, sanitize)
    #[arg(
        long,
        value_name = "CODE,...",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(checks()).map(code),
        hide_possible_values = true,
        hide_short_help = true,
        help_heading = RULES,
        long_help = help::ALLOW
    )]
    allow: Vec<RejectReason>,

    /// Reject also what these checks find, which are off by default (sanitize)
    #[arg(
        long,
        value_name = "CODE,...",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(checks()).map(code),
        hide_possible_values = true,
        hide_short_help = true,
        help_heading = RULES
    )]
    deny: Vec<RejectReason>,

    /// Switches, parameters and redirects.
    #[command(flatten)]
    policy: PolicyArgs,

    /// Decode and encode these bytes of a path, as in 'decode=2F,3A encode=21,24'
    ///
    /// The option is for the profile ring, and selects it if no profile is named.
    #[arg(long, value_name = "LISTS|FILE", value_parser = ring, hide_short_help = true, help_heading = RULES)]
    ring: Option<Ring>,

    /// The charset of triplets that are not UTF-8.
    #[arg(
        long,
        value_name = "LABEL",
        value_parser = charset,
        hide_short_help = true,
        help_heading = RULES,
        help = help::TRANSCODE,
        long_help = help::TRANSCODE_LONG
    )]
    transcode: Option<Charset>,
}

impl ContainsArgs {
    /// Rejects options that contradict each other.
    pub(in crate::args) fn check(&self) -> Result<(), clap::Error> {
        let wrong = |message| usage("seen", ErrorKind::ArgumentConflict, message);
        self.policy.check().map_err(wrong)?;
        let of_standard = self.urls.iter().filter(|url| *url == "-").count();
        if of_standard > 1 || (of_standard == 1 && self.policy.of_standard_input().is_some()) {
            return Err(wrong("standard input can be read once only".to_owned()));
        }
        Ok(())
    }

    /// The key of each URL.
    pub fn key(&self) -> Key {
        self.key
    }

    /// The rules.
    ///
    /// # Errors
    ///
    /// A sentence: the options do not fit the profile.
    pub fn normalizer(&self) -> Result<Normalizer, String> {
        let choices = ProfileChoices {
            allow: &self.allow,
            deny: &self.deny,
            policy: &self.policy,
            ring: self.ring.as_ref(),
            transcode: self.transcode,
            base: self.base.as_deref(),
            assume_scheme: self.assume_scheme.as_deref(),
        };
        let normalizer = match self.policy.of_profile_file(self.transcode) {
            Some(normalizer) => normalizer?,
            None => choices.turned(self.profile, Unsupported::Refused)?,
        };
        choices.finish(normalizer)
    }
}
