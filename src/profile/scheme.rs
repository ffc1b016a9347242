//! Facts from the definitions of known schemes, for RFC 3986 section 6.2.3.

/// Facts of one scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scheme {
    /// In lower case.
    pub(crate) name: &'static [u8],
    /// The default port.
    pub(crate) port: Option<u16>,
    pub(crate) kind: Kind,
}

/// Families of schemes with rules of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A host is looked up and a path requested. An authority with a host is required (RFC 9110 section
    /// 4.2.1), and an empty path is `/`.
    Network,
    /// `file`: the host `localhost`, an empty host and an absent one are the same (RFC 8089 section 2 and
    /// appendix B).
    File,
    /// `urn`: the namespace ignores case (RFC 8141 section 3.1).
    Urn,
    /// `mailto`: the path holds addresses, whose domains ignore case (RFC 3986 section
    /// 6.2.3).
    Mailto,
    /// Only the port is known.
    Other,
}

/// The schemes with a rule. Ports are those of the service name registry; `ws` and `wss` from
/// RFC 6455 section 3.
pub(crate) const SCHEMES: [Scheme; 11] = [
    Scheme { name: b"https", port: Some(443), kind: Kind::Network },
    Scheme { name: b"http", port: Some(80), kind: Kind::Network },
    Scheme { name: b"ftp", port: Some(21), kind: Kind::Network },
    Scheme { name: b"ws", port: Some(80), kind: Kind::Network },
    Scheme { name: b"wss", port: Some(443), kind: Kind::Network },
    Scheme { name: b"ssh", port: Some(22), kind: Kind::Other },
    Scheme { name: b"sftp", port: Some(22), kind: Kind::Other },
    Scheme { name: b"tftp", port: Some(69), kind: Kind::Other },
    Scheme { name: b"file", port: None, kind: Kind::File },
    Scheme { name: b"mailto", port: None, kind: Kind::Mailto },
    Scheme { name: b"urn", port: None, kind: Kind::Urn },
];

/// An unknown scheme.
const UNKNOWN: Scheme = Scheme { name: b"", port: None, kind: Kind::Other };

/// The facts of the scheme `name`, which is in lower case.
#[inline]
pub(crate) fn facts(name: &[u8]) -> &'static Scheme {
    SCHEMES.iter().find(|scheme| scheme.name == name).unwrap_or(&UNKNOWN)
}
