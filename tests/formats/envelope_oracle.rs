//! The envelopes once more: JSON as a tree, and headers as regular expressions.

use crate::record_oracle::{Holds, Known, read};
use regex::bytes::Regex;
use serde_json::Value;

/// The text in an envelope.
struct Inner {
    text: Vec<u8>,
    is_cut: bool,
}

/// The slow reader of one envelope.
pub struct Envelopes {
    name: &'static str,
    header: Option<Regex>,
}

const DATE_TIME: &str = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})";
const OLD_TIME: &str = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?:  [0-9]| [0-9][0-9]| [0-9]) (?:[0-9]{4} )?[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?";
const PRIORITY: &str = r"<(?:0?[0-9]?[0-9]|1[0-8][0-9]|19[01])>";
const TAG: &str = r"[!-9;-Z\\-~]+(?:\[[!-Z\\^-~]*\])?:";
const DATA: &str = r#"(?:-|(?:\[(?:[^"\]]|"(?:[^"\\]|\\.)*")*\])+)"#;

impl Envelopes {
    pub fn new(name: &'static str) -> Self {
        let header = match name {
            "cri" => Some(format!(
                r"^{DATE_TIME} (?:stdout|stderr) (?P<tag>[FP])(?::[^ ]*)?(?: (?P<text>.*))?$"
            )),
            "syslog" => Some(format!(
                r"^(?:{PRIORITY}1 (?:-|{DATE_TIME}) [^ ]+ [^ ]+ [^ ]+ [^ ]+ {DATA}(?: (?:\xEF\xBB\xBF)?(?P<new>.*))?|(?:{PRIORITY})?(?:{OLD_TIME}|{DATE_TIME}) (?:[^ ]+ )??{TAG}(?: (?P<text>.*)|(?P<json>\{{.*)|))$"
            )),
            _ => None,
        };
        Self { name, header: header.map(|header| Regex::new(&format!("(?s-u){header}")).unwrap()) }
    }

    fn strip(&self, line: &[u8]) -> Option<Inner> {
        if let Some(header) = &self.header {
            let found = header.captures(line)?;
            let text = ["text", "new", "json"].iter().find_map(|name| found.name(name));
            return Some(Inner {
                text: text.map_or(Vec::new(), |text| text.as_bytes().to_vec()),
                is_cut: found.name("tag").is_some_and(|tag| tag.as_bytes() == b"P"),
            });
        }
        if line[0] != b'{' {
            return None;
        }
        let object: Value = serde_json::from_slice(line).ok()?;
        if self.name == "docker" {
            let log = object["log"].as_str()?;
            let stream = &object["stream"];
            if !stream.is_null() && !stream.is_string() {
                return None;
            }
            return Some(Inner {
                text: log.strip_suffix('\n').unwrap_or(log).as_bytes().to_vec(),
                is_cut: !log.ends_with('\n') && log.len() >= 16_384,
            });
        }
        let text = match &object["MESSAGE"] {
            Value::String(text) => text.as_bytes().to_vec(),
            Value::Array(bytes) => {
                let byte = |byte: &Value| u8::try_from(byte.as_u64()?).ok();
                bytes.iter().map(byte).collect::<Option<_>>()?
            }
            _ => return None,
        };
        Some(Inner { text, is_cut: false })
    }

    /// Reads lines in the envelope by the format of this name. No record is too long.
    pub fn read_all(&self, format: &str, known: &Known, input: &[u8]) -> Vec<Holds> {
        let mut all = Vec::new();
        for line in input.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            if line.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
                all.push(Holds::Blank);
                continue;
            }
            let Some(inner) = self.strip(line) else {
                all.push(Holds::Reject("log-syntax", 0));
                continue;
            };
            let read = |text: &[u8]| -> Vec<Holds> {
                let lines = text.split(|byte| *byte == b'\n');
                lines.map(|l| read(format, known, l.strip_suffix(b"\r").unwrap_or(l))).collect()
            };
            let mut found = read(&inner.text);
            // The bytes after the cut may belong to the URL.
            if inner.is_cut && !matches!(found.last(), Some(Holds::Blank | Holds::Skipped)) {
                let longer = read(&[&inner.text[..], b"x"].concat());
                let is_rejected = matches!(found.last(), Some(Holds::Reject(..)));
                if is_rejected || found.last() != longer.last() {
                    found.pop();
                    found.push(Holds::Reject("truncated", 0));
                }
            }
            all.extend(found);
        }
        all
    }
}
