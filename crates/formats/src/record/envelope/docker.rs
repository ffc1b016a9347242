//! Strips the JSON object of Docker's json-file driver: `{"log":"LINE\n","stream":"stdout","time":"…"}`.
//!
//! Docker cuts lines of more than 16 KiB over several objects. Only the last of them has the line
//! feed at its end. A shorter text without a line feed is a line of another writer, or the last one
//! of a container. Each object is read by itself.

use serde::Deserialize;

use super::super::json::JsonText;
use super::stripped::{Stripped, StrippedText};

/// Length of the parts of a line that is cut: the size of the driver's buffer.
const PART: usize = 16 << 10;

#[derive(Deserialize)]
struct DockerLine<'a> {
    #[serde(borrow)]
    log: JsonText<'a>,
    #[serde(borrow)]
    stream: Option<JsonText<'a>>,
}

pub(super) fn strip(line: &[u8], buffer: &mut Vec<u8>) -> Option<Stripped> {
    // serde reads the struct from an array as well, which is no envelope.
    if !line.starts_with(b"{") {
        return None;
    }
    let DockerLine { log: JsonText(log), stream } = serde_json::from_slice(line).ok()?;
    let stream = stream.as_ref().map(|JsonText(stream)| &stream[..]);
    let text = log.strip_suffix(b"\n");
    buffer.extend_from_slice(text.unwrap_or(&log));
    Some(Stripped {
        text: StrippedText::Unescaped,
        is_cut: text.is_none() && log.len() >= PART,
        is_typical: matches!(stream, Some(b"stdout" | b"stderr")),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Envelope;
    use super::super::tests::{check, stripped};
    use super::PART;

    #[test]
    fn escapes_of_json_are_undone_once() {
        check(
            Envelope::Docker,
            &[
                (
                    br#"{"log":"a \"b\" \\x41\u0026\n","stream":"stdout","time":"t"}"#,
                    Some(br#"a "b" \x41&"#),
                ),
                (
                    br#"{"stream":"stderr","log":"{\"u\":\"\\\"\"}\r\n"}"#,
                    Some(b"{\"u\":\"\\\"\"}\r"),
                ),
                (br#"{"log":"\n","stream":"stdout"}"#, Some(b"")),
                (br#"{"log":"","stream":"stdout"}"#, Some(b"")),
                (br#"{"log":"x","attrs":{"tag":["y"]}} "#, Some(b"x")),
                (b"{\"log\":\"\xFF\\n\",\"x\":\"\xFE\"}", Some(b"\xFF")),
                (br#"{"log":"a\nb\n"}"#, Some(b"a\nb")),
                (br#"{"log":1}"#, None),
                (br#"{"log":null}"#, None),
                (br#"{"log":"x"} y"#, None),
                (br#"{"log":"x"#, None),
                (br#"["x"]"#, None),
                (br#"{"Log":"x"}"#, None),
                (b"x", None),
                (b"", None),
            ],
        );
    }

    #[test]
    fn only_a_long_text_without_a_line_feed_is_cut() {
        let is_cut = |text: &str| {
            let line = format!(r#"{{"log":"{text}","stream":"stdout"}}"#);
            stripped(Envelope::Docker, line.as_bytes()).unwrap().1
        };
        assert!(!is_cut("x"));
        assert!(!is_cut(&"x".repeat(PART - 1)));
        assert!(is_cut(&"x".repeat(PART)));
        assert!(!is_cut(&format!("{}\\n", "x".repeat(PART))));
    }
}
