//! Builds a JSON object member by member, in output order.

use std::fmt::Display;

use base64::{Engine as _, engine::general_purpose::STANDARD};

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
        self.0
    }
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
}
