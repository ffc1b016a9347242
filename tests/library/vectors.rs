//! The library agrees with `corpora/vectors`, on every backend of this CPU.

use crate::subject::{Answer, Library, on_every_backend};
use crate::tsv;

fn check(name: &str, ask: fn(&Library, &[u8]) -> Answer) {
    tsv::compare(name, |row, tell| {
        for library in row.profiles.iter().flat_map(|profile| on_every_backend(profile)) {
            let library = library.for_row(row);
            tell(&library.name(), ask(&library, &row.input));
        }
    });
}

#[test]
fn library_matches_the_string_vectors() {
    check("string", Library::normalize);
}

#[test]
fn library_matches_the_syntax_vectors() {
    check("syntax", Library::normalize);
}

#[test]
fn library_matches_the_scheme_vectors() {
    check("scheme", Library::normalize);
}

#[test]
fn library_matches_the_crawl_vectors() {
    check("crawl", Library::normalize);
}

#[test]
fn library_matches_the_ia_vectors() {
    check("ia", Library::normalize);
}

#[test]
fn library_matches_the_targets_vectors() {
    check("targets", Library::normalize_target);
}

#[test]
fn library_matches_the_merge_vectors() {
    for pair in tsv::pairs() {
        for profile in &pair.profiles {
            for library in on_every_backend(profile) {
                let (left, right) = (library.normalize(&pair.left), library.normalize(&pair.right));
                let context = format!("{} under {}", pair.place, library.name());
                assert!(left.is_ok() && right.is_ok(), "{context}: {left:?} {right:?}");
                assert_eq!(left == right, pair.merges, "{context}");
            }
        }
    }
}
