//! Builds a JSON object member by member, in output order.

use std::borrow::Cow;
use std::fmt::Display;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use uniqurl_text::is_control;

/// The members so far, as JSON text.
#[derive(Debug, Default)]
pub struct Object(String);

impl Object {
    /// Adds a member whose value is already JSON, or a number.
    pub fn raw(mut self, name: &str, value: impl Display) -> Self {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push_str(&format!("{}:{value}", serde_json::Value::from(name)));
        self
    }

    /// Adds a string.
    pub fn text(self, name: &str, value: &str) -> Self {
        self.raw(name, serde_json::Value::from(value))
    }

    /// Adds bytes: as a string if they are UTF-8, otherwise as base64 under a name that says so.
    pub fn bytes(self, name: &str, value: &[u8]) -> Self {
        match std::str::from_utf8(value) {
            Ok(text) => self.text(name, text),
            Err(_) => self.text(&format!("{name}_base64"), &base64(value)),
        }
    }

    /// Adds a list of values that are already JSON.
    pub fn list(self, name: &str, values: impl IntoIterator<Item = String>) -> Self {
        let values: Vec<_> = values.into_iter().collect();
        self.raw(name, format_args!("[{}]", values.join(",")))
    }

    /// Returns the object as text.
    pub fn end(mut self) -> String {
        if self.0.is_empty() {
            self.0.push('{');
        }
        self.0.push('}');
        match escape_controls(&self.0) {
            Cow::Borrowed(_) => self.0,
            Cow::Owned(escaped) => escaped,
        }
    }
}

/// Escapes characters of JSON text that JSON itself lets stand raw and that [act on a terminal](is_control).
/// All of them are in strings. Below U+0020 JSON lets none stand, except between its tokens.
pub fn escape_controls(json: &str) -> Cow<'_, str> {
    let is_raw = |char: char| char >= '\u{7F}' && is_control(char);
    // Nearly all texts are ASCII. The loop has no early exit, so that the compiler can vectorize it.
    let is_plain = json.bytes().fold(true, |plain, byte| plain & (byte < 0x7F));
    if is_plain || !json.contains(is_raw) {
        return json.into();
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for char in json.chars() {
        match is_raw(char) {
            true => escaped.push_str(&format!("\\u{:04x}", u32::from(char))),
            false => escaped.push(char),
        }
    }
    escaped.into()
}

/// Encodes bytes that are not UTF-8 for JSON.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_and_every_byte() {
        let inner = Object::default().raw("n", 1).end();
        let object = Object::default().text("z", "a\"\n").bytes("b", b"\xFF").list("l", [inner]);
        assert_eq!(object.end(), r#"{"z":"a\"\n","b_base64":"/w==","l":[{"n":1}]}"#);
        assert_eq!(Object::default().end(), "{}");
    }

    #[test]
    fn no_character_that_acts_on_a_terminal_stands_raw() {
        for char in (0..0x3000).filter_map(char::from_u32) {
            let (name, value) = (format!("n{char}"), format!("a{char}b"));
            let object = Object::default().text(&name, &value).bytes("bytes", value.as_bytes());
            let text = object.end();
            assert!(!text.contains(is_control), "{char:?}: {text}");
            let read: serde_json::Value = serde_json::from_str(&text).expect("an object");
            assert_eq!((&read[&name], &read["bytes"]), (&value.clone().into(), &value.into()));
        }
        let text = Object::default().text("a", "\u{9B}\u{7F}\u{202E}\u{2028}").end();
        assert_eq!(text, r#"{"a":"\u009b\u007f\u202e\u2028"}"#);
    }
}
