//! Real archives and compressed lists, against a slow reader that shares no code
//! with the library: flate2 for gzip, and plain string handling.

use std::collections::BTreeSet;

use crate::built;
use crate::shared::{corpus, unpacked};

/// The path of a real file, and its content, unpacked.
fn real(name: &str) -> (String, Vec<u8>) {
    (corpus(name).to_str().expect("text").to_owned(), unpacked(name))
}

/// The kind and the target of each record of a WARC file.
fn records(bytes: &[u8]) -> Vec<(String, Option<String>)> {
    let mut records = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let end = rest.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8(rest[..end].to_vec()).expect("text");
        let field = |name: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(name));
            line.map(|value| value.trim().trim_matches(['<', '>']).to_owned())
        };
        let length: usize = field("Content-Length:").expect("a length").parse().expect("a number");
        records.push((field("WARC-Type:").expect("a kind"), field("WARC-Target-URI:")));
        // Two empty lines end a record.
        rest = &rest[end + 4 + length + 4..];
    }
    records
}

/// The set of lines the command writes for a file or for standard input.
fn set(arguments: &[&str], input: Vec<u8>) -> BTreeSet<String> {
    let output = built::command().args(arguments).write_stdin(input).output().expect("started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "needs ../shared"]
fn archive_targets_agree_with_a_simple_reader() {
    for (name, count) in [
        ("iana.warc.gz", 171),
        ("whirlwind.warc", 1),
        ("whirlwind.warc.gz", 1),
        ("whirlwind.warc.wet.gz", 1),
    ] {
        let (path, bytes) = real(name);
        let wanted = ["response", "revisit", "resource", "conversion"];
        let targets: Vec<_> = records(&bytes)
            .into_iter()
            .filter(|(kind, _)| wanted.contains(&kind.as_str()))
            .map(|(_, target)| target.expect("a target"))
            .collect();
        assert_eq!(targets.len(), count, "{name}");
        // Exactly the targets, in order.
        let output = built::command()
            .args(["normalize", "-q", "-p", "string", &path])
            .output()
            .expect("started");
        let lines: Vec<_> = std::str::from_utf8(&output.stdout).expect("text").lines().collect();
        assert_eq!(lines, targets, "{name}");
        // And the set of them.
        let expected = set(&["dedup", "-f", "lines"], targets.join("\n").into_bytes());
        assert_eq!(set(&["dedup", &path], Vec::new()), expected, "{name}");
    }
}

#[test]
#[ignore = "needs ../shared"]
fn wat_file_of_a_request_gives_no_response() {
    let name = "whirlwind.warc.wat.gz";
    let (path, bytes) = real(name);
    let text = std::str::from_utf8(&bytes).expect("text");
    let responses = text.matches(r#""WARC-Type":"response""#).count();
    let found = set(&["dedup", &path], Vec::new());
    assert_eq!((found.len(), records(&bytes).len()), (responses, 2));
}

#[test]
#[ignore = "needs ../shared"]
fn compressed_lists_equal_their_plain_text() {
    for name in ["urls.txt.gz", "sample.cdx.gz", "access-combined.log.gz"] {
        let (path, plain) = real(name);
        let format = if name.contains("log") { "auto" } else { "lines" };
        for profile in ["string", "crawl"] {
            if profile == "crawl" && name.contains("cdx") {
                // No line of an index is a URL.
                continue;
            }
            let arguments = |input| ["dedup", "-f", format, "-p", profile, input];
            let expected = set(&arguments("-"), plain.clone());
            assert!(set(&arguments(&path), Vec::new()) == expected, "{name} under {profile}");
        }
    }
}
