//! The floor rule for the crate of formats: `record` knows neither of the others, and files import each other in
//! no circle.

use std::collections::BTreeSet;
use std::path::Path;

use super::imports::{Floors, circle, declared, imports, texts, violations};

const FLOORS: &Floors = &[("input", 1), ("record", 0), ("table", 2)];

fn files() -> Vec<(String, String)> {
    texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

#[test]
fn modules_import_lower_floors_only() {
    let broken: Vec<_> =
        files().iter().flat_map(|(file, text)| violations(FLOORS, file, text)).collect();
    assert!(broken.is_empty(), "the floor rule is broken:\n{}", broken.join("\n"));
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let files = files();
    assert!(files.len() > 90, "{} files", files.len());
    let imports = imports(&files);
    let many: usize = imports.values().map(BTreeSet::len).sum();
    assert!(many > 300, "{many} imports");
    let circle = circle(&imports);
    assert!(circle.is_empty(), "these files import each other in a circle: {circle:?}");
}

#[test]
fn every_root_module_has_a_floor() {
    let declared = declared(include_str!("../../crates/formats/src/lib.rs"));
    let declared = declared.filter(|name| *name != "test_util");
    assert!(declared.eq(FLOORS.iter().map(|(name, _)| *name)));
}
