//! Custom default ports: the port of a URL that names none.

use std::collections::BTreeMap;
use std::fmt;

use crate::profile::scheme::SCHEMES;

/// The number that digits spell, or the highest one that can be returned.
pub(in crate::normalize) fn number(digits: &[u8]) -> u32 {
    let add = |sum: u32, digit: &u8| sum.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
    digits.iter().fold(0, add)
}

/// The default port of each scheme that has one; names are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::normalize) struct DefaultPorts(BTreeMap<Box<[u8]>, u16>);

impl DefaultPorts {
    /// The default ports of the known schemes.
    pub(in crate::normalize) fn of_schemes() -> Self {
        let ports = SCHEMES.iter().filter_map(|scheme| Some((scheme.name.into(), scheme.port?)));
        Self(ports.collect())
    }

    /// Sets or removes the default port of a scheme.
    #[cfg(feature = "profile-file")]
    pub(in crate::normalize) fn set(&mut self, scheme: &str, port: Option<u16>) {
        match port {
            Some(port) => self.0.insert(scheme.as_bytes().into(), port),
            None => self.0.remove(scheme.as_bytes()),
        };
    }

    /// The names of the schemes and their ports, in order.
    #[cfg(feature = "profile-file")]
    pub(in crate::normalize) fn iter(&self) -> impl Iterator<Item = (&[u8], u16)> {
        self.0.iter().map(|(scheme, port)| (&**scheme, *port))
    }

    /// The default port of a scheme, whose name is in lower case.
    pub(in crate::normalize) fn of(&self, scheme: &[u8]) -> Option<u16> {
        self.0.get(scheme).copied()
    }
}

/// Writes the differences from the ports of the known schemes.
impl fmt::Display for DefaultPorts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Self::of_schemes();
        let own = self.0.iter().filter(|(scheme, port)| known.0.get(*scheme) != Some(*port));
        let own = own.map(|(scheme, port)| format!("{}:{port}", scheme.escape_ascii()));
        let gone = known.0.keys().filter(|scheme| !self.0.contains_key(*scheme));
        let gone = gone.map(|scheme| format!("{}:none", scheme.escape_ascii()));
        f.write_str(&own.chain(gone).collect::<Vec<_>>().join(","))
    }
}
