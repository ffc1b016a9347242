//! Observed redirects: each URL leads to the end of its chain.

use std::collections::BTreeMap;

use crate::cases::for_each_case;
use crate::generator::Rng;
use crate::rows;
use crate::subject::{in_bulk, told};
use crate::tsv::escape;
use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile, RedirectErrorKind, Redirects, RejectReason};

/// Few enough URLs for chains to meet. The letter decides; the spelling is one of several.
fn url(rng: &mut Rng) -> String {
    let letter = rng.pick(&["a", "b", "c", "d", "e", "f", "g", "h"]);
    rng.pick(&["http://h/X", "HTTP://H:80/X", "http://h/./X", "http://h/b/../X#f"])
        .replace('X', letter)
}

/// Step by step: the end of the chain, or the smallest URL of its cycle.
fn end(table: &BTreeMap<String, String>, url: &str) -> String {
    let mut walked = vec![url.to_owned()];
    while let Some(next) = table.get(walked.last().unwrap()) {
        if let Some(position) = walked.iter().position(|url| url == next) {
            return walked[position..].iter().min().unwrap().clone();
        }
        walked.push(next.clone());
    }
    walked.last().unwrap().clone()
}

#[test]
fn urls_follow_redirects_to_the_end_of_the_chain() {
    for_each_case(4, |rng| {
        let backends = Backend::available();
        let plain =
            Normalizer::new(Profile::Crawl).with_backend(backends[rng.below(backends.len())]);
        let (mut table, mut list) = (BTreeMap::new(), String::new());
        for _ in 0..rng.below(12) {
            let (from, to) = (url(rng), url(rng));
            let canonical = (told(&plain, &from), told(&plain, &to));
            let known = table.entry(canonical.0).or_insert_with(|| canonical.1.clone());
            if *known == canonical.1 {
                list += &format!("{from}\t{to}{}", rng.pick(&["\n", "\r\n", "\n\n"]));
            }
        }
        let redirects = Redirects::parse(list.as_bytes()).unwrap();
        let normalizer = plain.clone().with_redirects(&redirects).unwrap();
        for _ in 0..8 {
            let url = url(rng);
            let expected = end(&table, &told(&plain, &url));
            let got = told(&normalizer, &url);
            assert_eq!(got, expected, "{url} after\n{list}");
            assert_eq!(told(&normalizer, &got), got, "idempotence after\n{list}");
            assert!(!normalizer.is_clean(url.as_bytes()) || url == expected);
            let bulk = in_bulk(&normalizer, &[url.into_bytes()]);
            assert_eq!(bulk, [Ok(expected.into_bytes())]);
        }
    });
}

#[test]
fn every_profile_supports_redirects() {
    rows::check("redirects.txt");
}

#[test]
fn decoded_servlet_path_follows_redirects() {
    let redirects = Redirects::parse(b"/a\t/b%20c\n").unwrap();
    let servlet = Normalizer::new(Profile::Servlet).with_redirects(&redirects).unwrap();
    let mut decoded = Vec::new();
    assert_eq!(servlet.decoded(b"/x/../a;b", &mut decoded), Ok(()));
    assert_eq!(escape(&decoded), "/b c");
    decoded.clear();
    assert_eq!(servlet.for_targets().decoded(b"/a", &mut decoded), Ok(()));
    assert_eq!(escape(&decoded), "/b c");
}

#[test]
fn error_for_a_bad_redirect_list_has_its_line() {
    let crawl = Normalizer::new(Profile::Crawl);
    for (list, line) in [("http://h/", 1), ("\n\na\tb\tc\n", 3), ("http://h/a http://h/b\n", 1)] {
        let error = Redirects::parse(list.as_bytes()).unwrap_err();
        assert_eq!((error.line, error.kind), (line, RedirectErrorKind::Columns), "{list}");
    }
    let error = |list: &str| {
        crawl.clone().with_redirects(&Redirects::parse(list.as_bytes()).unwrap()).unwrap_err()
    };
    let two =
        error("http://h/a\thttp://h/b\n\nhttp://H/a\thttp://h/b\nhttp://h:80/a\thttp://h/c\n");
    assert_eq!((two.line, two.kind), (4, RedirectErrorKind::TwoTargets(1)));
    assert_eq!(two.to_string(), "line 4: the first URL has another target in line 1");
    // A redirect to itself counts as a target, too.
    assert_eq!(error("http://h/a\thttp://h/a\nhttp://h/a\thttp://h/b").line, 2);
    let bad = error("http://h/a\thttp://h/b\nhttp://h/c\t/x\n");
    assert_eq!(bad.line, 2);
    assert!(
        matches!(bad.kind, RedirectErrorKind::To(reject) if reject.code == RejectReason::Relative)
    );
    let bad = error("\thttp://h/\n");
    assert!(
        matches!(bad.kind, RedirectErrorKind::From(reject) if reject.code == RejectReason::Empty)
    );
}

#[test]
fn long_chains_take_linear_time() {
    let count = 50_000;
    let mut list = String::new();
    for i in 0..count {
        list += &format!("http://h/{i}\thttp://h/{}\n", i + 1);
    }
    let chain = Redirects::parse(list.as_bytes()).unwrap();
    let normalizer = Normalizer::new(Profile::Crawl).with_redirects(&chain).unwrap();
    assert_eq!(told(&normalizer, "http://h/0"), format!("http://h/{count}"));
    list += &format!("http://h/{count}\thttp://h/0\n");
    let cycle = Redirects::parse(list.as_bytes()).unwrap();
    let normalizer = Normalizer::new(Profile::Crawl).with_redirects(&cycle).unwrap();
    assert_eq!(told(&normalizer, "http://h/7"), "http://h/0");
}
