//! Files of the command import each other in no circle.

use std::collections::BTreeSet;
use std::path::Path;

use super::imports::{circle, imports, texts};

#[test]
fn no_files_import_each_other_in_a_circle() {
    let mut files = texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    // The root of a program is what `lib.rs` is to a library.
    let root = files.iter_mut().find(|(name, _)| name == "main.rs").expect("the root");
    root.0 = "lib.rs".to_owned();
    assert!(files.len() > 50, "{} files", files.len());
    let imports = imports(&files);
    let many: usize = imports.values().map(BTreeSet::len).sum();
    assert!(many > 200, "{many} imports");
    let circle = circle(&imports);
    assert!(circle.is_empty(), "these files import each other in a circle: {circle:?}");
}
