//! Applies the options given with a profile, to one profile or to several.

use std::fmt::Display;
use std::path::Path;

use super::RulesArgs;
use crate::hints::is_host_and_port;
use uniqurl::{
    Normalizer, Profile, RedirectError, RedirectErrorKind, Redirects, RejectReason, Switch,
    UnsupportedOption,
};
use uniqurl_formats::input::{read_whole, read_within};
use uniqurl_text::Printable;

/// How to treat an option that a profile does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsupported {
    /// It is wrong usage.
    Refused,
    /// It is meant for another of several profiles.
    Ignored,
}

impl RulesArgs {
    /// The profile, or that of the profile file, with all options applied.
    ///
    /// # Errors
    ///
    /// A sentence that says why the options do not fit.
    pub(crate) fn normalizer(&self, profile: Profile) -> Result<Normalizer, String> {
        let made = match &self.profile_file {
            Some(path) => self.of_profile_file(path)?,
            None => self.turned(profile, Unsupported::Refused)?,
        };
        self.finish(made)
    }

    /// The profile with the options that change its rules. [`finish`](Self::finish) applies the others.
    ///
    /// # Errors
    ///
    /// A sentence that says why the options do not fit.
    pub(crate) fn turned(
        &self,
        profile: Profile,
        unsupported: Unsupported,
    ) -> Result<Normalizer, String> {
        let mut normalizer = Normalizer::new(profile);
        // Where several profiles are asked, an option is meant for those that have it.
        let lenient = unsupported == Unsupported::Ignored;
        let known = |code: &&RejectReason| !lenient || profile.checks().contains(**code);
        if let Some(code) = self.allow.iter().find(|code| self.deny.contains(code)) {
            return Err(format!("{code} cannot be both allowed and denied"));
        }
        for code in self.allow.iter().filter(known) {
            normalizer = normalizer.with_allowed([*code]).map_err(|error| error.to_string())?;
        }
        for code in self.deny.iter().filter(known) {
            normalizer = normalizer.with_denied([*code]).map_err(|error| error.to_string())?;
        }
        let known = |switch: &Switch| !lenient || profile.switchable().contains(*switch);
        normalizer = normalizer
            .with_switches(self.with.iter().copied().filter(known))
            .and_then(|made| made.without_switches(self.without.iter().copied().filter(known)))
            .map_err(|error| error.to_string())?;
        if !lenient || profile.takes_parameters() {
            normalizer = self.filter_parameters(normalizer).map_err(|error| error.to_string())?;
        }
        if let Some(ring) = &self.ring
            && (!lenient || profile == Profile::Ring)
        {
            normalizer = normalizer.with_ring(ring.clone()).map_err(|error| error.to_string())?;
        }
        if let Some(charset) = self.transcode {
            // A copy, since a charset that is refused takes the normalizer with it.
            normalizer = match normalizer.clone().with_charset(charset) {
                Err(_) if lenient => normalizer,
                made => made.map_err(|error| error.to_string())?,
            };
        }
        Ok(normalizer)
    }

    /// Finds an option that none of the profiles has, so that it would have no effect.
    ///
    /// # Errors
    ///
    /// The option that the last profile does not have.
    pub(crate) fn are_had_by(&self, profiles: &[Profile]) -> Result<(), UnsupportedOption> {
        let had = |turn: &dyn Fn(Normalizer) -> Result<Normalizer, UnsupportedOption>| {
            let turned = profiles.iter().map(|profile| turn(Normalizer::new(*profile)).map(|_| ()));
            // One profile that has the option is enough.
            turned.reduce(Result::or).unwrap_or(Ok(()))
        };
        for code in self.allow.iter().chain(&self.deny) {
            had(&|normalizer| normalizer.with_allowed([*code]))?;
        }
        for switch in self.with.iter().chain(&self.without) {
            had(&|normalizer| normalizer.with_switches([*switch]))?;
        }
        had(&|normalizer| self.filter_parameters(normalizer))?;
        if let Some(ring) = &self.ring {
            had(&|normalizer| normalizer.with_ring(ring.clone()))?;
        }
        if let Some(charset) = self.transcode {
            had(&|normalizer| normalizer.with_charset(charset))?;
        }
        Ok(())
    }

    /// The same with the options that every profile takes.
    ///
    /// # Errors
    ///
    /// A sentence that says why the options do not fit.
    pub(crate) fn finish(&self, mut normalizer: Normalizer) -> Result<Normalizer, String> {
        // In this order: a base is normalized as soon as it is set, so it needs the assumed scheme before it.
        if let Some(scheme) = &self.assume_scheme {
            normalizer =
                normalizer.with_assumed_scheme(scheme.as_encoded_bytes()).map_err(|reject| {
                    format!("--assume-scheme is not a scheme, as https is: {reject}")
                })?;
        }
        if let Some(base) = &self.base {
            let base = base.as_encoded_bytes();
            // Read as a URL, it would have a scheme and no host, which hardly anybody means.
            if self.assume_scheme.is_none() && is_host_and_port(base) {
                return Err(
                    "--base begins with a host and a port instead of a scheme, as http:// is"
                        .into(),
                );
            }
            normalizer = normalizer.with_base(base).map_err(|error| match error {
                UnsupportedOption::Rejected(reject) if reject.code == RejectReason::Relative => {
                    format!("--base is not an absolute URL, as https://example.com/ is: {reject}")
                }
                error => format!("--base is rejected by the profile: {error}"),
            })?;
        }
        self.redirect(normalizer)
    }

    /// The normalizer with the lists of parameters.
    fn filter_parameters(
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

    /// The rules of a profile file, with the charset of `--transcode`.
    pub(crate) fn of_profile_file(&self, path: &Path) -> Result<Normalizer, String> {
        let shown = |error: &dyn Display| format!("{}: {error}", Printable::path(path));
        let text = read_text(path, "--profile-file")?;
        let made = Normalizer::from_profile_file(&text).map_err(|error| shown(&error))?;
        match self.transcode {
            Some(charset) => made.with_charset(charset).map_err(|error| shown(&error)),
            None => Ok(made),
        }
    }

    /// The normalizer with the redirects. It must have all other options already, because they are read by
    /// its rules.
    fn redirect(&self, normalizer: Normalizer) -> Result<Normalizer, String> {
        let Some(path) = &self.redirects else { return Ok(normalizer) };
        let shown = |error: &dyn Display| format!("{}: {error}", Printable::path(path));
        let read = || {
            // The text is there twice, until it is in lines.
            let text = read_within(path, self.most.map_or(usize::MAX, |most| most / 2))
                .map_err(|error| format!("{error}, for --redirects"))?;
            Redirects::parse(&text).map_err(|error| shown(&error))
        };
        let fail = |error: RedirectError| match (error.kind, self.most) {
            (RedirectErrorKind::Memory(_), Some(most)) => {
                let error = shown(&error);
                format!("{error}, more than the {most} that it may take (--memory)")
            }
            _ => shown(&error),
        };
        // A list that counts as memory is not kept besides the normalizer.
        if let Some(most) = self.most {
            return normalizer.with_redirects(&read()?.within(most)).map_err(fail);
        }
        let redirects = self.read.get_or_init(read).as_ref().map_err(String::clone)?;
        normalizer.with_redirects(redirects).map_err(fail)
    }
}

/// The text of a file that an option names.
pub(crate) fn read_text(path: &Path, option: &str) -> Result<String, String> {
    let text = read_whole(path).map_err(|error| format!("{error}, for {option}"))?;
    String::from_utf8(text).map_err(|error| {
        // Editors show lines, and not the offset of a byte.
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("{}: line {line}: not UTF-8", Printable::path(path))
    })
}
