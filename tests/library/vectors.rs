//! The library agrees with `corpora/vectors`, on every backend of this CPU.

use crate::subject::{Answer, Library, on_every_backend};
use crate::tsv;

/// Checks every row and reports all differences at once, since one cause often affects many rows.
fn check(name: &str, ask: fn(&Library, &[u8]) -> Answer) {
    let mut wrong = Vec::new();
    for row in tsv::rows(name) {
        for profile in &row.profiles {
            for mut library in on_every_backend(profile) {
                if let Some(base) = &row.base {
                    library = library.with_base(base);
                }
                if let Some(scheme) = &row.assume {
                    library = library.with_assumed_scheme(scheme);
                }
                let got = ask(&library, &row.input).map_err(|(code, at)| (code.to_owned(), at));
                if got != row.expected {
                    let difference = tsv::difference(&row, &got);
                    wrong.push(format!("{} under {}: {difference}", row.place, library.name()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} answers differ\n{}", wrong.len(), wrong.join("\n"));
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
