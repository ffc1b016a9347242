//! A long segment changes nothing but the length: a long URL gives the result of a short one, one
//! by one and in bulk, and both results are proven.

use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile, Redirects};

use crate::subject::{Outcome, in_bulk, on_best_backend, outcome};
use crate::tsv::escape;

/// Stands in the path of each URL, and is stretched to the length of the test. No rule acts on it.
const SEGMENT: &str = "pppp";

/// Around one, two and eight blocks, where the loops of the scanner end.
const LENGTHS: &[usize] = &[5, 40, 64, 100, 129, 200, 480, 512, 520, 1100];

/// Text that rules look for, before and after the segment.
#[rustfmt::skip]
const URLS: &[&str] = &[
    "http://h.example/pppp", "https://h.example/pppp", "http://h.example/pppp/a-b_c~d", "http://h.example/a/b/pppp.html",
    "http://h.example/pppp?a=1&b=2", "http://h.example/pppp/?a", "http://h.example:8080/pppp", "https://h.example:443/pppp",
    "http://h.example:80/pppp", "http://h.example:8443/pppp?a=1&b=2", "http://h.example:/pppp", "http://h.example:080/pppp",
    // slashes and dots
    "http://h.example/pppp/", "http://h.example/pppp//a", "http://h.example//pppp", "http://h.example/a//b/pppp/c",
    "http://h.example/pppp//", "http://h.example/pppp?a//b", "http://h.example/./pppp", "http://h.example/pppp/./a",
    "http://h.example/a/../pppp", "http://h.example/pppp/a/..", "http://h.example/pppp/.a/..b/c.", "http://h.example/pppp?/../",
    // triplets
    "http://h.example/pppp/%2F", "http://h.example/pppp/%2f", "http://h.example/pppp/%41", "http://h.example/pppp/%3A%3a:",
    "http://h.example/pppp/%20", "http://h.example/pppp/%C3%A9", "http://h.example/pppp/%E9", "http://h.example/pppp?%2F&%3D",
    "http://h.example/pppp/%25", "http://h.example/pppp/%2541", "http://h.example/pppp/%5C", "http://h.example/pppp/%00",
    "http://h.example/pppp/%", "http://h.example/pppp/%2e%2E/a", "http://h.example/%2F/pppp", "http://h.example/%C0%AF/pppp",
    // delimiters and characters outside the grammar
    "http://h.example/pppp/!$&'()*+,;=:@", "http://h.example/pppp/a;b=1", "http://h.example/a;b/pppp", "http://h.example/pppp?a;b",
    "http://h.example/pppp/a[b]", "http://h.example/pppp/a b", "http://h.example/pppp\\a", "http://h.example/pppp?'", "http://h.example/pppp'",
    // hosts
    "http://www.h.example/pppp", "http://www2.h.example/pppp", "http://wwww.example/pppp", "HTTP://H.example/pppp", "http://h.example./pppp",
    "http://.h/pppp", "http://a..h/pppp", "http://127.0.0.1/pppp", "http://127.1/pppp", "http://0x7f.0.0.1/pppp", "http://1.2.3.400/pppp",
    "http://[::1]/pppp", "http://u@h.example/pppp", "http://u:p@h.example/pppp", "http:///pppp", "http://old.example/pppp",
    // rules of `aggressive`
    "http://h.example/pppp/index.html", "http://h.example/pppp/Index.PHP", "http://h.example/pppp/Abc", "http://h.example/pppp;jsessionid=1",
    "http://h.example/pppp/(S(abc))/d", "http://h.example/(S(0123456789abcdefghijklmn))/pppp.aspx", "http://h.example/pppp?b&a", "http://h.example/pppp?",
    "http://h.example/pppp?a&&b", "http://h.example/pppp?B=1&a=2", "http://h.example/pppp?a=B", "http://h.example/pppp?utm_source=x&a",
    "http://h.example/pppp?sid=0123456789abcdef0123456789abcdef", "http://h.example/pppp?phpsessid=0123456789abcdef0123456789abcdef&z",
    "http://h.example/pppp?a=1&a=2&a=1", "http://h.example/pppp?=&a", "http://h.example/pppp#f", "http://h.example/pppp?a#f", "http://h.example/pppp#",
];

/// The shape of most URLs: canonical under every profile, and known to be so without a second look.
const ORDINARY: &[&str] = &[
    "http://h.example/pppp",
    "https://news.example/a/pppp.html",
    "http://h.example/2019/pppp/a-b_c~d",
    "http://h.example/pppp?a=1&b=2",
    "http://x1.h.example/pppp/view?id=12&page=3",
];

fn with_length(url: &str, length: usize) -> Vec<u8> {
    url.replace(SEGMENT, &"p".repeat(length)).into_bytes()
}

/// Every profile, and `crawl` and the systems with options on top of their rules.
fn normalizers() -> Vec<Normalizer> {
    let mut all: Vec<_> = Profile::ALL.iter().map(|profile| Normalizer::new(*profile)).collect();
    let redirects = Redirects::parse(b"http://old.example/a\thttp://h.example/b\n").unwrap();
    for name in ["crawl", "aggressive", "servlet", "mediawiki", "sanitize", "ia", "whatwg"] {
        let normalizer = Normalizer::new(name.parse::<Profile>().unwrap());
        all.push(normalizer.clone().with_redirects(&redirects).unwrap());
        #[cfg(feature = "transcode")]
        if let Ok(latin_1) = normalizer.with_charset(uniqurl::uri::Charset::LATIN_1) {
            all.push(latin_1);
        }
    }
    #[cfg(feature = "profile-file")]
    for base in ["crawl", "aggressive"] {
        let text = format!(
            "name = 'own'\nversion = 1\nbase = '{base}'\n[host.'old.example'.switches]\ndrop-query = true\n"
        );
        all.push(Normalizer::from_profile_file(&text).unwrap());
    }
    all
}

/// The answer for the long URL, derived from that of the short one.
fn stretched(short: Outcome, url: &str, length: usize) -> Outcome {
    let end = url.find(SEGMENT).unwrap() + SEGMENT.len();
    match short {
        Ok(form) => Ok(with_length(std::str::from_utf8(&form).unwrap(), length)),
        Err(mut reject) => {
            if reject.at >= end {
                reject.at += length - SEGMENT.len();
            }
            Err(reject)
        }
    }
}

#[test]
fn long_segment_leaves_the_rest_of_the_result_unchanged() {
    for normalizer in normalizers() {
        // `string` keeps all bytes, so the long URL is a text like any other.
        for backend in Backend::available() {
            let normalizer = normalizer.clone().with_backend(backend);
            for &length in LENGTHS {
                let (mut urls, mut expected) = (Vec::new(), Vec::new());
                for url in URLS {
                    let short = outcome(|out| normalizer.append(url.as_bytes(), out));
                    let long = with_length(url, length);
                    let wanted = stretched(short, url, length);
                    let what = || {
                        format!(
                            "{} on {}: {}",
                            normalizer.description(),
                            backend.name(),
                            escape(&long)
                        )
                    };
                    assert_eq!(outcome(|out| normalizer.append(&long, out)), wanted, "{}", what());
                    let proven = normalizer.is_clean(&long);
                    assert!(!proven || wanted.as_ref() == Ok(&long), "{}", what());

                    // The part after the authority, as a request target.
                    let path = url[8..].find('/').map_or(url.len(), |slash| slash + 8);
                    let (short, long_target) = (&url[path..], with_length(&url[path..], length));
                    if short.contains(SEGMENT) {
                        let target =
                            outcome(|out| normalizer.for_targets().append(short.as_bytes(), out));
                        let got = outcome(|out| normalizer.for_targets().append(&long_target, out));
                        assert_eq!(got, stretched(target, short, length), "target of {}", what());
                    }

                    urls.push(long);
                    expected.push(wanted);
                }
                let got = in_bulk(&normalizer, &urls);
                let name = normalizer.description();
                assert_eq!(got, expected, "in bulk, {name} on {}, {length}", backend.name());
            }
        }
    }
}

#[test]
fn ordinary_urls_of_any_length_are_recognized_as_clean() {
    for profile in Profile::ALL {
        for backend in Backend::available() {
            let normalizer = Normalizer::new(*profile).with_backend(backend);
            for &length in LENGTHS {
                for url in ORDINARY {
                    let long = with_length(url, length);
                    let name = profile.name();
                    assert!(normalizer.is_clean(&long), "{name}: {}", escape(&long));
                }
            }
        }
    }
}

/// "No input makes it quadratic". Nothing is timed: these took minutes when each block searched for the query again.
#[test]
fn bytes_that_a_query_keeps_take_linear_time() {
    const LENGTH: usize = if cfg!(target_arch = "x86_64") { 8 << 20 } else { 1 << 20 };
    for (profile, front, piece) in [
        ("servlet", "http://h.example/?", "%2F"),
        ("servlet", "http://h.example/?", "a;b"),
        ("whatwg", "http://h.example/", "'"),
    ] {
        let url = format!("{front}{}", piece.repeat(LENGTH / piece.len()));
        let canonical = on_best_backend(profile).normalize(url.as_bytes());
        assert!(canonical == Ok(url.into_bytes()), "{profile} {piece}");
    }
}
