//! The arguments of `uniqurl explain`.

use std::ffi::OsString;

use clap::builder::{ArgPredicate, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args};

use crate::args::policy::PolicyArgs;
use crate::args::profile_choices::{ProfileChoices, Unsupported};
use crate::args::{
    INPUT, OUTPUT, ProfileParser, ProfileSelection, RULES, TRANSCODE_HELP, TRANSCODE_LONG_HELP,
    charset, checks, code, ring,
};
use crate::diff_view::Color;
use uniqurl::normalize::Charset;
use uniqurl::{Normalizer, Profile, RejectReason, Ring};

/// `uniqurl explain`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  uniqurl explain 'HTTP://Example.COM:80/%7Ea/../b#c'
  uniqurl explain -p all 'http://example.com/a%2Fb;c/%2e%2e/d'
  uniqurl explain -p syntax,scheme --base http://example.com/a/ '../b'
  uniqurl explain --json -p servlet '/a/..;/b'

Exit status: 0 explained, also where the URL is rejected; 2 wrong usage.")]
pub struct ExplainArgs {
    /// The URLs
    #[arg(value_name = "URL", required = true)]
    pub urls: Vec<OsString>,

    /// The profiles, between commas; all: every profile
    #[arg(
        id = "profile",
        short,
        long = "profile",
        value_name = "NAME,...",
        default_value = "crawl",
        default_value_if("ring", ArgPredicate::IsPresent, "ring"),
        value_delimiter = ',',
        value_parser = ProfileParser::or_all(),
        help_heading = RULES
    )]
    profiles: Vec<ProfileSelection>,

    /// Accept what these checks of the profile reject (servlet, sanitize)
    #[arg(
        long,
        value_name = "CODE,...",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(checks()).map(code),
        hide_possible_values = true,
        help_heading = RULES
    )]
    allow: Vec<RejectReason>,

    /// Switches, parameters and redirects.
    #[command(flatten)]
    pub(crate) policy: PolicyArgs,

    /// Decode and encode these bytes of a path, as in 'decode=2F,3A encode=21,24'; implies the profile ring
    /// where none is named
    #[arg(long, value_name = "LISTS", value_parser = ring, help_heading = RULES)]
    ring: Option<Ring>,

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
    pub(crate) assume_scheme: Option<OsString>,

    /// Write a JSON object for each URL and profile
    ///
    /// {"profile": "crawl@1", "url": "...", "out": "...", "steps": [{"rule": "scheme-case", "source": "RFC
    /// 3986 section 6.2.2.1", "before": "...", "after": "..."}]}, or for a rejected URL {"profile": "...",
    /// "url": "...", "reject": ["code", ...], "at": N}. A profile that refuses the base or the redirects,
    /// where others take them, is {"profile": "...", "url": "...", "unusable": "why"}.
    #[arg(long, action = ArgAction::SetTrue, help_heading = OUTPUT)]
    pub json: bool,

    /// When to write colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, help_heading = OUTPUT)]
    pub color: Color,
}

/// A profile with what was chosen, or why it cannot be had so.
pub(crate) type ProfileResult = Result<Normalizer, Unusable>;

/// A profile that refuses the base or the redirects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// The profile, with what was chosen beside it.
    pub(crate) name: String,
    /// What it refuses, in words.
    pub(crate) reason: String,
}

impl ExplainArgs {
    /// A normalizer for each profile, in the order given; `all` in the order of the documentation.
    ///
    /// # Errors
    ///
    /// A sentence: no profile has a choice, or none takes the base or the redirects. If only some of several
    /// profiles refuse, each of those has its own error.
    pub fn normalizers(&self) -> Result<Vec<ProfileResult>, String> {
        if let Some(made) = self.policy.of_profile_file(self.transcode) {
            return self.choices().finish(made?).map(|made| vec![Ok(made)]);
        }
        let mut profiles: Vec<&'static Profile> = Vec::new();
        for named in &self.profiles {
            let new = match named {
                ProfileSelection::All => Profile::ALL,
                ProfileSelection::One(profile) => std::slice::from_ref(profile),
            };
            for profile in new.iter().filter(|new| !profiles.contains(new)).collect::<Vec<_>>() {
                profiles.push(profile);
            }
        }
        let choices = self.choices();
        choices.are_had_by(&profiles).map_err(|error| error.to_string())?;
        let finished = |profile| {
            let turned = choices.turned(profile, Unsupported::Ignored)?;
            let name = turned.description();
            Ok(choices.finish(turned).map_err(|reason| Unusable { name, reason }))
        };
        let made: Vec<ProfileResult> =
            profiles.into_iter().map(finished).collect::<Result<_, String>>()?;
        match made.iter().find_map(|made| made.as_ref().err()) {
            Some(unusable) if made.iter().all(Result::is_err) => Err(unusable.reason.clone()),
            _ => Ok(made),
        }
    }

    fn choices(&self) -> ProfileChoices<'_> {
        ProfileChoices {
            allow: &self.allow,
            policy: &self.policy,
            ring: self.ring.as_ref(),
            transcode: self.transcode,
            base: self.base.as_deref(),
            assume_scheme: self.assume_scheme.as_deref(),
        }
    }
}
