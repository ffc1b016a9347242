//! Tests strictly whether a line has the layout of a format string, to detect its format.
//!
//! Reading is generous: it stops at the last field in use, and takes any text for it. Detection is
//! not. Every literal must be in its place up to the end of the line, and each field must look like
//! one of its kind.

use memchr::{memchr, memmem};

use super::super::escape::closing_quote;
use super::directives::tokens;
use super::field::Field;
use super::plan::{RawField, parts};
use super::token::FormatStringError;

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
    // The colons of an IPv6 address are no literal.
    if field.field.is_host() && text.starts_with(b"[") {
        from += memchr(b']', &text[from..])?;
    }
    Some(from + memmem::find(&text[from..], literal)?)
}
