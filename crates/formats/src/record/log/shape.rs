//! The forms of the values of fields, by which a line is told from others.

use memchr::memmem;

use super::super::clf::begins_as_time;
use super::super::hosts::{is_address, is_authority};
use super::super::request;

/// The form of a field's values. Each but `Any` admits a dash where a log may have no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::record) enum Shape {
    /// Any text.
    Any,
    /// Text without spaces and quotation marks; any text inside of quotation marks or brackets.
    Word,
    /// Digits, points and commas.
    Number,
    /// A status of three digits.
    Status,
    /// A method in capitals.
    Method,
    /// A host, perhaps with a port.
    Host,
    /// The same, and no name without dots. The formats of Apache have few other marks, and the name of
    /// a user may stand in the same place.
    Site,
    /// `http`, `https`, `ws` or `wss`.
    Scheme,
    /// A path, or a URL.
    Target,
    /// A request line.
    Request,
    /// The address or name of a client, perhaps with a port.
    Address,
    /// `10/Oct/2000:13:55:36 -0700`.
    LocalTime,
    /// `2000-10-10T13:55:36`, with more after it.
    IsoTime,
    /// Seconds, and perhaps a fraction.
    Epoch,
    /// `TLSv1.2`.
    TlsVersion,
}

impl Shape {
    pub fn fits(self, value: &[u8], is_enclosed: bool) -> bool {
        let digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        let is_dash = value == b"-";
        match self {
            Shape::Any => true,
            Shape::Word => {
                is_enclosed
                    || (!value.is_empty() && !value.iter().any(|byte| b" \t\"".contains(byte)))
            }
            Shape::Number => {
                !value.is_empty()
                    && value.iter().all(|byte| byte.is_ascii_digit() || b".,-".contains(byte))
            }
            Shape::Status => is_dash || (value.len() == 3 && digits(value)),
            Shape::Method => {
                is_dash
                    || !value.is_empty()
                        && value
                            .iter()
                            .all(|byte| byte.is_ascii_uppercase() || b"-_".contains(byte))
            }
            Shape::Host => is_dash || is_address(value),
            Shape::Site => is_authority(value),
            Shape::Scheme => matches!(value, b"http" | b"https" | b"ws" | b"wss"),
            Shape::Target => {
                value.starts_with(b"/") || value == b"*" || memmem::find(value, b"://").is_some()
                    // The target of CONNECT, and pages that a proxy makes.
                    || is_authority(value) || value.starts_with(b"error:") || value.starts_with(b"dns:")
            }
            Shape::Request => {
                matches!(value, b"" | b"-")
                    || value.starts_with(b"\\")
                    || request::split(value).is_some()
            }
            Shape::Address => is_dash || is_address(value),
            Shape::LocalTime => begins_as_time(value) && value.contains(&b'/'),
            Shape::IsoTime => begins_as_time(value) && value.contains(&b'-'),
            Shape::Epoch => {
                let mut parts = value.split(|byte| *byte == b'.');
                // Nine digits reach back to 1973. Shorter numbers are durations and sizes.
                parts.next().is_some_and(|whole| whole.len() >= 9 && digits(whole))
                    && parts.next().is_none_or(digits)
                    && parts.next().is_none()
            }
            Shape::TlsVersion => is_dash || value.starts_with(b"TLS") || value.starts_with(b"SSL"),
        }
    }
}
