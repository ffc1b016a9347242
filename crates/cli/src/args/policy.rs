//! The arguments that turn a profile: switches, and lists of query parameters.

use std::cell::OnceCell;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::args::help::{self, RULES};
use crate::inputs::names::is_standard_input;
use uniqurl::uri::Charset;
use uniqurl::{Normalizer, RedirectError, RedirectErrorKind, Redirects, Switch, UnsupportedOption};
use uniqurl_formats::input::{read_whole, read_within};
use uniqurl_text::Printable;

/// The options that change a profile.
#[derive(Debug, Args, Default)]
pub struct PolicyArgs {
    /// Turn on a switch of the profile, such as strip-tracking or sort-query
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(switches()).map(switch),
        hide_possible_values = true,
        help_heading = RULES,
        long_help = help::WITH
    )]
    pub with: Vec<Switch>,

    /// Turn off a switch of the profile: a name that --with takes
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(switches()).map(switch),
        hide_possible_values = true,
        hide_short_help = true,
        help_heading = RULES
    )]
    pub without: Vec<Switch>,

    /// Drop the query parameters whose names match GLOB
    ///
    /// In GLOB, * matches any bytes and ? any one byte. The option may be given several times. GLOB
    /// is one name: it holds no list with commas or bars, and no = with a value. Write ? for such a
    /// byte in a name. Triplets in a name are decoded before the match, and case counts. The option
    /// is for scheme, crawl and aggressive.
    #[arg(
        long,
        value_name = "GLOB",
        value_parser = parameter,
        hide_short_help = true,
        help_heading = RULES
    )]
    pub drop_param: Vec<String>,

    /// Drop all query parameters except those whose names match GLOB
    ///
    /// GLOB is the same as for --drop-param. The option may be given several times.
    #[arg(
        long,
        value_name = "GLOB",
        value_parser = parameter,
        hide_short_help = true,
        help_heading = RULES
    )]
    pub keep_param: Vec<String>,

    /// Read the rules from a profile file, as uniqurl profiles NAME writes it
    ///
    /// FILE is TOML, or - for standard input. It names a built-in profile as its base, and the
    /// differences: switches, checks, the lists of a ring, parameters, default ports, and rules for
    /// single hosts. The options --profile, --with, --without, --allow, --deny, --ring, --drop-param
    /// and --keep-param do not combine with it, because the file can hold their values.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["profile", "ring", "allow", "deny", "with", "without", "drop_param", "keep_param"],
        hide_short_help = true,
        help_heading = RULES
    )]
    pub profile_file: Option<PathBuf>,

    /// Replace each URL in the first column of FILE by the URL in the second
    ///
    /// FILE lists redirects: each line holds two URLs with a tab between them. They are brought into
    /// canonical form first. A URL is replaced by the end of its chain of redirects, and a cycle ends
    /// at its smallest member. - is standard input. FILE may be compressed.
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = RULES)]
    pub redirects: Option<PathBuf>,

    /// The redirects, read once for all profiles, because a pipe can be read only once.
    #[arg(skip)]
    read: OnceCell<Result<Redirects, String>>,

    /// Most bytes of memory that it may take.
    #[arg(skip)]
    most: Option<usize>,
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
            let text = read_whole(path).map_err(|error| format!("{error}, for --profile-file"))?;
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

    /// The normalizer with the redirects. It must have all other options already, because they are read by
    /// its rules.
    pub fn redirect(&self, normalizer: Normalizer) -> Result<Normalizer, String> {
        let Some(path) = &self.redirects else { return Ok(normalizer) };
        let told = |error: &dyn Display| format!("{}: {error}", Printable::path(path));
        let read = || {
            // The text is there twice, until it is in lines.
            let text = read_within(path, self.most.map_or(usize::MAX, |most| most / 2))
                .map_err(|error| format!("{error}, for --redirects"))?;
            Redirects::parse(&text).map_err(|error| told(&error))
        };
        let fail = |error: RedirectError| match (error.kind, self.most) {
            (RedirectErrorKind::Memory(_), Some(most)) => {
                let error = told(&error);
                format!("{error}, more than the {most} that it may take (--memory)")
            }
            _ => told(&error),
        };
        // A list that counts as memory is not kept besides the normalizer.
        if let Some(most) = self.most {
            return normalizer.with_redirects(&read()?.within(most)).map_err(fail);
        }
        let redirects = self.read.get_or_init(read).as_ref().map_err(String::clone)?;
        normalizer.with_redirects(redirects).map_err(fail)
    }

    /// Limits the memory of the redirects to what a run with this budget has for them.
    pub fn limit(&mut self, budget: u64) {
        let most = budget / 4 * 3;
        self.most = Some(usize::try_from(most).unwrap_or(usize::MAX));
    }

    /// The option whose file is standard input, if any.
    pub fn of_standard_input(&self) -> Option<&'static str> {
        self.files().find(|(_, file)| is_standard_input(file)).map(|(option, _)| option)
    }

    /// The files that are read before any input.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let files = [("--redirects", &self.redirects), ("--profile-file", &self.profile_file)];
        files.into_iter().filter_map(|(option, file)| Some((option, file.as_deref()?)))
    }

    /// Rejects options that contradict each other.
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
        Err("a comma or a bar does not separate names")
    } else if glob.contains('=') {
        Err("a name has no value")
    } else {
        Ok(glob.to_owned())
    }
}

fn switches() -> Vec<PossibleValue> {
    let value = |switch: &Switch| PossibleValue::new(switch.name()).help(switch.sentence());
    Switch::ALL.iter().map(value).collect()
}

fn switch(name: String) -> Switch {
    name.parse::<Switch>().expect("only names of switches are accepted")
}
