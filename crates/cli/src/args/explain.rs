//! The arguments of `uniqurl explain`.

use std::ffi::OsString;

use clap::Args;
use clap::builder::ArgPredicate;

use crate::args::help::{self, COMMON, OUTPUT};
use crate::args::routes::RoutesArgs;
use crate::args::rules::{RulesArgs, Unsupported};
use crate::args::values::{ProfileParser, ProfileSelection, keys};
use uniqurl::{Key, Normalizer, Profile};

/// `uniqurl explain`
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    arg = help::help_flag(),
    help_template = help::TEMPLATE,
    before_long_help = "\
Examples:
  # Show each rule that changes a URL
  uniqurl explain 'HTTP://Example.COM:80/%7Ea/../b#c'

  # Show the result of every profile
  uniqurl explain -p all 'http://example.com/a%2Fb;c/%2e%2e/d'

  # Resolve a relative URL, under two profiles
  uniqurl explain -p syntax,scheme --base http://example.com/a/ '../b'

  # Show the template, and the type of each part that it names
  uniqurl explain --key template 'http://example.com/2024/02/item12345'

  # Write JSON
  uniqurl explain --json -p servlet '/a/..;/b'",
    after_help = help::MORE,
    after_long_help = "\
Exit status:
  0  The URLs are explained. They may be rejected.
  2  The usage is wrong."
)]
pub struct ExplainArgs {
    /// The URLs to explain
    #[arg(value_name = "URL", required = true)]
    pub urls: Vec<OsString>,

    /// Use these profiles, separated by commas, or all
    #[arg(
        id = "profile",
        short,
        long = "profile",
        value_name = "NAME,...",
        default_value = "crawl",
        default_value_if("ring", ArgPredicate::IsPresent, "ring"),
        conflicts_with = "profile_file",
        value_delimiter = ',',
        value_parser = ProfileParser::or_all(),
        hide_possible_values = true,
        help_heading = COMMON,
        long_help = help::of_profiles(
            "Use these profiles, separated by commas, or all",
            "all names every profile:"
        )
    )]
    profiles: Vec<ProfileSelection>,

    /// The rules that change the profiles.
    #[command(flatten)]
    pub(crate) rules: RulesArgs,

    /// Show also this form of each URL
    ///
    /// For template, each part that it names is shown with its type and where it was found.
    #[arg(
        long,
        value_name = "KEY",
        value_parser = keys(),
        hide_possible_values = true,
        help_heading = OUTPUT
    )]
    pub key: Option<Key>,

    /// The routes of templates.
    #[command(flatten)]
    pub(crate) routes: RoutesArgs,

    /// Write a JSON object for each URL and profile
    ///
    /// {"profile": "crawl@1", "url": "...", "out": "...", "steps": [{"rule": "scheme-case", "source": "RFC
    /// 3986 section 6.2.2.1", "before": "...", "after": "..."}]} describes a URL that has a canonical form.
    /// {"profile": "...", "url": "...", "reject": ["code", ...], "at": N} describes a rejected one. If a
    /// profile refuses the base or the redirects, and others take them, its object is {"profile": "...",
    /// "url": "...", "unusable": "why"}. --key adds the key under its name, and "parts": [{"part": "17",
    /// "at": N, "type": "int", "rule": "..."}] of a template, where N counts bytes of "out", or the "route" that it
    /// takes.
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

/// A profile with the options that change it, or the reason why they do not fit.
pub(crate) type ProfileResult = Result<Normalizer, Unusable>;

/// A profile that refuses the base or the redirects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// The profile, with the options that change it.
    pub(crate) name: String,
    /// The reason, in words.
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
        let rules = &self.rules;
        if rules.profile_file.is_some() {
            // The file names its profile.
            return rules.normalizer(Profile::Crawl).map(|made| vec![Ok(made)]);
        }
        let mut profiles: Vec<Profile> = Vec::new();
        for named in &self.profiles {
            let new = match named {
                ProfileSelection::All => Profile::ALL,
                ProfileSelection::One(profile) => std::slice::from_ref(profile),
            };
            // Collected first, since the loop adds to the list that it looks into.
            for profile in new.iter().filter(|new| !profiles.contains(new)).collect::<Vec<_>>() {
                profiles.push(*profile);
            }
        }
        rules.are_had_by(&profiles).map_err(|error| error.to_string())?;
        let finished = |profile| {
            let turned = rules.turned(profile, Unsupported::Ignored)?;
            let name = turned.description();
            Ok(rules.finish(turned).map_err(|reason| Unusable { name, reason }))
        };
        let made: Vec<ProfileResult> =
            profiles.into_iter().map(finished).collect::<Result<_, String>>()?;
        match made.iter().find_map(|made| made.as_ref().err()) {
            Some(unusable) if made.iter().all(Result::is_err) => Err(unusable.reason.clone()),
            _ => Ok(made),
        }
    }
}
