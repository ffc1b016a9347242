//! Files of the crate that measures import each other in no circle.

use std::collections::BTreeSet;
use std::path::Path;

use super::imports::{circle, imports, texts};

#[test]
fn no_files_import_each_other_in_a_circle() {
    let files = texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(files.len() > 20, "{} files", files.len());
    let imports = imports(&files);
    let many: usize = imports.values().map(BTreeSet::len).sum();
    assert!(many > 40, "{many} imports");
    let circle = circle(&imports);
    assert!(circle.is_empty(), "these files import each other in a circle: {circle:?}");
}
