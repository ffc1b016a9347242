//! `uniqurl profiles`: lists the available profiles.

use std::io::{self, Write};

use uniqurl::Profile;
use uniqurl::internal::{System, tracking_version};
use uniqurl::key::suffix_list_date;

use crate::args::cli::ProfileForm;
use crate::ring_table;

/// Writes the list of profiles, or one as a profile file or the table of its ring.
pub fn write(profile: Option<Profile>, form: ProfileForm, out: &mut impl Write) -> io::Result<()> {
    if let Some(profile) = profile {
        let name = profile.name();
        let text = match (form, profile.rules().system) {
            (ProfileForm::C, System::Ring(ring)) => ring_table::to_c(ring, name),
            (ProfileForm::Vcl, System::Ring(ring)) => ring_table::to_vcl(ring, name),
            (ProfileForm::Lua, System::Ring(ring)) => ring_table::to_lua(ring, name),
            // The arguments allow the other forms for rings alone.
            _ => profile.to_toml(),
        };
        return out.write_all(text.as_bytes());
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
