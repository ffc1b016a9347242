//! The scheme and authority that a request target is joined to.
//!
//! The input is the host from a log, or the base; the output is `scheme://authority`. The scheme is
//! the log's own if it has one, else follows from the port (443 https, 80 http), else is the
//! base's, else http. The port stays as logged: the normalizer drops default ports.

use memchr::{memchr2, memchr3, memrchr2};

use super::Context;
use super::escape::Escape;
use uniqurl::internal::{Origin, Parts};

/// The scheme and authority that a target belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) enum RecordOrigin<'a> {
    /// The base's.
    Base(&'a Origin),
    /// The log's own, still escaped.
    Logged {
        /// The scheme, if the log has one.
        scheme: Option<&'a [u8]>,
        /// The host; neither empty nor `-`.
        host: &'a [u8],
        /// The text after the colon, if any.
        port: Option<&'a [u8]>,
    },
    /// The record's own, already unescaped.
    Plain {
        /// The scheme, if the record has one.
        scheme: Option<&'a [u8]>,
        /// The host; neither empty nor `-`.
        host: &'a [u8],
        /// The text after the colon, if any.
        port: Option<&'a [u8]>,
    },
}

impl<'a> RecordOrigin<'a> {
    /// Splits `host`, `host:port` or `[address]:port`; none if the host is missing.
    #[inline]
    pub fn logged(scheme: Option<&'a [u8]>, field: &'a [u8]) -> Option<Self> {
        // A colon before the bracket belongs to an IPv6 address and begins no port.
        let colon = match memrchr2(b':', b']', field) {
            Some(at) if field[at] == b':' => at,
            _ => field.len(),
        };
        let host = &field[..colon];
        let port = field.get(colon + 1..).filter(|port| *port != b"-");
        if matches!(host, b"" | b"-") {
            return None;
        }
        Some(RecordOrigin::Logged { scheme, host, port })
    }

    /// The same for values without escaping. The separate `port` applies if the host brings none.
    pub fn plain(
        scheme: Option<&'a [u8]>,
        field: &'a [u8],
        port: Option<&'a [u8]>,
    ) -> Option<Self> {
        match Self::logged(scheme, field)? {
            RecordOrigin::Logged { scheme, host, port: own } => {
                // An empty port stays where nothing takes its place: some profiles keep it, so this
                // is no place to drop it.
                let port = own.filter(|own| !own.is_empty()).or(port).or(own);
                Some(RecordOrigin::Plain { scheme, host, port })
            }
            other => Some(other),
        }
    }

    /// Appends `scheme://authority`; none if the host is invalid.
    pub fn write(self, ctx: &Context, scratch: &mut Vec<u8>) -> Option<()> {
        let mut unescape: fn(&[u8], &mut Vec<u8>) =
            |text, scratch| Escape::Backslash.undo(text, scratch);
        let (scheme, host, port) = match self {
            RecordOrigin::Base(origin) => {
                scratch.extend_from_slice(&origin.scheme);
                scratch.extend_from_slice(b"://");
                scratch.extend_from_slice(&origin.authority);
                return Some(());
            }
            RecordOrigin::Logged { scheme, host, port } => (scheme, host, port),
            RecordOrigin::Plain { scheme, host, port } => {
                unescape = |text, scratch| scratch.extend_from_slice(text);
                (scheme, host, port)
            }
        };
        let told = scheme.or(port.and_then(scheme_of));
        let base = ctx.base.as_ref().map(|base| &base.scheme[..]);
        scratch.extend_from_slice(told.or(base).unwrap_or(b"http"));
        scratch.extend_from_slice(b"://");
        let start = scratch.len();
        unescape(host, scratch);
        if let Some(port) = port {
            scratch.push(b':');
            unescape(port, scratch);
        }
        // Clients choose the host name: a delimiter in it would start a path or change the host.
        let host = &scratch[start..];
        let breaks = memchr3(b'/', b'?', b'#', host).or_else(|| memchr2(b'@', b'\\', host));
        breaks.is_none().then_some(())
    }
}

/// The scheme that uses this port by default.
pub(super) fn scheme_of(port: &[u8]) -> Option<&'static [u8]> {
    match port {
        b"443" => Some(b"https"),
        b"80" => Some(b"http"),
        _ => None,
    }
}

/// True for a URL with a host.
pub(super) fn is_absolute(text: &[u8]) -> bool {
    let parts = Parts::split(text);
    parts.scheme.is_some() && parts.authority.is_some()
}
