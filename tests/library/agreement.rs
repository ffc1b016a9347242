//! The library agrees with the oracle, byte for byte, code for code and offset for offset.

use crate::cases::{self, for_each_case};
use crate::generator::{self, Temper, words};
use crate::oracle::{Answer, Oracle};
use crate::strategy::url_of_words;
use crate::subject::{Library, on_best_backend, on_every_backend};
use crate::tsv::{LADDER, escape, show};
use proptest::prelude::*;

/// Emulated processors test every seventh place, which still visits each lane of a register.
const STEP: usize = if cfg!(target_arch = "aarch64") { 7 } else { 1 };

#[track_caller]
fn assert_agree(library: &Library, url: &[u8], got: &Answer, expected: &Answer) {
    assert!(
        got == expected,
        "{} and the oracle differ\n    url {}\nlibrary {}\n oracle {}",
        library.name(),
        escape(url),
        show(got),
        show(expected)
    );
}

/// `is_clean` is a proof, on every backend.
fn assert_clean_is_proof(library: &Library, url: &[u8], expected: &Answer) {
    if library.0.is_clean(url) {
        assert!(
            expected.as_deref() == Ok(url),
            "{} calls clean what is none: {}, oracle {}",
            library.name(),
            escape(url),
            show(expected)
        );
    }
}

/// The profiles of this oracle.
const PROFILES: [&str; 5] = ["string", "syntax", "scheme", "crawl", "ia"];

fn library_agrees_with_oracle(profile: &'static str) {
    let (oracle, libraries) = (Oracle::new(profile), on_every_backend(profile));
    for_each_case(1, |rng| {
        let is_ia = profile == "ia" && !rng.one_in(8);
        let url = if is_ia { generator::archive::url(rng) } else { generator::any(rng) };
        let expected = oracle.normalize(&url);
        for library in &libraries {
            assert_agree(library, &url, &library.normalize(&url), &expected);
            assert_clean_is_proof(library, &url, &expected);
        }
    });
}

#[test]
fn string_agrees_with_the_oracle_on_every_backend() {
    library_agrees_with_oracle("string");
}

#[test]
fn syntax_agrees_with_the_oracle_on_every_backend() {
    library_agrees_with_oracle("syntax");
}

#[test]
fn scheme_agrees_with_the_oracle_on_every_backend() {
    library_agrees_with_oracle("scheme");
}

#[test]
fn crawl_agrees_with_the_oracle_on_every_backend() {
    library_agrees_with_oracle("crawl");
}

#[test]
fn ia_agrees_with_the_oracle_on_every_backend() {
    library_agrees_with_oracle("ia");
}

#[test]
fn targets_agree_with_the_oracle_on_every_backend() {
    for profile in PROFILES {
        let (oracle, libraries) = (Oracle::new(profile), on_every_backend(profile));
        for_each_case(1, |rng| {
            let temper = if rng.one_in(2) { Temper::Tame } else { Temper::Wild };
            let mut target = generator::target(rng, temper);
            if profile == "ia" && rng.one_in(2) {
                target = [b"/", &generator::archive::url(rng)[..]].concat();
            }
            let expected = oracle.normalize_target(&target);
            for library in &libraries {
                assert_agree(library, &target, &library.normalize_target(&target), &expected);
            }
        });
    }
}

fn references_agree(bases: &[&[u8]]) {
    for profile in ["syntax", "scheme", "crawl", "ia"] {
        for base in bases {
            let oracle = Oracle::new(profile).with_base(base);
            let library = on_best_backend(profile).with_base(base);
            for_each_case(4, |rng| {
                let mut reference = generator::reference(rng, Temper::Wild);
                if profile == "ia" && rng.one_in(2) {
                    reference = generator::archive::url(rng);
                }
                let expected = oracle.normalize(&reference);
                assert_agree(&library, &reference, &library.normalize(&reference), &expected);
            });
        }
    }
}

#[test]
fn references_agree_with_the_oracle() {
    references_agree(&[
        b"http://a/b/c/d;p?q",
        b"HTTPS://u@H:0443/%7ea/./b/../c?q#f",
        b"http://[::1]/",
        b"x:",
        b"x:a/b",
        b"x:/a//b",
        b"file:///a/b",
        b"ftp://h/a/",
    ]);
}

#[test]
fn references_to_noncanonical_bases_agree_with_the_oracle() {
    references_agree(&[b"http://h/a/..", b"http://h/a/%2e%2e/b", b"x:a/%2E./b", b"x:%2e%2e/b"]);
}

#[test]
fn assumed_schemes_agree_with_the_oracle() {
    for profile in ["syntax", "scheme", "crawl", "ia"] {
        for scheme in ["http", "FTP", "x", "file", "mailto"] {
            let oracle = Oracle::new(profile).with_assumed_scheme(scheme.as_bytes());
            let library = on_best_backend(profile).with_assumed_scheme(scheme.as_bytes());
            for_each_case(4, |rng| {
                let url = if rng.one_in(3) {
                    generator::any(rng)
                } else {
                    generator::reference(rng, Temper::Wild)
                };
                let expected = oracle.normalize(&url);
                assert_agree(&library, &url, &library.normalize(&url), &expected);
            });
        }
    }
}

#[test]
fn every_byte_at_every_offset_agrees_with_the_oracle() {
    let urls: [&[u8]; 8] = [
        b"http://ab.cd:80/ef/gh?ij=kl#mn",
        b"x://u:p@h/",
        b"ftp://[::1]:21/%2e./a",
        b"mailto:A@B.C,D@E?f",
        b"x:/a//./b",
        b"https://a%2Cb./%7E%2f",
        b"file://localhost/a",
        b"wss://h",
    ];
    for profile in PROFILES {
        let (oracle, libraries) = (Oracle::new(profile), on_every_backend(profile));
        for url in urls {
            for place in 0..=url.len() {
                for byte in 0..=255 {
                    let (mut replaced, mut inserted) = (url.to_vec(), url.to_vec());
                    inserted.insert(place, byte);
                    if place < url.len() {
                        replaced[place] = byte;
                    }
                    for url in [replaced, inserted] {
                        let expected = oracle.normalize(&url);
                        for library in &libraries {
                            assert_agree(library, &url, &library.normalize(&url), &expected);
                            assert_clean_is_proof(library, &url, &expected);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn every_byte_in_every_lane_agrees_with_the_oracle() {
    // Filling in front moves the byte through every lane of the widest register.
    for profile in PROFILES {
        let (oracle, libraries) = (Oracle::new(profile), on_every_backend(profile));
        for (front, back) in
            [("http://h/", ""), ("http://h/?", "a"), ("http://h/a", "/../b"), ("x:", "41")]
        {
            for filling in (0..70).step_by(STEP) {
                for byte in 0..=255 {
                    let mut url = front.as_bytes().to_vec();
                    url.resize(url.len() + filling, b'a');
                    url.push(byte);
                    url.extend_from_slice(back.as_bytes());
                    let expected = oracle.normalize(&url);
                    for library in &libraries {
                        assert_agree(library, &url, &library.normalize(&url), &expected);
                        assert_clean_is_proof(library, &url, &expected);
                    }
                }
            }
        }
    }
}

#[test]
fn significant_words_at_every_offset_agree_with_the_oracle() {
    // Two bytes that matter together may be in two blocks, and a URL has first, middle and last
    // blocks. This many offsets cover all their edges.
    let words = [
        "/.", "/..", "/./", "/../", "//", "/.a", "%", "%4", "%41", "%2f", "%2F", "%2e", "/%2E",
        "%C3%A9", "%c3%A9", "%C3%a9", "#", "?", "/.#", "/..?", "\\", " ", "\u{e9}", "\0", "A", ".",
    ];
    for profile in PROFILES {
        let (oracle, libraries) = (Oracle::new(profile), on_every_backend(profile));
        for front in ["http://h/", "https://example.com/a?b", "/"] {
            for word in words {
                for offset in (0..150).step_by(STEP) {
                    for behind in [0, 1, 70] {
                        let url = [front, &"a".repeat(offset), word, &"b".repeat(behind)].concat();
                        let url = url.as_bytes();
                        let expected = oracle.normalize(url);
                        let expected_target = oracle.normalize_target(url);
                        for library in &libraries {
                            assert_agree(library, url, &library.normalize(url), &expected);
                            assert_clean_is_proof(library, url, &expected);
                            let target = library.normalize_target(url);
                            assert_agree(library, url, &target, &expected_target);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn every_pattern_of_zero_groups_agrees_with_the_oracle() {
    let oracle = Oracle::new("crawl");
    let library = on_best_backend("crawl");
    for pattern in 0..=255 {
        for group in ["1", "00A0", "ffff", "FFFF"] {
            let groups: Vec<&str> =
                (0..8).map(|i| if pattern >> i & 1 == 1 { group } else { "0" }).collect();
            let full = groups.join(":");
            let dotted = format!("{}:1.0.0.255", groups[..6].join(":"));
            for address in [full, dotted] {
                let url = format!("http://[{address}]/");
                let expected = oracle.normalize(url.as_bytes());
                assert!(expected.is_ok(), "{url}");
                let got = library.normalize(url.as_bytes());
                assert_agree(&library, url.as_bytes(), &got, &expected);
            }
        }
    }
}

#[test]
fn long_urls_take_linear_time_and_agree_with_the_oracle() {
    // Nothing is timed: a quadratic step would take minutes here.
    let length = if cfg!(target_arch = "aarch64") { 100_000 } else { 400_000 };
    #[rustfmt::skip]
    let fronts = [
        "", "http://h/", "http://", "http://h:", "http://u@", "x:", "x:/", "mailto:", "http://[",
        "http://h/?", "file://",
    ];
    for profile in LADDER {
        let oracle = Oracle::new(profile);
        let library = on_best_backend(profile);
        for front in fronts {
            for unit in words::REPEATED {
                let url = front.to_owned() + &unit.repeat(length / unit.len() / 8);
                let expected = oracle.normalize(url.as_bytes());
                let got = library.normalize(url.as_bytes());
                assert!(got == expected, "{profile}: {front} and many {unit}");
            }
        }
    }
}

proptest! {
    #![proptest_config(cases::of_properties())]

    #[test]
    fn every_backend_agrees_with_the_oracle(url in url_of_words()) {
        for profile in PROFILES {
            let expected = Oracle::new(profile).normalize(&url);
            for library in on_every_backend(profile) {
                assert_agree(&library, &url, &library.normalize(&url), &expected);
                assert_clean_is_proof(&library, &url, &expected);
            }
        }
    }

    #[test]
    fn every_backend_agrees_with_the_oracle_on_targets(target in url_of_words()) {
        for profile in PROFILES {
            let expected = Oracle::new(profile).normalize_target(&target);
            for library in on_every_backend(profile) {
                assert_agree(&library, &target, &library.normalize_target(&target), &expected);
            }
        }
    }

    #[test]
    fn profiles_merge_the_same_pairs_as_the_oracle(left in url_of_words(), right in url_of_words()) {
        for profile in PROFILES {
            let (oracle, library) = (Oracle::new(profile), on_best_backend(profile));
            let joined = |a: Answer, b: Answer| a.is_ok() && a == b;
            assert_eq!(
                joined(library.normalize(&left), library.normalize(&right)),
                joined(oracle.normalize(&left), oracle.normalize(&right)),
                "{profile}: {} {}", escape(&left), escape(&right)
            );
        }
    }
}
