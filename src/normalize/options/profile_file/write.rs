//! Writes a built-in profile as a profile file.

use crate::bytes::RejectReason;
use crate::normalize::exact::ports::DefaultPorts;
use crate::profile::{Profile, System};

impl Profile {
    /// Writes the profile as a file that
    /// [`Normalizer::from_profile_file`](crate::Normalizer::from_profile_file) reads back, with every key
    /// that such a file can set.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let text = Profile::Mediawiki.to_toml();
    /// assert!(text.contains("encode = \"&'+=[]\""));
    /// let again = Normalizer::from_profile_file(&text)?;
    /// assert_eq!(again.description(), "mediawiki@1");
    /// # Ok::<(), uniqurl::ProfileFileError>(())
    /// ```
    pub fn to_toml(self) -> String {
        let mut text = format!("# {}\n", self.summary());
        let (name, version) = (self.name(), self.version());
        text.push_str(&format!(
            "name = \"{name}\"\nversion = {version}\nbase = \"{name}@{version}\"\n"
        ));
        let on = self.checks().without(self.checks_off());
        for (key, state, codes) in [("allow", "off", on), ("deny", "on", self.checks_off())] {
            if codes.is_empty() {
                continue;
            }
            let codes: Vec<_> = codes.iter().map(RejectReason::name).collect();
            text.push_str(&format!("\n# Checks that are {state}, of these:\n"));
            for line in codes.chunks(4) {
                text.push_str(&format!("# {}\n", line.join(", ")));
            }
            text.push_str(&format!("{key} = []\n"));
        }
        if !self.switchable().is_empty() {
            text.push_str("\n[switches]\n");
        }
        for switch in self.switchable().iter() {
            let on = self.switches().contains(switch);
            text.push_str(&format!("{} = {on} # {}\n", switch.name(), switch.sentence()));
        }
        if let System::Ring(ring) = self.rules().system {
            let [decode, encode] =
                ring.lists().map(|list| String::from_utf8_lossy(&list).into_owned());
            text.push_str(&format!("\n[ring]\ndecode = \"{decode}\"\nencode = \"{encode}\"\n"));
        }
        if self.takes_parameters() {
            text.push_str(
                "\n[parameters]\ndrop = [] # patterns of names\nkeep = [] # the only ones, if there are any\n\
                 tracking = [] # beside the list that ships with uniqurl\n\
                 ignore-case = false # of the names in drop and keep\n",
            );
        }
        if self.rules().takes_ports() {
            text.push_str("\n[ports]\n");
            for (scheme, port) in DefaultPorts::of_schemes().iter() {
                text.push_str(&format!("{} = {port}\n", String::from_utf8_lossy(scheme)));
            }
        }
        text
    }
}
