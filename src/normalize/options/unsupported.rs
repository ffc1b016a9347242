//! The error for an option that does not fit the profile.

use crate::bytes::{Reject, RejectReason};
use crate::profile::glob::MOST_WILD;
use crate::profile::{Profile, Switch};

/// An option that the profile does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnsupportedOption {
    /// The profile makes no check with this code.
    Check(Profile, RejectReason),
    /// The profile does not accept a custom ring.
    Ring(Profile),
    /// The profile has no such switch.
    Switch(Profile, Switch),
    /// The profile leaves the parameters of a query alone.
    Parameters(Profile),
    /// More than 1,000 patterns of a list have a wildcard elsewhere than at their end.
    Wildcards,
    /// The profile's form would not be a fixed point with triplets of another charset.
    Charset(Profile),
    /// The profile file gives single hosts their own rules, which the option would not reach.
    Hosts,
    /// The option has to come before the base.
    AfterBase,
    /// The option has to come before the redirects.
    AfterRedirects,
    /// The base or the assumed scheme is rejected.
    Rejected(Reject),
}

impl std::fmt::Display for UnsupportedOption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            UnsupportedOption::Check(profile, code) => {
                write!(f, "profile {} makes no check {}", profile.name(), code.name())?;
                for (i, check) in profile.checks().iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { ", only " } else { ", " }, check.name())?;
                }
                let makes_it = |profile: Profile| profile.checks().contains(*code);
                // Where the profile has checks of its own, these are more help than another
                // profile.
                if profile.checks().is_empty() && Profile::ALL.iter().copied().any(makes_it) {
                    f.write_str(", a check of ")?;
                    list_profiles(f, makes_it)?;
                }
                Ok(())
            }
            UnsupportedOption::Ring(profile) => {
                write!(f, "profile {} takes no ring, only profile ring does", profile.name())
            }
            UnsupportedOption::Switch(profile, switch) => {
                write!(
                    f,
                    "profile {} has no switch {}, a switch of ",
                    profile.name(),
                    switch.name()
                )?;
                list_profiles(f, |profile| profile.switchable().contains(*switch))
            }
            UnsupportedOption::Parameters(profile) => {
                write!(f, "profile {} keeps all parameters, unlike ", profile.name())?;
                list_profiles(f, |profile| profile.takes_parameters())
            }
            UnsupportedOption::Wildcards => {
                write!(f, "more than {MOST_WILD} patterns with a wildcard before their end")
            }
            UnsupportedOption::Charset(profile) => write!(
                f,
                "profile {} reads no charset, and neither do string, ia and whatwg as the base of a host",
                profile.name()
            ),
            UnsupportedOption::Hosts => write!(
                f,
                "the option would not reach the hosts that have rules of their own in the profile file"
            ),
            UnsupportedOption::AfterBase => {
                f.write_str("the option must come before the base, which is normalized with it")
            }
            UnsupportedOption::AfterRedirects => f.write_str(
                "the option must come before the redirects, which are normalized with it",
            ),
            UnsupportedOption::Rejected(reject) => reject.fmt(f),
        }
    }
}

fn list_profiles(
    f: &mut std::fmt::Formatter<'_>,
    which: impl Fn(Profile) -> bool,
) -> std::fmt::Result {
    for (i, profile) in Profile::ALL.iter().filter(|profile| which(**profile)).enumerate() {
        write!(f, "{}{}", if i == 0 { "" } else { ", " }, profile.name())?;
    }
    Ok(())
}

impl std::error::Error for UnsupportedOption {}

impl From<Reject> for UnsupportedOption {
    fn from(reject: Reject) -> Self {
        UnsupportedOption::Rejected(reject)
    }
}
