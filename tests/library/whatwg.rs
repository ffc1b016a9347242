//! `whatwg`: the library agrees with the steps of the URL Standard, and keeps the laws.

use crate::browser::Url;
use crate::cases::for_each_case;
use crate::generator::browser::{BASES, WORDS, url};
use crate::subject::{Answer, answer, in_bulk, on_best_backend, on_every_backend};
use crate::tsv::{self, escape, show};

/// The result of the standard's own steps: the serialization, or the code of the failure.
fn standard(url: &[u8], base: Option<&Url>) -> Result<Vec<u8>, &'static str> {
    Url::parse(url, base).map(|url| url.serialize().into_bytes())
}

fn without_place(answer: &Answer) -> Result<Vec<u8>, &'static str> {
    answer.clone().map_err(|(code, _)| code)
}

#[track_caller]
fn assert_same(what: &str, url: &[u8], got: &Answer, expected: &Result<Vec<u8>, &'static str>) {
    let expected = expected.clone().map_err(|code| (code, 0));
    assert!(
        without_place(got) == without_place(&expected),
        "{what}\n   url {}\n   got {}\nwanted {}",
        escape(url),
        show(got),
        show(&expected)
    );
}

#[test]
fn library_agrees_with_the_steps_of_the_url_standard() {
    for library in on_every_backend("whatwg") {
        for_each_case(1, |rng| {
            let url = url(rng);
            let answer = library.normalize(&url);
            assert_same(&library.name(), &url, &answer, &standard(&url, None));
            if let Err((_, at)) = answer {
                assert!(at <= url.len(), "an offset lies in the URL: {}", escape(&url));
            }
        });
    }
}

#[test]
fn library_agrees_with_the_steps_of_the_url_standard_with_a_base() {
    for base in BASES {
        let library = on_best_backend("whatwg").with_base(base.as_bytes());
        let base = Url::parse(base.as_bytes(), None).unwrap();
        for_each_case(2, |rng| {
            let url = url(rng);
            let answer = library.normalize(&url);
            let what = format!("with base {}", base.serialize());
            assert_same(&what, &url, &answer, &standard(&url, Some(&base)));
            if let Err((_, at)) = answer {
                assert!(at <= url.len(), "an offset lies in the URL: {}", escape(&url));
            }
        });
    }
}

/// Whether the `url` crate is known to differ from the current standard. It keeps `^` in paths and
/// the spaces at the end of an opaque path. It checks labels that begin with `xn--` even if all is
/// ASCII, and takes additions of Unicode 18 and Punycode of Punycode. It keeps a drive letter in
/// any path, and reads `file` URLs by older rules. It lets a host be missing after an `@`, and lets
/// a backslash end any port.
fn is_departure(text: &str, answer: &Answer) -> bool {
    let lower = text.to_ascii_lowercase().replace(['\t', '\n', '\r'], "");
    let drive = |segment: &str| matches!(segment.as_bytes(), [b'a'..=b'z', b':' | b'|', ..]);
    lower.trim_start_matches(|c| c <= ' ').starts_with("file:")
        || lower.contains(['^', '\u{3d001}'])
        || lower.contains("xn--xn--")
        || lower.contains(" ?")
        || lower.contains(" #")
        || lower.split(['/', '\\']).any(drive)
        || matches!(answer, Ok(url) if url.windows(4).any(|word| word == b"xn--"))
        || matches!(answer, Err(("empty-host", _)) if lower.contains('@'))
        || matches!(answer, Err(("port", _)) if lower.contains('\\'))
}

#[test]
fn library_agrees_with_the_url_crate_except_known_departures() {
    let library = on_best_backend("whatwg");
    let (mut same, mut left_out) = (0u64, 0u64);
    for_each_case(1, |rng| {
        let url = url(rng);
        let Ok(text) = std::str::from_utf8(&url) else { return };
        let answer = library.normalize(&url);
        if is_departure(text, &answer) {
            left_out += 1;
            return;
        }
        let theirs = url::Url::parse(text).ok().map(|url| url.as_str().as_bytes().to_vec());
        assert_eq!(answer.as_ref().ok(), theirs.as_ref(), "{text:?} {}", show(&answer));
        same += 1;
    });
    assert!(same > left_out || same < 100, "{same} compared, {left_out} left out");
}

#[test]
fn canonical_form_is_idempotent_and_printable() {
    for library in on_every_backend("whatwg") {
        for_each_case(1, |rng| {
            let url = url(rng);
            let answer = library.normalize(&url);
            let Ok(canonical) = &answer else { return };
            let again = library.normalize(canonical);
            assert!(again == answer, "{} {} {}", escape(&url), show(&answer), show(&again));
            let opaque = Url::parse(canonical, None).unwrap().has_opaque_path();
            let prints = |byte: &u8| (0x21..=0x7E).contains(byte) || opaque && *byte == b' ';
            assert!(canonical.iter().all(prints), "{}", escape(canonical));
            let idna = canonical.windows(4).any(|word| word == b"xn--");
            let bound = if idna { 5 } else { 3 } * url.len() + 2;
            assert!(canonical.len() <= bound, "{} {}", escape(&url), escape(canonical));
        });
    }
}

#[test]
fn base_leaves_a_canonical_form_unchanged() {
    for base in BASES {
        let library = on_best_backend("whatwg");
        let based = on_best_backend("whatwg").with_base(base.as_bytes());
        for_each_case(4, |rng| {
            let Ok(canonical) = based.normalize(&url(rng)) else { return };
            assert_eq!(library.normalize(&canonical).as_ref(), Ok(&canonical));
            assert_eq!(based.normalize(&canonical).as_ref(), Ok(&canonical));
        });
    }
}

#[test]
fn target_normalizes_as_it_does_after_a_host() {
    for library in on_every_backend("whatwg") {
        for_each_case(1, |rng| {
            let mut target = url(rng);
            if rng.one_in(2) {
                target.insert(0, b'/');
            }
            let answer = library.normalize_target(&target);
            if target.first() == Some(&b'/') {
                let behind = library.normalize(&[b"http://h", &target[..]].concat()).unwrap();
                assert_eq!(answer.as_deref(), Ok(&behind[8..]), "{}", escape(&target));
            }
            match &answer {
                Ok(canonical) => {
                    assert!(canonical.starts_with(b"/"));
                    assert_eq!(library.normalize_target(canonical), answer);
                }
                Err((code, at)) => {
                    assert!(["empty", "relative", "asterisk-form"].contains(code));
                    assert!(*at <= target.len());
                }
            }
        });
    }
}

#[test]
fn target_that_is_not_a_path_is_rejected_by_its_form() {
    for library in on_every_backend("whatwg") {
        for (target, refused) in [
            ("", ("empty", 0)),
            (" \t ", ("empty", 0)),
            ("*", ("asterisk-form", 0)),
            (" *", ("asterisk-form", 1)),
            ("**", ("relative", 0)),
            (" a/b", ("relative", 1)),
            ("?q", ("relative", 0)),
        ] {
            assert_eq!(library.normalize_target(target.as_bytes()), Err(refused), "{target:?}");
        }
    }
}

#[test]
fn bulk_results_agree_with_single_calls() {
    for library in on_every_backend("whatwg") {
        for_each_case(20, |rng| {
            let count = rng.below(140);
            let one = |_| {
                let url = url(rng);
                if rng.one_in(2) { library.normalize(&url).unwrap_or(url) } else { url }
            };
            let urls: Vec<_> = (0..count).map(one).collect();
            for (url, got) in urls.iter().zip(in_bulk(&library.0, &urls)) {
                assert_eq!(answer(got), library.normalize(url));
            }
        });
    }
}

#[test]
fn byte_that_is_not_utf8_is_encoded_but_rejected_in_a_host() {
    for library in on_every_backend("whatwg") {
        for byte in 0x80..=0xFFu8 {
            let around = |before: &[u8], after: &[u8]| [before, &[byte], after].concat();
            for (before, after) in [
                ("http://h/", "/"),
                ("http://h/?", ""),
                ("x://h#", ""),
                ("x:", ""),
                ("ws://", "@h/"),
            ] {
                let expected = format!("{before}%{byte:02X}{after}").into_bytes();
                let url = around(before.as_bytes(), after.as_bytes());
                assert_eq!(library.normalize(&url), Ok(expected));
            }
            for (before, after) in [("http://a", "/"), ("x://a", ""), ("file://a", "b/")] {
                let url = around(before.as_bytes(), after.as_bytes());
                assert_eq!(library.normalize(&url), Err(("byte", before.len())));
            }
        }
    }
}

/// Nothing is timed: a quadratic step would take minutes here.
#[test]
fn repeated_words_take_linear_time() {
    let library = on_best_backend("whatwg");
    for word in WORDS.iter().chain(&["/a/..", "../", "a/", "/./", "%", "1.", "\u{e9}.", "\t", "@:"])
    {
        for front in ["/", "http://h/", "http://", "http://[", "file:///", "x:", "x://", "x:/"] {
            let url = format!("{front}{}", word.repeat(50_000 / word.len()));
            let got = library.normalize(url.as_bytes());
            if let Ok(normal) = &got {
                assert!(library.normalize(normal) == got, "{front} and many of {word}");
            }
        }
    }
}

#[test]
fn library_and_steps_match_the_vectors() {
    for row in tsv::rows("whatwg").iter().filter(|row| row.assume.is_none()) {
        let base = row.base.as_ref().map(|base| Url::parse(base, None).unwrap());
        let steps = standard(&row.input, base.as_ref()).map_err(str::to_owned);
        let expected = row.expected.clone().map_err(|(code, _)| code);
        assert_eq!(steps, expected, "{}: the steps", row.place);
    }
    tsv::compare("whatwg", |row, tell| {
        for library in on_every_backend("whatwg") {
            let library = library.for_row(row);
            tell(&library.name(), library.normalize(&row.input));
        }
    });
}
