//! Finds the value at a pointer in a JSON text, as it is written.
//!
//! The text must be valid JSON, so only the end of each value is searched. A string comes out as
//! its bytes; any other value comes out as its text, so that no number loses a digit. `null` and
//! missing values are none. If a name occurs twice in an object, the last one counts.

use super::super::escape::closing_quote;
use super::bytes_of_string;

/// The value at a pointer's tokens in `text`, which is valid JSON.
pub(in crate::record) fn at<'a>(text: &'a [u8], tokens: &[impl AsRef<[u8]>]) -> Option<&'a [u8]> {
    let text = trimmed(text);
    let Some((token, rest)) = tokens.split_first() else { return value(text) };
    let token = token.as_ref();
    let mut found = None;
    match text.first()? {
        b'{' => {
            let mut members = Walk(&text[1..]);
            while let Some(name) = members.next() {
                let member = members.next()?;
                if bytes_of_string(name).is_some_and(|name| name == token) {
                    found = Some(member);
                }
            }
        }
        b'[' => {
            // Section 4 of RFC 6901: "digits without a leading zero".
            let index = std::str::from_utf8(token).ok()?;
            let number =
                index.parse::<usize>().ok().filter(|number| number.to_string() == index)?;
            found = Walk(&text[1..]).nth(number);
        }
        _ => {}
    }
    at(found?, rest)
}

/// The values of an array; none for any other value.
pub(in crate::record) fn elements(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    Walk(trimmed(text).strip_prefix(b"[").unwrap_or_default())
}

/// The values after an opening bracket, up to the closing one: those of an array, or the names and
/// values of an object in turn.
struct Walk<'a>(&'a [u8]);

impl<'a> Iterator for Walk<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let text = trimmed(self.0);
        let text = trimmed(text.strip_prefix(b",").or(text.strip_prefix(b":")).unwrap_or(text));
        let value = value(text)?;
        self.0 = &text[value.len()..];
        Some(value)
    }
}

/// The value at the start of a text.
fn value(text: &[u8]) -> Option<&[u8]> {
    if !matches!(text.first()?, b'"' | b'{' | b'[') {
        let is_end = |byte: &u8| b",:]}".contains(byte) || byte.is_ascii_whitespace();
        let end = text.iter().position(is_end).unwrap_or(text.len());
        return (end > 0).then(|| &text[..end]);
    }
    let mut depth = 0;
    let mut at = 0;
    loop {
        at += text[at..].iter().position(|byte| b"\"{[}]".contains(byte))?;
        match text[at] {
            b'"' => at = closing_quote(text, at + 1)?,
            b'{' | b'[' => depth += 1,
            _ => depth -= 1,
        }
        at += 1;
        if depth == 0 {
            return Some(&text[..at]);
        }
    }
}

/// The text without leading white space.
fn trimmed(text: &[u8]) -> &[u8] {
    text.trim_ascii_start()
}
