//! Files of the crate that measures import each other in no circle, nor do those of the Python package, which has
//! no tests in Rust of its own.

use std::collections::BTreeSet;
use std::path::Path;

use super::imports::{circle, imports, texts};

#[test]
fn no_files_import_each_other_in_a_circle() {
    for (src, least_files, least_imports) in [("src", 20, 40), ("../../python/src", 15, 50)] {
        let files = texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join(src));
        assert!(files.len() > least_files, "{} files", files.len());
        let imports = imports(&files);
        let many: usize = imports.values().map(BTreeSet::len).sum();
        assert!(many > least_imports, "{many} imports");
        let circle = circle(&imports);
        assert!(circle.is_empty(), "these files import each other in a circle: {circle:?}");
    }
}
