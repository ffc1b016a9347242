//! Files of the crate of stores import each other in no circle.

use std::collections::BTreeSet;
use std::path::Path;

use super::imports::{circle, imports, texts};

#[test]
fn no_files_of_the_seen_store_import_each_other_in_a_circle() {
    let files = texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(files.len() > 40, "{} files", files.len());
    let imports = imports(&files);
    let many: usize = imports.values().map(BTreeSet::len).sum();
    assert!(many > 100, "{many} imports");
    let circle: Vec<_> = circle(&imports).into_iter().filter(|f| f.starts_with("seen/")).collect();
    assert!(circle.is_empty(), "these files import each other in a circle: {circle:?}");
}

#[test]
fn the_seen_store_needs_nothing_of_the_spilling_of_a_set() {
    let files = texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let of_seen = files.iter().filter(|(file, _)| file.starts_with("seen/"));
    let users: Vec<_> = of_seen.filter(|(_, text)| text.contains("crate::spill")).collect();
    assert!(users.is_empty(), "{users:?}");
}
