//! Published examples and real files, read from beside the checkout, since their licences keep them
//! out of it.
//!
//! If they are missing, the tests say so loudly and pass. `UNIQURL_SHARED_VECTORS` names another
//! place for the examples.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Prints a line past the test harness, which would swallow the output of a test that passes. It is
/// one write, so that tests in other threads do not write into it.
pub fn say(text: &str) {
    let _ = std::io::stderr().write_all(format!("\n{text}\n").as_bytes());
}

/// The rows of a suite of published examples.
pub fn examples(suite: &str) -> Option<Vec<Value>> {
    let place = std::env::var_os("UNIQURL_SHARED_VECTORS");
    let text = fs::read_to_string(found(place.map(PathBuf::from), "vectors", suite)?);
    let text = text.unwrap_or_else(|error| panic!("{suite}: {error}"));
    let rows: Vec<_> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!rows.is_empty(), "{suite} holds no row");
    Some(rows)
}

/// The path of a real file.
pub fn corpus(name: &str) -> Option<PathBuf> {
    found(None, "corpora", name)
}

/// The content of the corpus, unpacked.
pub fn unpacked(name: &str) -> Option<Vec<u8>> {
    let path = corpus(name)?;
    let mut bytes = fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    if bytes.starts_with(&[0x1F, 0x8B]) {
        let packed = std::mem::take(&mut bytes);
        flate2::read::MultiGzDecoder::new(&packed[..]).read_to_end(&mut bytes).expect("gzip");
    }
    Some(bytes)
}

/// A file of a directory, which is whole where it is there.
fn found(place: Option<PathBuf>, directory: &str, name: &str) -> Option<PathBuf> {
    let beside = || root().join("../shared").join(directory);
    let directory = place.unwrap_or_else(beside);
    if !directory.is_dir() {
        say(&format!("SKIPPED: {name}: no directory {}", directory.display()));
        return None;
    }
    Some(directory.join(name))
}

/// The root of the workspace that holds this package.
fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_root = |folder: &&Path| folder.join("Cargo.lock").is_file();
    package.ancestors().find(is_root).expect("a workspace")
}
