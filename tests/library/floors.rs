//! The floor rule: a module of `src/` imports modules of smaller numbers only, by their own paths. And no files
//! import each other in a circle.
//!
//! In: the text of each file below `src/`. Out: a line for each path that breaks the rule, and the files of each
//! circle. Comments and strings do not count; tests inside of modules count for the floors alone.

use std::collections::BTreeSet;
use std::path::Path;

use super::imports::{self, Floors, circle, declared, imports, texts};

/// The modules of the root by number. Modules of one number do not import each other.
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

fn violations(file: &str, text: &str) -> Vec<String> {
    imports::violations(FLOORS, file, text)
}

fn files() -> Vec<(String, String)> {
    texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

#[test]
fn modules_import_lower_floors_only() {
    let files = files();
    assert!(files.len() > 50, "{} files", files.len());
    let broken: Vec<_> = files.iter().flat_map(|(file, text)| violations(file, text)).collect();
    assert!(broken.is_empty(), "the floor rule is broken:\n{}", broken.join("\n"));
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let files = files();
    let imports = imports(&files);
    let many: usize = imports.values().map(BTreeSet::len).sum();
    assert!(many > 400, "{many} imports");
    assert_eq!(circle(&imports), BTreeSet::new(), "these files import each other in a circle");
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
    let declared = declared(include_str!("../../src/lib.rs"));
    let declared = declared.filter(|name| !WITHOUT_FLOOR.contains(name));
    assert!(declared.eq(FLOORS.iter().map(|(name, _)| *name)));
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
