//! Tests strictly whether a line has the layout of a format string, to detect its format.
//!
//! Reading is generous: it stops at the last field in use, and takes any text for it. Detection is
//! not. Every literal must be in its place up to the end of the line, and each field must look like
//! one of its kind.

use memchr::{memchr, memmem};

use super::super::clf::begins_as_time;
use super::super::escape::closing_quote;
use super::super::hosts::{is_address, is_authority};
use super::super::request;
use super::directives::{FormatStringError, tokens};
use super::plan::{Field, RawField, parts};

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
    fn fits(self, value: &[u8], is_enclosed: bool) -> bool {
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
                parts.next().is_some_and(|whole| whole.len() >= 9 && digits(whole))
                    && parts.next().is_none_or(digits)
                    && parts.next().is_none()
            }
            Shape::TlsVersion => is_dash || value.starts_with(b"TLS") || value.starts_with(b"SSL"),
        }
    }
}

/// The layout of a line, with the form of each field.
#[derive(Debug)]
pub(in crate::record) struct LineShape {
    fields: Vec<RawField>,
    /// The literal that ends the line.
    tail: Vec<u8>,
}

impl LineShape {
    /// The layout that a format string describes.
    pub fn parse(text: &str) -> Result<Self, FormatStringError> {
        let (fields, tail) = parts(tokens(text)?);
        Ok(Self { fields, tail })
    }

    /// True if the whole line has this layout.
    pub fn fits(&self, line: &[u8]) -> bool {
        let mut rest = line;
        let mut is_quoted = false;
        for (index, field) in self.fields.iter().enumerate() {
            let Some(behind) = rest.strip_prefix(&field.before[..]) else { return false };
            rest = behind;
            is_quoted ^= field.before.iter().filter(|byte| **byte == b'"').count() % 2 == 1;
            if field.is_padded {
                rest = rest.trim_ascii_start();
            }
            let literal = self.fields.get(index + 1).map_or(&self.tail, |next| &next.before);
            let Some(end) = end(field, rest, literal, is_quoted) else { return false };
            let is_enclosed = is_quoted || field.before.ends_with(b"[");
            if !field.shape.fits(&rest[..end], is_enclosed) {
                return false;
            }
            rest = &rest[end..];
        }
        rest == self.tail
    }
}

/// The length of a field that begins `text`, before the literal after it.
fn end(field: &RawField, text: &[u8], literal: &[u8], is_quoted: bool) -> Option<usize> {
    if literal.is_empty() {
        // Only a slash can separate the two, or the line ends.
        return match field.field {
            Field::Host | Field::ClientHost | Field::ServerName | Field::Port => {
                Some(memchr(b'/', text).unwrap_or(text.len()))
            }
            _ => Some(text.len()),
        };
    }
    if is_quoted && literal[0] == b'"' {
        return closing_quote(text, 0);
    }
    let mut from = 0;
    for _ in 0..field.spaces {
        from += memchr(b' ', &text[from..])? + 1;
    }
    if field.field.is_host() && text.starts_with(b"[") {
        from += memchr(b']', &text[from..])?;
    }
    Some(from + memmem::find(&text[from..], literal)?)
}
