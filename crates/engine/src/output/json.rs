//! JSON, one object a line: the records of `normalize --json` and the rejected records.
//!
//! Bytes that are UTF-8 are a JSON string. For others the member's name ends in `_base64` and
//! the value is the bytes in base64, so nothing is lost. The lines are appended by hand, since
//! `normalize --json` writes one for each record and nearly all of them are printable ASCII; the
//! other strings go through `serde_json`.

use super::json_object::{base64, escape_controls};
use std::path::Path;
use uniqurl::RejectReason;

/// A member's key, colon included, for bytes that are UTF-8 and for bytes that are not.
struct Names {
    text: &'static str,
    base64: &'static str,
}

macro_rules! names {
    ($name:literal) => {
        Names { text: concat!('"', $name, "\":"), base64: concat!('"', $name, "_base64\":\"") }
    };
}
/// Appends `{"record":N,"out":"..."}`. Records are numbered from 1.
pub fn canonical(record: u64, url: &[u8], out: &mut Vec<u8>) {
    open(record, out);
    out.push(b',');
    member(&names!("out"), url, out);
    out.extend_from_slice(b"}\n");
}

/// Appends `{"record":N,"out":"...","decoded":"..."}`.
pub fn canonical_and_decoded(record: u64, url: &[u8], decoded: &[u8], out: &mut Vec<u8>) {
    open(record, out);
    out.push(b',');
    member(&names!("out"), url, out);
    out.push(b',');
    member(&names!("decoded"), decoded, out);
    out.extend_from_slice(b"}\n");
}

/// Appends `{"record":N,"reject":["code",...],"at":N}`.
pub fn rejected(
    record: u64,
    codes: impl Iterator<Item = RejectReason>,
    url_offset: u64,
    out: &mut Vec<u8>,
) {
    open(record, out);
    out.extend_from_slice(b",\"reject\":");
    code_list(codes, out);
    out.extend_from_slice(b",\"at\":");
    number(url_offset, out);
    out.extend_from_slice(b"}\n");
}

/// Appends `{"record":N,"blank":true}`.
pub fn blank(record: u64, out: &mut Vec<u8>) {
    open(record, out);
    out.extend_from_slice(b",\"blank\":true}\n");
}

/// Appends `{"record":N,"filtered":true}`.
pub fn filtered(record: u64, out: &mut Vec<u8>) {
    open(record, out);
    out.extend_from_slice(b",\"filtered\":true}\n");
}

/// The `file` member of an input's rejected records, made once for all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMember(Vec<u8>);

impl FileMember {
    /// The member for this path.
    pub fn new(path: &Path) -> Self {
        let mut text = Vec::new();
        member(&names!("file"), path.as_os_str().as_encoded_bytes(), &mut text);
        Self(text)
    }
}

/// A rejected record, as `--rejects` writes it.
#[derive(Debug, Clone, Copy)]
pub struct Rejected<'a, RejectReasons> {
    /// The input.
    pub file: &'a FileMember,
    /// Where the record starts in the input.
    pub offset: u64,
    /// Its number in the input, from 1.
    pub record: u64,
    /// Why it has no canonical URL.
    pub codes: RejectReasons,
    /// Where in the URL the trouble starts.
    pub url_offset: u64,
    /// The rejected bytes as they were read.
    pub raw: &'a [u8],
}

impl<RejectReasons: Iterator<Item = RejectReason>> Rejected<'_, RejectReasons> {
    /// Appends `{"file":"...","offset":N,"record":N,"codes":["code",...],"at":N,"raw":"..."}`.
    pub fn write(self, out: &mut Vec<u8>) {
        out.push(b'{');
        out.extend_from_slice(&self.file.0);
        out.extend_from_slice(b",\"offset\":");
        number(self.offset, out);
        out.extend_from_slice(b",\"record\":");
        number(self.record, out);
        out.extend_from_slice(b",\"codes\":");
        code_list(self.codes, out);
        out.extend_from_slice(b",\"at\":");
        number(self.url_offset, out);
        out.push(b',');
        member(&names!("raw"), self.raw, out);
        out.extend_from_slice(b"}\n");
    }
}

fn open(record: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"record\":");
    number(record, out);
}

/// Appends a member whose value is these bytes.
fn member(names: &Names, bytes: &[u8], out: &mut Vec<u8>) {
    // Nearly all values are copied without a serializer.
    if is_plain(bytes) {
        out.extend_from_slice(names.text.as_bytes());
        out.push(b'"');
        out.extend_from_slice(bytes);
        out.push(b'"');
    } else if let Ok(text) = std::str::from_utf8(bytes) {
        out.extend_from_slice(names.text.as_bytes());
        let quoted = serde_json::to_string(text).expect("a string is always JSON");
        out.extend_from_slice(escape_controls(&quoted).as_bytes());
    } else {
        out.extend_from_slice(names.base64.as_bytes());
        out.extend_from_slice(base64(bytes).as_bytes());
        out.push(b'"');
    }
}

/// Whether the bytes need no escape in a JSON string. No early exit, so that the compiler makes
/// one vector loop of it.
fn is_plain(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .fold(true, |plain, &b| plain & (b.wrapping_sub(0x20) < 0x5F) & (b != b'"') & (b != b'\\'))
}

fn code_list(codes: impl Iterator<Item = RejectReason>, out: &mut Vec<u8>) {
    out.push(b'[');
    for (i, code) in codes.enumerate() {
        out.extend_from_slice(if i == 0 { b"\"" } else { b",\"" });
        out.extend_from_slice(code.name().as_bytes());
        out.push(b'"');
    }
    out.push(b']');
}

/// Appends `n` in decimal.
pub fn number(mut n: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::STANDARD};

    use super::*;
    use serde_json::{Value, json};

    fn line(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = b"before\n".to_vec();
        write(&mut out);
        let text = String::from_utf8(out).expect("JSON is text");
        text.strip_prefix("before\n").expect("lines are appended").to_owned()
    }

    fn parsed(write: impl FnOnce(&mut Vec<u8>)) -> Value {
        let line = line(write);
        assert_eq!(line.matches('\n').count(), 1, "{line:?}");
        serde_json::from_str(&line).expect("one object")
    }

    #[test]
    fn json_objects_match_the_documentation() {
        assert_eq!(
            line(|out| canonical(1, b"http://h/a", out)),
            "{\"record\":1,\"out\":\"http://h/a\"}\n"
        );
        assert_eq!(
            line(|out| rejected(2, [RejectReason::PortRange].into_iter(), 9, out)),
            "{\"record\":2,\"reject\":[\"port-range\"],\"at\":9}\n"
        );
        assert_eq!(
            line(|out| rejected(2, [RejectReason::Byte, RejectReason::Host].into_iter(), 0, out)),
            "{\"record\":2,\"reject\":[\"byte\",\"host\"],\"at\":0}\n"
        );
        assert_eq!(
            line(|out| canonical_and_decoded(1, b"/a%20b", b"/a b", out)),
            "{\"record\":1,\"out\":\"/a%20b\",\"decoded\":\"/a b\"}\n"
        );
        assert_eq!(
            line(|out| canonical_and_decoded(1, b"/%25FF", b"/\xFF", out)),
            "{\"record\":1,\"out\":\"/%25FF\",\"decoded_base64\":\"L/8=\"}\n"
        );
        assert_eq!(line(|out| blank(3, out)), "{\"record\":3,\"blank\":true}\n");
        assert_eq!(line(|out| filtered(4, out)), "{\"record\":4,\"filtered\":true}\n");
        let file = FileMember::new(Path::new("a.log"));
        let reject = Rejected {
            file: &file,
            offset: 120,
            record: 4,
            codes: [RejectReason::Idna].into_iter(),
            url_offset: 7,
            raw: b"http://\xC3\xA9\xCC\x80/",
        };
        assert_eq!(
            line(|out| reject.write(out)),
            "{\"file\":\"a.log\",\"offset\":120,\"record\":4,\"codes\":[\"idna\"],\"at\":7,\
             \"raw\":\"http://\u{e9}\u{300}/\"}\n"
        );
    }

    #[test]
    fn every_byte_survives_json() {
        for byte in 0..=255u8 {
            let url = [b'a', byte, b'b'];
            let object = parsed(|out| canonical(1, &url, out));
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
            assert_eq!(line(|out| number(n, out)), n.to_string());
        }
    }

    #[test]
    fn file_name_that_is_not_utf8_is_written_as_base64() {
        use std::os::unix::ffi::OsStrExt;
        let name = b"caf\xE9.log";
        let file = FileMember::new(Path::new(std::ffi::OsStr::from_bytes(name)));
        let reject = Rejected {
            file: &file,
            offset: 0,
            record: 1,
            codes: [RejectReason::Byte].into_iter(),
            url_offset: 0,
            raw: name,
        };
        let object = parsed(|out| reject.write(out));
        assert_eq!(object["file_base64"], STANDARD.encode(name));
        assert_eq!(object["raw_base64"], STANDARD.encode(name));
        assert!(object.get("file").is_none() && object.get("raw").is_none());
    }
}
