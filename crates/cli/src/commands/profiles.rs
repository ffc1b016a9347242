//! `uniqurl profiles`: lists the available profiles.

use std::io::{self, Write};

use uniqurl::Profile;
use uniqurl::profile::tracking_version;

/// Writes the list of profiles, or one as a profile file.
pub fn write(profile: Option<&Profile>, out: &mut impl Write) -> io::Result<()> {
    if let Some(profile) = profile {
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
    writeln!(out, "tracking list (strip-tracking): version {}", tracking_version())
}
