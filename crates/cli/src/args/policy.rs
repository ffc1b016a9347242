//! The arguments that turn a profile: switches, and lists of query parameters.

use std::cell::OnceCell;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::args::RULES;
use crate::inputs::names::is_standard_input;
use uniqurl::bytes::Printable;
use uniqurl::normalize::Charset;
use uniqurl::{Normalizer, Redirects, Switch, UnsupportedOption};
use uniqurl_formats::input::read_whole;

/// What is chosen beside a profile.
#[derive(Debug, Args, Default)]
pub struct PolicyArgs {
    /// Turn on a switch of the profile
    ///
    /// scheme, crawl and aggressive have: sort-query, strip-tracking (utm_*, fbclid, gclid and the
    /// rest of the list that ships with uniqurl), strip-session (jsessionid, phpsessid,
    /// aspsessionid*, sid with 32 hex digits, segments like (S(id))), strip-www, fold-scheme (https
    /// to http), strip-trailing-slash, strip-index (index.html and kin), squeeze-slashes,
    /// squeeze-query (an empty query, && and =), drop-query, lower-path, keep-fragment,
    /// keep-userinfo. Under scheme the last two are on, under crawl all are off, and under aggressive
    /// all but the last four and fold-scheme are on. servlet has: keep-empty-segments. A list
    /// between commas, or several times.
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(switches()).map(switch),
        hide_possible_values = true,
        help_heading = RULES,
        help = "Turn on a switch of the profile: sort-query, strip-tracking, ... (see --help)"
    )]
    pub with: Vec<Switch>,

    /// Turn off a switch of the profile: a name that --with takes
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(switches()).map(switch),
        hide_possible_values = true,
        help_heading = RULES
    )]
    pub without: Vec<Switch>,

    /// Drop the query parameters whose name fits GLOB; may be given several times
    ///
    /// In GLOB * stands for any bytes, ? for any one byte. There is no list in it between commas or
    /// bars, and no value behind =; where such a byte is meant, as one of the name, ? stands for it. A
    /// name is compared with its triplets decoded, and case counts. For scheme, crawl and aggressive.
    #[arg(
        long,
        value_name = "GLOB",
        value_parser = parameter,
        help_heading = RULES,
        help = "Drop the query parameters whose name fits GLOB; may be given several times"
    )]
    pub drop_param: Vec<String>,

    /// Drop all query parameters but those whose name fits GLOB; may be given several times
    ///
    /// A GLOB is as for --drop-param.
    #[arg(
        long,
        value_name = "GLOB",
        value_parser = parameter,
        help_heading = RULES,
        help = "Drop all query parameters but those whose name fits GLOB; may be given several times"
    )]
    pub keep_param: Vec<String>,

    /// Take the rules from a profile file, as `uniqurl profiles NAME` writes them
    ///
    /// A TOML file, or - for standard input: a built-in profile as its base, and what is different:
    /// switches, checks, the lists of a ring, parameters, default ports, and rules for single hosts. Not
    /// with --profile, --with, --without, --allow, --ring, --drop-param and --keep-param, which it says
    /// itself.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["profile", "ring", "allow", "with", "without", "drop_param", "keep_param"],
        help_heading = RULES,
        help = "Take the rules from a profile file, as `uniqurl profiles NAME` writes them"
    )]
    pub profile_file: Option<PathBuf>,

    /// Replace the URLs that FILE names by what they redirect to: two URLs a line, a tab between
    ///
    /// The list is brought into canonical form first. A URL on the left becomes the end of its chain;
    /// a cycle ends at its smallest member. - is standard input; the list may be compressed.
    #[arg(
        long,
        value_name = "FILE",
        help_heading = RULES,
        help = "Replace the URLs that FILE names by what they redirect to: two URLs a line, a tab \
                between"
    )]
    pub redirects: Option<PathBuf>,

    /// That list, read once for all profiles: a pipe has it for the first alone.
    #[arg(skip)]
    read: OnceCell<Result<Redirects, String>>,
}

impl PolicyArgs {
    /// The normalizer with the lists of parameters.
    pub fn filter_parameters(
        &self,
        mut normalizer: Normalizer,
    ) -> Result<Normalizer, UnsupportedOption> {
        if !self.drop_param.is_empty() {
            normalizer = normalizer.with_dropped_parameters(&self.drop_param)?;
        }
        if !self.keep_param.is_empty() {
            normalizer = normalizer.with_kept_parameters(&self.keep_param)?;
        }
        Ok(normalizer)
    }

    /// The rules of the profile file, if one is named, with a charset for them.
    pub fn of_profile_file(&self, charset: Option<Charset>) -> Option<Result<Normalizer, String>> {
        let path = self.profile_file.as_ref()?;
        let told = |error: &dyn Display| format!("{}: {error}", Printable::path(path));
        let read = || {
            let text = read_whole(path)
                .map_err(|error| format!("{error}; it is the file of rules (--profile-file)"))?;
            let text = String::from_utf8(text).map_err(|error| {
                let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                told(&format!("line {line}: not UTF-8"))
            })?;
            let made = Normalizer::from_profile_file(&text).map_err(|error| told(&error))?;
            match charset {
                Some(charset) => made.with_charset(charset).map_err(|error| told(&error)),
                None => Ok(made),
            }
        };
        Some(read())
    }

    /// The normalizer with the redirects, which are read by its rules: it has all else already.
    pub fn redirect(&self, normalizer: Normalizer) -> Result<Normalizer, String> {
        let Some(path) = &self.redirects else { return Ok(normalizer) };
        let told = |error: &dyn Display| format!("{}: {error}", Printable::path(path));
        let read = self.read.get_or_init(|| {
            let text = read_whole(path)
                .map_err(|error| format!("{error}; it is the list of redirects (--redirects)"))?;
            Redirects::parse(&text).map_err(|error| told(&error))
        });
        let redirects = read.as_ref().map_err(String::clone)?;
        normalizer.with_redirects(redirects).map_err(|error| told(&error))
    }

    /// The option whose file is standard input, if one is.
    pub fn of_standard_input(&self) -> Option<&'static str> {
        self.files().find(|(_, file)| is_standard_input(file)).map(|(option, _)| option)
    }

    /// The files that are read before any input.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let files = [("--redirects", &self.redirects), ("--profile-file", &self.profile_file)];
        files.into_iter().filter_map(|(option, file)| Some((option, file.as_deref()?)))
    }

    /// Finds what contradicts itself.
    pub fn check(&self) -> Result<(), String> {
        if self.files().filter(|(_, file)| is_standard_input(file)).count() > 1 {
            return Err("standard input cannot be both --redirects and --profile-file".into());
        }
        match self.with.iter().find(|switch| self.without.contains(switch)) {
            Some(switch) => Err(format!("{} cannot be both on and off", switch.name())),
            None => Ok(()),
        }
    }
}

/// A pattern for names of parameters. One that reads as a list or a pair would fit none, without a word.
fn parameter(glob: &str) -> Result<String, &'static str> {
    if glob.contains([',', '|']) {
        Err("no list between commas or bars; give each by itself (? stands for one that is meant)")
    } else if glob.contains('=') {
        Err("a name stands alone, without a value (? stands for a = that is meant)")
    } else {
        Ok(glob.to_owned())
    }
}

fn switches() -> Vec<PossibleValue> {
    let value = |switch: &Switch| PossibleValue::new(switch.name()).help(switch.sentence());
    Switch::ALL.iter().map(value).collect()
}

fn switch(name: String) -> Switch {
    Switch::named(&name).expect("only names of switches are accepted")
}
