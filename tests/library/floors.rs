//! The floor rule: a module of the library or of the crate of formats imports modules of smaller numbers only, by
//! their own paths. And no files of any crate import each other in a circle.
//!
//! In: the text of each file below a `src/`. Out: a line for each path that breaks the rule, and the files of each
//! circle. Comments and strings do not count; tests inside of modules count for the floors alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::imports::{self, Floors, circle, declared, imports, texts};

/// The modules of the library by number. Modules of one number do not import each other.
const FLOORS: &Floors = &[
    ("bytes", 0),
    ("profile", 1),
    ("simd", 2),
    ("normalize", 3),
    ("uri", 4),
    ("key", 4),
    ("set", 5),
    ("comparison", 6),
];

/// Modules of the root that belong to it: they re-export, implement traits of other crates, or serve tests.
const WITHOUT_FLOOR: [&str; 3] = ["internal", "serialize", "test_util"];

/// Those of the crate of formats: `record` knows neither of the others.
const OF_FORMATS: &Floors = &[("input", 1), ("record", 0), ("table", 2)];

fn violations(file: &str, text: &str) -> Vec<String> {
    imports::violations(FLOORS, file, text)
}

/// A path from the root of the workspace.
fn path(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

/// Each crate with about half of its files and of the imports among them: if fewer are found, the search is broken.
const CRATES: [(&str, usize, usize); 9] = [
    ("src", 80, 330),
    ("crates/bench/src", 12, 25),
    ("crates/cli/src", 40, 130),
    ("crates/engine/src", 50, 160),
    ("crates/formats/src", 65, 285),
    ("crates/psl/src", 1, 0),
    ("crates/store/src", 35, 115),
    ("crates/text/src", 3, 2),
    ("python/src", 10, 33),
];

#[test]
fn modules_import_lower_floors_only() {
    for (src, floors) in [("src", FLOORS), ("crates/formats/src", OF_FORMATS)] {
        let files = texts(&path(src));
        assert!(files.len() > 50, "{} files", files.len());
        let broken: Vec<_> =
            files.iter().flat_map(|(file, text)| imports::violations(floors, file, text)).collect();
        assert!(broken.is_empty(), "{src} breaks the floor rule:\n{}", broken.join("\n"));
    }
}

#[test]
fn no_files_of_a_crate_import_each_other_in_a_circle() {
    for (src, least_files, least_imports) in CRATES {
        let files = texts(&path(src));
        assert!(files.len() >= least_files, "{src}: {} files", files.len());
        let imports = imports(&files);
        let many: usize = imports.values().map(BTreeSet::len).sum();
        assert!(many >= least_imports, "{src}: {many} imports");
        let circle = circle(&imports);
        assert_eq!(circle, BTreeSet::new(), "these files of {src} import each other in a circle");
    }
}

#[test]
fn every_crate_is_searched_for_circles() {
    let crates = std::fs::read_dir(path("crates")).unwrap();
    for entry in crates {
        let src = format!("crates/{}/src", entry.unwrap().file_name().display());
        assert!(CRATES.iter().any(|(listed, ..)| *listed == src), "{src}");
    }
}

#[test]
fn planted_circle_is_found_through_a_re_export() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let texts = [
        file("a/mod.rs", "mod b; mod c; pub use b::Bee;"),
        file("a/b.rs", "use super::c::Sea; pub struct Bee;"),
        file("a/c.rs", "use crate::a::{Bee}; pub struct Sea;"),
        file("d.rs", "use crate::a::Bee;\n#[cfg(test)]\nmod tests { use crate::e; }"),
        file("e.rs", "use crate::d;"),
    ];
    let found = circle(&imports(&texts));
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a/b.rs", "a/c.rs"]);
}

#[test]
fn every_root_module_has_a_floor() {
    for (src, floors) in [("src", FLOORS), ("crates/formats/src", OF_FORMATS)] {
        let root = std::fs::read_to_string(path(src).join("lib.rs")).unwrap();
        let declared = declared(&root).filter(|name| !WITHOUT_FLOOR.contains(name));
        assert!(declared.eq(floors.iter().map(|(name, _)| *name)), "{src}");
    }
}

#[test]
fn planted_import_violations_are_found() {
    let upward = "fn a() {}\n\nuse crate::normalize::Normalizer;\n";
    assert_eq!(
        violations("simd/lines.rs", upward),
        ["src/simd/lines.rs:3: `crate::normalize` is floor 3, and `simd` is floor 2"]
    );
    let grouped = "use crate::{\n    bytes::{Span, percent},\n    set::UrlSet,\n    simd,\n};";
    assert_eq!(
        violations("profile/mod.rs", grouped),
        [
            "src/profile/mod.rs:3: `crate::set` is floor 5, and `profile` is floor 1",
            "src/profile/mod.rs:4: `crate::simd` is floor 2, and `profile` is floor 1",
        ]
    );
    let beside = "fn key() -> crate::key::Key { crate :: key::Key::Url }";
    assert_eq!(violations("uri/mod.rs", beside).len(), 2);
    let of_root = "#[cfg(test)]\nmod tests {\n    use crate::{Profile, bytes::Span};\n}";
    assert_eq!(
        violations("set/mod.rs", of_root),
        ["src/set/mod.rs:3: `crate::Profile` is a re-export of the root"]
    );
    assert_eq!(violations("set/mod.rs", "use crate::*;").len(), 1);
}

#[test]
fn comments_strings_and_tests_are_not_imports() {
    for allowed in [
        "use crate::bytes::Span;\nuse crate::{profile::Profile, simd::{Backend, lines}};",
        "pub(crate) fn f<'a>(a: &'a str) -> char { 'c' }",
        "//! [`crate::Normalizer`]\n/// [`crate::set`]\n/* crate::set /* crate::key */ crate::set */",
        r##"const A: &str = "\" crate::set"; const B: &[u8] = br#"" crate::set"#; const C: char = '"';"##,
        "use crate::normalize::{self, Rule}; #[cfg(test)] use crate::test_util::cases;",
    ] {
        assert_eq!(violations("normalize/mod.rs", allowed), [""; 0], "{allowed}");
    }
}
