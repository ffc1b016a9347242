//! Compares the fast rewrite with the exact path.

use super::*;
use crate::normalize::exact::ladder::Ladder;
use crate::normalize::parts::Parts;
use crate::normalize::trace::NoTrace;
use crate::profile::Switches;
use crate::simd::{Backend, Kernel};
use crate::test_util::cases;

/// The result of `normalize` for the URL without the blanks that are trimmed; `None` if it is rejected.
fn normalized(
    url: &[u8],
    kind: UrlKind,
    profile: &Policy,
    ports: Option<&DefaultPorts>,
) -> Option<Vec<u8>> {
    let is_blank = |byte: &u8| *byte <= 0x20 && profile.access == Access::Retrieval;
    let start = url.iter().position(|byte| !is_blank(byte))?;
    let end = url.iter().rposition(|byte| !is_blank(byte))? + 1;
    let url = &url[start..end];
    let mut out = Vec::new();
    let result = match kind {
        UrlKind::Absolute => {
            Ladder::new(profile, ports, &mut out, &mut NoTrace).absolute(&Parts::split(url))
        }
        UrlKind::Target => Ladder::new(profile, None, &mut out, &mut NoTrace)
            .path_and_query(&Parts::split_target(url)),
    };
    result.ok().map(|()| out)
}

fn kernels() -> Vec<Kernel> {
    Backend::available().into_iter().filter_map(Kernel::new).collect()
}

fn profiles() -> Vec<Policy> {
    let mut keeping = Policy::CRAWL;
    keeping.switches = Switches::of(&[Switch::KeepFragment, Switch::KeepUserinfo]);
    vec![Policy::SYNTAX, Policy::SCHEME, Policy::CRAWL, keeping]
}

/// Other default ports, as of a profile file.
fn own_ports() -> DefaultPorts {
    let mut ports = DefaultPorts::of_schemes();
    ports.set("http", Some(8080));
    ports.set("https", None);
    ports
}

/// Checks a URL, with bytes after it and without; counts the results that were not declined.
fn check(url: &[u8], kind: UrlKind, done: &mut u32) {
    let behind = [url, b"/../%2e#".repeat(20).as_slice()].concat();
    let (profiles, own_ports) = (profiles(), own_ports());
    let own = (&Policy::CRAWL, Some(&own_ports));
    for (profile, ports) in profiles.iter().map(|profile| (profile, None)).chain([own]) {
        let expected = normalized(url, kind, profile, ports);
        for kernel in kernels() {
            for bytes in [url, &behind] {
                let mut out = b"before".to_vec();
                let (start, end) = (0, url.len());
                let rewrite = Rewrite { profile, ports, kind, bytes, start, end, out: &mut out };
                let case = (profile, kernel.backend(), url.escape_ascii().to_string());
                if kernel.run(rewrite) {
                    assert_eq!(Some(&out[6..]), expected.as_deref(), "{case:?}");
                    *done += 1;
                } else {
                    assert_eq!(out, b"before", "{case:?}");
                }
            }
        }
    }
}

/// Draws a text of some pieces.
fn drawn(pieces: &[&str], state: &mut u64, most: u64) -> String {
    let mut next = || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        *state >> 33
    };
    (0..next() % most).map(|_| pieces[next() as usize % pieces.len()]).collect()
}

const PATH: [&str; 24] = [
    "/", "/", "/.", "/..", "/../", "/./", "/%2e", "/.%2E", "/%2e%2e/", ".", "%2E", "..", "a", "bc",
    "%7e", "%41", "%2f", "%C3%a9", "%", "%4", " ", "\u{e9}", "?", "#",
];

#[test]
fn bulk_rewrite_of_paths_and_queries_agrees_with_normalize() {
    let (mut state, mut done) = (1, 0);
    let many = cases(4000);
    for n in 0..many {
        // Padded, so that events occur at every position of a block.
        let path = drawn(&PATH, &mut state, 9);
        let url = format!("http://h/{}{path}", "x".repeat(n % 150));
        check(url.as_bytes(), UrlKind::Absolute, &mut done);
        check(&url.as_bytes()[8..], UrlKind::Target, &mut done);
        check(format!("https://H{path}").as_bytes(), UrlKind::Absolute, &mut done);
    }
    assert!(done as usize > many * 15 / 2 * kernels().len(), "{done}");
}

#[test]
fn bulk_rewrite_of_authorities_agrees_with_normalize() {
    // The last port is that of `http` plus 2^32.
    const PIECES: [&str; 26] = [
        "a",
        "B",
        "c.D",
        ".",
        "..",
        ":",
        ":80",
        ":443",
        ":0080",
        ":65536",
        ":8080",
        "@",
        "u@",
        "u:P@",
        "%41",
        "%2e",
        "%C3%BC",
        "\u{fc}",
        "\u{3002}",
        "\u{fdfa}",
        "xn--bcher-kva",
        "%FF",
        "[",
        "-",
        " ",
        ":4294967376",
    ];
    const BEHIND: [&str; 8] = ["", "/", "?q", "#f", "/x", "/%7e/..", " ", "/\x1F\t"];
    let (mut state, mut done) = (2, 0);
    let many = cases(6000);
    for n in 0..many {
        let scheme = ["http://", "HTTPS://", "hTtp://", "https://", "http:/", "ftp://"][n % 6];
        let host = drawn(&PIECES, &mut state, 6);
        let behind = BEHIND[n / 6 % BEHIND.len()];
        let before = ["", "", " ", "\t\x00"][n / 48 % 4];
        let url = format!("{before}{scheme}{host}{behind}");
        check(url.as_bytes(), UrlKind::Absolute, &mut done);
        let long = format!("http://{}{host}{}", "w".repeat(n % 70), behind);
        check(long.as_bytes(), UrlKind::Absolute, &mut done);
    }
    assert!(done as usize > many * 5 / 2 * kernels().len(), "{done}");
}

#[test]
fn bytes_after_a_url_are_not_read() {
    let url = b"HTTPS://u@H%2e:443/a/%2E%2e/.?%7e#f";
    let step = if cfg!(miri) { 11 } else { 1 };
    for start in (0..url.len()).step_by(step) {
        for end in (start..=url.len()).step_by(step) {
            for profile in [&Policy::CRAWL, &Policy::SYNTAX] {
                let kind = UrlKind::Absolute;
                let expected = normalized(&url[start..end], kind, profile, None);
                for kernel in kernels() {
                    for filling in [&b""[..], &[b'/'; 200]] {
                        let bytes = &[url, filling].concat();
                        let mut out = Vec::new();
                        let rewrite = Rewrite {
                            profile,
                            ports: None,
                            kind,
                            bytes,
                            start,
                            end,
                            out: &mut out,
                        };
                        if kernel.run(rewrite) {
                            assert_eq!(Some(out), expected, "{start}..{end}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn common_urls_take_the_bulk_rewrite() {
    for url in [
        "HTTP://EXAMPLE.com",
        "https://u:p@Example.com:443/%7Ea/../b?c=%2f#d",
        "http://ex%41mple.com./a b/%",
        "https://example.com:8080/./?q\u{e9}",
        "http://www.B\u{fc}cher.ex%41mple.:80/x",
    ] {
        let mut out = Vec::new();
        let bytes = url.as_bytes();
        let (kind, profile) = (UrlKind::Absolute, &Policy::CRAWL);
        let rewrite = Rewrite {
            profile,
            ports: None,
            kind,
            bytes,
            start: 0,
            end: bytes.len(),
            out: &mut out,
        };
        assert!(Kernel::best().run(rewrite), "{url}");
    }
}
