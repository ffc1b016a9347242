//! Strips the JSON object of `journalctl -o json`, which holds the line in the member `MESSAGE`.
//!
//! A message that is not UTF-8 is a list of the numbers of its bytes.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};

use super::stripped::{Stripped, StrippedText};

#[derive(serde::Deserialize)]
struct JournalEntry<'a> {
    #[serde(borrow, rename = "MESSAGE")]
    message: MessageBytes<'a>,
    #[serde(rename = "__REALTIME_TIMESTAMP")]
    time: Option<IgnoredAny>,
}

/// A string, or an array of bytes.
struct MessageBytes<'a>(Cow<'a, [u8]>);

impl<'a, 'de: 'a> Deserialize<'de> for MessageBytes<'a> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        // Bytes accept a string that is not UTF-8, and an array.
        json.deserialize_bytes(MessageVisitor)
    }
}

struct MessageVisitor;

impl<'de> Visitor<'de> for MessageVisitor {
    type Value = MessageBytes<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an array of bytes")
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<MessageBytes<'de>, E> {
        Ok(MessageBytes(Cow::Borrowed(bytes)))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<MessageBytes<'de>, E> {
        Ok(MessageBytes(Cow::Owned(bytes.to_vec())))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<MessageBytes<'de>, S::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = seq.next_element::<u8>()? {
            bytes.push(byte);
        }
        Ok(MessageBytes(Cow::Owned(bytes)))
    }
}

pub(super) fn strip(line: &[u8], buffer: &mut Vec<u8>) -> Option<Stripped> {
    // serde reads the struct from an array as well, which is no envelope.
    if !line.starts_with(b"{") {
        return None;
    }
    let JournalEntry { message: MessageBytes(message), time } =
        serde_json::from_slice(line).ok()?;
    buffer.extend_from_slice(&message);
    Some(Stripped {
        text: StrippedText::Unescaped,
        is_typical: time.is_some(),
        ..Stripped::rest_of(line, 0)
    })
}

#[cfg(test)]
mod tests {
    use super::super::Envelope;
    use super::super::tests::check;

    #[test]
    fn message_is_a_string_or_an_array_of_bytes() {
        check(
            Envelope::Journald,
            &[
                (
                    br#"{"_PID":"1","MESSAGE":"GET \"\/a\" \u00e9"}"#,
                    Some("GET \"/a\" é".as_bytes()),
                ),
                (br#"{"MESSAGE":[71, 69,84,32,255]}"#, Some(b"GET \xFF")),
                (br#"{"MESSAGE":""}"#, Some(b"")),
                (br#"{"MESSAGE":[]}"#, Some(b"")),
                (br#"{"MESSAGE":[256]}"#, None),
                (br#"{"MESSAGE":[[1],[2]]}"#, None),
                (br#"{"MESSAGE":null}"#, None),
                (br#"{"message":"x"}"#, None),
                (br#"{"MESSAGE":"x""#, None),
                (b"MESSAGE", None),
            ],
        );
    }
}
