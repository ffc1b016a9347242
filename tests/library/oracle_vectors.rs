//! The oracle agrees with `corpora/vectors`.

use crate::oracle::parts::{self, Piece};
use crate::oracle::{Answer, Oracle, dots};
use crate::tsv;

fn check(name: &str, ask: fn(&Oracle, &[u8]) -> Answer) {
    tsv::compare(name, |row, tell| {
        for profile in &row.profiles {
            let mut oracle = Oracle::new(profile);
            oracle.base.clone_from(&row.base);
            oracle.assume_scheme.clone_from(&row.assume);
            tell(profile, ask(&oracle, &row.input));
        }
    });
}

#[test]
fn oracle_matches_the_string_vectors() {
    check("string", Oracle::normalize);
}

#[test]
fn oracle_matches_the_syntax_vectors() {
    check("syntax", Oracle::normalize);
}

#[test]
fn oracle_matches_the_scheme_vectors() {
    check("scheme", Oracle::normalize);
}

#[test]
fn oracle_matches_the_crawl_vectors() {
    check("crawl", Oracle::normalize);
}

#[test]
fn oracle_matches_the_ia_vectors() {
    check("ia", Oracle::normalize);
}

#[test]
fn oracle_matches_the_targets_vectors() {
    check("targets", Oracle::normalize_target);
}

#[test]
fn oracle_matches_the_forms_vectors() {
    check("forms", Oracle::read_target);
}

#[test]
fn oracle_matches_the_merge_vectors() {
    for pair in tsv::pairs() {
        for &profile in &pair.profiles {
            let oracle = Oracle::new(profile);
            let (left, right) = (oracle.normalize(&pair.left), oracle.normalize(&pair.right));
            assert!(
                left.is_ok() && right.is_ok(),
                "{} under {profile}: {left:?} {right:?}",
                pair.place
            );
            assert_eq!(left == right, pair.merges, "{} under {profile}", pair.place);
        }
    }
}

#[test]
fn oracle_matches_the_resolve_vectors() {
    for row in tsv::rows("resolve") {
        let base = parts::split(&Piece::whole(row.base.as_deref().unwrap()));
        let mut target = parts::split(&Piece::whole(&row.input));
        if target.scheme.is_some() {
            target.path.bytes = dots::remove_dot_segments(&target.path.bytes);
        } else {
            target = parts::resolve(&target, &base);
        }
        if target.authority.is_none() && target.path.bytes.starts_with(b"//") {
            target.path.bytes.splice(..0, *b"/.");
        }
        let got: Answer = Ok(parts::recompose_raw(&target));
        assert_eq!(tsv::show(&got), tsv::show(&row.expected), "{}", row.place);
    }
}
