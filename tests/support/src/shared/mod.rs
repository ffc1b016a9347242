//! Published examples and real files, read from beside the checkout, since their licences keep them
//! out of it.
//!
//! Tests that read them are ignored unless they are asked for (`cargo test -- --ignored`). Then a file that is
//! missing, or shorter than it is known to be, fails its tests: a suite that nothing reads would protect nothing.
//! `UNIQURL_SHARED_VECTORS` names another place for the examples.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Prints a line past the test harness, which would swallow the output of a test that passes. It is
/// one write, so that tests in other threads do not write into it.
pub fn say(text: &str) {
    let _ = std::io::stderr().write_all(format!("\n{text}\n").as_bytes());
}

/// The least number of rows of each suite, and of lines of each unpacked file.
const LEAST: [(&str, usize); 20] = [
    ("otp_uri_string.jsonl", 74),
    ("rfc3986.jsonl", 58),
    ("seed_equivalences.jsonl", 19),
    ("servlet_canonical.jsonl", 84),
    ("surt.jsonl", 32),
    ("wikimedia_path.jsonl", 90),
    ("wpt_idna.jsonl", 2689),
    ("wpt_toascii.jsonl", 87),
    ("wpt_url.jsonl", 920),
    ("access-combined.log.gz", 10_000),
    ("access-scanner.log.gz", 6538),
    ("iana.cdx", 172),
    ("iana.cdxj", 171),
    ("iana.warc.gz", 48_710),
    ("sample.cdx.gz", 2144),
    ("urls.txt.gz", 227_518),
    ("whirlwind.warc", 952),
    ("whirlwind.warc.gz", 957),
    ("whirlwind.warc.wat.gz", 31),
    ("whirlwind.warc.wet.gz", 215),
];

/// The rows of a suite of published examples.
pub fn examples(suite: &str) -> Vec<Value> {
    let named = std::env::var_os("UNIQURL_SHARED_VECTORS").map(PathBuf::from);
    let directory = named.unwrap_or_else(|| beside().join("vectors"));
    let text = String::from_utf8(whole(&directory.join(suite), suite));
    let text = text.unwrap_or_else(|error| panic!("{suite}: {error}"));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The path of a real file.
pub fn corpus(name: &str) -> PathBuf {
    beside().join("corpora").join(name)
}

/// The content of a real file, unpacked.
pub fn unpacked(name: &str) -> Vec<u8> {
    whole(&corpus(name), name)
}

/// The content of a file, unpacked, which has at least as many lines as are known.
///
/// # Panics
///
/// If it has not, or if there is no such file.
pub fn whole(path: &Path, name: &str) -> Vec<u8> {
    let mut bytes = fs::read(path).unwrap_or_else(|error| panic!("{name}: {error}"));
    if bytes.starts_with(&[0x1F, 0x8B]) {
        let packed = std::mem::take(&mut bytes);
        flate2::read::MultiGzDecoder::new(&packed[..]).read_to_end(&mut bytes).expect("gzip");
    }
    let least = LEAST.iter().find(|(known, _)| *known == name).expect("a known number of lines").1;
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').count();
    assert!(lines >= least, "{name} has {lines} lines, fewer than {least}");
    bytes
}

/// The directory beside the checkout.
fn beside() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_root = |folder: &&Path| folder.join("Cargo.lock").is_file();
    package.ancestors().find(is_root).expect("a workspace").join("../shared")
}
