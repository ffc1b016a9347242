//! Custom default ports: the port of a URL that names none.

use std::collections::BTreeMap;
use std::fmt;

use super::explain::Rule;
use super::parts::{AuthorityParts, Parts};
use super::trace::{Place, Trace};
use crate::profile::scheme::SCHEMES;

/// The default port of each scheme that has one; names are in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DefaultPorts(BTreeMap<Box<[u8]>, u16>);

impl DefaultPorts {
    /// The default ports of the known schemes.
    pub(super) fn of_schemes() -> Self {
        let ports = SCHEMES.iter().filter_map(|scheme| Some((scheme.name.into(), scheme.port?)));
        Self(ports.collect())
    }

    /// Sets or removes the default port of a scheme.
    #[cfg(feature = "profile-file")]
    pub(super) fn set(&mut self, scheme: &str, port: Option<u16>) {
        match port {
            Some(port) => self.0.insert(scheme.as_bytes().into(), port),
            None => self.0.remove(scheme.as_bytes()),
        };
    }

    /// The names of the schemes and their ports, in order.
    #[cfg(feature = "profile-file")]
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u16)> {
        self.0.iter().map(|(scheme, port)| (&**scheme, *port))
    }

    /// The default port of a scheme, whose name is in lower case.
    pub(super) fn of(&self, scheme: &[u8]) -> Option<u16> {
        self.0.get(scheme).copied()
    }

    /// Removes the port from the canonical URL in `out[at..]`, if it is the default port of its scheme.
    pub(super) fn drop_default<T: Trace>(&self, at: usize, out: &mut Vec<u8>, trace: &mut T) {
        let parts = Parts::split(&out[at..]);
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else { return };
        let Some(default) = self.0.get(scheme) else { return };
        let host_port = AuthorityParts::split(authority).host_port;
        // No port follows a colon within brackets.
        let Some(colon) = host_port.iter().rposition(|byte| matches!(byte, b':' | b']')) else {
            return;
        };
        let port = &host_port[colon + 1..];
        if host_port[colon] == b':' && port == default.to_string().as_bytes() {
            let end = at + parts.path_start();
            out.drain(end - port.len() - 1..end);
            trace.component(Rule::DefaultPort, Place::Port, None);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::trace::NoTrace;

    #[test]
    fn only_the_default_port_of_the_scheme_is_removed() {
        let mut ports = DefaultPorts::of_schemes();
        ports.0.insert(b"gopher"[..].into(), 70);
        for (url, expected) in [
            ("gopher://h:70/a:70", "gopher://h/a:70"),
            ("gopher://u:70@[::70]:70", "gopher://u:70@[::70]"),
            ("gopher://[::70]", "gopher://[::70]"),
            ("gopher://h:7", "gopher://h:7"),
            ("http://h:70/", "http://h:70/"),
            ("http://h:80?b:80", "http://h?b:80"),
            ("x://h:80", "x://h:80"),
            ("gopher:h:70", "gopher:h:70"),
        ] {
            let mut out = b"before".to_vec();
            out.extend_from_slice(url.as_bytes());
            ports.drop_default(6, &mut out, &mut NoTrace);
            assert_eq!(String::from_utf8_lossy(&out[6..]), expected);
        }
    }
}
