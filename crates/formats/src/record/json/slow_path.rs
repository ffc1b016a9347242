//! Follows pointers through a JSON value that [`walk`](super::walk) failed on.
//!
//! The fast path stops at the first value of the wrong type, before it knows whether the name
//! occurs again or whether the rest is JSON. Here a value of the wrong type is noted, and dropped
//! if its name occurs again. A string that a pointer leads to may hold any byte; other values are
//! checked as usual.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Deserializer;

use super::super::part::RecordPart;
use super::pointer::Node;
use super::walk::Taken;
use super::{JsonError, JsonText};

/// Limit on nesting where pointers lead, the same as in `serde_json`.
pub(super) const DEEPEST: usize = 128;

/// Reads the JSON value in `text` by the pointers under `root`.
pub(super) fn walk<'a>(root: &Node, text: &'a [u8]) -> Result<Taken<'a>, JsonError> {
    let mut slow_path = SlowPath { rest: text, found: Vec::new() };
    slow_path.value(root, 0)?;
    if !slow_path.trimmed().is_empty() {
        return Err(JsonError::Syntax);
    }
    let is_meant = |(part, rank, value): (_, _, FoundValue<'a>)| Some((part, rank, value?));
    slow_path.found.into_iter().map(is_meant).collect::<Option<_>>().ok_or(JsonError::Type)
}

/// A value, or none if it has the wrong type.
type FoundValue<'a> = Option<Cow<'a, [u8]>>;

struct SlowPath<'a> {
    /// The rest of the text, from before the next value or bracket.
    rest: &'a [u8],
    /// The values in the order of the text.
    found: Vec<(RecordPart, usize, FoundValue<'a>)>,
}

impl<'a> SlowPath<'a> {
    /// Takes the value of a node.
    fn value(&mut self, node: &Node, depth: usize) -> Result<(), JsonError> {
        let takes = !node.parts.is_empty();
        match self.trimmed() {
            [b'"', ..] if takes => {
                let JsonText(text) = self.pass()?;
                self.take(node, Some(&text));
            }
            [b'{', ..] if !takes && depth < DEEPEST => self.members(node, depth)?,
            [b'[', ..] if !takes && depth < DEEPEST => self.elements(node, depth)?,
            text => {
                self.pass::<IgnoredAny>()?;
                let text = &text[..text.len() - self.rest.len()];
                match text {
                    b"null" if node.is_url() => self.take(node, Some(&b""[..].into())),
                    b"null" => {}
                    [b'{', ..] if node.says_scheme() => self.take(node, Some(&b"https"[..].into())),
                    _ if !node.is_aside() => self.take(node, None),
                    _ if takes && is_number(text) => self.take(node, Some(&text.into())),
                    // A member beside the URL with a useless value counts as missing.
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Takes the values of an object's members. If a name occurs twice, the last one counts.
    fn members(&mut self, node: &Node, depth: usize) -> Result<(), JsonError> {
        self.rest = &self.trimmed()[1..];
        if self.has(b'}') {
            return Ok(());
        }
        loop {
            if !self.trimmed().starts_with(b"\"") {
                return Err(JsonError::Syntax);
            }
            let JsonText(name) = self.pass()?;
            self.expect(b':')?;
            match node.child(&name) {
                Some(child) => {
                    self.found.retain(|(part, rank, _)| !child.holds(*part, *rank));
                    self.value(child, depth + 1)?;
                }
                None => {
                    self.pass::<IgnoredAny>()?;
                }
            }
            if self.has(b'}') {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    fn elements(&mut self, node: &Node, depth: usize) -> Result<(), JsonError> {
        self.rest = &self.trimmed()[1..];
        if self.has(b']') {
            return Ok(());
        }
        for index in 0.. {
            match node.element(index) {
                Some(child) => self.value(child, depth + 1)?,
                None => {
                    self.pass::<IgnoredAny>()?;
                }
            }
            if self.has(b']') {
                break;
            }
            self.expect(b',')?;
        }
        Ok(())
    }

    /// Notes the value of a node, or that it has the wrong type.
    fn take(&mut self, node: &Node, value: Option<&Cow<'a, [u8]>>) {
        for (part, rank) in &node.parts {
            self.found.push((*part, *rank, value.cloned()));
        }
        if value.is_none() {
            node.children.iter().for_each(|(_, child)| self.take(child, None));
        }
    }

    /// Skips a value, and returns it as a `T`.
    fn pass<T: Deserialize<'a>>(&mut self) -> Result<T, JsonError> {
        let mut values = Deserializer::from_slice(self.rest).into_iter();
        let Some(Ok(value)) = values.next() else { return Err(JsonError::Syntax) };
        self.rest = &self.rest[values.byte_offset()..];
        Ok(value)
    }

    /// Skips a byte, if it is the next.
    fn has(&mut self, byte: u8) -> bool {
        let behind = self.trimmed().strip_prefix(&[byte]);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    fn expect(&mut self, byte: u8) -> Result<(), JsonError> {
        if self.has(byte) { Ok(()) } else { Err(JsonError::Syntax) }
    }

    /// The text without leading white space: section 2 of RFC 8259.
    fn trimmed(&self) -> &'a [u8] {
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        &self.rest[self.rest.iter().take_while(is_blank).count()..]
    }
}

/// True if a JSON value is an unsigned integer, like a status or a port.
fn is_number(value: &[u8]) -> bool {
    std::str::from_utf8(value).is_ok_and(|text| text.parse::<u64>().is_ok())
}
