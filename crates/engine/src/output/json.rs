//! JSON objects, built member by member in the order of the output: lines of `--json` and `--rejects`, and the answers
//! of other commands.
//!
//! Bytes that are UTF-8 are a JSON string. For others the member's name ends in `_base64` and the value is the bytes in
//! base64, so nothing is lost.

use std::borrow::{BorrowMut, Cow};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use uniqurl_text::is_control;

/// A JSON object, at the end of bytes that it owns or borrows.
///
/// Bytes are appended by hand, since `normalize --json` makes an object for each record.
// Inlined where names are constants, a member is copies of constants. A call for each member, which looks for bytes in
// its name that need an escape, takes 1.8 times as long.
#[derive(Debug)]
pub struct Object<B = Vec<u8>> {
    out: B,
    /// The byte before the next member.
    before: u8,
}

impl Default for Object {
    fn default() -> Self {
        Self::at_end_of(Vec::new())
    }
}

impl Object {
    /// Returns the object as text.
    pub fn end(mut self) -> String {
        self.close();
        String::from_utf8(self.out).expect("JSON is text")
    }
}

impl<B: BorrowMut<Vec<u8>>> Object<B> {
    /// An object without members, at the end of `out`.
    #[inline(always)]
    pub fn at_end_of(out: B) -> Self {
        Self { out, before: b'{' }
    }

    /// Adds a number.
    #[inline(always)]
    pub fn number(mut self, name: &str, value: u64) -> Self {
        number(value, self.name(name));
        self
    }

    /// Adds a string.
    pub fn text(self, name: &str, value: &str) -> Self {
        self.bytes(name, value.as_bytes())
    }

    /// Adds bytes: as a string if they are UTF-8, otherwise as base64 under a name that says so.
    #[inline(always)]
    pub fn bytes(self, name: &str, value: &[u8]) -> Self {
        // Nearly all values are copied without a serializer.
        match is_plain(value) {
            true => self.quoted(name, value),
            false => self.unusual(name, value),
        }
    }

    #[cold]
    fn unusual(self, name: &str, value: &[u8]) -> Self {
        match std::str::from_utf8(value) {
            Ok(text) => self.quoted(name, escaped(text).as_bytes()),
            Err(_) => self.quoted(&format!("{name}_base64"), base64(value).as_bytes()),
        }
    }

    #[inline(always)]
    fn quoted(mut self, name: &str, value: &[u8]) -> Self {
        let out = self.name(name);
        out.push(b'"');
        out.extend_from_slice(value);
        out.push(b'"');
        self
    }

    /// Adds a member whose value is already JSON.
    pub fn raw(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.name(name).extend_from_slice(value.as_ref());
        self
    }

    /// Adds a list of values that are already JSON.
    pub fn list(self, name: &str, values: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        self.values(name, values, b"")
    }

    /// Adds a list of strings that need no escape.
    pub fn names(self, name: &str, values: impl IntoIterator<Item = &'static str>) -> Self {
        self.values(name, values, b"\"")
    }

    fn values(
        mut self,
        name: &str,
        values: impl IntoIterator<Item = impl AsRef<[u8]>>,
        around: &[u8],
    ) -> Self {
        let out = self.name(name);
        out.push(b'[');
        for (i, value) in values.into_iter().enumerate() {
            out.extend_from_slice(if i == 0 { b"" } else { b"," });
            out.extend_from_slice(around);
            out.extend_from_slice(value.as_ref());
            out.extend_from_slice(around);
        }
        out.push(b']');
        self
    }

    /// Ends the object and its line.
    #[inline(always)]
    pub fn end_line(mut self) {
        self.close().push(b'\n');
    }

    #[inline(always)]
    fn close(&mut self) -> &mut Vec<u8> {
        let out = self.out.borrow_mut();
        if self.before == b'{' {
            out.push(b'{');
        }
        out.push(b'}');
        out
    }

    /// Begins a member.
    #[inline(always)]
    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        let out = self.out.borrow_mut();
        out.extend_from_slice(&[self.before, b'"']);
        self.before = b',';
        match is_plain(name.as_bytes()) {
            true => out.extend_from_slice(name.as_bytes()),
            // Names of columns may be any text.
            false => out.extend_from_slice(escaped(name).as_bytes()),
        }
        out.extend_from_slice(b"\":");
        out
    }
}

/// The text as it stands between the quotation marks of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::to_string(text).expect("a string is always JSON");
    escape_controls(&quoted[1..quoted.len() - 1]).into_owned()
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

/// Whether the bytes need no escape in a JSON string. No early exit, so that the compiler makes
/// one vector loop of it.
#[inline(always)]
fn is_plain(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .fold(true, |plain, &b| plain & (b.wrapping_sub(0x20) < 0x5F) & (b != b'"') & (b != b'\\'))
}

/// Appends `n` in decimal.
pub fn number(mut n: u64, out: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    // Two digits for each division: every line of `--count` and `normalize --json` has a number.
    while n >= 10 {
        let two = (n % 100) as u8;
        n /= 100;
        start -= 2;
        digits[start] += two / 10;
        digits[start + 1] += two % 10;
    }
    // The first digit, if the number of digits is odd.
    if n > 0 || start == digits.len() {
        start -= 1;
        digits[start] += n as u8;
    }
    out.extend_from_slice(&digits[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn line(write: impl FnOnce(Object<&mut Vec<u8>>)) -> String {
        let mut out = b"before\n".to_vec();
        write(Object::at_end_of(&mut out));
        let text = String::from_utf8(out).expect("JSON is text");
        let line = text.strip_prefix("before\n").expect("lines are appended").to_owned();
        assert_eq!(line.matches('\n').count(), 1, "{line:?}");
        line
    }

    #[test]
    fn members_keep_their_order_and_every_byte() {
        let inner = Object::default().raw("n", "1").end();
        let object = Object::default().text("z", "a\"\n").bytes("b", b"\xFF").list("l", [inner]);
        let object = object.number("i", 7).names("s", ["x", "y"]);
        assert_eq!(
            object.end(),
            "{\"z\":\"a\\\"\\n\",\"b_base64\":\"/w==\",\"l\":[{\"n\":1}],\"i\":7,\"s\":[\"x\",\"y\"]}"
        );
        assert_eq!(Object::default().end(), "{}");
        assert_eq!(Object::default().list("l", [""; 0]).end(), "{\"l\":[]}");
        assert_eq!(line(|object| object.end_line()), "{}\n");
    }

    #[test]
    fn every_byte_survives_json() {
        for byte in 0..=255u8 {
            let url = [b'a', byte, b'b'];
            let line = line(|object| object.number("record", 1).bytes("out", &url).end_line());
            let object: Value = serde_json::from_str(&line).expect("one object");
            match std::str::from_utf8(&url) {
                Ok(text) => assert_eq!(object, json!({"record": 1, "out": text})),
                Err(_) => {
                    assert_eq!(object, json!({"record": 1, "out_base64": STANDARD.encode(url)}));
                }
            }
        }
    }

    #[test]
    fn plain_strings_need_no_json_escape() {
        for byte in 0..=0x7Fu8 {
            let text = char::from(byte).to_string();
            let quoted = serde_json::to_string(&text).expect("a string");
            let left_alone = quoted == format!("\"{text}\"") && byte != 0x7F;
            assert_eq!(is_plain(&[byte]), left_alone, "{byte:#x}");
        }
        assert!((0x80..=0xFF).all(|byte: u8| !is_plain(&[byte])));
    }

    #[test]
    fn numbers_of_every_length_are_written_exactly() {
        let powers = (0..20).map(|e| 10u64.pow(e));
        for n in powers.flat_map(|p| [p - 1, p, p + 1]).chain([u64::MAX]) {
            let mut out = b"before".to_vec();
            number(n, &mut out);
            assert_eq!(out, format!("before{n}").into_bytes());
        }
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
        assert_eq!(text, "{\"a\":\"\\u009b\\u007f\\u202e\\u2028\"}");
    }
}
