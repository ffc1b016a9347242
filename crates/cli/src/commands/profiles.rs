//! `uniqurl profiles`: lists the available profiles.

use std::io::{self, Write};

use clap::ValueEnum;

use uniqurl::key::suffix_list_date;
use uniqurl::profile::{System, tracking_version};
use uniqurl::{Profile, RingForm};

/// The form in which a profile is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProfileForm {
    /// A profile file
    Toml,
    /// The table of a ring in C
    C,
    /// The table in a subroutine of Varnish
    Vcl,
    /// The table in Lua
    Lua,
}

impl ProfileForm {
    /// The language, if it is the table of a ring that is written.
    pub fn ring(self) -> Option<RingForm> {
        match self {
            ProfileForm::Toml => None,
            ProfileForm::C => Some(RingForm::C),
            ProfileForm::Vcl => Some(RingForm::Vcl),
            ProfileForm::Lua => Some(RingForm::Lua),
        }
    }
}

/// Writes the list of profiles, or one as a profile file or the table of its ring.
pub fn write(profile: Option<&Profile>, form: ProfileForm, out: &mut impl Write) -> io::Result<()> {
    if let Some(profile) = profile {
        if let (System::Ring(ring), Some(form)) = (profile.system, form.ring()) {
            return out.write_all(ring.to_table(profile.name(), form).as_bytes());
        }
        return out.write_all(profile.to_toml().as_bytes());
    }
    let lengths = Profile::ALL.iter().map(|profile| profile.to_string().len());
    let width = lengths.max().unwrap_or_default();
    for profile in Profile::ALL {
        writeln!(out, "{profile:width$}  {}", profile.summary())?;
    }
    writeln!(out)?;
    for profile in Profile::ALL {
        if let Some(alias) = profile.alias() {
            writeln!(out, "{alias} is another name of {}", profile.name())?;
        }
    }
    writeln!(out, "tracking list (strip-tracking): version {}", tracking_version())?;
    writeln!(out, "Public Suffix List (domain): {}", suffix_list_date())
}
