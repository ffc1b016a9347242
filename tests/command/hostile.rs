//! Hostile URLs through the built command: none is lost, each output is the one the oracle gives,
//! and each output is its own canonical form.

use crate::built;
use crate::cases;
use crate::generator;
use std::io::Write;

use crate::oracle::Oracle;
use serde_json::Value;

/// Half of the cases of a library test: one process takes them all at once.
const SHARE: u64 = 2;

/// `uniqurl normalize --json`, an object for each line.
fn normalize(profile: &str, lines: &[Vec<u8>]) -> Vec<Value> {
    let mut input = tempfile::NamedTempFile::new().unwrap();
    input.write_all(&lines.join(&b'\n')).unwrap();
    input.write_all(b"\n").unwrap();
    let output = built::command()
        .args(["normalize", "--json", "--format", "lines", "--quiet", "--profile", profile])
        .arg(input.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let objects = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    objects.map(|object| serde_json::from_slice(object).unwrap()).collect()
}

/// The canonical URL of an object, if it has one.
fn out(object: &Value) -> Option<Vec<u8>> {
    if let Some(text) = object.get("out") {
        return Some(text.as_str().unwrap().as_bytes().to_vec());
    }
    let text = object.get("out_base64")?.as_str().unwrap();
    Some(from_base64(text))
}

/// Base64 with padding, as RFC 4648 section 4 has it.
fn from_base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| {
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        digits.iter().position(|d| *d == byte).unwrap() as u32
    };
    let mut bytes = Vec::new();
    for group in text.as_bytes().chunks(4) {
        let padding = group.iter().filter(|byte| **byte == b'=').count();
        let sextet = |byte: &u8| if *byte == b'=' { 0 } else { digit(*byte) };
        let word = group.iter().fold(0, |word, byte| word << 6 | sextet(byte));
        bytes.extend_from_slice(&word.to_be_bytes()[1..4 - padding]);
    }
    bytes
}

#[test]
fn command_agrees_with_the_oracle_on_hostile_urls() {
    let mut urls = Vec::new();
    cases::for_each_case(SHARE, |rng| {
        let mut url = generator::any(rng);
        // A line ends at a line feed, and a carriage return before it belongs to the ending.
        url.retain(|byte| *byte != b'\n');
        while url.last() == Some(&b'\r') {
            url.pop();
        }
        urls.push(url);
    });
    // A byte-order mark would be removed from the first line, so that line holds a plain URL.
    urls.insert(0, b"http://example.com/".to_vec());
    for profile in ["string", "syntax", "scheme", "crawl"] {
        let oracle = Oracle::new(profile);
        let objects = normalize(profile, &urls);
        assert_eq!(objects.len(), urls.len(), "{profile} lost records");
        let mut canonical = Vec::new();
        for (number, (url, object)) in (1..).zip(urls.iter().zip(&objects)) {
            assert_eq!(object["record"], number);
            let case = url.escape_ascii();
            if url.iter().all(|byte| b" \t".contains(byte)) {
                assert_eq!(object["blank"], true, "{profile} {case}");
                continue;
            }
            match oracle.normalize(url) {
                Ok(expected) => {
                    assert_eq!(out(object).as_ref(), Some(&expected), "{profile} {case}");
                    canonical.push(expected);
                }
                Err((code, at)) => {
                    assert_eq!(object["reject"][0], code, "{profile} {case}");
                    assert_eq!(object["at"], at, "{profile} {case}");
                }
            }
        }
        let again: Vec<_> = normalize(profile, &canonical).iter().map(out).collect();
        assert!(again.len() == canonical.len(), "{profile} lost its own output");
        for (first, second) in canonical.iter().zip(again) {
            assert_eq!(Some(first), second.as_ref(), "{profile} is not idempotent");
        }
    }
}
